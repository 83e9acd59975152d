// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// From the shapes of a round to what its launch needs, for k tensors of rank 4:
//   cache/hit_last/…      the same shapes as the round before
//   cache/hit_table<n>/…  other shapes than the round before, one of n that are known, in shuffled order
//   cache/miss/…          shapes that are not known (any more): the cache is full, so one entry goes and one comes
//   …/rondo         the key gathered on the stack and looked up; the entry's arguments stand ready
//   …/rival         lookup and arguments, as a JIT's runtime does it: a string of all sizes, strides and alignments,
//                   encoded under a mutex; an unordered_map from it to a number, an LRU list of strings; another map
//                   from the number to the entry; then a fresh vector of bytes for each argument
//   …/rival_lookup  the same without the arguments: like for like where addresses change, so that rondo would have to
//                   patch what stands ready
// The rival's algorithm is that of nvFuser's InputsIdLookup and KernelExecutor::computeArgs, except that it appends
// eight bytes at a time where those append one: half the time.

#include <rondo/launch/launch_cache.hpp>
#include <rondo/types.hpp>

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

/// What a caller has of a tensor.
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

/// What both sides find.
struct Entry {
  std::array<std::uint64_t, 16> addresses{};
  std::array<std::uint64_t, 8> blocks{};
};

// --- Rondo

template <class Cache>
Entry* look_up(Cache& cache, const Tensor* tensors, std::size_t count) {
  rondo::launch::ShapeKey<16 * rank> key;
  for (std::size_t t = 0; t < count; ++t) key.append(tensors[t].shape);
  return cache.find(key);
}

Entry make_entry(const std::vector<Tensor>& tensors) {
  Entry entry;
  for (std::size_t t = 0; t < tensors.size(); ++t) entry.addresses[t] = tensors[t].address;
  entry.blocks[0] = static_cast<std::uint64_t>(tensors[0].sizes[1] + 127) / 128;
  return entry;
}

// --- the rival

class Rival {
 public:
  explicit Rival(std::size_t most) : most_{most} {}

  /// The number of these shapes, and the one that had to go for it or 0.
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
    Known& known = known_[text_];
    Found found{known.id, 0};
    if (known.id == 0) {
      found.id = known.id = next_++;
      if (used_.size() == most_) {
        const auto oldest = known_.find(used_.back());
        found.evicted = oldest->second.id;
        used_.pop_back();
        known_.erase(oldest);
      }
    } else {
      if (known.place == used_.begin()) return found;
      used_.erase(known.place);
    }
    known.place = used_.insert(used_.begin(), text_);
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
  struct Known {
    std::size_t id = 0;
    std::list<std::string>::iterator place;
  };

  template <class Integer>
  void append(Integer value) {
    text_.append(reinterpret_cast<const char*>(&value), sizeof(value));
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
  std::unordered_map<std::string, Known> known_;
  std::unordered_map<std::size_t, std::unique_ptr<Entry>> entries_;
  std::vector<std::vector<std::byte>> args_;
  std::vector<void*> pointers_;
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
    if (!round(*now)) state.SkipWithError("an entry that must be there is not, or the other way round");
    if (++now == end) now = begin;
  }
}

void rondo_hit(benchmark::State& state, std::size_t count, std::size_t entries) {
  const Rounds rounds(count, entries, entries > 2);
  rondo::launch::LaunchCache<Entry, rondo::launch::Lru<most_entries>> cache(count * rank);
  for (const auto& input : rounds.inputs) {
    rondo::launch::ShapeKey<16 * rank> key;
    for (const Tensor& tensor : input) key.append(tensor.shape);
    cache.insert(key, [&] { return make_entry(input); });
  }
  run(state, rounds, [&](const Tensor* input) {
    Entry* const entry = look_up(cache, input, count);
    benchmark::DoNotOptimize(entry);
    return entry != nullptr;
  });
}

template <bool WithArgs>
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
    rondo::launch::ShapeKey<16 * rank> key;
    for (std::size_t t = 0; t < count; ++t) key.append(input[t].shape);
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
    add(kind, "rival", [=](benchmark::State& state, std::size_t k) { rival_hit<true>(state, k, entries); });
    add(kind, "rival_lookup", [=](benchmark::State& state, std::size_t k) { rival_hit<false>(state, k, entries); });
  };
  add_hit("hit_last", 1);
  add_hit("hit_table2", 2);
  add_hit("hit_table16", 16);
  add_hit("hit_table256", 256);
  add("miss", "rondo", &rondo_miss);
  add("miss", "rival", &rival_miss<true>);
  add("miss", "rival_lookup", &rival_miss<false>);
}

}  // namespace

int main(int argc, char** argv) {
  for (const std::size_t count : {1UL, 4UL, 16UL}) register_cases(count);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
