// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/platform/concept.hpp>
#include <rondo/tensor/pair.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <utility>

/// Types for host memory of asynchronous copies: pinned memory, and snapshots.
namespace rondo {

/// An array in pinned memory. Its elements are initially zero.
///     PinnedArray<float, A2A3Sim> x(session.platform(), 1024);
/// Lifetime: move-only; the platform outlives it. Thread safety: that of the platform, for construction and
/// destruction. Errors: the constructor throws the errors of the platform's allocation. Cost: set-up only.
template <Element T, HasPinnedMemory P>
class PinnedArray {
 public:
  using value_type = T;

  PinnedArray(P& platform, std::size_t size)
      : data_{static_cast<T*>(platform.allocate_pinned(Bytes{detail::bytes_or_most(size, sizeof(T))})), {&platform}},
        size_{size} {
    std::uninitialized_value_construct_n(data_.get(), size);
  }
  PinnedArray(PinnedArray&& other) noexcept : data_{std::move(other.data_)}, size_{std::exchange(other.size_, 0)} {}
  PinnedArray& operator=(PinnedArray&& other) noexcept {
    data_ = std::move(other.data_);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }

  [[nodiscard]] T* data() noexcept { return data_.get(); }
  [[nodiscard]] const T* data() const noexcept { return data_.get(); }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] T& operator[](std::size_t i) noexcept { return data_[i]; }
  [[nodiscard]] const T& operator[](std::size_t i) const noexcept { return data_[i]; }
  [[nodiscard]] T* begin() noexcept { return data_.get(); }
  [[nodiscard]] T* end() noexcept { return data_.get() + size_; }

 private:
  struct Release {
    P* platform;
    void operator()(T* memory) const noexcept { platform->release_pinned(memory); }
  };
  std::unique_ptr<T[], Release> data_;
  std::size_t size_;
};

/// A tensor and pinned memory, for rounds of any kind.
template <Element T, Direction D>
struct PinnedPair : CopiedPair<T, D> {
  using CopiedPair<T, D>::CopiedPair;
  static constexpr bool is_pinned = true;
};
/// Binds an array as bind() binds a vector; the number of elements must be the tensor's.
template <Element T, Direction D, class P>
[[nodiscard]] PinnedPair<T, D> bind(TensorHandle<T, D> tensor, PinnedArray<T, P>& host) noexcept {
  return {tensor, host.data(), host.size()};
}
/// Binds an array as bind() binds a vector; the number of elements must be the tensor's.
template <Element T, Direction D, class P>
  requires(!copies_out(D))
[[nodiscard]] PinnedPair<T, D> bind(TensorHandle<T, D> tensor, const PinnedArray<T, P>& host) noexcept {
  return {tensor, host.data(), host.size()};
}

/// Ordinary host memory whose bytes the platform copies before the call returns; for inputs.
template <class T>
struct Snapshot {
  std::span<const T> memory;
};
/// The memory may change as soon as the call that binds it returns.
template <class Host>
[[nodiscard]] auto snapshot(const Host& host) noexcept {
  return Snapshot<typename Host::value_type>{{host.data(), host.size()}};
}
template <Element T, Direction D>
struct SnapshotPair : CopiedPair<T, D> {
  using CopiedPair<T, D>::CopiedPair;
  static constexpr bool is_snapshot = true;
};
/// Binds a snapshot as bind() binds a vector; the number of elements must be the tensor's.
template <Element T>
[[nodiscard]] SnapshotPair<T, Direction::in> bind(Input<T> tensor, Snapshot<T> host) noexcept {
  return {tensor, host.memory.data(), host.memory.size()};
}

}  // namespace rondo
