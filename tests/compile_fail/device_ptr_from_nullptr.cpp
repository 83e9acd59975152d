// expect: use of deleted function || call to deleted constructor
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/types.hpp>

rondo::DevicePtr<int> p{nullptr};
