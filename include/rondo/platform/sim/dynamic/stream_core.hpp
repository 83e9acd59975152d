// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/arch/arch.hpp>
#include <rondo/error.hpp>
#include <rondo/graph/records.hpp>
#include <rondo/platform/orchestration_options.hpp>
#include <rondo/platform/sim/dynamic/region_map.hpp>
#include <rondo/platform/sim/dynamic/stream_rings.hpp>
#include <rondo/platform/sim/task_slot.hpp>
#include <rondo/platform/sim/task_stream.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rondo::platform::sim::dynamic {

using runtime::OrchestrationOptions;

/// Thrown to end an orchestration whose round has failed. It does not derive from std::exception, so handlers for
/// standard exceptions do not catch it.
struct Stopped {};

/// The common part of the runtimes that build their graph during a round: rings of tasks, intermediates and memory for
/// each depth of scopes; reclaiming when a ring is full; detecting deadlock; ending a round.
///
/// Thread safety: the orchestrating thread only. Errors: when a round cannot continue, it fails and Stopped is thrown.
/// Cost per task: every few tasks, a check of the oldest ones; nothing grows with the number of tasks or tensors.
class StreamCore {
 public:
  static constexpr std::uint32_t max_scopes = 64;
  static constexpr std::uint32_t max_rings = 4;
  /// More than any device has; the bytes of all rings together fit into 64 bits.
  static constexpr std::uint64_t most_ring_bytes = std::uint64_t{1} << 60;

  StreamCore(const OrchestrationOptions& options, std::uint32_t threads, std::uint32_t rings,
             const arch::Limits& limits, const graph::GraphView& interface)
      : limits_{limits},
        ring_count_{rings},
        heap_bytes_{std::min(options.ring_bytes.value, most_ring_bytes) / 1024 * 1024},
        rings_(rings, ScopeRing{options.window, options.tensors, heap_bytes_}),
        map_{options.regions < 256 ? 256 : options.regions, 4096},
        slots_{Fifo<TaskSlot>::capacity_for(options.window) * rings + 1},
        tensors_{Fifo<TensorState>::capacity_for(options.tensors) * rings},
        edges_{options.edges},
        interface_(interface.tensors.size()),
        interface_count_{interface.tensors.size()},
        tag_{interface.tag},
        stream_{threads} {
    for (std::size_t t = 0; t < interface_.size(); ++t) {
      const graph::TensorRecord& record = interface.tensors[t];
      TensorState& tensor = interface_[t];
      tensor.count = record.count;
      tensor.rank = static_cast<std::uint8_t>(record.shape.rank());
      for (std::size_t d = 0; d < record.shape.rank(); ++d) {
        tensor.extents[d] = static_cast<std::uint64_t>(record.shape.extent(d));
      }
      tensor.element_bytes = static_cast<std::uint32_t>(size_of(record.type));
      tensor.direction = record.direction;
    }
  }
  StreamCore(const StreamCore&) = delete;
  StreamCore& operator=(const StreamCore&) = delete;

  [[nodiscard]] Bytes heap_bytes() const noexcept { return Bytes{heap_bytes_ * ring_count_}; }
  void place_heaps(std::uint64_t base) noexcept {
    for (std::uint32_t r = 0; r < ring_count_; ++r) rings_[r].heap_base = base + r * heap_bytes_;
  }
  void place_interface(std::size_t tensor, std::uint64_t address) noexcept { interface_[tensor].address = address; }

  void begin_round() noexcept {
    first_task_ = task_number_ + 1;
    ++round_;
    stream_.begin_round(first_task_);
    depth_ = 0;
    scopes_[0] = {++scope_serial_, 0, 0, nullptr, nullptr};
  }
  /// Runs the remaining tasks, resets all state, and returns the round's status.
  Status end_round() noexcept {
    close_tensors();
    for (std::uint32_t times = 0; reclaim(), !all_reclaimed();) {
      (void)stream_.ends_early();
      if (stream_.help()) {
        times = 0;
      } else {
        TaskStream::back_off(times);
      }
    }
    for (ScopeRing& ring : rings_) ring.word_ring.reset();
    map_.rewind({interface_.data(), interface_.size()});
    if (stream_.failed() && stream_.status().ok()) [[unlikely]] {
      stream_.fail(Status{Errc::orchestration_failed}.poisoning(),
                   Error::Text("an exception left a scope, and the orchestration caught it and went on"));
    }
    return stream_.status();
  }

  [[nodiscard]] TaskStream& stream() noexcept { return stream_; }
  /// The number of tasks added in the current round, or else in the last one.
  [[nodiscard]] std::uint64_t tasks() const noexcept { return task_number_ + 1 - first_task_; }
  /// The uses, intermediates and bytes in use; 0 between rounds.
  [[nodiscard]] std::uint64_t held() const noexcept {
    std::uint64_t sum = map_.live() + tensors_.taken() + edges_.taken();
    for (const ScopeRing& ring : rings_) sum += ring.heap.used() + ring.tasks.size();
    return sum;
  }

 protected:
  /// A scope of the orchestration that is still open.
  struct OpenScope {
    std::uint64_t serial = 0;
    std::uint32_t ring = 0;
    std::uint64_t first_tensor = 0;  ///< its position in the ring
    TaskSlot* first_task = nullptr;  ///< the first of the tasks to be published when the scope ends
    TaskSlot* last_task = nullptr;
  };

  [[nodiscard]] OpenScope& current() noexcept { return scopes_[depth_]; }
  [[nodiscard]] ScopeRing& ring() noexcept { return rings_[current().ring]; }

  void check_running() {
    if (stream_.ends_early()) [[unlikely]]
      throw Stopped{};
  }

  void open_scope() {
    check_running();
    if (depth_ + 1 == max_scopes) {
      throw Error(Errc::limit_exceeded, Error::Text{"a scope is opened inside of ", max_scopes - 1,
                                                    " others; the most is ", max_scopes, " deep, the round included"});
    }
    ++depth_;
    const std::uint32_t ring = depth_ < ring_count_ ? depth_ : ring_count_ - 1;
    scopes_[depth_] = {++scope_serial_, ring, rings_[ring].tensors.head(), nullptr, nullptr};
  }
  void close_scope() noexcept {
    close_tensors();
    --depth_;
  }

  /// Returns a slot with room for its words; commit_slot() takes it. Waits for room.
  [[nodiscard]] TaskSlot& prepare_slot(std::uint64_t words, std::size_t uses) {
    check_running();
    if ((++prepared_ & 15U) == 0) (void)reclaim();
    ScopeRing& ring = this->ring();
    if (ring.tasks.full()) [[unlikely]] {
      make_room(
          [&] { return !ring.tasks.full(); },
          [&] { return Shortage{"unfinished tasks", ring.tasks.capacity() + 1, ring.tasks.capacity(), "window"}; });
    }
    if (map_.room() < uses) [[unlikely]] {
      make_room([&] { return map_.room() >= uses; },
                [&] { return Shortage{"uses of tensors", map_.live() + uses, map_.capacity(), "regions", true}; });
    }
    if (draft_ == nullptr) draft_ = slots_.take();  // enough for all windows and the draft
    TaskSlot& slot = *draft_;
    slot.words_taken = 0;
    slot.args = slot.own_words_block;
    if (words > TaskSlot::own_words) [[unlikely]]
      take_words(slot, words);
    return slot;
  }
  void commit_slot(TaskSlot& slot) noexcept {
    draft_ = nullptr;
    ScopeRing& ring = this->ring();
    if (slot.words_taken != 0) ring.word_ring.take_until(ring.word_ring.head() + slot.words_taken);
    ring.tasks.push(&slot);
    slot.fan_out.store(nullptr, std::memory_order_relaxed);
    slot.linked = 0;
    slot.mark = 0;
    slot.uses = nullptr;
    slot.spare = nullptr;
    slot.number = ++task_number_;
    if (slot.blocks != 1) {
      slot.next_block.store(0, std::memory_order_relaxed);
      slot.blocks_left.store(slot.blocks, std::memory_order_relaxed);
    }
  }

  /// Fails the round, because no ring holds the words of one task.
  [[noreturn, gnu::cold]] void fail_words(std::uint64_t words) {
    fail_stuck({"words of arguments", words, ScopeRing::word_count});
  }

  /// Lets `consumer` start only when `producer` is done. Precondition: the consumer's guard is set.
  void link(TaskSlot& consumer, TaskSlot& producer) noexcept {
    if (producer.mark == consumer.number) return;
    producer.mark = consumer.number;
    FanOut* head = producer.fan_out.load(std::memory_order_acquire);
    if (head == TaskSlot::sealed()) return;
    FanOut* edge = nullptr;
    SpareFanOut* spare = nullptr;
    if (consumer.linked < TaskSlot::own_edges) {
      edge = consumer.own + consumer.linked;
    } else {
      spare = edges_.take();
      if (spare == nullptr) [[unlikely]] {
        wait_for(producer);
        return;
      }
      edge = &spare->edge;
    }
    edge->consumer = &consumer;
    if (!stream_.threaded()) {  // no other thread reads it; without a fence, the next link's loads can start early
      edge->next = head;
      producer.fan_out.store(edge, std::memory_order_relaxed);
      add_linked(consumer, spare);
      return;
    }
    do {
      if (head == TaskSlot::sealed()) {
        if (spare != nullptr) edges_.give_back(*spare);
        return;
      }
      edge->next = head;
    } while (!producer.fan_out.compare_exchange_weak(head, edge, std::memory_order_release, std::memory_order_acquire));
    add_linked(consumer, spare);
  }
  /// Reserves an edge, so that the next link() need not wait. Waits for room.
  void reserve_edge() {
    if (edges_.left() != 0) return;
    make_room([&] { return edges_.left() != 0; },
              [&] { return Shortage{"pending edges", edges_.capacity() + 1, edges_.capacity(), "edges", true}; });
  }
  void release(TaskSlot& task) noexcept {
    const std::uint32_t down = TaskSlot::guard - task.linked;
    if (!stream_.threaded()) {
      const std::uint32_t left = task.waiting.load(std::memory_order_relaxed) - down;
      task.waiting.store(left, std::memory_order_relaxed);
      if (left == 0) stream_.ready(task);
      return;
    }
    if (task.linked == 0 || task.waiting.fetch_sub(down, std::memory_order_acq_rel) == down) stream_.ready(task);
  }

  /// Allocates memory and a record for an intermediate of the open scope. Waits for room.
  [[nodiscard]] TensorState& take_tensor(std::uint64_t bytes) {
    check_running();
    ScopeRing& ring = this->ring();
    const std::uint64_t length = limits_.block_bytes(bytes);
    if (ring.tensors.full()) [[unlikely]] {
      make_room(
          [&] { return !ring.tensors.full(); },
          [&] { return Shortage{"intermediates", ring.tensors.capacity() + 1, ring.tensors.capacity(), "tensors"}; });
    }
    if (ring.heap.missing(length, limits_.tensor_alignment) != 0) [[unlikely]] {
      make_room([&] { return ring.heap.missing(length, limits_.tensor_alignment) == 0; },
                [&] {
                  return Shortage{"bytes", ring.heap.size() + ring.heap.missing(length, limits_.tensor_alignment),
                                  ring.heap.size(), "ring_bytes"};
                });
    }
    const std::uint64_t position = ring.heap.place(length, limits_.tensor_alignment);
    ring.heap.take_until(position + length);
    TensorState& tensor = *tensors_.take();
    ring.tensors.push(&tensor);
    tensor.address = ring.heap_base + ring.heap.offset(position);
    tensor.heap_end = position + length;
    tensor.on_ring = true;
    tensor.closed = false;
    tensor.serial = ++tensor_serial_;
    tensor.scope = current().serial;
    tensor.depth = depth_;
    return tensor;
  }

  [[nodiscard]] bool is_alive(const TensorState& tensor, std::uint64_t serial) const noexcept {
    if (!tensor.on_ring) return serial == round_;
    return tensor.serial == serial && tensor.depth <= depth_ && scopes_[tensor.depth].serial == tensor.scope;
  }

  arch::Limits limits_;
  std::uint32_t ring_count_;
  std::uint64_t heap_bytes_;
  std::vector<ScopeRing> rings_;
  RegionMap map_;
  Recycler<TaskSlot> slots_;
  Recycler<TensorState> tensors_;
  Recycler<SpareFanOut> edges_;
  TaskSlot* draft_ = nullptr;
  std::vector<TensorState> interface_;
  std::size_t interface_count_;  ///< finds it without dividing by the size of a TensorState
  std::uint32_t tag_;
  std::uint32_t depth_ = 0;
  OpenScope scopes_[max_scopes];
  std::uint64_t task_number_ = 0;  ///< the number of the last task
  std::uint64_t first_task_ = 1;
  std::uint64_t round_ = 0;
  std::uint64_t scope_serial_ = 0;
  std::uint64_t tensor_serial_ = 0;
  std::uint64_t prepared_ = 0;
  TaskStream stream_;

 private:
  /// A resource that is used up.
  struct Shortage {
    const char* what;
    std::uint64_t needed;
    std::uint64_t capacity;
    const char* option = nullptr;  ///< the member of OrchestrationOptions that sets the capacity, if one does
    bool is_shared = false;        ///< whether all rings share it
  };

  /// Frees the resources of tasks that are done, oldest first. @returns whether it freed any
  bool reclaim() noexcept;
  [[nodiscard]] bool all_reclaimed() const noexcept {
    return std::all_of(rings_.begin(), rings_.end(),
                       [](const ScopeRing& ring) { return ring.tasks.empty() && ring.tensors.empty(); });
  }
  /// From now on, the intermediates of the open scope wait only for the tasks that exist.
  void close_tensors() noexcept;
  void take_words(TaskSlot& slot, std::uint64_t words);

  /// Waits until `has_room()`, and runs tasks meanwhile. If nothing can free room, fails the round and throws Stopped.
  template <class HasRoom, class Describe>
  [[gnu::noinline, gnu::cold]] void make_room(HasRoom has_room, Describe describe) {
    (void)reclaim();
    for (std::uint32_t times = 0; !has_room(); (void)reclaim()) {
      if (stream_.failed()) throw Stopped{};
      if (stream_.help()) {
        times = 0;
      } else if (!stream_.quiet()) {
        TaskStream::back_off(times);
      } else {
        (void)reclaim();
        if (!has_room()) fail_stuck(describe());  // all tasks that were ready are done, so none will become ready
      }
    }
  }
  [[noreturn]] void fail_stuck(const Shortage& shortage);
  static void add_linked(TaskSlot& consumer, SpareFanOut* spare) noexcept {
    ++consumer.linked;
    if (spare == nullptr) return;
    spare->next_free = consumer.spare;
    consumer.spare = spare;
  }

  /// Waits for a task without reclaiming, since a walk through the map may be under way. Tasks precede those added
  /// later, so this task can end before them.
  [[gnu::cold]] void wait_for(TaskSlot& task) noexcept {
    for (std::uint32_t times = 0; !task.done();) {
      if (!stream_.help()) TaskStream::back_off(times);
    }
  }
};

}  // namespace rondo::platform::sim::dynamic

#include <rondo/platform/sim/dynamic/stream_core_impl.hpp>  // IWYU pragma: export
