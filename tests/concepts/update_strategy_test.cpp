// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/update/concept.hpp>

#include <concepts>

// Near misses of an UpdateStrategy: each model is a strategy but for one thing.

namespace {

using namespace rondo;

struct Complete {
  static constexpr UpdateLevel highest = UpdateLevel::model_io;
  UpdateLevel decide(Changes) noexcept { return UpdateLevel::none; }
};
static_assert(UpdateStrategy<Complete> && check_update_strategy<Complete>());

template <class S>
concept LacksHighestLevel = std::default_initializable<S> && !HasHighestLevel<S> && HasDecide<S> && !UpdateStrategy<S>;
template <class S>
concept LacksDecide = std::default_initializable<S> && HasHighestLevel<S> && !HasDecide<S> && !UpdateStrategy<S>;
template <class S>
concept LacksDefault = !std::default_initializable<S> && HasHighestLevel<S> && HasDecide<S> && !UpdateStrategy<S>;

// --- highest
struct NoBound {
  UpdateLevel decide(Changes) noexcept { return UpdateLevel::none; }
};
struct BoundIsANumber : NoBound {
  static constexpr int highest = 2;
};
struct BoundIsAFunction : NoBound {
  static UpdateLevel highest() { return UpdateLevel::none; }
};
static_assert(LacksHighestLevel<NoBound>);
static_assert(LacksHighestLevel<BoundIsANumber>);
static_assert(LacksHighestLevel<BoundIsAFunction>);

// --- decide
struct NeverDecides {
  static constexpr UpdateLevel highest = UpdateLevel::none;
};
struct DecideMayThrow : NeverDecides {
  UpdateLevel decide(Changes) { return highest; }
};
struct DecidesABool : NeverDecides {
  bool decide(Changes) noexcept { return false; }
};
struct DecidesOnNothing : NeverDecides {
  UpdateLevel decide() noexcept { return highest; }
};
struct DecidesOnAPointer : NeverDecides {
  UpdateLevel decide(const Changes*) noexcept { return highest; }
};
static_assert(LacksDecide<NeverDecides>);
static_assert(LacksDecide<DecideMayThrow>);
static_assert(LacksDecide<DecidesABool>);
static_assert(LacksDecide<DecidesOnNothing>);
static_assert(LacksDecide<DecidesOnAPointer>);

// --- default constructor
struct NeedsAnArgument : Complete {
  explicit NeedsAnArgument(int) {}
};
static_assert(LacksDefault<NeedsAnArgument>);

static_assert(!UpdateStrategy<int> && !UpdateStrategy<UpdateLevel>);

}  // namespace
