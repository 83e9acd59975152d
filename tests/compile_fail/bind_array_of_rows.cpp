// expect: rondo: the host memory's element type is not the tensor's; bind memory of the tensor's own type
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
  float rows[2][4] = {};
  (void)bind(x, rows);
}
