// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// The cost of updating the args table when addresses change between rounds: tables of n slots over b bases, of which a
// share changes in each round. Each base is used equally often.
//   refresh/rondo          Auto, mechanism by cost: on a simulated chip, whose kernels read host memory, in place
//   refresh/rondo_suffix   Auto, the changed segments of the table copied (an older version copied the whole suffix)
//   refresh/rondo_device   Auto, the base table copied, the slots computed by the device, which is this host core here
//   refresh/rondo_bar      Auto, the base table inside the launch, where it fits 1 KiB
//   refresh/rival_full     every slot written, every round, by a hand-written loop over (base, offset)
//   refresh/rival_compare  every slot computed, compared with its old value, and written if it differs
//   refresh/rival_copy     no address changes: every tensor (4 KiB each) is copied to its fixed address
// The counter `bytes` is the number of bytes that cross the bus in a round.

#include <rondo/graph/freeze.hpp>
#include <rondo/platform/select.hpp>
#include <rondo/update/refresher_impl.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace rondo;
using update::Mechanism;
using P = A2A3SimOn<Inline>;

void no_kernel(ArgWord*) {}

constexpr std::size_t slots_per_task = 20;

/// The base of each slot: all bases equally often, in random order, as tasks use tensors. A regular stride would
/// measure cache sets.
std::vector<std::size_t> spread(std::size_t slots, std::size_t bases) {
  std::vector<std::size_t> uses;
  for (std::size_t s = 0; s < slots; ++s) uses.push_back(s % bases);
  std::shuffle(uses.begin(), uses.end(), std::mt19937{7});
  return uses;
}

/// A graph of `slots` addresses over `bases` inputs.
struct Table {
  Table(std::size_t slots, std::size_t bases) {
    TaskGraph graph{Edges::explicit_};
    std::vector<Input<float>> inputs;
    for (std::size_t b = 0; b < bases; ++b) inputs.push_back(graph.input<float>("b" + std::to_string(b), {1024}));
    const std::vector<std::size_t> uses = spread(slots, bases);
    for (std::size_t s = 0; s < slots; s += slots_per_task) {
      [&]<std::size_t... I>(std::index_sequence<I...>) {
        graph.add_raw("task", CoreType::vector, &no_kernel, reads(inputs[uses[s + I]])...);
      }(std::make_index_sequence<slots_per_task>{});
    }
    frozen.emplace_back(freeze(graph));
    layout = {3, 3 + static_cast<std::uint32_t>(bases)};
    for (std::uint32_t b = 0; b < bases; ++b) sources.push_back({3 + b, 0});
    for (std::uint32_t b = 0; b < layout.count; ++b) addresses.push_back(0x1000'0000 + 4096 * std::uint64_t{b});
  }
  std::vector<FrozenGraph> frozen;
  args::BaseLayout layout;
  std::vector<args::Source> sources;
  std::vector<std::uint64_t> addresses;
};

/// The bases that change: `count` of them, spread evenly, each between two addresses.
template <class Set>
void change(const Table& table, std::size_t count, std::uint64_t by, Set set) {
  const std::size_t bases = table.sources.size();
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t b = k * bases / count;
    set(3 + b, table.addresses[3 + b] + by);
  }
}

template <class Choice>
void run_rondo(benchmark::State& state, std::size_t slots, std::size_t bases, std::size_t changed) {
  Table table(slots, bases);
  P platform{{}};
  try {
    update::Refresher<P, update::Auto, Choice> refresher{
        platform, table.frozen[0].view(), {table.layout, table.sources, table.addresses}};
    std::uint64_t by = 0;
    for (auto _ : state) {
      by ^= 1 << 20;
      change(table, changed, by,
             [&](std::size_t id, std::uint64_t a) { refresher.set_base(static_cast<std::uint32_t>(id), a); });
      if (!refresher.refresh()) state.SkipWithError("a refresh failed");
      benchmark::ClobberMemory();
    }
    state.counters["bytes"] = static_cast<double>(refresher.refreshed().bytes);
    state.counters["slots"] = static_cast<double>(refresher.refreshed().slots);
  } catch (const Error&) {
    // The base table does not fit into a launch; see BarFits.
    state.SkipWithError("the base table does not fit");
  }
}

/// The hand-written table: the address, the base and the offset of each slot.
struct RawTable {
  struct Slot {
    std::uint32_t base;
    std::uint32_t offset;
  };
  RawTable(std::size_t count, std::size_t bases) : args(count) {
    for (const std::size_t b : spread(count, bases)) slots.push_back({static_cast<std::uint32_t>(b) + 3, 0});
  }
  std::vector<Slot> slots;
  std::vector<std::uint64_t> args;
};

void run_full(benchmark::State& state, std::size_t slots, std::size_t bases, std::size_t changed) {
  Table table(4 * slots_per_task, bases);
  RawTable raw(slots, bases);
  std::vector<std::uint64_t> active = table.addresses;
  std::uint64_t by = 0;
  for (auto _ : state) {
    by ^= 1 << 20;
    change(table, changed, by, [&](std::size_t id, std::uint64_t a) { active[id] = a; });
    for (std::size_t s = 0; s < raw.slots.size(); ++s) raw.args[s] = active[raw.slots[s].base] + raw.slots[s].offset;
    benchmark::ClobberMemory();
  }
  state.counters["bytes"] = static_cast<double>(8 * slots);
}

void run_compare(benchmark::State& state, std::size_t slots, std::size_t bases, std::size_t changed) {
  Table table(4 * slots_per_task, bases);
  RawTable raw(slots, bases);
  std::vector<std::uint64_t> active = table.addresses;
  std::uint64_t by = 0;
  for (auto _ : state) {
    by ^= 1 << 20;
    change(table, changed, by, [&](std::size_t id, std::uint64_t a) { active[id] = a; });
    for (std::size_t s = 0; s < raw.slots.size(); ++s) {
      const std::uint64_t value = active[raw.slots[s].base] + raw.slots[s].offset;
      if (raw.args[s] != value) raw.args[s] = value;
    }
    benchmark::ClobberMemory();
  }
}

void run_copy(benchmark::State& state, std::size_t bases) {
  constexpr std::size_t tensor = 4096;
  std::vector<std::byte> host(bases * tensor), device(bases * tensor);
  for (auto _ : state) {
    for (std::size_t b = 0; b < bases; ++b) std::memcpy(device.data() + b * tensor, host.data() + b * tensor, tensor);
    benchmark::ClobberMemory();
  }
  state.counters["bytes"] = static_cast<double>(bases * tensor);
}

void register_case(std::size_t slots, std::size_t bases, std::size_t changed) {
  const auto name = [&](const char* which) {
    return std::string("refresh/") + which + "/slots:" + std::to_string(slots) + "/bases:" + std::to_string(bases) +
           "/changed:" + std::to_string(changed);
  };
  const auto add = [&](const char* which, auto run) {
    benchmark::RegisterBenchmark(name(which).c_str(),
                                 [=](benchmark::State& state) { run(state, slots, bases, changed); });
  };
  add("rondo", &run_rondo<update::ByCost<>>);
  add("rondo_suffix", &run_rondo<update::Always<Mechanism::segment_copy>>);
  add("rondo_device", &run_rondo<update::Always<Mechanism::device_op>>);
  if (args::LaunchPayload::bytes(3 + bases, 0) <= P::max_launch_bytes) {
    add("rondo_bar", &run_rondo<update::Always<Mechanism::in_launch>>);
  }
  add("rival_full", &run_full);
  add("rival_compare", &run_compare);
  add("rival_copy", [](benchmark::State& state, std::size_t, std::size_t b, std::size_t) { run_copy(state, b); });
}

}  // namespace

int main(int argc, char** argv) {
  for (const std::size_t slots : {100UL, 1'000UL, 10'000UL, 100'000UL}) {
    for (const std::size_t bases : {4UL, 64UL, 1'000UL}) {
      register_case(slots, bases, 0);
      register_case(slots, bases, 1);
      if (bases / 10 > 1) register_case(slots, bases, bases / 10);
      register_case(slots, bases, bases);
    }
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
