// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/types.hpp>

std::uint64_t address(rondo::DevicePtr<int> p) { return p.address(); }
rondo::DevicePtr<int> nowhere{};
rondo::DevicePtr<const int> readable(rondo::DevicePtr<int> q) { return q; }
