// expect: rondo: the pair shows no host memory of its element type; write `T* data() const;`
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/tensor/concept.hpp>

struct Mine {
  rondo::Output<float> handle() const;
  const float* data() const;  // an output is written
  std::size_t size() const;
};
static_assert(rondo::check_tensor_pair<Mine>());
