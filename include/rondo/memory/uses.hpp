// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/graph/lanes.hpp>
#include <rondo/graph/records.hpp>
#include <rondo/memory/concurrency.hpp>
#include <rondo/memory/detail/certainty.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

/// When a graph needs the memory of its tensors. Usable in constant expressions.
namespace rondo::memory {

/// A closed interval of time in which memory holds a value that is still needed. Time 0 is the copies in, times 1, 2, …
/// are the tasks in the planning order, and the copies out follow the last task.
struct Use {
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::vector<std::uint32_t> users{};  ///< positions of the tasks that use it, in the planning order
};

/// The memory of one or more tensors, and its uses in ascending order.
struct Token {
  std::uint64_t bytes = 0;
  std::vector<Use> uses{};
};

/// The memory tokens of a graph's tensors.
struct Tokens {
  static constexpr std::uint32_t none = 0xFFFF'FFFF;
  std::vector<Token> tokens{};
  std::vector<std::uint32_t> of_tensor{};  ///< by tensor; none for a tensor outside the arena
};

/// The tokens into which others are merged.
class MergedTokens {
 public:
  constexpr explicit MergedTokens(std::size_t count) : into_(count, 0U) {
    for (std::uint32_t k = 0; k < count; ++k) into_[k] = k;
  }
  constexpr void merge(std::uint32_t token, std::uint32_t into) noexcept { into_[token] = into; }
  /// The token into which `token` was merged at last; none for none.
  [[nodiscard]] constexpr std::uint32_t find(std::uint32_t token) noexcept {
    if (token == Tokens::none) return token;
    while (into_[token] != token) token = into_[token] = into_[into_[token]];
    return token;
  }
  /// Gives each tensor the token into which its own was merged.
  constexpr void apply(std::vector<std::uint32_t>& of_tensor) noexcept {
    for (std::uint32_t& token : of_tensor) token = find(token);
  }

 private:
  std::vector<std::uint32_t> into_;
};

namespace detail {

/// Whether the memory keeps its contents between rounds.
[[nodiscard]] constexpr bool is_kept(const graph::TensorRecord& tensor) noexcept {
  return tensor.kept || tensor.zeroed == Zeroed::once || tensor.direction == Direction::resident;
}

/// Visits the tasks in order and records the uses of each memory.
class UseFinder {
 public:
  constexpr UseFinder(const graph::GraphView& graph, Certainty order)
      : graph_{graph},
        order_{order},
        end_{static_cast<std::int64_t>(graph.tasks.size()) + 1},
        was_read_(graph.tensors.size(), '\0') {
    result_.of_tensor = std::vector<std::uint32_t>(graph.tensors.size(), Tokens::none);
    kept_ = std::vector<char>(graph.tensors.size(), '\0');
  }

  [[nodiscard]] constexpr Tokens run() {
    make_tokens();
    if (!graph_.loops.empty()) find_homes();
    for (std::size_t turn = 0; turn < graph_.tasks.size(); ++turn) {
      visit(order_.task_at(turn), static_cast<std::int64_t>(turn) + 1);
    }
    for (std::uint32_t t = 0; t < graph_.tensors.size(); ++t) {
      const std::uint32_t token = result_.of_tensor[t];
      if (token != Tokens::none && copies_out(graph_.tensors[t].direction)) extend(result_.tokens[token], end_);
    }
    for (std::size_t k = 0; k < result_.tokens.size(); ++k) {
      std::vector<Use>& uses = result_.tokens[k].uses;
      // Memory that no task uses may be written by any code that has its address.
      if (kept_[k] == 0 && !uses.empty()) continue;
      Use all{0, end_};
      for (const Use& use : uses) {
        for (const std::uint32_t user : use.users) all.users.push_back(user);
      }
      uses.clear();
      uses.push_back(std::move(all));
    }
    return std::move(result_);
  }

 private:
  constexpr void make_tokens() {
    for (std::uint32_t t = 0; t < graph_.tensors.size(); ++t) {
      const graph::TensorRecord& tensor = graph_.tensors[t];
      if (is_carried_in_args(tensor.direction) || tensor.is_outside_arena() || home_of(graph_.tensors, t) != t)
        continue;
      result_.of_tensor[t] = static_cast<std::uint32_t>(result_.tokens.size());
      result_.tokens.push_back({tensor.bytes});
    }
    for (std::uint32_t t = 0; t < graph_.tensors.size(); ++t) {
      const graph::TensorRecord& tensor = graph_.tensors[t];
      if (is_carried_in_args(tensor.direction)) continue;
      const std::uint32_t token = result_.of_tensor[t] = result_.of_tensor[home_of(graph_.tensors, t)];
      if (token == Tokens::none) continue;
      if (is_kept(tensor)) kept_[token] = 1;
      if (copies_in(tensor.direction)) {
        extend(result_.tokens[token], 0);
        was_read_[token] = 0;
      }
    }
  }

  /// Finds, for each memory, the innermost loop that contains all of its uses, and whether each run of that loop begins
  /// by overwriting it. Then no value of it lasts from one repetition to the next.
  constexpr void find_homes() {
    homes_ = std::vector<Home>(result_.tokens.size());
    for (std::uint32_t t = 0; t < graph_.tensors.size(); ++t) {
      const std::uint32_t k = result_.of_tensor[t];
      const Direction d = graph_.tensors[t].direction;
      if (k != Tokens::none && (kept_[k] != 0 || copies_in(d) || copies_out(d)))
        homes_[k] = {graph::TaskRecord::no_loop, false, true};
    }
    for (std::uint32_t p = 0; p < graph_.tasks.size(); ++p) {
      for (const graph::ArgRecord& arg : graph_.args_of(graph_.tasks[p])) {
        if (!arg.is_address() || result_.of_tensor[arg.tensor] == Tokens::none) continue;
        const std::uint32_t k = result_.of_tensor[arg.tensor];
        Home& home = homes_[k];
        if (!home.is_used) home = {graph_.tasks[p].loop, !reads_memory(graph_.tasks[p], k), true, p};
        while (!graph::is_within(graph_.loops, graph_.tasks[p].loop, home.loop))
          home.loop = graph_.loops[home.loop].parent;
      }
    }
    for (Home& home : homes_) {  // a `when` within the home may leave the old value
      if (home.first_user == Home::nobody) continue;
      for (std::uint32_t l = graph_.tasks[home.first_user].loop; l != home.loop; l = graph_.loops[l].parent) {
        if (graph_.loops[l].kind == graph::LoopRecord::Kind::when) home.is_fresh = false;
      }
    }
  }
  /// Whether the memory must keep its value during the whole loop, one of whose tasks uses it.
  [[nodiscard]] constexpr bool spans(std::uint32_t token, std::uint32_t loop) const {
    const Home& home = homes_[token];
    return !home.is_fresh || (loop != home.loop && graph::is_within(graph_.loops, loop, home.loop));
  }
  /// Extends the use to the loops around `task` that it spans.
  constexpr void span_loops(std::uint32_t token, const graph::TaskRecord& task) {
    Use& use = result_.tokens[token].uses.back();
    for (std::uint32_t l = task.loop; l != graph::TaskRecord::no_loop; l = graph_.loops[l].parent) {
      if (!spans(token, l)) continue;
      use.first = std::min(use.first, static_cast<std::int64_t>(graph_.loops[l].first) + 1);
      use.last = std::max(use.last, static_cast<std::int64_t>(graph_.loops[l].last));
    }
  }

  /// Visits a task. If the old value has been read, a task that overwrites a whole memory without reading it starts a
  /// new use. Consecutive writers share a use.
  constexpr void visit(std::uint32_t position, std::int64_t time) {
    const graph::TaskRecord& task = graph_.tasks[position];
    for (const graph::ArgRecord& arg : graph_.args_of(task)) {
      if (!arg.is_address() || result_.of_tensor[arg.tensor] == Tokens::none) continue;
      const std::uint32_t k = result_.of_tensor[arg.tensor];
      Token& token = result_.tokens[k];
      const bool here = !token.uses.empty() && !token.uses.back().users.empty() &&
                        token.uses.back().users.back() == position;  // the task has it as two arguments
      const bool in_loop = task.loop != graph::TaskRecord::no_loop;
      const bool starts = was_read_[k] != 0 && !here && !reads_memory(task, k) && !(in_loop && spans(k, task.loop));
      if (starts) token.uses.push_back({time, time});
      extend(token, time);
      if (in_loop) span_loops(k, task);
      if (!here) token.uses.back().users.push_back(position);
      was_read_[k] = reads(arg.access) || (here && was_read_[k] != 0) ? 1 : 0;
    }
  }

  /// Whether any argument of the task reads the memory; an output that reuses an input may come before that input.
  [[nodiscard]] constexpr bool reads_memory(const graph::TaskRecord& task, std::uint32_t token) const {
    const auto args = graph_.args_of(task);
    return std::any_of(args.begin(), args.end(), [&](const graph::ArgRecord& arg) {
      return arg.is_address() && result_.of_tensor[arg.tensor] == token && reads(arg.access);
    });
  }

  static constexpr void extend(Token& token, std::int64_t time) {
    if (token.uses.empty()) token.uses.push_back({time, time});
    token.uses.back().last = std::max(token.uses.back().last, time);
  }

  struct Home {
    std::uint32_t loop = graph::TaskRecord::no_loop;
    bool is_fresh = false;
    bool is_used = false;
    static constexpr std::uint32_t nobody = 0xFFFF'FFFF;
    std::uint32_t first_user = nobody;
  };

  graph::GraphView graph_;
  Certainty order_;
  std::int64_t end_;
  std::vector<char> was_read_;  ///< by token: whether the value was read after it was written
  std::vector<char> kept_{};    ///< by token
  std::vector<Home> homes_{};   ///< by token; empty without loops
  Tokens result_{};
};

/// Whether the two uses do not overlap on any schedule.
[[nodiscard]] constexpr bool are_apart(const Use& a, const Use& b, Certainty order) {
  if (a.first <= b.last && b.first <= a.last) return false;
  return a.last < b.first ? order.all_precede(a.users, b.users) : order.all_precede(b.users, a.users);
}

/// Lets the Out of a kernel that works in place use the memory of its In, if that is the last use of the In and both
/// have the same size. An In that a later repetition of a loop may read is in use until the loop's decision, so it does
/// not end at a kernel. `ports_apart`: tensors of which each slot of rounds in flight has its own share memory with no
/// other tensor.
constexpr void merge_in_place(const graph::GraphView& graph, Tokens& tokens, Certainty order, bool ports_apart) {
  MergedTokens merged(tokens.tokens.size());
  const auto merge = [&](std::uint32_t position, std::int64_t time, std::uint32_t in, std::uint32_t out) {
    if (in == Tokens::none || out == Tokens::none || in == out) return;
    Token& from = tokens.tokens[in];
    Token& to = tokens.tokens[out];
    if (from.bytes != to.bytes) return;
    std::size_t ending = from.uses.size();
    std::size_t starting = to.uses.size();
    for (std::size_t i = 0; i < from.uses.size(); ++i) ending = from.uses[i].last == time ? i : ending;
    for (std::size_t i = 0; i < to.uses.size(); ++i) starting = to.uses[i].first == time ? i : starting;
    if (ending == from.uses.size() || starting == to.uses.size()) return;
    Use& joined = from.uses[ending];
    const auto precedes = [&](std::uint32_t user) { return user == position || order.precedes(user, position); };
    // Both may be in use at the same time only in the task's own use of them.
    for (std::size_t i = 0; i < from.uses.size(); ++i) {
      for (std::size_t j = 0; j < to.uses.size(); ++j) {
        const bool meet = i == ending && j == starting;
        if (meet ? !std::all_of(joined.users.begin(), joined.users.end(), precedes)
                 : !are_apart(from.uses[i], to.uses[j], order))
          return;
      }
    }
    joined.last = to.uses[starting].last;
    const std::vector<std::uint32_t>& more = to.uses[starting].users;
    for (std::size_t u = 1; u < more.size(); ++u) joined.users.push_back(more[u]);
    for (std::size_t j = 0; j < to.uses.size(); ++j) {
      if (j == starting) continue;
      std::size_t at = from.uses.size();
      from.uses.push_back(std::move(to.uses[j]));
      for (; at != 0 && from.uses[at].first < from.uses[at - 1].first; --at)
        std::swap(from.uses[at], from.uses[at - 1]);
    }
    to = {};
    merged.merge(out, in);
  };

  const auto has_memory_per_slot = [&](std::uint32_t tensor) {
    return graph.tensors[graph::root_of(graph.tensors, tensor)].has_memory_per_slot();
  };
  for (std::size_t turn = 0; turn < graph.tasks.size(); ++turn) {
    const std::uint32_t p = order.task_at(turn);
    const auto args = graph.args_of(graph.tasks[p]);
    for (const graph::ArgRecord& arg : args) {
      if (!arg.is_address() || arg.in_place_of == graph::ArgRecord::not_in_place) continue;
      const std::uint32_t in = args[arg.in_place_of].tensor;
      if (graph.tensors[in].zeroed != Zeroed::never) continue;  // it is in a zeroed block
      if (ports_apart && (has_memory_per_slot(arg.tensor) || has_memory_per_slot(in))) continue;
      // A view may be a part of its memory, and the task may take its source as well.
      const auto memory_of = [&](std::uint32_t tensor) { return merged.find(tokens.of_tensor[tensor]); };
      const auto takes_memory = [&](const graph::ArgRecord& other) {
        return other.is_address() && memory_of(other.tensor) == memory_of(in);
      };
      if (graph.tensors[in].bytes != graph.tensors[arg.tensor].bytes) continue;
      if (std::count_if(args.begin(), args.end(), takes_memory) != 1) continue;
      merge(p, static_cast<std::int64_t>(turn) + 1, memory_of(in), memory_of(arg.tensor));
    }
  }
  merged.apply(tokens.of_tensor);
}

}  // namespace detail

}  // namespace rondo::memory
