// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fuzz/fuzz.hpp>
#include <rondo/launch/round_values.hpp>
#include <rondo/rondo.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
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

/// to = a + 3 shift + 5 offset
struct Offset {
  static constexpr std::string_view name = "offset";
  static constexpr auto core = CoreType::vector;
  static void run(In<Word> a, In<Word> shift, launch::HostScalar<Word> offset, Out<Word> to) noexcept {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = a[i] + 3 * shift[0] + 5 * offset.value;
  }
};
/// A number below 4 that a round's values determine.
[[nodiscard]] constexpr Word few(Word a, Word shift) noexcept { return (a + shift) % 4; }
struct Few {
  static constexpr std::string_view name = "few";
  static constexpr auto core = CoreType::vector;
  static void run(In<Word> a, In<Word> shift, Out<Word> to) noexcept { to[0] = few(a[0], shift[0]); }
};
/// Counts `left` down, and is done, which is not in the lowest byte, if it was 0.
struct CountDown {
  static constexpr std::string_view name = "count_down";
  static constexpr auto core = CoreType::vector;
  static void run(InOut<Word> left, Out<Word> done) noexcept { done[0] = left[0]-- == 0 ? 256 : 0; }
};

/// A graph of one to six tasks, which the bytes choose: chains, forks and joins of inputs, workspaces, residents, an
/// inout, a host input and scalars. Some of the tasks may be repeated, or run only if a condition holds, or both. All
/// graphs have the same tensors; not each graph uses each.
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
  /// The tasks from `first` to `end`, which follow one another: whether they are repeated, at most `most` times, and
  /// whether they depend on a condition. Element 0 of the tensors by these numbers determines how often they run.
  struct Loop {
    bool repeats = false, is_conditional = false;
    std::size_t first = 0, end = 0;
    Word most = 1;
    std::size_t repeats_by = number_x, depends_on = number_x;
    /// Whether each round comes to a decision; none is needed after the last repetition.
    [[nodiscard]] bool decides() const { return is_conditional || (repeats && most > 1); }
  };
  /// What all tensors hold, by number, and what a round takes besides: the host input, the scalar that the host sets,
  /// and the scalars by task.
  struct State {
    std::array<Words, numbers> at{};
    Word shift = 0, offset = 0;
    std::array<Word, 6> factors{1, 1, 1, 1, 1, 1};
  };

  /// `has_offset`: whether tasks that shift use a scalar that the host sets.
  explicit SessionGraph(Bytes& bytes, bool has_offset = false) {
    const std::size_t count = 1 + bytes.take() % 6;
    const auto choices = bytes.take();
    if (choices % 2 != 0) graph.keep(x);
    if (choices / 2 % 2 != 0) graph.keep(w);
    is_zeroed = choices / 4 % 2 != 0;
    if (is_zeroed) graph.zero(t);
    is_defined_[number_t] = is_zeroed;
    if (has_offset) offset = launch::scalar(graph, "offset", Word{0});
    if (choices / 8 % 4 != 0) choose_loop(bytes, count, choices / 8);
    add_tasks(bytes, loop.first, count);
    if (loop.first != loop.end) add_loop(bytes, count);
    add_tasks(bytes, count, count);
  }
  SessionGraph(const SessionGraph&) = delete;
  SessionGraph& operator=(const SessionGraph&) = delete;

  /// One round in plain arithmetic.
  void run(State& state) const {
    if (is_zeroed) state.at[number_t] = {};
    run(state, 0, loop.first);
    const Word more = loop.repeats ? few(state.at[loop.repeats_by][0], state.shift) : 0;
    for (Word number = std::min(1 + more, loop.most); number != 0; --number) {
      const bool holds = !loop.is_conditional || few(state.at[loop.depends_on][0], state.shift) != 0;
      if (holds) run(state, loop.first, loop.end);
    }
    run(state, loop.end, tasks.size());
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
  Workspace<Word> left = graph.workspace<Word>("left", {1});
  Workspace<Word> done = graph.workspace<Word>("done", {1});
  Workspace<Word> flag = graph.workspace<Word>("flag", {1});
  std::optional<launch::Value<launch::HostScalar<Word>>> offset;
  Loop loop;
  std::vector<Task> tasks;
  std::array<bool, 2> uses_resident{};  ///< whether any task reads r, q
  bool is_zeroed = false;               ///< whether t is zero when the tasks of a round begin

 private:
  /// Runs the tasks from `first` to `end`.
  void run(State& state, std::size_t first, std::size_t end) const {
    for (std::size_t i = first; i < end; ++i) {
      const Task& task = tasks[i];
      const Words &a = state.at[task.a], &b = state.at[task.b];
      Words& to = state.at[task.to];
      for (std::size_t e = 0; e < n; ++e) {
        switch (task.kind) {
          case Kind::take:
          case Kind::combine: to[e] = state.factors[i] * (a[e] + b[e]); break;
          case Kind::add: to[e] += a[e]; break;
          case Kind::shift: to[e] = a[e] + 3 * state.shift + (offset ? 5 * state.offset : 0); break;
        }
      }
    }
  }

  /// Chooses the tasks of a loop: not the last one, and not the first one if it depends on a condition.
  void choose_loop(Bytes& bytes, std::size_t count, unsigned kind) {
    const auto choices = bytes.take();
    loop.repeats = kind % 2 != 0;
    loop.is_conditional = kind / 2 % 2 != 0;
    loop.first = std::min<std::size_t>(choices % 4 + (loop.is_conditional ? 1 : 0), count - 1);
    loop.end = std::min<std::size_t>(loop.first + 1 + choices / 4 % 3, count - 1);
    if (loop.first == loop.end) loop = {};
    if (loop.repeats) loop.most = 1 + choices / 16 % 4;
  }
  void add_loop(Bytes& bytes, std::size_t count) {
    const auto add_body = [&] {
      if (!loop.is_conditional) return add_tasks(bytes, loop.end, count);
      loop.depends_on = choose(bytes, number_x);
      graph.add<Few>(by_number(loop.depends_on), shift, flag);
      const auto before = is_defined_;
      graph.when(flag, [&] { add_tasks(bytes, loop.end, count); });
      is_defined_ = before;
    };
    if (!loop.repeats) return add_body();
    loop.repeats_by = choose(bytes, number_x);
    graph.add<Few>(by_number(loop.repeats_by), shift, left);
    graph.repeat_until(done, loop.most, [&] {
      add_body();
      graph.add<CountDown>(left, done);
    });
  }
  /// Adds the tasks before number `end` that are not there yet, of `count` in all.
  void add_tasks(Bytes& bytes, std::size_t end, std::size_t count) {
    for (std::size_t i = tasks.size(); i < end; ++i) {
      Task task{i == 0 ? Kind::take : static_cast<Kind>(1 + bytes.take() % 3), number_x, number_w, number_y, {}};
      const bool must_write_y = i + 1 == count && !is_defined_[number_y];
      if (must_write_y && task.kind == Kind::add) task.kind = Kind::combine;
      if (i != 0) task.a = choose(bytes, number_x);
      if (i != 0 && task.kind == Kind::combine) task.b = choose(bytes, number_x);
      if (task.kind == Kind::add) {
        task.to = choose(bytes, number_s);
      } else if (!must_write_y) {
        task.to = number_y + bytes.take() % 3;
      }
      // A task that reads a tensor and writes it updates it.
      if (task.kind == Kind::add && task.a == task.to) task.a = number_x;
      if (task.kind != Kind::add && task.a == task.to) task.a = number_x;
      if (task.kind == Kind::combine && task.b == task.to) task.b = number_w;
      add(task);
      is_defined_[task.to] = true;
      tasks.push_back(task);
    }
  }
  /// Chooses a tensor that is defined, by number, from `first` on.
  std::size_t choose(Bytes& bytes, std::size_t first) {
    std::size_t number = bytes.take() % numbers;
    while (number < first || !is_defined_[number]) number = (number + 1) % numbers;
    uses_resident[0] = uses_resident[0] || number == number_r;
    uses_resident[1] = uses_resident[1] || number == number_q;
    return number;
  }
  /// Tasks read and write by number, so each tensor is passed as if it were a workspace.
  [[nodiscard]] Workspace<Word> by_number(std::size_t number) const {
    return {std::array{x.key, w.key, s.key, r.key, q.key, y.key, t.key, u.key}[number]};
  }
  void add(Task& task) {
    const Workspace<Word> a = by_number(task.a), b = by_number(task.b), to = by_number(task.to);
    switch (task.kind) {
      case Kind::take: task.id = graph.add<Take>(a, b, to, Word{1}); break;
      case Kind::combine: task.id = graph.add<Combine>(a, b, to, Word{1}); break;
      case Kind::add: task.id = graph.add<Add>(a, to); break;
      case Kind::shift:
        task.id = offset ? graph.add<Offset>(a, shift, *offset, to) : graph.add<Shift>(a, shift, to);
        break;
    }
  }

  std::array<bool, numbers> is_defined_{true, true, true, true, true};
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
/// The same with x and y in device memory.
template <class Use>
auto with_pairs_on_device(const SessionGraph& g, HostMemory& m, DeviceArray<Word>& x, DeviceArray<Word>& y,
                          const Use& use) {
  return use(bind(g.x, x), bind(g.w, m.w), bind(g.s, m.s), bind(g.y, y), bind(g.shift, m.shift));
}

}  // namespace rondo::fuzz
