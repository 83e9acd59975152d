// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/rondo.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

/// Random graphs, and the expected results of their rounds, computed by the same steps over plain memory.
namespace soak {

using Word = std::uint32_t;
using Words = std::vector<Word>;

/// Settings of the kernels: the number of tasks until one throws, or 0 for none; and the time that each task takes.
inline std::atomic<int> tasks_until_failure{0};
inline std::atomic<std::int64_t> task_ns{0};

inline void begin_task() {
  if (tasks_until_failure.load(std::memory_order_relaxed) > 0 &&
      tasks_until_failure.fetch_sub(1, std::memory_order_relaxed) == 1) {
    throw std::runtime_error("soak: this task fails on purpose");
  }
  const std::chrono::nanoseconds time{task_ns.load(std::memory_order_relaxed)};
  if (time.count() == 0) return;
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
  }
}

/// y[i] = k a[i] + (b[i] ^ i). Operands may be shorter than y, and repeat.
template <class A, class B, class Y>
void mix(const A& a, const B& b, Y& y, Word k) {
  for (std::size_t i = 0; i < y.size(); ++i) {
    y[i] = k * a[i % a.size()] + (b[i % b.size()] ^ static_cast<Word>(i));
  }
}
/// y[i] = 3 y[i] + a[i]: the result shows whether it ran twice, or on the contents of an earlier round.
template <class A, class Y>
void fold(const A& a, Y& y) {
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = 3 * y[i] + a[i % a.size()];
}

struct Mix {
  static constexpr std::string_view name = "mix";
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::In<Word> a, rondo::In<Word> b, rondo::Out<Word> y, Word k) {
    begin_task();
    mix(a, b, y, k);
  }
};
struct Fold {
  static constexpr std::string_view name = "fold";
  static constexpr auto core = rondo::CoreType::cube;
  static void run(rondo::In<Word> a, rondo::InOut<Word> y) {
    begin_task();
    fold(a, y);
  }
};

/// A graph whose tensors have `size` elements or, if `size` is 0, as many as its symbol says. Residents have 16.
class Program {
 public:
  static constexpr std::size_t resident_size = 16;

  struct Tensor {
    rondo::Direction direction;
    bool is_large;  ///< whether it has the size of the program, and not that of residents
  };

  Program(std::mt19937_64& random, std::size_t size) : random_{random} {
    shape_ = size == 0 ? rondo::Dim{graph.dim("n")} : rondo::Dim{size};
    const bool has_two_ports = below(4) == 0;
    for (std::size_t i = 0, count = has_two_ports ? 1 : 1 + below(3); i < count; ++i) {
      x = note(graph.input<Word>(name("x"), {shape_}));
      sources_.emplace_back(x);
    }
    std::vector<rondo::InputOutput<Word>> inouts;
    for (std::size_t i = 0, count = has_two_ports ? 0 : below(2); i < count; ++i) {
      inouts.push_back(note(graph.inout<Word>(name("u"), {shape_})));
      sources_.emplace_back(inouts.back());
    }
    for (std::size_t i = 0, count = below(3); i < count; ++i) {
      residents.push_back(note(graph.resident<Word>(name("r"), {resident_size}), false));
      sources_.emplace_back(residents.back());
    }
    for (std::size_t i = 0, count = 1 + below(12); i < count; ++i) {
      if (!residents.empty() && below(4) == 0) {
        add_fold(residents[below(residents.size())]);
      } else {
        const auto w = note(graph.workspace<Word>(name("w"), {shape_}));
        add_mix(w);
        sources_.emplace_back(w);
      }
    }
    for (const auto& u : inouts) add_fold(u);
    const std::size_t outputs = has_two_ports ? 1 : 1 + below(3);
    for (std::size_t i = 0; i < outputs; ++i) {
      y = note(graph.output<Word>(name("y"), {shape_}));
      add_mix(y);
    }
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  /// The number of elements of a tensor if the program's size is `n`.
  [[nodiscard]] std::size_t size_of(std::size_t tensor, std::size_t n) const {
    return tensors[tensor].is_large ? n : resident_size;
  }
  /// Computes a round over `memory`, by tensor.
  void run(std::vector<Words>& memory) const {
    for (const Step& step : steps_) {
      step.b == none ? fold(memory[step.a], memory[step.y])
                     : mix(memory[step.a], memory[step.b], memory[step.y], step.k);
    }
  }
  /// The number of a task that has a scalar, or the number of tasks if none has.
  [[nodiscard]] std::size_t any_mix() {
    const std::size_t start = below(steps_.size());
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      const std::size_t task = (start + i) % steps_.size();
      if (steps_[task].b != none) return task;
    }
    return steps_.size();
  }
  [[nodiscard]] std::size_t task_count() const noexcept { return steps_.size(); }
  void set_scalar(std::size_t task, Word k) { steps_[task].k = k; }
  /// The scalars of all tasks, 0 for a task without one.
  [[nodiscard]] Words scalars() const {
    Words all;
    for (const Step& step : steps_) all.push_back(step.k);
    return all;
  }
  void set_scalars(const Words& all) {
    for (std::size_t task = 0; task < all.size(); ++task) steps_[task].k = all[task];
  }
  /// Whether x and y are all that a round binds.
  [[nodiscard]] bool has_two_ports() const {
    std::size_t ports = 0;
    for (const Tensor& tensor : tensors) ports += rondo::is_bound_each_round(tensor.direction) ? 1 : 0;
    return ports == 2;
  }

  rondo::TaskGraph graph;
  std::vector<Tensor> tensors;  ///< in the order of the graph
  std::vector<rondo::Resident<Word>> residents;
  rondo::Input<Word> x{};   ///< the last input
  rondo::Output<Word> y{};  ///< the last output

 private:
  using Source =
      std::variant<rondo::Input<Word>, rondo::InputOutput<Word>, rondo::Resident<Word>, rondo::Workspace<Word>>;
  static constexpr std::size_t none = ~std::size_t{0};
  struct Step {
    std::size_t a, b, y;  ///< tensors
    Word k;
  };

  [[nodiscard]] std::size_t below(std::size_t limit) { return random_() % limit; }
  [[nodiscard]] std::string name(const char* stem) const { return stem + std::to_string(tensors.size()); }
  template <class H>
  H note(H handle, bool is_large = true) {
    tensors.push_back({H::direction, is_large});
    return handle;
  }
  template <class H>
  [[nodiscard]] static std::size_t tensor(const H& handle) {
    return index(handle.key.tensor());
  }
  [[nodiscard]] const Source& any_source() { return sources_[below(sources_.size())]; }
  template <class H>
  void add_mix(const H& to) {
    const auto k = static_cast<Word>(below(1000));
    std::visit(
        [&](const auto& a, const auto& b) {
          graph.add<Mix>(a, b, to, k);
          steps_.push_back({tensor(a), tensor(b), tensor(to), k});
        },
        any_source(), any_source());
  }
  template <class H>
  void add_fold(const H& to) {
    std::visit(
        [&](const auto& a) {
          if (tensor(a) == tensor(to)) return add_mix_of(to);
          graph.add<Fold>(a, to);
          steps_.push_back({tensor(a), none, tensor(to), 0});
        },
        any_source());
  }
  /// A workspace that takes the place of a tensor that would be folded into itself; its contents are not checked.
  template <class H>
  void add_mix_of(const H& to) {
    const auto w = note(graph.workspace<Word>(name("w"), {shape_}));
    graph.add<Mix>(to, to, w, Word{7});
    steps_.push_back({tensor(to), tensor(to), tensor(w), 7});
    graph.add<Fold>(w, to);
    steps_.push_back({tensor(w), none, tensor(to), 0});
  }

  std::mt19937_64& random_;
  rondo::Dim shape_{};
  std::vector<Source> sources_;
  std::vector<Step> steps_;
};

}  // namespace soak
