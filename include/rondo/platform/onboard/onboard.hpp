// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/arch/arch.hpp>
#include <rondo/types.hpp>

namespace rondo::platform {

namespace onboard {
template <class>
inline constexpr bool exists = false;
}

/// A real NPU through the ACL runtime. The name is taken; using the type does not compile yet.
template <arch::Arch A>
class Onboard {
  static_assert(onboard::exists<A>,
                "rondo: the onboard platforms do not exist yet; choose RONDO_PLATFORM=a2a3_sim or a5_sim");
};

}  // namespace rondo::platform
