// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/measure/concepts.hpp>
#include <rondo/measure/result.hpp>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <iterator>
#include <list>
#include <mutex>
#include <optional>
#include <utility>

namespace rondo::measure {

/// The order of building and running.
enum class Mode : std::uint8_t {
  Async,  ///< no phases: a candidate runs as soon as it is built and the runner has room
  Sync,   ///< builds and runs never overlap: a batch is built, then run, then the next batch is built
};

/// The options of a ProgramMeasurer.
struct MeasurerOptions {
  Mode mode = Mode::Async;
  /// Mode::Sync: the number of candidates in a batch; 0: all that are waiting when a caller waits.
  std::size_t batch = 0;
  /// Stop after this many candidates in a row had a fault; 0: never.
  std::size_t stop_after_faults = 0;
};

/// The number of candidates of a measurer, by outcome.
struct Tally {
  std::uint64_t submitted = 0;
  std::uint64_t faults[fault_count] = {};  ///< by Fault; `none`: measured
  std::uint64_t in_a_row = 0;              ///< faults since the last measured candidate, without stopped ones

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
/// A candidate whose build fails is not run. Each candidate ends in exactly one result: it is passed to the callback
/// or, for a candidate submitted without one, returned by results().
/// Lifetime: immovable; builder and runner must outlive it and may serve others too. The destructor stops, and waits
/// for candidates under way. Thread safety: all members from any thread. Callbacks are called on any thread, also
/// concurrently, and occupy a worker; they may submit more and call stop(), but must not wait. wait() rethrows a
/// callback's exception.
/// Errors: those of candidates are in their results. Cost: two locks and a few allocations for each candidate.
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

  /// Submits a candidate and returns without waiting for it. After stop(), returns nothing and makes no callback.
  std::optional<Ticket> submit(Input input, OnResult on_result = {});

  /// Waits until every candidate has a result, including those submitted meanwhile.
  /// @throws Error busy from within a callback; the first exception that a callback threw
  void wait();

  /// The next result of a candidate without a callback, in the order of completion; nothing when all are done.
  /// @throws Error busy from within a callback
  [[nodiscard]] std::optional<Result> next();

  /// The results that next() returns, as a range: `for (const Result& r : measurer.results())`.
  [[nodiscard]] auto results() noexcept { return Results{*this}; }

  /// Ends waiting candidates with Fault::stopped before it returns; builds and runs under way are finished, but
  /// candidates that were only built are not run. Does not wait. In a callback that stop() itself makes, it returns at
  /// once, and the outer call ends the others.
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
    Holder holder = Holder::nobody;  ///< the part whose capacity the candidate uses
    std::optional<Input> input;
    std::optional<Artifact> artifact;
    OnResult on_result;
  };
  using Position = typename std::list<Item>::iterator;

  /// An input range over next().
  class Results {
   public:
    struct Sentinel {};
    /// An input iterator that takes results one after the other.
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
  void release_capacity(Position item) noexcept;
  static void mark_stopped(Result& result) noexcept {
    result.fault = Fault::stopped;
    result.text = detail::text_of(describe(Fault::stopped));
  }
  void feed() noexcept;
  void feed_builder() noexcept;
  void feed_runner() noexcept;
  [[nodiscard]] bool may_build() const noexcept;
  [[nodiscard]] bool may_run() const noexcept;
  void turn() noexcept;
  void await_idle() noexcept;
  void refuse_within_callback() const;

  /// Counts a thread that still uses the measurer although the candidate that brought it here may be done, so that the
  /// destructor waits for it. Call enter() under the lock.
  void enter() noexcept { ++entered_; }
  void leave() noexcept {
    const std::lock_guard lock(mutex_);
    --entered_;
    if (is_idle()) idle_.notify_all();
  }
  [[nodiscard]] bool is_idle() const noexcept { return has_no_more() && entered_ == 0; }
  /// Whether all candidates have their results.
  [[nodiscard]] bool has_no_more() const noexcept { return to_build_.empty() && to_run_.empty() && under_way_.empty(); }
  /// Moves the first candidate of a list to those under way. Called under the lock.
  Position take_first(std::list<Item>& from) noexcept {
    const Position item = from.begin();
    under_way_.splice(under_way_.end(), from, item);
    return item;
  }

  /// The measurer whose callback this thread is running.
  static inline thread_local const ProgramMeasurer* calling_ = nullptr;
  /// A call of stop() on this thread. These calls nest if their callbacks stop measurers.
  struct Stop {
    const ProgramMeasurer* measurer;
    const Stop* outer;
  };
  static inline thread_local const Stop* innermost_stop_ = nullptr;

  B& builder_;
  R& runner_;
  MeasurerOptions options_;

  // Everything below is read and written under the mutex, and each condition variable is notified under it, so a waiter
  // cannot miss a change between its check and its sleep. A candidate moves from list to list, which allocates nothing:
  // what submit() has accepted gets its result even if memory is short.
  mutable std::mutex mutex_;
  std::condition_variable idle_;
  std::condition_variable ready_;
  std::list<Item> to_build_;
  std::list<Item> to_run_;
  std::list<Item> under_way_;  ///< candidates in the builder, in the runner, or in their callbacks
  std::list<Item> finished_;   ///< results for next()
  std::size_t building_ = 0;   ///< candidates in the builder
  std::size_t running_ = 0;    ///< candidates in the runner
  std::size_t entered_ = 0;
  bool feeding_builder_ = false;
  bool feeding_runner_ = false;
  bool stopping_ = false;
  std::size_t waiters_ = 0;
  bool in_run_phase_ = false;   ///< Mode::Sync: whether candidates are run in this phase
  std::size_t batch_left_ = 0;  ///< Mode::Sync: builds that this phase will still submit
  Tally tally_;
  std::exception_ptr thrown_;
};

}  // namespace rondo::measure

#include <rondo/measure/program_measurer_impl.hpp>  // IWYU pragma: export
