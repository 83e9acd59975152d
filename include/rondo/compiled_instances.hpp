// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/detail/compiled.hpp>
#include <rondo/platform/select.hpp>
#include <rondo/session/round_session.hpp>

// The sessions that rondo::compiled contains: those on the platforms that most programs use. A file whose sessions
// check memory compiles its own, unless RONDO_COMPILED_CHECKS_MEMORY says that those of the library do so, too.
#if defined(RONDO_COMPILED) && \
    (RONDO_HAS_BODIES || defined(RONDO_CHECK_MEMORY) == defined(RONDO_COMPILED_CHECKS_MEMORY))
#if RONDO_HAS_BODIES
#include <rondo/session/loop_report.hpp>
#include <rondo/session/memory_report.hpp>
#define RONDO_EXTERN
#else
#define RONDO_EXTERN extern
#endif
namespace rondo::detail {
RONDO_EXTERN template class SessionBase<RoundSession<A2A3Sim>, A2A3Sim, DefaultPolicies>;
RONDO_EXTERN template class SessionBase<RoundSession<A5Sim>, A5Sim, DefaultPolicies>;
RONDO_EXTERN template class Session<RoundSession<A2A3Sim>, A2A3Sim, DefaultPolicies, FrozenGraph, 1>;
RONDO_EXTERN template class Session<RoundSession<A5Sim>, A5Sim, DefaultPolicies, FrozenGraph, 1>;
}  // namespace rondo::detail
#undef RONDO_EXTERN
#endif
