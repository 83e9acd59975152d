// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/detail/compiled.hpp>
#include <rondo/error.hpp>
#include <rondo/graph/records.hpp>
#include <rondo/tensor/data_type.hpp>
#include <rondo/tensor/pair.hpp>
#include <rondo/types.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace rondo {

namespace memory::detail {

/// A block of memory that a session holds.
struct Block {
  DevicePtr<std::byte> at;
  MemoryKind kind = MemoryKind::device;
  Bytes bytes{};
  bool is_held = false;      ///< whether rounds read it for an input that is held
  bool is_released = false;  ///< whether its array released it meanwhile
};

/// The blocks that a session has allocated for its caller. Arrays share it with their session, and are empty once it is
/// closed. Thread safety: none. Cost: set-up only.
class Blocks {
 public:
  using Release = Status (*)(void* session, DevicePtr<std::byte> block, Bytes size) noexcept;

  Blocks(void* session, Release call) noexcept : session_{session}, release_{call} {}

  [[nodiscard]] bool is_open() const noexcept { return session_ != nullptr; }
  /// Makes room for one more block, so that add() cannot fail. @throws std::bad_alloc
  void reserve() { blocks_.reserve(blocks_.size() + 1); }
  void add(const Block& block) noexcept { blocks_.push_back(block); }
  [[nodiscard]] const std::vector<Block>& all() const noexcept { return blocks_; }
  /// Releases a block if it is still there: at once, or when it is no longer held and no round taken step by step,
  /// which may use it, is in progress.
  Status release(DevicePtr<std::byte> block) noexcept;
  /// States that a round taken step by step has begun, or that the device has finished it. @returns the first failure
  /// of the blocks that are released now
  Status set_in_round(bool is_in_round) noexcept {
    is_in_round_ = is_in_round;
    if (is_in_round || !std::exchange(has_released_, false)) return {};
    return set_held([](const Block& block) { return block.is_held; });
  }
  /// States which blocks are held. @returns the first failure of those that are released now
  template <class IsHeld>
  Status set_held(const IsHeld& is_held) noexcept {
    Status first;
    for (std::size_t b = blocks_.size(); b-- > 0;) {
      Block& block = blocks_[b];
      block.is_held = is_held(block);
      if (block.is_held || !block.is_released || is_in_round_) continue;
      first = first_failure(first, release(block.at));
    }
    return first;
  }
  /// Releases all blocks. @returns the first failure
  Status close() noexcept;

 private:
  void* session_;
  Release release_;
  bool is_in_round_ = false;
  bool has_released_ = false;  ///< whether an array was released during the round
  std::vector<Block> blocks_;
};

/// Returns the size of a tensor that rounds bind; `shape`: that of a tensor whose size is symbolic, or null.
/// @throws Error wrong_tensor, wrong_size, overflow
[[nodiscard]] Bytes bytes_of(const graph::GraphView& graph, TensorKey key, const Shape* shape);

#if RONDO_HAS_BODIES
RONDO_INLINE Status Blocks::release(DevicePtr<std::byte> block) noexcept {
  const auto found = std::find_if(blocks_.begin(), blocks_.end(), [&](const Block& b) { return b.at == block; });
  if (found == blocks_.end()) return {};
  if (found->is_held || is_in_round_) {
    has_released_ = is_in_round_;
    found->is_released = true;
    return {};
  }
  const Bytes size = found->bytes;
  blocks_.erase(found);
  return release_(session_, block, size);
}
RONDO_INLINE Status Blocks::close() noexcept {
  Status first;
  for (const Block& block : blocks_) first = first_failure(first, release_(session_, block.at, block.bytes));
  blocks_.clear();
  session_ = nullptr;
  return first;
}

RONDO_INLINE Bytes bytes_of(const graph::GraphView& graph, TensorKey key, const Shape* shape) {
  if (key.graph() != graph.tag || index(key.tensor()) >= graph.tensors.size() ||
      !is_model_io(graph.tensors[index(key.tensor())].direction)) {
    throw Error(Errc::wrong_tensor, Error::Text{"allocate: ", describe(Errc::wrong_tensor)});
  }
  const graph::TensorRecord& tensor = graph.tensors[index(key.tensor())];
  const auto refuse = [&](Errc code, const char* why) {
    throw Error(code, Error::Text{"allocate: tensor '", graph.name(tensor.name), "': ", why});
  };
  if (shape == nullptr) {
    if (tensor.is_symbolic()) refuse(Errc::wrong_size, "the size depends on symbols; pass a shape as well");
    return Bytes{tensor.bytes};
  }
  bool fits = shape->rank() == tensor.shape.rank();
  std::uint64_t bytes = size_of(tensor.type);
  for (std::size_t d = 0; fits && d < shape->rank(); ++d) {
    const std::int64_t extent = shape->extent(d);
    const std::int64_t declared = tensor.shape.extent(d);
    const bool is_symbol = tensor.is_symbolic() && declared == 0;
    fits = is_symbol ? extent >= 0 : extent == declared;
    if (fits && (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(extent), &bytes) || bytes >> 62 != 0)) {
      refuse(Errc::overflow, "the shape has more than 2^62 bytes; use smaller extents");
    }
  }
  if (!fits) refuse(Errc::wrong_size, "it cannot have this shape; keep its rank and its constant extents");
  return Bytes{bytes};
}
#endif

}  // namespace memory::detail

/// Device memory for one tensor, made by a session's allocate(). Rounds bind it, and nothing is copied:
///
///     auto hidden = session.allocate(y);
///     session.run_round(bind(x, hx), bind(y, hidden));   // y is written where `hidden` is
///
/// Its contents are undefined until a round or the session's upload() writes them.
///
/// Lifetime: move-only; may outlive the session. The destructor waits for the rounds in flight, and releases the
/// memory; memory of an input that is held is released when it is no longer held, and memory that is released during a
/// round taken step by step is released when that round has ended. The session releases the memory, too, when it is
/// closed or destroyed: from then on the array is empty, and a round that binds it is refused with null_memory. Thread
/// safety: that of the session. Cost: set-up only; a round pays as much for an array as for a DeviceSpan.
template <Element T>
class DeviceArray {
 public:
  /// For sessions: an array of `size` elements at `data`, one of `blocks`; `host`: its address on the host, or null.
  DeviceArray(std::shared_ptr<memory::detail::Blocks> blocks, DevicePtr<T> data, std::uint64_t size, T* host) noexcept
      : blocks_{std::move(blocks)}, data_{data}, size_{size}, host_{host} {}
  DeviceArray(DeviceArray&&) noexcept = default;
  DeviceArray& operator=(DeviceArray&& other) noexcept {
    const DeviceArray old(std::move(*this));
    blocks_ = std::move(other.blocks_);
    data_ = other.data_;
    size_ = other.size_;
    host_ = other.host_;
    return *this;
  }
  ~DeviceArray() { (void)release(); }  // to get the status, call release() first

  /// The memory; empty once it has been released.
  [[nodiscard]] DeviceSpan<T> span() noexcept { return is_held() ? DeviceSpan<T>{data_, size_} : DeviceSpan<T>{}; }
  /// The same, for reading.
  [[nodiscard]] DeviceSpan<const T> span() const noexcept {
    return is_held() ? DeviceSpan<const T>{DevicePtr<const T>{data_}, size_} : DeviceSpan<const T>{};
  }
  /// The number of elements; 0 once the memory has been released.
  [[nodiscard]] std::uint64_t size() const noexcept { return is_held() ? size_ : 0; }

  /// The elements in memory of the kind mapped_host, which the host accesses in place between rounds; empty for other
  /// kinds, and once the memory has been released.
  [[nodiscard]] std::span<T> host() noexcept {
    return host_ == nullptr ? std::span<T>{} : std::span<T>{host_, static_cast<std::size_t>(size())};
  }
  /// The same, to read.
  [[nodiscard]] std::span<const T> host() const noexcept {
    return host_ == nullptr ? std::span<const T>{} : std::span<const T>{host_, static_cast<std::size_t>(size())};
  }

  /// For bind(): the memory; null, of the same size, once it has been released, so that a round says that it is gone.
  [[nodiscard]] DeviceSpan<T> bound() noexcept { return {span().data(), size_}; }
  /// The same, for reading.
  [[nodiscard]] DeviceSpan<const T> bound() const noexcept { return {span().data(), size_}; }

  /// Waits for the rounds in flight, and releases the memory as described above. Further calls have no effect. Errors:
  /// the device's.
  Status release() noexcept {
    const auto blocks = std::exchange(blocks_, nullptr);
    return blocks != nullptr ? blocks->release(data_.template as<std::byte>()) : Status{};
  }

 private:
  [[nodiscard]] bool is_held() const noexcept { return blocks_ != nullptr && blocks_->is_open(); }

  std::shared_ptr<memory::detail::Blocks> blocks_;
  DevicePtr<T> data_;
  std::uint64_t size_;
  T* host_;
};

/// Binds the memory of an array as bind() binds a DeviceSpan.
template <Element T, Direction D>
[[nodiscard]] DeviceBound<T, D> bind(TensorHandle<T, D> tensor, DeviceArray<T>& memory) noexcept {
  return {tensor, memory.bound()};
}
/// Binds the memory of an array as bind() binds a DeviceSpan.
template <Element T, Direction D>
  requires(!copies_out(D))
[[nodiscard]] DeviceBound<T, D> bind(TensorHandle<T, D> tensor, const DeviceArray<T>& memory) noexcept {
  return {tensor, memory.bound()};
}

}  // namespace rondo
