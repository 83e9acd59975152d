// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>
#include <rondo/measure/fault.hpp>
#include <rondo/platform/concept.hpp>
#include <rondo/tensor/concept.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

namespace rondo::measure {

/// The number of runs of a candidate, and the pauses between them.
struct Repetition {
  std::size_t warm_up = 1;      ///< rounds before the first timed one
  std::size_t number = 1;       ///< rounds in each repeat, timed together; 0 counts as 1
  std::size_t repeat = 3;       ///< the number of repeats; 0 counts as 1
  double min_repeat_ms = 0;     ///< a shorter repeat is timed again with more rounds
  double cooldown_ms = 0;       ///< pause before each repeat
  std::size_t flush_bytes = 0;  ///< bytes written before each repeat, to evict the candidate's data from the caches
};

/// The seconds of one round, for each repeat.
struct Times {
  std::vector<double> seconds;         ///< by the host's clock
  std::vector<double> device_seconds;  ///< by the device's clock, for the last round of each repeat; may be empty
};

namespace detail {

/// Evicts data from the caches by writing to memory of the given size.
class CacheFlusher {
 public:
  explicit CacheFlusher(std::size_t bytes) : memory_(bytes / sizeof(std::uint64_t)) {}
  void flush() noexcept {
    ++value_;
    for (std::size_t i = 0; i < memory_.size(); i += 8) memory_[i] = value_;
    asm volatile("" : : "r"(memory_.data()) : "memory");  // as if the memory were read
  }

 private:
  std::vector<std::uint64_t> memory_;
  std::uint64_t value_ = 0;
};

}  // namespace detail

/// Times `call()`, after calling it for warm-up; `after_each()` is called, untimed, after each repeat.
template <std::invocable Call, std::invocable After>
[[nodiscard]] std::vector<double> time_calls(const Repetition& how, Call&& call, After&& after_each) {
  using Clock = std::chrono::steady_clock;
  for (std::size_t i = 0; i < how.warm_up; ++i) call();
  detail::CacheFlusher flusher(how.flush_bytes);
  std::size_t number = std::max<std::size_t>(1, how.number);
  const std::size_t repeat = std::max<std::size_t>(1, how.repeat);
  std::vector<double> seconds;
  seconds.reserve(repeat);
  while (seconds.size() < repeat) {
    if (how.cooldown_ms > 0) std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(how.cooldown_ms));
    flusher.flush();
    const auto start = Clock::now();
    for (std::size_t i = 0; i < number; ++i) call();
    const double took = std::chrono::duration<double>(Clock::now() - start).count();
    if (const double least = 1e-3 * how.min_repeat_ms; took < least) {
      // A time that is far too short says little about the number needed: grow at most tenfold.
      const double factor = std::min(10.0, 1.1 * least / std::max(took, 1e-9));
      number = std::max(number + 1, static_cast<std::size_t>(std::ceil(factor * static_cast<double>(number))));
      continue;
    }
    seconds.push_back(took / static_cast<double>(number));
    after_each();
  }
  return seconds;
}
template <std::invocable Call>
[[nodiscard]] std::vector<double> time_calls(const Repetition& how, Call&& call) {
  return time_calls(how, call, [] {});
}

/// Times rounds of a session with these pairs. @throws Failure if a round fails: run, run_timeout, device, or
/// instantiation if the pairs do not fit
template <class Session, BoundPair... B>
[[nodiscard]] Times time_rounds(const Repetition& how, Session& session, const B&... pairs) {
  const auto binding = session.prebind(pairs...);
  const auto round = [&] {
    if (const Status status = session.run_round(binding); !status) [[unlikely]]
      throw Failure(fault_of(status.code()), session.explain(status).c_str());
  };
  Times times;
  times.seconds = time_calls(how, round, [&] {
    if constexpr (HasRoundTime<typename Session::Platform>) {
      times.device_seconds.push_back(1e-9 * session.last_round_ns());
    }
  });
  return times;
}

}  // namespace rondo::measure
