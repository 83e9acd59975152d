// expect: rondo: the builder does not say what it builds;
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/measure/concepts.hpp>

struct Mine {
  using Input = int;
  void submit_build(int, rondo::measure::OnBuilt<int>);
  std::size_t capacity() const;
};
static_assert(rondo::measure::check_builder<Mine>());
