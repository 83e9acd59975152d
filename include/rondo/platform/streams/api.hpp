// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What platforms share whose devices have streams and events: moving tensors through pinned memory, and rounds in
/// flight. Every part is a template over the platform's device.
///
/// A device has `calls()`, whose members make streams, events and copies; `enter()`, which makes it the calling
/// thread's; `wait()`, `must()`, `note()` and `failed()`; `synchronize(stream)`, which waits for a stream in bounded
/// time. Its member type `Api` has the vendor's names for the calls, its codes, and the meaning of the codes. Success
/// is 0 in every such API.
namespace rondo::platform::streams {

/// What a call of the vendor's returns.
using Code = int;
inline constexpr Code code_ok = 0;
/// A code of Rondo's own: the library call of a task failed.
inline constexpr Code library_call_failed = -16;

using Stream = void*;
using Event = void*;

/// Between which memories a copy goes.
enum CopyKind : int {
  host_to_device = 1,
  device_to_host = 2,
  device_to_device = 3,
  host_to_buffer_to_device = 5,  ///< takes the host's bytes before the call returns
};

}  // namespace rondo::platform::streams
