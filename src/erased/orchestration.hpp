// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "session.hpp"

#include <rondo/orchestrated.hpp>

#include <cstddef>
#include <span>

/// Rounds whose tasks a function adds; see runtime::TensorMapRingBuffer and runtime::AicpuBuildGraph.
namespace rondo::erased {

/// Thrown out of an orchestration whose round has failed already; no std::exception.
using platform::sim::dynamic::Stopped;
using runtime::TaskRef;

/// A tensor of the interface, an intermediate, or a box of one.
struct RoundTensor {
  runtime::Region<std::uint8_t, Direction::workspace> region;
  DataType type;
  Direction direction;

  [[nodiscard]] Shape shape() const;
};

/// An argument of a kernel in an orchestration.
struct RoundArgument {
  const RoundTensor* tensor = nullptr;  ///< null: a scalar
  ArgWord scalar = 0;
};

/// The round under way, as its orchestration sees it; valid until that returns. Functions throw Error if they are used
/// wrongly, and Stopped once the round has failed.
class AnyRound {
 public:
  virtual ~AnyRound() = default;
  [[nodiscard]] virtual RoundTensor tensor(TensorKey key) = 0;
  /// An intermediate of the open scope.
  [[nodiscard]] virtual RoundTensor workspace(DataType type, const Shape& shape) = 0;
  /// The box that starts at `low`.
  [[nodiscard]] virtual RoundTensor view(const RoundTensor& tensor, const Shape& low, const Shape& extents) = 0;
  /// The values of an input. @throws Error invalid_argument: no input
  [[nodiscard]] virtual std::span<const std::byte> values(TensorKey input) = 0;
  /// Adds a task; the kernel outlives the round.
  virtual TaskRef add(const SignatureKernel& kernel, Blocks blocks, std::span<const RoundArgument> arguments) = 0;
  /// Lets `after` start only when `before` is done. @throws Error unsupported on a runtime that finds edges
  virtual void add_edge(TaskRef before, TaskRef after) = 0;
  virtual void begin_scope() = 0;
  /// Ends the newest open scope. `failed`: an exception leaves it, so none of its waiting tasks start. @throws Error
  /// not_open
  virtual void end_scope(bool failed) = 0;
};

}  // namespace rondo::erased
