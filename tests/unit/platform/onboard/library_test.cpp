// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/onboard/library.hpp>

#include <doctest/doctest.h>

#include <set>
#include <string>

using namespace rondo;
using namespace rondo::platform::onboard;

TEST_CASE("Each call of the table is looked up once, under a name of its own") {
  Calls calls;
  std::set<std::string> names;
  std::size_t slots = 0;
  const auto count = [&](const char* symbol, auto& slot) {
    CHECK(names.insert(symbol).second);
    CHECK(static_cast<void*>(&slot) == static_cast<void*>(reinterpret_cast<void**>(&calls) + slots));
    ++slots;
  };
  visit_required(calls, count);
  const std::size_t required = slots;
  visit_optional(calls, count);
  CHECK(slots * sizeof(void*) == sizeof(Calls));  // none was forgotten
  CHECK(required == 27);
}

TEST_CASE("A library that is no runtime is refused by the first call that it lacks") {
  Calls calls;
  void* const self = dlopen(nullptr, RTLD_NOW);
  REQUIRE(self != nullptr);
  try {
    fill(calls, self, "libself.so");
    FAIL("it was taken");
  } catch (const Error& e) {
    CHECK(e.code() == Errc::unsupported);
    CHECK(std::string(e.what()).find("libself.so has no aclInit") == 0);
  }
}

TEST_CASE("Capabilities need all of their calls") {
  Calls calls;
  CHECK_FALSE(calls.launches());
  calls.launch_host_args = [](FuncHandle, std::uint32_t, Stream, const void*, void*, std::size_t, const void*,
                              std::size_t) { return 0; };
  CHECK(calls.launches());
  calls.capture_begin = [](Stream, int) { return 0; };
  calls.capture_end = [](Stream, RunInstance*) { return 0; };
  calls.execute = [](RunInstance, Stream) { return 0; };
  calls.destroy_instance = [](RunInstance) { return 0; };
  CHECK_FALSE(calls.captures());  // host args would be frozen in the graph
  calls.launch_device_args = [](FuncHandle, std::uint32_t, const void*, std::size_t, const void*, Stream) { return 0; };
  CHECK(calls.captures());
  calls.execute = nullptr;
  CHECK_FALSE(calls.captures());
  CHECK_FALSE(calls.has_virtual_memory());
}
