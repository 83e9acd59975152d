// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/types.hpp>

#include <cstdint>
#include <span>

namespace rondo::args {

/// One tensor, as a shape block describes it. Rank 0 is a scalar.
struct Instance {
  Shape shape{};
  bool rank_known = true;  ///< false: there is room for unknown_rank_dims extents, each written as -1
};

/// The number of extents that a shape block reserves for a tensor of unknown rank.
inline constexpr std::uint32_t unknown_rank_dims = 25;

/// The number of instances that a parameter of a kernel may have.
enum class Occurrence : std::uint8_t {
  required,  ///< exactly one instance
  optional,  ///< one or none
  dynamic,   ///< any number; folds to one pointer to a list of addresses
};

/// One IR input or output of a kernel, and its instances in a given graph.
struct Parameter {
  Occurrence occurrence = Occurrence::required;
  std::uint32_t count = 1;              ///< the number of instances
  const Instance* instances = nullptr;  ///< `count` of them, or null if no pattern uses shapes

  [[nodiscard]] static constexpr Parameter required(const Instance* instance = nullptr) noexcept {
    return {Occurrence::required, 1, instance};
  }
  [[nodiscard]] static constexpr Parameter optional(bool present, const Instance* instance = nullptr) noexcept {
    return {Occurrence::optional, present ? 1U : 0U, instance};
  }
  [[nodiscard]] static constexpr Parameter dynamic(std::uint32_t count, const Instance* instances = nullptr) noexcept {
    return {Occurrence::dynamic, count, instances};
  }
};

struct SubNode;

/// The tensors and workspaces of a kernel, for its layout. Refers to arrays of the caller; `{sknID...}` patterns find
/// their ID in `nodes`.
struct Signature {
  std::span<const Parameter> inputs{};
  std::span<const Parameter> outputs{};
  std::uint32_t workspaces = 0;
  std::span<const SubNode> nodes{};
};

/// One kernel within a super-kernel.
struct SubNode {
  std::uint32_t id = 0;
  Signature signature{};
};

}  // namespace rondo::args
