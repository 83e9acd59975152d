// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>
#include <rondo/tensor/strided_layout.hpp>
#include <rondo/types.hpp>

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace rondo::detail {

/// Host memory with strides that is bound to a port, and the packed memory which rounds copy in its place.
struct StridedMemory {
  std::size_t port = 0;
  Direction direction = Direction::in;
  StridedLayout layout;
  std::byte* host = nullptr;  ///< the first element; only read if the tensor is an input
  std::vector<std::byte> packed{};
  bool is_bound = true;  ///< otherwise its packed memory is kept for another binding
};

/// All such memory of a round.
class StridedList {
 public:
  /// Packs what the round reads, except for ports that are held.
  template <class IsHeld>
  void pack(const IsHeld& is_held) noexcept {
    for (StridedMemory& m : list) {
      const bool is_read = copies_in(m.direction) || is_carried_in_args(m.direction);
      if (m.is_bound && is_read && !is_held(m.port)) m.layout.pack(m.packed.data(), m.host);
    }
  }
  /// Scatters what the round wrote. Nothing if it failed.
  void scatter(Status status) noexcept {
    for (StridedMemory& m : list) {
      if (status.ok() && m.is_bound && copies_out(m.direction)) m.layout.scatter(m.host, m.packed.data());
    }
  }
  [[nodiscard]] StridedMemory* find(std::size_t port) noexcept {
    for (StridedMemory& m : list) {
      if (m.port == port) return &m;
    }
    return nullptr;
  }

  std::vector<StridedMemory> list;
};

/// A completion that scatters before it calls the caller's, which is on the heap, since both need not fit in place.
template <class F>
class ScatterFirst {
 public:
  ScatterFirst(std::shared_ptr<StridedList> list, F&& then) : list_{std::move(list)}, then_{new F(std::move(then))} {}
  ScatterFirst(std::shared_ptr<StridedList> list, const F& then) : list_{std::move(list)}, then_{new F(then)} {}
  void operator()(Status status) noexcept {
    list_->scatter(status);
    (void)(*then_)(status);
  }

 private:
  std::shared_ptr<StridedList> list_;
  std::unique_ptr<F> then_;
};

}  // namespace rondo::detail
