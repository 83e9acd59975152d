// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/update/strategies.hpp>

#include <doctest/doctest.h>

#include <type_traits>

using namespace rondo;

TEST_CASE_TEMPLATE("A fixed strategy names its level whatever changed", S, update::NoUpdate, update::HostInput,
                   update::ModelIo, update::FeatureMapAndModelIo, update::InitOnce) {
  for (unsigned n = 0; n < 16; ++n) CHECK(S{}.decide(update::detail::changes_of(n)) == S::highest);
  CHECK(update::is_fixed<S>);
  CHECK(!update::is_exact<S>);
  CHECK(update::is_idle_while_unbound<S> == (S::highest <= UpdateLevel::host_input));
  CHECK(std::is_empty_v<S>);
}

TEST_CASE("Auto names the highest level of what changed") {
  for (unsigned mask = 0; mask < 16; ++mask) {
    Changes changes;
    UpdateLevel expected = UpdateLevel::none;
    if ((mask & 1) != 0) changes.host_inputs = true, expected = UpdateLevel::host_input;
    if ((mask & 2) != 0) changes.model_io = true, expected = UpdateLevel::model_io;
    if ((mask & 4) != 0) changes.arena = true, expected = UpdateLevel::feature_map_and_model_io;
    if ((mask & 8) != 0) changes.constants = true, expected = UpdateLevel::init;
    CHECK(update::Auto{}.decide(changes) == expected);
  }
  CHECK(update::is_exact<update::Auto>);
  CHECK(update::is_idle_while_unbound<update::Auto>);
  CHECK(!update::is_fixed<update::Auto>);
}

TEST_CASE("Each level includes those before it") {
  CHECK(UpdateLevel::none < UpdateLevel::host_input);
  CHECK(UpdateLevel::host_input < UpdateLevel::model_io);
  CHECK(UpdateLevel::model_io < UpdateLevel::feature_map_and_model_io);
  CHECK(UpdateLevel::feature_map_and_model_io < UpdateLevel::init);
}

namespace {

/// As a strategy, but for what each model changes of it.
struct AsAuto {
  static constexpr UpdateLevel highest = UpdateLevel::init;
  constexpr UpdateLevel decide(Changes changes) const noexcept { return changes.level(); }
};
/// Differs from Auto for one of the sixteen values.
struct AllOrArena : AsAuto {
  constexpr UpdateLevel decide(Changes c) const noexcept {
    return c.arena && c.model_io && c.host_inputs && !c.constants ? highest : c.level();
  }
};
struct NeverConstants : AsAuto {
  static constexpr UpdateLevel highest = UpdateLevel::feature_map_and_model_io;
  constexpr UpdateLevel decide(Changes c) const noexcept {
    c.constants = false;
    return c.level();
  }
};
struct NotConstexpr : AsAuto {
  UpdateLevel decide(Changes changes) const noexcept { return changes.level(); }
};
struct ConstexprForSome : AsAuto {
  static UpdateLevel whole() noexcept { return UpdateLevel::init; }
  constexpr UpdateLevel decide(Changes c) const noexcept { return c.constants ? whole() : c.level(); }
};
struct Counting : AsAuto {
  int rounds = 0;
  constexpr UpdateLevel decide(Changes c) noexcept { return ++rounds == 1000 ? highest : c.level(); }
};
struct TakesAReference : AsAuto {
  constexpr UpdateLevel decide(const Changes& c) noexcept { return c.level(); }
};

}  // namespace

TEST_CASE("What a strategy always does is derived from its answers to all changes, where the compiler can tell them") {
  CHECK(update::is_exact<AsAuto>);
  CHECK(update::is_idle_while_unbound<AsAuto>);
  CHECK(update::is_exact<TakesAReference>);
  CHECK(!update::is_exact<AllOrArena>);
  CHECK(update::is_idle_while_unbound<AllOrArena>);
  CHECK(!update::is_exact<NeverConstants>);
  CHECK(update::is_idle_while_unbound<NeverConstants>);
}

TEST_CASE_TEMPLATE("Nothing is derived for a strategy that may answer otherwise at run time", S, NotConstexpr,
                   ConstexprForSome, Counting) {
  CHECK(!update::is_exact<S>);
  CHECK(!update::is_fixed<S>);
  CHECK(!update::is_idle_while_unbound<S>);
}

TEST_CASE("Each number below 16 stands for another combination of changes") {
  for (unsigned number = 0; number < update::detail::all_changes; ++number) {
    const Changes changes = update::detail::changes_of(number);
    CHECK(changes.arena == ((number >> 0) % 2 == 1));
    CHECK(changes.model_io == ((number >> 1) % 2 == 1));
    CHECK(changes.host_inputs == ((number >> 2) % 2 == 1));
    CHECK(changes.constants == ((number >> 3) % 2 == 1));
  }
}
