// expect: rondo: Policies::report_unclosed has another type
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/null.hpp>
#include <rondo/session/open.hpp>

struct Policies : rondo::DefaultPolicies {
  static void report_unclosed(const char*) noexcept {}
};

void use(const rondo::TaskGraph& graph) { auto session = rondo::open<rondo::NullPlatform, Policies>(graph); }
