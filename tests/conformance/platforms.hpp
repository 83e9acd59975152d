// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../../examples/07_toy_platform/toy_platform.hpp"
#include "stand_in/over_stand_in.hpp"

#include <rondo/platform/host/host.hpp>
#include <rondo/platform/sim/checked.hpp>
#include <rondo/platform/sim/model.hpp>
#include <rondo/platform/sim/pool.hpp>
#include <rondo/rondo.hpp>

// The lists of platforms in these tests name each engine once, some for one chip and some for the other: chips differ
// in numbers that are data, and every platform in a list is compiled anew in each configuration.

template <class P>
inline constexpr bool is_over_stand_in = requires { requires P::runs_over_stand_in; };

/// The error code of a round whose kernel throws: kernel_failed where the host runs kernels, device_failed on a device.
template <class P>
inline constexpr rondo::Errc failure_of_a_kernel =
    is_over_stand_in<P> ? rondo::Errc::device_failed : rondo::Errc::kernel_failed;

/// Options that make a platform use its threads and streams although the tasks of tests are short: a pool spreads tasks
/// over three threads from the first round on, and a captured graph has three streams.
template <class P>
typename P::Options busy_options() {
  typename P::Options options{};
  const auto make_busy = [](auto& engine) {
    if constexpr (requires { engine.threads; }) {
      engine.threads = 3;
      engine.scheduling = rondo::platform::sim::Scheduling::uniform;
    }
  };
  if constexpr (requires { options.engine.inner; }) {
    make_busy(options.engine.inner);
  } else if constexpr (requires { options.engine; }) {
    make_busy(options.engine);
  }
  if constexpr (requires { options.streams; }) options.streams = 3;
  return options;
}
