// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/detail/atomic.hpp>

#include <cstdint>
#include <type_traits>
#include <utility>

namespace rondo::detail {

/// One object that several own, from any threads, or none: as std::shared_ptr made by std::make_shared, whose header
/// would cost everybody who includes the umbrella 100 ms of compile time.
template <class T>
class Shared {
 public:
  Shared() noexcept = default;
  /// @throws std::bad_alloc, and what T's constructor throws
  template <class... Args>
  [[nodiscard]] static Shared make(Args&&... args) {
    Shared shared;
    shared.block_ = new Block(std::forward<Args>(args)...);
    return shared;
  }
  Shared(const Shared& other) noexcept : block_{other.block_} {
    if (block_ != nullptr) block_->owners.fetch_add(1, Order::relaxed);
  }
  Shared(Shared&& other) noexcept : block_{std::exchange(other.block_, nullptr)} {}
  Shared& operator=(Shared other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~Shared() {
    if (block_ != nullptr && block_->owners.fetch_sub(1, Order::acq_rel) == 1) delete block_;
  }

  [[nodiscard]] T* get() const noexcept { return block_ == nullptr ? nullptr : &block_->value; }
  [[nodiscard]] T& operator*() const noexcept { return block_->value; }
  T* operator->() const noexcept { return &block_->value; }
  explicit operator bool() const noexcept { return block_ != nullptr; }
  friend bool operator==(const Shared& shared, decltype(nullptr)) noexcept { return shared.block_ == nullptr; }

 private:
  struct Block {
    template <class... Args>
    explicit Block(Args&&... args) : value(std::forward<Args>(args)...) {}
    Atomic<std::uint32_t> owners{1};
    std::remove_const_t<T> value;
  };
  Block* block_ = nullptr;
};

}  // namespace rondo::detail
