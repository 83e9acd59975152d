// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/session/round.hpp>

#include <rondo/session/open.hpp>
#include <unit/session/scripted_platform.hpp>
#include <unit/support.hpp>

#include <doctest/doctest.h>

#include <array>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

using namespace rondo;
using namespace rondo::test;

namespace {

struct Rig {
  TaskGraph graph;
  Input<float> x = graph.input<float>("x", {2});
  Output<float> y = graph.output<float>("y", {2});
  TaskId task = graph.add<Scale>(x, y, 2.0F);
  Script script;
  using Session = RoundSession<ScriptedPlatform>;
  std::unique_ptr<Session> session{new Session(freeze(graph), {&script})};
  std::vector<float> hx{1, 2};
  std::vector<float> hy = std::vector<float>(2);
  Rig() { (void)script.take(); }

  auto begin() { return session->begin_round(bind(x, hx), bind(y, hy)); }
  Status run() { return session->run_round(bind(x, hx), bind(y, hy)); }
};

template <Stage S>
using R = Round<Rig::Session, std::array<detail::Binding, 2>, S>;

template <class T>
concept Launches = requires(T&& round) { std::forward<T>(round).launch(); };
template <class T>
concept Finishes = requires(T&& round) { std::forward<T>(round).finish(); };
template <class T>
concept HasStatus = requires(T&& round) { round.status(); };

}  // namespace

TEST_CASE("Each state of a round offers the next step alone, and only to whoever gives the round away") {
  CHECK(Launches<R<Stage::bound>>);
  CHECK_FALSE(Launches<R<Stage::bound>&>);
  CHECK_FALSE(Finishes<R<Stage::bound>>);
  CHECK_FALSE(HasStatus<R<Stage::bound>>);

  CHECK_FALSE(Launches<R<Stage::launched>>);
  CHECK(Finishes<R<Stage::launched>>);
  CHECK_FALSE(Finishes<R<Stage::launched>&>);
  CHECK_FALSE(HasStatus<R<Stage::launched>>);

  CHECK_FALSE(Launches<R<Stage::finished>>);
  CHECK_FALSE(Finishes<R<Stage::finished>>);
  CHECK(HasStatus<R<Stage::finished>>);
}

TEST_CASE("A round is moved and never copied") {
  CHECK_FALSE(std::is_copy_constructible_v<R<Stage::bound>>);
  CHECK_FALSE(std::is_copy_constructible_v<R<Stage::launched>>);
  CHECK(std::is_nothrow_move_constructible_v<R<Stage::bound>>);
  CHECK_FALSE(std::is_default_constructible_v<R<Stage::bound>>);
}

TEST_CASE("Each step does its part and nothing of the next one") {
  Rig rig;
  auto bound = rig.begin();
  CHECK(rig.script.take() == "copy_in:8");
  auto launched = std::move(bound).launch();
  CHECK(rig.script.take() == "launch");
  CHECK(rig.hy == std::vector<float>{0, 0});
  auto finished = std::move(launched).finish();
  CHECK(rig.script.take() == "copy_out:8 wait");
  CHECK(finished.status().ok());
  CHECK(static_cast<bool>(finished));
  CHECK(rig.hy == std::vector<float>{2, 4});
}

TEST_CASE("A round knows its number, and failed ones do not count") {
  Rig rig;
  CHECK(rig.begin().index() == RoundIndex{0});  // dropped
  CHECK(rig.run().ok());
  CHECK(rig.begin().index() == RoundIndex{1});
  CHECK(rig.begin().launch().finish().index() == RoundIndex{1});
  CHECK(rig.session->rounds() == 2);
}

TEST_CASE("While a round is under way the session refuses others and moves no resident") {
  Rig rig;
  auto round = rig.begin();
  CHECK(rig.run().code() == Errc::busy);
  CHECK(rig.begin().launch().finish().status().code() == Errc::busy);
  auto launched = std::move(round).launch();
  CHECK(rig.run().code() == Errc::busy);
  CHECK(std::move(launched).finish().status().ok());
  CHECK(rig.run().ok());
}

TEST_CASE("Bindings known only at run time begin no round of another session") {
  Rig rig;
  Rig::Session other(freeze(rig.graph), {&rig.script});
  DynamicBindings theirs(other);
  REQUIRE(theirs.bind(rig.x.key.tensor(), rig.hx.data(), Bytes{8}).ok());
  REQUIRE(theirs.bind(rig.y.key.tensor(), rig.hy.data(), Bytes{8}).ok());
  CHECK(rig.session->begin_round(theirs).failure().code() == Errc::wrong_tensor);
  CHECK(other.begin_round(theirs).launch().finish().status().ok());
}

TEST_CASE("An asynchronous round of a session that is closed is refused for that, whatever ran before") {
  Rig rig;
  auto x = rig.session->allocate(rig.x);
  auto y = rig.session->allocate(rig.y);
  const auto begin = [&] { return rig.session->begin_async_round(bind(rig.x, x), bind(rig.y, y)).failure().code(); };
  REQUIRE(rig.run().ok());
  CHECK(begin() == Errc::mixed_modes);
  {
    auto round = rig.begin();
    CHECK(begin() == Errc::busy);
  }
  CHECK(rig.session->close().ok());
  CHECK(begin() == Errc::closed);
}

TEST_CASE("A round that is moved stays the one that is under way") {
  Rig rig;
  {
    auto round = rig.begin();
    auto moved = std::move(round);
    std::optional<decltype(moved)> boxed{std::move(moved)};
    CHECK(rig.run().code() == Errc::busy);
    CHECK(std::move(*boxed).launch().finish().status().ok());
  }
  CHECK(rig.run().ok());
  CHECK(rig.session->rounds() == 2);
}

TEST_CASE("A round that is dropped before or after its launch is waited for, copies nothing out, and does not count") {
  Rig rig;
  {
    auto round = rig.begin();
  }
  CHECK(rig.script.take() == "copy_in:8 wait");
  {
    auto round = rig.begin().launch();
  }
  CHECK(rig.script.take() == "copy_in:8 launch wait");
  CHECK(rig.session->rounds() == 0);
  CHECK(rig.hy == std::vector<float>{0, 0});
  CHECK(rig.run().ok());
  CHECK(rig.hy == std::vector<float>{2, 4});
}

TEST_CASE("A step that fails is remembered: later steps do nothing, and the end tells") {
  Rig rig;
  rig.script.fail_on = "copy_in";
  rig.script.failure = Status{Errc::device_failed};
  auto bound = rig.begin();
  rig.script.fail_on.clear();
  auto finished = std::move(bound).launch().finish();
  CHECK(finished.status().code() == Errc::device_failed);
  CHECK_FALSE(static_cast<bool>(finished));
  const std::string calls = rig.script.take();
  CHECK(calls.find("launch") == std::string::npos);
  CHECK(calls.find("copy_out") == std::string::npos);
  CHECK(rig.run().ok());  // it did not poison
}

TEST_CASE("A failure that poisons is told by the finished round and kept by the session") {
  for (const char* where : {"copy_in", "launch", "copy_out", "wait"}) {
    CAPTURE(where);
    Rig rig;
    rig.script.fail_on = where;
    rig.script.failure = Status{Errc::device_failed}.poisoning();
    const Status status = rig.begin().launch().finish().status();
    CHECK(status.code() == Errc::device_failed);
    CHECK(status.poisoned());
    CHECK(rig.session->poisoned());
    CHECK(rig.run().code() == Errc::poisoned);
    CHECK(rig.begin().launch().finish().status().code() == Errc::poisoned);
    CHECK(rig.session->rounds() == 0);
  }
}

TEST_CASE("A round whose session is closed half-way says so at its end and touches nothing") {
  Rig rig;
  auto bound = rig.begin();
  CHECK(rig.session->close().ok());
  (void)rig.script.take();
  CHECK(std::move(bound).launch().finish().status().code() == Errc::closed);
  CHECK(rig.script.take().empty());
}

TEST_CASE("A round whose session is destroyed half-way says so at its end, at either state") {
  {
    Rig rig;
    auto bound = rig.begin();
    rig.session.reset();
    CHECK(std::move(bound).launch().finish().status().code() == Errc::closed);
  }
  {
    Rig rig;
    auto launched = rig.begin().launch();
    rig.session.reset();
    CHECK(std::move(launched).finish().status().code() == Errc::closed);
    CHECK(rig.hy == std::vector<float>{0, 0});
  }
  {
    Rig rig;
    auto dropped = rig.begin().launch();
    rig.session.reset();
  }
}
