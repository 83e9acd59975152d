// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// The machine's replay of a captured graph: in any order that its streams and events allow, with its time on a clock of
// its own.

#include "machine.hpp"

#include <random.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace stand_in {

namespace {

/// The operations of a graph by stream, and the progress of each stream.
struct Lanes {
  explicit Lanes(const Graph& graph) : ops(graph.lanes.size()), next(graph.lanes.size(), 0) {
    for (std::size_t i = 0; i < graph.ops.size(); ++i) ops[graph.ops[i].lane].push_back(i);
  }
  [[nodiscard]] bool is_through(std::size_t lane) const { return next[lane] == ops[lane].size(); }
  [[nodiscard]] std::size_t head(std::size_t lane) const { return ops[lane][next[lane]]; }

  std::vector<std::vector<std::size_t>> ops;
  std::vector<std::size_t> next;
};

std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

}  // namespace

int Machine::run_graph(Graph& graph, std::string& text, std::string& kernel) {
  ReplayOrder order = ReplayOrder::any;
  std::uint64_t seed = 0;
  {
    const std::lock_guard lock{mutex};
    order = replay_order;
    seed = mix(++replays + rondo::test::run_seed());
  }
  Lanes lanes(graph);
  std::vector<char> is_done(graph.ops.size(), '\0');
  std::vector<std::size_t> ready;
  for (std::size_t left = graph.ops.size(); left != 0; --left) {
    ready.clear();
    for (std::size_t lane = 0; lane < lanes.ops.size(); ++lane) {
      if (lanes.is_through(lane)) continue;
      const Op& op = graph.ops[lanes.head(lane)];
      if (op.kind != Op::Kind::wait || is_done[op.ticket] != 0) ready.push_back(lane);
    }
    if (ready.empty()) {
      const std::lock_guard lock{mutex};
      misuse("the streams of a captured graph wait for each other");
      return kernel_exception;
    }
    std::size_t lane = ready.front();
    if (order == ReplayOrder::last_stream_first) lane = ready.back();
    if (order == ReplayOrder::any) lane = ready[(seed = mix(seed + left)) % ready.size()];
    const std::size_t at = lanes.head(lane);
    if (const int code = run(graph.ops[at], text, kernel); code != ok) return code;
    is_done[at] = 1;
    ++lanes.next[lane];
  }
  return ok;
}

std::uint64_t* Machine::word_of(const Condition& condition) {
  if (condition.value != nullptr) return condition.value.get();
  const std::lock_guard lock{mutex};
  const Block* const block = block_of(condition.word, sizeof(std::uint64_t));
  return block == nullptr ? nullptr : reinterpret_cast<std::uint64_t*>(block->inside);
}

int Machine::run_condition(const Condition& condition, std::string& text, std::string& kernel) {
  const std::uint64_t* const word = word_of(condition);
  if (word == nullptr) return kernel_exception;
  const auto run_body = [&](std::uint64_t i) {
    return i < condition.bodies.size() ? run_graph(*condition.bodies[i], text, kernel) : ok;
  };
  switch (condition.kind) {
    case Condition::Kind::when: return run_body(*word != 0 ? 0 : 1);
    case Condition::Kind::choice: return run_body(*word);
    case Condition::Kind::loop: break;
  }
  int code = ok;
  while (code == ok && *word != 0) code = run_body(0);
  return code;
}

double Machine::kernel_ns(const Op& op) const {
  const auto own = costs.find(op.function->name);
  const auto any = costs.find("kernel");
  return own != costs.end() ? own->second : any != costs.end() ? any->second : 0;
}

double Machine::wait_ns() const {
  const auto found = costs.find("wait");
  return found == costs.end() ? 0 : found->second;
}

double Machine::play_graph(const Graph& graph) const {
  Lanes lanes(graph);
  std::vector<double> now(lanes.ops.size(), 0.0);
  std::vector<double> recorded(graph.ops.size(), -1.0);
  std::vector<double> core_is_free(std::max<std::uint32_t>(1, cores), 0.0);
  for (;;) {
    // Events take no core, so they happen as soon as they can.
    for (bool has_moved = true; has_moved;) {
      has_moved = false;
      for (std::size_t lane = 0; lane < lanes.ops.size(); ++lane) {
        while (!lanes.is_through(lane)) {
          const Op& op = graph.ops[lanes.head(lane)];
          if (op.kind == Op::Kind::kernel) break;
          if (op.kind == Op::Kind::wait) {
            if (recorded[op.ticket] < 0) break;
            now[lane] = std::max(now[lane], recorded[op.ticket]) + wait_ns();
          }
          if (op.kind == Op::Kind::record) recorded[lanes.head(lane)] = now[lane];
          ++lanes.next[lane];
          has_moved = true;
        }
      }
    }
    // Among the submitted kernels, the one that was submitted first gets its cores first.
    std::size_t first = lanes.ops.size();
    for (std::size_t lane = 0; lane < lanes.ops.size(); ++lane) {
      if (lanes.is_through(lane) || graph.ops[lanes.head(lane)].kind != Op::Kind::kernel) continue;
      if (first == lanes.ops.size() || now[lane] < now[first]) first = lane;
    }
    if (first == lanes.ops.size()) return *std::max_element(now.begin(), now.end());
    const Op& op = graph.ops[lanes.head(first)];
    std::sort(core_is_free.begin(), core_is_free.end());
    const std::size_t wanted = std::min<std::size_t>(op.blocks, core_is_free.size());
    now[first] = std::max(now[first], core_is_free[wanted - 1]) + kernel_ns(op);
    std::fill_n(core_is_free.begin(), wanted, now[first]);
    ++lanes.next[first];
  }
}

}  // namespace stand_in
