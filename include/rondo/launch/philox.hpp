// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace rondo::launch {

/// Counter-based random numbers: Philox4x32-10 of Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as
/// 1, 2, 3" (SC 2011). Number i is a function of the seed and of i, so any worker computes any number, in any order.
///
/// The sequence of a seed consists of 2^64 blocks of four numbers; `offset` is the block that contains number 0 of this
/// object. The position of a block is the lower half of Philox's counter, low word first; the upper half is 0. The seed
/// is the key, low word first. Cost: 20 multiplications for four numbers; no state.
class Philox {
 public:
  using Block = std::array<std::uint32_t, 4>;
  using Key = std::array<std::uint32_t, 2>;
  static constexpr std::size_t rounds = 10;

  constexpr Philox(std::uint64_t seed, std::uint64_t offset) noexcept : key_{low(seed), high(seed)}, offset_{offset} {}

  /// Number i, uniform over all 32-bit values; block() computes four at once.
  [[nodiscard]] constexpr std::uint32_t operator[](std::uint64_t i) const noexcept { return block(i / 4)[i % 4]; }
  /// Number i, uniform in [0, 1).
  [[nodiscard]] constexpr float uniform(std::uint64_t i) const noexcept { return to_unit((*this)[i]); }
  /// Numbers 4*b to 4*b + 3.
  [[nodiscard]] constexpr Block block(std::uint64_t b) const noexcept {
    const std::uint64_t position = offset_ + b;
    return bijection({low(position), high(position), 0, 0}, key_);
  }

  /// Returns the upper 24 bits as a fraction: each of the 2^24 floats is equally likely, and no rounding produces 1.
  [[nodiscard]] static constexpr float to_unit(std::uint32_t number) noexcept {
    return static_cast<float>(number >> 8) * 0x1p-24F;
  }

  /// The Philox function: maps any counter and key to four numbers.
  [[nodiscard]] static constexpr Block bijection(Block counter, Key key) noexcept {
    for (std::size_t round = 0; round < rounds; ++round) {
      const std::uint64_t a = std::uint64_t{0xD2511F53} * counter[0];
      const std::uint64_t b = std::uint64_t{0xCD9E8D57} * counter[2];
      counter = {high(b) ^ counter[1] ^ key[0], low(b), high(a) ^ counter[3] ^ key[1], low(a)};
      key = {key[0] + 0x9E3779B9, key[1] + 0xBB67AE85};  // the golden ratio, and the square root of 3 minus 1
    }
    return counter;
  }

 private:
  [[nodiscard]] static constexpr std::uint32_t low(std::uint64_t x) noexcept { return static_cast<std::uint32_t>(x); }
  [[nodiscard]] static constexpr std::uint32_t high(std::uint64_t x) noexcept {
    return static_cast<std::uint32_t>(x >> 32);
  }

  Key key_;
  std::uint64_t offset_;
};

/// The start of a round's random numbers. A kernel takes it as a parameter, in two slots, and creates a Philox from it.
struct RandomStart {
  std::uint64_t seed = 0;
  std::uint64_t offset = 0;  ///< in blocks of four numbers

  [[nodiscard]] constexpr Philox philox() const noexcept { return {seed, offset}; }
  friend constexpr bool operator==(RandomStart, RandomStart) noexcept = default;
};

/// Gives each round its own part of a seed's sequence; the same seed gives the same numbers in the same rounds.
///
/// Errors: the constructor throws; next() must not be called once `exhausted()`, after 2^64 blocks. Cost: one addition
/// per round. Thread safety: one thread at a time.
class RoundRandom {
 public:
  /// A round may use at most `numbers_per_round` numbers. The sequence starts as if `rounds_done` rounds had taken
  /// their parts already. @throws Error if a round declares more than 2^34 numbers, or if the sequence is too short.
  constexpr RoundRandom(std::uint64_t seed, std::uint64_t numbers_per_round, std::uint64_t rounds_done = 0)
      : blocks_{numbers_per_round / 4 + (numbers_per_round % 4 != 0)}, start_{seed, blocks_ * rounds_done} {
    if (numbers_per_round > most_numbers_per_round) {
      throw Error{Errc::invalid_argument, Error::Text{"a round declares ", numbers_per_round,
                                                      " random numbers; declare at most ", most_numbers_per_round}};
    }
    if (blocks_ != 0 && rounds_done > UINT64_MAX / blocks_) {
      throw Error{Errc::overflow, Error::Text{"the random numbers of a seed do not last for ", rounds_done,
                                              " rounds of ", numbers_per_round, "; take another seed"}};
    }
  }

  /// With this limit a seed lasts for at least 2^32 - 1 rounds.
  static constexpr std::uint64_t most_numbers_per_round = std::uint64_t{1} << 34;

  /// Returns the start of the next round's numbers. Precondition: the sequence is not exhausted.
  [[nodiscard]] constexpr RandomStart next() noexcept {
    const RandomStart start = start_;
    start_.offset += blocks_;
    return start;
  }
  /// Whether the sequence is too short for another round.
  [[nodiscard]] constexpr bool exhausted() const noexcept { return blocks_ > UINT64_MAX - start_.offset; }

  [[nodiscard]] constexpr std::uint64_t seed() const noexcept { return start_.seed; }
  /// The number of blocks of four numbers per round.
  [[nodiscard]] constexpr std::uint64_t blocks_per_round() const noexcept { return blocks_; }

 private:
  std::uint64_t blocks_;
  RandomStart start_;
};

}  // namespace rondo::launch
