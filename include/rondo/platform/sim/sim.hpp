// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/detail/fixed_text.hpp>
#include <rondo/platform/concept.hpp>
#include <rondo/platform/saved_file.hpp>
#include <rondo/platform/sim/engine.hpp>
#include <rondo/platform/sim/hosted.hpp>
#include <rondo/platform/sim/traffic.hpp>

#include <cstdint>

namespace rondo::platform {

/// A simulated NPU: device memory is host memory, kernels run as host functions on the engine `E`. The arch `A`
/// describes the chip, the engine decides how tasks run, and `T` is notified of every byte that would cross the bus
/// (see traffic.hpp). Thread safety, errors and cost: those of Hosted, in hosted.hpp, which has the implementation of
/// rounds.
template <arch::Arch A, class E, class T = sim::NoTraffic>
class Sim : public sim::Hosted<Sim<A, E, T>, A, E, T> {
  using Base = sim::Hosted<Sim, A, E, T>;

 public:
  /// The same platform on another engine.
  template <class Other>
  using On = Sim<A, Other, T>;
  static constexpr detail::FixedText<32> name_text{A::name, "_sim"};
  static constexpr const char* name = name_text.c_str();

  /// The size of the device memory, and the options of the engine.
  struct Options {
    /// The most memory that can be allocated; a small limit makes out-of-memory errors testable.
    Bytes device_memory{std::uint64_t{1} << 62};
    typename E::Options engine{};                         ///< the options of the engine
    [[no_unique_address]] typename T::Options traffic{};  ///< the options of `T`
    /// The file of session.save() from which the session takes its plan and its learned state.
    SavedFile saved{};
  };

  explicit Sim(const Options& options) : Base{options.device_memory, options.engine, options.traffic} {}
};

}  // namespace rondo::platform
