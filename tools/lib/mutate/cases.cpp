// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include "mutant.hpp"

#include <doctest/doctest.h>

#include <chrono>

namespace {

/// Tells the mutants that each test case reaches, so that tools/mutate runs only the test cases that can notice one.
struct CaseListener : doctest::IReporter {
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
  void report_query(const doctest::QueryData& /*data*/) override {}
  void test_run_start() override {}
  void test_run_end(const doctest::TestRunStats& /*stats*/) override {}
  void test_case_reenter(const doctest::TestCaseData& /*data*/) override {}
  void test_case_exception(const doctest::TestCaseException& /*exception*/) override {}
  void subcase_start(const doctest::SubcaseSignature& /*subcase*/) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData& /*data*/) override {}
  void log_message(const doctest::MessageData& /*data*/) override {}
  void test_case_skipped(const doctest::TestCaseData& /*data*/) override {}
};
REGISTER_LISTENER("cases", 1, CaseListener);

}  // namespace
