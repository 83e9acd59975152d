// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/sim/dynamic/stream_rings.hpp>

#include <doctest/doctest.h>
#include <random.hpp>

#include <cstdint>
#include <deque>

using namespace rondo::platform::sim::dynamic;

TEST_CASE("pieces of a ring never overlap while they are held, whatever their sizes") {
  auto random = rondo::test::make_random(3);
  HeapRing ring{4096};
  struct Piece {
    std::uint64_t offset, length, end;
  };
  std::deque<Piece> held;
  int taken = 0;
  for (int step = 0; step < 20'000; ++step) {
    const std::uint64_t length = 1 + random() % 900;
    if (ring.missing(length, 64) == 0) {
      const std::uint64_t position = ring.place(length, 64);
      const Piece piece{ring.offset(position), length, position + length};
      ring.take_until(piece.end);
      REQUIRE(piece.offset % 64 == 0);
      REQUIRE(piece.offset + length <= 4096);
      for (const Piece& other : held) {
        REQUIRE((piece.offset + length <= other.offset || other.offset + other.length <= piece.offset));
      }
      held.push_back(piece);
      ++taken;
    } else {
      REQUIRE_FALSE(held.empty());  // an empty ring has room for anything that fits into it
    }
    if (!held.empty() && random() % 2 == 0) {
      ring.free_until(held.front().end);
      held.pop_front();
    }
  }
  CHECK(taken > 5000);
}

TEST_CASE("a ring says how many bytes are missing") {
  HeapRing ring{1024};
  CHECK(ring.missing(1024, 64) == 0);
  CHECK(ring.missing(1025, 64) == 1);
  ring.take_until(1000);
  CHECK(ring.missing(24, 8) == 0);
  CHECK(ring.missing(25, 8) == 25);  // the 24 bytes at the end are lost to it, then it would overlap the first piece
  ring.free_until(1000);
  CHECK(ring.used() == 0);
  CHECK(ring.missing(1024, 64) == 0);
}

TEST_CASE("a fifo keeps positions while it turns over") {
  int values[5] = {0, 1, 2, 3, 4};
  Fifo<int> fifo{3};
  CHECK(fifo.capacity() == 4);
  for (std::uint64_t i = 0; i < 100; ++i) {
    CHECK(fifo.head() == i);
    fifo.push(&values[i % 5]);
    if (i >= 3) {
      CHECK(fifo.full());
      CHECK(fifo.oldest() == static_cast<int>((i - 3) % 5));
      CHECK(fifo.at(i) == static_cast<int>(i % 5));
      fifo.pop();
    }
  }
}
