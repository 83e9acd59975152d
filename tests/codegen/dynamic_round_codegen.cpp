// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
// function: round_under_test
// function: prebound_round_under_test
// indirect: 2
// allow: memcpy
// allow: .*detail::Instance<.*>::(run_in_any_order|run_prebound_in_general)<.*|_ZN5rondo6detail8Instance.*(run_in_any_order|run_prebound_in_general).*
// allow: (rondo::Status )?rondo::detail::Session<.*>::(refuse<.*>|note_failure)\(.*
// allow: rondo::platform::sim::Halt::record\(unsigned int, unsigned int\)
// allow: __cxa_begin_catch|__cxa_end_catch|_Unwind_Resume|std::terminate\(\)

// A round over a graph built at run time, on the Inline engine: the copies, one indirect call in a loop for the
// kernels, and what is reached only when a round is refused or a kernel throws.

#include <rondo/platform/select.hpp>
#include <rondo/session/round_session.hpp>

#include <vector>

using Session = rondo::RoundSession<rondo::A2A3Sim>;
using Prebound = rondo::Prebound<rondo::detail::Resolved<2, 1, 2, 0, false>, 1>;

extern "C" bool round_under_test(Session& session, rondo::Input<float> x, rondo::InputOutput<float> y,
                                 std::vector<float>& hx, std::vector<float>& hy) {
  return session.run_round(bind(x, hx), bind(y, hy)).ok();
}

extern "C" bool prebound_round_under_test(Session& session, const Prebound& binding) {
  return session.run_round(binding).ok();
}
