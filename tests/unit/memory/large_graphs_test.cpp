// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Memory plans of graphs with thousands of concurrent tasks: valid, small, and made of few pairs to keep apart.

#include <random.hpp>
#include <rondo/arch/a5.hpp>
#include <rondo/graph/deal.hpp>
#include <rondo/graph/freeze.hpp>
#include <rondo/graph/instantiate.hpp>
#include <rondo/memory/lay_out.hpp>
#include <unit/support.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

using namespace rondo;
using namespace rondo::test;
using memory::Concurrency;
using memory::Lifetimes;

namespace {

constexpr std::size_t most_tasks = 4096;  // of graphs that are checked

struct First {
  static constexpr std::string_view name = "first";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> x, Out<float> y) noexcept { y[0] = x[0]; }
};
struct Both {
  static constexpr std::string_view name = "both";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> a, In<float> b, Out<float> y) noexcept { y[0] = a[0] + b[0]; }
};

/// A graph that is built from workspaces whose sizes are 64 floats times a number from 1 to `sizes`.
struct Builder {
  using Tensor = Workspace<float>;

  explicit Builder(std::uint32_t sizes_) : sizes(sizes_) {}

  Tensor next(Tensor from) { return graph.add<First>(from, make()), last; }
  Tensor next(Tensor a, Tensor b) {
    if (a.key == b.key) return next(a);
    return graph.add<Both>(a, b, make()), last;
  }
  Tensor begin() { return graph.add<First>(x, make()), last; }
  void end(Tensor t) { graph.add<First>(t, graph.output<float>("y" + std::to_string(outputs++), {64})); }

  std::uint32_t sizes;
  decltype(make_random(1)) random = make_random(1);
  TaskGraph graph;
  Input<float> x = graph.input<float>("x", {64});

 private:
  Tensor make() {
    const std::int64_t extent = 64 * (1 + static_cast<std::int64_t>(random() % sizes));
    return last = graph.workspace<float>("t" + std::to_string(workspaces++), {extent});
  }

  Tensor last{};
  int workspaces = 0;
  int outputs = 0;
};

FrozenGraph chains(std::size_t count, std::size_t length, std::uint32_t sizes = 1) {
  Builder b(sizes);
  std::vector<Builder::Tensor> ends;
  for (std::size_t c = 0; c < count; ++c) ends.push_back(b.begin());
  for (std::size_t i = 1; i < length; ++i) {
    for (Builder::Tensor& end : ends) end = b.next(end);
  }
  for (const Builder::Tensor& end : ends) b.end(end);
  return freeze(std::move(b.graph));
}

FrozenGraph forks_and_joins(std::size_t count, std::size_t width) {
  Builder b(8);
  auto last = b.begin();
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<Builder::Tensor> branches;
    for (std::size_t c = 0; c < width; ++c) branches.push_back(b.next(last));
    last = branches[0];
    for (std::size_t c = 1; c < width; ++c) last = b.next(last, branches[c]);
  }
  b.end(last);
  return freeze(std::move(b.graph));
}

/// Each task reads two of the `reach` latest workspaces.
FrozenGraph random_graph(std::size_t tasks, std::uint32_t reach, std::uint32_t sizes) {
  Builder b(sizes);
  std::vector<Builder::Tensor> made{b.begin()};
  const auto pick = [&] { return made[made.size() - 1 - b.random() % std::min<std::size_t>(reach, made.size())]; };
  while (made.size() < tasks) {
    const auto one = pick();
    made.push_back(b.next(one, pick()));
  }
  b.end(made.back());
  return freeze(std::move(b.graph));
}

/// Layers of `width` tasks that each read two of the layer before.
FrozenGraph layers(std::size_t count, std::size_t width) {
  Builder b(5);
  std::vector<Builder::Tensor> last;
  for (std::size_t c = 0; c < width; ++c) last.push_back(b.begin());
  for (std::size_t i = 1; i < count; ++i) {
    std::vector<Builder::Tensor> layer;
    for (std::size_t c = 0; c < width; ++c) layer.push_back(b.next(last[c], last[(c + 1) % width]));
    last = std::move(layer);
  }
  for (const Builder::Tensor& end : last) b.end(end);
  return freeze(std::move(b.graph));
}

struct Made {
  std::vector<std::uint64_t> offsets;
  std::uint64_t arena = 0;
};

template <Concurrency C = Concurrency::parallel>
Made plan(const graph::GraphView& graph) {
  Made made;
  made.offsets.resize(graph.tensors.size());
  made.arena = memory::lay_out<arch::A5, memory::Greedy, C>(graph, made.offsets);
  return made;
}

std::uint64_t sum_of_sizes(const graph::GraphView& graph) {
  std::uint64_t sum = 0;
  for (const graph::TensorRecord& tensor : graph.tensors) sum += tensor.bytes;
  return sum;
}

/// The number of pairs of tensors that share bytes although their users may run at the same time, found from the edges
/// alone.
std::size_t wrong_pairs(const graph::GraphView& graph, const Made& made) {
  REQUIRE(graph.tasks.size() <= most_tasks);
  std::vector<std::bitset<most_tasks>> before(graph.tasks.size());
  std::vector<std::vector<std::uint32_t>> users(graph.tensors.size());
  for (std::uint32_t t = 0; t < graph.tasks.size(); ++t) {
    for (const std::uint32_t s : graph.successors_of(t)) before[s] |= before[t], before[s].set(t);
    for (const graph::ArgRecord& arg : graph.args_of(graph.tasks[t])) {
      if (arg.is_address()) users[arg.tensor].push_back(t);
    }
  }
  const auto all_before = [&](std::size_t p, std::size_t q) {
    if (copies_out(graph.tensors[p].direction) || copies_in(graph.tensors[q].direction)) return false;
    for (const std::uint32_t a : users[p]) {
      for (const std::uint32_t b : users[q]) {
        if (!before[b][a]) return false;
      }
    }
    return true;
  };
  // Sorted by offset, so that only neighbours are compared.
  std::vector<std::size_t> order;
  for (std::size_t t = 0; t < users.size(); ++t) order.push_back(t);
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return made.offsets[a] < made.offsets[b]; });
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::uint64_t end = made.offsets[order[i]] + graph.tensors[order[i]].bytes;
    for (std::size_t k = i + 1; k < order.size() && made.offsets[order[k]] < end; ++k) {
      wrong += all_before(order[i], order[k]) || all_before(order[k], order[i]) ? 0 : 1;
    }
  }
  return wrong;
}

}  // namespace

TEST_CASE("Chains of thousands of tasks need no more memory than short ones, and few pairs are kept apart") {
  const std::uint64_t shortest = plan(chains(2, 10).view()).arena;
  for (const std::size_t length : {std::size_t{1200}, std::size_t{10'000}}) {
    CAPTURE(length);
    const FrozenGraph graph = chains(2, length);
    CHECK(plan(graph.view()).arena == shortest);
    const Lifetimes lives = memory::find_lifetimes<arch::A5>(graph.view(), Concurrency::parallel);
    CHECK(lives.problem.conflicts.size() < 100);
  }
  const FrozenGraph graph = chains(2, 1200);
  CHECK(wrong_pairs(graph.view(), plan(graph.view())) == 0);
}

TEST_CASE("Large graphs of many kinds are planned without a wrong pair, and in a part of the memory of all tensors") {
  const auto check = [](const FrozenGraph& graph, double part) {
    const Made made = plan(graph.view());
    CHECK(wrong_pairs(graph.view(), made) == 0);
    CHECK(static_cast<double>(made.arena) < part * static_cast<double>(sum_of_sizes(graph.view())));
    const Lifetimes lives = memory::find_lifetimes<arch::A5>(graph.view(), Concurrency::parallel);
    CHECK(lives.problem.conflicts.size() <= memory::detail::many_conflicts);
  };
  SUBCASE("chains of different sizes") { check(chains(30, 100, 16), 0.06); }
  SUBCASE("forks and joins") { check(forks_and_joins(100, 16), 0.02); }
  SUBCASE("random, so dense that memories are merged and then lie side by side") {
    check(random_graph(2600, 20, 16), 0.5);
  }
  SUBCASE("layers") { check(layers(60, 40), 0.1); }
}

TEST_CASE("A task continues the lane of any task that comes before it, so lanes are few and graphs of any length fit") {
  const FrozenGraph graph = forks_and_joins(700, 16);
  CHECK(memory::detail::find_chains(graph.view()).count <= 16);
  CHECK(plan(graph.view()).arena < sum_of_sizes(graph.view()) / 100);
}

TEST_CASE("Graphs that are too long and too wide to know the order of their tasks are planned side by side, at once") {
  const FrozenGraph graph = layers(2, 4000);
  CHECK(memory::detail::find_chains(graph.view()).count == 0);
  const Lifetimes lives = memory::find_lifetimes<arch::A5>(graph.view(), Concurrency::parallel);
  CHECK(lives.problem.conflicts.empty());
  CHECK(plan(graph.view()).arena >= sum_of_sizes(graph.view()));
}

TEST_CASE("Many concurrent tasks in lanes are planned alike") {
  FrozenGraph graph = chains(2, 1500, 4);
  const std::vector<double> ns(graph.view().tasks.size(), 1e5);
  graph::LaneRules rules{arch::chip_of<arch::A5>, 2};
  rules.task_ns = ns;
  const FrozenGraph dealt = deal(std::move(graph), rules);
  REQUIRE(dealt.view().lanes != nullptr);
  const Made made = plan<Concurrency::in_lanes>(dealt.view());
  CHECK(made.arena < sum_of_sizes(dealt.view()) / 100);
  CHECK(wrong_pairs(dealt.view(), made) == 0);
}

TEST_CASE("Empty outputs, which no task writes, do not hide that a task without successors is unordered") {
  TaskGraph graph;
  const auto n = graph.dim("n");
  const auto empty = graph.input<float>("empty", {n});
  graph.add<First>(empty, graph.output<float>("nothing", {n}));
  const auto x = graph.input<float>("x", {128});
  std::vector<Workspace<float>> made;
  for (int i = 0; i < 2200; ++i) {
    made.push_back(graph.workspace<float>("t" + std::to_string(i), {128}));
    if (i < 2) graph.add<First>(x, made.back());
    if (i >= 2) graph.add<First>(made[made.size() - 3], made.back());
  }
  graph.add<First>(made[2198], graph.output<float>("y", {128}));
  graph.add<First>(made[2199], graph.output<float>("z", {128}));
  const auto scratch = graph.workspace<float>("scratch", {64});
  graph.add<First>(x, scratch);
  const std::int64_t values[] = {0};
  const FrozenGraph frozen = freeze(graph::instantiate(graph, values));
  CHECK(wrong_pairs(frozen.view(), plan(frozen.view())) == 0);
}

TEST_CASE("Zeroed workspaces, and ports with memory of their own, are not merged with others") {
  for (const bool ports_apart : {false, true}) {
    CAPTURE(ports_apart);
    Builder b(1);
    auto one = b.begin();
    auto two = b.begin();
    std::vector<Workspace<float>> zeroed;
    for (int i = 0; i < 1000; ++i) {
      one = b.next(one);
      two = b.next(two);
      if (i % 100 != 0) continue;
      zeroed.push_back(b.graph.workspace<float>("z" + std::to_string(i), {64}));
      b.graph.zero(zeroed.back());
      b.graph.add<Both>(one, zeroed.back(), two = b.graph.workspace<float>("after" + std::to_string(i), {64}));
    }
    b.end(one);
    b.end(two);
    const FrozenGraph graph = freeze(std::move(b.graph));
    const graph::GraphView view = graph.view();
    const Lifetimes lives = memory::find_lifetimes(view, arch::limits_of<arch::A5>, Concurrency::parallel, ports_apart);
    std::vector<int> tensors_of(lives.problem.size());
    for (const std::uint32_t buffer : lives.buffer_of) ++tensors_of[buffer];
    CHECK(*std::max_element(tensors_of.begin(), tensors_of.end()) > 100);
    for (std::size_t t = 0; t < view.tensors.size(); ++t) {
      const bool is_alone =
          view.tensors[t].zeroed != Zeroed::never || (ports_apart && view.tensors[t].has_memory_per_slot());
      if (is_alone) CHECK(tensors_of[lives.buffer_of[t]] == 1);
    }
  }
}
