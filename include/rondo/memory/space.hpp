// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace rondo::memory {

/// An address space: the host's, or that of a device. Equal addresses in different spaces are different memory.
enum class Space : std::uint32_t { host };

inline constexpr std::uint32_t onboard_devices = 0;
inline constexpr std::uint32_t cuda_devices = 1;
/// The address space of a device; `kind` distinguishes APIs that count their devices separately.
[[nodiscard]] constexpr Space space_of_device(std::uint32_t kind, std::int32_t device) noexcept {
  return Space{(kind << 16U) + 1 + static_cast<std::uint32_t>(device)};
}

}  // namespace rondo::memory
