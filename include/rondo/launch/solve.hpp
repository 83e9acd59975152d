// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/detail/compiled.hpp>
#include <rondo/error.hpp>
#include <rondo/graph/task_graph.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

/// Finds the values of a graph's symbols from the sizes that a round binds, for shapes that are not in the cache.
namespace rondo::launch {

/// The values of symbols that a round states; made by with_symbols().
template <std::size_t N>
struct StatedSymbols {
  std::pair<Dim, std::int64_t> values[N];
  /// Marks this type as one that submitted rounds accept in place of pairs.
  static constexpr bool replaces_pairs = true;
};
/// States the values of symbols that the sizes do not determine: `session.run_round(with_symbols({{n, 128}}), bind(x,
/// hx), …)`. Stated values identify the shape of a round just as sizes do.
template <std::size_t N>
[[nodiscard]] constexpr StatedSymbols<N> with_symbols(const std::pair<Dim, std::int64_t> (&values)[N]) noexcept {
  StatedSymbols<N> result;
  for (std::size_t i = 0; i < N; ++i) result.values[i] = values[i];
  return result;
}
/// Marks the value of a symbol that solve() is to find.
inline constexpr std::int64_t not_stated = -1;

/// The size of a bound tensor.
struct BoundSize {
  std::uint32_t tensor = 0;      ///< by number
  std::uint64_t count = 0;       ///< the number of elements bound
  const Shape* shape = nullptr;  ///< the shape as stated; null if none was stated
};

/// The values of the graph's symbols for which the tensors have these sizes. `given_values`: by number, not_stated for
/// those to be found; may be empty.
/// @throws Error invalid_argument, wrong_size: names the symbol or tensor and the values that contradict each other
[[nodiscard]] RONDO_INLINE std::vector<std::int64_t> solve(const TaskGraph& graph, std::span<const BoundSize> sizes,
                                                           std::span<const std::int64_t> given_values = {});

/// Returns the values of a graph's symbols, by number, from pairs of symbol and value. @throws Error invalid_argument
[[nodiscard]] RONDO_INLINE std::vector<std::int64_t> values_of(
    const TaskGraph& graph, std::initializer_list<std::pair<Dim, std::int64_t>> symbols);

#if RONDO_HAS_BODIES
namespace detail {

class Solver {
 public:
  explicit Solver(const TaskGraph& graph)
      : graph_{graph}, values_(graph.symbols().size(), 0), known_(graph.symbols().size(), false) {}

  [[nodiscard]] std::vector<std::int64_t> run(std::span<const BoundSize> sizes,
                                              std::span<const std::int64_t> given_values) {
    for (std::size_t s = 0; s < known_.size() && s < given_values.size(); ++s) {
      known_[s] = given_values[s] != not_stated ? 1 : 0;
      values_[s] = known_[s] ? given_values[s] : 0;
    }
    for (const BoundSize& size : sizes) {
      if (size.shape != nullptr) match_extents(size);
    }
    for (bool progress = true; progress;) {
      progress = false;
      for (const BoundSize& size : sizes) progress = match_count(size) || progress;
    }
    for (std::size_t s = 0; s < known_.size(); ++s) {
      if (!known_[s]) {
        throw Error(Errc::invalid_argument,
                    Error::Text{"the sizes that are bound do not tell symbol '", symbol(s),
                                "'; bind a tensor of that size with its shape: bind(x, memory, {…}), or give the "
                                "symbol its value: with_symbols({{symbol, value}})"});
      }
    }
    for (const BoundSize& size : sizes) check(size);
    return values_;
  }

 private:
  [[nodiscard]] std::string_view symbol(std::size_t s) const { return graph_.name(graph_.symbols()[s]); }
  [[nodiscard]] const graph::TensorRecord& tensor(const BoundSize& size) const { return graph_.tensors()[size.tensor]; }

  void learn(std::size_t s, std::int64_t value, const BoundSize& from) {
    if (known_[s] && values_[s] != value) {
      throw Error(Errc::invalid_argument, Error::Text{"symbol '", symbol(s), "' is ", values_[s], ", but tensor '",
                                                      graph_.name(tensor(from).name), "' says ", value});
    }
    values_[s] = value;
    known_[s] = true;
  }

  void match_extents(const BoundSize& size) {
    const SymbolicShape declared = graph_.declared_shape(tensor(size));
    if (size.shape->rank() != declared.rank()) {
      throw Error(Errc::wrong_size, Error::Text{"tensor '", graph_.name(tensor(size).name), "' has ", declared.rank(),
                                                " dimensions, ", size.shape->rank(), " were bound"});
    }
    for (std::size_t d = 0; d < declared.rank(); ++d) {
      const std::int64_t extent = size.shape->extent(d);
      if (extent < 0) {
        throw Error(Errc::invalid_argument,
                    Error::Text{"tensor '", graph_.name(tensor(size).name), "': extent ", d, " is negative"});
      }
      if (const std::int32_t s = declared.dim(d).as_symbol(); s >= 0) learn(static_cast<std::size_t>(s), extent, size);
    }
  }

  [[nodiscard]] bool knows(const Dim& dim) const {
    bool all = true;
    dim.for_each_symbol([&](std::int32_t s) { all = all && known_[static_cast<std::size_t>(s)]; });
    return all;
  }

  /// If only one extent is unknown, and a single symbol, derives it from the element count. Returns whether it did.
  bool match_count(const BoundSize& size) {
    const SymbolicShape declared = graph_.declared_shape(tensor(size));
    std::uint64_t product = 1;
    std::int32_t unknown = -1;
    for (std::size_t d = 0; d < declared.rank(); ++d) {
      const Dim& dim = declared.dim(d);
      if (dim.empty() || knows(dim)) {
        const Dim::Value extent = declared.evaluate(d, values_.data());
        if (!extent.ok || extent.value <= 0) return false;
        if (__builtin_mul_overflow(product, static_cast<std::uint64_t>(extent.value), &product)) return false;
      } else if (unknown >= 0 || dim.as_symbol() < 0) {
        return false;
      } else {
        unknown = dim.as_symbol();
      }
    }
    if (unknown < 0) return false;
    if (size.count % product != 0) {
      throw Error(Errc::wrong_size, Error::Text{"tensor '", graph_.name(tensor(size).name), "': ", size.count,
                                                " elements were bound; bind a multiple of ", product,
                                                ", the product of its other extents"});
    }
    learn(static_cast<std::size_t>(unknown), static_cast<std::int64_t>(size.count / product), size);
    return true;
  }

  void check(const BoundSize& size) const {
    const SymbolicShape declared = graph_.declared_shape(tensor(size));
    std::uint64_t count = 1;
    for (std::size_t d = 0; d < declared.rank(); ++d) {
      const Dim::Value extent = declared.evaluate(d, values_.data());
      if (!extent.ok || extent.value < 0) return;  // instantiate() reports this error, with the values
      if (size.shape != nullptr && size.shape->extent(d) != extent.value) {
        fail({"tensor '", graph_.name(tensor(size).name), "': extent ", d, " is ", extent.value, ", ",
              size.shape->extent(d), " was bound"});
      }
      if (__builtin_mul_overflow(count, static_cast<std::uint64_t>(extent.value), &count)) return;
    }
    if (count != size.count) {
      fail({"tensor '", graph_.name(tensor(size).name), "' takes ", count, " elements, ", size.count, " were bound"});
    }
  }
  /// @throws Error wrong_size with this text and the values of the symbols
  [[noreturn]] void fail(std::initializer_list<rondo::detail::TextPart> wrong) const {
    Error::Text text{wrong};
    for (std::size_t s = 0; s < values_.size(); ++s) {
      text.append(Error::Text{s == 0 ? "; " : ", ", symbol(s), " = ", values_[s]});
    }
    throw Error(Errc::wrong_size, text);
  }

  const TaskGraph& graph_;
  std::vector<std::int64_t> values_;
  std::vector<char> known_;
};

}  // namespace detail

RONDO_INLINE std::vector<std::int64_t> solve(const TaskGraph& graph, std::span<const BoundSize> sizes,
                                             std::span<const std::int64_t> given_values) {
  return detail::Solver(graph).run(sizes, given_values);
}

RONDO_INLINE std::vector<std::int64_t> values_of(const TaskGraph& graph,
                                                 std::initializer_list<std::pair<Dim, std::int64_t>> symbols) {
  std::vector<std::int64_t> values(graph.symbols().size(), not_stated);
  for (const auto& [dim, value] : symbols) {
    const auto s = static_cast<std::size_t>(dim.as_symbol());  // -1 is out of range
    if (s >= values.size() || values[s] != not_stated) {
      throw Error(Errc::invalid_argument, Error::Text("prepare: give each of the graph's own symbols one value"));
    }
    values[s] = value;
  }
  for (std::size_t s = 0; s < values.size(); ++s) {
    if (values[s] < 0) {
      throw Error(Errc::invalid_argument, Error::Text{"prepare: symbol '", graph.name(graph.symbols()[s]),
                                                      "' has no value that is not negative; give it one"});
    }
  }
  return values;
}
#endif

}  // namespace rondo::launch

namespace rondo {
using launch::with_symbols;
}
