// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/concepts.hpp>
#include <rondo/update/mechanism.hpp>

#include <cstdint>

namespace rondo::update {

/// What a refresh did.
struct Refreshed {
  /// By which strategy.
  UpdateLevel level = UpdateLevel::none;
  /// By which way.
  Mechanism mechanism = Mechanism::none;
  std::uint64_t slots = 0;  ///< addresses computed, on the host or on the device
  std::uint64_t bytes = 0;  ///< copied to the device, or carried by the launch
};

}  // namespace rondo::update
