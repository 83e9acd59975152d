// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// An operator library like those of vendors. A first stage reads sizes, returns how much memory the operator needs,
/// and makes an executor; a second stage puts the operator on a stream. Codes are 0 on success.
extern "C" {
struct Executor;
using RollGetWorkspaceSize = int(std::int64_t elements, std::int64_t shift, std::uint64_t* workspace_bytes,
                                 Executor** executor);
/// Lets an executor be used any number of times. Without it, the second stage may be called once.
using SetRepeatable = int(Executor* executor);
/// Rotates x to the left by `shift` elements, in place.
using Roll = int(float* x, void* workspace, std::uint64_t workspace_bytes, Executor* executor, void* stream);
using DestroyExecutor = int(Executor* executor);
}
