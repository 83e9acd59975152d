// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/session/round_session.hpp>

#include <rondo/platform/null.hpp>
#include <rondo/session/open.hpp>
#include <unit/session/scripted_platform.hpp>
#include <unit/support.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

using namespace rondo;
using namespace rondo::test;

namespace {

/// y = x + w, then w += x
struct Rig {
  struct Sum {
    static constexpr std::string_view name = "sum";
    static constexpr auto core = CoreType::vector;
    static void run(In<float> x, In<float> w, Out<float> y) {
      if (x[0] < 0) throw Fragile::Refusal{};
      for (std::size_t i = 0; i < y.size(); ++i) y[i] = x[i] + w[i];
    }
  };
  TaskGraph graph;
  Input<float> x = graph.input<float>("x", {2});
  Resident<float> w = graph.resident<float>("w", {2});
  Output<float> y = graph.output<float>("y", {2});
  Workspace<float> t = graph.workspace<float>("t", {3});
  Resident<std::int32_t> unused = graph.resident<std::int32_t>("unused", {1});
  TaskId first = graph.add<Scale>(x, t, 1.0F);
  TaskId second = graph.add<Sum>(x, w, y);
  TaskId third = graph.add<Accumulate>(x, w);
  Script script;
  RoundSession<ScriptedPlatform> session = open<ScriptedPlatform>(graph, {&script});
  std::vector<float> hx{1, 2};
  std::vector<float> hw{10, 20};
  std::vector<float> hy = std::vector<float>(2);

  Rig() { (void)script.take(); }
  Status run() { return session.run_round(bind(x, hx), bind(y, hy)); }
  std::string explain(Status s) { return session.explain(s).c_str(); }
};

/// A simulated chip whose blocks of memory are next to each other.
struct Adjacent : A5Sim {
  using A5Sim::A5Sim;
  alignas(1024) static inline std::byte memory[1 << 14];
  static inline std::uint64_t used = 0;
  static inline std::vector<std::uint64_t> released;

  DevicePtr<std::byte> allocate(Bytes size, Bytes alignment) {
    const std::uint64_t begin = align_up(used, alignment.value);
    used = begin + size.value;
    return DevicePtr<std::byte>{reinterpret_cast<std::uintptr_t>(memory) + begin};
  }
  DevicePtr<std::byte> allocate(MemoryKind, Bytes size, Bytes alignment) { return allocate(size, alignment); }
  Status release(DevicePtr<std::byte> block) noexcept {
    released.push_back(block.address());
    return {};
  }
};

}  // namespace

TEST_CASE("Of two arrays next to each other only the one that a held input reads outlives its owner") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {16});
  const auto y = graph.output<float>("y", {16});
  graph.add<Scale>(x, y, 2.0F);
  auto session = open<Adjacent>(graph);
  std::optional first(session.allocate(x));
  std::optional second(session.allocate(x));
  const std::uint64_t begin = first->span().data().address();
  const std::uint64_t end = second->span().data().address();
  REQUIRE(end - begin == arch::block_bytes<arch::A5>(64));
  std::vector<float> hx(16, 1), hy(16);
  REQUIRE(session.upload(*second, hx).ok());
  REQUIRE(session.run_round(bind(x, *second), bind(y, hy)).ok());
  REQUIRE(session.hold(x).ok());
  first.reset();
  CHECK(Adjacent::released == std::vector{begin});
  second.reset();
  CHECK(Adjacent::released == std::vector{begin});
  REQUIRE(session.release_hold(x).ok());
  CHECK(Adjacent::released == std::vector{begin, end});
}

TEST_CASE("An input that is held in memory next to the arena stays held when the arena moves") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {16});
  const auto y = graph.output<float>("y", {16});
  graph.add<Scale>(x, y, 2.0F);
  graph.keep(x);
  auto session = open<Adjacent>(graph);
  const std::uint64_t end = reinterpret_cast<std::uintptr_t>(Adjacent::memory) + Adjacent::used;
  auto array = session.allocate(x);
  REQUIRE(array.span().data().address() == end);
  std::vector<float> ones(16, 1), threes(16, 3), hy(16);
  REQUIRE(session.upload(array, threes).ok());
  REQUIRE(session.run_round(bind(x, array), bind(y, hy)).ok());
  REQUIRE(session.hold(x).ok());
  const Bytes size = session.arena_bytes();
  REQUIRE(session.move_arena({session.platform().allocate(size, Bytes{1024}), size.value}).ok());
  REQUIRE(session.run_round(bind(x, ones), bind(y, hy)).ok());
  CHECK(hy == std::vector<float>(16, 6));
  REQUIRE(session.release_hold(x).ok());
}

TEST_CASE("A resident that tasks read first must be uploaded once; until then rounds name it and do nothing") {
  Rig rig;
  const auto check = [&](Status status) {
    const std::string text = rig.explain(status);
    CAPTURE(text);
    CHECK(status.code() == Errc::uninitialized_read);
    CHECK_FALSE(status.poisoned());
    CHECK(says(text, "'w'", "resident", "upload"));
    CHECK(rig.script.take().empty());
  };
  check(rig.run());
  check(rig.session.begin_round(bind(rig.x, rig.hx), bind(rig.y, rig.hy)).launch().finish().status());
  const auto prebound = rig.session.prebind(bind(rig.x, rig.hx), bind(rig.y, rig.hy));
  check(rig.session.run_round(prebound));
  CHECK(rig.session.hold(rig.x).code() == Errc::unbound_tensor);

  CHECK(rig.session.upload(rig.w, rig.hw).ok());
  CHECK(rig.script.take() == "copy_in:8 wait");
  CHECK(rig.run().ok());
  CHECK(rig.hy == std::vector<float>{11, 22});
}

TEST_CASE("A resident moves only by upload and download, and keeps what the rounds made of it") {
  Rig rig;
  CHECK(rig.session.upload(rig.w, rig.hw).ok());
  (void)rig.script.take();
  for (int i = 0; i < 5; ++i) {
    REQUIRE(rig.run().ok());
    REQUIRE(rig.script.take() == "copy_in:8 launch copy_out:8 wait");
  }
  CHECK(rig.hy == std::vector<float>{15, 30});  // w before the fifth round, and x
  std::vector<float> back(2);
  CHECK(rig.session.download(rig.w, back).ok());
  CHECK(rig.script.take() == "copy_out:8 wait");
  CHECK(back == std::vector<float>{15, 30});
  CHECK(rig.hw == std::vector<float>{10, 20});
}

TEST_CASE("Uploads and downloads that cannot be are refused by name, and nothing changes") {
  Rig rig;
  CHECK(rig.session.upload(rig.w, rig.hw).ok());
  (void)rig.script.take();
  const auto check = [&](Status status, Errc code, auto... parts) {
    const std::string text = rig.explain(status);
    CAPTURE(text);
    CHECK(status.code() == code);
    CHECK(says(text, parts...));
    CHECK(rig.script.take().empty());
  };
  std::vector<float> wrong(3);
  check(rig.session.upload(rig.w, wrong), Errc::wrong_size, "'w'", "takes 8 bytes", "12 were bound");
  check(rig.session.download(rig.w, wrong), Errc::wrong_size, "'w'", "takes 8 bytes", "12 were bound");
  const std::span<float> empty;
  check(rig.session.upload(rig.w, empty), Errc::wrong_size, "'w'", "0 were bound");
  const CopiedPair<float, Direction::in> null{Input<float>{rig.w.key}, nullptr, 2};
  check(rig.session.upload(rig.w, null), Errc::null_memory, "'w'", "null");
  TaskGraph other;
  (void)other.input<float>("x", {2});
  const auto foreign = other.resident<float>("w", {2});
  check(rig.session.upload(foreign, rig.hw), Errc::wrong_tensor);
  check(rig.session.download(foreign, rig.hw), Errc::wrong_tensor);
  CHECK(rig.run().ok());
  CHECK(rig.hy == std::vector<float>{11, 22});
}

TEST_CASE("A refused upload leaves the session waiting for a good one") {
  Rig rig;
  std::vector<float> wrong(3);
  CHECK(rig.session.upload(rig.w, wrong).code() == Errc::wrong_size);
  CHECK(rig.run().code() == Errc::uninitialized_read);
  rig.script.fail_on = "copy_in";
  rig.script.failure = Status{Errc::device_failed};
  CHECK(rig.session.upload(rig.w, rig.hw).code() == Errc::device_failed);
  CHECK(rig.run().code() == Errc::uninitialized_read);
  rig.script.fail_on.clear();
  std::int32_t one = 1;
  CHECK(rig.session.upload(rig.unused, one).ok());  // another resident does not stand in for it
  CHECK(rig.run().code() == Errc::uninitialized_read);
  CHECK(rig.session.upload(rig.w, rig.hw).ok());
  CHECK(rig.run().ok());
}

TEST_CASE(
    "Neither residents nor the arena are moved, nor scalars set, while a round is under way, nor once poisoned or "
    "closed") {
  Rig rig;
  CHECK(rig.session.upload(rig.w, rig.hw).ok());
  alignas(1024) static std::byte memory[4096];
  const DeviceSpan<std::byte> arena{DevicePtr<std::byte>{reinterpret_cast<std::uintptr_t>(memory)}, sizeof(memory)};
  {
    auto round = rig.session.begin_round(bind(rig.x, rig.hx), bind(rig.y, rig.hy));
    CHECK(rig.session.move_arena(arena).code() == Errc::busy);
    CHECK(rig.session.set_scalar(rig.first, 0, 2.0F).code() == Errc::busy);
    CHECK(rig.session.upload(rig.w, rig.hw).code() == Errc::busy);
    CHECK(rig.session.download(rig.w, rig.hw).code() == Errc::busy);
  }
  rig.hx[0] = -1;
  CHECK(rig.run().code() == Errc::kernel_failed);
  CHECK(rig.session.upload(rig.w, rig.hw).code() == Errc::poisoned);
  CHECK(rig.session.download(rig.w, rig.hw).code() == Errc::poisoned);
  CHECK(rig.session.move_arena(arena).code() == Errc::poisoned);
  CHECK(rig.session.set_scalar(rig.first, 0, 2.0F).code() == Errc::poisoned);
  (void)rig.session.close();
  CHECK(rig.session.move_arena(arena).code() == Errc::closed);
  CHECK(rig.session.set_scalar(rig.first, 0, 2.0F).code() == Errc::closed);
  CHECK(rig.session.upload(rig.w, rig.hw).code() == Errc::closed);
  CHECK(rig.session.download(rig.w, rig.hw).code() == Errc::closed);
}

TEST_CASE("The device side of what stays there can be asked for, and lies inside the arena") {
  Rig rig;
  const auto w = rig.session.pair(rig.w);
  const auto t = rig.session.pair(rig.t);
  CHECK(w.handle() == rig.w);
  CHECK(w.size() == 2);
  CHECK(t.size() == 3);
  CHECK(w.device().address() % 64 == 0);
  CHECK(w.device().address() != t.device().address());
  TaskGraph other;
  const auto foreign = other.resident<float>("w", {2});
  CHECK(raised([&] { (void)rig.session.pair(foreign); }).code == Errc::wrong_tensor);
  const auto added_later = rig.graph.resident<float>("added_later", {2});
  CHECK(raised([&] { (void)rig.session.pair(added_later); }).code == Errc::wrong_tensor);
  CHECK(rig.session.upload(added_later, rig.hw).code() == Errc::wrong_tensor);
}

TEST_CASE("A platform that fails without poisoning fails its round alone, wherever it is") {
  for (const char* where : {"copy_in", "launch", "copy_out", "wait"}) {
    CAPTURE(where);
    Rig rig;
    CHECK(rig.session.upload(rig.w, rig.hw).ok());
    CHECK(rig.run().ok());
    const auto prebound = rig.session.prebind(bind(rig.x, rig.hx), bind(rig.y, rig.hy));
    rig.script.fail_on = where;
    rig.script.failure = Status{Errc::timed_out};
    CHECK(rig.run() == Status{Errc::timed_out});
    CHECK(rig.session.run_round(bind(rig.y, rig.hy), bind(rig.x, rig.hx)) == Status{Errc::timed_out});
    CHECK(rig.session.run_round(prebound) == Status{Errc::timed_out});
    CHECK_FALSE(rig.session.poisoned());
    CHECK(rig.session.rounds() == 1);
    rig.script.fail_on.clear();
    CHECK(rig.session.upload(rig.w, rig.hw).ok());
    CHECK(rig.run().ok());
    CHECK(rig.hy == std::vector<float>{11, 22});
    CHECK(rig.session.rounds() == 2);
  }
}

TEST_CASE("A round that fails half-way does nothing of what would have come after, but waits for what is under way") {
  Rig rig;
  CHECK(rig.session.upload(rig.w, rig.hw).ok());
  (void)rig.script.take();
  rig.script.failure = Status{Errc::timed_out};
  rig.script.fail_on = "copy_in";
  CHECK_FALSE(rig.run().ok());
  CHECK(rig.script.take() == "copy_in:8 wait");
  rig.script.fail_on = "launch";
  CHECK_FALSE(rig.run().ok());
  CHECK(rig.script.take() == "copy_in:8 launch wait");
  CHECK(rig.hy == std::vector<float>{0, 0});
}

TEST_CASE("A failure that poisons is told once, then every call says that there was one and which") {
  for (const char* where : {"copy_in", "launch", "copy_out", "wait"}) {
    CAPTURE(where);
    Rig rig;
    CHECK(rig.session.upload(rig.w, rig.hw).ok());
    rig.script.fail_on = where;
    rig.script.failure = Status{Errc::device_failed}.poisoning();
    const Status told = rig.run();
    CHECK(told.code() == Errc::device_failed);
    CHECK(told.poisoned());
    CHECK_FALSE(says(rig.explain(told), "The failure:"));
    rig.script.fail_on.clear();
    (void)rig.script.take();
    const Status after = rig.run();
    CHECK(after.code() == Errc::poisoned);
    CHECK(after.poisoned());
    CHECK(rig.script.take().empty());
    const std::string text = rig.explain(after);
    CAPTURE(text);
    CHECK(says(text, "unusable", "close it", "The failure: the device reported a failure"));
    CHECK(rig.session.poisoned());
    CHECK(rig.session.rounds() == 0);
    (void)rig.session.close();
    CHECK(says(rig.script.take(), "release"));  // closing still gives everything back
  }
}

TEST_CASE("A kernel that throws is named by its task, with what it said where the platform keeps it") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {2});
  const auto y = graph.output<float>("y", {2});
  const auto z = graph.output<float>("z", {2});
  graph.add<Scale>(x, z, 1.0F);
  graph.add<Fragile>(x, y);
  auto session = open<A2A3Sim>(graph);
  const std::vector<float> hx{-1, 0};
  std::vector<float> hy(2);
  std::vector<float> hz(2);
  const Status status = session.run_round(bind(x, hx), bind(y, hy), bind(z, hz));
  CHECK(status == Status::of_task(Errc::kernel_failed, 1).poisoning());
  const std::string text = session.explain(status).c_str();
  CAPTURE(text);
  CHECK(says(text, "task 1 'fragile'", "threw an exception", "the platform reports: a negative element"));
  const std::string later = session.explain(session.run_round(bind(x, hx), bind(y, hy), bind(z, hz))).c_str();
  CAPTURE(later);
  CHECK(says(later, "The failure: task 1 'fragile'", "a negative element"));
}

TEST_CASE("A closed session refuses rounds, closes again without harm and gives nothing back twice") {
  Rig rig;
  CHECK(rig.session.close().ok());
  CHECK(rig.script.take() == "wait unload release");
  CHECK(rig.session.close().ok());
  CHECK(rig.script.take().empty());
  const Status status = rig.run();
  CHECK(status.code() == Errc::closed);
  CHECK(says(rig.explain(status), "open a new one"));
  CHECK(rig.session.begin_round(bind(rig.x, rig.hx)).launch().finish().status().code() == Errc::closed);
  CHECK(rig.script.take().empty());
  Rig other;
  CHECK(rig.session.run_round(other.session.prebind(bind(other.x, other.hx), bind(other.y, other.hy))).code() ==
        Errc::closed);
}

TEST_CASE("A prebinding that is out of date is refused with the name of a tensor that it binds, or of any") {
  const auto refusal_of = []<class... B>(auto& graph, const B&... pairs) {
    auto session = open<A5Sim>(graph);
    const auto prebound = session.prebind(pairs...);
    const Bytes size = session.arena_bytes();
    const auto arena = session.platform().allocate(size, Bytes{A5Sim::Arch::arena_alignment});
    REQUIRE(session.move_arena({arena, size.value}).ok());
    const std::vector<float> w(2);
    REQUIRE(session.upload(graph.w, w).ok());
    const Status refused = session.run_round(prebound);
    CHECK(refused.code() == Errc::stale_memory);
    const std::string text = session.explain(refused).c_str();
    CHECK(session.close().ok());
    CHECK(session.platform().release(arena).ok());
    return text;
  };
  struct Sums : TaskGraph {
    Resident<float> w = resident<float>("w", {2});
    Resident<float> sum = resident<float>("sum", {2});
  };
  std::vector<float> hx{1, 2}, hy(2);
  {
    Sums graph;
    const auto x = graph.input<float>("x", {2});
    const auto y = graph.output<float>("y", {2});
    graph.add<Scale>(x, y, 1.0F);
    CHECK(refusal_of(graph, bind(x, hx), bind(y, hy)).starts_with("tensor 'x'"));
  }
  {
    Sums graph;
    const auto x = graph.input<float>("x", {2});
    graph.add<Accumulate>(x, graph.w);
    CHECK(refusal_of(graph, bind(x, hx)).starts_with("tensor 'x'"));
  }
  {
    Sums graph;
    graph.add<Scale>(graph.w, graph.sum, 1.0F);
    CHECK(refusal_of(graph).starts_with("tensor 'w'"));
  }
}

TEST_CASE("Closing goes on after a failure and returns the first one") {
  struct Row {
    const char* where;
    const char* calls;
  };
  for (const Row row : {Row{"wait", "wait unload release"}, Row{"unload", "wait unload release"},
                        Row{"release", "wait unload release"}}) {
    CAPTURE(row.where);
    Rig rig;
    rig.script.fail_on = row.where;
    rig.script.failure = Status{Errc::timed_out};
    CHECK(rig.session.close().code() == Errc::timed_out);
    CHECK(rig.script.take() == row.calls);
    rig.script.fail_on.clear();
    CHECK(rig.session.close().ok());
  }
}

TEST_CASE("A status explains itself even if its tensor or task is not of this session") {
  Rig rig;
  CHECK(says(rig.explain(Status::of_tensor(Errc::wrong_size, 99)), "does not hold exactly"));
  CHECK(says(rig.explain(Status::of_task(Errc::kernel_failed, 99)), "kernel threw"));
  CHECK(rig.explain({}) == "ok");
  CHECK(says(rig.explain(Status::of_tensor(Errc::bound_twice, 0)), "'x'", "in", "2 × float32", "bind it once"));
}

TEST_CASE("A session neither copies nor moves, and its rounds never throw") {
  using Session = RoundSession<A2A3Sim>;
  CHECK_FALSE(std::is_copy_constructible_v<Session>);
  CHECK_FALSE(std::is_move_constructible_v<Session>);
  CHECK_FALSE(std::is_copy_assignable_v<Session>);
  CHECK_FALSE(std::is_move_assignable_v<Session>);
  Rig rig;
  CHECK(noexcept(rig.run().ok()) == false);  // the rig's own, for contrast
  CHECK(noexcept(rig.session.run_round(bind(rig.x, rig.hx), bind(rig.y, rig.hy))));
  CHECK(noexcept(rig.session.prebind(bind(rig.x, rig.hx))));
  CHECK(noexcept(rig.session.begin_round(bind(rig.x, rig.hx)).launch().finish().status()));
  CHECK(noexcept(rig.session.upload(rig.w, rig.hw)));
  CHECK(noexcept(rig.session.download(rig.w, rig.hw)));
  CHECK(noexcept(rig.session.close()));
}

namespace {

/// Memory at addresses that grow, without any contents.
struct Addresses : NullPlatform {
  using NullPlatform::NullPlatform;
  std::uint64_t next = 4096;
  DevicePtr<std::byte> allocate(Bytes size, Bytes) noexcept {
    return DevicePtr<std::byte>{std::exchange(next, next + size.value)};
  }
};

}  // namespace

TEST_CASE("An input cannot be held once the array that the last round bound is gone, and can after one beside it") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {128});
  const auto y = graph.output<float>("y", {128});
  graph.add<Scale>(x, y, 2.0F);
  auto session = open<Addresses>(graph);
  std::vector<float> hy(128);
  for (const bool is_beside : {false, true}) {
    std::optional<DeviceArray<float>> array(session.allocate(x));
    DeviceArray<float> after = session.allocate(x);  // begins where the other one ends
    const DeviceSpan<float> bound = is_beside ? after.span() : array->span();
    REQUIRE(session.run_round(bind(x, bound), bind(y, hy)).ok());
    array.reset();
    CHECK(session.hold(x).code() == (is_beside ? Errc::ok : Errc::unbound_tensor));
  }
}
