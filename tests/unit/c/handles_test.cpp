// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include "../../../src/c/handles.hpp"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

using rondo::c::Handles;
using rondo::c::Kind;

TEST_CASE("A handle finds its object until it is removed, and is never given to another one") {
  Handles& handles = Handles::instance();
  int first = 1, second = 2;
  const std::uint64_t a = handles.add(Kind::graph, &first);
  CHECK(handles.find(Kind::graph, a) == &first);
  CHECK(handles.find(Kind::session, a) == nullptr);
  CHECK(handles.find(Kind::graph, a + 1) == nullptr);
  CHECK(handles.find(Kind::graph, a | 0xFF'FFFF) == nullptr);
  handles.remove(a);
  CHECK(handles.find(Kind::graph, a) == nullptr);
  const std::uint64_t b = handles.add(Kind::graph, &second);
  CHECK(b != a);
  CHECK(handles.find(Kind::graph, a) == nullptr);
  CHECK(handles.find(Kind::graph, b) == &second);
}

TEST_CASE("Threads add, find and remove their objects while the table grows") {
  constexpr std::size_t threads = 3, objects = 600;  // several chunks
  Handles& handles = Handles::instance();
  std::array<std::size_t, threads> shared{};
  std::array<std::atomic<std::uint64_t>, threads>
      handle_of{};  // of each thread's element of `shared`, once it is there
  std::atomic<int> faults{0};
  const auto work = [&](std::size_t t) {
    std::vector<std::size_t> values(objects, t);
    std::vector<std::uint64_t> ids(objects), gone;
    shared[t] = t;
    handle_of[t].store(handles.add(Kind::session, &shared[t]), std::memory_order_relaxed);
    for (int turn = 0; turn < 3; ++turn) {
      for (std::size_t i = 0; i < objects; ++i) {
        ids[i] = handles.add(Kind::kernel, &values[i]);
        const std::size_t other = (t + i) % threads;
        const std::uint64_t id = handle_of[other].load(std::memory_order_relaxed);
        const auto* const found = static_cast<const std::size_t*>(handles.find(Kind::session, id));
        if (id != 0 && (found != &shared[other] || *found != other)) ++faults;
      }
      for (const std::uint64_t id : gone) {
        if (handles.find(Kind::kernel, id) != nullptr) ++faults;  // whoever has its place now
      }
      for (std::size_t i = 0; i < objects; ++i) {
        if (handles.find(Kind::kernel, ids[i]) != &values[i]) ++faults;
        handles.remove(ids[i]);
      }
      gone = ids;
    }
  };
  std::vector<std::thread> others;
  for (std::size_t t = 1; t < threads; ++t) others.emplace_back(work, t);
  work(0);
  for (std::thread& other : others) other.join();
  for (const auto& id : handle_of) handles.remove(id);
  CHECK(faults == 0);
}
