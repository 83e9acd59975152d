// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/mpi/group.hpp>

/// The options of a group whose ranks wait for each other for eleven days, longer than any machine is busy. A test in
/// which a rank never comes sets a shorter time for the ranks that wait for that one.
inline constexpr rondo::mpi::GroupOptions patient{.patience = 1e6};
/// For mpi::RankOptions::join_seconds, likewise.
inline constexpr double long_join = 1e6;
