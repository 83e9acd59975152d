// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>

#include <system_error>
#include <thread>
#include <utility>

namespace rondo::platform {

/// Starts a thread. `what` and `advice` (from "; " on) are for the message. @throws Error out_of_resources
template <class Body>
[[nodiscard]] std::thread start_thread(Body body, const char* what, const char* advice = "") {
  try {
    return std::thread(std::move(body));
  } catch (const std::system_error& e) {
    throw Error(
        Errc::out_of_resources,
        Error::Text{what, " could not be started: the system says error ", e.code().value(),
                    e.code() == std::errc::resource_unavailable_try_again ? ", no thread is left" : "", advice});
  }
}

}  // namespace rondo::platform
