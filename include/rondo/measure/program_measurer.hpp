// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/measure/concepts.hpp>
#include <rondo/measure/result.hpp>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <iterator>
#include <list>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace rondo::measure {

/// The order of building and running.
enum class Mode : std::uint8_t {
  Async,  ///< nothing waits: a candidate runs as soon as it is built and the runner has room
  Sync,   ///< builds and runs never overlap: a batch is built, then run, then the next batch is built
};

/// The options of a ProgramMeasurer.
struct MeasurerOptions {
  Mode mode = Mode::Async;
  /// Mode::Sync: how many candidates are a batch; 0: all that are there when a caller waits.
  std::size_t batch = 0;
  /// Stop when so many candidates in a row had a fault; 0: never.
  std::size_t stop_after_faults = 0;
};

/// The number of candidates of a measurer, by outcome.
struct Tally {
  std::uint64_t submitted = 0;
  std::uint64_t faults[fault_count] = {};  ///< by Fault; none: measured
  std::uint64_t in_a_row = 0;              ///< faults since a candidate was measured last, stopped ones not counted

  [[nodiscard]] std::uint64_t done() const noexcept {
    std::uint64_t n = 0;
    for (const std::uint64_t each : faults) n += each;
    return n;
  }
};

/// Builds and runs many candidates, keeping builder and runner busy at the same time.
///
///     ProgramMeasurer measurer(builder, runner);
///     for (const Config& c : configs) measurer.submit(source_of(c), [&](const Result& r) { note(c, r); });
///     measurer.wait();
///
/// A candidate whose build fails is not run. Each candidate ends in exactly one result: its callback's, or, if it was
/// submitted without one, one of results().
/// Lifetime: immovable; uses builder and runner, which must outlive it and may serve others too. The destructor stops,
/// and waits for what is under way. Thread safety: all members from any thread; callbacks come on any thread, several
/// at once, and may submit more and call stop(), but not wait; a worker that is in one does nothing else. A callback's
/// exception is kept for wait().
/// Errors: of candidates, in their results. Cost: two locks and a few allocations for each candidate.
template <Builder B, Runner R>
class ProgramMeasurer {
  static_assert(check_builder<B>() && check_runner<R>());
  static_assert(RunsWhatIsBuiltBy<R, B>,
                "rondo: the runner cannot run what the builder builds; give them the same Artifact");

 public:
  using Input = typename B::Input;
  using OnResult = std::function<void(const Result&)>;

  explicit ProgramMeasurer(B& builder, R& runner, MeasurerOptions options = {})
      : builder_{builder}, runner_{runner}, options_{options} {}
  ProgramMeasurer(const ProgramMeasurer&) = delete;
  ProgramMeasurer& operator=(const ProgramMeasurer&) = delete;
  ~ProgramMeasurer() {
    stop();
    await_idle();
  }

  /// Hands in a candidate; returns without waiting for it. Nothing, and no callback, once stopped.
  std::optional<Ticket> submit(Input input, OnResult on_result = {});

  /// Waits until there is a result for each candidate, those submitted meanwhile included.
  /// @throws Error busy from within a callback; and what a callback threw, the first one of it
  void wait();

  /// The next result of a candidate without callback, in the order in which they come; nothing when all is done.
  /// @throws Error busy from within a callback
  [[nodiscard]] std::optional<Result> next();

  /// All of next(), as a range: `for (const Result& r : measurer.results())`.
  [[nodiscard]] auto results() noexcept { return Results{*this}; }

  /// Candidates that wait for their turn end with Fault::stopped, before this returns; those under way are finished,
  /// but not run if they were only built. Does not wait.
  void stop() noexcept;

  [[nodiscard]] bool stopped() const noexcept {
    const std::lock_guard lock(mutex_);
    return stopping_;
  }
  [[nodiscard]] Tally tally() const noexcept {
    const std::lock_guard lock(mutex_);
    return tally_;
  }

 private:
  using Artifact = typename B::Artifact;

  enum class Holder : std::uint8_t { nobody, builder, runner };

  struct Item {
    Result result;
    Holder holder = Holder::nobody;  ///< whose capacity it takes
    std::optional<Input> input;
    std::optional<Artifact> artifact;
    OnResult on_result;
  };
  using Position = typename std::list<Item>::iterator;

  /// An input range over next().
  class Results {
   public:
    struct Sentinel {};
    /// Takes one result after the other as they come; an input iterator.
    class Iterator {
     public:
      using value_type = Result;
      using difference_type = std::ptrdiff_t;
      explicit Iterator(ProgramMeasurer& measurer) : measurer_{&measurer}, result_{measurer.next()} {}
      [[nodiscard]] const Result& operator*() const noexcept { return *result_; }
      [[nodiscard]] const Result* operator->() const noexcept { return &*result_; }
      Iterator& operator++() {
        result_ = measurer_->next();
        return *this;
      }
      void operator++(int) { ++*this; }
      friend bool operator==(const Iterator& i, Sentinel) noexcept { return !i.result_; }

     private:
      ProgramMeasurer* measurer_;
      std::optional<Result> result_;
    };
    explicit Results(ProgramMeasurer& measurer) noexcept : measurer_{measurer} {}
    [[nodiscard]] Iterator begin() const { return Iterator{measurer_}; }
    [[nodiscard]] Sentinel end() const noexcept { return {}; }

   private:
    ProgramMeasurer& measurer_;
  };

  void built(Position item, Built<Artifact> outcome) noexcept;
  void measured(Position item, Measured outcome) noexcept;
  void finish(Position item) noexcept;
  void let_go(Position item) noexcept;
  void feed() noexcept;
  void feed_builder() noexcept;
  void feed_runner() noexcept;
  [[nodiscard]] bool may_build() const noexcept;
  [[nodiscard]] bool may_run() const noexcept;
  void turn() noexcept;
  void await_idle() noexcept;
  void refuse_within_callback() const;

  /// A thread that goes on using the measurer when the candidate that brought it here may be done: counted, so that
  /// nobody destroys what it uses. Call enter() under the lock.
  void enter() noexcept { ++entered_; }
  void leave() noexcept {
    const std::lock_guard lock(mutex_);
    --entered_;
    if (is_idle()) idle_.notify_all();
  }
  [[nodiscard]] bool is_idle() const noexcept { return items_.empty() && entered_ == 0; }

  /// Whose callback this thread is in.
  static inline thread_local const ProgramMeasurer* calling_ = nullptr;

  B& builder_;
  R& runner_;
  MeasurerOptions options_;

  // Everything below is read and written under the mutex, and each condition variable is notified under it: there is no
  // moment between a waiter's look and its sleep at which it could miss a change.
  mutable std::mutex mutex_;
  std::condition_variable idle_;
  std::condition_variable ready_;
  std::list<Item> items_;  ///< all that are not done
  std::deque<Position> to_build_;
  std::deque<Position> to_run_;
  std::size_t building_ = 0;  ///< at the builder
  std::size_t running_ = 0;   ///< at the runner
  std::size_t entered_ = 0;
  bool feeding_builder_ = false;
  bool feeding_runner_ = false;
  bool stopping_ = false;
  std::size_t waiters_ = 0;
  bool in_run_phase_ = false;    ///< Mode::Sync
  std::size_t batch_left_ = 0;   ///< Mode::Sync: builds that this phase will still hand out
  std::deque<Result> finished_;  ///< for next()
  Tally tally_;
  std::exception_ptr thrown_;
};

}  // namespace rondo::measure

#include <rondo/measure/program_measurer_impl.hpp>  // IWYU pragma: export
