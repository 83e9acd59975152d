// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/memory/check_plan.hpp>
#include <rondo/memory/first_fit.hpp>
#include <rondo/memory/problem.hpp>
#include <rondo/search/fixed_offsets.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <ostream>
#include <random>
#include <utility>
#include <vector>

namespace rondo::memory::testing {

/// The features that a random problem may have.
struct Features {
  std::size_t buffers = 20;
  std::int64_t steps = 20;
  std::int64_t largest = 64;
  bool alignments = true;
  bool gaps = true;
  bool fixed_offsets = true;
  bool conflicts = true;
  bool degenerate = true;  ///< whether there are buffers without bytes or lifetime, and equal ones
};

/// A random problem that validate() and search::find_clash_of_fixed() accept. Equal seeds give equal problems on every
/// platform.
inline Problem random_problem(std::uint64_t seed, const Features& features) {
  std::mt19937_64 random{seed};
  const auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
  };
  Problem p;
  for (std::size_t i = 0; i < features.buffers; ++i) {
    if (features.degenerate && i > 0 && below(8) == 0) {
      Buffer twin = p.buffers[static_cast<std::size_t>(below(static_cast<std::int64_t>(i)))];
      twin.fixed_offset = not_fixed;
      p.buffers.push_back(twin);
      continue;
    }
    Buffer b;
    b.lower = below(features.steps) - features.steps / 2;
    b.upper = b.lower + (features.degenerate && below(12) == 0 ? 0 : 1 + below(below(3) == 0 ? features.steps : 4));
    b.size = features.degenerate && below(12) == 0 ? 0 : 1 + below(features.largest);
    if (features.alignments && below(2) == 0) b.alignment = std::int64_t{1} << below(6);
    if (features.gaps && below(4) == 0) {
      std::int64_t from = b.lower;
      while (from < b.upper && below(3) != 0) {
        const std::int64_t lower = from + below(b.upper - from + 1);
        const std::int64_t upper = lower + below(b.upper - lower + 1);
        b.gaps.push_back({lower, upper});
        from = upper;
      }
    }
    p.buffers.push_back(b);
  }
  if (features.fixed_offsets) {
    for (Buffer& b : p.buffers) {
      if (below(8) != 0) continue;
      b.fixed_offset = aligned(below(2 * features.largest), b.alignment);
      if (search::find_clash_of_fixed(p)) b.fixed_offset = not_fixed;
    }
  }
  if (features.conflicts && below(2) == 0 && features.buffers > 1) {
    for (std::int64_t k = below(static_cast<std::int64_t>(features.buffers)); k > 0; --k) {
      const auto a = static_cast<std::uint32_t>(below(static_cast<std::int64_t>(features.buffers)));
      const auto b = static_cast<std::uint32_t>(below(static_cast<std::int64_t>(features.buffers)));
      if (a == b) continue;
      p.conflicts.emplace_back(a, b);
      if (search::find_clash_of_fixed(p)) p.conflicts.pop_back();
    }
  }
  return p;
}

/// A square of 2^20 steps by 2^20 bytes, cut by straight cuts into n pieces and shuffled: the optimum is 2^20. One cut
/// in `pinwheels` makes a pinwheel instead: one piece in the middle, and four around it (none if 0).
inline Problem random_tiling(std::uint64_t seed, std::size_t n, std::int64_t pinwheels = 0) {
  struct Piece {
    std::int64_t lower, upper, low, high;
  };
  std::mt19937_64 random{seed};
  const auto below = [&](std::int64_t k) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(k));
  };
  std::vector<Piece> pieces{{0, 1 << 20, 0, 1 << 20}};
  while (pieces.size() < n) {
    // The largest of some random pieces, so that none stays much larger than the others.
    std::size_t chosen = 0;
    double most = -1;
    for (int k = 0; k < 4; ++k) {
      const auto at = static_cast<std::size_t>(below(static_cast<std::int64_t>(pieces.size())));
      const double area = static_cast<double>(pieces[at].upper - pieces[at].lower) *
                          static_cast<double>(pieces[at].high - pieces[at].low);
      if (area > most) chosen = at, most = area;
    }
    Piece& whole = pieces[chosen];
    Piece part = whole;
    if (pinwheels > 0 && below(pinwheels) == 0) {
      if (whole.upper - whole.lower < 3 || whole.high - whole.low < 3) continue;
      const std::int64_t a = whole.lower + 1 + below(whole.upper - whole.lower - 2);
      const std::int64_t b = a + 1 + below(whole.upper - a - 1);
      const std::int64_t c = whole.low + 1 + below(whole.high - whole.low - 2);
      const std::int64_t d = c + 1 + below(whole.high - c - 1);
      const auto [lower, upper, low, high] = std::exchange(whole, {a, b, c, d});
      pieces.insert(pieces.end(), {{lower, b, low, c}, {b, upper, low, d}, {a, upper, d, high}, {lower, a, c, high}});
      continue;
    }
    if (below(2) == 0) {
      if (whole.upper - whole.lower < 2) continue;
      whole.upper = part.lower = whole.lower + 1 + below(whole.upper - whole.lower - 1);
    } else {
      if (whole.high - whole.low < 2) continue;
      whole.high = part.low = whole.low + 1 + below(whole.high - whole.low - 1);
    }
    pieces.push_back(part);
  }
  for (std::size_t k = pieces.size(); k > 1; --k)
    std::swap(pieces[k - 1], pieces[static_cast<std::size_t>(below(static_cast<std::int64_t>(k)))]);
  Problem p;
  for (const Piece& piece : pieces) p.buffers.push_back({piece.lower, piece.upper, piece.high - piece.low});
  return p;
}

/// The smallest arena possible, by first fit in every order, for up to 7 buffers. One of these orders gives a best
/// plan: first fit by the ascending offsets of any best plan places no buffer higher.
inline std::int64_t smallest_arena(const Problem& problem) {
  std::vector<std::uint32_t> order(problem.size());
  std::iota(order.begin(), order.end(), 0U);
  FirstFit fitter{problem};
  std::int64_t best = arena_of(problem, fitter.run(order));
  while (std::next_permutation(order.begin(), order.end())) best = std::min(best, arena_of(problem, fitter.run(order)));
  return best;
}

/// Whether `offsets` is a valid plan of the problem.
inline Violation check_offsets(const Problem& problem, std::vector<std::int64_t> offsets) {
  Plan plan;
  plan.arena = offsets.size() == problem.size() ? arena_of(problem, offsets) : 0;
  plan.offsets = std::move(offsets);
  return check_plan(problem, plan);
}

}  // namespace rondo::memory::testing
