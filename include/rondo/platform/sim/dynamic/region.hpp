// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>
#include <rondo/graph/arguments.hpp>
#include <rondo/tensor/data_type.hpp>
#include <rondo/types.hpp>

#include <cstddef>
#include <cstdint>

namespace rondo::platform::sim::dynamic {

/// Part of a tensor: a first index and an extent in each dimension, so in memory a strided region.
struct Box {
  /// One dimension of a box.
  struct Side {
    std::uint64_t low;
    std::uint64_t extent;
  };
  Side sides[max_rank];  ///< interleaved, so that a box of few dimensions fits in one cache line

  [[nodiscard]] constexpr Side side(std::size_t d) const noexcept { return sides[d]; }
};

/// A box whose indices and extents are in two separate arrays. Using it is faster than copying a box: wide loads of
/// values that were just written in halves are slow.
struct BoxView {
  const std::uint64_t* low = nullptr;  ///< null: no box
  const std::uint64_t* extents = nullptr;

  [[nodiscard]] constexpr Box::Side side(std::size_t d) const noexcept { return {low[d], extents[d]}; }
  [[nodiscard]] constexpr explicit operator bool() const noexcept { return low != nullptr; }
};

/// Whether two boxes of one tensor have an element in common.
template <class A, class B>
[[nodiscard]] constexpr bool overlap(const A& a, const B& b, std::size_t rank) noexcept {
  for (std::size_t d = 0; d < rank; ++d) {
    const Box::Side x = a.side(d), y = b.side(d);
    if (x.low >= y.low + y.extent || y.low >= x.low + x.extent) return false;
  }
  return true;
}
template <class Outer, class Inner>
[[nodiscard]] constexpr bool covers(const Outer& outer, const Inner& inner, std::size_t rank) noexcept {
  for (std::size_t d = 0; d < rank; ++d) {
    const Box::Side in = inner.side(d), out = outer.side(d);
    if (in.low < out.low || in.low + in.extent > out.low + out.extent) return false;
  }
  return true;
}

struct TensorState;
template <class Derived>
class Orchestrator;

/// A tensor, or a box of one, as an argument of tasks: made by an orchestrator's workspace() and view(). Valid during
/// the round and, for an intermediate, within the scope that made it; later uses throw Error.
template <Element T, Direction D>
class Region {
 public:
  using element_type = T;
  static constexpr Direction direction = D;

  [[nodiscard]] std::size_t rank() const noexcept { return rank_; }
  [[nodiscard]] std::uint64_t extent(std::size_t d) const noexcept { return extents_[d]; }
  /// The distance between neighbours in dimension d, in elements; for raw kernels that accept regions with gaps.
  [[nodiscard]] std::uint64_t stride(std::size_t d) const noexcept { return strides_[d]; }
  [[nodiscard]] std::uint64_t size() const noexcept { return count_; }
  /// Whether its elements are contiguous in memory, as a kernel that is a type requires.
  [[nodiscard]] bool contiguous() const noexcept { return contiguous_; }

 private:
  template <class Derived>
  friend class Orchestrator;
  // NOLINTNEXTLINE(modernize-use-equals-default): leaves unused dimensions uninitialised, which saves time
  Region() noexcept {}

  TensorState* tensor_;
  std::uint64_t serial_;   ///< distinguishes tensors whose memory and record were reused
  std::uint64_t address_;  ///< the address of the first element
  std::uint64_t count_;
  std::uint8_t rank_;
  bool whole_;
  bool contiguous_;
  std::uint64_t extents_[max_rank];
  std::uint64_t low_[max_rank];      ///< not set if the region is the whole tensor
  std::uint64_t strides_[max_rank];  ///< the strides of the tensor
};

// Lets unqualified calls with a Region find these functions.
using rondo::reads;
using rondo::updates;
using rondo::writes;

}  // namespace rondo::platform::sim::dynamic

namespace rondo::detail {
template <class T, Direction D>
inline constexpr bool is_tensor_argument<platform::sim::dynamic::Region<T, D>> = true;
}  // namespace rondo::detail
