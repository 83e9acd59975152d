// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/measure/fault.hpp>

#include <doctest/doctest.h>

#include <new>
#include <set>
#include <stdexcept>
#include <string>

namespace {

using namespace rondo;
using namespace rondo::measure;

template <class F>
measure::detail::FaultAndText caught(F&& thrower) {
  try {
    thrower();
  } catch (...) {
    return measure::detail::current_fault(Fault::build);
  }
  return {};
}

}  // namespace

TEST_CASE("Each fault has a word of its own, that is read back, and a sentence of its own") {
  std::set<std::string> words, sentences;
  for (std::size_t f = 0; f < fault_count; ++f) {
    const auto fault = static_cast<Fault>(f);
    CHECK(fault_from(to_string(fault)) == fault);
    words.insert(to_string(fault));
    sentences.insert(describe(fault));
  }
  CHECK(words.size() == fault_count);
  CHECK(sentences.size() == fault_count);
  CHECK(sentences.count("unknown fault") == 0);
  CHECK(fault_from("no such word") == Fault::unknown);
}

TEST_CASE("What is not the candidate's own doing is measured again") {
  CHECK(is_final(Fault::none));
  CHECK(is_final(Fault::run_timeout));
  CHECK(is_final(Fault::wrong_answer));
  CHECK(!is_final(Fault::device));
  CHECK(!is_final(Fault::unknown));
  CHECK(!is_final(Fault::stopped));
}

TEST_CASE("An exception says which fault it is, or is the fault of its stage") {
  CHECK(caught([] { throw Failure(Fault::wrong_answer, "c[3]"); }).fault == Fault::wrong_answer);
  CHECK(caught([] { throw Failure(Fault::none, "a fault after all"); }).fault == Fault::build);
  CHECK(caught([] { throw std::runtime_error("broken"); }).text == "broken");
  CHECK(caught([] { throw std::runtime_error("broken"); }).fault == Fault::build);
  CHECK(caught([] { throw 3; }).fault == Fault::build);
  CHECK(caught([] { throw Error(Errc::device_failed, Error::Text("gone")); }).fault == Fault::device);
  CHECK(caught([] { throw Error(Errc::kernel_failed, Error::Text("bad")); }).fault == Fault::run);
  CHECK(caught([] { throw Error(Errc::limit_exceeded, Error::Text("too big")); }).fault == Fault::instantiation);
  CHECK(caught([] { throw std::bad_alloc(); }).fault == Fault::unknown);
  CHECK(caught([] { throw std::bad_alloc(); }).text == "out of memory");
  CHECK(fault_of(Errc::ok) == Fault::none);
  CHECK(fault_of(Errc::timed_out) == Fault::run_timeout);
  CHECK(fault_of(Errc::stopped) == Fault::stopped);
}
