// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>

namespace rondo::detail {
using one = int;
using two = int;
using three = int;
}  // namespace rondo::detail
