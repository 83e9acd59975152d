// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "conformance/platforms.hpp"

#include <rondo/rondo.hpp>

#include <cstring>
#include <utility>
#include <vector>

/// Device memory that belongs to the caller and is bound in place of host memory. The test reads it without the
/// platform's help. Release it before the platform is destroyed.
template <class P>
class DeviceFloats {
 public:
  DeviceFloats(P& platform, std::size_t n, float value = 0)
      : platform_{&platform}, n_{n}, at_{platform.allocate(rondo::Bytes{4 * n}, rondo::Bytes{1024})} {
    fill(value);
  }
  DeviceFloats(DeviceFloats&& other) noexcept
      : platform_{other.platform_}, n_{other.n_}, at_{std::exchange(other.at_, {})} {}
  DeviceFloats& operator=(DeviceFloats&&) = delete;
  ~DeviceFloats() {
    if (at_) (void)platform_->release(at_);
  }

  [[nodiscard]] rondo::DeviceSpan<float> span() const { return {at_.template as<float>(), n_}; }
  void fill(float value) { write(std::vector<float>(n_, value)); }
  [[nodiscard]] std::vector<float> values() const {
    std::vector<float> values(n_);
    if constexpr (is_over_stand_in<P>) {
      (void)rondo_stand_in_peek(at_.address(), values.data(), 4 * n_);
    } else {
      std::memcpy(values.data(), pointer(), 4 * n_);
    }
    return values;
  }

  void write(const std::vector<float>& values) {
    if constexpr (is_over_stand_in<P>) {
      (void)rondo_stand_in_poke(at_.address(), values.data(), 4 * n_);
    } else {
      std::memcpy(pointer(), values.data(), 4 * n_);
    }
  }

 private:
  /// Simulated devices read host memory, so this memory is on the host.
  [[nodiscard]] void* pointer() const { return reinterpret_cast<void*>(at_.address()); }

  P* platform_;
  std::size_t n_;
  rondo::DevicePtr<std::byte> at_{};
};
