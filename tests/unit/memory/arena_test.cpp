// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/memory/arena.hpp>
#include <rondo/platform/check_platform.hpp>

#include <rondo/platform/select.hpp>
#include <unit/support.hpp>

#include <doctest/doctest.h>

#include <type_traits>
#include <vector>

using namespace rondo;
using namespace rondo::test;

namespace {

/// Remembers what it was asked for, and refuses to release where told so.
struct Ledger {
  using Arch = arch::A5;
  static constexpr const char* name = "ledger";
  struct Options {};
  explicit Ledger(const Options&) {}

  std::vector<Bytes> asked;
  std::vector<DevicePtr<std::byte>> released;
  bool refuses = false;

  DevicePtr<std::byte> allocate(Bytes size, Bytes alignment) {
    asked.push_back(size);
    asked.push_back(alignment);
    return DevicePtr<std::byte>{std::uint64_t{0x4000}};
  }
  Status release(DevicePtr<std::byte> block) noexcept {
    released.push_back(block);
    return refuses ? Status{Errc::device_failed} : Status{};
  }
  Status copy_in(DevicePtr<std::byte>, const void*, Bytes) noexcept { return {}; }
  Status copy_out(void*, DevicePtr<const std::byte>, Bytes) noexcept { return {}; }
  Status wait() noexcept { return {}; }
};
static_assert(check_platform<Ledger>());

}  // namespace

TEST_CASE("An arena allocates once, with its size and alignment, and gives back what it got") {
  Ledger ledger{{}};
  {
    memory::Arena<Ledger> arena{ledger, Bytes{100}, Bytes{1024}};
    CHECK(arena.base().address() == 0x4000);
    CHECK(arena.size() == Bytes{100});
    REQUIRE(ledger.asked.size() == 2);
    CHECK(ledger.asked[0] == Bytes{100});
    CHECK(ledger.asked[1] == Bytes{1024});
    CHECK(ledger.released.empty());
  }
  REQUIRE(ledger.released.size() == 1);
  CHECK(ledger.released[0].address() == 0x4000);
}

TEST_CASE("An arena that was released early is not released again") {
  Ledger ledger{{}};
  {
    memory::Arena<Ledger> arena{ledger, Bytes{100}, Bytes{1024}};
    CHECK(arena.release().ok());
    CHECK(arena.release().ok());
    CHECK_FALSE(static_cast<bool>(arena.base()));
  }
  CHECK(ledger.released.size() == 1);
}

TEST_CASE("Whoever releases an arena learns what the platform said, once") {
  Ledger ledger{{}};
  memory::Arena<Ledger> arena{ledger, Bytes{100}, Bytes{1024}};
  ledger.refuses = true;
  CHECK(arena.release().code() == Errc::device_failed);
  CHECK(arena.release().ok());
}

TEST_CASE("An arena of size 0 asks the platform for nothing") {
  Ledger ledger{{}};
  {
    const memory::Arena<Ledger> arena{ledger, Bytes{0}, Bytes{1024}};
    CHECK_FALSE(static_cast<bool>(arena.base()));
  }
  CHECK(ledger.asked.empty());
  CHECK(ledger.released.empty());
}

TEST_CASE("An arena passes on that there is no memory") {
  A2A3Sim device{{.device_memory = Bytes{1000}}};
  const Raised r = raised([&] { const memory::Arena<A2A3Sim> arena{device, Bytes{1001}, Bytes{1024}}; });
  CAPTURE(r.text);
  CHECK(r.code == Errc::out_of_memory);
  const memory::Arena<A2A3Sim> fits{device, Bytes{1000}, Bytes{1024}};
  CHECK(static_cast<bool>(fits.base()));
}

TEST_CASE("An arena neither copies nor moves") {
  CHECK_FALSE(std::is_copy_constructible_v<memory::Arena<Ledger>>);
  CHECK_FALSE(std::is_move_constructible_v<memory::Arena<Ledger>>);
}
