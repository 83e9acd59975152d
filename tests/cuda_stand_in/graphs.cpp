// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include "graphs.hpp"

#include <algorithm>
#include <utility>

namespace cuda_stand_in {

std::unique_ptr<CudaGraph> CudaGraph::clone() const {
  auto copy = std::make_unique<CudaGraph>();
  std::map<const CudaNode*, CudaNode*> twin;
  for (const auto& node : nodes) {
    auto made = std::make_unique<CudaNode>();
    made->op = node->op;
    for (const CudaNode* const need : node->needs) made->needs.push_back(twin.at(need));
    if (node->child != nullptr) made->child = node->child->clone();
    twin[node.get()] = made.get();
    copy->nodes.push_back(std::move(made));
  }
  return copy;
}

namespace {

/// Adds the nodes of a graph, to run after the operations `after`. @returns the operations that end the graph
std::vector<std::uint64_t> add(stand_in::Graph& to, std::uint32_t& lanes, const CudaGraph& graph,
                               const std::vector<std::uint64_t>& after, NodePlaces& places) {
  std::map<const CudaNode*, std::vector<std::uint64_t>> ends;
  std::set<const CudaNode*> needed;
  for (const auto& node : graph.nodes) {
    std::vector<std::uint64_t> waits = node->needs.empty() ? after : std::vector<std::uint64_t>{};
    for (const CudaNode* const need : node->needs) {
      needed.insert(need);
      waits.insert(waits.end(), ends[need].begin(), ends[need].end());
    }
    if (node->child != nullptr) {
      ends[node.get()] = add(to, lanes, *node->child, waits, places);
      continue;
    }
    const std::uint32_t lane = lanes++;
    const auto push = [&](Op op) {
      op.lane = lane;
      to.ops.push_back(std::move(op));
    };
    for (const std::uint64_t at : waits) {
      Op wait;
      wait.kind = Op::Kind::wait;
      wait.ticket = at;
      push(std::move(wait));
    }
    if (node->condition != nullptr) {
      NodePlaces of_body;
      node->condition->bodies = {instantiate(*node->body, of_body)};
      node->op.kind = Op::Kind::condition;
      node->op.condition = node->condition;
    }
    push(node->op);
    places[node.get()] = to.ops.size() - 1;
    ends[node.get()] = {to.ops.size() - 1};
  }
  std::vector<std::uint64_t> last;
  for (const auto& node : graph.nodes) {
    if (!needed.contains(node.get())) last.insert(last.end(), ends[node.get()].begin(), ends[node.get()].end());
  }
  return graph.nodes.empty() ? after : last;
}

}  // namespace

std::shared_ptr<stand_in::Graph> instantiate(const CudaGraph& graph, NodePlaces& places) {
  auto made = std::make_shared<stand_in::Graph>();
  std::uint32_t lanes = 0;
  (void)add(*made, lanes, graph, {}, places);
  // The machine identifies lanes by captured streams. There are none here, so any distinct keys will do.
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    made->lanes[reinterpret_cast<stand_in::StreamState*>(std::uintptr_t{lane} + 1)] = lane;
  }
  return made;
}

std::unique_ptr<CudaGraph> graph_of_capture(const stand_in::Graph& captured) {
  auto graph = std::make_unique<CudaGraph>();
  for (const Op& op : captured.ops) {
    if (op.kind == Op::Kind::record || op.kind == Op::Kind::wait) continue;
    auto node = std::make_unique<CudaNode>();
    node->op = op;
    if (!graph->nodes.empty()) node->needs.push_back(graph->nodes.back().get());
    graph->nodes.push_back(std::move(node));
  }
  return graph;
}

}  // namespace cuda_stand_in
