// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>
#include <rondo/platform/sim/halt.hpp>
#include <rondo/runtime/stream_core.hpp>

namespace rondo::runtime::detail {

/// A whole round: `orchestration(orchestrator)` adds its tasks, then all of them are waited for. The same on the
/// simulated device and on a real one. @returns the round's status; its text is in the orchestrator's stream
template <class Orchestrator, class Orchestration>
Status orchestrate_round(Orchestrator& orchestrator, Orchestration&& orchestration) noexcept {
  orchestrator.begin_round();
  try {
    orchestration(orchestrator);
  } catch (const Stopped&) {
    // the failure is noted already
  } catch (...) {
    Error::Text text("the orchestration: ");
    text.append(platform::sim::current_exception_text());
    orchestrator.stream().fail(Status{Errc::orchestration_failed}.poisoning(), text);
  }
  return orchestrator.finish_round();
}

}  // namespace rondo::runtime::detail
