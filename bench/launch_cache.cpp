// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// The cost of finding the launch of a round by its shapes, for k tensors of rank 4:
//   cache/hit_last/…      the same shapes as the round before
//   cache/hit_table<n>/…  other shapes than the round before, one of n known ones, in random order
//   cache/miss/…          shapes that are not in the cache, which is full, so one entry replaces another
//   …/rondo         the key is gathered on the stack and looked up; the entry has its arguments
//   …/rival         lookup and arguments, as a JIT's runtime does it: a string of all sizes, strides and alignments,
//                   encoded under a mutex; an unordered_map from it to a number, an LRU list of strings; another map
//                   from the number to the entry; then a fresh vector of bytes for each argument
//   …/rondo_args    key, lookup, and an update of the arguments: all addresses are compared with the old ones, which
//                   are those of the last round of this shape
//   …/rival_lookup  the rival without the arguments, to compare with rondo
//   …/anchor        the rival as in nvFuser's InputsIdLookup, which appends one byte at a time; rival appends eight
//   cache/patch_none/…, patch_one/…, patch_all/…  none, one or all of the k addresses differ from those of the round
//                   before; the rival makes fresh vectors of bytes in each case
//   cache/round_patch_…/checked, …/prebound  the same in whole rounds of a session on a platform that does nothing:
//                   with all checks and calls of a round
//   cache/miss_graph/tasks:1000/…  a shape that is new to a session over 1,000 tasks: its symbols solved, its graph
//                   frozen, its memory planned, its args laid out, its program loaded
//   cache/round/…   a whole round of host tensors on a platform that does nothing: in a session of many shapes, with
//                   the same shape each time or two shapes in turn; and in a session of one shape
// The rival's algorithm is that of nvFuser's InputsIdLookup and KernelExecutor::computeArgs.

#include <rondo/graph/instantiate.hpp>
#include <rondo/launch/launch_cache.hpp>
#include <rondo/rondo.hpp>
#include <rondo/search/planners.hpp>
#include <rondo/session/shaped_session.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <list>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace {

using rondo::Shape;

constexpr std::size_t rank = 4;
constexpr std::size_t most_entries = 256;

/// A tensor as the caller describes it.
struct Tensor {
  Shape shape;
  std::array<std::int64_t, rank> sizes{};
  std::array<std::int64_t, rank> strides{};
  std::uint64_t address = 0;
};

/// The shapes of round `r`: its sequence length is in all of them, as it is where one symbol runs through a graph.
std::vector<Tensor> tensors(std::size_t count, std::size_t r) {
  std::vector<Tensor> result(count);
  for (std::size_t t = 0; t < count; ++t) {
    const std::int64_t length = 128 + static_cast<std::int64_t>(r), width = 32 * static_cast<std::int64_t>(1 + t % 4);
    result[t].shape = {4, length, 8, width};
    result[t].sizes = {4, length, 8, width};
    result[t].strides = {length * 8 * width, 8 * width, width, 1};
    result[t].address = 0x7f00'0000'0000 + (std::uint64_t{t} << 24);
  }
  return result;
}

/// The entry that both sides find.
struct Entry {
  std::array<std::uint64_t, 16> addresses{};
  std::array<std::uint64_t, 8> blocks{};
};

// --- Rondo

/// The shapes of tensors, one after the other.
struct Key {
  Key(const Tensor* tensors, std::size_t count) {
    for (std::size_t t = 0; t < count; ++t) {
      for (std::size_t d = 0; d < rank; ++d) words[size++] = static_cast<std::uint64_t>(tensors[t].shape.extent(d));
    }
  }
  operator rondo::launch::KeyView() const { return {words, size}; }  // NOLINT(google-explicit-constructor)
  std::size_t size = 0;
  std::uint64_t words[16 * rank];
};

template <class Cache>
Entry* look_up(Cache& cache, const Tensor* tensors, std::size_t count) {
  return cache.find(Key(tensors, count));
}

Entry make_entry(const std::vector<Tensor>& tensors) {
  Entry entry;
  for (std::size_t t = 0; t < tensors.size(); ++t) entry.addresses[t] = tensors[t].address;
  entry.blocks[0] = static_cast<std::uint64_t>(tensors[0].sizes[1] + 127) / 128;
  return entry;
}

// --- the rival

template <bool bytewise>
class RivalOf {
 public:
  explicit RivalOf(std::size_t most) : most_{most} {}

  /// The number of these shapes, and the number of the entry that they replaced, or 0.
  struct Found {
    std::size_t id;
    std::size_t evicted;
  };
  [[gnu::noinline]] Found identify(const Tensor* tensors, std::size_t count) {
    const std::lock_guard<std::mutex> lock(mutex_);
    text_.clear();
    append(0);  // the device
    for (std::size_t t = 0; t < count; ++t) {
      for (const std::int64_t size : tensors[t].sizes) append(size), text_.push_back(' ');
      text_.push_back('X');
      text_.push_back(' ');
      for (const std::int64_t stride : tensors[t].strides) append(stride), text_.push_back(' ');
      text_.push_back('a');
      append(alignment(tensors[t].address));
      text_.push_back(';');
    }
    Cached& entry = cached_[text_];
    Found found{entry.id, 0};
    if (entry.id == 0) {
      found.id = entry.id = next_++;
      if (used_.size() == most_) {
        const auto oldest = cached_.find(used_.back());
        found.evicted = oldest->second.id;
        used_.pop_back();
        cached_.erase(oldest);
      }
    } else {
      if (entry.place == used_.begin()) return found;
      used_.erase(entry.place);
    }
    entry.place = used_.insert(used_.begin(), text_);
    return found;
  }

  Entry* find(const Found& found) {
    const auto entry = entries_.find(found.id);
    return entry == entries_.end() ? nullptr : entry->second.get();
  }
  Entry* insert(const Found& found, const Entry& entry) {
    if (found.evicted != 0) entries_.erase(found.evicted);
    return (entries_[found.id] = std::make_unique<Entry>(entry)).get();
  }

  /// Address, sizes and strides of each tensor as bytes of their own, and a pointer to each.
  [[gnu::noinline]] void compute_args(const Tensor* tensors, std::size_t count) {
    args_.resize(count);
    pointers_.resize(count);
    for (std::size_t t = 0; t < count; ++t) {
      args_[t] = bytes_of(tensors[t]);
      pointers_[t] = args_[t].data();
    }
  }
  [[nodiscard]] const std::vector<void*>& pointers() const { return pointers_; }

 private:
  struct Cached {
    std::size_t id = 0;
    std::list<std::string>::iterator place;
  };

  template <class Integer>
  void append(Integer value) {
    const char* const bytes = reinterpret_cast<const char*>(&value);
    if constexpr (bytewise) {
      for (std::size_t i = 0; i < sizeof(value); ++i) text_.push_back(bytes[i]);
    } else {
      text_.append(bytes, sizeof(value));
    }
  }
  static std::size_t alignment(std::uint64_t address) {
    std::size_t alignment = 1;
    while (alignment < 16 && address % (2 * alignment) == 0) alignment *= 2;
    return alignment;
  }
  static std::vector<std::byte> bytes_of(const Tensor& tensor) {
    std::vector<std::byte> bytes(sizeof(tensor.address) + sizeof(tensor.sizes) + sizeof(tensor.strides));
    std::memcpy(bytes.data(), &tensor.address, sizeof(tensor.address));
    std::memcpy(bytes.data() + sizeof(tensor.address), tensor.sizes.data(), sizeof(tensor.sizes));
    std::memcpy(bytes.data() + sizeof(tensor.address) + sizeof(tensor.sizes), tensor.strides.data(),
                sizeof(tensor.strides));
    return bytes;
  }

  std::size_t most_;
  std::string text_;
  std::mutex mutex_;
  std::size_t next_ = 1;
  std::list<std::string> used_;
  std::unordered_map<std::string, Cached> cached_;
  std::unordered_map<std::size_t, std::unique_ptr<Entry>> entries_;
  std::vector<std::vector<std::byte>> args_;
  std::vector<void*> pointers_;
};
using Rival = RivalOf<false>;
using Anchor = RivalOf<true>;

// --- arguments that are kept

/// The args of one task on k tensors, and the addresses in them.
class Args {
 public:
  explicit Args(std::size_t count) : Args(freeze(graph_of(count)), count) {}
  /// `count` is known to the compiler, as in a round of a session.
  template <std::size_t count>
  [[gnu::always_inline]] void update(const Tensor* tensors) {
    bind(tensors, std::make_index_sequence<count>{});
    (void)refresher_.refresh();
  }
  [[nodiscard]] const std::byte* bytes() const { return refresher_.table().image().data(); }

 private:
  static rondo::TaskGraph graph_of(std::size_t count) {
    rondo::TaskGraph graph;
    std::vector<rondo::graph::ArgRecord> args;
    for (std::size_t t = 0; t < count; ++t) {
      const auto x = graph.inout<float>("x" + std::to_string(t), {64});
      args.push_back({rondo::graph::ArgRecord::Kind::address, rondo::Access::read_write, index(x.key.tensor()), 0,
                      static_cast<std::uint32_t>(8 * t)});
    }
    graph.add_laid_out(
        "task", rondo::CoreType::vector, rondo::Blocks{1}, +[](rondo::ArgWord*) {}, args,
        static_cast<std::uint32_t>(8 * count));
    return graph;
  }
  Args(const rondo::FrozenGraph& graph, std::size_t count)
      : bases_{rondo::detail::find_bases(graph.view(), std::vector<std::uint64_t>(count), {arena, arena})},
        refresher_{platform_, graph.view(), bases_} {}

  template <std::size_t... t>
  [[gnu::always_inline]] void bind(const Tensor* tensors, std::index_sequence<t...>) {
    (refresher_.set_port_address(t, tensors[t].address), ...);
  }

  static constexpr rondo::DevicePtr<std::byte> arena{std::uint64_t{4096}};
  rondo::A2A3Sim platform_{{}};
  rondo::args::Bases bases_;
  rondo::update::Refresher<rondo::A2A3Sim> refresher_;
};

// --- the cases

struct Rounds {
  /// Rounds of `shapes` different shapes, each different from the one before if there are two.
  Rounds(std::size_t count, std::size_t shapes, bool shuffle) {
    for (std::size_t r = 0; r < shapes; ++r) inputs.push_back(tensors(count, r));
    for (std::size_t r = 0; r < shapes; ++r) order.push_back(inputs[r].data());
    if (shuffle) std::shuffle(order.begin(), order.end(), std::mt19937{11});
  }
  std::vector<std::vector<Tensor>> inputs;
  std::vector<const Tensor*> order;
};

void run(benchmark::State& state, const Rounds& rounds, auto&& round) {
  const Tensor* const* const begin = rounds.order.data();
  const Tensor* const* const end = begin + rounds.order.size();
  const Tensor* const* now = begin;
  for (auto _ : state) {
    if (!round(*now)) state.SkipWithError("an entry that must be in the cache is not, or the reverse");
    if (++now == end) now = begin;
  }
}

void rondo_hit(benchmark::State& state, std::size_t count, std::size_t entries) {
  const Rounds rounds(count, entries, entries > 2);
  rondo::launch::LaunchCache<Entry, rondo::launch::Lru<most_entries>> cache(count * rank);
  for (const auto& input : rounds.inputs) {
    cache.insert(Key(input.data(), input.size()), [&] { return make_entry(input); });
  }
  run(state, rounds, [&](const Tensor* input) {
    Entry* const entry = look_up(cache, input, count);
    benchmark::DoNotOptimize(entry);
    return entry != nullptr;
  });
}

/// Calls `f` with a number of tensors that the compiler knows.
template <class F>
void with_constant(std::size_t count, F f) {
  if (count == 1) f(std::integral_constant<std::size_t, 1>{});
  if (count == 4) f(std::integral_constant<std::size_t, 4>{});
  if (count == 16) f(std::integral_constant<std::size_t, 16>{});
}

template <std::size_t count>
void rondo_hit_with_args(benchmark::State& state, std::size_t entries) {
  const Rounds rounds(count, entries, entries > 2);
  rondo::launch::LaunchCache<std::unique_ptr<Args>, rondo::launch::Lru<most_entries>> cache(count * rank);
  for (const auto& input : rounds.inputs) {
    cache.insert(Key(input.data(), input.size()), [&] { return std::make_unique<Args>(count); });
  }
  run(state, rounds, [&](const Tensor* input) {
    const Key key(input, count);
    std::unique_ptr<Args>* const args = cache.find(key);
    if (args == nullptr) return false;
    (*args)->template update<count>(input);
    benchmark::DoNotOptimize((*args)->bytes());
    return true;
  });
}

/// `changed` is the number of addresses that differ in every second round.
template <std::size_t count>
void rondo_patch(benchmark::State& state, std::size_t changed) {
  std::vector<Tensor> rounds[2] = {tensors(count, 1), tensors(count, 1)};
  for (std::size_t t = 0; t < changed; ++t) rounds[1][t].address += 4096;
  Args args(count);
  const Tensor* now = rounds[0].data();
  const Tensor* next = rounds[1].data();
  for (auto _ : state) {
    args.update<count>(now);
    benchmark::DoNotOptimize(args.bytes());
    benchmark::ClobberMemory();
    std::swap(now, next);
  }
}
template <std::size_t count>
void rival_patch(benchmark::State& state) {
  const std::vector<Tensor> input = tensors(count, 1);
  Rival rival(most_entries);
  for (auto _ : state) {
    rival.compute_args(input.data(), count);
    benchmark::DoNotOptimize(rival.pointers().data());
    benchmark::ClobberMemory();
  }
}

struct Sum {
  static constexpr std::string_view name = "sum";
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::In<float> a, rondo::In<float> b, rondo::Out<float> c) noexcept {
    for (std::size_t i = 0; i < c.size(); ++i) c[i] = a[i] + b[i];
  }
};
struct PlannedFast : rondo::DefaultPolicies {
  using Plan = rondo::search::Fast;
};

/// A network in which each task reads the results of the two before it, in tensors of three sizes.
void rondo_miss_graph(benchmark::State& state, std::size_t tasks) {
  rondo::TaskGraph graph;
  const auto n = graph.dim("n");
  const auto x = graph.input<float>("x", {n, 64});
  const auto y = graph.output<float>("y", {n, 64});
  std::vector<rondo::Workspace<float>> made;
  for (std::size_t i = 0; i + 1 < tasks; ++i) {
    const auto t = graph.workspace<float>("t" + std::to_string(i), {n * (1 + i % 3), 64});
    if (i < 2) {
      graph.add<Sum>(x, x, t);
    } else {
      graph.add<Sum>(made[i - 1], made[i - 2], t);
    }
    made.push_back(t);
  }
  graph.add<Sum>(made[tasks - 2], made[tasks - 3], y);
  auto session = rondo::open_shaped<rondo::A2A3Sim, PlannedFast, rondo::launch::Lru<8>>(graph);
  session.reserve(rondo::Bytes{std::uint64_t{1} << 24});
  std::int64_t rows = 0;
  for (auto _ : state) session.prepare({{n, 1 + rows++ % 64}});
}

/// k tensors in, one out; `shapes` 0: a session of one shape.
template <std::size_t... I>
void whole_round(benchmark::State& state, std::size_t shapes, std::index_sequence<I...>) {
  rondo::TaskGraph graph;
  const auto n = graph.dim("n");
  const rondo::Input<float> x[] = {graph.input<float>("x" + std::to_string(I), {n})...};
  std::vector<float> memory(64);
  const auto measure = [&](auto& session) {
    std::size_t size = 32;
    for (auto _ : state) {
      if (shapes == 2) size = 96 - size;
      const rondo::Status status = session.run_round(bind(x[I], std::span<const float>(memory.data(), size))...);
      if (!status) state.SkipWithError("a round failed");
    }
  };
  if (shapes == 0) {
    const std::int64_t values[] = {32};
    auto session = rondo::open<rondo::NullPlatform>(rondo::instantiate(graph, values));
    measure(session);
  } else {
    auto session = rondo::open_shaped<rondo::NullPlatform>(graph);
    measure(session);
  }
}
void whole_round(benchmark::State& state, std::size_t count, std::size_t shapes) {
  with_constant(count, [&](auto k) { whole_round(state, shapes, std::make_index_sequence<k>{}); });
}

/// A whole round whose k tensors are device memory, `changed` of them elsewhere in every second round.
template <bool is_prebound, std::size_t... I>
void bound_round(benchmark::State& state, std::size_t changed, std::index_sequence<I...>) {
  constexpr std::size_t count = sizeof...(I);
  rondo::TaskGraph graph;
  const rondo::InputOutput<float> x[] = {graph.inout<float>("x" + std::to_string(I), {64})...};
  graph.add_raw("task", rondo::CoreType::vector, +[](rondo::ArgWord*) {}, updates(x[I])...);
  auto session = rondo::open<rondo::NullPlatform>(graph);
  rondo::DeviceSpan<float> memory[2][count];
  for (std::size_t t = 0; t < count; ++t) {
    const std::uint64_t address = 0x7f00'0000'0000 + (std::uint64_t{t} << 24);
    memory[0][t] = {rondo::DevicePtr<float>{address}, 64};
    memory[1][t] = {rondo::DevicePtr<float>{t < changed ? address + 4096 : address}, 64};
  }
  const auto* now = memory[0];
  const auto* next = memory[1];
  const auto prebound_now = session.prebind(bind(x[I], memory[0][I])...);
  const auto prebound_next = session.prebind(bind(x[I], memory[1][I])...);
  const auto* prebound = &prebound_now;
  const auto* other = &prebound_next;
  for (auto _ : state) {
    rondo::Status status;
    if constexpr (is_prebound) {
      status = session.run_round(*prebound);
      std::swap(prebound, other);
    } else {
      status = session.run_round(bind(x[I], now[I])...);
      std::swap(now, next);
    }
    if (!status) state.SkipWithError("a round failed");
    benchmark::ClobberMemory();
  }
}
template <bool is_prebound>
void bound_round(benchmark::State& state, std::size_t count, std::size_t changed) {
  with_constant(count, [&](auto k) { bound_round<is_prebound>(state, changed, std::make_index_sequence<k>{}); });
}

template <class Rival, bool WithArgs>
void rival_hit(benchmark::State& state, std::size_t count, std::size_t entries) {
  const Rounds rounds(count, entries, entries > 2);
  Rival rival(most_entries);
  for (const auto& input : rounds.inputs) rival.insert(rival.identify(input.data(), count), make_entry(input));
  run(state, rounds, [&](const Tensor* input) {
    Entry* const entry = rival.find(rival.identify(input, count));
    benchmark::DoNotOptimize(entry);
    if constexpr (WithArgs) {
      rival.compute_args(input, count);
      benchmark::DoNotOptimize(rival.pointers().data());
    }
    return entry != nullptr;
  });
}

void rondo_miss(benchmark::State& state, std::size_t count) {
  const Rounds rounds(count, 2 * most_entries, true);
  rondo::launch::LaunchCache<Entry, rondo::launch::Lru<most_entries>> cache(count * rank);
  run(state, rounds, [&](const Tensor* input) {
    const Key key(input, count);
    if (cache.find(key) != nullptr) return false;
    Entry& entry = cache.insert(key, [&] {
      Entry made;
      for (std::size_t t = 0; t < count; ++t) made.addresses[t] = input[t].address;
      return made;
    });
    benchmark::DoNotOptimize(&entry);
    return true;
  });
}

template <bool WithArgs>
void rival_miss(benchmark::State& state, std::size_t count) {
  const Rounds rounds(count, 2 * most_entries, true);
  Rival rival(most_entries);
  run(state, rounds, [&](const Tensor* input) {
    const Rival::Found found = rival.identify(input, count);
    if (rival.find(found) != nullptr) return false;
    Entry made;
    for (std::size_t t = 0; t < count; ++t) made.addresses[t] = input[t].address;
    Entry* const entry = rival.insert(found, made);
    benchmark::DoNotOptimize(entry);
    if constexpr (WithArgs) {
      rival.compute_args(input, count);
      benchmark::DoNotOptimize(rival.pointers().data());
    }
    return true;
  });
}

void register_cases(std::size_t count) {
  const auto add = [&](const char* kind, const char* which, auto run_it) {
    const std::string name = std::string("cache/") + kind + "/tensors:" + std::to_string(count) + "/" + which;
    benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) { run_it(state, count); });
  };
  const auto add_hit = [&](const char* kind, std::size_t entries) {
    add(kind, "rondo", [=](benchmark::State& state, std::size_t k) { rondo_hit(state, k, entries); });
    add(kind, "rondo_args", [=](benchmark::State& state, std::size_t number) {
      with_constant(number, [&](auto k) { rondo_hit_with_args<k>(state, entries); });
    });
    add(kind, "rival", [=](benchmark::State& state, std::size_t k) { rival_hit<Rival, true>(state, k, entries); });
    add(kind, "rival_lookup",
        [=](benchmark::State& state, std::size_t k) { rival_hit<Rival, false>(state, k, entries); });
    add(kind, "anchor", [=](benchmark::State& state, std::size_t k) { rival_hit<Anchor, true>(state, k, entries); });
  };
  add_hit("hit_last", 1);
  add_hit("hit_table2", 2);
  add_hit("hit_table16", 16);
  add_hit("hit_table256", 256);
  const auto add_patch = [&](const char* kind, auto changed) {
    add(kind, "rondo", [=](benchmark::State& state, std::size_t number) {
      with_constant(number, [&](auto k) { rondo_patch<k>(state, changed(k)); });
    });
    add(kind, "rival", [](benchmark::State& state, std::size_t number) {
      with_constant(number, [&](auto k) { rival_patch<k>(state); });
    });
    add((std::string("round_") + kind).c_str(), "checked",
        [=](benchmark::State& state, std::size_t k) { bound_round<false>(state, k, changed(k)); });
    add((std::string("round_") + kind).c_str(), "prebound",
        [=](benchmark::State& state, std::size_t k) { bound_round<true>(state, k, changed(k)); });
  };
  add_patch("patch_none", [](std::size_t) { return std::size_t{0}; });
  add_patch("patch_one", [](std::size_t) { return std::size_t{1}; });
  add_patch("patch_all", [](std::size_t k) { return k; });
  add("round", "one_shape", [](benchmark::State& state, std::size_t k) { whole_round(state, k, 0); });
  add("round", "same_shape", [](benchmark::State& state, std::size_t k) { whole_round(state, k, 1); });
  add("round", "two_shapes", [](benchmark::State& state, std::size_t k) { whole_round(state, k, 2); });
  add("miss", "rondo", &rondo_miss);
  add("miss", "rival", &rival_miss<true>);
  add("miss", "rival_lookup", &rival_miss<false>);
}

}  // namespace

int main(int argc, char** argv) {
  for (const std::size_t count : {1UL, 4UL, 16UL}) register_cases(count);
  benchmark::RegisterBenchmark("cache/miss_graph/tasks:1000/rondo", [](benchmark::State& state) {
    rondo_miss_graph(state, 1000);
  })->Unit(benchmark::kMillisecond);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
