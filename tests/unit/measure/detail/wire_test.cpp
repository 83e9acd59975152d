// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/measure/detail/wire.hpp>

#include <doctest/doctest.h>
#include <random.hpp>

#include <string>

using namespace rondo::measure;
using rondo::measure::detail::cut_message;
using rondo::measure::detail::decode;
using rondo::measure::detail::encode;

TEST_CASE("A measurement arrives as it was sent, in whatever pieces") {
  const Measured sent{Fault::wrong_answer, std::string{"a\0b", 3}, {1.5, 0.25}, {3}, 0};
  const std::string message = encode(sent);
  std::string arrived;
  bool is_garbage = false;
  for (std::size_t i = 0; i + 1 < message.size(); ++i) {
    arrived += message[i];
    REQUIRE(!cut_message(arrived, is_garbage));
  }
  arrived += message.back() + message;  // the next one follows at once
  const auto body = cut_message(arrived, is_garbage);
  REQUIRE(body);
  CHECK(arrived == message);
  CHECK(!is_garbage);
  bool is_last = true;
  const auto got = decode(*body, is_last);
  REQUIRE(got);
  CHECK(got->fault == sent.fault);
  CHECK(got->text == sent.text);
  CHECK(got->seconds == sent.seconds);
  CHECK(got->device_seconds == sent.device_seconds);
  CHECK(!is_last);
  CHECK(decode(encode(sent, true).substr(8), is_last));
  CHECK(is_last);
}

TEST_CASE("A message cut short, too long or of an unknown fault is refused") {
  const std::string message = encode({Fault::run, "text", {1}, {}, 0}).substr(8);
  bool is_last = false;
  REQUIRE(decode(message, is_last));
  for (std::size_t size = 0; size < message.size(); ++size) CHECK(!decode(message.substr(0, size), is_last));
  CHECK(!decode(message + "x", is_last));
  std::string unknown = message;
  unknown[0] = 99;
  CHECK(!decode(unknown, is_last));
}

TEST_CASE("Garbage is told from a message by its length, and never read beyond its end") {
  std::string text = "garbage, garbage";
  bool is_garbage = false;
  CHECK(!cut_message(text, is_garbage));
  CHECK(is_garbage);
  auto random = rondo::test::make_random(1);
  for (int i = 0; i < 10000; ++i) {
    std::string bytes(random() % 64, '\0');
    for (char& c : bytes) c = static_cast<char>(random() % 4 == 0 ? random() : 0);
    bool is_last = false;
    (void)decode(bytes, is_last);
  }
}
