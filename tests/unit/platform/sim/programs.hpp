// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/arch/a5.hpp>
#include <rondo/arch/costs.hpp>
#include <rondo/args/args_table_impl.hpp>
#include <rondo/binding/ports.hpp>
#include <rondo/graph/freeze.hpp>
#include <rondo/memory/lay_out.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <vector>

/// A graph with its memory and its args table, ready for an engine to load, as a session would prepare it.
namespace rondo::test {

/// Writes the args table of a graph whose tensors are at `offsets` from `memory`.
[[nodiscard]] inline args::ArgsTable table_of(const FrozenGraph& graph, std::span<const std::uint64_t> offsets,
                                              void* memory) {
  const DevicePtr<std::byte> arena{reinterpret_cast<std::uintptr_t>(memory)};
  const args::Bases bases = detail::find_bases(graph.view(), offsets, {arena, arena});
  args::ArgsTable table{graph.view(), bases};
  for (std::uint32_t base = 0; base < bases.layout.count; ++base) table.rewrite(base, bases.addresses[base]);
  return table;
}

template <class Engine>
class Loaded {
 public:
  explicit Loaded(const TaskGraph& graph, typename Engine::Options options = {})
      : engine{options, arch::chip_of<arch::A5>},
        frozen{freeze(graph)},
        layout{frozen},
        memory(layout.arena_bytes().value / sizeof(std::uint64_t) + 1),
        table{table_of(frozen, layout.offsets(), memory.data())} {}

  /// The tensor's elements, in device memory.
  template <class T, Direction D>
  [[nodiscard]] T* at(TensorHandle<T, D> h) {
    return reinterpret_cast<T*>(reinterpret_cast<char*>(memory.data()) + layout.offsets()[index(h.key.tensor())]);
  }

  Engine engine;
  FrozenGraph frozen;
  memory::Layout<FrozenGraph, arch::A5> layout;
  std::vector<std::uint64_t> memory;
  args::ArgsTable table;
};

using Word = std::uint64_t;

[[nodiscard]] constexpr Word mix(Word a, Word b) noexcept {
  return (a ^ b) * 6364136223846793005U + 1442695040888963407U;
}

/// Kernels whose result changes each time they run, for either core and any number of blocks, so that a kernel that
/// runs twice, not at all, or in another order is noticed.
template <CoreType Core>
struct Bump {
  static constexpr std::string_view name = "bump";
  static constexpr auto core = Core;
  static void run(Block b, InOut<Word> y, Word salt) {
    for (std::size_t i = b.index; i < y.size(); i += b.count) y[i] = mix(y[i], salt);
  }
};
template <CoreType Core>
struct Fold {
  static constexpr std::string_view name = "fold";
  static constexpr auto core = Core;
  static void run(Block b, In<Word> x, InOut<Word> y) {
    for (std::size_t i = b.index; i < y.size(); i += b.count) y[i] = mix(y[i], x[x.size() - 1 - i]);
  }
};
template <CoreType Core>
struct Blend {
  static constexpr std::string_view name = "blend";
  static constexpr auto core = Core;
  static void run(In<Word> a, Block b, In<Word> x, Out<Word> y) {
    for (std::size_t i = b.index; i < y.size(); i += b.count) y[i] = mix(a[i], x[y.size() - 1 - i]);
  }
};

/// Makes tasks over `tensors` tensors of `elements` words, all inout, with random accesses, cores and numbers of
/// blocks.
struct RandomWork {
  TaskGraph graph;
  std::vector<InputOutput<Word>> tensors;

  RandomWork(std::mt19937& random, std::size_t tasks, std::size_t tensor_count, std::size_t elements) {
    for (std::size_t t = 0; t < tensor_count; ++t) {
      tensors.push_back(graph.inout<Word>("t" + std::to_string(t), {elements}));
    }
    for (std::size_t k = 0; k < tasks; ++k) {
      const Blocks blocks{static_cast<std::uint32_t>(1 + random() % 4)};
      if (random() % 2 == 0) {
        add_one<CoreType::cube>(random, blocks);
      } else {
        add_one<CoreType::vector>(random, blocks);
      }
    }
  }

 private:
  template <CoreType Core>
  void add_one(std::mt19937& random, Blocks blocks) {
    const std::size_t n = tensors.size();
    const std::size_t a = random() % n;
    const std::size_t b = (a + 1 + random() % (n - 1)) % n;
    const std::size_t c = random() % n;
    switch (random() % 3) {
      case 0: graph.add<Bump<Core>>(blocks, tensors[a], Word{random()}); break;
      case 1: graph.add<Fold<Core>>(blocks, tensors[a], tensors[b]); break;
      default: graph.add<Blend<Core>>(blocks, tensors[a], tensors[c == b ? a : c], tensors[b]); break;
    }
  }
};

/// Fills all tensors with numbers that follow from `seed`.
template <class Engine>
void fill(Loaded<Engine>& loaded, const RandomWork& work, std::uint64_t seed) {
  for (const auto& t : work.tensors) {
    const std::size_t n = loaded.frozen.view().tensors[index(t.key.tensor())].count;
    for (std::size_t i = 0; i < n; ++i) loaded.at(t)[i] = seed = mix(seed, i);
  }
}

}  // namespace rondo::test
