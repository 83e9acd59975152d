// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/update/strategies.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <type_traits>
#include <vector>

using namespace rondo;

namespace {

/// Bases 0 and 1 never change, 2 and 3 are arenas, 4 .. 4 + io are inputs and outputs.
struct Bases {
  explicit Bases(std::uint32_t io) : active(4 + io, 64), last(4 + io, 64) {}
  [[nodiscard]] BaseTable table() const {
    return {active.data(), last.data(), {2, 4}, {4, static_cast<std::uint32_t>(active.size())}, host_inputs, constants};
  }
  std::vector<std::uint64_t> active, last;
  bool host_inputs = false;
  bool constants = false;
};

}  // namespace

TEST_CASE_TEMPLATE("A fixed strategy names its level whatever changed", S, update::NoUpdate, update::HostInput,
                   update::ModelIo, update::FeatureMapAndModelIo, update::InitOnce) {
  Bases bases(5);
  CHECK(S{}.decide(bases.table()) == S::highest);
  for (std::uint64_t& a : bases.active) a += 8;
  bases.constants = bases.host_inputs = true;
  CHECK(S{}.decide(bases.table()) == S::highest);
  CHECK(update::is_fixed<S>);
  CHECK(std::is_empty_v<S>);
}

TEST_CASE("Auto names the highest level of what changed") {
  update::Auto strategy;
  for (int mask = 0; mask < 16; ++mask) {
    Bases bases(70);
    UpdateLevel expected = UpdateLevel::none;
    if ((mask & 1) != 0) bases.host_inputs = true, expected = UpdateLevel::host_input;
    if ((mask & 2) != 0) bases.active[5] = 128, expected = UpdateLevel::model_io;
    if ((mask & 4) != 0) bases.active[3] = 128, expected = UpdateLevel::feature_map_and_model_io;
    if ((mask & 8) != 0) bases.constants = true, expected = UpdateLevel::init;
    CHECK(strategy.decide(bases.table()) == expected);
  }
}

TEST_CASE("Auto sees a change of any base, the first and the last included, and none where there is none") {
  for (std::uint32_t io : {0U, 1U, 7U, 8U, 9U, 15U, 16U, 63U, 64U, 65U, 200U}) {
    Bases bases(io);
    CHECK(update::Auto{}.decide(bases.table()) == UpdateLevel::none);
    for (std::size_t id = 2; id < bases.active.size(); ++id) {
      bases.active[id] ^= std::uint64_t{1} << (id % 64);
      CHECK(update::Auto{}.decide(bases.table()) ==
            (id < 4 ? UpdateLevel::feature_map_and_model_io : UpdateLevel::model_io));
      bases.active[id] = bases.last[id];
    }
  }
}

TEST_CASE("Auto looks at no base outside of the ranges it is shown") {
  Bases bases(6);
  bases.active[0] = bases.active[1] = bases.active[4] = bases.active[9] = 8;
  BaseTable table = bases.table();
  table.model_io = {5, 9};
  CHECK(update::Auto{}.decide(table) == UpdateLevel::none);
  table.model_io = {5, 5};
  bases.active[5] = 8;
  CHECK(update::Auto{}.decide(table) == UpdateLevel::none);
  table.model_io = {5, 10};
  CHECK(update::Auto{}.decide(table) == UpdateLevel::model_io);
}

TEST_CASE("Each level includes those before it") {
  CHECK(UpdateLevel::none < UpdateLevel::host_input);
  CHECK(UpdateLevel::host_input < UpdateLevel::model_io);
  CHECK(UpdateLevel::model_io < UpdateLevel::feature_map_and_model_io);
  CHECK(UpdateLevel::feature_map_and_model_io < UpdateLevel::init);
}
