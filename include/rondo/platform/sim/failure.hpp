// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>

#include <exception>

namespace rondo::platform::sim {

/// What a kernel's exception said. To be called inside a catch block.
[[gnu::cold]] inline Error::Text current_exception_text() noexcept {
  try {
    throw;
  } catch (const std::exception& e) {
    return Error::Text(e.what());
  } catch (...) {
    return Error::Text("an exception that is no std::exception");
  }
}

[[nodiscard]] constexpr Status kernel_failed(std::uint32_t task) noexcept {
  return Status::of_task(Errc::kernel_failed, task).poisoning();
}

}  // namespace rondo::platform::sim
