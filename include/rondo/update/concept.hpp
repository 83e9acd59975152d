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
  host_input,                ///< bytes of host inputs, which are in the table itself
  model_io,                  ///< the address of an input or output
  feature_map_and_model_io,  ///< the address of an arena
  init,                      ///< everything: the first round, or a constant changed
};
inline constexpr std::size_t update_level_count = 5;

/// The changes since the last refresh of the args table. A base that moved and moved back counts as changed.
struct Changes {
  bool arena = false;        ///< the address of an arena that the session placed
  bool model_io = false;     ///< the address of an input or output
  bool host_inputs = false;  ///< the bytes of a host input, or of a value that the session writes
  bool constants = false;    ///< a scalar of a task

  /// The lowest level that refreshes all of these changes.
  [[nodiscard]] constexpr UpdateLevel level() const noexcept {
    return constants     ? UpdateLevel::init
           : arena       ? UpdateLevel::feature_map_and_model_io
           : model_io    ? UpdateLevel::model_io
           : host_inputs ? UpdateLevel::host_input
                         : UpdateLevel::none;
  }
};

/// The highest level that the strategy may return: `static constexpr UpdateLevel highest`. Calls that need a higher one
/// do not compile, and DynamicBindings refuse them as unsupported.
template <class S>
concept HasHighestLevel = requires {
  { S::highest } -> std::convertible_to<UpdateLevel>;
};

/// The decision: `UpdateLevel decide(Changes) noexcept`, const if the strategy has no state.
template <class S>
concept HasDecide = requires(S& s, const Changes& changes) {
  { s.decide(changes) } noexcept -> std::same_as<UpdateLevel>;
};

/// Decides how much of the args table a round must refresh. It needs the two parts above, and must be
/// default-constructible.
///
/// If decide() returns the lowest level that covers the changes, only slots that changed are rewritten; if it returns a
/// higher level, all of that level is rewritten. If a strategy has no members and its decide() is constexpr, the
/// compiler evaluates it for all possible changes, and rounds execute only the code that the answers require. Any other
/// strategy is called before each launch that may need a refresh.
///
/// The concept cannot check these rules: decide() never returns a level above `highest`, nor one too low for the
/// changes, which would leave stale addresses in the table. Changes that were not refreshed are passed again.
template <class S>
concept UpdateStrategy = std::default_initializable<S> && HasHighestLevel<S> && HasDecide<S>;

/// Names each part that S lacks to be an UpdateStrategy.
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
/// The changes with this number: each combination has one.
[[nodiscard]] constexpr Changes changes_of(unsigned number) noexcept {
  return {(number & 1) != 0, (number & 2) != 0, (number & 4) != 0, (number & 8) != 0};
}

/// Whether the compiler can evaluate the strategy's answer to each of these changes. A strategy with members may answer
/// differently each time.
template <class S, unsigned... numbers>
consteval bool is_constant(std::integer_sequence<unsigned, numbers...>) {
  return std::is_empty_v<S> &&
         (requires { typename std::integral_constant<UpdateLevel, S{}.decide(changes_of(numbers))>; } && ...);
}

/// Whether, at compile time, all answers satisfy `holds(changes, answer)`.
template <class S, class Predicate>
consteval bool always(Predicate holds) {
  if constexpr (is_constant<S>(std::make_integer_sequence<unsigned, all_changes>{})) {
    for (unsigned number = 0; number < all_changes; ++number) {
      if (!holds(changes_of(number), S{}.decide(changes_of(number)))) return false;
    }
    return true;
  }
  return false;
}

}  // namespace detail

/// Whether the strategy always returns the lowest level that covers the changes. Such a strategy is not called.
template <class S>
inline constexpr bool is_exact =
    detail::always<S>([](Changes changes, UpdateLevel answer) { return answer == changes.level(); });

/// Whether the strategy always returns its highest level. Then all of that level is rewritten each time.
template <class S>
inline constexpr bool is_fixed =
    detail::always<S>([](Changes, UpdateLevel answer) { return answer == UpdateLevel{S::highest}; });

/// Whether rounds that bind only host memory may skip the refresh if nothing was moved or set before.
template <class S>
inline constexpr bool is_idle_while_unbound =
    UpdateLevel{S::highest} <= UpdateLevel::host_input || detail::always<S>([](Changes changes, UpdateLevel answer) {
      return changes.level() != UpdateLevel::none || answer == UpdateLevel::none;
    });

}  // namespace rondo::update
