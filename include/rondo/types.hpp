// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <type_traits>

namespace rondo {

/// A number of bytes. Its constructor is explicit, so that a number of elements is not mistaken for bytes.
struct Bytes {
  std::uint64_t value = 0;

  constexpr Bytes() noexcept = default;
  constexpr explicit Bytes(std::uint64_t bytes) noexcept : value{bytes} {}

  friend constexpr Bytes operator+(Bytes a, Bytes b) noexcept { return Bytes{a.value + b.value}; }
  friend constexpr auto operator<=>(Bytes, Bytes) noexcept = default;
};

/// The smallest multiple of `alignment` (a power of two) that is at least `value`. Precondition: it does not overflow.
[[nodiscard]] constexpr std::uint64_t align_up(std::uint64_t value, std::uint64_t alignment) noexcept {
  return (value + alignment - 1) & ~(alignment - 1);
}

namespace detail {
/// The bytes of `count` elements of `size` bytes; the largest number, which no memory has, if they overflow.
[[nodiscard]] constexpr std::uint64_t bytes_or_most(std::uint64_t count, std::uint64_t size) noexcept {
  std::uint64_t bytes = 0;
  return __builtin_mul_overflow(count, size, &bytes) ? ~std::uint64_t{0} : bytes;
}
}  // namespace detail

/// The device address of a T. It has no operator* and no conversion to a host pointer, so the host cannot access device
/// memory by accident; copies go through a session or a platform.
template <class T>
class DevicePtr {
 public:
  constexpr DevicePtr() noexcept = default;
  constexpr explicit DevicePtr(std::uint64_t address) noexcept : address_{address} {}
  DevicePtr(std::nullptr_t) = delete;  // write DevicePtr<T>{}
  DevicePtr(int) = delete;             // an address is 64 bits wide

  template <class U>
    requires std::is_same_v<T, const U>
  constexpr DevicePtr(DevicePtr<U> p) noexcept : address_{p.address()} {}  // NOLINT(google-explicit-constructor)

  /// The address as a number; 0 is null.
  [[nodiscard]] constexpr std::uint64_t address() const noexcept { return address_; }
  constexpr explicit operator bool() const noexcept { return address_ != 0; }

  /// The same address as a pointer to U.
  template <class U>
  [[nodiscard]] constexpr DevicePtr<U> as() const noexcept {
    return DevicePtr<U>{address_};
  }

  [[nodiscard]] constexpr DevicePtr offset(Bytes bytes) const noexcept { return DevicePtr{address_ + bytes.value}; }

  friend constexpr auto operator<=>(DevicePtr, DevicePtr) noexcept = default;

 private:
  std::uint64_t address_ = 0;
};

/// Contiguous elements on the device: their address and number.
template <class T>
class DeviceSpan {
 public:
  using element_type = T;

  constexpr DeviceSpan() noexcept = default;
  constexpr DeviceSpan(DevicePtr<T> data, std::uint64_t size) noexcept : data_{data}, size_{size} {}
  template <class U>
    requires std::is_same_v<T, const U>
  constexpr DeviceSpan(DeviceSpan<U> other) noexcept  // NOLINT(google-explicit-constructor)
      : data_{other.data()}, size_{other.size()} {}

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

/// How a round uses a tensor.
enum class Direction : std::uint8_t {
  in,             ///< copied from host to device before each launch
  out,            ///< copied from device to host after each launch
  inout,          ///< copied in both directions
  resident,       ///< stays on the device across rounds; copied only by upload and download
  workspace,      ///< stays on the device within a round; never copied
  host_input,     ///< read-only and small; part of the args table, so it needs no copy of its own
  session_value,  ///< like host_input, but written by the session itself; see launch/round_values.hpp
};

/// Whether each round binds a tensor of this direction.
[[nodiscard]] constexpr bool is_bound_each_round(Direction d) noexcept {
  return d <= Direction::inout || d == Direction::host_input;
}
/// Whether the tensor is part of the args table and has no memory of its own.
[[nodiscard]] constexpr bool is_carried_in_args(Direction d) noexcept { return d >= Direction::host_input; }
/// Whether a round may bind device memory to the tensor. Its address then changes, and nothing is copied.
[[nodiscard]] constexpr bool is_model_io(Direction d) noexcept { return d <= Direction::inout; }
[[nodiscard]] constexpr bool copies_in(Direction d) noexcept { return d == Direction::in || d == Direction::inout; }
[[nodiscard]] constexpr bool copies_out(Direction d) noexcept { return d == Direction::out || d == Direction::inout; }
[[nodiscard]] constexpr bool kernels_may_write(Direction d) noexcept {
  return d != Direction::in && !is_carried_in_args(d);
}
[[nodiscard]] constexpr bool defined_at_start(Direction d) noexcept {
  return copies_in(d) || d == Direction::resident || is_carried_in_args(d);
}

[[nodiscard]] constexpr const char* to_string(Direction d) noexcept {
  constexpr const char* names[] = {"in", "out", "inout", "resident", "workspace", "host_input", "session_value"};
  return names[static_cast<std::size_t>(d)];
}

/// The kinds of memory.
enum class MemoryKind : std::uint8_t {
  device,          ///< the device's main memory, as the platform chooses; arenas and args tables lie in it
  huge_pages,      ///< device memory in huge pages
  normal_pages,    ///< device memory in normal pages
  task_scheduler,  ///< device memory that the task scheduler can read
  peer,            ///< device memory that other devices can access
  mapped_host,     ///< host memory that kernels access in place, over the bus
  pinned_host,     ///< host memory that the device copies from and to without staging
  host,            ///< other host memory
};

[[nodiscard]] constexpr const char* to_string(MemoryKind kind) noexcept {
  constexpr const char* names[] = {"device", "huge pages",  "normal pages", "task scheduler",
                                   "peer",   "mapped host", "pinned host",  "host"};
  return names[static_cast<std::size_t>(kind)];
}

/// The largest number of dimensions of a tensor, on both chips.
inline constexpr std::size_t max_rank = 5;

/// The extents of a tensor, outermost first, in row-major order without gaps. Rank 0 is a scalar: one element.
class Shape {
 public:
  /// An extent, from an integer of any type. One that is negative or beyond 2^63-1 becomes -1, which graphs refuse.
  struct Number {
    std::int64_t value = 0;
    template <std::integral Integer>
    constexpr Number(Integer n) noexcept  // NOLINT(google-explicit-constructor)
        : value{static_cast<std::int64_t>(n) < 0 ? -1 : static_cast<std::int64_t>(n)} {}
    template <class Symbolic>
      requires requires(const Symbolic& size) { size.has_symbols(); }
    constexpr Number(const Symbolic&) noexcept {  // NOLINT(google-explicit-constructor)
      static_assert(std::integral<Symbolic>,
                    "rondo: memory has a shape of numbers, from which the values of symbols follow; pass its extents");
    }
  };

  constexpr Shape() noexcept = default;
  constexpr Shape(std::initializer_list<Number> extents) noexcept : rank_{extents.size()} {
    for (std::size_t d = 0; d < rank_ && d < max_rank; ++d) extents_[d] = extents.begin()[d].value;
  }
  /// Creates a shape of `rank` extents.
  constexpr Shape(const std::int64_t* extents, std::size_t rank) noexcept : rank_{rank} {
    for (std::size_t d = 0; d < rank && d < max_rank; ++d) extents_[d] = extents[d];
  }

  /// The rank. May exceed max_rank; the graph refuses such a shape.
  [[nodiscard]] constexpr std::size_t rank() const noexcept { return rank_; }
  /// The number of elements along dimension `d`.
  [[nodiscard]] constexpr std::int64_t extent(std::size_t d) const noexcept { return extents_[d]; }

  friend constexpr bool operator==(const Shape&, const Shape&) noexcept = default;

 private:
  std::size_t rank_ = 0;
  std::int64_t extents_[max_rank] = {};
};

}  // namespace rondo
