// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>

namespace rondo::erased {

/// @throws Error
template <class... Text>
[[noreturn]] void fail(Errc code, const Text&... text) {
  throw Error(code, Error::Text(text...));
}

}  // namespace rondo::erased
