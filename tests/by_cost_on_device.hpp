// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/update/cost_model.hpp>

namespace rondo::test {

/// update::ByCost among the mechanisms that keep a copy of the table on the device.
template <update::RefreshCosts Costs = update::RefreshCosts{}>
struct ByCostOnDevice : update::ByCost<Costs> {
  static constexpr bool allows(update::Mechanism m) noexcept { return m != update::Mechanism::in_place; }
};

}  // namespace rondo::test
