// expect: rondo: a pointer has no size; bind a vector, an array or std::span(p, n)
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/tensor/pair.hpp>

#include <vector>

std::vector<float> make_memory();

void use(rondo::Input<float> x, rondo::Output<float> y, rondo::InputOutput<float> z, rondo::Resident<float> w,
         rondo::Workspace<float> t) {
  std::vector<float> memory(8);
  const std::vector<float> constant(8);
  (void)z, (void)w, (void)t, (void)x, (void)y;
  (void)bind(x, memory.data());
}
