// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/extent.hpp>
#include <rondo/types.hpp>

#include <bit>
#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>

/// The argument words of a task, for the code that runs it. For kernels, see graph/kernel.hpp.
namespace rondo {

/// One word of a task's arguments: a device address, or the bits of a scalar.
using ArgWord = std::int64_t;

/// A raw kernel: a function that takes all arguments in one block of words, as in simpler (hw-native-sys/simpler).
using KernelEntry = void (*)(ArgWord* args);

/// A library call (see graph/library_call.hpp) that enqueues its work on a stream. Returns 0 on success.
using CallEntry = int (*)(ArgWord* block, void* stream);

struct CallSession;
/// Notifies a library call that a session opens or closes (see graph/call_sessions.hpp).
using SessionEntry = void (*)(const CallSession& session, bool opens);

/// Returns the nanoseconds that one block of a task takes on the chip, from its argument words.
using CostEntry = double (*)(const ArgWord* args);

/// The number of blocks of a task; each runs the whole kernel with its own `Block`.
struct Blocks {
  std::uint32_t count = 1;
  Dim dim{};  ///< the count, if it has symbols

  constexpr Blocks() noexcept = default;
  /// A count that is negative or above 2^32-1 becomes 0, which add() refuses.
  template <std::integral Integer>
  constexpr explicit Blocks(Integer n) noexcept
      : count{std::in_range<std::uint32_t>(n) ? static_cast<std::uint32_t>(n) : 0} {}
  constexpr explicit Blocks(const Dim& n) noexcept {
    const Extent extent{n};
    if (extent.dim.empty()) *this = Blocks{extent.value};
    dim = extent.dim;
  }
};

/// A kernel's parameter that the launch provides: the index of the running block, and the number of blocks.
struct Block {
  std::uint32_t index = 0;
  std::uint32_t count = 1;
};

/// When a workspace is zeroed.
enum class Zeroed : std::uint8_t {
  never,
  each_round,  ///< before the first task: one fill for all such workspaces of a graph
  once,        ///< before the first round; tasks that write it leave zeros, and its memory is not shared
};

/// An operation of all ranks of a communicator; see TaskGraph::add_collective().
enum class Collective : std::uint8_t {
  all_reduce,      ///< each rank gets the sum, or another reduction, of all ranks' elements
  all_gather,      ///< each rank gets the elements of all ranks, in the order of the ranks
  reduce_scatter,  ///< each rank gets its part of the reduction, in the order of the ranks
  broadcast,       ///< each rank gets the elements of one rank
  send,            ///< another rank gets the elements with its recv
  recv
};

/// The operation applied to the ranks' values of an element.
enum class Reduction : std::uint8_t { sum, mean, min, max, product };

/// The options of a collective.
struct CollectiveOptions {
  Reduction reduction = Reduction::sum;  ///< for an all_reduce or a reduce_scatter
  int rank = 0;                          ///< the rank that broadcasts, or the other rank of a send or recv
};

/// How a kernel accesses one of its tensors.
enum class Access : std::uint8_t { read = 1, write = 2, read_write = 3 };

[[nodiscard]] constexpr bool reads(Access a) noexcept { return (static_cast<unsigned>(a) & 1U) != 0; }
[[nodiscard]] constexpr bool writes(Access a) noexcept { return (static_cast<unsigned>(a) & 2U) != 0; }

namespace detail {

/// The unsigned integer with the size of a scalar.
template <class T>
using BitsOf = std::conditional_t<
    sizeof(T) == 8, std::uint64_t,
    std::conditional_t<sizeof(T) == 4, std::uint32_t, std::conditional_t<sizeof(T) == 2, std::uint16_t, std::uint8_t>>>;

/// The bits of a scalar as one argument word, zero-extended as in simpler.
template <class T>
[[nodiscard]] constexpr ArgWord to_word(T value) noexcept {
  return static_cast<ArgWord>(std::bit_cast<BitsOf<T>>(value));
}

template <class T>
[[nodiscard]] constexpr T from_word(ArgWord word) noexcept {
  if constexpr (std::is_same_v<T, bool>) {
    return word != 0;
  } else {
    return std::bit_cast<T>(static_cast<BitsOf<T>>(word));
  }
}

[[nodiscard]] constexpr ArgWord to_word(Block b) noexcept {
  return static_cast<ArgWord>(std::uint64_t{b.count} << 32 | b.index);
}

}  // namespace detail

}  // namespace rondo
