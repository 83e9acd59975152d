// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

inline std::span<const int> all(const int* numbers, std::size_t count) { return {numbers, count}; }
