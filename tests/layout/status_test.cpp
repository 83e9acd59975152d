// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/error.hpp>

#include <cstdint>
#include <type_traits>

// What travels in registers on the hot path.

using namespace rondo;

static_assert(sizeof(Status) == 8 && alignof(Status) <= 8);
static_assert(std::is_trivially_copyable_v<Status> && std::is_trivially_destructible_v<Status>);
static_assert(std::is_standard_layout_v<Status>);
static_assert(sizeof(Errc) == 2 && std::is_same_v<std::underlying_type_t<Errc>, std::uint16_t>);
static_assert(static_cast<int>(Errc::ok) == 0);
static_assert(Status{} == Status{Errc::ok});

// An error is copied without a throw and holds its text itself.
static_assert(std::is_nothrow_copy_constructible_v<Error> && std::is_nothrow_destructible_v<Error>);
static_assert(std::is_trivially_copyable_v<Error::Text>);
static_assert(sizeof(Error) >= sizeof(Error::Text));
