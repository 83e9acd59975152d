// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/launch/launch_cache.hpp>

#include <doctest/doctest.h>
#include <random.hpp>

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

namespace {

using namespace rondo;
using namespace rondo::launch;

using Words = std::vector<std::uint64_t>;

/// An entry that cannot move and that keeps book of those alive; one destroyed twice, or not at all, shows there.
struct Tracked {
  explicit Tracked(std::uint64_t v) : value{v} { ++alive()[this]; }
  Tracked(const Tracked&) = delete;
  Tracked& operator=(const Tracked&) = delete;
  ~Tracked() { --alive()[this]; }
  static std::map<const Tracked*, int>& alive() {
    static std::map<const Tracked*, int> map;
    return map;
  }
  static std::size_t count() {
    std::size_t n = 0;
    for (const auto& [address, times] : alive()) {
      CHECK((times == 0 || times == 1));
      n += static_cast<std::size_t>(times);
    }
    return n;
  }
  std::uint64_t value;
};

/// Makes an entry of the given value.
auto made(std::uint64_t value) {
  return [value] { return Tracked{value}; };
}

template <class Capacity>
using Cache = LaunchCache<Tracked, Capacity, Counts>;

TEST_CASE("an entry is found by its key, from then on and at the same address") {
  Cache<Lru<200>> cache(3);
  const Words a{1, 2, 3}, b{1, 2, 4};
  CHECK(cache.find(a) == nullptr);
  Tracked& of_a = cache.insert(a, made(10));
  CHECK(cache.find(a) == &of_a);
  CHECK(cache.find(b) == nullptr);
  Tracked& of_b = cache.insert(b, made(20));
  for (std::uint64_t n = 0; n < 100; ++n) cache.insert(Words{2, n, n}, made(n));
  CHECK(cache.find(a) == &of_a);
  CHECK(cache.find(b) == &of_b);
  CHECK(of_a.value == 10);
  CHECK(of_b.value == 20);
  CHECK(cache.size() == 102);
}

TEST_CASE("a key that is in is not made again") {
  Cache<Lru<4>> cache(1);
  Tracked& entry = cache.insert(Words{1}, made(1));
  const auto never = []() -> Tracked { throw std::logic_error("made again"); };
  CHECK(&cache.insert(Words{1}, never) == &entry);
  cache.insert(Words{2}, made(2));
  CHECK(&cache.insert(Words{1}, never) == &entry);
  CHECK(cache.size() == 2);
}

TEST_CASE("a graph without symbols has one entry, of the empty key") {
  Cache<Lru<4>> cache(0);
  CHECK(cache.find({}) == nullptr);
  Tracked& entry = cache.insert({}, made(1));
  CHECK(cache.find({}) == &entry);
  CHECK(cache.find(Words{0}) == nullptr);
}

TEST_CASE("keys of several sizes are told apart, and one of too many words is not found and is refused") {
  Cache<Lru<4>> cache(2);
  CHECK(cache.find(Words{}) == nullptr);
  cache.insert(Words{1, 0}, made(1));
  CHECK(cache.find(Words{1}) == nullptr);
  CHECK(cache.find(Words{}) == nullptr);
  cache.insert(Words{1}, made(2));
  CHECK(cache.find(Words{1, 0}) != cache.find(Words{1}));
  CHECK(cache.find(Words{1, 0}) == cache.find(Words{1, 0}));
  CHECK(cache.find(Words{1, 0, 0}) == nullptr);
  try {
    cache.insert(Words{1, 0, 0}, made(1));
    FAIL("accepted");
  } catch (const Error& error) {
    CHECK(error.code() == Errc::invalid_argument);
    CHECK(doctest::String(error.what()) ==
          "a key of 3 words for a launch cache whose keys have at most 2; append only the words of one round");
  }
  CHECK(cache.size() == 2);
}

TEST_CASE("a full cache lets the entry go that was used longest ago") {
  Cache<Lru<3>> cache(1);
  for (std::uint64_t n = 1; n <= 3; ++n) cache.insert(Words{n}, made(n));
  CHECK(cache.find(Words{1}) != nullptr);
  cache.insert(Words{2}, made(0));  // known: a use
  cache.insert(Words{4}, made(4));  // 3 goes
  CHECK(cache.find(Words{3}) == nullptr);
  CHECK(cache.find(Words{1})->value == 1);
  CHECK(cache.find(Words{2})->value == 2);
  CHECK(cache.find(Words{4})->value == 4);
  cache.insert(Words{5}, made(5));  // 1 goes
  CHECK(cache.find(Words{1}) == nullptr);
  CHECK(cache.find(Words{2}) != nullptr);
  CHECK(cache.size() == 3);
  CHECK(Tracked::count() == 3);
  CHECK(cache.counts().evictions == 2);
}

TEST_CASE("hits on the last entry count as uses") {
  Cache<Lru<2>> cache(1);
  cache.insert(Words{1}, made(1));
  cache.insert(Words{2}, made(2));
  CHECK(cache.find(Words{1}) != nullptr);
  CHECK(cache.find(Words{1}) != nullptr);
  cache.insert(Words{3}, made(3));
  CHECK(cache.find(Words{1}) != nullptr);
  CHECK(cache.find(Words{2}) == nullptr);
}

TEST_CASE("a cache of one entry replaces it") {
  Cache<Lru<1>> cache(1);
  for (std::uint64_t n = 0; n < 10; ++n) {
    CHECK(cache.find(Words{n}) == nullptr);
    cache.insert(Words{n}, made(n));
    CHECK(cache.find(Words{n})->value == n);
    if (n > 0) CHECK(cache.find(Words{n - 1}) == nullptr);
    CHECK(cache.find(Words{n})->value == n);
    CHECK(Tracked::count() == 1);
  }
}

TEST_CASE("an exception in make changes nothing") {
  Cache<Lru<2>> cache(1);
  const auto fail = []() -> Tracked { throw std::runtime_error("no plan"); };
  CHECK_THROWS_AS(cache.insert(Words{1}, fail), std::runtime_error);
  CHECK(cache.size() == 0);
  CHECK(cache.find(Words{1}) == nullptr);
  Tracked& one = cache.insert(Words{1}, made(1));
  CHECK_THROWS_AS(cache.insert(Words{2}, fail), std::runtime_error);
  Tracked& two = cache.insert(Words{2}, made(2));
  CHECK(cache.find(Words{1}) == &one);
  for (int i = 0; i < 3; ++i) CHECK_THROWS_AS(cache.insert(Words{3}, fail), std::runtime_error);
  CHECK(cache.size() == 2);
  CHECK(cache.counts().evictions == 0);
  CHECK(cache.find(Words{3}) == nullptr);
  // The order is as it was: 2 is the older one.
  cache.insert(Words{3}, made(3));
  CHECK(cache.find(Words{2}) == nullptr);
  CHECK(cache.find(Words{1}) == &one);
  CHECK(&two != &one);
  CHECK(Tracked::count() == 2);
}

TEST_CASE("clear destroys every entry, and the cache goes on") {
  Cache<Lru<8>> cache(1);
  for (std::uint64_t n = 0; n < 8; ++n) cache.insert(Words{n}, made(n));
  cache.clear();
  CHECK(Tracked::count() == 0);
  CHECK(cache.size() == 0);
  for (std::uint64_t n = 0; n < 8; ++n) CHECK(cache.find(Words{n}) == nullptr);
  for (std::uint64_t n = 0; n < 20; ++n) cache.insert(Words{n}, made(n));
  CHECK(cache.size() == 8);
  CHECK(Tracked::count() == 8);
}

TEST_CASE("for_each visits each entry once") {
  Cache<Lru<8>> cache(1);
  std::map<std::uint64_t, int> seen;
  for (std::uint64_t n = 0; n < 12; ++n) cache.insert(Words{n}, made(n));
  cache.for_each([&](Tracked& entry) { ++seen[entry.value]; });
  CHECK(seen == std::map<std::uint64_t, int>{{4, 1}, {5, 1}, {6, 1}, {7, 1}, {8, 1}, {9, 1}, {10, 1}, {11, 1}});
}

TEST_CASE("a cache that goes takes its entries with it") {
  {
    Cache<Lru<8>>(1).insert(Words{1}, made(1));
  }
  CHECK(Tracked::count() == 0);
}

TEST_CASE("lookups are counted by what they come to") {
  Cache<Lru<2>> cache(1);
  CHECK(cache.find(Words{1}) == nullptr);
  cache.insert(Words{1}, made(1));
  cache.insert(Words{2}, made(2));
  CHECK(cache.find(Words{2}) != nullptr);
  CHECK(cache.find(Words{1}) != nullptr);
  CHECK(cache.find(Words{1}) != nullptr);
  CHECK(cache.find(Words{2}) != nullptr);
  CHECK(cache.find(Words{7, 7}) == nullptr);
  CHECK(cache.counts().misses == 2);
  CHECK(cache.counts().hits_on_last == 2);
  CHECK(cache.counts().hits_in_table == 2);
  CHECK(cache.counts().evictions == 0);
}

using Uncounted = LaunchCache<int, Lru<4>>;
using Counted = LaunchCache<int, Lru<4>, Counts>;
static_assert(sizeof(Uncounted) + sizeof(Counts) <= sizeof(Counted), "what is not counted takes no room");

/// Random operations against maps and lists of the standard library.
template <std::size_t Capacity>
void compare_with_reference(const std::vector<Words>& keys, int operations, bool in_order) {
  LaunchCache<Tracked, Lru<Capacity>> cache(keys[0].size());
  std::map<Words, Tracked*> known;
  std::list<Words> order;  // newest first
  const auto touch = [&](const Words& key) {
    order.remove(key);
    order.push_front(key);
  };
  auto random = rondo::test::make_random<std::mt19937_64>(Capacity * 1000 + keys[0].size());
  std::uint64_t turn = 0;
  const auto draw = [&] { return keys[(in_order ? turn++ : random()) % keys.size()]; };
  const auto value_of = [](const Words& key) { return key.back() * 31 + key.front(); };
  for (int i = 0; i < operations; ++i) {
    const Words key = draw();
    const auto reference = known.find(key);
    Tracked* const found = cache.find(key);
    REQUIRE(found == (reference == known.end() ? nullptr : reference->second));
    if (found != nullptr) {
      REQUIRE(found->value == value_of(key));
      touch(key);
      continue;
    }
    if (!in_order && random() % 8 == 0) continue;
    if (!in_order && random() % 16 == 0) {
      REQUIRE_THROWS_AS(cache.insert(key, []() -> Tracked { throw 1; }), int);
      continue;
    }
    Tracked& entry = cache.insert(key, made(value_of(key)));
    if (known.size() == Capacity) {
      known.erase(order.back());
      order.pop_back();
    }
    known[key] = &entry;
    touch(key);
    REQUIRE(cache.size() == known.size());
  }
  for (const auto& [key, entry] : known) {
    REQUIRE(cache.find(key) == entry);
    REQUIRE(entry->value == value_of(key));
  }
  CHECK(Tracked::count() == known.size());
  std::size_t visited = 0;
  cache.for_each([&](Tracked&) { ++visited; });
  CHECK(visited == known.size());
}

std::vector<Words> keys_of(std::uint64_t count, std::size_t width) {
  std::vector<Words> keys;
  for (std::uint64_t k = 0; k < count; ++k) {
    keys.emplace_back(width, 7);
    keys.back()[k % width] = k;
    keys.back()[width - 1] += k << 20;
  }
  return keys;
}

TEST_CASE("1,000 keys through 100 entries are what a reference says") {
  compare_with_reference<100>(keys_of(1000, 4), 20'000, false);
  compare_with_reference<100>(keys_of(1000, 64), 5'000, true);
  compare_with_reference<100>(keys_of(120, 3), 20'000, false);
  CHECK(Tracked::count() == 0);
}

TEST_CASE("keys of one hash are told apart") {
  // The first word makes one factor zero, so that the second does not count.
  std::vector<Words> keys;
  for (std::uint64_t k = 0; k < 40; ++k) keys.push_back({0x243f6a8885a308d3 + 4, k, 7, k / 40});
  for (const Words& key : keys) REQUIRE(hash_of(key.data(), 4) == hash_of(keys[0].data(), 4));
  compare_with_reference<20>(keys, 10'000, false);
  CHECK(Tracked::count() == 0);
}

TEST_CASE("probes run over the end of the table") {
  // Keys whose places are the last two cells and the first three, in a table of 64 cells or fewer.
  std::vector<Words> keys;
  for (std::uint64_t n = 0; keys.size() < 60; ++n) {
    if ((hash_of(&n, 1) + 2) % 64 < 5) keys.push_back({n});
  }
  compare_with_reference<30>(keys, 10'000, false);
  keys.resize(12);
  compare_with_reference<8>(keys, 10'000, false);
  CHECK(Tracked::count() == 0);
}

TEST_CASE("a use of any entry makes it the newest, and the oldest makes room") {
  Cache<Lru<3>> cache(1);
  const auto use = [&](std::uint64_t n) { return cache.find(Words{n}) != nullptr; };
  for (std::uint64_t n = 1; n <= 3; ++n) cache.insert(Words{n}, made(n));
  CHECK((use(1) && use(2) && use(2)));
  cache.insert(Words{4}, made(4));
  CHECK(!use(3));
  CHECK((use(1) && use(2) && use(4)));
  cache.clear();
  for (std::uint64_t n = 1; n <= 4; ++n) cache.insert(Words{n}, made(n));
  CHECK((!use(1) && use(2) && use(3) && use(4)));
}

}  // namespace
