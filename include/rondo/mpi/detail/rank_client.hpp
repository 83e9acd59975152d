// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/measure/callable.hpp>
#include <rondo/measure/detail/posix.hpp>
#include <rondo/measure/worker_pool.hpp>
#include <rondo/mpi/detail/mailbox.hpp>
#include <rondo/platform/start_thread.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

namespace rondo::mpi {

using measure::Fault;

/// A job that did not finish on a rank and is assigned again.
struct Reissue {
  int rank = 0;               ///< the rank on which it failed
  std::size_t attempt = 1;    ///< the number of the attempt that failed, counted from 1
  Fault fault = Fault::none;  ///< unknown or device: not caused by the candidate
  std::string text;
};

/// The options of a RankBuilder or a RankRunner.
struct RankOptions {
  double join_seconds = 60;  ///< the time within which every other rank must be ready to serve
  std::size_t attempts = 3;  ///< the number of attempts before a fault is reported
  /// Called for each job that is assigned again, on a separate thread; must not throw.
  std::function<void(const Reissue&)> on_reissue = {};
};

namespace detail {

using measure::WorkerPool;
using measure::detail::after_seconds;
using measure::detail::milliseconds_until;

/// The tuner's side: assigns jobs to ranks that have room, and receives their answers. One thread communicates through
/// MPI, another one calls the callbacks.
///
/// Lifetime: the destructor drops jobs that are not assigned, waits for those that ranks are running, and dismisses the
/// ranks. Thread safety: submit() from any thread.
class RankClient {
 public:
  using OnAnswer = std::function<void(Answer)>;

  /// Waits for all other ranks. @throws Error invalid_argument if there are none, timed_out with the number of a rank
  /// that did not come, unsupported, device_failed
  RankClient(const Group& group, Line line, RankOptions options)
      : options_{std::move(options)},
        mailbox_{group, line, true},
        ranks_(static_cast<std::size_t>(group.size())),
        own_rank_{group.rank()},
        callbacks_{1, [](Callback call, std::size_t) { call(); }, [](Callback call) { call(); }} {
    require_threads();
    if (group.size() < 2) {
      throw Error(Errc::invalid_argument,
                  Error::Text("there is no other rank to measure on; start two or more, as by mpirun -n 2"));
    }
    await_ranks();
    try {
      thread_ = platform::start_thread([this] { run(); }, "the thread that hands out jobs");
    } catch (...) {
      dismiss();
      throw;
    }
  }
  RankClient(const RankClient&) = delete;
  RankClient& operator=(const RankClient&) = delete;
  ~RankClient() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
      awake_.notify_one();
    }
    thread_.join();
  }

  void submit(std::string body, OnAnswer on_answer) {
    Job job{std::move(body), std::move(on_answer), {}, 0, own_rank_};
    const std::lock_guard lock(mutex_);
    if (stopping_ || !broken_.empty()) {
      return tell(std::move(job), {stopping_ ? Fault::stopped : Fault::unknown,
                                   stopping_ ? "nobody hands out jobs any more" : broken_});
    }
    queue_.push_back(std::move(job));
    awake_.notify_one();
  }
  /// The number of jobs that all ranks together can hold at once.
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
  [[nodiscard]] std::uint64_t reissues() const noexcept {
    const std::lock_guard lock(mutex_);
    return reissues_;
  }
  /// The number of jobs that a rank has finished; 0 for a number that no rank has.
  [[nodiscard]] std::uint64_t answered_by(int rank) const noexcept {
    const std::lock_guard lock(mutex_);
    const auto index = static_cast<std::size_t>(rank);  // of a negative number: larger than any size
    return index < ranks_.size() ? ranks_[index].answered : 0;
  }

 private:
  struct Job {
    std::string body;
    OnAnswer on_answer;
    std::string history;   ///< texts of failed attempts
    std::size_t attempts;  ///< failed attempts
    int avoid;             ///< the rank of the last failed attempt
  };
  struct Rank {
    std::size_t room = 0;     ///< the number of jobs that it can hold; 0: it has not come yet
    std::size_t at_work = 0;  ///< the number of jobs that it holds
    std::uint64_t answered = 0;
  };
  using Callback = std::function<void()>;

  void await_ranks() {
    const auto deadline = after_seconds(options_.join_seconds);
    std::size_t missing = ranks_.size() - 1;
    Nap nap;
    std::unique_lock lock(mutex_);
    while (missing != 0) {
      if (const auto letter = mailbox_.receive()) {
        Reader reader{letter->body};
        if (static_cast<LetterKind>(reader.number()) != LetterKind::hello) continue;
        Rank& rank = ranks_[static_cast<std::size_t>(letter->rank)];
        if (rank.room == 0) --missing;
        rank.room = std::max<std::size_t>(1, reader.number());
        capacity_ += rank.room;
        continue;
      }
      if (milliseconds_until(deadline) == 0) {
        int absent = 0;
        while (absent == own_rank_ || ranks_[static_cast<std::size_t>(absent)].room != 0) ++absent;
        dismiss();
        throw Error(Errc::timed_out, Error::Text{"rank ", absent, " does not serve after ",
                                                 static_cast<std::uint64_t>(1e3 * options_.join_seconds),
                                                 " ms; call mpi::serve on every rank but the tuner's"});
      }
      nap.take(lock, awake_);
    }
  }
  /// Dismisses all ranks that came.
  void dismiss() {
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      if (ranks_[r].room == 0) continue;
      Writer end;
      end.put(static_cast<std::uint64_t>(LetterKind::end));
      mailbox_.send(static_cast<int>(r), end.message());
    }
  }

  void run() noexcept {
    Nap nap;
    std::unique_lock lock(mutex_);
    try {
      for (;;) {
        bool something = false;
        while (const auto letter = mailbox_.receive()) {
          take_in(*letter);
          something = true;
        }
        if (stopping_) drop("nobody hands out jobs any more", Fault::stopped);
        if (stopping_ && at_work_.empty()) return dismiss();
        something = hand_out() || something;
        if (something) {
          nap.reset();
        } else if (at_work_.empty()) {
          awake_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
          nap.reset();
          continue;
        }
        nap.take(lock, awake_);
      }
    } catch (...) {
      broken_ = current_fault(Fault::unknown).text;
      for (auto& [id, job] : at_work_) queue_.push_back(std::move(job));
      at_work_.clear();
      drop(broken_, Fault::unknown);
      try {
        dismiss();
      } catch (...) {  // MPI fails, which the ranks will see
      }
    }
  }

  void drop(const std::string& why, Fault fault) {
    while (!queue_.empty()) {
      tell(std::move(queue_.front()), {fault, why});
      queue_.pop_front();
    }
  }

  /// Assigns waiting jobs to the ranks with most room; each holds at most one job more than it has workers.
  bool hand_out() {
    bool something = false;
    while (!queue_.empty()) {
      Job& job = queue_.front();
      std::size_t best = ranks_.size();
      std::size_t most = 0;
      for (std::size_t i = 1; i <= ranks_.size(); ++i) {
        const std::size_t r = (last_ + i) % ranks_.size();  // ranks with equal room take turns
        const std::size_t room = ranks_[r].room - ranks_[r].at_work;
        const bool is_avoided = static_cast<int>(r) == job.avoid && ranks_.size() > 2;
        if (!is_avoided && room > most) best = r, most = room;
      }
      if (best == ranks_.size()) break;
      last_ = best;
      something = true;
      try {
        Writer letter;
        letter.put(static_cast<std::uint64_t>(LetterKind::job));
        letter.put(++last_id_);
        letter.put(job.body);
        mailbox_.send(static_cast<int>(best), letter.message());
      } catch (const Error& error) {
        if (error.code() != Errc::limit_exceeded) throw;
        auto [fault, text] = current_fault(Fault::unknown);  // other jobs may be smaller
        tell(std::move(job), {fault, std::move(text)});
        queue_.pop_front();
        continue;
      }
      ++ranks_[best].at_work;
      at_work_.emplace(last_id_, std::move(job));
      queue_.pop_front();
    }
    return something;
  }

  void take_in(const Letter& letter) {
    Reader reader{letter.body};
    if (static_cast<LetterKind>(reader.number()) != LetterKind::answer) return;
    const std::uint64_t id = reader.number();
    Answer answer;
    answer.fault = static_cast<Fault>(std::min<std::uint64_t>(reader.number(), measure::fault_count - 1));
    answer.text = reader.text();
    answer.seconds = reader.real();
    answer.body = reader.text();
    const auto found = at_work_.find(id);
    if (found == at_work_.end()) return;
    Job job = std::move(found->second);
    at_work_.erase(found);
    Rank& rank = ranks_[static_cast<std::size_t>(letter.rank)];
    --rank.at_work;
    ++rank.answered;
    if (!reader.ok()) answer = {Fault::unknown, "the rank's answer is garbled"};
    const bool is_settled = is_final(answer.fault) || answer.fault == Fault::stopped;
    if (is_settled && job.attempts == 0) return tell(std::move(job), std::move(answer));
    if (is_settled) {
      answer.text += (answer.text.empty() ? "another attempt, after " : "; another attempt, after ") + job.history;
      return tell(std::move(job), std::move(answer));
    }

    // Not caused by the candidate: its process was killed from outside, or the device failed.
    if (!job.history.empty()) job.history += "; ";
    job.history += fmt::format("rank {}: {}", letter.rank, answer.text);
    if (++job.attempts >= options_.attempts || stopping_) {
      answer.text = fmt::format("given up after {} attempts: {}", job.attempts, job.history);
      return tell(std::move(job), std::move(answer));
    }
    job.avoid = letter.rank;
    ++reissues_;
    if (options_.on_reissue) {
      callbacks_.submit([this, told = Reissue{letter.rank, job.attempts, answer.fault, std::move(answer.text)}] {
        try {
          options_.on_reissue(told);
        } catch (...) {
        }
      });
    }
    queue_.push_front(std::move(job));
  }

  /// Calls the callback on the other thread, so that callbacks do not delay ranks.
  void tell(Job job, Answer answer) {
    callbacks_.submit([on_answer = std::move(job.on_answer), answer = std::move(answer)]() mutable {
      measure::detail::tell(on_answer, std::move(answer));
      on_answer = nullptr;
    });
  }

  RankOptions options_;
  Mailbox mailbox_;
  mutable std::mutex mutex_;
  std::condition_variable awake_;
  std::deque<Job> queue_;
  std::unordered_map<std::uint64_t, Job> at_work_;  ///< by job number
  std::vector<Rank> ranks_;
  int own_rank_;
  std::size_t last_ = 0;  ///< the rank that got a job last
  std::uint64_t last_id_ = 0;
  std::size_t capacity_ = 0;
  std::uint64_t reissues_ = 0;
  std::string broken_;  ///< the reason why communication with the ranks ended
  bool stopping_ = false;
  std::thread thread_;
  WorkerPool<Callback> callbacks_;  // declared last, since its callbacks use all members above
};

}  // namespace detail
}  // namespace rondo::mpi
