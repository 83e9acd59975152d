// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/mpi/detail/mailbox.hpp>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace rondo::mpi::detail {

/// The letter with the answer to job `id`.
[[nodiscard]] inline std::string letter_of(std::uint64_t id, const Answer& answer) {
  Writer letter;
  letter.put(static_cast<std::uint64_t>(LetterKind::answer));
  letter.put(id);
  letter.put(static_cast<std::uint64_t>(answer.fault));
  letter.put(answer.text);
  letter.put(answer.seconds);
  letter.put(answer.body);
  return letter.message();
}

/// A rank's side: accepts jobs until the tuner has no more, and sends the answers.
///
/// `start(body, answer)` passes a job to a builder or runner; answer(Answer) is called once, on any thread. Waits until
/// the tuner dismisses the rank. @throws Error device_failed, unsupported
template <class Start>
void serve_rank(const Group& group, Line line, int tuner, std::size_t capacity, Start start) {
  /// Outlives this call if an exception ends it while jobs are running.
  struct Inbox {
    std::mutex mutex;
    std::condition_variable awake;
    std::deque<std::pair<std::uint64_t, Answer>> answers;
  };
  require_threads();
  const auto inbox = std::make_shared<Inbox>();
  Mailbox mailbox(group, line, false);
  Writer hello;
  hello.put(static_cast<std::uint64_t>(LetterKind::hello));
  hello.put(std::uint64_t{capacity});
  mailbox.send(tuner, hello.message());

  std::size_t at_work = 0;
  bool is_over = false;
  Nap nap;
  while (!is_over || at_work != 0) {
    bool something = false;
    while (const auto letter = mailbox.receive()) {
      something = true;
      Reader reader{letter->body};
      const auto kind = static_cast<LetterKind>(reader.number());
      is_over = is_over || kind == LetterKind::end;
      if (kind != LetterKind::job) continue;
      const std::uint64_t id = reader.number();
      const auto answer = [inbox, id](Answer outcome) {
        const std::lock_guard lock(inbox->mutex);
        inbox->answers.emplace_back(id, std::move(outcome));
        inbox->awake.notify_one();
      };
      ++at_work;
      try {
        start(reader.text(), answer);
      } catch (...) {
        auto [fault, text] = current_fault(Fault::unknown);
        answer({fault, std::move(text)});
      }
    }
    std::unique_lock lock(inbox->mutex);
    while (!inbox->answers.empty()) {
      const auto [id, answer] = std::move(inbox->answers.front());
      inbox->answers.pop_front();
      try {
        mailbox.send(tuner, letter_of(id, answer));
      } catch (...) {  // too large
        auto [fault, text] = current_fault(Fault::unknown);
        mailbox.send(tuner, letter_of(id, {fault, std::move(text), answer.seconds, {}}));
      }
      --at_work;
      something = true;
    }
    if (something) {
      nap.reset();
    } else {
      nap.take(lock, inbox->awake);
    }
  }
}

}  // namespace rondo::mpi::detail
