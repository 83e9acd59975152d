// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

#include <rondo/detail/atomic.hpp>
#include <rondo/detail/owned.hpp>
#include <rondo/detail/thread.hpp>

#include <doctest/doctest.h>

#include <cstdint>

namespace {

namespace detail = rondo::detail;
using detail::Order;

TEST_CASE("an atomic does what its operations say") {
  detail::Atomic<std::uint32_t> n{5};
  CHECK(n.load() == 5);
  n.store(7, Order::release);
  CHECK(n.exchange(8) == 7);
  CHECK(n.fetch_add(2, Order::relaxed) == 8);
  CHECK(n.fetch_sub(1) == 10);
  std::uint32_t expected = 1;
  CHECK_FALSE(n.compare_exchange_strong(expected, 2, Order::acq_rel));
  CHECK(expected == 9);
  CHECK(n.compare_exchange_strong(expected, 2));
  CHECK(n.load(Order::acquire) == 2);
  while (!n.compare_exchange_weak(expected = 2, 3, Order::release)) {
  }
  CHECK(n.load() == 3);
  int target = 0;
  detail::Atomic<int*> pointer{nullptr};
  CHECK(pointer.exchange(&target) == nullptr);
  CHECK(pointer.load() == &target);
  detail::Atomic<bool> flag{false};
  flag.store(true);
  CHECK(flag.load());
}

struct PingPong {
  static constexpr std::uint32_t turns = 20'000;
  detail::Signal ping, pong;
  std::uint64_t plain = 0;  // what the signals hand over

  static void answer(void* self) noexcept {
    auto& game = *static_cast<PingPong*>(self);
    for (std::uint32_t turn = 1; turn <= turns; ++turn) {
      game.ping.wait(turn - 1, Order::acquire);
      ++game.plain;
      game.pong.store(turn, Order::release);
      game.pong.notify_one();
    }
  }
};

TEST_CASE("a signal wakes who sleeps on it, every time, and hands over what was written before") {
  PingPong game;
  detail::Thread thread;
  CHECK_FALSE(thread.joinable());
  thread.start(&PingPong::answer, &game, "the test's thread");
  CHECK(thread.joinable());
  for (std::uint32_t turn = 1; turn <= PingPong::turns; ++turn) {
    ++game.plain;
    game.ping.store(turn, Order::release);
    game.ping.notify_all();
    game.pong.wait(turn - 1, Order::acquire);
  }
  thread.join();
  thread.join();  // a second time does nothing
  CHECK(game.plain == 2 * PingPong::turns);
}

struct Shared {
  detail::Mutex mutex;
  std::uint64_t plain = 0;
  static void add(void* self) noexcept {
    auto& shared = *static_cast<Shared*>(self);
    for (int i = 0; i < 10'000; ++i) {
      const detail::Lock lock{shared.mutex};
      ++shared.plain;
    }
  }
};

TEST_CASE("a mutex lets in one at a time") {
  Shared shared;
  detail::Thread threads[3];
  for (detail::Thread& thread : threads) thread.start(&Shared::add, &shared, "the test's thread");
  for (detail::Thread& thread : threads) thread.join();
  CHECK(shared.plain == 30'000);
  CHECK(detail::host_cores() >= 1);
}

struct Counted {
  explicit Counted(int& alive) : alive_{alive} { ++alive_; }
  ~Counted() { --alive_; }
  int& alive_;
};

TEST_CASE("what is owned dies once: with its owner, or when it is reset or replaced") {
  int alive = 0;
  {
    detail::Owned<Counted> one(new Counted(alive)), none;
    CHECK(none == nullptr);
    CHECK(alive == 1);
    none = static_cast<detail::Owned<Counted>&&>(one);
    CHECK(one == nullptr);
    CHECK(none->alive_ == 1);
    none = detail::Owned<Counted>(new Counted(alive));
    CHECK(alive == 1);
    none.reset();
    CHECK(alive == 0);
    one = detail::Owned<Counted>(new Counted(alive));
  }
  CHECK(alive == 0);
}

}  // namespace
