// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// spdlog, if it is installed, as headers only, so that no library of it is linked.
#if __has_include(<spdlog/spdlog.h>)
#undef SPDLOG_COMPILED_LIB
#define SPDLOG_HEADER_ONLY
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>
#define RONDO_TEST_HAS_SPDLOG
#endif
