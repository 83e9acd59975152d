// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/graph/freeze.hpp>
#include <rondo/platform/select.hpp>
#include <rondo/update/refresher_impl.hpp>

#include <by_cost_on_device.hpp>
#include <count_traffic.hpp>
#include <unit/support.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

// The holes that refreshing by a table of bases is known to have had elsewhere, one test for each, under every
// mechanism; and the scenarios with figures of their own.

using namespace rondo;
using namespace rondo::test;
using update::Mechanism;

namespace {

using P = A2A3SimOn<Inline, test::CountTraffic>;
template <Mechanism M>
using By = update::Refresher<P, update::Auto, update::Always<M>>;

/// `count` inputs, each a base of its own, and a task that reads each; `narrow`: four bytes of the address.
struct Ports {
  explicit Ports(std::uint32_t count, bool narrow = false, std::uint32_t host_inputs = 0) {
    for (std::uint32_t i = 0; i < count; ++i) {
      const auto x = graph.input<float>("x" + std::to_string(i), {16});
      graph::ArgRecord arg{graph::ArgRecord::Kind::address, Access::read, index(x.key.tensor()), 0};
      arg.width = narrow ? 4 : 8;
      graph.add_laid_out("reads", CoreType::vector, Blocks{1}, &no_kernel, {arg}, 8);
      sources.push_back({3 + i, 0});
    }
    for (std::uint32_t i = 0; i < host_inputs; ++i) {
      const auto h = graph.host_input<float>("h" + std::to_string(i), {16});
      graph.add_raw("reads_host_input", CoreType::vector, &no_kernel, reads(h));
      sources.push_back({3 + count + i, 0});
    }
    bases = {3, 3 + count + host_inputs};
    for (std::uint32_t b = 0; b < bases.count; ++b) addresses.push_back(0x1'0000'0000 + 0x1000 * std::uint64_t{b});
  }
  template <class R>
  [[nodiscard]] R make(P& platform) {
    frozen = freeze(graph);
    return R{platform, frozen.view(), {bases, sources, addresses}};
  }
  /// Does the kernels' table hold the present address of every port?
  template <class R>
  [[nodiscard]] bool is_right(R& refresher) {
    for (std::uint32_t i = 0; i + 3 < bases.count && i < frozen.view().tasks.size(); ++i) {
      if (frozen.view().tensors[i].direction != Direction::in) continue;
      const graph::ArgRecord& arg = frozen.view().args_of(frozen.view().tasks[i])[0];
      const auto word = static_cast<std::uint64_t>(*refresher.table().block(i, 0));
      const std::uint64_t expected = addresses[3 + i];
      if (word != (arg.width == 4 ? expected & 0xFFFF'FFFF : expected)) return false;
    }
    return true;
  }
  template <class R>
  void move(R& refresher, std::uint32_t port) {
    refresher.set_base(3 + port, addresses[3 + port] += 0x2'0000'0040);
  }

  TaskGraph graph;
  FrozenGraph frozen = freeze(TaskGraph{});
  std::vector<args::Source> sources;
  args::BaseLayout bases;
  std::vector<std::uint64_t> addresses;
};

/// Notes what it is told, and chooses what it was told to.
struct Noting {
  static inline update::RefreshFacts facts{};
  static inline Mechanism chosen = Mechanism::segment_copy;
  static constexpr bool allows(Mechanism m) { return m != Mechanism::in_place; }
  [[nodiscard]] static Mechanism choose(const update::RefreshFacts& f) noexcept {
    facts = f;
    return chosen;
  }
};

struct CopiesMayFail : P {
  using P::P;
  bool fails = false;
  Status copy_in_snapshot(DevicePtr<std::byte> to, const void* from, Bytes size) noexcept {
    return fails ? Status{Errc::device_failed} : P::copy_in_snapshot(to, from, size);
  }
};

template <Mechanism M>
struct With {
  static constexpr Mechanism mechanism = M;
};

}  // namespace

#define RONDO_TEST_MECHANISMS \
  With<Mechanism::in_place>, With<Mechanism::segment_copy>, With<Mechanism::device_op>, With<Mechanism::in_launch>

TEST_CASE_TEMPLATE("The first base that changed is not skipped, nor the last", T, RONDO_TEST_MECHANISMS) {
  Ports ports(9);
  P platform{{}};
  auto refresher = ports.make<By<T::mechanism>>(platform);
  for (const std::uint32_t port : {0U, 8U, 4U, 0U}) {
    ports.move(refresher, port);
    if (port == 4) ports.move(refresher, 8);
    REQUIRE(refresher.refresh());
    CHECK(ports.is_right(refresher));
  }
}

TEST_CASE_TEMPLATE("What a refresh has written counts as written, whoever wrote it", T, RONDO_TEST_MECHANISMS) {
  Ports ports(5);
  P platform{{}};
  auto refresher = ports.make<By<T::mechanism>>(platform);
  ports.move(refresher, 2);
  REQUIRE(refresher.refresh());
  const auto before = platform.traffic();
  REQUIRE(refresher.refresh());
  CHECK(refresher.refreshed().level == UpdateLevel::none);
  CHECK(platform.traffic().bytes_in == before.bytes_in);
  CHECK(platform.traffic().launch_bytes == before.launch_bytes);
  CHECK(ports.is_right(refresher));
}

TEST_CASE_TEMPLATE("A slot that holds the low half of an address is set, its neighbour untouched", T,
                   RONDO_TEST_MECHANISMS) {
  Ports ports(5, true);
  P platform{{}};
  auto refresher = ports.make<By<T::mechanism>>(platform);
  CHECK(ports.is_right(refresher));
  for (int round = 0; round < 3; ++round) {
    ports.move(refresher, 1);
    ports.move(refresher, 4);
    REQUIRE(refresher.refresh());
    CHECK(ports.is_right(refresher));  // the upper half of the word is zero, as constants left it
  }
}

TEST_CASE_TEMPLATE("More than 11,588 bases are as good as few", T, With<Mechanism::in_place>,
                   With<Mechanism::segment_copy>, With<Mechanism::device_op>) {
  Ports ports(12'000);
  P platform{{}};
  auto refresher = ports.make<By<T::mechanism>>(platform);
  CHECK(ports.is_right(refresher));
  for (const std::uint32_t port : {0U, 11'587U, 11'588U, 11'999U}) ports.move(refresher, port);
  REQUIRE(refresher.refresh());
  CHECK(ports.is_right(refresher));
}

TEST_CASE("A suffix reaches to the end of the table, also where partitions in between are empty") {
  // Ports and host inputs, no feature map: the partition between is empty.
  Ports ports(3, false, 2);
  P platform{{}};
  auto refresher = ports.make<By<Mechanism::segment_copy>>(platform);
  ports.move(refresher, 1);
  refresher.host_input(3)[0] = std::byte{7};
  refresher.host_input(4)[63] = std::byte{9};
  REQUIRE(refresher.refresh());
  CHECK(ports.is_right(refresher));
  const auto* seen = reinterpret_cast<const std::byte*>(refresher.table().seen().address());
  CHECK(seen[refresher.table().host_input_begin(3)] == std::byte{7});
  CHECK(seen[refresher.table().host_input_begin(4) + 63] == std::byte{9});
}

TEST_CASE("Host inputs of two tensors ride in a launch of 272 bytes, and arrive without it as well") {
  Ports ports(3, false, 2);  // eight bases
  {
    P platform{{}};
    auto refresher = ports.make<By<Mechanism::in_launch>>(platform);
    const auto before = platform.traffic();
    refresher.host_input(3)[5] = std::byte{1};
    refresher.host_input(4)[6] = std::byte{2};
    REQUIRE(refresher.refresh());
    CHECK(platform.traffic().launch_bytes == before.launch_bytes + 272);  // 80 + 64 of bases + 2 · 64 of host inputs
    CHECK(platform.traffic().bytes_in == before.bytes_in);
    const auto* seen = reinterpret_cast<const std::byte*>(refresher.table().seen().address());
    CHECK(seen[refresher.table().host_input_begin(3) + 5] == std::byte{1});
    CHECK(seen[refresher.table().host_input_begin(4) + 6] == std::byte{2});
  }
  P platform{{}};
  auto refresher = ports.make<By<Mechanism::segment_copy>>(platform);
  refresher.host_input(4)[6] = std::byte{2};
  REQUIRE(refresher.refresh());
  const auto* seen = reinterpret_cast<const std::byte*>(refresher.table().seen().address());
  CHECK(seen[refresher.table().host_input_begin(4) + 6] == std::byte{2});
}

TEST_CASE("A base vector that is too short is refused, and a tensor in a base that is not there") {
  Ports ports(3);
  P platform{{}};
  ports.addresses.pop_back();
  const Raised few = raised([&] { auto r = ports.make<By<Mechanism::segment_copy>>(platform); });
  CHECK(few.code == Errc::invalid_argument);
  CHECK(says(few.text, "6 bases", "5 addresses"));
  ports.addresses.push_back(0x1'0000'0000);
  ports.sources[1].base = 6;
  const Raised none = raised([&] { auto r = ports.make<By<Mechanism::segment_copy>>(platform); });
  CHECK(none.code == Errc::invalid_argument);
  CHECK(says(none.text, "'x1'", "base 6"));
}

TEST_CASE("Where kernels read the image, a base is written when it is set, and the next refresh tells of it once") {
  Ports ports(3);
  P platform{{}};
  auto refresher = ports.make<By<Mechanism::in_place>>(platform);
  REQUIRE(refresher.refresh());
  ports.move(refresher, 1);
  CHECK(ports.is_right(refresher));
  CHECK(refresher.refreshed().slots == 0);
  ports.move(refresher, 2);
  REQUIRE(refresher.refresh());
  CHECK(refresher.refreshed().level == UpdateLevel::model_io);
  CHECK(refresher.refreshed().mechanism == Mechanism::in_place);
  CHECK(refresher.refreshed().slots == 2);
  REQUIRE(refresher.refresh());
  CHECK(refresher.refreshed().level == UpdateLevel::none);
  CHECK(refresher.refreshed().slots == 0);
}

TEST_CASE_TEMPLATE("A base with one slot: some bytes after it, at an odd place, or in the feature map", T,
                   RONDO_TEST_MECHANISMS) {
  Ports ports(3);
  TaskGraph graph;
  const auto x = graph.input<float>("x", {16});
  graph::ArgRecord arg{graph::ArgRecord::Kind::address, Access::read, index(x.key.tensor()), 0, 3};
  graph.add_laid_out("reads_at_3", CoreType::vector, Blocks{1}, &no_kernel, {arg}, 16);
  const FrozenGraph odd = freeze(graph);
  ports.sources[1].offset = 0x140;
  ports.sources[2].base = args::BaseLayout::first_feature_map;
  P platform{{}};
  auto refresher = ports.make<By<T::mechanism>>(platform);
  REQUIRE(refresher.refresh());

  refresher.set_port_address(1, 0x3'0000'0000);
  CHECK(refresher.port_address(1) == 0x3'0000'0000);
  REQUIRE(refresher.refresh());
  CHECK(refresher.refreshed().level == UpdateLevel::model_io);
  CHECK(static_cast<std::uint64_t>(*refresher.table().block(1, 0)) == 0x3'0000'0140);
  refresher.set_base(args::BaseLayout::first_feature_map, 0x5'0000'0000);
  REQUIRE(refresher.refresh());
  CHECK(refresher.refreshed().level == UpdateLevel::feature_map_and_model_io);
  CHECK(static_cast<std::uint64_t>(*refresher.table().block(2, 0)) == 0x5'0000'0000);

  By<T::mechanism> at_3{platform, odd.view(), {ports.bases, ports.sources, ports.addresses}};
  at_3.set_port_address(0, 0x7'0000'0000);
  REQUIRE(at_3.refresh());
  std::uint64_t word = 0;
  std::memcpy(&word, reinterpret_cast<const std::byte*>(at_3.table().block(0, 0)) + 3, sizeof(word));
  CHECK(word == 0x7'0000'0000);
}

TEST_CASE_TEMPLATE("A base that no task reads calls for nothing", T, RONDO_TEST_MECHANISMS) {
  Ports ports(3);
  ports.bases.count = 7;  // the last is nobody's
  ports.addresses.push_back(0x4000);
  P platform{{}};
  auto refresher = ports.make<By<T::mechanism>>(platform);
  REQUIRE(refresher.refresh());
  refresher.set_base(6, 0x8000);
  REQUIRE(refresher.refresh());
  CHECK(refresher.refreshed().level == UpdateLevel::none);
  CHECK(refresher.base(6) == 0x8000);
}

TEST_CASE_TEMPLATE("A base that is set back before it was seen leaves the table right", T, RONDO_TEST_MECHANISMS) {
  Ports ports(3);
  P platform{{}};
  auto refresher = ports.make<By<T::mechanism>>(platform);
  REQUIRE(refresher.refresh());
  refresher.set_base(4, 0xABC0);
  refresher.set_base(4, ports.addresses[4]);
  ports.move(refresher, 2);
  REQUIRE(refresher.refresh());
  CHECK(ports.is_right(refresher));
}

namespace {
/// Asks for more than what changed; the compiler does not know that it always does.
struct AsksForModelIo {
  static constexpr UpdateLevel highest = UpdateLevel::model_io;
  UpdateLevel decide(Changes) noexcept { return UpdateLevel::model_io; }
};
}  // namespace

TEST_CASE_TEMPLATE("A strategy that names more than what changed has all of that level written again", T,
                   RONDO_TEST_MECHANISMS) {
  Ports ports(5);
  P platform{{}};
  auto refresher = ports.make<update::Refresher<P, AsksForModelIo, update::Always<T::mechanism>>>(platform);
  for (std::size_t task = 0; task < 5; ++task) *refresher.table().block(task, 0) = 0;
  REQUIRE(refresher.refresh());
  CHECK(ports.is_right(refresher));
  CHECK(refresher.refreshed().level == UpdateLevel::model_io);
}

TEST_CASE("By cost, copies follow the device only after many addresses have not moved for a while") {
  // All of 1000 addresses: 11 us by copies, 4 us by the device. One: 1 us by copies, and 10 us more, once, if the image
  // lacks what the device computed.
  constexpr update::RefreshCosts costs{.copy = 1'000'000,
                                       .copied_byte = 1,
                                       .host_slot = 10'000,
                                       .device_op = 3'000'000,
                                       .device_slot = 0,
                                       .launched_byte = 1'000'000};
  Ports ports(1000);
  P platform{{}};
  auto refresher = ports.make<update::Refresher<P, update::Auto, test::ByCostOnDevice<costs>>>(platform);
  const auto refresh = [&](bool moves_all) {
    for (std::uint32_t port = 0; port < (moves_all ? 1000U : 1U); ++port) ports.move(refresher, port);
    REQUIRE(refresher.refresh());
    CHECK(ports.is_right(refresher));
    return refresher.refreshed().mechanism;
  };
  CHECK(refresh(false) == Mechanism::segment_copy);
  for (int often = 0; often < 5; ++often) {
    CHECK(refresh(true) == Mechanism::device_op);
    CHECK(refresh(false) == Mechanism::device_op);
    CHECK(refresh(false) == Mechanism::device_op);
  }
  CHECK(refresh(false) == Mechanism::device_op);
  CHECK(refresh(false) == Mechanism::segment_copy);  // the fourth: copies are 1 us and a quarter of 10
  CHECK(refresher.refreshed().slots == 1000);
  CHECK(refresh(false) == Mechanism::segment_copy);
  CHECK(refresher.refreshed().slots == 1);
  CHECK(refresh(true) == Mechanism::device_op);
  CHECK(refresh(false) == Mechanism::device_op);
}

TEST_CASE("A choice is told what each mechanism would copy, write and compute, and a refresh says what it did") {
  using R = update::Refresher<P, update::Auto, Noting>;
  Ports ports(40, false, 1);
  P platform{{}};
  auto refresher = ports.make<R>(platform);
  const std::uint64_t all_bases = ports.bases.count;
  REQUIRE(refresher.refresh());
  // The device has computed nothing yet, so it lacks all bases whatever moved.
  for (const Mechanism chosen : {Mechanism::segment_copy, Mechanism::device_op, Mechanism::in_launch}) {
    CAPTURE(to_string(chosen));
    Noting::chosen = chosen;
    ports.move(refresher, 16);
    ports.move(refresher, 18);
    REQUIRE(refresher.refresh());
    CHECK(Noting::facts.slots == 2);
    CHECK(Noting::facts.segments == 1);
    CHECK(Noting::facts.segment_bytes >= 2 * 8);
    CHECK(Noting::facts.relocations == 40);
    CHECK(Noting::facts.device_op);
    CHECK(Noting::facts.in_launch == (Noting::facts.launch_bytes <= P::max_launch_bytes));
    CHECK(Noting::facts.launch_bytes == args::LaunchPayload::bytes(all_bases, refresher.table().shape().host_inputs));
    const auto& did = refresher.refreshed();
    CHECK(did.level == UpdateLevel::model_io);
    const bool is_possible = chosen != Mechanism::in_launch || Noting::facts.in_launch;
    CHECK(did.mechanism == (is_possible ? chosen : Mechanism::segment_copy));
    if (did.mechanism == Mechanism::device_op) {
      CHECK(did.slots == 40);
      CHECK(did.bytes == Noting::facts.base_bytes);
    }
    if (did.mechanism == Mechanism::segment_copy) CHECK(did.bytes == Noting::facts.segment_bytes);
    CHECK(ports.is_right(refresher));
  }
  // Now it has all: what moves later is sent from the entry whose place is a multiple of 64 bytes to the last that
  // moved.
  Noting::chosen = Mechanism::device_op;
  ports.move(refresher, 0);
  REQUIRE(refresher.refresh());
  ports.move(refresher, 20);
  ports.move(refresher, 30);
  REQUIRE(refresher.refresh());
  CHECK(Noting::facts.base_bytes == 8 * (34 - 16));
  CHECK(Noting::facts.slots == 2);
  CHECK(ports.is_right(refresher));
  // With a host input that changed, its bytes as well.
  (void)refresher.host_input(40);
  ports.move(refresher, 30);
  REQUIRE(refresher.refresh());
  CHECK(Noting::facts.base_bytes == 8 * (34 - 32) + refresher.table().shape().host_inputs);
  CHECK(refresher.refreshed().bytes == Noting::facts.base_bytes);
  CHECK(ports.is_right(refresher));
}

TEST_CASE_TEMPLATE("A base among many is found wherever it is", T, RONDO_TEST_MECHANISMS) {
  constexpr std::uint32_t count = 100;
  Ports ports(count);
  P platform{{}};
  auto refresher = ports.make<By<T::mechanism>>(platform);
  REQUIRE(refresher.refresh());
  for (std::uint32_t port = 0; port < count; ++port) {
    CAPTURE(port);
    ports.move(refresher, port);
    if (port % 3 == 0) ports.move(refresher, (port + 67) % count);
    REQUIRE(refresher.refresh());
    if (T::mechanism != Mechanism::device_op && T::mechanism != Mechanism::in_launch) {
      CHECK(refresher.refreshed().slots == (port % 3 == 0 ? 2U : 1U));
    }
    CHECK(ports.is_right(refresher));
  }
}

TEST_CASE("A choice is told how many slots only the device computed, and for how many refreshes fewer changed") {
  Ports ports(8);
  P platform{{}};
  auto refresher = ports.make<update::Refresher<P, update::Auto, Noting>>(platform);
  const auto refresh = [&](std::uint32_t moved, Mechanism chosen) {
    Noting::chosen = chosen;
    for (std::uint32_t port = 0; port < moved; ++port) ports.move(refresher, port);
    REQUIRE(refresher.refresh());
    CHECK(ports.is_right(refresher));
    return std::pair{Noting::facts.late_slots, Noting::facts.quiet};
  };
  using Told = std::pair<std::uint64_t, std::uint64_t>;
  CHECK(refresh(5, Mechanism::device_op) == Told{0, 0});
  CHECK(refresh(2, Mechanism::device_op) == Told{3, 1});
  CHECK(refresh(1, Mechanism::segment_copy) == Told{4, 2});
  CHECK(refresh(1, Mechanism::segment_copy) == Told{0, 0});  // the copy has written those that were late
}

TEST_CASE("A choice is told that a launch cannot carry more than the platform's limit") {
  Ports ports(200);
  P platform{{}};
  auto refresher = ports.make<update::Refresher<P, update::Auto, Noting>>(platform);
  Noting::chosen = Mechanism::in_launch;
  ports.move(refresher, 7);
  REQUIRE(refresher.refresh());
  CHECK(Noting::facts.launch_bytes > P::max_launch_bytes);
  CHECK(!Noting::facts.in_launch);
  CHECK(refresher.refreshed().mechanism == Mechanism::segment_copy);
  CHECK(ports.is_right(refresher));
}

TEST_CASE("The device has memory for the table of bases only if it may compute from that table") {
  Ports ports(40);
  P platform{{}};
  const Bytes with = ports.make<By<Mechanism::device_op>>(platform).device_bytes();
  const Bytes without = ports.make<By<Mechanism::in_launch>>(platform).device_bytes();
  CHECK(with.value - without.value == align_up(8 * ports.bases.count, 64));
  auto copies = ports.make<By<Mechanism::segment_copy>>(platform);
  CHECK(copies.device_bytes().value == copies.table().shape().size());
}

TEST_CASE("A device op copies the bases that differ from the device's, and none if there is none") {
  Ports ports(40, false, 1);
  P platform{{}};
  auto refresher = ports.make<By<Mechanism::device_op>>(platform);
  const std::uint64_t host_inputs = refresher.table().shape().host_inputs;
  ports.move(refresher, 0);
  auto copies = platform.traffic().copies_in;
  REQUIRE(refresher.refresh());
  CHECK(platform.traffic().copies_in == ++copies);
  // Base 36 returns to its address before the refresh, so base 13 is the last that differs.
  ports.move(refresher, 10);
  refresher.set_base(36, 0x9'0000'0000);
  refresher.set_base(36, ports.addresses[36]);
  REQUIRE(refresher.refresh());
  CHECK(refresher.refreshed().bytes == 8 * (14 - 8));
  CHECK(ports.is_right(refresher));
  for (const bool sets_back : {true, false}) {
    CAPTURE(sets_back);
    if (sets_back) {
      refresher.set_base(36, 0x9'0000'0000);
      refresher.set_base(36, ports.addresses[36]);
    }
    (void)refresher.host_input(40);
    copies = platform.traffic().copies_in;
    REQUIRE(refresher.refresh());
    CHECK(platform.traffic().copies_in == copies + 1);
    CHECK(refresher.refreshed().bytes == host_inputs);
  }
}

TEST_CASE("Where the device cannot compute, a choice is told that a device op would copy nothing") {
  struct CannotCompute : P {
    using P::P;
    [[nodiscard]] static constexpr bool can_refresh_args() noexcept { return false; }
  };
  Ports ports(3);
  CannotCompute platform{{}};
  ports.frozen = freeze(ports.graph);
  update::Refresher<CannotCompute, update::Auto, Noting> refresher{
      platform, ports.frozen.view(), {ports.bases, ports.sources, ports.addresses}};
  Noting::chosen = Mechanism::device_op;
  ports.move(refresher, 1);
  REQUIRE(refresher.refresh());
  CHECK(Noting::facts.base_bytes == 0);
  CHECK(!Noting::facts.device_op);
  CHECK(!Noting::facts.in_launch);
  CHECK(refresher.refreshed().mechanism == Mechanism::segment_copy);
  CHECK(ports.is_right(refresher));
}

TEST_CASE("Copies are divided by the costs that the platform reports") {
  struct Reports : P {
    using P::P;
    [[nodiscard]] static const args::RefreshCosts* refresh_costs() noexcept {
      static constexpr args::RefreshCosts costs{.copy = 100, .copied_byte = 1};
      return &costs;
    }
  };
  Ports ports(40);
  ports.frozen = freeze(ports.graph);
  Noting::chosen = Mechanism::segment_copy;
  Reports reports{{}};
  update::Refresher<Reports, update::Auto, Noting> apart{
      reports, ports.frozen.view(), {ports.bases, ports.sources, ports.addresses}};
  P platform{{}};
  auto together = ports.make<update::Refresher<P, update::Auto, Noting>>(platform);
  for (auto* const costs : {"reported", "default"}) {
    CAPTURE(costs);
    const bool are_reported = std::string(costs) == "reported";
    const auto move = [&](auto& refresher) {
      refresher.set_base(3, 0x9'0000'0000);
      refresher.set_base(30, 0x9'0000'0000);
      return refresher.refresh();
    };
    REQUIRE((are_reported ? move(apart) : move(together)));
    CHECK(Noting::facts.segments == (are_reported ? 2 : 1));
    CHECK((Noting::facts.costs != nullptr) == are_reported);
  }
}

namespace {
template <std::uint64_t copied_byte>
struct CopiesAt : update::Always<Mechanism::segment_copy> {
  static constexpr update::RefreshCosts costs{.copy = 256, .copied_byte = copied_byte};
};
}  // namespace

TEST_CASE_TEMPLATE("Two copies become one if the bytes between them cost no more than a copy", T,
                   std::integral_constant<std::uint64_t, 0>, std::integral_constant<std::uint64_t, 1>,
                   std::integral_constant<std::uint64_t, 2>) {
  constexpr std::uint64_t worth = T::value == 2 ? 128 : 256;  // bytes that cost nothing count as one
  for (const bool is_near : {true, false}) {
    CAPTURE(is_near);
    Ports ports(41);  // a block has eight bytes
    P platform{{}};
    auto refresher = ports.make<update::Refresher<P, update::Auto, CopiesAt<T::value>>>(platform);
    const auto copies = platform.traffic().copies_in;
    ports.move(refresher, 3);  // the copy ends at byte 32
    ports.move(refresher, static_cast<std::uint32_t>((worth + (is_near ? 0 : 64)) / 8));
    REQUIRE(refresher.refresh());
    CHECK(platform.traffic().copies_in - copies == (is_near ? 1 : 2));
    CHECK(ports.is_right(refresher));
  }
}

TEST_CASE("A copy ends with the last slot, of four bytes or of eight") {
  for (const std::uint8_t width : {std::uint8_t{4}, std::uint8_t{8}}) {
    CAPTURE(width);
    Ports ports(0);
    ports.bases.count = 4;
    ports.addresses.push_back(0x1'0000'0000);
    const auto x = ports.graph.input<float>("x", {16});
    graph::ArgRecord arg{graph::ArgRecord::Kind::address, Access::read, index(x.key.tensor()), 0, 28};
    arg.width = width;
    ports.graph.add_laid_out("reads", CoreType::vector, Blocks{1}, &no_kernel, {arg}, 64);
    ports.sources.push_back({3, 0});
    P platform{{}};
    auto refresher = ports.make<By<Mechanism::segment_copy>>(platform);
    refresher.set_base(3, 0x9'0000'0000);
    REQUIRE(refresher.refresh());
    CHECK(refresher.refreshed().bytes == (width == 4 ? 32 : 64));
  }
}

TEST_CASE_TEMPLATE("Opening writes every slot once, and an address that is set again writes none", T,
                   RONDO_TEST_MECHANISMS) {
  Ports ports(5, false, 1);
  P platform{{}};
  auto refresher = ports.make<By<T::mechanism>>(platform);
  CHECK(refresher.refreshed().slots == 6);
  CHECK(refresher.refreshed().mechanism ==
        (T::mechanism == Mechanism::in_place ? Mechanism::in_place : Mechanism::segment_copy));
  // The device has the table, 6 relocations and, for a device op, 9 bases.
  const std::uint64_t table = refresher.table().shape().size();
  CHECK(refresher.refreshed().bytes == (T::mechanism == Mechanism::in_place       ? 0
                                        : T::mechanism == Mechanism::segment_copy ? table
                                        : T::mechanism == Mechanism::device_op    ? table + 6 * 16 + 9 * 8
                                                                                  : table + 6 * 16));
  REQUIRE(refresher.refresh());
  refresher.set_base(4, ports.addresses[4]);
  refresher.set_port_address(2, ports.addresses[5]);
  REQUIRE(refresher.refresh());
  CHECK(refresher.refreshed().slots == 0);
  CHECK(refresher.refreshed().level == UpdateLevel::none);
}

TEST_CASE("A strategy of one level writes all slots of that level, however few addresses moved") {
  Ports ports(5);
  P platform{{}};
  auto refresher = ports.make<update::Refresher<P, update::ModelIo, update::Always<Mechanism::segment_copy>>>(platform);
  ports.move(refresher, 2);
  REQUIRE(refresher.refresh());
  CHECK(refresher.refreshed().bytes == refresher.table().shape().size());
  CHECK(ports.is_right(refresher));
}

TEST_CASE("A strategy that refreshes host inputs copies no address, also where one is absolute") {
  Ports ports(3, false, 1);
  ports.sources[1] = {args::BaseLayout::absolute, 0x7000'0000};
  P platform{{}};
  auto refresher =
      ports.make<update::Refresher<P, update::HostInput, update::Always<Mechanism::segment_copy>>>(platform);
  (void)refresher.host_input(3);
  REQUIRE(refresher.refresh());
  const args::TableShape& shape = refresher.table().shape();
  CHECK(refresher.refreshed().level == UpdateLevel::host_input);
  CHECK(refresher.refreshed().bytes == shape.size() - shape[args::Partition::host_input]);
}

TEST_CASE("Where the copy of the bases fails, the device computes nothing") {
  Ports ports(5);
  ports.frozen = freeze(ports.graph);
  CopiesMayFail platform{{}};
  update::Refresher<CopiesMayFail, update::Auto, update::Always<Mechanism::device_op>> refresher{
      platform, ports.frozen.view(), {ports.bases, ports.sources, ports.addresses}};
  ports.move(refresher, 1);
  platform.fails = true;
  CHECK(!refresher.refresh().ok());
  CHECK(platform.traffic().device_refreshes == 0);
  platform.fails = false;
  REQUIRE(refresher.refresh());
  CHECK(ports.is_right(refresher));
}

namespace {
/// Asks for what changed, and notes it.
struct NotesChanges {
  static inline std::vector<Changes> told{};
  static constexpr UpdateLevel highest = UpdateLevel::init;
  static UpdateLevel decide(Changes changes) noexcept {
    told.push_back(changes);
    return changes.level();
  }
};
}  // namespace

TEST_CASE("A strategy is told of each change once, and of every kind after a failure") {
  Ports ports(5, false, 1);
  CopiesMayFail platform{{}};
  ports.frozen = freeze(ports.graph);
  update::Refresher<CopiesMayFail, NotesChanges, update::Always<Mechanism::segment_copy>> refresher{
      platform, ports.frozen.view(), {ports.bases, ports.sources, ports.addresses}};
  NotesChanges::told.clear();
  const auto told = [&](Status status) {
    REQUIRE(status.ok() != platform.fails);
    const Changes c = NotesChanges::told.back();
    return std::vector<bool>{c.arena, c.model_io, c.host_inputs, c.constants};
  };
  using Told = std::vector<bool>;
  for (const std::uint32_t port : {0U, 4U, 2U}) {
    ports.move(refresher, port);
    CHECK(told(refresher.refresh()) == Told{false, true, false, false});
    CHECK(refresher.refreshed().slots == 1);
    CHECK(refresher.refreshed().bytes <= 64);
    CHECK(told(refresher.refresh()) == Told{false, false, false, false});
  }
  (void)refresher.host_input(5);
  CHECK(told(refresher.refresh()) == Told{false, false, true, false});
  CHECK(told(refresher.refresh()) == Told{false, false, false, false});
  ports.move(refresher, 1);
  platform.fails = true;
  CHECK(told(refresher.refresh()) == Told{false, true, false, false});
  platform.fails = false;
  const Told after = told(refresher.refresh());
  CHECK(after[2]);
  CHECK(after[3]);
  CHECK(refresher.refreshed().bytes == refresher.table().shape().size());
  CHECK(ports.is_right(refresher));
  CHECK(told(refresher.refresh()) == Told{false, false, false, false});
}
