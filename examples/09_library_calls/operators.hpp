// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// An operator library as vendors make them: a first stage looks at sizes, says how much memory the operator needs and
/// makes an executor; a second stage puts the operator on a stream. Codes are 0 if all went well.
extern "C" {
struct Executor;
using RollGetWorkspaceSize = int(std::int64_t elements, std::int64_t shift, std::uint64_t* workspace_bytes,
                                 Executor** executor);
/// x is turned to the left by `shift` elements, where it is.
using Roll = int(float* x, void* workspace, std::uint64_t workspace_bytes, Executor* executor, void* stream);
using DestroyExecutor = int(Executor* executor);
}
