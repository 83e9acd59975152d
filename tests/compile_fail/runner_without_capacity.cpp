// expect: rondo: the runner does not say how many jobs it can use
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/measure/concepts.hpp>

struct Mine {
  using Artifact = int;
  void submit_run(int, rondo::measure::OnMeasured);
};
static_assert(rondo::measure::check_runner<Mine>());
