// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/detail/fixed_text.hpp>
#include <rondo/graph/task_graph.hpp>
#include <rondo/version.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

/// What a module of kernels hands to the module `rondo`, so that Python can add tasks by a kernel's name.
namespace rondo::python {

/// How a scalar is made of a Python number.
enum class ScalarKind : std::uint8_t { boolean, signed_integer, unsigned_integer, floating };

/// One parameter of a kernel that a task names; a Block is filled in by the launch and has none.
struct KernelParameter {
  bool is_tensor = false;
  DataType type = DataType::float32;  ///< of a tensor's elements
  Access access = Access::read;       ///< of a tensor
  std::uint8_t rank = 1;              ///< of a tensor; 1 takes any number of dimensions
  ScalarKind scalar = ScalarKind::floating;
  std::uint8_t scalar_bytes = 0;
};

/// What Python handed over for a parameter, checked against it.
struct KernelArgument {
  TensorKey tensor;
  Shape shape;  ///< the tensor's own, or what it was reshaped to
  ArgWord scalar = 0;
};

/// A kernel as Python sees it. Lives as long as the process, as modules do.
struct KernelRecord {
  std::string_view name;
  CoreType core;
  std::span<const KernelParameter> parameters;
  TaskId (*add)(TaskGraph& graph, Blocks blocks, std::span<const KernelArgument> arguments);
};

/// Modules pass records as capsules of this name. Both have to be compiled against the same Rondo, since the record and
/// the graph that it adds to are C++ objects of it.
inline constexpr rondo::detail::FixedText<64> capsule_text{
    "rondo.kernel ", version.major, ".", version.minor, ".", version.patch, "/", sizeof(TaskGraph), "/", sizeof(Shape)};
inline constexpr const char* capsule_name = capsule_text.c_str();

}  // namespace rondo::python
