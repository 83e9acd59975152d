// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/arch/arch.hpp>
#include <rondo/binding/ports.hpp>
#include <rondo/error.hpp>
#include <rondo/graph/records.hpp>
#include <rondo/memory/device_array.hpp>
#include <rondo/platform/concept.hpp>
#include <rondo/types.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rondo {

/// The kinds of memory that sessions on P can have.
template <class P>
[[nodiscard]] consteval MemoryKinds memory_kinds_of() {
  MemoryKinds kinds{MemoryKind::device};
  if constexpr (HasMemoryKinds<P>) kinds = kinds | P::memory_kinds;
  if constexpr (HasPinnedMemory<P>) kinds = kinds | MemoryKinds{MemoryKind::pinned_host};
  return kinds;
}

namespace detail {

/// Refuses kinds of memory that the platform lacks, and tensors that cannot be in such memory; see
/// TaskGraph::in_memory. @returns the graph @throws Error unsupported, invalid_argument
constexpr graph::GraphView check_memory_kinds(const graph::GraphView& graph, const char* platform, MemoryKinds known) {
  for (const graph::TensorRecord& tensor : graph.tensors) {
    if (tensor.memory == MemoryKind::device) continue;
    const auto refuse = [&](Errc code, const char* why) {
      Error::Text text{
          "tensor '", graph.name(tensor.name), "' cannot be in ", to_string(tensor.memory), " memory: ", why};
      if (code == Errc::unsupported) {
        text.append(Error::Text{platform, " has"});
        for (auto kind = MemoryKind::device; kind < MemoryKind::pinned_host;
             kind = static_cast<MemoryKind>(static_cast<int>(kind) + 1)) {
          if (known.has(kind)) text.append(Error::Text{kind == MemoryKind::device ? " " : ", ", to_string(kind)});
        }
      }
      throw Error(code, text);
    };
    if (tensor.memory >= MemoryKind::pinned_host) {
      refuse(Errc::invalid_argument,
             "kernels do not access it; choose mapped_host, or bind a "
             "PinnedArray, which rounds copy without staging");
    }
    if (tensor.is_view()) refuse(Errc::invalid_argument, "it is a view; choose the memory of its source");
    if (!known.has(tensor.memory)) refuse(Errc::unsupported, "");
    if (!tensor.is_outside_arena()) continue;
    if (tensor.zeroed != Zeroed::never) {
      refuse(Errc::invalid_argument, "it is zeroed, as one part of the arena; zero it with a task");
    }
    if (tensor.delivered) refuse(Errc::invalid_argument, "an output is a view of it; copy it with a task");
  }
  return graph;
}

/// The tensors of a graph that are outside the arena, each in a block of its own; one for each slot where slots have
/// memory of their own. Those of symbolic size are left out. Lifetime: immovable; the platform and the graph outlive
/// it. Cost: set-up only.
template <Platform P>
class OtherMemory {
 public:
  /// `shared`: the memory of tensors that all shapes of a session share; null: none. @throws Error as P::allocate
  OtherMemory(P& platform, const graph::GraphView& view, std::size_t slots, bool has_own_workspace,
              const OtherMemory* shared = nullptr)
      : OtherMemory(platform) {
    tensors_ = view.tensors.size();
    for (std::size_t t = 0; t < tensors_; ++t) {
      const graph::TensorRecord& tensor = view.tensors[t];
      if (!tensor.is_outside_arena() || tensor.is_symbolic()) continue;
      addresses_.resize(slots * tensors_);
      const std::uint64_t known = shared == nullptr ? 0 : shared->address(t);
      const bool is_for_all = !Placement::is_with_ports(view, t, has_own_workspace);
      for (std::size_t s = 0; s < slots; ++s) {
        addresses_[s * tensors_ + t] = known != 0 ? known : is_for_all && s != 0 ? addresses_[t] : allocate(tensor);
      }
    }
  }
  OtherMemory(const OtherMemory&) = delete;
  OtherMemory& operator=(const OtherMemory&) = delete;
  ~OtherMemory() { (void)release(); }

  /// The addresses by tensor, 0 for tensors in the arena; null if all are in the arena.
  [[nodiscard]] const std::uint64_t* of_slot(std::size_t slot) const noexcept {
    return addresses_.empty() ? nullptr : addresses_.data() + slot * tensors_;
  }
  /// A tensor's address in the first slot; 0 if it is in the arena.
  [[nodiscard]] std::uint64_t address(std::size_t t) const noexcept { return addresses_.empty() ? 0 : addresses_[t]; }
  /// The address at which the host accesses a tensor in mapped host memory; null for any other tensor.
  [[nodiscard]] void* host_address([[maybe_unused]] std::size_t t) const noexcept {
    if constexpr (HasMemoryKinds<P>) {
      for (const Block& block : blocks_) {
        const bool is_mapped = block.kind == MemoryKind::mapped_host && block.at.address() == address(t);
        if (is_mapped) return platform_.host_address(block.at);
      }
    }
    return nullptr;
  }
  [[nodiscard]] const std::vector<memory::detail::Block>& all() const noexcept { return blocks_; }
  Status release() noexcept {
    Status first;
    for (const Block& block : blocks_) first = first_failure(first, platform_.release(block.at));
    blocks_.clear();
    return first;
  }

 private:
  using Block = memory::detail::Block;

  explicit OtherMemory(P& platform) noexcept : platform_{platform} {}
  std::uint64_t allocate(const graph::TensorRecord& tensor) {
    Block block{{}, tensor.memory, Bytes{arch::block_bytes<typename P::Arch>(tensor.bytes)}};
    blocks_.reserve(blocks_.size() + 1);
    if constexpr (HasMemoryKinds<P>) {
      block.at = platform_.allocate(block.kind, block.bytes, Bytes{P::Arch::tensor_alignment});
    }
    blocks_.push_back(block);
    return block.at.address();
  }

  P& platform_;
  std::size_t tensors_ = 0;
  std::vector<std::uint64_t> addresses_;  ///< by slot and tensor
  std::vector<Block> blocks_;
};

}  // namespace detail
}  // namespace rondo
