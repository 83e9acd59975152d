// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/extent.hpp>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <type_traits>

namespace rondo {

/// A number of bytes. Explicit, so that a count of elements cannot pass for one.
struct Bytes {
  std::uint64_t value = 0;

  constexpr Bytes() noexcept = default;
  constexpr explicit Bytes(std::uint64_t bytes) noexcept : value{bytes} {}

  friend constexpr Bytes operator+(Bytes a, Bytes b) noexcept { return Bytes{a.value + b.value}; }
  friend constexpr auto operator<=>(Bytes, Bytes) noexcept = default;
};

/// The smallest multiple of `alignment` (a power of two) that is not below `value`. The caller rules out overflow.
[[nodiscard]] constexpr std::uint64_t align_up(std::uint64_t value, std::uint64_t alignment) noexcept {
  return (value + alignment - 1) & ~(alignment - 1);
}

/// The address of a T on the device. It has no operator* and no conversion to a host pointer, so the host cannot touch
/// device memory by accident; copies go through a session or a platform.
template <class T>
class DevicePtr {
 public:
  constexpr DevicePtr() noexcept = default;
  constexpr explicit DevicePtr(std::uint64_t address) noexcept : address_{address} {}
  DevicePtr(std::nullptr_t) = delete;  // write DevicePtr<T>{}
  DevicePtr(int) = delete;             // an address is 64 bits wide

  template <class U>
  requires std::is_same_v<T, const U>
  constexpr DevicePtr(DevicePtr<U> p) noexcept : address_{p.address()} {}

  /// As a number; 0 is null.
  [[nodiscard]] constexpr std::uint64_t address() const noexcept { return address_; }
  constexpr explicit operator bool() const noexcept { return address_ != 0; }

  /// The same address, seen as that of a U.
  template <class U>
  [[nodiscard]] constexpr DevicePtr<U> as() const noexcept {
    return DevicePtr<U>{address_};
  }

  [[nodiscard]] constexpr DevicePtr offset(Bytes bytes) const noexcept { return DevicePtr{address_ + bytes.value}; }

  friend constexpr auto operator<=>(DevicePtr, DevicePtr) noexcept = default;

 private:
  std::uint64_t address_ = 0;
};

/// Contiguous elements on the device: an address and their number.
template <class T>
class DeviceSpan {
 public:
  using element_type = T;

  constexpr DeviceSpan() noexcept = default;
  constexpr DeviceSpan(DevicePtr<T> data, std::uint64_t size) noexcept : data_{data}, size_{size} {}
  template <class U>
  requires std::is_same_v<T, const U>
  constexpr DeviceSpan(DeviceSpan<U> other) noexcept : data_{other.data()}, size_{other.size()} {}

  [[nodiscard]] constexpr DevicePtr<T> data() const noexcept { return data_; }
  [[nodiscard]] constexpr std::uint64_t size() const noexcept { return size_; }

  friend constexpr bool operator==(DeviceSpan, DeviceSpan) noexcept = default;

 private:
  DevicePtr<T> data_;
  std::uint64_t size_ = 0;
};

/// The number of a round within its session, counted from 0.
enum class RoundIndex : std::uint64_t {};
/// The position of a tensor in its graph.
enum class TensorId : std::uint32_t {};
/// The position of a task in its graph.
enum class TaskId : std::uint32_t {};

[[nodiscard]] constexpr std::uint64_t index(RoundIndex id) noexcept { return static_cast<std::uint64_t>(id); }
[[nodiscard]] constexpr std::uint32_t index(TensorId id) noexcept { return static_cast<std::uint32_t>(id); }
[[nodiscard]] constexpr std::uint32_t index(TaskId id) noexcept { return static_cast<std::uint32_t>(id); }

/// The kind of AI core: matrix (cube) or vector.
enum class CoreType : std::uint8_t { cube, vector };
inline constexpr std::size_t core_type_count = 2;

[[nodiscard]] constexpr const char* to_string(CoreType core) noexcept {
  return core == CoreType::cube ? "cube" : "vector";
}

/// The part of a tensor in a round.
enum class Direction : std::uint8_t {
  in,             ///< copied host to device before each launch
  out,            ///< copied device to host after each launch
  inout,          ///< both
  resident,       ///< lives on the device across rounds; moved only by upload and download
  workspace,      ///< lives on the device within a round; never moved
  host_input,     ///< read only and small; travels inside the args table, so it costs no copy of its own
  session_value,  ///< the same, but written by the session itself; see launch/round_values.hpp
};

/// Whether a tensor of this direction is bound anew each round.
[[nodiscard]] constexpr bool is_bound_each_round(Direction d) noexcept {
  return d <= Direction::inout || d == Direction::host_input;
}
/// Whether the tensor lies in the args table, with no memory of its own.
[[nodiscard]] constexpr bool rides_in_args(Direction d) noexcept { return d >= Direction::host_input; }
/// Whether a round may bind device memory to it. Then its address changes and nothing is copied.
[[nodiscard]] constexpr bool is_model_io(Direction d) noexcept { return d <= Direction::inout; }
[[nodiscard]] constexpr bool copies_in(Direction d) noexcept { return d == Direction::in || d == Direction::inout; }
[[nodiscard]] constexpr bool copies_out(Direction d) noexcept { return d == Direction::out || d == Direction::inout; }
[[nodiscard]] constexpr bool kernels_may_write(Direction d) noexcept { return d != Direction::in && !rides_in_args(d); }
[[nodiscard]] constexpr bool defined_at_start(Direction d) noexcept {
  return copies_in(d) || d == Direction::resident || rides_in_args(d);
}

[[nodiscard]] constexpr const char* to_string(Direction d) noexcept {
  switch (d) {
    case Direction::in: return "in";
    case Direction::out: return "out";
    case Direction::inout: return "inout";
    case Direction::resident: return "resident";
    case Direction::workspace: return "workspace";
    case Direction::host_input: return "host_input";
    case Direction::session_value: return "session_value";
  }
  return "?";
}

/// The most dimensions a tensor may have, on both chips.
inline constexpr std::size_t max_rank = 5;

/// The extents of a tensor, outermost first; row-major and without gaps. Rank 0 is a scalar: one element.
class Shape {
 public:
  constexpr Shape() noexcept = default;
  constexpr Shape(std::initializer_list<Extent> extents) noexcept : rank_{extents.size()} {
    std::size_t d = 0;
    for (const Extent e : extents) {
      if (d == max_rank) break;
      dims_[d] = e.dim;
      symbolic_ = symbolic_ || !e.dim.empty();
      extents_[d++] = e.value;
    }
  }

  /// Plain extents, `rank` of them.
  constexpr Shape(const std::int64_t* extents, std::size_t rank) noexcept : rank_{rank} {
    for (std::size_t d = 0; d < rank && d < max_rank; ++d) extents_[d] = extents[d];
  }

  /// May exceed max_rank; the graph refuses such a shape.
  [[nodiscard]] constexpr std::size_t rank() const noexcept { return rank_; }
  /// Elements along dimension `d`, if that is a number.
  [[nodiscard]] constexpr std::int64_t extent(std::size_t d) const noexcept { return extents_[d]; }
  /// Whether any extent depends on symbols. Then extent() means nothing for those whose dim() is not empty.
  [[nodiscard]] constexpr bool is_symbolic() const noexcept { return symbolic_; }
  [[nodiscard]] constexpr const Dim& dim(std::size_t d) const noexcept { return dims_[d]; }
  /// Elements along dimension `d` under these values of the symbols, by number.
  [[nodiscard]] constexpr Dim::Value evaluate(std::size_t d, const std::int64_t* symbols) const noexcept {
    return dims_[d].empty() ? Dim::Value{extents_[d], true} : dims_[d].evaluate(symbols);
  }

  friend constexpr bool operator==(const Shape&, const Shape&) noexcept = default;

 private:
  std::size_t rank_ = 0;
  std::int64_t extents_[max_rank] = {};
  Dim dims_[max_rank] = {};
  bool symbolic_ = false;
};

}  // namespace rondo
