// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/error.hpp>

rondo::Status run();
bool look() { return run().ok(); }
