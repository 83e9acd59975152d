// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include "mutant.hpp"

#include <listener.hpp>

#include <chrono>

namespace {

/// Tells the mutants that each test case reaches, so that tools/mutate runs only the test cases that can notice one.
struct CaseListener : rondo::test::Listener {
  using Clock = std::chrono::steady_clock;
  const char* name = nullptr;
  Clock::time_point begin;

  explicit CaseListener(const doctest::ContextOptions& /*options*/) {}
  void test_case_start(const doctest::TestCaseData& data) override {
    name = data.m_name;
    begin = Clock::now();
  }
  void test_case_end(const doctest::CurrentTestCaseStats& /*stats*/) override {
    if (rondo_mutants::number == -1) {
      rondo_mutants::write_reached(std::chrono::duration<double>(Clock::now() - begin).count(), name);
    }
  }
};
REGISTER_LISTENER("cases", 1, CaseListener);

}  // namespace
