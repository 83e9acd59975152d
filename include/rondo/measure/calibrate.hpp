// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/arch/arch.hpp>
#include <rondo/args/args_table.hpp>
#include <rondo/graph/freeze.hpp>
#include <rondo/platform/concept.hpp>
#include <rondo/platform/streams/cost_file.hpp>
#include <rondo/update/cost_model.hpp>
#include <rondo/update/mechanism.hpp>
#include <rondo/update/refresher.hpp>
#include <rondo/update/refresher_impl.hpp>
#include <rondo/update/strategies.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

/// Measures the costs of a platform, by refreshing tables of many sizes, and fits the costs of update/cost_model.hpp.
namespace rondo::measure {

using update::Mechanism;
using update::RefreshFacts;

/// A refresh of a table, as it was measured.
struct RefreshSample {
  Mechanism mechanism = Mechanism::none;
  RefreshFacts facts{};
  double ps = std::numeric_limits<double>::max();  ///< the time of one of a row of refreshes, in picoseconds
};

/// A table of addresses on a platform, which one mechanism refreshes. Every second slot belongs to one of `bases`
/// tensors that move; the others belong to a tensor that does not move. Lifetime: the platform outlives it. Errors: the
/// constructor throws, as Refresher's does.
template <Platform P, Mechanism M>
class RefreshProbe {
 public:
  static constexpr std::uint32_t bases = 64;

  RefreshProbe(P& platform, std::uint32_t slots)
      : platform_{platform},
        graph_{freeze(graph_of(slots))},
        refresher_{platform, graph_.view(),
                   args::Bases{{3, 3 + bases}, sources(), std::vector<std::uint64_t>(3 + bases, here)}} {}

  /// Times a row of refreshes, before each of which `moved` of the bases move, and keeps the least time in `sample`.
  /// @throws Error with the code of a refresh that fails; unsupported if another mechanism was used
  void measure(std::uint32_t moved, RefreshSample& sample) {
    check(move(moved));
    check(platform_.wait());
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < in_a_row; ++i) check(move(moved));
    check(platform_.wait());
    const std::chrono::duration<double, std::pico> time = std::chrono::steady_clock::now() - begin;
    if (refresher_.refreshed().mechanism != M) {
      throw Error(Errc::unsupported, Error::Text{P::name, " does not refresh by ", to_string(M)});
    }
    sample = {M, Choice::seen(), std::min(sample.ps, time.count() / in_a_row)};
  }
  /// The least time until a refresh returns, in picoseconds.
  [[nodiscard]] double call() {
    double least = std::numeric_limits<double>::max();
    for (int attempt = 0; attempt <= calls; ++attempt) {
      const auto begin = std::chrono::steady_clock::now();
      check(move(1));
      const std::chrono::duration<double, std::pico> time = std::chrono::steady_clock::now() - begin;
      check(platform_.wait());
      if (attempt != 0) least = std::min(least, time.count());
    }
    return least;
  }

 private:
  static constexpr std::uint64_t here = 1 << 20;
  static constexpr int in_a_row = 8;
  static constexpr int calls = 200;

  struct Choice {
    static constexpr bool allows(Mechanism m) noexcept { return m == M; }
    [[nodiscard]] static Mechanism choose(const RefreshFacts& facts) noexcept {
      seen() = facts;
      return M;
    }
    static RefreshFacts& seen() noexcept {
      static thread_local RefreshFacts facts;
      return facts;
    }
  };

  [[nodiscard]] static TaskGraph graph_of(std::uint32_t slots) {
    TaskGraph graph{Edges::explicit_};
    std::vector<Input<float>> inputs;
    for (std::uint32_t b = 0; b < bases; ++b) inputs.push_back(graph.input<float>("x" + std::to_string(b), {16}));
    const auto w = graph.resident<float>("w", {16});
    for (std::uint32_t t = 0; t < slots / 2; ++t) {
      graph.add_raw("task", CoreType::vector, [](ArgWord*) {}, reads(inputs[t % bases]), reads(w));
    }
    return graph;
  }
  [[nodiscard]] static std::vector<args::Source> sources() {
    std::vector<args::Source> all;
    for (std::uint32_t b = 0; b < bases; ++b) all.push_back({3 + b, 0});
    all.push_back({2, 0});
    return all;
  }
  Status move(std::uint32_t moved) noexcept {
    by_ ^= 1 << 16;
    for (std::uint32_t k = 0; k < moved; ++k) refresher_.set_base(3 + k * bases / moved, here + by_);
    return refresher_.refresh();
  }
  static void check(Status status) { require_ok(status, "measuring a refresh"); }

  P& platform_;
  FrozenGraph graph_;
  update::DeferredRefresher<P, update::Auto, Choice> refresher_;
  std::uint64_t by_ = 0;
};

/// Tables on a platform, refreshed by each mechanism that it supports. They are measured in turn, several times, so
/// that other work on the machine disturbs all of them alike.
template <Platform P>
class RefreshProbes {
 public:
  /// Adds tables of these numbers of slots, with these numbers of bases that move. @throws Error as RefreshProbe
  RefreshProbes(P& platform, std::span<const std::uint32_t> slots, std::span<const std::uint32_t> moved) {
    for (const std::uint32_t n : slots) {
      add<Mechanism::segment_copy>(platform, n, moved);
      if constexpr (HasDeviceRefresh<P>) {
        if (platform.can_refresh_args()) add<Mechanism::device_op>(platform, n, moved);
      }
      if constexpr (HasLaunchRefresh<P>) {
        if (platform.can_refresh_args()) add<Mechanism::in_launch>(platform, n, moved);
      }
    }
  }
  /// Measures all of them once more. @throws Error as RefreshProbe
  void measure() {
    for (std::size_t i = 0; i < rows_.size(); ++i) rows_[i](samples_[i]);
  }
  /// The best of all measurements of each table and mechanism.
  [[nodiscard]] std::span<const RefreshSample> samples() const noexcept { return samples_; }

 private:
  template <Mechanism M>
  void add(P& platform, std::uint32_t slots, std::span<const std::uint32_t> moved) {
    const auto probe = std::make_shared<RefreshProbe<P, M>>(platform, slots);
    for (const std::uint32_t m : moved) {
      rows_.push_back([probe, m](RefreshSample& sample) { probe->measure(m, sample); });
    }
    samples_.resize(rows_.size());
  }

  std::vector<std::function<void(RefreshSample&)>> rows_;
  std::vector<RefreshSample> samples_;
};

namespace detail {

/// Finds the three factors, none of them negative, with which `rows` come closest to `values`, by the sum of the
/// squares of the relative errors.
[[nodiscard]] inline std::array<double, 3> fit(std::span<const std::array<double, 3>> rows,
                                               std::span<const double> values) {
  std::array<double, 3> best{};
  double least = std::numeric_limits<double>::max();
  for (unsigned used = 1; used < 8; ++used) {  // the bits of `used` say which factors are not 0
    double m[3][4] = {};
    for (std::size_t r = 0; r < rows.size(); ++r) {
      for (std::size_t i = 0; i < 3; ++i) {
        const double a = rows[r][i] / values[r];
        for (std::size_t j = 0; j < 3; ++j) m[i][j] += a * rows[r][j] / values[r];
        m[i][3] += a;
      }
    }
    for (std::size_t i = 0; i < 3; ++i) {
      if ((used >> i & 1U) != 0) continue;
      for (std::size_t j = 0; j < 3; ++j) m[i][j] = m[j][i] = i == j ? 1 : 0;
      m[i][3] = 0;
    }
    bool is_solved = true;
    for (std::size_t i = 0; i < 3; ++i) {  // the matrix is symmetric and positive: no pivoting
      is_solved = is_solved && m[i][i] > 0;
      for (std::size_t r = 0; r < 3 && is_solved; ++r) {
        const double factor = m[r][i] / m[i][i];
        for (std::size_t j = 0; j < 4 && r != i; ++j) m[r][j] -= factor * m[i][j];
      }
    }
    std::array<double, 3> x{};
    for (std::size_t i = 0; i < 3 && is_solved; ++i) x[i] = m[i][3] / m[i][i];
    if (!is_solved || *std::min_element(x.begin(), x.end()) < 0) continue;
    double error = 0;
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const double off = (x[0] * rows[r][0] + x[1] * rows[r][1] + x[2] * rows[r][2]) / values[r] - 1;
      error += off * off;
    }
    if (error < least) least = error, best = x;
  }
  return best;
}
[[nodiscard]] inline std::uint64_t whole(double ps) noexcept {
  return static_cast<std::uint64_t>(std::llround(std::max(ps, 0.0)));
}

}  // namespace detail

/// The costs that come closest to these samples. Costs of mechanisms without samples keep their defaults.
[[nodiscard]] inline RefreshCosts fit_costs(std::span<const RefreshSample> samples) {
  RefreshCosts costs;
  std::vector<std::array<double, 3>> rows;
  std::vector<double> values;
  const auto number = [](std::uint64_t n) { return static_cast<double>(n); };
  for (const RefreshSample& s : samples) {
    if (s.mechanism != Mechanism::segment_copy) continue;
    rows.push_back({number(s.facts.segments), number(s.facts.segment_bytes), number(s.facts.slots)});
    values.push_back(s.ps);
  }
  if (!rows.empty()) {
    const auto [copy, byte, slot] = detail::fit(rows, values);
    costs.copy = detail::whole(copy);
    costs.copied_byte = detail::whole(byte);
    costs.host_slot = detail::whole(slot);
  }
  rows.clear();
  values.clear();
  for (const RefreshSample& s : samples) {
    if (s.mechanism == Mechanism::segment_copy) continue;
    const bool is_carried = s.mechanism == Mechanism::in_launch;
    rows.push_back({1, number(s.facts.relocations), is_carried ? number(s.facts.launch_bytes) : 0});
    const double moved = is_carried ? 0 : number(costs.copy + costs.copied_byte * s.facts.base_bytes);
    values.push_back(std::max(s.ps - moved, s.ps / 100));
  }
  if (!rows.empty()) {
    const auto [op, slot, byte] = detail::fit(rows, values);
    costs.device_op = detail::whole(op);
    costs.device_slot = detail::whole(slot);
    costs.launched_byte = detail::whole(byte);
  }
  return costs;
}

/// The median relative error with which these costs predict the samples.
[[nodiscard]] inline double median_error(std::span<const RefreshSample> samples, const RefreshCosts& costs) {
  std::vector<double> errors;
  for (const RefreshSample& s : samples) {
    errors.push_back(std::abs(static_cast<double>(update::cost_of(s.mechanism, costs, s.facts)) / s.ps - 1));
  }
  if (errors.empty()) return 0;
  const auto middle = errors.begin() + static_cast<std::ptrdiff_t>(errors.size() / 2);
  std::nth_element(errors.begin(), middle, errors.end());
  return *middle;
}

/// The tables to which costs are fitted.
inline constexpr std::uint32_t calibration_slots[] = {128, 512, 2048, 8192};
inline constexpr std::uint32_t calibration_moved[] = {1, 4, 16, 64};

/// Measures the costs of an open platform, the tables `passes` times; takes some seconds. @throws Error as RefreshProbe
template <Platform P>
  requires HasDeviceRefresh<P>
[[nodiscard]] MeasuredCosts calibrate(P& platform, std::uint32_t passes) {
  MeasuredCosts costs;
  costs.platform = decltype(costs.platform)(P::name);
  costs.machine = platform.machine();
  {
    RefreshProbes<P> probes(platform, calibration_slots, calibration_moved);
    for (std::uint32_t pass = 0; pass < std::max(passes, 1U); ++pass) probes.measure();
    costs.refresh = fit_costs(probes.samples());
  }
  if constexpr (HasLaunchRefresh<P>) {
    if (platform.can_refresh_args()) {
      costs.launch = detail::whole(RefreshProbe<P, Mechanism::in_launch>(platform, calibration_slots[0]).call());
    }
  }
  const DevicePtr<std::byte> block = platform.allocate(Bytes{64}, Bytes{P::Arch::arena_alignment});
  const std::byte data[64] = {};
  double least = std::numeric_limits<double>::max();
  Status status;
  for (int attempt = 0; attempt < 100 && status.ok(); ++attempt) {
    status = platform.copy_in(block, data, Bytes{sizeof(data)});
    const auto begin = std::chrono::steady_clock::now();
    status = first_failure(status, platform.wait());
    const std::chrono::duration<double, std::pico> time = std::chrono::steady_clock::now() - begin;
    least = std::min(least, time.count());
  }
  status = first_failure(status, platform.release(block));
  require_ok(status, "measuring a wait");
  costs.wait = detail::whole(least);
  return costs;
}

}  // namespace rondo::measure
