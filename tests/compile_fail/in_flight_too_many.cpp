// expect: rondo: at least 1 and at most 64 rounds can be in flight
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/null.hpp>
#include <rondo/session/open.hpp>

void use(const rondo::TaskGraph& graph) { auto session = rondo::open_pipelined<rondo::NullPlatform, 65>(graph); }
