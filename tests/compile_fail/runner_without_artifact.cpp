// expect: rondo: the runner does not say what it runs
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/measure/concepts.hpp>

struct Mine {
  void submit_run(int, rondo::measure::OnMeasured);
  std::size_t capacity() const;
};
static_assert(rondo::measure::check_runner<Mine>());
