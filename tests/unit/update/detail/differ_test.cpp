// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/update/detail/differ.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstdint>

using rondo::update::detail::differ;

TEST_CASE_TEMPLATE("Words differ if any bit of any of them does, and no word around them matters", Size,
                   std::array<int, 4>, std::array<int, 8>, std::array<int, 32>) {
  constexpr std::size_t count = std::tuple_size_v<Size>;
  std::array<std::uint64_t, count + 8> a{}, b{};
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = b[i] = 0x0123'4567'89AB'CDEF * (i + 1);
  CHECK_FALSE(differ<count>(a.data() + 4, b.data() + 4));
  for (std::size_t i = 0; i < a.size(); ++i) {
    CAPTURE(i);
    for (const int bit : {0, 31, 63}) {
      b[i] ^= std::uint64_t{1} << bit;
      CHECK(differ<count>(a.data() + 4, b.data() + 4) == (i >= 4 && i < 4 + count));
      b[i] = a[i];
    }
  }
}
