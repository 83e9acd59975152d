// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/memory/registry.hpp>

#include <rondo/platform/select.hpp>

#include <doctest/doctest.h>

#include <sys/wait.h>
#include <unistd.h>
#include <csignal>
#include <cstdint>
#include <string_view>
#include <vector>

using namespace rondo;
using memory::Registry;
using memory::Space;
using memory::Staleness;

namespace {

/// Addresses that no platform has.
constexpr Space space = memory::space_of_device(7, 3);
constexpr Bytes kib{1024};

Registry& watching() {
  Registry::instance().watch();
  return Registry::instance();
}

}  // namespace

TEST_CASE("Memory is usable until it is released, and again once it is allocated anew") {
  Registry& registry = watching();
  CHECK(registry.check(space, 4096, 1) == Staleness::none);  // nobody has recorded it
  registry.note_allocated(space, 4096, kib);
  const std::uint64_t bound_at = registry.now();
  CHECK(registry.check(space, 4096, 1024, bound_at) == Staleness::none);
  registry.note_released(space, 4096, &registry);
  CHECK(registry.check(space, 4096 + 1023, 1) == Staleness::released);
  CHECK(registry.check(space, 4000, 97) == Staleness::released);
  CHECK(registry.check(space, 4000, 96) == Staleness::none);
  CHECK(registry.check(space, 4096 + 1024, 1) == Staleness::none);
  CHECK(registry.check(space, 4096, 0) == Staleness::none);
  CHECK(registry.check(Space::host, 4096, 1024) == Staleness::none);
  CHECK(registry.check(memory::space_of_device(6, 3), 4096, 1024) == Staleness::none);

  registry.note_allocated(space, 4096 + 512, kib);
  CHECK(registry.check(space, 4096, 1024) == Staleness::none);
  CHECK(registry.check(space, 4096 + 512, 8, bound_at) == Staleness::replaced);
  CHECK(registry.check(space, 4096 + 512, 8, registry.now()) == Staleness::none);
  registry.note_released(space, 4096 + 512, &registry);
  registry.forget_released_by(&registry);
  CHECK(registry.check(space, 4096, 2048) == Staleness::none);
  registry.note_released(space, 4096, &registry);  // nobody has recorded it
  CHECK(registry.check(space, 4096, 1024) == Staleness::none);
  CHECK(std::string_view(memory::describe(Staleness::none)) == "the memory is usable");
}

TEST_CASE("Only the latest releases are known") {
  Registry& registry = watching();
  for (std::uint64_t i = 0; i <= Registry::max_released; ++i) {
    registry.note_allocated(space, 4096 * (i + 1), kib);
    registry.note_released(space, 4096 * (i + 1), &registry);
  }
  CHECK(registry.check(space, 4096, 1024) == Staleness::none);
  for (std::uint64_t i = 1; i <= Registry::max_released; ++i) {
    REQUIRE(registry.check(space, 4096 * (i + 1), 1) == Staleness::released);
  }
  registry.forget_released(space, 8192);
  CHECK(registry.check(space, 8192, 1024) == Staleness::none);
  registry.forget_released_by(&registry);
}

TEST_CASE("An arena is its session's alone, and no longer when it has moved") {
  Registry& registry = watching();
  const char owners[2] = {};
  const void *const mine = &owners[0], *const theirs = &owners[1];
  REQUIRE(registry.enter_arena(space, mine, 4096, kib, true));
  REQUIRE(registry.enter_arena(space, theirs, 8192, kib, true));
  const auto of_mine = [&](std::uint64_t arena, std::uint64_t at) {
    return registry.check_bound(space, arena, at, 64);
  };
  CHECK(of_mine(4096, 4096 + 960) == Staleness::none);
  CHECK(of_mine(4096, 8192) == Staleness::of_another_session);
  CHECK(of_mine(4096, 4096 + 1024) == Staleness::none);
  REQUIRE(registry.enter_arena(space, mine, 16384, kib, false));
  CHECK(of_mine(16384, 16384) == Staleness::none);
  CHECK(of_mine(16384, 4096) == Staleness::arena_moved);
  CHECK(of_mine(8192, 4096) == Staleness::of_another_session);  // the other session's view
  REQUIRE(registry.enter_arena(space, mine, 32768, kib, false));
  CHECK(of_mine(32768, 16384) == Staleness::arena_moved);
  CHECK(of_mine(8192, 16384) == Staleness::none);  // its owner's again, who may give it to another session
  registry.note_allocated(space, 16384, kib);
  CHECK(of_mine(32768, 16384) == Staleness::none);
  registry.forget_arenas(mine);
  registry.forget_arenas(theirs);
  CHECK(of_mine(8192, 4096) == Staleness::none);
}

TEST_CASE("Device memory of the host is kept after its release, and an access to it ends the program") {
  (void)watching();
  A2A3Sim platform{A2A3Sim::Options{}};
  constexpr std::uint64_t size = 1 << 16;
  const DevicePtr<std::byte> block = platform.allocate(Bytes{size}, Bytes{1024});
  auto* const bytes = reinterpret_cast<volatile unsigned char*>(block.address());
  bytes[size / 2] = 1;
  REQUIRE(platform.release(block).ok());
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    for (const int signal : {SIGSEGV, SIGBUS}) (void)std::signal(signal, SIG_DFL);
    (void)::close(STDERR_FILENO);  // for what a sanitizer says
    bytes[size / 2] = 2;
    ::_exit(0);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK((WIFSIGNALED(status) || WEXITSTATUS(status) != 0));
  // Nothing else gets the addresses while they are known.
  std::vector<DevicePtr<std::byte>> others;
  for (int i = 0; i < 32; ++i) {
    others.push_back(platform.allocate(Bytes{size}, Bytes{1024}));
    CHECK(others.back() != block);
  }
  for (const DevicePtr<std::byte> other : others) REQUIRE(platform.release(other).ok());
}
