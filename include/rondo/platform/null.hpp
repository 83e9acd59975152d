// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/arch/a2a3.hpp>
#include <rondo/platform/concept.hpp>

namespace rondo {

/// Does nothing, so a round costs only Rondo's own overhead. Its device addresses are well-formed, but not usable.
class NullPlatform {
 public:
  using Arch = arch::A2A3;
  static constexpr const char* name = "null";
  static constexpr Capabilities capabilities{Capability::args_in_host_memory, Capability::loops};
  static constexpr memory::Concurrency concurrency = memory::Concurrency::sequential;
  struct Options {};
  struct Program {};

  explicit NullPlatform(const Options&) noexcept {}

  [[nodiscard]] DevicePtr<std::byte> allocate(Bytes, Bytes alignment) const noexcept {
    return DevicePtr<std::byte>{alignment.value};
  }
  Status release(DevicePtr<std::byte>) noexcept { return {}; }
  Status copy_in(DevicePtr<std::byte>, const void*, Bytes) noexcept { return {}; }
  Status copy_out(void*, DevicePtr<const std::byte>, Bytes) noexcept { return {}; }
  Status wait() noexcept { return {}; }

  template <class Graph, class Args>
  [[nodiscard]] Program load(const Graph&, Args&) const noexcept {
    return {};
  }
  Status launch(Program&) noexcept { return {}; }
  Status unload(Program&) noexcept { return {}; }
};

}  // namespace rondo
