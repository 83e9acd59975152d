// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// The library rondo::compiled: the one translation unit that has the bodies of set-up.
#ifndef RONDO_COMPILED
#define RONDO_COMPILED
#endif
#define RONDO_COMPILES_BODIES
#include <rondo/graph/deal.hpp>
#include <rondo/graph/orchestrated.hpp>
#include <rondo/rondo.hpp>
#include <rondo/search/planners.hpp>

#include <chrono>

namespace rondo::memory::detail {
namespace {

void search_briefly(const Problem& problem, Plan& plan) {
  search::improve_plan(problem, plan, std::chrono::milliseconds{20}, 1);
}

[[maybe_unused]] const bool is_linked = (linked_search = &search_briefly) != nullptr;

}  // namespace
}  // namespace rondo::memory::detail
