// expect: a kernel's in_place names two parameters of run, counted from 0: an Out and an In
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/graph/kernel.hpp>

struct Round {
  static constexpr std::string_view name = "round";
  static constexpr auto core = rondo::CoreType::vector;
  static constexpr rondo::InPlace in_place{.out = 2, .in = 0};
  static void run(rondo::In<float>, rondo::Out<float>) {}
};
static_assert(rondo::check_kernel<Round>());
