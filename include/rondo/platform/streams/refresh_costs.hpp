// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/args/refresh_op.hpp>
#include <rondo/error.hpp>
#include <rondo/platform/streams/api.hpp>
#include <rondo/platform/streams/cost_file.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <optional>
#include <vector>

/// The costs of refreshing args: given, read from a file, or measured when a session opens.
namespace rondo::platform::streams {

using args::RefreshCosts;

/// Measures the costs of refreshing in some 200 calls. Each cost is the minimum of several tries, timed on the host: a
/// row of calls and one wait, divided by the number of calls, all warm. A cost that cannot be measured keeps its
/// default.
///
/// Errors: throws errors of the runtime. Cost: set-up only.
template <class Device, class RefreshKernel>
class RefreshMeasurement {
  using Api = typename Device::Api;

 public:
  RefreshMeasurement(Device& device, RefreshKernel& kernel) : device_{device}, kernel_{kernel} {
    device_.must(Api::malloc,
                 device_.take(&memory_, relocations_at + sizeof(args::Relocation) * most_relocations + 64));
  }
  RefreshMeasurement(const RefreshMeasurement&) = delete;
  RefreshMeasurement& operator=(const RefreshMeasurement&) = delete;
  ~RefreshMeasurement() {
    (void)device_.wait();
    (void)device_.give_back(memory_);
  }

  [[nodiscard]] RefreshCosts measure() {
    RefreshCosts costs;
    std::vector<args::Relocation> relocations(most_relocations);
    for (std::uint32_t i = 0; i < most_relocations; ++i) relocations[i].at = 8 * i;
    std::vector<std::byte> table(relocations_at);
    const std::uint64_t bases[most_bases] = {};
    costs.host_slot = time_of(1,
                              [&] {
                                args::run_refresh(table.data(), relocations.data(), most_relocations, bases);
                                return code_ok;
                              }) /
                          most_relocations +
                      1;

    const auto copy = [&](std::uint64_t bytes) {
      return time_of(calls_in_a_row, [&] { return device_.copy_snapshot(memory_, table.data(), bytes); });
    };
    if (const std::uint64_t small = copy(64); last_ == code_ok) {
      costs.copied_byte = rise(small, copy(relocations_at), relocations_at - 64);
      costs.copy = small;
    } else if (Api::errc_of(last_) == Errc::unsupported) {
      last_ = code_ok;
    }
    device_.must(Api::copy_async, last_);
    if (!kernel_.is_usable()) return costs;

    device_.must(Api::copy,
                 device_.copy_now(at(relocations_at), relocations.data(), sizeof(args::Relocation) * most_relocations,
                                  host_to_device, device_.stream()));
    const auto compute = [&](std::uint64_t count) {
      const args::RefreshOp op{DevicePtr<std::byte>{address(0)},
                               DevicePtr<const args::Relocation>{address(relocations_at)}, count,
                               DevicePtr<const std::uint64_t>{address(0)}, 1};
      return time_of(calls_in_a_row, [&] { return kernel_.launch(op, nullptr, device_.stream()); });
    };
    const auto carry = [&](std::uint32_t count) {
      const args::RefreshOp op{DevicePtr<std::byte>{address(0)},
                               DevicePtr<const args::Relocation>{address(relocations_at)}, 1,
                               DevicePtr<const std::uint64_t>{}, count};
      const args::LaunchPayload payload{bases, count, nullptr, 0, {}};
      return time_of(calls_in_a_row, [&] { return kernel_.launch(op, &payload, device_.stream()); });
    };
    costs.device_op = compute(1);
    costs.device_slot = rise(costs.device_op, compute(most_relocations), most_relocations - 1);
    costs.launched_byte = rise(carry(1), carry(most_bases), 8 * (most_bases - 1));
    device_.must(Api::launch_refresh, last_);
    return costs;
  }

 private:
  static constexpr std::uint32_t calls_in_a_row = 8;
  static constexpr std::uint32_t tries = 3;
  static constexpr std::uint32_t most_relocations = 8192;
  static constexpr std::uint64_t relocations_at = std::uint64_t{8} * most_relocations;
  static constexpr std::uint32_t most_bases = (RefreshKernel::most_bytes - args::LaunchPayload::launch_bytes) / 32 * 4;

  [[nodiscard]] std::uint64_t address(std::uint64_t offset) const noexcept {
    return reinterpret_cast<std::uintptr_t>(memory_) + offset;
  }
  [[nodiscard]] void* at(std::uint64_t offset) const noexcept { return static_cast<std::byte*>(memory_) + offset; }
  [[nodiscard]] static std::uint64_t rise(std::uint64_t from, std::uint64_t to, std::uint64_t steps) noexcept {
    return to > from + steps ? (to - from) / steps : 1;
  }
  [[nodiscard]] static std::uint64_t now_ps() noexcept {
    timespec now{};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec)) * 1000;
  }
  /// The time of one of `row` calls, in picoseconds; the first try is a warm-up. Stores the first failure in `last_`.
  template <class Call>
  [[nodiscard]] std::uint64_t time_of(std::uint32_t row, Call call) {
    std::uint64_t least = ~std::uint64_t{0};
    for (std::uint32_t t = 0; t <= tries && last_ == code_ok; ++t) {
      device_.must(Api::synchronize, device_.wait());
      const std::uint64_t begin = now_ps();
      device_.work_begins();
      for (std::uint32_t i = 0; i < row && last_ == code_ok; ++i) last_ = call();
      device_.must(Api::synchronize, device_.wait());
      if (t != 0) least = std::min(least, (now_ps() - begin) / row);
    }
    return least;
  }

  Device& device_;
  RefreshKernel& kernel_;
  void* memory_ = nullptr;
  Code last_ = code_ok;
};

/// The costs of refreshing that the options give, name or ask to measure, and why a cost file is not used.
class ConfiguredCosts {
 public:
  /// @throws Error as load_costs() and RefreshMeasurement do, after releasing the kernel
  template <class Options, class Device, class RefreshKernel>
  ConfiguredCosts(const Options& options, const char* platform, Device& device, RefreshKernel& kernel)
      : costs_{options.refresh_costs} {
    if (costs_) return;
    try {
      costs_ = rondo::detail::load_costs(options.cost_file, platform, device, remark_);
      if (!costs_ && options.measure_refresh_costs) costs_ = RefreshMeasurement(device, kernel).measure();
    } catch (...) {
      (void)kernel.release();
      throw;
    }
  }
  /// Returns the costs; null if none are known.
  [[nodiscard]] const RefreshCosts* get() const noexcept { return costs_ ? &*costs_ : nullptr; }
  template <class Sink>
  void remark(Sink&& sink) const noexcept {
    if (!remark_.empty()) sink(remark_.c_str());
  }

 private:
  std::optional<RefreshCosts> costs_;
  Error::Text remark_;
};

}  // namespace rondo::platform::streams
