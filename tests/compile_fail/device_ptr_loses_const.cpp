// expect: could not convert || no viable conversion
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/types.hpp>

rondo::DevicePtr<int> writable(rondo::DevicePtr<const int> p) { return p; }
