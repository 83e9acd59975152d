// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/platform/capability.hpp>
#include <rondo/types.hpp>

#include <cstdint>
#include <ctime>

/// The common parts of platforms whose devices have streams and events: transfers through pinned memory, and rounds in
/// flight. Every part is a template over the platform's device.
///
/// A device has `calls()`, whose members create streams, events and copies; `enter()`, which makes it the current
/// device of the calling thread, and `enter_to_release()`, which does so even if a caller's stream is captured;
/// `wait()`, `must()`, `note()` and `failed()`; and `synchronize(stream)`, which waits for a stream for a bounded time.
/// Its member type `Api` holds the vendor's names for the calls, its error codes, and their meaning. Success is 0 in
/// every such API.
namespace rondo::platform::streams {

/// The result of a call of the vendor's API.
using Code = int;
inline constexpr Code code_ok = 0;
/// Sets `first`, the first failure so far, to `code` if there was none.
constexpr void keep_first(Code& first, Code code) noexcept {
  if (first == code_ok) first = code;
}
/// Rondo's own error code: the library call of a task failed.
inline constexpr Code library_call_failed = -16;
/// Rondo's own error code: a stop request ended a round with loops.
inline constexpr Code loop_stopped = -18;
/// Whether a text of Rondo's own comes with the code, in place of the name of a call.
[[nodiscard]] constexpr bool is_own_text(Code code) noexcept {
  return code == library_call_failed || code == loop_stopped;
}

using Stream = void*;
using Event = void*;

/// The source and destination of a copy.
enum CopyKind : int {
  host_to_device = 1,
  device_to_host = 2,
  device_to_device = 3,
  host_to_buffer_to_device = 5,  ///< reads the host memory before the call returns
};

/// Copies within device memory: with one call if the vendor's API copies rows, otherwise with one for each piece. Sets
/// `call` to the last one.
template <class Api, class Calls>
[[nodiscard]] Code copy_on_device(const Calls& calls, const DeviceCopy& copy, Stream stream,
                                  const char*& call) noexcept {
  if constexpr (requires { calls.copy_rows(copy, stream); }) {
    call = Api::copy_rows;
    if (calls.takes_rows(copy)) return calls.copy_rows(copy, stream);
  }
  call = Api::copy_async;
  Code code = code_ok;
  std::uint64_t to = copy.to.address();
  std::uint64_t from = copy.from.address();
  for (std::uint64_t i = 0; i < copy.count && code == code_ok; ++i) {
    void* const at = reinterpret_cast<void*>(to);                    // NOLINT: an address for the runtime
    const void* const source = reinterpret_cast<const void*>(from);  // NOLINT
    code = calls.copy_async(at, copy.size.value, source, copy.size.value, device_to_device, stream);
    to += static_cast<std::uint64_t>(copy.to_stride);
    from += static_cast<std::uint64_t>(copy.from_stride);
  }
  return code;
}

/// Returns the milliseconds of a clock that only moves forwards.
[[nodiscard]] inline std::int64_t now_ms() noexcept {
  timespec now{};
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1'000'000;
}

}  // namespace rondo::platform::streams
