// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>

namespace rondo::erased {

/// Throws an Error with a text of these parts.
template <class... Text>
[[noreturn]] void fail(Errc code, const Text&... text) {
  throw Error(code, Error::Text{text...});
}

}  // namespace rondo::erased
