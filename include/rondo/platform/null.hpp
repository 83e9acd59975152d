// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/arch/a2a3.hpp>
#include <rondo/platform/concept.hpp>

namespace rondo {

/// Does nothing: no memory, no copy, no kernel. What a round costs on it is Rondo's own cost.
/// Its device addresses are well-formed and lead nowhere.
class NullPlatform {
 public:
  /// The chip whose limits it has.
  using Arch = arch::A2A3;
  /// In messages.
  static constexpr const char* name = "null";
  /// Kernels could read the host's args table.
  static constexpr Capabilities capabilities{Capability::args_in_host_memory};
  /// What may run at once.
  static constexpr memory::Concurrency concurrency = memory::Concurrency::sequential;
  struct Options {};
  struct Program {};

  explicit NullPlatform(const Options&) noexcept {}

  /// An address that is aligned and leads nowhere.
  [[nodiscard]] DevicePtr<std::byte> allocate(Bytes, Bytes alignment) const noexcept {
    return DevicePtr<std::byte>{alignment.value};
  }
  /// Does nothing.
  Status release(DevicePtr<std::byte>) noexcept { return {}; }
  /// Does nothing.
  Status copy_in(DevicePtr<std::byte>, const void*, Bytes) noexcept { return {}; }
  /// Does nothing.
  Status copy_out(void*, DevicePtr<const std::byte>, Bytes) noexcept { return {}; }
  /// Until it is done. @returns how it ended
  Status wait() noexcept { return {}; }

  /// The platform's share of opening a session. @throws Error what the engine throws
  template <class Graph, class Args>
  [[nodiscard]] Program load(const Graph&, Args&) const noexcept {
    return {};
  }
  /// Starts the loaded graph.
  Status launch(Program&) noexcept { return {}; }
  /// Gives the loaded graph back.
  Status unload(Program&) noexcept { return {}; }
};

}  // namespace rondo
