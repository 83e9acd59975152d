// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/graph/freeze.hpp>
#include <rondo/platform/select.hpp>
#include <rondo/update/refresher_impl.hpp>

#include <by_cost_on_device.hpp>
#include <count_traffic.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <random.hpp>
#include <random>
#include <string>
#include <unit/support.hpp>
#include <vector>

// A model checker: random sequences of what may happen between rounds, and after each round every slot of the table
// that kernels read is compared with one that is built from nothing but the graph and the present addresses. Every
// mechanism, alone and mixed, on both chips.

using namespace rondo;
using namespace rondo::test;
using update::Mechanism;

namespace {

using Traffic = test::CountTraffic;
using A2A3 = A2A3SimOn<Inline, Traffic>;
using A5 = A5SimOn<Inline, Traffic>;

/// Each round another mechanism, at random.
struct Mixed {
  static constexpr bool allows(Mechanism m) { return m != Mechanism::in_place; }
  mutable std::mt19937 random = rondo::test::make_random(5);
  Mechanism choose(const update::RefreshFacts& facts) const noexcept {
    const auto m = static_cast<Mechanism>(2 + random() % 3);
    return m == Mechanism::in_launch && !facts.in_launch ? Mechanism::segment_copy : m;
  }
};

/// Copies are cheap and bytes are dear, so that each segment is a copy of its own, as far as there are pieces.
struct CheapCopies : update::Always<Mechanism::segment_copy> {
  static constexpr update::RefreshCosts costs{.copy = 1, .copied_byte = 1};
};

template <class Platform, class Choice>
struct On {
  using P = Platform;
  using C = Choice;
};

/// Strategies that the compiler does not evaluate, so that they are asked before each launch.
struct AskedAuto {
  static constexpr UpdateLevel highest = UpdateLevel::init;
  UpdateLevel decide(Changes changes) noexcept { return changes.level(); }
};
struct NowAndThenAll {
  static constexpr UpdateLevel highest = UpdateLevel::init;
  unsigned round = 0;
  constexpr UpdateLevel decide(Changes changes) noexcept {
    ++round;
    const UpdateLevel more = round % 5 == 0 ? highest : round % 3 == 0 ? UpdateLevel::model_io : UpdateLevel::none;
    return more > changes.level() ? more : changes.level();
  }
};

/// A random graph, with each tensor's base told apart from the graph.
struct RefreshModel {
  explicit RefreshModel(std::mt19937& random) {
    const std::size_t tensors = 2 + random() % 12;
    for (std::size_t t = 0; t < tensors; ++t) {
      const std::string name = "t" + std::to_string(t);
      switch (random() % 5) {
        case 0: handles.push_back(graph.inout<float>(name, {4}).key); break;
        case 1: handles.push_back(graph.input<float>(name, {8}).key); break;
        case 2: handles.push_back(graph.resident<float>(name, {2}).key); break;
        case 3: handles.push_back(graph.resident<float>(name, {8}).key); break;
        default: handles.push_back(graph.host_input<float>(name, {1 + random() % 20}).key); break;
      }
    }
    const std::size_t tasks = random() % 20;
    for (std::size_t k = 0; k < tasks; ++k) add_task(random);
    if (tasks != 0 && random() % 3 == 0) graph.fix_addresses(TaskId{static_cast<std::uint32_t>(random() % tasks)});
    std::uint32_t next_map = 2;
    segments = 1 + random() % 2;
    bases.first_io = static_cast<std::uint32_t>(2 + segments);
    std::uint32_t next_io = bases.first_io;
    for (const graph::TensorRecord& tensor : graph.tensors()) {
      if (tensor.fixed) {
        sources.push_back({0, 0x7000'0000 + 64 * sources.size()});
      } else if (is_bound_each_round(tensor.direction)) {
        sources.push_back({next_io++, 0});
      } else {
        sources.push_back({2 + next_map++ % static_cast<std::uint32_t>(segments), 64 * sources.size()});
      }
    }
    bases.count = next_io;
    addresses.resize(bases.count);
    for (std::uint64_t& a : addresses) a = fresh(random);
  }

  static std::uint64_t fresh(std::mt19937& random) { return 0x1'0000'0000 + 64 * std::uint64_t{random() % 100'000}; }

  void add_task(std::mt19937& random) {
    const Blocks blocks{1 + static_cast<std::uint32_t>(random() % 3)};
    const auto pick = [&] { return Input<float>{handles[random() % handles.size()]}; };
    switch (random() % 4) {
      case 0:
        graph.add_raw("one", CoreType::vector, blocks, no_kernel, reads(pick()), static_cast<std::int64_t>(random()));
        break;
      case 1: graph.add_raw("two", CoreType::vector, blocks, no_kernel, reads(pick()), reads(pick())); break;
      case 2:
        graph.add_raw("three", CoreType::cube, blocks, no_kernel, 1.5F, reads(pick()), reads(pick()), reads(pick()));
        break;
      default: graph.add_raw("none", CoreType::vector, blocks, no_kernel, static_cast<std::int64_t>(random())); break;
    }
  }

  TaskGraph graph{Edges::explicit_};
  std::vector<TensorKey> handles;
  std::size_t segments = 1;
  args::BaseLayout bases;
  std::vector<args::Source> sources;
  std::vector<std::uint64_t> addresses;  // by base
};

/// What kernels must see, from first principles.
template <class Table>
void check_table(const Table& table, const graph::GraphView& graph, const RefreshModel& model,
                 const std::vector<std::vector<std::byte>>& host_inputs, const std::vector<graph::ArgRecord>& args) {
  const std::uint64_t at = table.seen().address();
  for (std::size_t t = 0; t < graph.tasks.size(); ++t) {
    const graph::TaskRecord& task = graph.tasks[t];
    for (std::uint32_t b = 0; b < task.blocks; ++b) {
      for (std::uint32_t a = 0; a < task.arg_count; ++a) {
        const graph::ArgRecord& arg = args[task.first_arg + a];
        auto expected = static_cast<std::uint64_t>(arg.bits);
        if (arg.kind == graph::ArgRecord::Kind::address) {
          const graph::TensorRecord& tensor = graph.tensors[arg.tensor];
          const args::Source& source = model.sources[arg.tensor];
          expected = is_carried_in_args(tensor.direction) ? at + table.host_input_begin(arg.tensor)
                     : source.base == 0                   ? source.offset
                                                          : model.addresses[source.base] + source.offset;
        }
        REQUIRE(static_cast<std::uint64_t>(table.block(t, b)[a]) == expected);
      }
    }
  }
  for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
    if (!is_carried_in_args(graph.tensors[t].direction)) continue;
    const auto* device = reinterpret_cast<const std::byte*>(at + table.host_input_begin(t));
    REQUIRE(std::vector<std::byte>(device, device + host_inputs[t].size()) == host_inputs[t]);
  }
}

template <class P, class C, class S = update::Auto>
void check_random_sequences(unsigned seed) {
  auto random = rondo::test::make_random(seed);
  for (int session = 0; session < 60; ++session) {
    RefreshModel model(random);
    const FrozenGraph frozen = freeze(model.graph);
    const graph::GraphView graph = frozen.view();
    std::vector<graph::ArgRecord> args(graph.args.begin(), graph.args.end());  // ours: scalars change here too
    P platform{{}};
    update::Refresher<P, S, C> refresher{platform, graph, {model.bases, model.sources, model.addresses}};
    std::vector<std::vector<std::byte>> host_inputs(graph.tensors.size());
    for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
      if (is_carried_in_args(graph.tensors[t].direction)) host_inputs[t].resize(graph.tensors[t].bytes);
    }
    check_table(refresher.table(), graph, model, host_inputs, args);

    for (int round = 0; round < 30; ++round) {
      for (int changes = static_cast<int>(random() % 4); changes > 0; --changes) {
        const std::uint32_t io = model.bases.count - model.bases.first_io;
        switch (random() % 4) {
          case 0:  // rebind
            if (io != 0) {
              const auto id = static_cast<std::uint32_t>(model.bases.first_io + random() % io);
              refresher.set_base(id, model.addresses[id] = RefreshModel::fresh(random));
            }
            break;
          case 1: {  // move a segment of the feature map
            const auto id = static_cast<std::uint32_t>(2 + random() % model.segments);
            refresher.set_base(id, model.addresses[id] = RefreshModel::fresh(random));
            break;
          }
          case 2: {  // change a scalar
            if (graph.tasks.empty()) break;
            const std::size_t task = random() % graph.tasks.size();
            for (std::uint32_t a = 0; a < graph.tasks[task].arg_count; ++a) {
              graph::ArgRecord& arg = args[graph.tasks[task].first_arg + a];
              if (arg.kind != graph::ArgRecord::Kind::scalar) continue;
              arg.bits = static_cast<ArgWord>(random());
              refresher.set_constant(graph, task, arg, arg.bits);
            }
            break;
          }
          default:  // bring host inputs
            for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
              if (host_inputs[t].empty()) continue;
              for (std::byte& byte : host_inputs[t]) byte = static_cast<std::byte>(random());
              std::memcpy(refresher.host_input(t), host_inputs[t].data(), host_inputs[t].size());
            }
            break;
        }
      }
      REQUIRE(refresher.refresh().ok());
      check_table(refresher.table(), graph, model, host_inputs, args);
    }
  }
}

}  // namespace

#define RONDO_TEST_MECHANISMS(P)                                                                \
  On<P, update::Always<Mechanism::in_place>>, On<P, update::Always<Mechanism::segment_copy>>,   \
      On<P, update::Always<Mechanism::device_op>>, On<P, update::Always<Mechanism::in_launch>>, \
      On<P, update::ByCost<>>, On<P, test::ByCostOnDevice<>>, On<P, Mixed>, On<P, CheapCopies>

TEST_CASE_TEMPLATE("After any sequence of changes the table is what a rebuild from nothing gives", T,
                   RONDO_TEST_MECHANISMS(A2A3), RONDO_TEST_MECHANISMS(A5)) {
  check_random_sequences<typename T::P, typename T::C>(11);
}

TEST_CASE_TEMPLATE("The same holds for strategies that are asked each round", T, RONDO_TEST_MECHANISMS(A2A3)) {
  check_random_sequences<typename T::P, typename T::C, AskedAuto>(12);
  check_random_sequences<typename T::P, typename T::C, NowAndThenAll>(13);
  check_random_sequences<typename T::P, typename T::C, update::InitOnce>(14);
}
