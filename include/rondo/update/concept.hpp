// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

/// The concept of an update strategy, and its properties at compile time.
namespace rondo {

/// The parts of the args table that a round must refresh; each level includes those before it.
enum class UpdateLevel : std::uint8_t {
  none,                      ///< nothing changed
  host_input,                ///< bytes of host inputs that ride in the table
  model_io,                  ///< the address of an input or output
  feature_map_and_model_io,  ///< the address of an arena
  init,                      ///< everything: the first round, or a constant changed
};
inline constexpr std::size_t update_level_count = 5;

/// The changes since the args table was last refreshed. A base that moved and moved back counts as changed.
struct Changes {
  bool arena = false;        ///< the address of an arena that the session placed
  bool model_io = false;     ///< the address of an input or output
  bool host_inputs = false;  ///< the bytes of a host input, or of a value that the session writes
  bool constants = false;    ///< a scalar of a task

  /// The least level that brings all of it to the device.
  [[nodiscard]] constexpr UpdateLevel level() const noexcept {
    return constants     ? UpdateLevel::init
           : arena       ? UpdateLevel::feature_map_and_model_io
           : model_io    ? UpdateLevel::model_io
           : host_inputs ? UpdateLevel::host_input
                         : UpdateLevel::none;
  }
};

/// The highest level that the strategy asks for: `static constexpr UpdateLevel highest`. The session compiles nothing
/// above it.
template <class S>
concept HasHighestLevel = requires {
  { S::highest } -> std::convertible_to<UpdateLevel>;
};

/// The decision: `UpdateLevel decide(Changes) noexcept`, const where the strategy has no state.
template <class S>
concept HasDecide = requires(S& s, const Changes& changes) {
  { s.decide(changes) }
  noexcept->std::same_as<UpdateLevel>;
};

/// Decides how much of the args table a round must refresh. Requires the two parts above, and to be
/// default-constructible.
///
/// Where decide() names the least level that covers the changes, only what moved is rewritten; where it names more, all
/// of that level is. A strategy without members whose decide() is constexpr is evaluated by the compiler, for all
/// changes that there are, and rounds pay only for what follows from its answers. Any other strategy is asked before
/// each launch that a refresh might precede.
///
/// What the concept cannot check but the rules demand: decide() never answers above `highest`, and answers high enough
/// for the changes; too low leaves stale addresses in the table. Changes that were not refreshed are shown again.
template <class S>
concept UpdateStrategy = std::default_initializable<S> && HasHighestLevel<S> && HasDecide<S>;

/// Explains, part by part, what S lacks to be an UpdateStrategy.
template <class S>
consteval bool check_update_strategy() {
  static_assert(std::default_initializable<S>, "rondo: the strategy needs a default constructor");
  static_assert(HasHighestLevel<S>,
                "rondo: the strategy names no bound; write `static constexpr rondo::UpdateLevel highest = ...;`");
  static_assert(HasDecide<S>,
                "rondo: the strategy does not decide; write `rondo::UpdateLevel decide(rondo::Changes) noexcept;`");
  return UpdateStrategy<S>;
}

}  // namespace rondo

namespace rondo::update {

namespace detail {

inline constexpr unsigned all_changes = 16;
/// Each combination of changes has a number.
[[nodiscard]] constexpr Changes changes_of(unsigned number) noexcept {
  return {(number & 1) != 0, (number & 2) != 0, (number & 4) != 0, (number & 8) != 0};
}

/// Whether the compiler can tell the strategy's answer to each of these changes. A strategy with members may answer
/// differently each time.
template <class S, unsigned... numbers>
consteval bool is_constant(std::integer_sequence<unsigned, numbers...>) {
  return std::is_empty_v<S> &&
         (requires { typename std::integral_constant<UpdateLevel, S{}.decide(changes_of(numbers))>; } && ...);
}

/// Whether the compiler can tell that all answers satisfy `holds(changes, answer)`.
template <class S, class Holds>
consteval bool always(Holds holds) {
  if constexpr (is_constant<S>(std::make_integer_sequence<unsigned, all_changes>{})) {
    for (unsigned number = 0; number < all_changes; ++number) {
      if (!holds(changes_of(number), S{}.decide(changes_of(number)))) return false;
    }
    return true;
  }
  return false;
}

}  // namespace detail

/// Whether the strategy always names the least level that covers the changes. Such a strategy is not asked.
template <class S>
inline constexpr bool is_exact = detail::always<S>([](Changes changes, UpdateLevel answer) {
  return answer == changes.level();
});

/// Whether the strategy always names its highest level. Then all of that level is rewritten each time.
template <class S>
inline constexpr bool is_fixed = detail::always<S>([](Changes, UpdateLevel answer) {
  return answer == UpdateLevel{S::highest};
});

/// Whether rounds that bind host memory only, after which nothing was moved or set, may skip the refresh.
template <class S>
inline constexpr bool is_idle_while_unbound = UpdateLevel{S::highest} <= UpdateLevel::host_input ||
                                              detail::always<S>([](Changes changes, UpdateLevel answer) {
                                                return changes.level() != UpdateLevel::none ||
                                                       answer == UpdateLevel::none;
                                              });

}  // namespace rondo::update
