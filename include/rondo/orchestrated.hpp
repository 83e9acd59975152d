// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Include this in programs whose runtime builds the graph during the round.
// IWYU pragma: begin_exports
#include <rondo/platform/sim/dynamic/orchestration.hpp>
#include <rondo/rondo.hpp>
#include <rondo/runtime/aicpu_build_graph.hpp>
#include <rondo/runtime/tensormap_and_ringbuffer.hpp>
// IWYU pragma: end_exports
