// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/update/deferred_refresher.hpp>
#include <rondo/update/direct_refresher.hpp>

#include <type_traits>

namespace rondo::update {

/// An args table on a platform, kept in step with its bases: once per round, after the bases are set, refresh() brings
/// to the device what changed. By DirectRefresher where that is enough, else by DeferredRefresher; they have the same
/// members.
template <class P, UpdateStrategy S = Auto, MechanismChoice C = ByCost<>>
using Refresher = std::conditional_t<is_direct<P, S, C>, DirectRefresher<P>, DeferredRefresher<P, S, C>>;

}  // namespace rondo::update
