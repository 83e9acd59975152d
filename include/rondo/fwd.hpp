// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// Names without definitions, for headers that only pass them on.
namespace rondo {

enum class Errc : std::uint16_t;
enum class Direction : std::uint8_t;
enum class CoreType : std::uint8_t;
enum class DataType : std::uint8_t;

class Status;
class Error;
class TaskGraph;
class FrozenGraph;
class NullPlatform;
struct DefaultPolicies;

namespace graph {
struct GraphView;
}

}  // namespace rondo
