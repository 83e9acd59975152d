// expect: rondo: memory has a shape of numbers, from which the values of symbols follow; pass its extents
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/rondo.hpp>

#include <vector>

using namespace rondo;

// A round binds memory of a known shape; the value of a symbol follows from it.
auto use(Input<float> x, Dim n, std::vector<float>& memory) { return bind(x, memory, {n, 4}); }
