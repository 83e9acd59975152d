// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>

/// The search space: tile sizes and loop orders of a blocked matrix product.
namespace tune {

inline constexpr std::array<int, 6> tiles{4, 8, 16, 32, 64, 128};
inline constexpr std::array<const char*, 6> orders{"ijk", "ikj", "jik", "jki", "kij", "kji"};

/// One point of the space: for each coordinate, an index into its values.
struct Config {
  std::array<std::size_t, 4> at{};  ///< the tiles of i, j and k, and the order
  static constexpr std::array<std::size_t, 4> extent{tiles.size(), tiles.size(), tiles.size(), orders.size()};
  static constexpr std::size_t count = tiles.size() * tiles.size() * tiles.size() * orders.size();

  [[nodiscard]] int tile(std::size_t dimension) const { return tiles[at[dimension]]; }
  [[nodiscard]] const char* order() const { return orders[at[3]]; }

  /// Its name in logs and tables: "i8 j64 k32 ikj".
  [[nodiscard]] std::string name() const {
    return "i" + std::to_string(tile(0)) + " j" + std::to_string(tile(1)) + " k" + std::to_string(tile(2)) + ' ' +
           order();
  }

  /// The configuration with this number, to visit all of them.
  [[nodiscard]] static Config numbered(std::size_t number) {
    Config c;
    for (std::size_t d = 0; d < c.at.size(); ++d) c.at[d] = number % extent[d], number /= extent[d];
    return c;
  }
  [[nodiscard]] static Config random(std::mt19937_64& random) { return numbered(random() % count); }

  /// A neighbour: one coordinate is changed, a tile to the next larger or smaller size, the order to any other.
  [[nodiscard]] Config mutated(std::mt19937_64& random) const {
    Config c = *this;
    const std::size_t d = random() % at.size();
    const std::size_t step = d == 3 ? 1 + random() % (extent[d] - 1) : random() % 2 == 0 ? 1 : extent[d] - 1;
    c.at[d] = (c.at[d] + step) % extent[d];
    return c;
  }
  /// A child: each coordinate is that of one of the two parents.
  [[nodiscard]] Config crossed(const Config& other, std::mt19937_64& random) const {
    Config c = *this;
    for (std::size_t d = 0; d < at.size(); ++d) {
      if (random() % 2 == 0) c.at[d] = other.at[d];
    }
    return c;
  }
};

namespace detail {

/// The first lines of each kernel: its arguments, as addresses in a block of words.
inline std::string opening(int size) {
  return "#include <cstdint>\n"
         "constexpr int N = " +
         std::to_string(size) +
         ";\n"
         "constexpr int min(int a, int b) { return a < b ? a : b; }\n"
         "extern \"C\" void matmul(std::int64_t* words) {\n"
         "  const float* __restrict a = reinterpret_cast<const float*>(words[0]);\n"
         "  const float* __restrict b = reinterpret_cast<const float*>(words[1]);\n"
         "  float* __restrict c = reinterpret_cast<float*>(words[2]);\n";
}

}  // namespace detail

/// The blocked kernel: three loops over tiles, and in them three within a tile, both in the same order.
inline std::string blocked_kernel(const Config& config, int size) {
  std::string text = detail::opening(size) + "  for (int n = 0; n < N * N; ++n) c[n] = 0;\n";
  for (const char* v = config.order(); *v != '\0'; ++v) {
    const std::string name{*v};
    const std::string tile = std::to_string(config.tile(static_cast<std::size_t>(*v - 'i')));
    text += "  for (int " + name + "0 = 0; " + name + "0 < N; " + name + "0 += " + tile + ")\n";
  }
  for (const char* v = config.order(); *v != '\0'; ++v) {
    const std::string name{*v};
    const std::string tile = std::to_string(config.tile(static_cast<std::size_t>(*v - 'i')));
    text += "    for (int " + name + " = " + name + "0; " + name + " < min(" + name + "0 + " + tile + ", N); ++" +
            name + ")\n";
  }
  return text + "      c[i * N + j] += a[i * N + k] * b[k * N + j];\n}\n";
}

/// The naive kernel.
inline std::string naive_kernel(int size) {
  return detail::opening(size) +
         "  for (int i = 0; i < N; ++i)\n"
         "    for (int j = 0; j < N; ++j) {\n"
         "      float sum = 0;\n"
         "      for (int k = 0; k < N; ++k) sum += a[i * N + k] * b[k * N + j];\n"
         "      c[i * N + j] = sum;\n"
         "    }\n"
         "}\n";
}

}  // namespace tune
