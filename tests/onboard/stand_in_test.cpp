// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// The stand-in itself: that it behaves as the runtime is documented to, and finds what its caller does wrong.

#include "onboard/fixture.hpp"

#include <rondo/platform/onboard/library.hpp>

#include <doctest/doctest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <thread>

using namespace rondo;
using namespace onboard_test;
using namespace rondo::platform::onboard;

namespace {

/// The calls, a device and a stream, without Rondo.
struct Bare {
  Bare() {
    rondo_stand_in_reset();
    open_library(c);
    REQUIRE(c.init(nullptr) == 0);
    REQUIRE(c.set_device(0) == 0);
    REQUIRE(c.create_stream(&stream, 0, 0) == 0);
    REQUIRE(c.malloc(&block, 256, huge_first) == 0);
    REQUIRE(c.malloc_host(&host, 256) == 0);
  }
  Bare(const Bare&) = delete;
  Bare& operator=(const Bare&) = delete;
  ~Bare() {
    CHECK(c.synchronize(stream, -1) == 0);
    CHECK(c.destroy_stream(stream) == 0);
    CHECK(c.free(block) == 0);
    CHECK(c.free_host(host) == 0);
    CHECK(c.reset_device(0) == 0);
    CHECK(c.finalize() == 0);
    CHECK(rondo_stand_in_live(nullptr) == 0);
    rondo_stand_in_reset();
  }
  int copy_in(const void* from, std::size_t n, int kind = host_to_device) {
    return c.copy_async(block, 256, from, n, kind, stream);
  }
  [[nodiscard]] std::string inside(std::size_t n) const {
    std::string text(n, '?');
    CHECK(rondo_stand_in_peek(reinterpret_cast<std::uintptr_t>(block), text.data(), n));
    return text;
  }
  void write(const char* text) { std::memcpy(host, text, std::strlen(text)); }

  Calls c;
  Stream stream = nullptr;
  void* block = nullptr;
  void* host = nullptr;
};

}  // namespace

TEST_CASE("All calls that Rondo knows are there") {
  Calls c;
  open_library(c);
  visit_optional(c, [](const char* symbol, const auto& slot) {
    CAPTURE(symbol);
    const char* const without = std::getenv("RONDO_TEST_WITHOUT");
    const bool is_there = slot != nullptr;
    CHECK(is_there == (without == nullptr || std::strcmp(without, symbol) != 0));
  });
}

TEST_CASE("A host that follows a device address dies of it") {
  Bare b;
  std::fflush(nullptr);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    std::signal(SIGSEGV, SIG_DFL);
    std::_Exit(*static_cast<volatile char*>(b.block) == 0 ? 1 : 2);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status != 0);
  const bool read_it = WIFEXITED(status) && (WEXITSTATUS(status) == 1 || WEXITSTATUS(status) == 2);
  CHECK_FALSE(read_it);
}

TEST_CASE("Memory is not zeroed, nothing is 0 bytes long, and a block is freed once") {
  Bare b;
  CHECK(b.inside(1) != std::string(1, '\0'));
  void* nothing = nullptr;
  CHECK(b.c.malloc(&nothing, 0, huge_first) == 100000);
  void* more = nullptr;
  REQUIRE(b.c.malloc(&more, 64, huge_first) == 0);
  CHECK(b.c.free(more) == 0);
  CHECK(rondo_stand_in_misuses(nullptr, 0) == 0);
  CHECK(b.c.free(more) == 107000);
  CHECK(misuses().find("freed already") != std::string::npos);
}

TEST_CASE("A pinned copy reads when it runs, and bytes that changed before are a misuse; a snapshot has them") {
  Bare b;
  rondo_stand_in_hold();
  b.write("first");
  REQUIRE(b.copy_in(b.host, 5, host_to_buffer_to_device) == 0);
  b.write("other");
  REQUIRE(b.c.synchronize(b.stream, -1) == 0);
  CHECK(b.inside(5) == "first");
  CHECK(rondo_stand_in_misuses(nullptr, 0) == 0);
#if !defined(__SANITIZE_THREAD__)  // which finds the same thing, and ends the program
#if !defined(__has_feature)
#define __has_feature(x) 0
#endif
#if !__has_feature(thread_sanitizer)
  rondo_stand_in_hold();
  REQUIRE(b.copy_in(b.host, 5) == 0);
  b.write("third");
  REQUIRE(b.c.synchronize(b.stream, -1) == 0);
  CHECK(misuses().find("host bytes were changed") != std::string::npos);
#endif
#endif
}

TEST_CASE("A pageable copy waits, and so does the caller") {
  Bare b;
  rondo_stand_in_hold();
  const std::string text = "ordinary";
  REQUIRE(b.copy_in(text.data(), 8) == 0);
  CHECK(b.inside(8) == text);
  CHECK(rondo_stand_in_calls("pageable") == 1);
}

TEST_CASE("Copies that leave their block, or are not what they say, are refused and noted") {
  Bare b;
  CHECK(b.c.copy_async(b.block, 8, b.host, 16, host_to_device, b.stream) == 107000);
  CHECK(rondo_stand_in_misuses(nullptr, 0) == 0);  // destMax says it; the caller only has to hear it
  CHECK(b.c.copy_async(b.block, 257, b.host, 257, host_to_device, b.stream) == 107000);
  CHECK(b.c.copy_async(b.host, 8, b.block, 8, host_to_device, b.stream) == 107000);
  CHECK(b.c.copy_async(b.block, 256, b.host, 0, host_to_device, b.stream) == 107000);
  CHECK(rondo_stand_in_misuses(nullptr, 0) == 3);
  CHECK(b.c.copy_async(static_cast<std::byte*>(b.block) + 8, 8, b.host, 8, host_to_device, b.stream) == 0);
  CHECK(misuses().find("not at 64 bytes") != std::string::npos);
  REQUIRE(b.c.synchronize(b.stream, -1) == 0);
}

TEST_CASE("What still has work to do may not be destroyed") {
  Bare b;
  void* more = nullptr;
  REQUIRE(b.c.malloc(&more, 64, huge_first) == 0);
  rondo_stand_in_hold();
  REQUIRE(b.c.copy_async(more, 64, b.host, 64, host_to_device, b.stream) == 0);
  REQUIRE(b.c.free(more) == 0);
  CHECK(misuses().find("aclrtFree: queued work") != std::string::npos);
  Stream other = nullptr;
  REQUIRE(b.c.create_stream(&other, 0, 0) == 0);
  rondo_stand_in_hold();
  REQUIRE(b.c.copy_async(b.block, 64, b.host, 64, host_to_device, other) == 0);
  REQUIRE(b.c.destroy_stream(other) == 0);
  CHECK(misuses().find("aclrtDestroyStream: work is pending") != std::string::npos);
}

TEST_CASE("A host func runs after what was queued, and makes no call") {
  Bare b;
  static Bare* bare;
  static bool ran;
  bare = &b;
  ran = false;
  REQUIRE(b.c.launch_host_func(
              b.stream,
              [](void*) {
                ran = true;
                int status = 0;
                (void)bare->c.query_event(nullptr, &status);
              },
              nullptr) == 0);
  REQUIRE(b.c.synchronize(b.stream, -1) == 0);
  CHECK(ran);
  CHECK(misuses().find("from a host func") != std::string::npos);
}

TEST_CASE("A thread that has not set the device has none") {
  Bare b;
  int code = 0;
  std::thread{[&] { code = b.c.synchronize(b.stream, 1); }}.join();
  CHECK(code == 107002);
}

TEST_CASE("Events order streams, and tell when they are complete") {
  Bare b;
  Stream other = nullptr;
  platform::onboard::Event event = nullptr;
  REQUIRE(b.c.create_stream(&other, 0, 0) == 0);
  REQUIRE(b.c.create_event(&event, event_flag_sync) == 0);
  b.write("late");
  rondo_stand_in_hold();
  REQUIRE(b.copy_in(b.host, 4) == 0);
  REQUIRE(b.c.record_event(event, b.stream) == 0);
  int status = 7;
  REQUIRE(b.c.query_event(event, &status) == 0);
  CHECK(status == 0);
  REQUIRE(b.c.wait_event(other, event) == 0);
  char* const back = static_cast<char*>(b.host) + 128;
  REQUIRE(b.c.copy_async(back, 4, b.block, 4, device_to_host, other) == 0);
  REQUIRE(b.c.synchronize(other, -1) == 0);
  CHECK(std::string(back, 4) == "late");
  REQUIRE(b.c.query_event(event, &status) == 0);
  CHECK(status == event_complete);
  CHECK(b.c.destroy_event(event) == 0);
  CHECK(b.c.destroy_stream(other) == 0);
}

TEST_CASE("A wait that takes too long says so, and may be repeated") {
  Bare b;
  rondo_stand_in_hold();
  REQUIRE(b.copy_in(b.host, 4) == 0);
  CHECK(b.c.synchronize(b.stream, 5) == 507046);
  CHECK(b.c.synchronize(b.stream, -1) == 0);
}

TEST_CASE("A stream is not waited for without any time") {
  Bare b;
  for (const int limit : {0, -2}) CHECK(b.c.synchronize(b.stream, limit) == 107000);
}

TEST_CASE("What is not strict, a device finds out when it runs, and tells its own stream once") {
  Bare b;
  rondo_stand_in_limit("strict", 0);
  Stream other = nullptr;
  REQUIRE(b.c.create_stream(&other, 0, 0) == 0);
  CHECK(b.c.copy_async(b.block, 256, b.host, 0, host_to_device, b.stream) == 0);  // nothing to do
  b.write("kind");
  CHECK(b.c.copy_async(b.block, 256, b.host, 4, device_to_host, b.stream) == 0);  // it sees what is meant
  CHECK(b.c.synchronize(b.stream, -1) == 0);
  CHECK(b.inside(4) == "kind");
  void* const near_the_end = static_cast<std::byte*>(b.block) + 192;
  CHECK(b.c.copy_async(near_the_end, 128, b.host, 128, host_to_device, b.stream) == 0);  // past the block
  CHECK(b.c.synchronize(other, -1) == 0);
  CHECK(errc_of(b.c.synchronize(b.stream, -1)) == Errc::device_failed);
  CHECK(b.c.synchronize(b.stream, -1) == 0);
  CHECK(b.c.destroy_stream(other) == 0);
  CHECK(misuses() == "");
}

TEST_CASE("An old driver copies ordinary memory asynchronously, in a capture, too") {
  if (std::getenv("RONDO_TEST_WITHOUT") != nullptr) return;
  Bare b;
  rondo_stand_in_limit("old_driver", 1);
  const std::string text = "ordinary";
  rondo_stand_in_hold();
  REQUIRE(b.copy_in(text.data(), 8) == 0);
  CHECK(b.inside(8) != text);
  REQUIRE(b.c.synchronize(b.stream, -1) == 0);
  CHECK(b.inside(8) == text);
  RunInstance graph = nullptr;
  REQUIRE(b.c.capture_begin(b.stream, capture_thread_local) == 0);
  CHECK(b.copy_in(text.data(), 8) == 0);
  REQUIRE(b.c.capture_end(b.stream, &graph) == 0);
  CHECK(b.c.destroy_instance(graph) == 0);
}

TEST_CASE("A capture refuses what the runtime's refuses") {
  if (std::getenv("RONDO_TEST_WITHOUT") != nullptr) return;
  Bare b;
  platform::onboard::Event event = nullptr, clock = nullptr, fresh = nullptr;
  RunInstance graph = nullptr;
  const std::string text = "ordinary";
  REQUIRE(b.c.create_event(&event, event_flag_sync) == 0);
  REQUIRE(b.c.create_event(&clock, event_flag_time_line) == 0);
  REQUIRE(b.c.create_event(&fresh, event_flag_sync) == 0);
  REQUIRE(b.c.record_event(clock, b.stream) == 0);
  REQUIRE(b.c.record_event(event, b.stream) == 0);
  REQUIRE(b.c.synchronize(b.stream, -1) == 0);
  for (const int mode : {capture_global, capture_thread_local, capture_relaxed}) {
    REQUIRE(b.c.capture_begin(b.stream, mode) == 0);
    CHECK(b.copy_in(b.host, 8) == 0);                                   // pinned
    CHECK(b.c.set_async(b.block, 256, 0, 8, b.stream) == 0);            // memset
    CHECK(b.c.launch_host_func(b.stream, [](void*) {}, nullptr) == 0);  // host func
    CHECK(b.copy_in(text.data(), 8) == 107000);                         // pageable
    CHECK(b.c.copy(b.block, 256, b.host, 8, host_to_device) == (mode == capture_relaxed ? 0 : 107030));
    CHECK(b.c.synchronize(b.stream, 1) == 107027);
    CHECK(b.c.capture_begin(b.stream, mode) == 107027);
    CHECK(b.c.wait_event(b.stream, event) == 107024);  // from outside
    CHECK(b.c.wait_event(b.stream, fresh) == 0);       // never recorded
    CHECK(b.c.wait_event(b.stream, clock) == 207000);  // for times alone
    CHECK(b.c.capture_end(b.stream, &graph) == 0);
    CHECK(b.c.destroy_instance(graph) == 0);
  }
  REQUIRE(b.c.capture_begin(b.stream, capture_thread_local) == 0);
  int code = 0;
  std::thread{[&] {
    CHECK(b.c.set_device(0) == 0);
    CHECK(b.c.copy(b.block, 256, b.host, 8, host_to_device) == 0);  // beside a capture of another thread
    code = b.c.capture_end(b.stream, &graph);
    CHECK(b.c.reset_device(0) == 0);
  }}.join();
  CHECK(code == 107038);
  CHECK(graph == nullptr);

  Stream other = nullptr;
  REQUIRE(b.c.create_stream(&other, 0, 0) == 0);
  for (const bool joined : {false, true}) {
    REQUIRE(b.c.capture_begin(b.stream, capture_global) == 0);
    REQUIRE(b.c.record_event(event, b.stream) == 0);
    int status = 0;
    CHECK(b.c.query_event(event, &status) == 107028);
    REQUIRE(b.c.wait_event(other, event) == 0);
    REQUIRE(b.c.set_async(b.block, 256, 1, 8, other) == 0);
    if (joined) {
      REQUIRE(b.c.record_event(event, other) == 0);
      REQUIRE(b.c.wait_event(b.stream, event) == 0);
    }
    CHECK(b.c.capture_end(b.stream, &graph) == (joined ? 0 : 107025));
    CHECK((graph != nullptr) == joined);
  }
  REQUIRE(b.c.execute(graph, b.stream) == 0);
  REQUIRE(b.c.synchronize(b.stream, -1) == 0);
  CHECK(b.inside(8) == std::string(8, '\1'));
  CHECK(b.c.destroy_instance(graph) == 0);

  // Two captures meet, and both are lost.
  REQUIRE(b.c.capture_begin(b.stream, capture_global) == 0);
  REQUIRE(b.c.capture_begin(other, capture_global) == 0);
  REQUIRE(b.c.record_event(event, b.stream) == 0);
  CHECK(b.c.wait_event(other, event) == 107032);
  CHECK(b.c.capture_end(other, &graph) == 507903);
  CHECK(b.c.capture_end(b.stream, &graph) == 507903);
  for (platform::onboard::Event const each : {event, clock, fresh}) CHECK(b.c.destroy_event(each) == 0);
  CHECK(b.c.destroy_stream(other) == 0);
  CHECK(misuses() == "");
}

TEST_CASE("In a graph a pinned copy reads anew at each replay, a snapshot is that of the capture") {
  if (std::getenv("RONDO_TEST_WITHOUT") != nullptr) return;
  Bare b;
  RunInstance graph = nullptr;
  for (const int kind : {int{host_to_device}, int{host_to_buffer_to_device}}) {
    b.write("old");
    REQUIRE(b.c.capture_begin(b.stream, capture_thread_local) == 0);
    REQUIRE(b.copy_in(b.host, 3, kind) == 0);
    REQUIRE(b.c.capture_end(b.stream, &graph) == 0);
    b.write("new");
    REQUIRE(b.c.execute(graph, b.stream) == 0);
    REQUIRE(b.c.synchronize(b.stream, -1) == 0);
    CHECK(b.inside(3) == (kind == host_to_device ? "new" : "old"));
    CHECK(b.c.destroy_instance(graph) == 0);
  }
}
