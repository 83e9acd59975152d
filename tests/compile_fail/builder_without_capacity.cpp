// expect: rondo: the builder does not say how many jobs it can use
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/measure/concepts.hpp>

struct Mine {
  using Input = int;
  using Artifact = int;
  void submit_build(int, rondo::measure::OnBuilt<int>);
};
static_assert(rondo::measure::check_builder<Mine>());
