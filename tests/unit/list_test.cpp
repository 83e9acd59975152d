// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

#include <rondo/list.hpp>

#include <doctest/doctest.h>

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace {

using rondo::List;

TEST_CASE("a list grows, shrinks and keeps what is in it") {
  List<std::string> names;
  CHECK(names.empty());
  for (int i = 0; i < 100; ++i) names.push_back(std::to_string(i) + std::string(20, '-'));
  REQUIRE(names.size() == 100);
  CHECK(names.front() == "0--------------------");
  CHECK(names.back() == "99--------------------");
  CHECK(names.emplace_back("last") == "last");
  names.pop_back();
  names.resize(3);
  CHECK(names.size() == 3);
  names.resize(5, "new");
  CHECK(names[4] == "new");
  names.assign(2, "both");
  CHECK(names == std::vector<std::string>{"both", "both"});
  names.clear();
  CHECK(names.empty());
  names.push_back("again");
  CHECK(names[0] == "again");
}

TEST_CASE("inserting and erasing move what stands behind") {
  List<int> list{1, 2, 4};
  CHECK(*list.insert(list.begin() + 2, 3) == 3);
  CHECK(list == List<int>{1, 2, 3, 4});
  list.insert(list.begin(), list[3]);  // one of its own
  CHECK(list == List<int>{4, 1, 2, 3, 4});
  list.insert(list.end(), 5);
  CHECK(*list.erase(list.begin() + 1) == 2);
  CHECK(list == List<int>{4, 2, 3, 4, 5});
  list.push_back(list[0]);
  CHECK(list.back() == 4);
}

TEST_CASE("moving hands on the memory and the room in it; every element is destroyed once") {
  const auto alive = std::make_shared<int>(0);
  {
    List<std::shared_ptr<int>> full(4, alive);
    const std::shared_ptr<int>* const place = full.data();
    List<std::shared_ptr<int>> taken{std::move(full)};
    CHECK(taken.data() == place);
    taken.push_back(alive);  // there was no room for it
    CHECK(taken.data() != place);
    List<std::shared_ptr<int>> roomy;
    roomy.reserve(10);
    const std::shared_ptr<int>* const room = roomy.data();
    taken = std::move(roomy);
    for (int i = 0; i < 10; ++i) taken.push_back(alive);
    CHECK(taken.data() == room);
  }
  CHECK(alive.use_count() == 1);
}

TEST_CASE("copies are apart, and what was moved from is empty") {
  List<List<int>> nested;
  nested.push_back({1, 2});
  nested.emplace_back();
  List<List<int>> copy = nested;
  copy[0].push_back(3);
  CHECK(nested[0].size() == 2);
  CHECK(copy != nested);
  const int* const data = copy[0].data();
  List<List<int>> moved = std::move(copy);
  CHECK(moved[0].data() == data);
  CHECK(copy.empty());  // NOLINT: that is what is promised
  nested = moved;
  CHECK(nested == moved);
  const List<int>& self = moved[0];
  moved[0] = self;
  CHECK(moved[0] == List<int>{1, 2, 3});
  moved = List<List<int>>{};
  CHECK(moved.empty());
}

TEST_CASE("what an element owns is given back when the element goes, not when the list does") {
  List<std::shared_ptr<int>> list;
  auto one = std::make_shared<int>(1);
  list.assign(3, one);
  CHECK(one.use_count() == 4);
  list.pop_back();
  CHECK(one.use_count() == 3);
  list.erase(list.begin());
  CHECK(one.use_count() == 2);
  list.clear();
  CHECK(one.use_count() == 1);
}

TEST_CASE("a list comes from what lies side by side and goes into what grows") {
  const std::vector<int> vector{1, 2, 3};
  const std::array<int, 3> array{1, 2, 3};
  const List<int> from_vector = vector;
  const List<int> from_array = array;
  CHECK(from_vector == vector);
  CHECK(from_vector == from_array);
  CHECK(from_vector != std::vector<int>{1, 2});
  const std::vector<int> back = from_vector;
  CHECK(back == vector);
  List<bool> bits(3, true);
  bits[1] = false;
  CHECK(bits == std::vector<bool>{true, false, true});
}

constexpr int sum_by_the_compiler() {
  List<int> list(2, 1);
  list.append(list.data() + 1, 0);
  for (int i = 0; i < 10; ++i) list.push_back(i);
  List<int> copy = list;
  copy.erase(copy.begin());
  int sum = 0;
  for (const int each : copy) sum += each;
  return sum;
}
static_assert(sum_by_the_compiler() == 46);

}  // namespace

TEST_CASE("whether room is made by reserve, append or push_back, each element moves a few times at most") {
  struct Counted {
    int value = 0;
    long* moves = nullptr;
    Counted() = default;
    Counted(int v, long* m) : value{v}, moves{m} {}
    Counted(const Counted&) = default;
    Counted& operator=(const Counted& other) = default;
    Counted(Counted&&) = default;
    Counted& operator=(Counted&& other) noexcept {
      value = other.value;
      moves = other.moves;
      if (moves != nullptr) ++*moves;
      return *this;
    }
  };
  constexpr int n = 10'000;
  long moves = 0;
  List<Counted> reserved, appended, pushed;
  for (int i = 0; i < n; ++i) {
    const Counted one{i, &moves};
    reserved.reserve(reserved.size() + 1);
    reserved.push_back(one);
    appended.append(&one, 1);
    pushed.push_back(one);
  }
  CHECK(reserved[n - 1].value == n - 1);
  CHECK(appended[n - 1].value == n - 1);
  CHECK(moves < 10L * n);
}
