// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/detail/owned_array.hpp>
#include <rondo/slice.hpp>

#include <cstddef>
#include <cstdint>

namespace rondo::detail {

/// Tells that stretches of memory are apart, quickly if they stand in the order in which they stood the last time: what
/// rounds bind moves, but seldom past each other. Each is to begin at a multiple of `Granule`, a power of two.
template <std::uint64_t Granule>
class AddressOrder {
  static_assert((Granule & (Granule - 1)) == 0);

 public:
  explicit AddressOrder(std::size_t count) : order_(count) {
    for (std::size_t i = 0; i < count; ++i) order_[i] = static_cast<std::uint32_t>(i);
  }

  /// Does each stretch [begins[i], begins[i] + ports[i].bytes) begin where it may, and do no two overlap?
  /// 0 stands for none. Of an empty stretch inside another it may say either. Cost: a few instructions for each; where
  /// the order has changed, that of sorting them anew.
  template <class Ports>
  [[nodiscard, gnu::noinline]] bool are_apart(Slice<const std::uint64_t> begins, const Ports& ports) noexcept {
    if (find_apart(begins, ports)) [[likely]]
      return true;
    sort(begins);
    return find_apart(begins, ports);
  }

 private:
  template <class Ports>
  [[nodiscard]] bool find_apart(Slice<const std::uint64_t> begins, const Ports& ports) const noexcept {
    std::uint64_t end = 0;
    std::uint64_t bits = 0;
    bool are_apart = true;
    for (const std::uint32_t i : order_) {
      const std::uint64_t begin = begins[i];
      are_apart &= begin >= end;
      end = begin == 0 ? 0 : begin + ports[i].bytes;
      bits |= begin;
    }
    return are_apart && bits % Granule == 0;
  }
  /// By insertion: what is nearly sorted takes little.
  [[gnu::noinline]] void sort(Slice<const std::uint64_t> begins) noexcept {
    for (std::size_t i = 1; i < order_.size(); ++i) {
      const std::uint32_t moving = order_[i];
      std::size_t to = i;
      for (; to != 0 && begins[order_[to - 1]] > begins[moving]; --to) order_[to] = order_[to - 1];
      order_[to] = moving;
    }
  }

  OwnedArray<std::uint32_t> order_;  ///< numbers of the stretches, by address as far as is known
};

}  // namespace rondo::detail
