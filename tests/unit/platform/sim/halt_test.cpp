// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/sim/halt.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace rondo;
using platform::sim::current_exception_text;
using platform::sim::Halt;

namespace {

template <class E>
std::string text_of(const E& thrown) {
  try {
    throw thrown;
  } catch (...) {
    return current_exception_text().c_str();
  }
}

void record(Halt& halt, std::uint32_t task, const std::string& text, std::uint32_t round = 0) {
  try {
    throw std::runtime_error{text};
  } catch (...) {
    halt.record(task, round);
  }
}

}  // namespace

TEST_CASE("A kernel's exception is kept by its text") {
  CHECK(text_of(std::runtime_error{"index 9 is outside of 0..7"}) == "index 9 is outside of 0..7");
}

TEST_CASE("What is thrown and no exception is said to be so") {
  CHECK(text_of(42).find("no std::exception") != std::string::npos);
}

TEST_CASE("A text that is too long is cut, not lost") {
  const std::string text = text_of(std::runtime_error{std::string(1000, 'a')});
  CHECK(text.substr(0, 10) == "aaaaaaaaaa");
  CHECK(text.size() == 319);
  CHECK(text.substr(text.size() - 3) == "...");
}

TEST_CASE("Without a cause nothing halts") {
  const Halt halt;
  CHECK_FALSE(halt.requested());
  CHECK(halt.status().ok());
  CHECK(halt.text().empty());
}

TEST_CASE("A kernel that throws is told by its task, and poisons") {
  Halt halt;
  record(halt, 12, "bad index");
  CHECK(halt.requested());
  CHECK(halt.status() == Status::of_task(Errc::kernel_failed, 12).poisoning());
  CHECK(std::string{halt.text().c_str()} == "bad index");
}

TEST_CASE("Of several kernels that throw the first one tells") {
  Halt halt;
  record(halt, 3, "first");
  record(halt, 4, "second");
  CHECK(halt.status().index() == 3);
  CHECK(std::string{halt.text().c_str()} == "first");
}

TEST_CASE("A request to stop poisons without a task; a kernel that throws says more, whichever comes first") {
  Halt request;
  request.request_stop();
  CHECK(request.requested());
  CHECK(request.status() == Status{Errc::stopped}.poisoning());
  record(request, 5, "thrown later");
  CHECK(request.status() == Status::of_task(Errc::kernel_failed, 5).poisoning());

  Halt kernel;
  record(kernel, 6, "thrown before");
  kernel.request_stop();
  CHECK(kernel.status() == Status::of_task(Errc::kernel_failed, 6).poisoning());
  CHECK(std::string{kernel.text().c_str()} == "thrown before");
}

TEST_CASE("A request to stop that follows a failure stops loops and the tasks of earlier rounds") {
  Halt halt;
  record(halt, 6, "in round 2", 2);
  CHECK_FALSE(halt.skips(1));
  halt.request_stop();
  CHECK(halt.is_stop_requested());
  CHECK(halt.skips(1));
  CHECK(halt.status_of(1) == Status{Errc::stopped}.poisoning());
  CHECK(halt.status_of(2).code() == Errc::poisoned);
}

TEST_CASE("Of kernels that throw on several threads at once, exactly one tells, with its own text") {
  for (int i = 0; i < 50; ++i) {
    Halt halt;
    std::vector<std::thread> threads;
    for (std::uint32_t t = 0; t < 4; ++t) {
      threads.emplace_back([&halt, t] { record(halt, t, "text of " + std::to_string(t)); });
    }
    threads.emplace_back([&halt] { halt.request_stop(); });
    for (std::thread& t : threads) t.join();
    REQUIRE(halt.status().code() == Errc::kernel_failed);
    REQUIRE(std::string{halt.text().c_str()} == "text of " + std::to_string(halt.status().index()));
  }
}
