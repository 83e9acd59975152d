// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>
#include <rondo/graph/words.hpp>

#include <cstddef>
#include <cstdint>

namespace rondo::args {

enum class SlotKind : std::uint8_t;  // slot.hpp
enum class Variant : std::uint8_t;   // format.hpp

/// An argument whose value neither the graph nor the session knows: a system address, a tiling context, a hidden input.
/// The session requests it once, when it is opened.
struct SystemSlot {
  SlotKind kind{};
  Variant variant{};        ///< the family of a hidden input, or the variant of a pattern
  std::uint32_t index = 0;  ///< the number of an event or a hidden input

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

/// Returns the value of a system slot; throws Error for an unknown one.
using SystemProvider = std::uint64_t (*)(SystemSlot slot);

[[nodiscard]] constexpr const char* to_string(SlotKind kind) noexcept {
  constexpr const char* names[] = {"null",      "constant",      "args block", "input",          "output",
                                   "workspace", "tiling data",   "t_ffts",     "tiling_context", "*op_type",
                                   "ffts_addr", "overflow_addr", "event_addr", "hidden input"};
  const auto i = static_cast<std::size_t>(kind);
  return i < sizeof(names) / sizeof(names[0]) ? names[i] : "?";
}

/// Throws for every slot. An unfilled slot is an error, since leaving it out would shift the later ones.
[[noreturn]] inline std::uint64_t no_system_provider(SystemSlot slot) {
  throw Error(Errc::unsupported,
              Error::Text{"an args format asks for ", to_string(slot.kind), " ", slot.index,
                          ", which no provider knows; give the session's policies a system_address(SystemSlot)"});
}

}  // namespace rondo::args
