// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>
#include <rondo/observe/concepts.hpp>
#include <rondo/session/log.hpp>

#include <string_view>
#include <type_traits>

namespace rondo::observe {

/// Sends the log of sessions to the logger of a library, which has `info`, `warn` and `error`, each for a text, as
/// spdlog does. `get` is a function that returns the logger or its address.
///
///     struct MyPolicies : rondo::DefaultPolicies {
///       static constexpr rondo::observe::LogTo<&spdlog::default_logger_raw> log{};
///     };
///
/// Missing parts and fallbacks are warnings, poisoning is an error, everything else is information. Exceptions of the
/// logger are ignored: a session does not fail because its log does.
template <auto get>
struct LogTo {
  void operator()(LogEvent event, const char* text) const noexcept {
    const Error::Text line{"rondo ", to_string(event), ": ", text};
    try {
      auto&& logger = get();
      if constexpr (Logger<std::remove_reference_t<decltype(logger)>>) {
        write(logger, event, {line.data(), line.size()});
      } else {
        write(*logger, event, {line.data(), line.size()});
      }
    } catch (...) {  // NOLINT(bugprone-empty-catch)
    }
  }

 private:
  static void write(Logger auto& logger, LogEvent event, std::string_view line) {
    switch (event) {
      case LogEvent::missing:
      case LogEvent::fallback: logger.warn(line); break;
      case LogEvent::poisoned: logger.error(line); break;
      case LogEvent::opened:
      case LogEvent::planned:
      case LogEvent::closed: logger.info(line); break;
    }
  }
};

}  // namespace rondo::observe
