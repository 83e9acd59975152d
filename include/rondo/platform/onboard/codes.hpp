// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>
#include <rondo/platform/onboard/acl.hpp>

#include <cstddef>
#include <string_view>

/// The runtime's error codes, and the Errc of each.
namespace rondo::platform::onboard {

using streams::code_ok;
using streams::keep_first;
inline constexpr AclError code_initialised_already = 100002;
inline constexpr AclError code_bad_parameter = 107000;
inline constexpr AclError code_not_open = 107002;
inline constexpr AclError code_out_of_host_memory = 207001;
inline constexpr AclError code_unsupported = 207000;
inline constexpr AclError code_timed_out = 507046;
inline constexpr AclError code_event_is_captured = 107028;
inline constexpr AclError code_capture_refuses = 107030;
/// A code of Rondo's own, for a caller's stream that is being captured.
inline constexpr AclError code_stream_is_captured = -17;

/// The Errc of a code of the documented table. A code that is not in the table counts as a failure of the device, the
/// worst case.
[[nodiscard]] constexpr Errc errc_of(AclError code) noexcept {
  switch (code) {
    case 0: return Errc::ok;

    case 107001:
    case 200002:
    case 207004:
    case 507033: return Errc::no_such_device;
    case 100001:
    case 100037:
    case 107002: return Errc::not_open;
    case 107008:
    case 200003: return Errc::misaligned;

    // Called too early.
    case 107037:
    case 107040:
    case 148051:
    case 507004:
    case 507006:
    case code_stream_is_captured: return Errc::busy;

    case 200000:
    case 207001:  // also returned if no module can be created after a task timed out
    case 207018: return Errc::out_of_memory;
    case 207005:
    case 207007:
    case 207008:
    case 207009:
    case 207010:
    case 207011:
    case 207012:
    case 207014:
    case 300000:
    case 507002:
    case 507032: return Errc::out_of_resources;

    // The host stopped waiting; the work may still be running.
    case 100036:
    case 107019:
    case 207020:
    case 507012:
    case 507046:
    case 507047:
    case 507905:
    // The device ended the task.
    case 107020:
    case 507014:
    case 507017:
    case 507034:
    case 507048:
    case 507915: return Errc::timed_out;
    case streams::library_call_failed: return Errc::kernel_failed;
    case 107022:
    case 107023:
    case 107035:
    case 507023:
    case streams::loop_stopped: return Errc::stopped;

    // Calls that a capture refuses, and a capture that was lost.
    case 107024:
    case 107025:
    case 107026:
    case 107027:
    case 107028:
    case 107029:
    case 107030:
    case 107031:
    case 107032:
    case 107033:
    case 107034:
    case 107036:
    case 107038:
    case 107041:
    case 107045:
    case 507009:
    case 507903:
    // Not available with this driver, firmware, chip or user.
    case 100026:
    case 100039:
    case 148050:
    case 148052:
    case 200001:
    case 200006:
    case 200007:
    case 207000:
    case 207006:
    case 207019:
    case 207021: return Errc::unsupported;

    case 200004:
    case 200005:
    case 207013:
    case 207015:
    case 507024:
    case 507027:
    case 507028:
    case 507031:
    case 507038:
    case 507039:
    case 507040:
    case 507041:
    case 507910:
    case 507911: return Errc::invalid_argument;
    default: break;
  }
  const bool is_callers =
      (code >= 100000 && code <= 100045) || (code >= 107000 && code <= 107045) || (code >= 148046 && code <= 148053);
  return is_callers ? Errc::invalid_argument : Errc::device_failed;
}

/// Whether the awaited work may still be running after this code.
[[nodiscard]] constexpr bool may_go_on(AclError code) noexcept {
  switch (code) {
    case 107020:
    case 507014:
    case 507017:
    case 507034:
    case 507048:
    case 507915: return false;  // the device ended the task
    default: return code != code_ok && errc_of(code) != Errc::device_failed && errc_of(code) != Errc::stopped;
  }
}

/// The status of a call that concerns work in flight. A device that failed, was stopped, or does not finish poisons the
/// session.
[[nodiscard]] constexpr Status status_of(AclError code) noexcept {
  const Status status{errc_of(code)};
  const bool lost = status.code() == Errc::kernel_failed || status.code() == Errc::device_failed ||
                    status.code() == Errc::timed_out || status.code() == Errc::stopped;
  return lost ? status.poisoning() : status;
}

/// The kernel that a message of the runtime names; empty if it names none. Of several, the first is the one that failed
/// first. The two halves of a kernel for both types of cores are one kernel.
[[nodiscard]] constexpr std::string_view kernel_named_in(std::string_view text) noexcept {
  constexpr std::string_view mark = "fault kernel_name=";
  const std::size_t at = text.find(mark);
  if (at == std::string_view::npos) return {};
  text.remove_prefix(at + mark.size());
  text = text.substr(0, text.find_first_of(", \t\r\n"));
  if (text.ends_with("_mix_aic") || text.ends_with("_mix_aiv")) text.remove_suffix(8);
  return text == "none" ? std::string_view{} : text;
}

/// @throws Error with the code, the runtime's message, and what to do
[[noreturn, gnu::cold, gnu::noinline]] inline void throw_failure(const Calls& calls, const char* platform,
                                                                 const char* call, AclError code) {
  const char* const said = calls.recent_error == nullptr ? nullptr : calls.recent_error();
  const Errc errc = errc_of(code);
  Error::Text text{platform, ": ", call, " returned ", code, ": ", describe(errc)};
  if (said != nullptr && *said != '\0') {
    text.append("; the runtime reports: ");
    text.append(said);
  }
  throw Error(errc, text);
}

/// This runtime's calls and codes for the parts that platforms with streams share; see streams/api.hpp.
struct Api {
  static constexpr const char* enter = "aclrtSetDevice";
  static constexpr const char* create_stream = "aclrtCreateStreamWithConfig";
  static constexpr const char* synchronize = "aclrtSynchronizeStreamWithTimeout";
  static constexpr const char* create_event = "aclrtCreateEventExWithFlag";
  static constexpr const char* record_event = "aclrtRecordEvent";
  static constexpr const char* wait_event = "aclrtStreamWaitEvent";
  static constexpr const char* malloc = "aclrtMalloc";
  static constexpr const char* free = "aclrtFree";
  static constexpr const char* malloc_host = "aclrtMallocHost";
  static constexpr const char* free_host = "aclrtFreeHost";
  static constexpr const char* copy = "aclrtMemcpy";
  static constexpr const char* copy_async = "aclrtMemcpyAsync";
  static constexpr const char* capture_info = "aclmdlRICaptureGetInfo";
  static constexpr const char* query_event = "aclrtQueryEventStatus";
  static constexpr const char* launch = "aclrtLaunchKernelV2";
  static constexpr const char* launch_refresh = "aclrtLaunchKernelWithHostArgs";

  static constexpr AclError code_not_open = onboard::code_not_open;
  static constexpr AclError code_stream_is_captured = onboard::code_stream_is_captured;
  static constexpr AclError code_bad_parameter = onboard::code_bad_parameter;
  static constexpr AclError code_out_of_host_memory = onboard::code_out_of_host_memory;
  static constexpr std::uint32_t plain_event = event_flag_sync;
  static constexpr std::uint32_t timed_event = event_flag_sync | event_flag_time_line;
  static constexpr std::uint32_t stream_flags = stream_flag_fast_launch | stream_flag_fast_sync;
  static constexpr int event_complete = onboard::event_complete;

  [[nodiscard]] static constexpr Errc errc_of(AclError code) noexcept { return onboard::errc_of(code); }
  [[nodiscard]] static constexpr Status status_of(AclError code) noexcept { return onboard::status_of(code); }
  [[nodiscard]] static constexpr bool may_go_on(AclError code) noexcept { return onboard::may_go_on(code); }
};

inline void check(const Calls& calls, const char* platform, const char* call, AclError code) {
  if (code != code_ok) [[unlikely]]
    throw_failure(calls, platform, call, code);
}

}  // namespace rondo::platform::onboard
