// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/launch/launch_cache.hpp>

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

// What the cache asks of the heap, counted in this program's own operator new.

namespace {

std::atomic<std::size_t> allocations = 0;
std::atomic<std::size_t> blocks_alive = 0;

void* counted(void* memory) {
  if (memory == nullptr) throw std::bad_alloc{};
  ++allocations;
  ++blocks_alive;
  return memory;
}
void release(void* memory) noexcept {
  if (memory != nullptr) --blocks_alive;
  std::free(memory);
}
std::size_t multiple(std::size_t size, std::align_val_t alignment) {
  const auto a = static_cast<std::size_t>(alignment);
  return (size + a - 1) / a * a;
}

}  // namespace

void* operator new(std::size_t size) { return counted(std::malloc(size == 0 ? 1 : size)); }
void* operator new[](std::size_t size) { return counted(std::malloc(size == 0 ? 1 : size)); }
void* operator new(std::size_t size, std::align_val_t a) {
  return counted(std::aligned_alloc(static_cast<std::size_t>(a), multiple(size, a)));
}
void* operator new[](std::size_t size, std::align_val_t a) {
  return counted(std::aligned_alloc(static_cast<std::size_t>(a), multiple(size, a)));
}
void operator delete(void* memory) noexcept { release(memory); }
void operator delete[](void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t) noexcept { release(memory); }
void operator delete[](void* memory, std::size_t) noexcept { release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { release(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { release(memory); }

namespace {

using namespace rondo;
using namespace rondo::launch;

struct alignas(64) Entry {
  std::uint64_t value = 0;
};

std::array<std::uint64_t, 16> key_of(std::uint64_t n) { return {4, n, 0, 64, 4, n, 1, 64, 4, n, 2, 64, 4, n, 3, 64}; }

TEST_CASE("a hit, on the last entry or in the table, allocates nothing, and neither does a lookup that misses") {
  LaunchCache<Entry, Lru<100>> cache(16);
  for (std::uint64_t n = 0; n < 100; ++n) cache.insert(key_of(n), [&] { return Entry{n}; });
  const std::size_t before = allocations;
  std::size_t wrong = 0;
  for (std::uint64_t n = 0; n < 200; ++n) {
    const auto key = key_of(n);
    for (int twice = 0; twice < 2; ++twice) {
      Entry* const entry = cache.find(key);
      wrong += n < 100 ? entry == nullptr || entry->value != n : entry != nullptr;
      wrong += reinterpret_cast<std::uintptr_t>(entry) % alignof(Entry) != 0;
    }
  }
  CHECK(allocations == before);
  CHECK(wrong == 0);
}

TEST_CASE("1,000 shapes that cycle through 100 entries take the memory of 101 and allocate no more once it is full") {
  const std::size_t alive_before = blocks_alive;
  {
    LaunchCache<Entry, Lru<100>> cache(16);
    std::size_t allocations_when_full = 0, alive_when_full = 0, wrong = 0;
    for (std::uint64_t n = 0; n < 10'000; ++n) {
      const auto key = key_of(n % 1000);
      wrong += cache.find(key) != nullptr;
      wrong += cache.insert(key, [&] { return Entry{n}; }).value != n;
      if (n == 100) {
        allocations_when_full = allocations;
        alive_when_full = blocks_alive;
      }
    }
    CHECK(wrong == 0);
    CHECK(allocations == allocations_when_full);
    CHECK(blocks_alive == alive_when_full);
    CHECK(alive_when_full == alive_before + 101 + 1);  // 101 entries and the table
  }
  CHECK(blocks_alive == alive_before);
}

TEST_CASE("an exception in make leaks nothing") {
  const std::size_t alive_before = blocks_alive;
  {
    LaunchCache<Entry, Lru<2>> cache(16);
    for (std::uint64_t n = 0; n < 10; ++n) {
      try {
        cache.insert(key_of(n), [&]() -> Entry {
          if (n % 2 == 0) throw 1;
          return Entry{n};
        });
      } catch (int) {
      }
    }
    CHECK(blocks_alive <= alive_before + 4);
  }
  CHECK(blocks_alive == alive_before);
}

}  // namespace
