// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/graph/kernel.hpp>

#include <doctest/doctest.h>
#include <random.hpp>

#include <array>
#include <bit>
#include <cstdint>
#include <iterator>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <type_traits>

using namespace rondo;

namespace {

enum class Mode : std::int16_t { slow = -2, fast = 7 };

struct Seen {
  const float* x = nullptr;
  std::size_t rows = 0;
  std::size_t columns = 0;
  float* y = nullptr;
  std::size_t y_size = 0;
  double d = 0;
  Mode mode = Mode::fast;
  bool flag = false;
  std::int8_t small = 0;
  Block block{};
};
Seen seen;

struct Everything {
  static constexpr std::string_view name = "everything";
  static constexpr auto core = CoreType::cube;
  static void run(In<float, 2> x, double d, Block block, InOut<float> y, Mode mode, bool flag, std::int8_t small) {
    seen = {x.data(), x.extent(0), x.extent(1), y.data(), y.size(), d, mode, flag, small, block};
  }
};

ArgWord address(const void* p) { return static_cast<ArgWord>(reinterpret_cast<std::uintptr_t>(p)); }

template <class T>
void check_round_trip(T value) {
  const T back = detail::from_word<T>(detail::to_word(value));
  CHECK(std::bit_cast<std::array<unsigned char, sizeof(T)>>(back) ==
        std::bit_cast<std::array<unsigned char, sizeof(T)>>(value));
}

}  // namespace

TEST_CASE("Every scalar comes out of an argument word as it went in") {
  check_round_trip(std::numeric_limits<double>::quiet_NaN());
  check_round_trip(-0.0F);
  check_round_trip(std::numeric_limits<std::int64_t>::min());
  check_round_trip(std::numeric_limits<std::uint64_t>::max());
  check_round_trip(std::numeric_limits<std::int32_t>::min());
  check_round_trip(std::int16_t{-300});
  check_round_trip(std::int8_t{-5});
  check_round_trip(std::uint8_t{200});
  check_round_trip('x');
  check_round_trip(true);
  check_round_trip(false);
  check_round_trip(Mode::slow);
  auto random = rondo::test::make_random<std::mt19937_64>(7);
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t bits = random();
    check_round_trip(bits);
    check_round_trip(static_cast<std::int32_t>(bits));
    check_round_trip(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    check_round_trip(std::bit_cast<double>(bits));
    check_round_trip(static_cast<std::int16_t>(bits));
  }
}

TEST_CASE("Narrow scalars fill their word up with zeros, negative ones too") {
  CHECK(detail::to_word(std::int32_t{-1}) == 0xFFFF'FFFF);
  CHECK(detail::to_word(std::int16_t{-1}) == 0xFFFF);
  CHECK(detail::to_word(std::int8_t{-1}) == 0xFF);
  CHECK(detail::to_word(Mode::slow) == 0xFFFE);
  CHECK(detail::to_word(1.0F) == 0x3F80'0000);
  CHECK(detail::to_word(true) == 1);
}

TEST_CASE("A block's word holds its index below and the count above") {
  CHECK(detail::to_word(Block{3, 24}) == (ArgWord{24} << 32 | 3));
  const ArgWord word = detail::to_word(Block{0xFFFF'FFFE, 0xFFFF'FFFF});
  const Block back = detail::Parameter<Block>::read(&word, 0, 0);
  CHECK(back.index == 0xFFFF'FFFE);
  CHECK(back.count == 0xFFFF'FFFF);
}

TEST_CASE("The entry unpacks one word for each parameter, then the extents of the tensors in turn") {
  float x[6] = {};
  float y[5] = {};
  ArgWord args[] = {address(x),
                    detail::to_word(2.5),
                    detail::to_word(Block{1, 4}),
                    address(y),
                    detail::to_word(Mode::slow),
                    detail::to_word(true),
                    detail::to_word(std::int8_t{-8}),
                    2,   // x's rows
                    3,   // x's columns
                    5};  // y's elements
  CHECK(detail::ParametersOf<Everything>::words == std::size(args));
  seen = {};
  detail::kernel_entry<Everything>(args);
  CHECK(seen.x == x);
  CHECK(seen.rows == 2);
  CHECK(seen.columns == 3);
  CHECK(seen.y == y);
  CHECK(seen.y_size == 5);
  CHECK(seen.d == 2.5);
  CHECK(seen.mode == Mode::slow);
  CHECK(seen.flag);
  CHECK(seen.small == -8);
  CHECK(seen.block.index == 1);
  CHECK(seen.block.count == 4);
}

TEST_CASE("Each access says whether it reads and whether it writes") {
  CHECK((reads(Access::read) && !writes(Access::read)));
  CHECK((!reads(Access::write) && writes(Access::write)));
  CHECK((reads(Access::read_write) && writes(Access::read_write)));
}
