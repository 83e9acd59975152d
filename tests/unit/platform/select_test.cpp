// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/host/host.hpp>
#include <rondo/platform/onboard/onboard.hpp>
#include <rondo/platform/select.hpp>
#include <rondo/platform/sim/pool.hpp>

#include <doctest/doctest.h>

#include <string>
#include <type_traits>

#define RONDO_TEST_TEXT_OF(name) #name
#define RONDO_TEST_TEXT(name) RONDO_TEST_TEXT_OF(name)

using namespace rondo;

TEST_CASE("A platform is an arch on a backend, and its name says so") {
  CHECK(std::string{A2A3Sim::name} == "a2a3_sim");
  CHECK(std::string{A5Sim::name} == "a5_sim");
  CHECK(std::is_same_v<A2A3Sim::Arch, arch::A2A3>);
  CHECK(std::is_same_v<A5Sim::Arch, arch::A5>);
  CHECK(std::is_same_v<A2A3Sim, A2A3SimOn<Inline>>);
  CHECK(std::is_same_v<A5Sim, A5SimOn<Inline>>);
  CHECK(std::string{A2A3SimOn<Pool>::name} == "a2a3_sim");
  CHECK(std::string{A2A3Onboard::name} == "a2a3_onboard");
  CHECK(std::string{A5Onboard::name} == "a5_onboard");
  CHECK(std::is_same_v<A5Onboard::Arch, arch::A5>);
  CHECK(std::string{Host::name} == "host");
  CHECK(std::is_same_v<HostOn<Pool>::Arch, arch::Host>);
}

TEST_CASE("The selected platform is the one that the build names") {
  const std::string wanted = RONDO_TEST_TEXT(RONDO_PLATFORM);
  if (wanted == "a2a3_sim") CHECK(std::is_same_v<SelectedPlatform, A2A3Sim>);
  if (wanted == "a5_sim") CHECK(std::is_same_v<SelectedPlatform, A5Sim>);
  if (wanted == "a2a3_onboard") CHECK(std::is_same_v<SelectedPlatform, A2A3Onboard>);
  if (wanted == "host") CHECK(std::is_same_v<SelectedPlatform, Host>);
  if (wanted == "a5_onboard") CHECK(std::is_same_v<SelectedPlatform, A5Onboard>);
  if (wanted == "cuda") CHECK(std::is_same_v<SelectedPlatform, Cuda>);
}

TEST_CASE("Each of the names stands for its type") {
  CHECK(std::is_same_v<platform::Names::a2a3_sim, A2A3Sim>);
  CHECK(std::is_same_v<platform::Names::a5_sim, A5Sim>);
  CHECK(std::is_same_v<platform::Names::a2a3_onboard, platform::Onboard<arch::A2A3>>);
  CHECK(std::is_same_v<platform::Names::a5_onboard, platform::Onboard<arch::A5>>);
  CHECK(std::is_same_v<platform::Names::host, Host>);
  CHECK(std::is_same_v<platform::Names::cuda, Cuda>);
}
