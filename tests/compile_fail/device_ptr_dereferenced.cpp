// expect: no match for 'operator*' || indirection requires pointer operand
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/types.hpp>

int read(rondo::DevicePtr<int> p) { return *p; }
