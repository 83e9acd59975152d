// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/graph/records.hpp>
#include <rondo/memory/concurrency.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

/// The times at which a graph needs the memory of its tensors; usable in constant expressions.
namespace rondo::memory {

/// A stretch of time in which memory holds a value that is still needed, both ends included. The copies in are time 0,
/// the task at position p of the frozen graph is time p + 1, the copies out follow the last task.
struct Use {
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::vector<std::uint32_t> users{};  ///< positions of the tasks that touch it, ascending
};

/// Memory of one or several tensors, and its uses in ascending order.
struct Token {
  std::uint64_t bytes = 0;
  std::vector<Use> uses{};
};

/// The memories of a graph's tensors.
struct Tokens {
  static constexpr std::uint32_t none = 0xFFFF'FFFF;
  std::vector<Token> tokens{};
  std::vector<std::uint32_t> of_tensor{};  ///< by tensor; none for a host input
};

namespace detail {

/// For each task the tasks that precede it on every schedule, one bit each. Cost: tasks² / 8 bytes; edges · tasks / 64
/// steps.
class Ancestors {
 public:
  /// The bits of so many tasks take 32 MiB.
  static constexpr std::size_t most_tasks = 16'384;

  constexpr explicit Ancestors(const graph::GraphView& graph)
      : words_{(graph.tasks.size() + 63) / 64}, bits_(words_ * graph.tasks.size(), std::uint64_t{0}) {
    for (std::size_t p = 0; p < graph.tasks.size(); ++p) {
      for (const std::uint32_t s : graph.successors_of(p)) {
        for (std::size_t w = 0; w < words_; ++w) bits_[s * words_ + w] |= bits_[p * words_ + w];
        bits_[s * words_ + p / 64] |= std::uint64_t{1} << (p % 64);
      }
    }
  }

  [[nodiscard]] constexpr bool precedes(std::size_t before, std::size_t after) const noexcept {
    return (bits_[after * words_ + before / 64] >> (before % 64) & 1U) != 0;
  }
  [[nodiscard]] constexpr bool all_precede(const std::vector<std::uint32_t>& before,
                                           const std::vector<std::uint32_t>& after) const noexcept {
    for (const std::uint32_t b : before) {
      for (const std::uint32_t a : after) {
        if (!precedes(b, a)) return false;
      }
    }
    return true;
  }

 private:
  std::size_t words_;
  std::vector<std::uint64_t> bits_;
};

/// The tensor whose memory a tensor takes: itself, its source if it is a view, or the input that it reuses.
[[nodiscard]] constexpr std::uint32_t home_of(const graph::GraphView& graph, std::uint32_t tensor) noexcept {
  tensor = graph::root_of(graph.tensors, tensor);
  const std::uint32_t alias = graph.tensors[tensor].alias_of;
  return alias == graph::TensorRecord::no_alias ? tensor : alias;
}

/// Whether the memory keeps its contents from round to round, whatever the tasks do.
[[nodiscard]] constexpr bool is_kept(const graph::TensorRecord& tensor) noexcept {
  return tensor.kept || tensor.zeroed == Zeroed::once || tensor.direction == Direction::resident;
}

/// Follows the tasks in their order and notes the uses of each memory.
class UseFinder {
 public:
  constexpr explicit UseFinder(const graph::GraphView& graph)
      : graph_{graph}, end_{static_cast<std::int64_t>(graph.tasks.size()) + 1}, was_read_(graph.tensors.size(), '\0') {
    result_.of_tensor = std::vector<std::uint32_t>(graph.tensors.size(), Tokens::none);
    kept_ = std::vector<char>(graph.tensors.size(), '\0');
  }

  [[nodiscard, gnu::cold]] constexpr Tokens run() {
    make_tokens();
    for (std::size_t p = 0; p < graph_.tasks.size(); ++p) visit(static_cast<std::uint32_t>(p));
    for (std::uint32_t t = 0; t < graph_.tensors.size(); ++t) {
      const std::uint32_t token = result_.of_tensor[t];
      if (token != Tokens::none && copies_out(graph_.tensors[t].direction)) extend(result_.tokens[token], end_);
    }
    for (std::size_t k = 0; k < result_.tokens.size(); ++k) {
      std::vector<Use>& uses = result_.tokens[k].uses;
      // Memory that no task touches may be written by any holder of its address.
      if (kept_[k] == 0 && !uses.empty()) continue;
      Use all = whole(uses);
      uses.clear();
      uses.push_back(std::move(all));
    }
    return std::move(result_);
  }

 private:
  [[gnu::cold]] constexpr void make_tokens() {
    for (std::uint32_t t = 0; t < graph_.tensors.size(); ++t) {
      const graph::TensorRecord& tensor = graph_.tensors[t];
      if (rides_in_args(tensor.direction) || home_of(graph_, t) != t) continue;
      result_.of_tensor[t] = static_cast<std::uint32_t>(result_.tokens.size());
      result_.tokens.push_back({tensor.bytes});
    }
    for (std::uint32_t t = 0; t < graph_.tensors.size(); ++t) {
      const graph::TensorRecord& tensor = graph_.tensors[t];
      if (rides_in_args(tensor.direction)) continue;
      const std::uint32_t token = result_.of_tensor[t] = result_.of_tensor[home_of(graph_, t)];
      if (is_kept(tensor)) kept_[token] = 1;
      if (copies_in(tensor.direction)) {
        extend(result_.tokens[token], 0);
        was_read_[token] = 0;
      }
    }
  }

  /// A task that writes the whole of a memory without reading it starts a new use, if the old value has been read. Two
  /// writers in a row share a use.
  [[gnu::cold]] constexpr void visit(std::uint32_t position) {
    const graph::TaskRecord& task = graph_.tasks[position];
    for (const graph::ArgRecord& arg : graph_.args_of(task)) {
      if (!arg.is_address() || result_.of_tensor[arg.tensor] == Tokens::none) continue;
      const std::uint32_t k = result_.of_tensor[arg.tensor];
      Token& token = result_.tokens[k];
      const bool here = !token.uses.empty() && !token.uses.back().users.empty() &&
                        token.uses.back().users.back() == position;  // the task takes it twice
      if (was_read_[k] != 0 && !here && !reads_memory(task, k)) token.uses.push_back({position + 1, position + 1});
      extend(token, static_cast<std::int64_t>(position) + 1);
      if (!here) token.uses.back().users.push_back(position);
      was_read_[k] = reads(arg.access) || (here && was_read_[k] != 0) ? 1 : 0;
    }
  }

  /// Whether the task reads the memory by any of its arguments; an output that reuses an input may precede it.
  [[nodiscard]] constexpr bool reads_memory(const graph::TaskRecord& task, std::uint32_t token) const {
    for (const graph::ArgRecord& arg : graph_.args_of(task)) {
      if (arg.is_address() && result_.of_tensor[arg.tensor] == token && reads(arg.access)) {
        return true;
      }
    }
    return false;
  }

  static constexpr void extend(Token& token, std::int64_t time) {
    if (token.uses.empty()) token.uses.push_back({time, time});
    token.uses.back().last = time;
  }

  [[nodiscard]] constexpr Use whole(const std::vector<Use>& uses) const {
    Use all{0, end_};
    for (const Use& use : uses) {
      for (const std::uint32_t user : use.users) all.users.push_back(user);
    }
    return all;
  }

  graph::GraphView graph_;
  std::int64_t end_;
  std::vector<char> was_read_;  ///< by token: has the value been read since it was written? char: see analysis.hpp
  std::vector<char> kept_{};    ///< by token
  Tokens result_{};
};

/// Whether the two uses are apart on every schedule; `ancestors` is null for a sequential one.
[[nodiscard]] constexpr bool are_apart(const Use& a, const Use& b, const Ancestors* ancestors) {
  if (a.first <= b.last && b.first <= a.last) return false;
  if (ancestors == nullptr) return true;
  return a.last < b.first ? ancestors->all_precede(a.users, b.users) : ancestors->all_precede(b.users, a.users);
}

[[nodiscard]] constexpr bool are_apart(const Token& a, const Token& b, const Ancestors* ancestors) {
  for (const Use& x : a.uses) {
    for (const Use& y : b.uses) {
      if (!are_apart(x, y, ancestors)) return false;
    }
  }
  return true;
}

/// Lets the Out of a kernel that works in place take over the memory of its In, where that In is used for the last time
/// and both have the same size.
class InPlaceMerger {
 public:
  constexpr InPlaceMerger(Tokens& tokens, const Ancestors* ancestors) : tokens_{tokens}, ancestors_{ancestors} {}

  [[gnu::cold]] constexpr void run(const graph::GraphView& graph) {
    for (std::uint32_t p = 0; p < graph.tasks.size(); ++p) {
      const auto args = graph.args_of(graph.tasks[p]);
      for (const graph::ArgRecord& arg : args) {
        if (!arg.is_address() || arg.in_place_of == graph::ArgRecord::not_in_place) continue;
        if (graph.tensors[args[arg.in_place_of].tensor].zeroed != Zeroed::never) continue;  // it lies among its like
        merge(p, tokens_.of_tensor[args[arg.in_place_of].tensor], tokens_.of_tensor[arg.tensor]);
      }
    }
  }

 private:
  [[gnu::cold]] constexpr void merge(std::uint32_t position, std::uint32_t in, std::uint32_t out) {
    if (in == Tokens::none || out == Tokens::none || in == out) return;
    const std::int64_t time = static_cast<std::int64_t>(position) + 1;
    Token& from = tokens_.tokens[in];
    Token& to = tokens_.tokens[out];
    if (from.bytes != to.bytes) return;
    std::size_t ending = from.uses.size();
    std::size_t starting = to.uses.size();
    for (std::size_t i = 0; i < from.uses.size(); ++i) ending = from.uses[i].last == time ? i : ending;
    for (std::size_t i = 0; i < to.uses.size(); ++i) starting = to.uses[i].first == time ? i : starting;
    if (ending == from.uses.size() || starting == to.uses.size()) return;
    // The task's own use of both is the one place where they may meet.
    for (std::size_t i = 0; i < from.uses.size(); ++i) {
      for (std::size_t j = 0; j < to.uses.size(); ++j) {
        const bool meet = i == ending && j == starting;
        if (meet ? !others_precede(from.uses[i], position) : !are_apart(from.uses[i], to.uses[j], ancestors_)) return;
      }
    }
    Use& joined = from.uses[ending];
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
    for (std::uint32_t& token : tokens_.of_tensor) token = token == out ? in : token;
  }

  [[nodiscard]] constexpr bool others_precede(const Use& use, std::uint32_t position) const {
    if (ancestors_ == nullptr) return true;
    for (const std::uint32_t user : use.users) {
      if (user != position && !ancestors_->precedes(user, position)) return false;
    }
    return true;
  }

  Tokens& tokens_;
  const Ancestors* ancestors_;
};

}  // namespace detail

}  // namespace rondo::memory
