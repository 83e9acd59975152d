// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/platform/concept.hpp>
#include <rondo/update/concept.hpp>

#include <concepts>
#include <cstdint>

/// The mechanisms by which changes reach the device.
namespace rondo::update {

/// The mechanism by which changes of the args table reach the device.
enum class Mechanism : std::uint8_t {
  none,          ///< nothing had to be refreshed
  in_place,      ///< kernels read the host's image: the changed slots are written, nothing is copied
  segment_copy,  ///< the changed slots are written, then the parts of the table that hold them are copied
  device_op,     ///< the base table is copied from its first to its last changed entry; the device computes the slots
  in_launch,     ///< the launch carries the base table; the device computes the slots
};
inline constexpr std::size_t mechanism_count = 5;

[[nodiscard]] constexpr const char* to_string(Mechanism m) noexcept {
  constexpr const char* names[mechanism_count] = {"none", "in_place", "segment_copy", "device_op", "in_launch"};
  return names[static_cast<std::size_t>(m)];
}

/// The result of a refresh.
struct Refreshed {
  UpdateLevel level = UpdateLevel::none;
  Mechanism mechanism = Mechanism::none;
  std::uint64_t slots = 0;  ///< addresses computed, on the host or on the device
  std::uint64_t bytes = 0;  ///< copied to the device, or carried by the launch
};

using args::RefreshCosts;

/// The figures on which the choice of a mechanism is based.
struct RefreshFacts {
  std::uint64_t segments = 0;           ///< the number of copies that the changed segments would need
  std::uint64_t segment_bytes = 0;      ///< the bytes that these would copy
  std::uint64_t slots = 0;              ///< the slots that the host would write for them
  std::uint64_t late_slots = 0;         ///< other slots that it would write, since the device computed them before
  std::uint64_t quiet = 1;              ///< the refreshes in a row, with this one, in which fewer slots changed
  std::uint64_t base_bytes = 0;         ///< the bytes that a device op would copy: bases, and changed host inputs
  std::uint64_t relocations = 0;        ///< the relocations that the device would compute
  std::uint64_t launch_bytes = 0;       ///< the bytes that the launch would carry
  bool device_op = false;               ///< whether a device op is possible
  bool in_launch = false;               ///< whether it is possible: the platform supports it and the payload fits
  const RefreshCosts* costs = nullptr;  ///< the costs that the platform reports; null: none
};

/// Always chooses the same mechanism. The first round and changed constants need a copy of the whole table.
template <Mechanism M>
struct Always {
  static constexpr bool allows(Mechanism m) noexcept { return m == M; }
  [[nodiscard]] static constexpr Mechanism choose(const RefreshFacts&) noexcept { return M; }
};

/// Chooses a mechanism. `allows` states at compile time which may be chosen; device memory and code for others are left
/// out. If it allows in_place and the platform supports that, choose() is not called.
template <class C>
concept MechanismChoice = std::default_initializable<C> && requires(const C& c, const RefreshFacts& facts) {
  { C::allows(Mechanism::in_place) } -> std::same_as<bool>;
  { c.choose(facts) } noexcept -> std::same_as<Mechanism>;
};

}  // namespace rondo::update
