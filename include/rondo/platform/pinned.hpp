// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/platform/concept.hpp>
#include <rondo/tensor/pair.hpp>

#include <cstddef>
#include <new>
#include <span>
#include <utility>

/// Host memory for asynchronous copies, distinguished by type: pinned memory, and snapshots.
namespace rondo {

/// Elements in pinned memory, zero at first.
///     PinnedArray<float, A2A3Sim> x(session.platform(), 1024);
/// Lifetime: move-only; the platform outlives it. Errors: the constructor throws what P does.
template <Element T, HasPinnedMemory P>
class PinnedArray {
 public:
  using value_type = T;

  PinnedArray(P& platform, std::size_t size)
      : platform_{&platform}, data_{static_cast<T*>(platform.allocate_pinned(Bytes{size * sizeof(T)}))}, size_{size} {
    for (std::size_t i = 0; i < size; ++i) ::new (data_ + i) T{};
  }
  PinnedArray(PinnedArray&& other) noexcept
      : platform_{other.platform_}, data_{std::exchange(other.data_, nullptr)}, size_{std::exchange(other.size_, 0)} {}
  PinnedArray& operator=(PinnedArray&&) = delete;
  ~PinnedArray() {
    if (data_ != nullptr) platform_->release_pinned(data_);
  }

  [[nodiscard]] T* data() noexcept { return data_; }
  [[nodiscard]] const T* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] T& operator[](std::size_t i) noexcept { return data_[i]; }
  [[nodiscard]] const T& operator[](std::size_t i) const noexcept { return data_[i]; }
  [[nodiscard]] T* begin() noexcept { return data_; }
  [[nodiscard]] T* end() noexcept { return data_ + size_; }

 private:
  P* platform_;
  T* data_;
  std::size_t size_;
};

/// A pair of pinned memory: serves rounds of either kind.
template <Element T, Direction D>
struct PinnedPair : CopiedPair<T, D> {
  using CopiedPair<T, D>::CopiedPair;
  static constexpr bool is_pinned = true;
};
/// Binds it as bind() does a vector; the number of elements must be the tensor's.
template <Element T, Direction D, class P>
[[nodiscard]] PinnedPair<T, D> bind(TensorHandle<T, D> tensor, PinnedArray<T, P>& host) noexcept {
  return {tensor, host.data(), host.size()};
}
/// Binds it as bind() does a vector; the number of elements must be the tensor's.
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
/// Binds it as bind() does a vector; the number of elements must be the tensor's.
template <Element T>
[[nodiscard]] SnapshotPair<T, Direction::in> bind(Input<T> tensor, Snapshot<T> host) noexcept {
  return {tensor, host.memory.data(), host.memory.size()};
}

}  // namespace rondo
