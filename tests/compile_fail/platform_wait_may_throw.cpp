// expect: rondo: the platform cannot be waited for; write `Status wait() noexcept;`
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/arch/a2a3.hpp>
#include <rondo/platform/check_platform.hpp>
#include <rondo/platform/concept.hpp>

struct Mine {
  using Arch = rondo::arch::A2A3;
  static constexpr const char* name = "mine";
  struct Options {};
  explicit Mine(const Options&);
  rondo::DevicePtr<std::byte> allocate(rondo::Bytes size, rondo::Bytes alignment);
  rondo::Status release(rondo::DevicePtr<std::byte>) noexcept;
  rondo::Status copy_in(rondo::DevicePtr<std::byte>, const void*, rondo::Bytes) noexcept;
  rondo::Status copy_out(void*, rondo::DevicePtr<const std::byte>, rondo::Bytes) noexcept;
  rondo::Status wait();  // noexcept is missing
};
static_assert(rondo::check_platform<Mine>());
