// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>
#include <rondo/platform/onboard/acl.hpp>

/// The runtime's error codes, and what Rondo makes of them.
namespace rondo::platform::onboard {

inline constexpr AclError code_ok = 0;
inline constexpr AclError code_initialised_already = 100002;
inline constexpr AclError code_bad_parameter = 107000;
inline constexpr AclError code_not_open = 107002;
inline constexpr AclError code_out_of_host_memory = 207001;

[[nodiscard]] constexpr Errc errc_of(AclError code) noexcept {
  switch (code) {
    case 0: return Errc::ok;
    case 100000:
    case 107000: return Errc::invalid_argument;
    case 107001: return Errc::no_such_device;
    case 107002: return Errc::not_open;
    case 107019:
    case 507046: return Errc::timed_out;
    case 200001:
    case 200006:
    case 207000:
    case 207019:
    case 107025:  // what a capture refuses, and a capture that was lost
    case 107027:
    case 107028:
    case 107030:
    case 107038: return Errc::unsupported;
    case 207001:
    case 207018: return Errc::out_of_memory;
    case 207005:
    case 207008:
    case 207009: return Errc::out_of_resources;
    default: return Errc::device_failed;  // 5070xx by name, and whatever is not documented
  }
}

/// What a call that works on something under way has come to: a device that failed, or does not finish, takes its
/// session with it.
[[nodiscard]] constexpr Status status_of(AclError code) noexcept {
  const Status status{errc_of(code)};
  const bool lost = status.code() == Errc::device_failed || status.code() == Errc::timed_out;
  return lost ? status.poisoning() : status;
}

/// @throws Error with the code, the runtime's own words, and what to do
[[noreturn, gnu::cold, gnu::noinline]] inline void throw_failure(const Calls& calls, const char* platform,
                                                                 const char* call, AclError code) {
  const char* const said = calls.recent_error == nullptr ? nullptr : calls.recent_error();
  const Errc errc = errc_of(code);
  Error::Text text(platform, ": ", call, " returned ", code, ": ", describe(errc));
  if (said != nullptr && *said != '\0') {
    text.append("; it said: ");
    text.append(said);
  }
  throw Error(errc, text);
}

inline void check(const Calls& calls, const char* platform, const char* call, AclError code) {
  if (code != code_ok) [[unlikely]]
    throw_failure(calls, platform, call, code);
}

}  // namespace rondo::platform::onboard
