// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/detail/compiled.hpp>
#include <rondo/error.hpp>
#include <rondo/graph/records.hpp>

#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

namespace rondo {
class TaskGraph;
namespace detail {
struct Keyed;
}
}  // namespace rondo

/// The code of set-up that few graphs need. The calls that add tensors or tasks which need it set pointers to it, so
/// programs without these calls do not contain it. Constant expressions call the functions directly.
namespace rondo::graph {

RONDO_CONSTEXPR TaskGraph instantiate(const TaskGraph& graph, std::span<const std::int64_t> values);
RONDO_CONSTEXPR TaskGraph with_fill(TaskGraph graph);
struct Analysis;
/// std::is_constant_evaluated(), for functions that are RONDO_CONSTEXPR: compilers warn of the direct call where that
/// macro is empty, since the call is always false there.
[[nodiscard]] constexpr bool is_constant_expression() noexcept { return std::is_constant_evaluated(); }
/// For freezing a graph.
struct RareCode {
  TaskGraph (*with_fill)(const TaskGraph& graph) = nullptr;
  Analysis (*leave_out_idle)(const TaskGraph& graph, const Analysis& whole) = nullptr;
};
/// Called for a graph with zeroed workspaces.
void need_fill(RareCode& code) noexcept;
/// Called for a graph whose tasks may be idle.
void need_idle(RareCode& code) noexcept;

/// A kernel that is a host function, and its arguments.
struct HostCall {
  KernelEntry entry;
  ArgWord* args;
};

/// Whether a stop was requested.
struct StopRequest {
  const void* source;
  bool (*is_made)(const void* source) noexcept;
};

/// For graphs with loops; see LoopRecord.
struct LoopCode {
  /// See order_loops().
  void (*order)(const TaskGraph& graph, std::vector<rondo::detail::Keyed>& edges);
  /// See outline_calls().
  std::shared_ptr<const GraphView> (*outline_calls)(const GraphView& graph, std::vector<HostCall>& calls,
                                                    std::vector<std::uint32_t>& tasks,
                                                    const std::vector<const ArgWord*>& decisions, StopRequest stop);
};

/// The text of the exception being handled.
[[gnu::cold, gnu::noinline]] inline Error::Text current_exception_text() noexcept {
  try {
    throw;
  } catch (const std::exception& e) {
    return Error::Text(e.what());
  } catch (...) {
    return Error::Text("an exception that is no std::exception");
  }
}

/// Thrown by a loop in place of a kernel's exception, since an engine knows only the task that stands for the loop.
struct LoopFailure {
  std::uint32_t task = 0;
  Error::Text text;
};
/// Thrown by a loop that ends early because of a stop request.
struct StoppedInLoop {};

}  // namespace rondo::graph
