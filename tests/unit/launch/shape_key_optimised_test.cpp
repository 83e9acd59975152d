// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/launch/shape_key.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <utility>

// Compiled with optimisation wherever it is: only there do keys whose length the compiler knows take a way of their
// own.

namespace {

using rondo::launch::same_words;

template <std::size_t n>
[[gnu::noinline]] bool same_constant(const std::uint64_t* a, const std::uint64_t* b) {
  return same_words(a, b, n);
}

template <std::size_t n>
void check_length() {
  CAPTURE(n);
  std::uint64_t a[n + 1], b[n + 1];
  for (std::size_t i = 0; i <= n; ++i) a[i] = b[i] = 0x0123'4567'89ab'cdef * (i + 1);
  b[n] = ~b[n];  // after the key
  CHECK(same_constant<n>(a, b));
  for (std::size_t i = 0; i < n; ++i) {
    for (const std::uint64_t bit : {std::uint64_t{1}, std::uint64_t{1} << 63}) {
      b[i] ^= bit;
      CHECK_FALSE(same_constant<n>(a, b));
      CHECK_FALSE(same_words(a, b, n));
      b[i] ^= bit;
    }
  }
}

template <std::size_t... n>
void check_lengths(std::index_sequence<n...>) {
  (check_length<n>(), ...);
}

}  // namespace

TEST_CASE("Keys whose length is a constant differ if one bit of them does, and only then") {
  check_lengths(std::make_index_sequence<40>{});
}
