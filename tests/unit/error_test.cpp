// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/error.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <set>
#include <source_location>
#include <string>
#include <type_traits>

using namespace rondo;

namespace {
constexpr Errc last = Errc::stale_memory;
}

TEST_CASE("Every error code has a sentence of its own") {
  std::set<std::string> sentences;
  for (int code = 0; code <= static_cast<int>(last); ++code) {
    const std::string sentence = describe(static_cast<Errc>(code));
    CAPTURE(code);
    CHECK_FALSE(sentence.empty());
    CHECK(sentence != "unknown error code");
    CHECK(sentences.insert(sentence).second);
  }
}

TEST_CASE("The code after the last one is unknown, and saying so is safe") {
  CHECK(std::string{describe(static_cast<Errc>(static_cast<int>(last) + 1))} == "unknown error code");
  CHECK(std::string{describe(static_cast<Errc>(0xffff))} == "unknown error code");
}

TEST_CASE("A status is ok unless it says otherwise") {
  const Status status;
  CHECK(status.ok());
  CHECK(static_cast<bool>(status));
  CHECK(status.code() == Errc::ok);
  CHECK_FALSE(status.poisoned());
  CHECK(status.subject() == Status::Subject::none);
  CHECK(status.index() == 0);
  CHECK(std::string{status.message()} == "ok");
}

TEST_CASE("A failed status is false and carries its code and sentence") {
  const Status status{Errc::busy};
  CHECK_FALSE(status.ok());
  CHECK_FALSE(static_cast<bool>(status));
  CHECK(status.code() == Errc::busy);
  CHECK(std::string{status.message()} == describe(Errc::busy));
}

TEST_CASE("A status names the tensor or the task it is about") {
  const Status tensor = Status::of_tensor(Errc::wrong_size, 3);
  CHECK(tensor.subject() == Status::Subject::tensor);
  CHECK(tensor.index() == 3);
  const Status task = Status::of_task(Errc::kernel_failed, 4'000'000'000u);
  CHECK(task.subject() == Status::Subject::task);
  CHECK(task.index() == 4'000'000'000u);
}

TEST_CASE("Poisoning changes nothing of a status but that it poisons") {
  const Status status = Status::of_task(Errc::kernel_failed, 7);
  const Status poisoning = status.poisoning();
  CHECK(poisoning.poisoned());
  CHECK_FALSE(status.poisoned());
  CHECK(poisoning.code() == status.code());
  CHECK(poisoning.subject() == status.subject());
  CHECK(poisoning.index() == status.index());
  CHECK(poisoning != status);
}

TEST_CASE("Of two failures the first counts, unless only the second poisons") {
  const Status small{Errc::out_of_resources}, other{Errc::out_of_memory}, large = Status{Errc::timed_out}.poisoning();
  CHECK(first_failure({}, {}).ok());
  CHECK(first_failure(small, {}) == small);
  CHECK(first_failure({}, small) == small);
  CHECK(first_failure(small, other) == small);
  CHECK(first_failure(small, large) == large);
  CHECK(first_failure(large, small) == large);
  CHECK(first_failure(large, Status{Errc::device_failed}.poisoning()) == large);
}

TEST_CASE("A status fits a register and is not taken for a number") {
  CHECK(sizeof(Status) == 8);
  CHECK(std::is_trivially_copyable_v<Status>);
  CHECK_FALSE(std::is_convertible_v<Status, bool>);
  CHECK_FALSE(std::is_convertible_v<Status, int>);
  CHECK_FALSE(std::is_convertible_v<Errc, Status>);
}

TEST_CASE("An error carries its code, its text and the place that raised it") {
  const auto here = std::source_location::current();
  const Error error{Errc::cycle, Error::Text{"task '", "loss", "' waits for itself"}};
  CHECK(error.code() == Errc::cycle);
  CHECK(std::string{error.what()} == "task 'loss' waits for itself");
  CHECK(error.where().line() == here.line() + 1);
  CHECK(std::string{error.where().file_name()} == here.file_name());
}

TEST_CASE("An error is caught as std::exception with its text intact") {
  std::string text;
  try {
    throw Error{Errc::limit_exceeded, Error::Text{"block count ", 25, " is above ", 24}};
  } catch (const std::exception& e) {
    text = e.what();
  }
  CHECK(text == "block count 25 is above 24");
}

TEST_CASE("Copies of an error own their text and neither construction nor copying throws") {
  CHECK(std::is_nothrow_copy_constructible_v<Error>);
  CHECK(std::is_nothrow_constructible_v<Error, Errc, const Error::Text&, std::source_location>);
  const Error copy = [] {
    const Error original{Errc::overflow, Error::Text{"too big"}};
    return Error{original};
  }();
  CHECK(std::string{copy.what()} == "too big");
  CHECK(copy.code() == Errc::overflow);
}
