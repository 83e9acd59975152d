// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "stand_in/machine.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

/// The parts of the stand-in for the CUDA driver that the machine does not have: modules and graphs.
namespace cuda_stand_in {

using stand_in::Machine;
using stand_in::Op;

inline constexpr int success = 0;
inline constexpr int invalid_value = 1;
inline constexpr int out_of_memory = 2;
inline constexpr int not_initialised = 3;
inline constexpr int invalid_device = 101;
inline constexpr int invalid_image = 200;
inline constexpr int invalid_context = 201;
inline constexpr int no_binary_for_gpu = 209;
inline constexpr int invalid_ptx = 218;
inline constexpr int unsupported_ptx_version = 222;
inline constexpr int invalid_handle = 400;
inline constexpr int not_found = 500;
inline constexpr int not_ready = 600;
inline constexpr int illegal_address = 700;
inline constexpr int out_of_resources = 701;
inline constexpr int launch_timeout = 702;
inline constexpr int launch_failed = 719;
inline constexpr int capture_unsupported = 900;
inline constexpr int capture_invalidated = 901;
inline constexpr int capture_unmatched = 903;
inline constexpr int captured_event = 907;
inline constexpr int capture_wrong_thread = 908;

/// A kernel that was looked up. Its launch is an operation of the machine. `host_parameters` are the sizes of the
/// parameters that the launch carries; if it is empty, the only parameter is the address of the blocks' arguments.
struct CudaFunction {
  stand_in::Function on_machine;
  std::uint64_t block_bytes = 0;
  std::vector<std::size_t> host_parameters;
  void (*run)(std::uint32_t blocks, std::uint32_t threads, const std::uint64_t* parameters) = nullptr;
  std::uint32_t dynamic_shared_limit = 49152;
};
struct CudaModule {
  std::map<std::string, std::unique_ptr<CudaFunction>> functions;
};

/// A node of a graph that is being built: an operation, a child graph, or a conditional node with its body.
struct CudaGraph;
struct CudaNode {
  Op op;
  std::vector<CudaNode*> needs;
  std::unique_ptr<CudaGraph> child;
  std::unique_ptr<CudaGraph> body;
  std::shared_ptr<stand_in::Condition> condition;
};
struct CudaGraph {
  std::vector<std::unique_ptr<CudaNode>> nodes;
  std::vector<std::shared_ptr<stand_in::Condition>> conditions;  ///< which no node has yet
  CudaGraph* body = nullptr;  ///< the array through which the driver tells the body of the last conditional node
  [[nodiscard]] std::unique_ptr<CudaGraph> clone() const;
};

/// The place of each kernel node's operation in the executable graph.
using NodePlaces = std::map<const void*, std::size_t>;
/// Makes the graph that the machine runs: each node on a lane of its own, after the nodes that it needs.
[[nodiscard]] std::shared_ptr<stand_in::Graph> instantiate(const CudaGraph& graph, NodePlaces& places);
/// Makes a graph of a capture; its nodes follow each other.
[[nodiscard]] std::unique_ptr<CudaGraph> graph_of_capture(const stand_in::Graph& captured);

}  // namespace cuda_stand_in
