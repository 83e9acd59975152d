// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
#include <listener.hpp>
#include <random.hpp>

#include <cinttypes>
#include <cstdio>

#ifndef __has_feature
#define __has_feature(feature) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || __has_feature(address_sanitizer) || \
    __has_feature(thread_sanitizer)
#define RONDO_TEST_HAS_SANITIZER
#include <sanitizer/common_interface_defs.h>
#endif

namespace {

/// Prints how to replay a test case that failed, if it drew random numbers, or if the run has a seed, which also
/// decides the timing of stand-ins.
void print_seed() {
  if (!rondo::test::draws_random() && rondo::test::run_seed() == 0) return;
  std::printf("The same random numbers again: RONDO_SEED=%" PRIu64 "\n\n", rondo::test::run_seed());
  std::fflush(stdout);
}

/// Calls print_seed() after a test case that failed, and after a sanitizer's report, which ends the program.
struct SeedPrinter : rondo::test::Listener {
  explicit SeedPrinter(const doctest::ContextOptions& /*options*/) {
#ifdef RONDO_TEST_HAS_SANITIZER
    __sanitizer_set_death_callback(&print_seed);
#endif
  }
  void test_case_start(const doctest::TestCaseData& /*data*/) override { rondo::test::draws_random() = false; }
  void test_case_end(const doctest::CurrentTestCaseStats& stats) override {
    if (stats.failure_flags != 0) print_seed();
  }
};
REGISTER_LISTENER("seed", 1, SeedPrinter);

}  // namespace
