// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/graph/kernel.hpp>

#include <cstdint>

namespace rondo::args {

enum class SlotKind : std::uint8_t;  // slot.hpp
enum class Variant : std::uint8_t;   // format.hpp

/// An argument whose value neither graph nor session knows: a system address, a tiling context, a hidden input. Asked
/// for once, when the session is opened.
struct SystemSlot {
  SlotKind kind{};
  Variant variant{};        ///< the family of a hidden input, or which of several
  std::uint32_t index = 0;  ///< of an event or a hidden input

  [[nodiscard]] constexpr ArgWord bits() const noexcept {
    return static_cast<ArgWord>(std::uint64_t{index} << 16 | std::uint64_t{static_cast<std::uint8_t>(variant)} << 8 |
                                static_cast<std::uint8_t>(kind));
  }
  [[nodiscard]] static constexpr SystemSlot from_bits(ArgWord word) noexcept {
    const auto bits = static_cast<std::uint64_t>(word);
    return {static_cast<SlotKind>(bits & 0xFF), static_cast<Variant>(bits >> 8 & 0xFF),
            static_cast<std::uint32_t>(bits >> 16)};
  }
  friend constexpr bool operator==(const SystemSlot&, const SystemSlot&) noexcept = default;
};

/// Answers what stands in a system slot; throws Error for what it does not know.
using SystemProvider = std::uint64_t (*)(SystemSlot slot);

/// Knows none. A slot that nobody fills is an error: dropping it would shift those behind it.
[[noreturn]] inline std::uint64_t no_system_provider(SystemSlot slot);

}  // namespace rondo::args
