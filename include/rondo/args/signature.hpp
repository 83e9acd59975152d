// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/types.hpp>

#include <cstdint>
#include <span>

namespace rondo::args {

/// The number of instances that a parameter of a kernel may have.
enum class Occurrence : std::uint8_t {
  required,  ///< exactly one instance
  optional,  ///< one or none
  dynamic,   ///< any number; folds to one pointer to a list of addresses
};

/// One IR input or output of a kernel, and its instances in a given graph.
struct Parameter {
  Occurrence occurrence = Occurrence::required;
  std::uint32_t count = 1;             ///< the number of instances
  std::span<const Shape> instances{};  ///< their shapes, a scalar's of rank 0; none if no pattern has them
};

struct SubNode;

/// The tensors and workspaces of a kernel, for its layout. It refers to arrays of the caller. `{sknID...}` patterns
/// find their ID in `nodes`.
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
