// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/graph/library_call.hpp>
#include <rondo/graph/records.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

/// Notifies library calls when sessions open and close.
namespace rondo {

/// The platform of a session, for library calls.
struct CallPlatform {
  const char* name = nullptr;
  bool is_on_host = false;   ///< whether the CPU is the device, so that calls get no stream
  std::int64_t device = -1;  ///< the number of the device; -1 if the options name none
};
/// How a device runs a graph with library calls, which a call may compare with other processes.
struct CallCapture {
  std::uint64_t way = 0;         ///< a number for each way to capture the graph; 0: not all of it is captured
  bool is_shared = false;        ///< set by a call: all of the graph is captured or nothing, until the session closes
  bool is_unlike_other = false;  ///< set by a call: another process captured it in another way, so nothing is captured
};
/// The part of a session that a library call may know.
struct CallSession {
  const graph::GraphView& view;    ///< the frozen graph
  std::uint32_t position = 0;      ///< the position of the call in the graph
  CallPlatform platform;           ///< where the graph runs
  CallCapture* capture = nullptr;  ///< for session_captures()
};

/// Notifies the callable, of type F, of a library call that a session opens, captures its graph, or closes.
template <class F>
void tell_library(const CallSession& session, bool opens) {
  const graph::TaskRecord& task = session.view.tasks[session.position];
  with_callable<F>(session.view.args_of(task)[0].bits, [&](F& callable) {
    if (session.capture != nullptr) {
      if constexpr (HasCaptureHook<F>) callable.session_captures(session);
    } else if (opens) {
      callable.session_opens(session);
    } else {
      callable.session_closes(session);
    }
  });
}

namespace graph {

/// Notifies the library calls of one instance of a graph, in the order of the tasks.
///
/// Lifetime: immovable; the graph outlives it. Thread safety: none. Errors: if a call throws, the constructor notifies
/// the calls before it that the session closes, and rethrows. Cost: set-up only.
class CallSessions {
 public:
  CallSessions(const GraphView& view, CallPlatform platform) : view_{view}, platform_{platform} {
    try {
      for (; told_ < view_.tasks.size(); ++told_) tell(told_, true);
    } catch (...) {
      close();
      throw;
    }
  }
  CallSessions(const CallSessions&) = delete;
  CallSessions& operator=(const CallSessions&) = delete;
  ~CallSessions() { close(); }

  [[nodiscard]] const CallPlatform& platform() const noexcept { return platform_; }
  /// Notifies the calls that the session closes. Further calls have no effect.
  void close() noexcept {
    for (std::size_t task = std::exchange(told_, 0); task-- > 0;) tell(task, false);
  }

 private:
  void tell(std::size_t task, bool opens) const {
    if (view_.tasks[task].session == nullptr) return;
    view_.tasks[task].session({view_, static_cast<std::uint32_t>(task), platform_}, opens);
  }

  GraphView view_;
  CallPlatform platform_;
  std::size_t told_ = 0;  ///< the number of tasks whose calls, if any, were notified
};

/// Notifies the library calls of a graph of how it was captured. Captured and other collectives would wait for each
/// other forever, so calls may find that the capture must be given up. @throws Error as the calls do
inline void tell_of_capture(const GraphView& view, const CallPlatform& platform, CallCapture& capture) {
  for (std::uint32_t t = 0; t < view.tasks.size(); ++t) {
    if (view.tasks[t].session != nullptr) view.tasks[t].session({view, t, platform, &capture}, true);
  }
}

}  // namespace graph
}  // namespace rondo
