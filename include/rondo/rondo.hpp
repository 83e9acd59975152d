// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// IWYU pragma: begin_exports
#include <rondo/arch/a2a3.hpp>
#include <rondo/arch/a5.hpp>
#include <rondo/args/kernel_args.hpp>
#include <rondo/compiled_instances.hpp>
#include <rondo/error.hpp>
#include <rondo/graph/freeze.hpp>
#include <rondo/graph/kernel.hpp>
#include <rondo/graph/loops.hpp>
#include <rondo/graph/task_graph.hpp>
#include <rondo/launch/round_values.hpp>
#include <rondo/platform/concept.hpp>
#include <rondo/platform/null.hpp>
#include <rondo/platform/pinned.hpp>
#include <rondo/platform/select.hpp>
#include <rondo/runtime/host_build_graph.hpp>
#include <rondo/session/open.hpp>
#include <rondo/session/pipelined_session.hpp>
#include <rondo/session/round_session.hpp>
#include <rondo/session/shaped_session.hpp>
#include <rondo/tensor/concept.hpp>
#include <rondo/tensor/pair.hpp>
#include <rondo/types.hpp>
#include <rondo/update/concept.hpp>
#include <rondo/update/strategies.hpp>
#include <rondo/version.hpp>
// IWYU pragma: end_exports
