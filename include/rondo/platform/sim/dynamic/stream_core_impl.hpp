// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/platform/sim/dynamic/stream_core.hpp>

/// The bodies of StreamCore's longer members; include stream_core.hpp.
namespace rondo::platform::sim::dynamic {

inline bool StreamCore::reclaim() noexcept {
  bool any = false;
  for (ScopeRing& ring : rings_) {
    while (!ring.tasks.empty() && ring.tasks.oldest().done()) {
      TaskSlot& task = ring.tasks.oldest();
      map_.forget(static_cast<RegionUse*>(task.uses));
      while (task.spare != nullptr) {
        SpareFanOut& spare = *task.spare;
        task.spare = spare.next_free;
        edges_.give_back(spare);
      }
      if (task.words_taken != 0)
        ring.word_ring.free_until(ring.word_ring.head() - ring.word_ring.used() + task.words_taken);
      task.number = 0;
      ring.tasks.pop();
      slots_.give_back(task);
      any = true;
    }
  }
  if (any) {
    std::uint64_t oldest = task_number_ + 1;
    for (const ScopeRing& ring : rings_) {
      if (!ring.tasks.empty() && ring.tasks.oldest().number < oldest) oldest = ring.tasks.oldest().number;
    }
    map_.set_frontier(oldest);
  }
  for (std::uint32_t r = 0; r < ring_count_; ++r) {
    ScopeRing& ring = rings_[r];
    while (!ring.tensors.empty() && ring.tensors.oldest().closed) {
      TensorState& tensor = ring.tensors.oldest();
      // Any task that may use it was added at this scope's depth or deeper, so to this ring or a later one.
      bool unused = true;
      for (std::uint32_t q = r; q < ring_count_; ++q) unused &= rings_[q].tasks.tail() >= tensor.until[q];
      if (!unused) break;
      map_.drop_grids(tensor);
      ring.heap.free_until(tensor.heap_end);
      tensor.serial = 0;
      ring.tensors.pop();
      tensors_.give_back(tensor);
      any = true;
    }
  }
  return any;
}

inline void StreamCore::close_tensors() noexcept {
  OpenScope& closing = current();
  Fifo<TensorState>& tensors = rings_[closing.ring].tensors;
  // Intermediates of nested scopes are closed already, and may be reclaimed.
  std::uint64_t position = closing.first_tensor < tensors.tail() ? tensors.tail() : closing.first_tensor;
  for (; position < tensors.head(); ++position) {
    TensorState& tensor = tensors.at(position);
    if (tensor.scope != closing.serial) continue;
    tensor.closed = true;
    for (std::uint32_t r = 0; r < ring_count_; ++r) tensor.until[r] = rings_[r].tasks.head();
  }
}

inline void StreamCore::take_words(TaskSlot& slot, std::uint64_t words) {
  ScopeRing& ring = this->ring();
  const auto missing = [&] { return ring.word_ring.missing(words, 1); };
  if (missing() != 0) {
    make_room([&] { return missing() == 0; },
              [&] { return Shortage{"words of arguments", ring.word_ring.size() + missing(), ring.word_ring.size()}; });
  }
  const std::uint64_t position = ring.word_ring.place(words, 1);
  slot.words_taken = static_cast<std::uint32_t>(position + words - ring.word_ring.head());
  slot.args = ring.words.data() + ring.word_ring.offset(position);
}

inline void StreamCore::fail_stuck(const Shortage& shortage) {
  const OpenScope& open = current();
  Error::Text text{"scope ", open.serial - scopes_[0].serial, " (depth ", depth_,
                   ") waits for room that nothing will free: "};
  shortage.is_shared ? text.append("all rings together hold ") : text.append({"ring ", open.ring, " holds "});
  text.append({shortage.capacity, " ", shortage.what, ", and ", shortage.needed, " are needed; "});
  if (shortage.option != nullptr) text.append({"enlarge OrchestrationOptions::", shortage.option, " or "});
  text.append("end scopes earlier");
  stream_.fail(Status{Errc::deadlock}.poisoning(), text);
  throw Stopped{};
}

}  // namespace rondo::platform::sim::dynamic
