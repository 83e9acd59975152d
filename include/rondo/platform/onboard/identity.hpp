// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/platform/onboard/codes.hpp>

#include <cstdint>
#include <span>
#include <string_view>

/// The chip that a device must be, and the calls that remain once a device is given up.
namespace rondo::platform::onboard {

/// The chip that a platform is for, and the names in its messages.
struct Identity {
  const char* platform;
  const char* arch;
  std::span<const char* const> soc_prefixes;
  std::uint32_t npu_arch;
};

/// Checks that the device is a chip of this kind. @throws Error unsupported: the device is another chip
inline void check_chip(const Calls& calls, const Identity& identity, std::uint32_t device) {
  const char* const soc = calls.soc_name();
  const std::string_view name = soc == nullptr ? "" : soc;
  for (const char* const prefix : identity.soc_prefixes) {
    if (name.starts_with(prefix)) return;
  }
  // A chip whose name is not in the list may still be of this architecture.
  std::int64_t npu = 0;
  if (calls.device_info != nullptr && calls.device_info(device, device_info_npu_arch, &npu) == code_ok &&
      npu == static_cast<std::int64_t>(identity.npu_arch) && !name.empty()) {
    return;
  }
  Error::Text text{identity.platform, ": device ", device, " is "};
  if (name.empty()) {
    text.append("of a kind that the runtime does not name");
  } else {
    text.append(name);
  }
  text.append(", not an ");
  text.append(identity.arch);
  text.append(" chip; choose the platform of the chip");
  throw Error(Errc::unsupported, text);
}

/// The calls for a device that was given up. They do nothing: those that release report success, all others
/// code_not_open.
[[nodiscard]] inline const Calls& calls_of_no_device() noexcept {
  static const Calls calls = [] {
    Calls c;
    const auto fill = []<class... A>(const char*, AclError (*&slot)(A...)) {
      slot = [](A...) { return code_not_open; };
    };
    const auto fill_any = [&](const char* name, auto& slot) {
      if constexpr (requires { fill(name, slot); }) fill(name, slot);
    };
    visit_required(c, fill_any);
    visit_optional(c, fill_any);
    c.recent_error = []() -> const char* { return "the device was given up after it did not finish in time"; };
    c.destroy_stream = c.unload = c.destroy_instance = [](void*) { return code_ok; };
    c.destroy_event = c.free = c.free_host = c.free_physical = c.destroy_stream;
    c.release_address = c.unmap_memory = c.unregister_host = c.destroy_stream;
    return c;
  }();
  return calls;
}

}  // namespace rondo::platform::onboard
