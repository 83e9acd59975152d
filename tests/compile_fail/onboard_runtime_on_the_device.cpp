// expect: rondo: the onboard platforms do not exist yet; choose RONDO_PLATFORM=a2a3_sim or a5_sim
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/select.hpp>
#include <rondo/session/open.hpp>

void use(const rondo::TaskGraph& graph) { auto session = rondo::open<rondo::A2A3Onboard>(graph); }
