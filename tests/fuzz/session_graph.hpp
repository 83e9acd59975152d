// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fuzz/fuzz.hpp>
#include <rondo/rondo.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string_view>
#include <vector>

/// The graphs of sessions_fuzz, and what their tasks compute in plain arithmetic. Elements are unsigned, so that sums
/// and products wrap and are the same in any order.
namespace rondo::fuzz {

using Word = std::uint32_t;
inline constexpr std::size_t n = 5;
using Words = std::array<Word, n>;
inline constexpr Word refused_by_take = 1000;  ///< more than any number that a program gives to an input

/// to = factor (a + b), and fails if `a` begins with the number that it refuses.
struct Take {
  static constexpr std::string_view name = "take";
  static constexpr auto core = CoreType::vector;
  static void run(In<Word> a, In<Word> b, Out<Word> to, Word factor) {
    if (a.size() != 0 && a[0] == refused_by_take) throw std::runtime_error("a refused element");
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = factor * (a[i] + b[i]);
  }
};
/// to = factor (a + b), on a cube core
struct Combine {
  static constexpr std::string_view name = "combine";
  static constexpr auto core = CoreType::cube;
  static void run(In<Word> a, In<Word> b, Out<Word> to, Word factor) noexcept {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = factor * (a[i] + b[i]);
  }
};
/// to += a
struct Add {
  static constexpr std::string_view name = "add";
  static constexpr auto core = CoreType::vector;
  static void run(In<Word> a, InOut<Word> to) noexcept {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += a[i];
  }
};
/// to = a + 3 shift
struct Shift {
  static constexpr std::string_view name = "shift";
  static constexpr auto core = CoreType::vector;
  static void run(In<Word> a, In<Word> shift, Out<Word> to) noexcept {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = a[i] + 3 * shift[0];
  }
};

/// A graph of one to six tasks, which the bytes choose: chains, forks and joins of inputs, workspaces, residents, an
/// inout, a host input and scalars. All graphs have the same tensors; not each graph uses each.
struct SessionGraph {
  /// The tensors that tasks read and write by number.
  enum Number : std::size_t { number_x, number_w, number_s, number_r, number_q, number_y, number_t, number_u, numbers };
  enum class Kind : std::uint8_t { take, combine, add, shift };
  struct Task {
    Kind kind;
    std::size_t a, b, to;
    TaskId id;
    [[nodiscard]] bool has_scalar() const { return kind == Kind::take || kind == Kind::combine; }
  };
  /// What all tensors hold, by number, and what a round takes besides: the host input, and the scalars by task.
  struct State {
    std::array<Words, numbers> at{};
    Word shift = 0;
    std::array<Word, 6> factors{1, 1, 1, 1, 1, 1};
  };

  explicit SessionGraph(Bytes& bytes) {
    const std::size_t count = 1 + bytes.take() % 6;
    const auto choices = bytes.take();
    if (choices % 2 != 0) graph.keep(x);
    if (choices / 2 % 2 != 0) graph.keep(w);
    is_zeroed = choices / 4 % 2 != 0;
    if (is_zeroed) graph.zero(t);
    std::array<bool, numbers> is_defined{true, true, true, true, true, false, is_zeroed, false};
    const auto choose = [&](std::size_t first) {
      std::size_t number = bytes.take() % numbers;
      while (number < first || !is_defined[number]) number = (number + 1) % numbers;
      uses_resident[0] = uses_resident[0] || number == number_r;
      uses_resident[1] = uses_resident[1] || number == number_q;
      return number;
    };
    for (std::size_t i = 0; i < count; ++i) {
      Task task{i == 0 ? Kind::take : static_cast<Kind>(1 + bytes.take() % 3), number_x, number_w, number_y, {}};
      const bool must_write_y = i + 1 == count && !is_defined[number_y];
      if (must_write_y && task.kind == Kind::add) task.kind = Kind::combine;
      if (i != 0) task.a = choose(number_x);
      if (i != 0 && task.kind == Kind::combine) task.b = choose(number_x);
      if (task.kind == Kind::add) {
        task.to = choose(number_s);
      } else if (!must_write_y) {
        task.to = number_y + bytes.take() % 3;
      }
      // A task that reads a tensor and writes it updates it.
      if (task.kind == Kind::add && task.a == task.to) task.a = number_x;
      if (task.kind != Kind::add && task.a == task.to) task.a = number_x;
      if (task.kind == Kind::combine && task.b == task.to) task.b = number_w;
      add(task);
      is_defined[task.to] = true;
      tasks.push_back(task);
    }
  }
  SessionGraph(const SessionGraph&) = delete;
  SessionGraph& operator=(const SessionGraph&) = delete;

  /// One round in plain arithmetic.
  void run(State& state) const {
    if (is_zeroed) state.at[number_t] = {};
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      const Task& task = tasks[i];
      const Words &a = state.at[task.a], &b = state.at[task.b];
      Words& to = state.at[task.to];
      for (std::size_t e = 0; e < n; ++e) {
        switch (task.kind) {
          case Kind::take:
          case Kind::combine: to[e] = state.factors[i] * (a[e] + b[e]); break;
          case Kind::add: to[e] += a[e]; break;
          case Kind::shift: to[e] = a[e] + 3 * state.shift; break;
        }
      }
    }
  }

  TaskGraph graph;
  Input<Word> x = graph.input<Word>("x", {n});
  Input<Word> w = graph.input<Word>("w", {n});
  InputOutput<Word> s = graph.inout<Word>("s", {n});
  Resident<Word> r = graph.resident<Word>("r", {n});
  Resident<Word> q = graph.resident<Word>("q", {n});
  Output<Word> y = graph.output<Word>("y", {n});
  Workspace<Word> t = graph.workspace<Word>("t", {n});
  Workspace<Word> u = graph.workspace<Word>("u", {n});
  HostInput<Word> shift = graph.host_input<Word>("shift", {1});
  std::vector<Task> tasks;
  std::array<bool, 2> uses_resident{};  ///< whether any task reads r, q
  bool is_zeroed = false;               ///< whether t is zero when the tasks of a round begin

 private:
  void add(Task& task) {
    // Tasks read and write by number, so each tensor is passed as if it were a workspace.
    const std::array<TensorKey, numbers> keys{x.key, w.key, s.key, r.key, q.key, y.key, t.key, u.key};
    const Workspace<Word> a{keys[task.a]}, b{keys[task.b]}, to{keys[task.to]};
    switch (task.kind) {
      case Kind::take: task.id = graph.add<Take>(a, b, to, Word{1}); break;
      case Kind::combine: task.id = graph.add<Combine>(a, b, to, Word{1}); break;
      case Kind::add: task.id = graph.add<Add>(a, to); break;
      case Kind::shift: task.id = graph.add<Shift>(a, shift, to); break;
    }
  }
};

/// The memory of one round on the host, and what the round must leave there.
struct HostMemory {
  Words x{}, w{}, s{}, y{};
  Word shift = 0;
  friend bool operator==(const HostMemory&, const HostMemory&) = default;
};
/// Calls `use` with the pairs of a round, in the order of the graph or in another.
template <class Use>
auto with_pairs(const SessionGraph& g, HostMemory& m, const Use& use) {
  return use(bind(g.x, m.x), bind(g.w, m.w), bind(g.s, m.s), bind(g.y, m.y), bind(g.shift, m.shift));
}
template <class Use>
auto with_pairs_reversed(const SessionGraph& g, HostMemory& m, const Use& use) {
  return use(bind(g.shift, m.shift), bind(g.y, m.y), bind(g.s, m.s), bind(g.w, m.w), bind(g.x, m.x));
}

}  // namespace rondo::fuzz
