// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>
#include <rondo/platform/cuda/driver.hpp>

#include <cstddef>
#include <cstdint>

/// The driver's result codes, and what Rondo makes of them.
namespace rondo::platform::cuda {

/// The Errc of a documented code. An undocumented one counts as a failure of the device, the worst case.
[[nodiscard]] constexpr Errc errc_of(Result code) noexcept {
  switch (code) {
    case success: return Errc::ok;

    case 2: return Errc::out_of_memory;
    case 34:   // stub library
    case 46:   // device unavailable
    case 100:  // no device
    case 101:  // invalid device
    case 802:  // system not ready
    case 803:  // driver and library of different versions
    case 804:  // forward compatibility is not supported on this device
    case 805:  // no connection to the multi-process service
      return Errc::no_such_device;
    case 3:    // not initialised
    case 4:    // deinitialised
    case 201:  // invalid context
    case 202:  // the context is current already
    case 708:  // the primary context is active
    case 709:  // the context was destroyed
    case forked: return Errc::not_open;
    case 600:  // not ready
    case 807:  // the multi-process service is not ready
    case stream_is_captured: return Errc::busy;
    case 205:  // mapping failed
    case 206:  // unmapping failed
    case 701:  // a launch wants more registers, shared memory or threads than there are
    case 720:  // too large a cooperative launch
    case 808:  // too many clients of the multi-process service
    case 809:  // too many connections of the multi-process service
      return Errc::out_of_resources;
    case 702:  // the device ended a kernel that took too long
    case 909:  // a wait took too long
    case waited_too_long: return Errc::timed_out;
    case streams::library_call_failed: return Errc::kernel_failed;
    case streams::loop_stopped: return Errc::stopped;

    // Unavailable with this driver, on this chip or to this user.
    case 36:   // the call needs a newer driver
    case 200:  // invalid image
    case 209:  // no binary for this chip
    case 215:  // not supported in this context
    case 217:  // no access to the peer
    case 218:  // invalid PTX
    case 221:  // no compiler for PTX
    case 222:  // PTX of a newer toolkit
    case 223:  // compiling PTX is disabled
    case 224:  // an affinity that is not supported
    case 225:  // a call of the device's runtime that is not supported
    case 800:  // not permitted
    case 801:  // not supported
    // Refused during a capture or an update of a graph, or the capture was lost.
    case 900:
    case 901:
    case 902:
    case 903:
    case 904:
    case 905:
    case 906:
    case 907:
    case 908:
    case 910: return Errc::unsupported;

    case 1:    // invalid value
    case 5:    // profiler disabled
    case 6:    // profiler not initialised
    case 7:    // profiler already started
    case 8:    // profiler already stopped
    case 102:  // device not licensed
    case 207:  // array is mapped
    case 208:  // already mapped
    case 210:  // already acquired
    case 211:  // not mapped
    case 212:  // not mapped as array
    case 213:  // not mapped as pointer
    case 216:  // context already in use
    case 219:  // invalid graphics context
    case 300:  // invalid source
    case 301:  // file not found
    case 302:  // shared object symbol not found
    case 303:  // shared object could not be opened
    case 304:  // the operating system failed
    case 400:  // invalid handle
    case 401:  // illegal state
    case 402:  // a question whose answer would lose information
    case 500:  // not found
    case 704:  // peer access already enabled
    case 705:  // peer access not enabled
    case 711:  // too many peers
    case 712:  // host memory already registered
    case 713:  // host memory not registered
    case 912:  // invalid size of a cluster
    case 913:  // function not loaded
    case 914:  // invalid type of resource
    case 915:  // invalid configuration of resources
      return Errc::invalid_argument;
    default: return Errc::device_failed;
  }
}

/// Whether the context is lost, for the whole process: every later call returns the same code.
[[nodiscard]] constexpr bool is_sticky(Result code) noexcept {
  const Errc errc = errc_of(code);
  return errc == Errc::device_failed || code == launch_timeout;
}

/// Whether the work that was waited for may still be running.
[[nodiscard]] constexpr bool may_go_on(Result code) noexcept { return code != success && !is_sticky(code); }

/// The status of a call that concerns work in flight. A device that failed or does not finish poisons the session.
[[nodiscard]] constexpr Status status_of(Result code) noexcept {
  const Status status{errc_of(code)};
  const bool is_lost = is_sticky(code) || status.code() == Errc::timed_out || status.code() == Errc::kernel_failed ||
                       status.code() == Errc::stopped;
  return is_lost ? status.poisoning() : status;
}

/// The result of releasing something. A lost context is no failure here: it releases everything by itself, and an
/// earlier wait has reported it.
[[nodiscard]] constexpr Result released(Result code) noexcept { return is_sticky(code) ? success : code; }

/// The names of this driver's calls, and the meaning of its codes, for the shared parts of platforms with streams; see
/// streams/api.hpp.
struct Api {
  static constexpr const char* enter = "cuCtxSetCurrent";
  static constexpr const char* create_stream = "cuStreamCreateWithPriority";
  static constexpr const char* synchronize = "cuStreamQuery";
  static constexpr const char* create_event = "cuEventCreate";
  static constexpr const char* record_event = "cuEventRecord";
  static constexpr const char* wait_event = "cuStreamWaitEvent";
  static constexpr const char* malloc = "cuMemAlloc";
  static constexpr const char* free = "cuMemFree";
  static constexpr const char* malloc_host = "cuMemHostAlloc";
  static constexpr const char* free_host = "cuMemFreeHost";
  static constexpr const char* copy = "cuMemcpyAsync";
  static constexpr const char* copy_async = "cuMemcpyAsync";
  static constexpr const char* copy_rows = "cuMemcpy2DAsync";
  static constexpr const char* capture_info = "cuStreamIsCapturing";
  static constexpr const char* query_event = "cuEventQuery";
  static constexpr const char* launch = "cuGraphLaunch";
  static constexpr const char* launch_refresh = "cuLaunchKernel";

  static constexpr Result code_not_open = not_initialised;
  static constexpr Result code_stream_is_captured = stream_is_captured;
  static constexpr Result code_bad_parameter = invalid_value;
  static constexpr Result code_out_of_host_memory = out_of_memory;
  static constexpr std::uint32_t plain_event = event_no_timing;
  static constexpr std::uint32_t timed_event = 0;
  static constexpr std::uint32_t stream_flags = stream_non_blocking;
  static constexpr int event_complete = 1;

  [[nodiscard]] static constexpr Errc errc_of(Result code) noexcept { return cuda::errc_of(code); }
  [[nodiscard]] static constexpr Status status_of(Result code) noexcept { return cuda::status_of(code); }
  [[nodiscard]] static constexpr bool may_go_on(Result code) noexcept { return cuda::may_go_on(code); }
};

}  // namespace rondo::platform::cuda
