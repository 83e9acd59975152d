// expect: rondo: this type is not an engine; include its header, such as rondo/platform/sim/pool.hpp
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/rondo.hpp>

using namespace rondo;

// rondo/rondo.hpp only declares Pool.
void use(const TaskGraph& graph) { (void)open<A2A3SimOn<Pool>>(graph); }
