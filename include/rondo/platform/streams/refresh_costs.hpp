// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/args/refresh_op.hpp>
#include <rondo/error.hpp>
#include <rondo/platform/streams/api.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <memory>
#include <vector>

/// The costs of refreshing args on a machine: measured when a session opens (Options::measure_refresh_costs), or read
/// from a file with one line for each cost.
namespace rondo {

using args::RefreshCosts;

namespace detail {

struct NamedCost {
  const char* name;
  std::uint64_t RefreshCosts::* value;
};
inline constexpr NamedCost named_costs[] = {{"copy", &RefreshCosts::copy},
                                            {"copied_byte", &RefreshCosts::copied_byte},
                                            {"host_slot", &RefreshCosts::host_slot},
                                            {"device_op", &RefreshCosts::device_op},
                                            {"device_slot", &RefreshCosts::device_slot},
                                            {"launched_byte", &RefreshCosts::launched_byte}};

struct CloseFile {
  void operator()(std::FILE* file) const noexcept { (void)std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

}  // namespace detail

/// Writes costs to a file, in picoseconds. @throws Error invalid_argument if it cannot be written
inline void write_refresh_costs(const char* path, const RefreshCosts& costs) {
  const detail::File file{std::fopen(path, "w")};
  bool is_written = file != nullptr;
  for (const detail::NamedCost& cost : detail::named_costs) {
    is_written = is_written && std::fprintf(file.get(), "%s %llu\n", cost.name,
                                            static_cast<unsigned long long>(costs.*cost.value)) > 0;
  }
  if (is_written && std::fflush(file.get()) == 0) return;
  throw Error(Errc::invalid_argument, Error::Text(path, ": the refresh costs cannot be written there"));
}

/// Reads a file of write_refresh_costs(). A cost that the file omits keeps its default. @throws Error invalid_argument
/// if there is no such file, or if a line is not the name of a cost and a number
[[nodiscard]] inline RefreshCosts read_refresh_costs(const char* path) {
  const detail::File file{std::fopen(path, "r")};
  if (file == nullptr)
    throw Error(Errc::invalid_argument, Error::Text(path, ": there is no such file of refresh costs"));
  RefreshCosts costs;
  char line[128];
  for (std::uint64_t number = 1; std::fgets(line, sizeof(line), file.get()) != nullptr; ++number) {
    char name[32] = {};
    unsigned long long value = 0;
    const bool is_read = std::sscanf(line, "%31s %llu", name, &value) == 2;
    const auto* const cost = std::find_if(std::begin(detail::named_costs), std::end(detail::named_costs),
                                          [&](const detail::NamedCost& c) { return std::strcmp(c.name, name) == 0; });
    if (!is_read || cost == std::end(detail::named_costs)) {
      throw Error(Errc::invalid_argument, Error::Text(path, ", line ", number,
                                                      ": a cost is one of copy, copied_byte, host_slot, device_op, "
                                                      "device_slot and launched_byte, and a number of picoseconds"));
    }
    costs.*cost->value = value;
  }
  return costs;
}

namespace platform::streams {

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
    device_.must(Api::malloc, device_.take(&memory_, lanes_at + sizeof(args::Lane) * most_lanes + 64));
  }
  RefreshMeasurement(const RefreshMeasurement&) = delete;
  RefreshMeasurement& operator=(const RefreshMeasurement&) = delete;
  ~RefreshMeasurement() {
    (void)device_.wait();
    (void)device_.give_back(memory_);
  }

  [[nodiscard]] RefreshCosts measure() {
    RefreshCosts costs;
    std::vector<args::Lane> lanes(most_lanes);
    for (std::uint32_t i = 0; i < most_lanes; ++i) lanes[i].at = 8 * i;
    std::vector<std::byte> table(lanes_at);
    const std::uint64_t bases[most_bases] = {};
    costs.host_slot = time_of(1,
                              [&] {
                                args::run_refresh(table.data(), lanes.data(), most_lanes, bases);
                                return code_ok;
                              }) /
                          most_lanes +
                      1;

    const auto copy = [&](std::uint64_t bytes) {
      return time_of(calls_in_a_row, [&] { return device_.copy_snapshot(memory_, table.data(), bytes); });
    };
    if (const std::uint64_t small = copy(64); last_ == code_ok) {
      costs.copied_byte = rise(small, copy(lanes_at), lanes_at - 64);
      costs.copy = small;
    } else if (Api::errc_of(last_) == Errc::unsupported) {
      last_ = code_ok;
    }
    device_.must(Api::copy_async, last_);
    if (!kernel_.is_usable()) return costs;

    device_.must(Api::copy, device_.copy_now(at(lanes_at), lanes.data(), sizeof(args::Lane) * most_lanes,
                                             host_to_device, device_.stream()));
    const auto compute = [&](std::uint64_t count) {
      const args::RefreshOp op{DevicePtr<std::byte>{address(0)}, DevicePtr<const args::Lane>{address(lanes_at)}, count,
                               DevicePtr<const std::uint64_t>{address(0)}, 1};
      return time_of(calls_in_a_row, [&] { return kernel_.launch(op, nullptr, device_.stream()); });
    };
    const auto carry = [&](std::uint32_t count) {
      const args::RefreshOp op{DevicePtr<std::byte>{address(0)}, DevicePtr<const args::Lane>{address(lanes_at)}, 1,
                               DevicePtr<const std::uint64_t>{}, count};
      const args::LaunchPayload payload{bases, count, nullptr, 0, {}};
      return time_of(calls_in_a_row, [&] { return kernel_.launch(op, &payload, device_.stream()); });
    };
    costs.device_op = compute(1);
    costs.device_slot = rise(costs.device_op, compute(most_lanes), most_lanes - 1);
    costs.launched_byte = rise(carry(1), carry(most_bases), 8 * (most_bases - 1));
    device_.must(Api::launch_refresh, last_);
    return costs;
  }

 private:
  static constexpr std::uint32_t calls_in_a_row = 8;
  static constexpr std::uint32_t tries = 3;
  static constexpr std::uint32_t most_lanes = 8192;
  static constexpr std::uint64_t lanes_at = std::uint64_t{8} * most_lanes;
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

}  // namespace platform::streams

}  // namespace rondo
