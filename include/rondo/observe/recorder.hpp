// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/detail/fixed_text.hpp>
#include <rondo/graph/records.hpp>
#include <rondo/observe/clocks.hpp>
#include <rondo/observe/span_ring.hpp>
#include <rondo/platform/sim/inline.hpp>
#include <rondo/platform/sim/task_stream.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

namespace rondo::observe {

/// Keeps the last spans of the calls of a graph's kernels, in one ring for each thread that runs any.
///
/// wrap() replaces each call by a call of a function of the recorder. The argument block of that function is four words
/// that refer to the call and the recorder. An engine runs wrapped calls like any others.
///
/// Thread safety: wrapped calls and record() from any thread; everything else from the thread that launches. Cost: a
/// wrapped call reads the clock twice and writes to its thread's ring, with no atomic operation except a load, no
/// allocation and no lock. A thread's first call takes a ring by one compare-and-swap; if none is left, it takes a lock
/// and allocates one.
template <class Clock = TickClock>
class Recorder {
 public:
  /// Names of kernels, in a list of fixed size; names that do not fit share the last place.
  class Names {
   public:
    /// The number of places.
    static constexpr std::size_t most = 64;
    /// Finds the name, or adds it. Returns its place.
    [[nodiscard]] std::size_t place_of(std::string_view name) noexcept {
      const Name cut(name);
      for (std::size_t i = 0; i < count_; ++i) {
        if (list_[i] == cut) return i;
      }
      if (count_ == most) return most - 1;
      list_[count_] = count_ + 1 == most ? Name("...") : cut;
      return count_++;
    }
    [[nodiscard]] const char* operator[](std::size_t place) const noexcept { return list_[place].c_str(); }

   private:
    using Name = rondo::detail::FixedText<32>;
    Name list_[most];
    std::size_t count_ = 0;
  };

  /// `threads`: the number of rings that are allocated now; further threads allocate theirs.
  Recorder(std::size_t threads, std::size_t spans_per_thread) : lanes_(threads), launches_(spans_per_thread) {
    anchor<Clock>();
    for (Lane& lane : lanes_) lane.spans = SpanRing(spans_per_thread);
  }
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  /// Sets whether to keep spans from now on. From any thread.
  void record(bool on) noexcept { on_.store(on, std::memory_order_relaxed); }
  /// Whether spans are being kept.
  [[nodiscard]] bool records() const noexcept { return on_.load(std::memory_order_relaxed); }

  /// Wraps all calls. Returns their words, which must live as long as `calls` are used. Keeps the graph to which the
  /// spans' numbers refer. The programs of all slots of a session, which have the same graph, may be wrapped.
  [[nodiscard]] std::vector<ArgWord> wrap(const graph::GraphView& graph, platform::sim::Inline::DynamicProgram& calls) {
    std::vector<ArgWord> words(words_per_call * calls.calls.size());
    std::size_t c = 0;
    for (std::size_t t = 0; t < graph.tasks.size(); ++t) {
      for (std::uint32_t block = 0; block < graph.tasks[t].blocks; ++block, ++c) {
        ArgWord* const w = words.data() + words_per_call * c;
        w[0] = word(reinterpret_cast<std::uintptr_t>(calls.calls[c].entry));
        w[1] = word(reinterpret_cast<std::uintptr_t>(calls.calls[c].args));
        w[2] = word(reinterpret_cast<std::uintptr_t>(this));
        w[3] = word(std::uint64_t{block} << 32 | t);
        calls.calls[c] = {&Recorder::call, w};
      }
    }
    graph_ = graph;
    return words;
  }

  /// Traces the kernels of runtimes that build their graph during the round; see TaskStream::trace. In their spans,
  /// `what` is the number of the task in its round, and `bytes` is the place of its name in names().
  [[nodiscard]] platform::sim::TaskTracer tracer() noexcept { return {this, &Recorder::call_task}; }

  /// Called when a launch begins, on its thread.
  void launches() noexcept {
    ++launch_;
    if (!records()) return;
    (void)my_lane();  // makes this thread's lane the first
    launched_ = Clock::now();
  }
  /// Called when the launched round is done.
  void done() noexcept {
    if (launched_ == 0) return;
    launches_.add({std::exchange(launched_, 0), Clock::now(), launch_, 0, 0, 0});
  }

  // --- for reading between rounds

  /// The graph of the tasks; valid as long as the session.
  [[nodiscard]] const graph::GraphView& graph() const noexcept { return graph_; }
  /// The number of threads that have run calls. The first one is the thread that launches: the session's thread, or
  /// with rounds in flight that of the queue.
  [[nodiscard]] std::size_t threads() const noexcept {
    std::size_t n = 0;
    while (n < lanes_.size() && lanes_[n].owner.load(std::memory_order_relaxed) != nullptr) ++n;
    return n + more_lanes_.size();
  }
  /// In a span, `round` is the number of the launch, from 1; `what` is the position of the task in the graph, and
  /// `detail` is its block.
  [[nodiscard]] const SpanRing& spans(std::size_t thread) const noexcept { return lane(thread).spans; }
  /// The names of the kernels without a graph that this thread ran.
  [[nodiscard]] const Names& names(std::size_t thread) const noexcept { return lane(thread).names; }
  /// Spans from each launch until the host knew that it was done; `round` is its number.
  [[nodiscard]] const SpanRing& launch_spans() const noexcept { return launches_; }
  /// The number of spans that were dropped, because a ring was full or could not be allocated.
  [[nodiscard]] std::uint64_t dropped() const noexcept {
    std::uint64_t sum = unassigned_.load(std::memory_order_relaxed) + launches_.dropped();
    for (const Lane& lane : lanes_) sum += lane.spans.dropped();
    for (const Lane& lane : more_lanes_) sum += lane.spans.dropped();
    return sum;
  }
  /// Discards all spans; to be called between rounds.
  void clear() noexcept {
    for (Lane& lane : lanes_) lane.spans.clear();
    for (Lane& lane : more_lanes_) lane.spans.clear();
    launches_.clear();
    unassigned_.store(0, std::memory_order_relaxed);
  }

 private:
  static constexpr std::size_t words_per_call = 4;
  struct alignas(64) Lane {
    std::atomic<const void*> owner{nullptr};
    SpanRing spans;
    Names names;
  };
  /// The lane that a thread used last, and its recorder's number; addresses of recorders may be reused.
  struct ThreadLane {
    std::uint64_t recorder = 0;
    Lane* lane = nullptr;
  };

  [[nodiscard]] static ArgWord word(std::uint64_t bits) noexcept { return static_cast<ArgWord>(bits); }
  [[nodiscard]] static std::uint64_t next_number() noexcept {
    static std::atomic<std::uint64_t> last{0};
    return last.fetch_add(1, std::memory_order_relaxed) + 1;
  }

  /// Called in place of a kernel. A kernel that throws leaves a span, too.
  static void call(ArgWord* w) {
    const auto entry = reinterpret_cast<KernelEntry>(static_cast<std::uintptr_t>(w[0]));  // NOLINT
    auto* const args = reinterpret_cast<ArgWord*>(static_cast<std::uintptr_t>(w[1]));     // NOLINT
    auto* const self = reinterpret_cast<Recorder*>(static_cast<std::uintptr_t>(w[2]));    // NOLINT
    if (!self->records()) return entry(args);
    struct Keep {
      Recorder* self;
      std::uint64_t what;
      std::uint64_t start = Clock::now();
      ~Keep() { self->keep(start, what); }
    } const keep{self, static_cast<std::uint64_t>(w[3])};
    entry(args);
  }
  static void call_task(void* recorder, const platform::sim::TaskSlot& task, ArgWord* args, std::uint32_t number,
                        std::uint32_t block) {
    auto* const self = static_cast<Recorder*>(recorder);
    if (!self->records()) return task.entry(args);
    // Once its last block is done, the task may be gone and its memory reused. This block is not done before this
    // function returns.
    struct Keep {
      Recorder* self;
      std::string_view name;
      std::uint64_t what;
      std::uint64_t start = Clock::now();
      ~Keep() { self->keep(start, what, name); }
    } const keep{self, {task.name, task.name_size}, std::uint64_t{block} << 32 | number};
    task.entry(args);
  }
  void keep(std::uint64_t start, std::uint64_t what, std::string_view name = {}) noexcept {
    const std::uint64_t end = Clock::now();
    if (Lane* const lane = my_lane(); lane != nullptr) {
      lane->spans.add({start, end, launch_, static_cast<std::uint32_t>(what), static_cast<std::uint32_t>(what >> 32),
                       name.empty() ? 0 : lane->names.place_of(name)});
    } else {
      unassigned_.fetch_add(1, std::memory_order_relaxed);
    }
  }
  [[nodiscard]] Lane* my_lane() noexcept {
    thread_local ThreadLane thread_lane;
    if (thread_lane.recorder != number_) [[unlikely]]
      thread_lane = {number_, find_lane(&thread_lane)};
    return thread_lane.lane;
  }
  /// A thread is identified by the address of its `thread_lane`. After it has ended, another thread may get the same
  /// address; it then continues in the same ring, which no other thread uses.
  [[gnu::cold, gnu::noinline]] Lane* find_lane(const void* me) noexcept try {
    for (Lane& lane : lanes_) {
      const void* owner = nullptr;
      // model: recorder.own
      if (lane.owner.compare_exchange_strong(owner, me, std::memory_order_relaxed) || owner == me) return &lane;
    }
    const std::scoped_lock lock(adding_);
    for (Lane& lane : more_lanes_) {
      if (lane.owner.load(std::memory_order_relaxed) == me) return &lane;
    }
    SpanRing spans(launches_.capacity());
    Lane& lane = more_lanes_.emplace_back();
    lane.spans = std::move(spans);
    lane.owner.store(me, std::memory_order_relaxed);
    return &lane;
  } catch (...) {
    return nullptr;
  }
  [[nodiscard]] const Lane& lane(std::size_t thread) const noexcept {
    return thread < lanes_.size() ? lanes_[thread] : more_lanes_[thread - lanes_.size()];
  }

  std::vector<Lane> lanes_;
  std::mutex adding_;
  std::deque<Lane> more_lanes_;  ///< of further threads, which keep pointers to them
  SpanRing launches_;
  graph::GraphView graph_;
  std::uint64_t number_ = next_number();
  std::uint64_t launch_ = 0;    ///< the number of the launch; the launch itself publishes it to the threads
  std::uint64_t launched_ = 0;  ///< the reading at the start of that launch; 0: no launch is being traced
  std::atomic<bool> on_{true};
  alignas(64) std::atomic<std::uint64_t> unassigned_{0};
};

}  // namespace rondo::observe
