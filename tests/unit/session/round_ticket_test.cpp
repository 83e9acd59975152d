// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/session/round_ticket.hpp>

#include <doctest/doctest.h>

#include <memory>

using namespace rondo;
using detail::OnDone;

namespace {

/// Counts how many of it are alive.
struct Counted {
  explicit Counted(int& n) noexcept : alive{&n} { ++*alive; }
  Counted(const Counted& other) noexcept : alive{other.alive} { ++*alive; }
  Counted& operator=(const Counted&) = delete;
  ~Counted() { --*alive; }
  int* alive;
};

}  // namespace

TEST_CASE("A ticket that was never given out says so") {
  CHECK_FALSE(RoundTicket{});
  CHECK(RoundTicket{}.submitted().code() == Errc::invalid_argument);
  CHECK(RoundTicket(7, Status{}).number() == 7);
  CHECK(RoundTicket(7, Status{}));
}

TEST_CASE("A completion is called once, with the status, and destroys what it held") {
  int alive = 0;
  int calls = 0;
  Errc code = Errc::ok;
  OnDone completion;
  completion.call(Status{});  // nothing to call
  completion.set([held = Counted(alive), &calls, &code](Status s) noexcept {
    ++calls;
    code = s.code();
  });
  CHECK(alive == 1);
  completion.call(Status{Errc::busy});
  completion.call(Status{Errc::closed});
  CHECK(calls == 1);
  CHECK(code == Errc::busy);
  CHECK(alive == 0);
}

TEST_CASE("A completion that is cleared, or outlived, destroys what it held uncalled") {
  int alive = 0;
  {
    OnDone completion;
    completion.set([held = Counted(alive)](Status) noexcept { FAIL("called"); });
    completion.clear();
    CHECK(alive == 0);
    completion.clear();
    completion.set([held = Counted(alive)](Status) noexcept { FAIL("called"); });
    CHECK(alive == 1);
  }
  CHECK(alive == 0);
}

TEST_CASE("A completion may be set anew by what it calls, and may hold what can only be moved") {
  int sum = 0;
  OnDone completion;
  completion.set([&, step = std::make_unique<int>(3)](Status) noexcept {
    sum += *step;
    completion.set([&, next = std::make_unique<int>(4)](Status) noexcept { sum += 10 * *next; });
  });
  completion.call(Status{});
  CHECK(sum == 3);
  completion.call(Status{});
  CHECK(sum == 43);
}
