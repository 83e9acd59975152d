// expect: rondo: the builder takes no job; write `void submit_build(Input,
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/measure/concepts.hpp>

struct Mine {
  using Input = int;
  using Artifact = int;
  std::size_t capacity() const;
};
static_assert(rondo::measure::check_builder<Mine>());
