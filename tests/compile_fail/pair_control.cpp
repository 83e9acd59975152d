// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/tensor/concept.hpp>

struct Mine {
  rondo::Output<float> handle() const;
  float* data() const;
  std::size_t size() const;
};
static_assert(rondo::check_tensor_pair<Mine>());
