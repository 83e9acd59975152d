// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/detail/owned.hpp>
#include <rondo/detail/shared.hpp>
#include <rondo/launch/counts.hpp>
#include <rondo/launch/launch_cache.hpp>
#include <rondo/launch/shape_key.hpp>
#include <rondo/launch/solve.hpp>
#include <rondo/list.hpp>
#include <rondo/platform/shared.hpp>
#include <rondo/session/open.hpp>
#include <rondo/session/shape_words.hpp>
#include <rondo/session/shared_shapes.hpp>
#include <rondo/slice.hpp>
#include <rondo/tensor/shaped.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <new>
#include <type_traits>
#include <utility>

namespace rondo {

/// A symbolic graph, opened on a platform, whose rounds may each have other shapes. What a shape needs is made when it
/// is met first, as a session of its own over the plain graph: plan, args, program. Later rounds of that shape find it.
/// All of them share one device and one arena, which grows to the largest; residents keep their place and contents.
/// Plain graph and plan are taken from SharedShapes, so sessions over the same ones plan a shape once.
///
///     auto session = open_shaped<A2A3Sim>(graph);                    // n = graph.dim("n"); x is {n, 64}
///     session.run_round(bind(x, hx), bind(y, hy));                   // n follows from the number of elements
///     session.run_round(bind(x, hx, {rows, 64}), bind(y, hy));       // or is said
///
/// Lifetime: immovable. Thread safety: one thread at a time, others may run sessions that share its shapes. Errors: as
/// RoundSession; besides, of a shape that is new: wrong_size and invalid_argument for sizes that fit no values of the
/// symbols, overflow, limit_exceeded, out_of_memory; then nothing has changed, and explain() names symbol and values.
/// Cost: of a known shape, a look at the sizes and the round of RoundSession; of a new one, its set-up. A shape is
/// known by the order in which its tensors are bound: keep to one order.
template <Platform P, class Policies = DefaultPolicies, launch::EvictionPolicy Capacity = launch::Lru<64>>
class ShapedSession {
  static_assert(Policies::rounds_in_flight == 1,
                "rondo: rounds of different shapes run one at a time; choose rounds_in_flight = 1");
  static_assert(std::is_same_v<P, CheckedPlatform<P, Policies>>, "rondo: open() sees to Policies::Check; call it");
  using View = platform::Shared<P>;
  using Entry = RoundSession<View, typename SharedShapes<P, Policies, Capacity>::EntryPolicies,
                             typename SharedShapes<P, Policies, Capacity>::Graph>;
  using Lookups = typename detail::LookupsOf<Policies>::type;
  using Arch = typename P::Arch;

 public:
  /// What it runs on.
  using Platform = P;
  /// How that is opened.
  using Options = typename P::Options;
  /// What sessions may share.
  using Shapes = SharedShapes<P, Policies, Capacity>;

  /// Opens the device; no shape is known yet. @throws Error: invalid_argument if a resident's size is symbolic; what
  /// the platform throws
  explicit ShapedSession(TaskGraph graph, const Options& options = {})
      : ShapedSession(Shapes(std::move(graph)), options) {}
  /// The same over shapes that other sessions use as well.
  explicit ShapedSession(Shapes shapes, const Options& options = {})
      : shapes_{std::move(shapes)},
        graph_{shapes_.graph()},
        platform_{options},
        values_{graph_.tensors(), graph_.tag()},
        offsets_(graph_.tensors().size(), 0),
        uploaded_(offsets_),
        by_count_{key_width(1)},
        by_shape_{key_width(1 + max_rank)},
        by_symbol_{key_width(1 + max_rank) + graph_.symbols().size()} {
    for (std::size_t t = 0; t < offsets_.size(); ++t) {
      const graph::TensorRecord& tensor = graph_.tensors()[t];
      resets_workspace_ = resets_workspace_ || tensor.zeroed == Zeroed::once;
      if (tensor.direction != Direction::resident) continue;
      if (tensor.shape.is_symbolic()) {
        throw Error(Errc::invalid_argument, Error::Text("resident '", graph_.name(tensor.name),
                                                        "' has a symbolic size; what stays between rounds of different "
                                                        "shapes needs a size of its own"));
      }
      offsets_[t] = align_up(residents_end_, Arch::tensor_alignment);
      residents_end_ = offsets_[t] + arch::block_bytes<Arch>(tensor.bytes);
    }
  }
  ShapedSession(const ShapedSession&) = delete;
  ShapedSession& operator=(const ShapedSession&) = delete;
  ~ShapedSession() {
    forget_shapes();
    if (base_) (void)platform_.release(base_);
    if constexpr (HasClose<P>) (void)platform_.close();
  }

  /// One round; see RoundSession::run_round.
  template <BoundPair... B>
  [[gnu::always_inline]] Status run_round(const B&... pairs) noexcept {
    constexpr bool with_shapes = (detail::has_shape<B> || ...);
    launch::ShapeKey<(with_shapes ? 1 + max_rank : 1) * sizeof...(B) + 1> key;
    (detail::append_size<with_shapes>(key, pairs), ...);
    return run_known(with_shapes ? by_shape_ : by_count_, key.view(), {}, pairs...);
  }
  /// The same with values of symbols that the round says itself; see given(). Errors: also invalid_argument for what is
  /// no symbol of the graph.
  template <std::size_t N, BoundPair... B>
  Status run_round(const launch::GivenSymbols<N>& symbols, const B&... pairs) noexcept {
    launch::ShapeKey<(1 + max_rank) * sizeof...(B) + Dim::max_symbols + 1> key;
    (detail::append_size<true>(key, pairs), ...);
    std::int64_t values[Dim::max_symbols];
    const std::size_t count = graph_.symbols().size();
    for (std::size_t s = 0; s < count; ++s) values[s] = launch::not_given;
    for (const auto& [dim, value] : symbols.values) {
      const auto s = static_cast<std::size_t>(dim.as_symbol());  // -1 is beyond all
      if (s >= count || value < 0) [[unlikely]]
        return refuse_symbols();
      values[s] = value;
    }
    for (std::size_t s = 0; s < count; ++s) key.append(static_cast<std::uint64_t>(values[s]));
    return run_known(by_symbol_, key.view(), {values, count}, pairs...);
  }

  /// Makes ready for a shape before a round needs it, as rounds that bind all tensors in the order of the graph will
  /// look for it. @throws Error as an unknown shape's round reports; the session is as before
  void prepare(std::initializer_list<std::pair<Dim, std::int64_t>> symbols) {
    require_usable();
    const auto shape = shapes_.find_or_resolve(launch::values_of(graph_, symbols));
    const Slice<const graph::TensorRecord> tensors = shape->graph.view().tensors;
    List<std::uint64_t> words;
    for (std::uint32_t t = 0; t < tensors.size(); ++t) {
      if (!is_bound_each_round(tensors[t].direction)) continue;
      words.push_back(detail::size_word(tensors[t].count, t));
    }
    if (by_count_.find_in_table(words) == nullptr) (void)insert(by_count_, words, shape);
    forget_last();
  }

  /// Makes the arena at least so large, so that it need not grow later.
  /// @throws Error out_of_memory, poisoned; the session is as before
  void reserve(Bytes size) {
    require_usable();
    (void)grow(size);
  }

  /// As RoundSession::upload.
  template <Element T, class Host>
  Status upload(Resident<T> tensor, const Host& host) noexcept {
    const auto pair = bind(Input<T>{tensor.key}, host);
    return move_resident(tensor.key, const_cast<T*>(pair.data()), pair.size(), true);
  }
  /// As RoundSession::download.
  template <Element T, class Host>
  Status download(Resident<T> tensor, Host&& host) noexcept {
    const auto pair = bind(Output<T>{tensor.key}, std::forward<Host>(host));
    return move_resident(tensor.key, pair.data(), pair.size(), false);
  }

  /// Rounds that ended well, of all shapes.
  [[nodiscard]] std::uint64_t rounds() const noexcept { return rounds_; }
  /// What Policies::Observe names, default-constructed: one for all shapes.
  [[nodiscard]] auto& observer() noexcept { return observe_; }
  /// Shapes that are known at present.
  [[nodiscard]] std::size_t entries() const noexcept { return by_count_.size() + by_shape_.size() + by_symbol_.size(); }
  /// What looking for shapes came to, for policies that have `using Lookups = launch::Counts;`.
  [[nodiscard]] launch::Counts lookups() const noexcept requires std::is_same_v<Lookups, launch::Counts> {
    launch::Counts sum;
    for (const launch::Counts& counts : {by_count_.counts(), by_shape_.counts(), by_symbol_.counts()}) {
      sum.hits_on_last += counts.hits_on_last;
      sum.hits_in_table += counts.hits_in_table;
      sum.misses += counts.misses;
      sum.evictions += counts.evictions;
    }
    return sum;
  }
  /// Bytes of device memory of the largest shape so far.
  [[nodiscard]] Bytes arena_bytes() const noexcept { return capacity_; }
  /// The symbolic graph.
  [[nodiscard]] const TaskGraph& graph() const noexcept { return graph_; }
  /// What it runs on.
  [[nodiscard]] P& platform() noexcept { return platform_; }
  /// Where the host sets scalars; see launch/round_values.hpp.
  [[nodiscard]] auto& values() noexcept requires(Policies::Values::any) { return values_; }
  /// Did a round fail in a way that leaves nothing to rely on?
  [[nodiscard]] bool poisoned() const noexcept { return !poison_.ok(); }

  /// A sentence for a status of this session, naming tensor or task, symbols and values.
  [[nodiscard]] Error::Text explain(Status status) const noexcept {
    if (status == failed_) return text_;
    Error::Text text(status.message());
    if (status.code() == Errc::poisoned && !poison_.ok()) {
      text.append(". The failure: ");
      text.append(text_);
    }
    return text;
  }

 private:
  using Resolved = detail::Shared<const typename Shapes::Resolved>;
  /// A shape as this session runs it: what is shared of it, and over that what has addresses.
  struct Known {
    Known(Resolved resolved, const typename View::Options& options)
        : shape{std::move(resolved)}, session{{&shape->graph, &shape->plan}, options} {
      for (const graph::TensorRecord& tensor : shape->graph.view().tensors) is_empty = is_empty || tensor.count == 0;
    }
    Resolved shape;
    Entry session;
    bool is_empty = false;  ///< has any tensor no elements?
  };
  // On the heap, so that one that makes the arena grow, which goes through all others, is made before it has a place.
  using EntryPtr = detail::Owned<Known>;
  using Entries = launch::LaunchCache<EntryPtr, Capacity, launch::FoldedMultiply, Lookups>;

  template <BoundPair... B>
  [[gnu::always_inline]] Status run_known(Entries& entries, launch::KeyView key, Slice<const std::int64_t> values,
                                          const B&... pairs) noexcept {
    EntryPtr* found = entries.find_last(key);
    if (found == nullptr) [[unlikely]] {
      const launch::BoundSize sizes[] = {detail::size_of(pairs)..., {}};
      if (const Status s = change_entry(entries, key, {sizes, sizeof...(B)}, values, found); !s) return s;
    }
    Known& known = **found;
    const Status status = known.is_empty ? run_empty<B...>(known.session, pairs...) : known.session.run_round(pairs...);
    if (!status.ok()) [[unlikely]] {
      note_failure(known.session, status);
    } else {
      ++rounds_;
    }
    return status;
  }
  [[gnu::cold, gnu::noinline]] Status refuse_symbols() noexcept {
    failed_ = Status{Errc::invalid_argument};
    text_ = Error::Text("given: give the graph's own symbols values that are not negative");
    return failed_;
  }

  [[nodiscard]] std::size_t key_width(std::size_t words_of_port) const noexcept {
    std::size_t ports = 0;
    for (const graph::TensorRecord& tensor : graph_.tensors()) ports += is_bound_each_round(tensor.direction) ? 1 : 0;
    return words_of_port * ports;
  }

  /// Memory of no elements may be null. Takes copies, since pairs whose address is taken do not stay in registers.
  template <BoundPair... B>
  [[gnu::cold, gnu::noinline]] static Status run_empty(Entry& entry, detail::InRegisters<B>... pairs) noexcept {
    return entry.run_round(not_null(pairs)...);
  }
  template <Element T, Direction D>
  static CopiedPair<T, D> not_null(const CopiedPair<T, D>& pair) noexcept {
    using Host = typename CopiedPair<T, D>::HostElement;
    static std::remove_const_t<Host> nothing{};
    return {pair.handle(), pair.size() == 0 ? static_cast<Host*>(&nothing) : pair.data(), pair.size()};
  }
  template <BoundPair B>
  static const B& not_null(const B& pair) noexcept {
    return pair;
  }

  void require_usable() const {
    if (!poison_.ok()) throw Error(Errc::poisoned, Error::Text(describe(Errc::poisoned)));
  }
  /// After a failure that poisons no shape is known any more, so that every round comes by make_entry(), which says so.
  [[gnu::cold, gnu::noinline]] void note_failure(const Entry& entry, Status status) noexcept {
    failed_ = status;
    text_ = entry.explain(status);
    if (!status.poisoned()) return;
    poison_ = status;
    forget_shapes();
  }

  /// The last round was of another shape, so that self-resetting workspaces may lie where it wrote.
  [[gnu::noinline]] Status change_entry(Entries& entries, launch::KeyView key, Slice<const launch::BoundSize> sizes,
                                        Slice<const std::int64_t> values, EntryPtr*& found) noexcept {
    forget_last();
    found = entries.find_in_table(key);
    if (found == nullptr) return make_entry(entries, key, sizes, values, found);
    return resets_workspace_ ? (*found)->session.reset_workspace() : Status{};
  }
  void forget_last() noexcept {
    by_count_.forget_last();
    by_shape_.forget_last();
    by_symbol_.forget_last();
  }

  /// What set-up throws, as a status with its text.
  [[gnu::cold, gnu::noinline]] Status make_entry(Entries& entries, launch::KeyView key,
                                                 Slice<const launch::BoundSize> sizes,
                                                 Slice<const std::int64_t> symbols, EntryPtr*& made) noexcept {
    if (!poison_.ok()) return Status{Errc::poisoned}.poisoning();
    List<std::int64_t> values;
    try {
      check_bound(sizes);
      values = launch::solve(graph_, sizes, symbols);
      made = &insert(entries, key, shapes_.find_or_resolve(values));
      return {};
    } catch (const Error& error) {
      failed_ = Status{error.code()};
      text_ = Error::Text(error.what());
      for (std::size_t s = 0; s < values.size(); ++s) {
        text_.append(Error::Text(s == 0 ? "; " : ", ", graph_.name(graph_.symbols()[s]), " = ", values[s]));
      }
    } catch (const std::bad_alloc&) {
      failed_ = Status{Errc::out_of_memory};
      text_ = Error::Text("the host has no memory left for another shape");
    }
    return failed_;
  }

  void check_bound(Slice<const launch::BoundSize> sizes) const {
    List<int> bound(graph_.tensors().size(), 0);
    for (const launch::BoundSize& size : sizes) {
      if (size.tensor >= bound.size()) throw Error(Errc::wrong_tensor, Error::Text(describe(Errc::wrong_tensor)));
      ++bound[size.tensor];
    }
    for (std::size_t t = 0; t < bound.size(); ++t) {
      const graph::TensorRecord& tensor = graph_.tensors()[t];
      const bool once = is_bound_each_round(tensor.direction) ? bound[t] == 1 : bound[t] == 0;
      if (once) continue;
      const Errc code = !is_bound_each_round(tensor.direction) ? Errc::wrong_tensor
                        : bound[t] == 0                        ? Errc::unbound_tensor
                                                               : Errc::bound_twice;
      throw Error(code, Error::Text("tensor '", graph_.name(tensor.name), "': ", describe(code)));
    }
  }

  EntryPtr& insert(Entries& entries, launch::KeyView key, Resolved shape) {
    EntryPtr entry = make_known(std::move(shape));
    return entries.insert(key, [&] { return std::move(entry); });
  }
  [[nodiscard]] EntryPtr make_known(Resolved shape) {
    const auto borrow = [](void* self, Bytes size) { return static_cast<ShapedSession*>(self)->grow(size); };
    EntryPtr known(new Known(std::move(shape), typename View::Options{&platform_, this, borrow, &values_}));
    if constexpr (!std::is_empty_v<typename Policies::Observe>) {
      known->session.observer().observer = &observe_;
      known->session.observer().rounds = &rounds_;
    }
    adopt_residents(known->session);
    return known;
  }
  void adopt_residents(Entry& entry) noexcept {
    for (std::uint32_t t = 0; t < uploaded_.size(); ++t) {
      if (uploaded_[t] != 0) entry.adopt(TensorId{t});
    }
  }

  void forget_shapes() noexcept {
    by_count_.clear();
    by_shape_.clear();
    by_symbol_.clear();
  }
  template <class F>
  void for_each_known(F f) {
    by_count_.for_each(f);
    by_shape_.for_each(f);
    by_symbol_.for_each(f);
  }

  /// The arena has moved: all known shapes are told. One that cannot move, since a task of its is pinned or the update
  /// strategy never rewrites the addresses in question, is set up again over its plan.
  void rebase() {
    try {
      for_each_known([&](EntryPtr& known) {
        if constexpr (Policies::Update::highest >= UpdateLevel::feature_map_and_model_io) {
          if (known->session.move_arena({base_, capacity_.value}).ok()) return adopt_residents(known->session);
        }
        Resolved shape = known->shape;
        known.reset();
        known = make_known(std::move(shape));
      });
    } catch (...) {
      forget_shapes();  // some of them are in pieces; each comes back when it is met again
    }
  }

  /// The arena's base, of at least `size` bytes.
  DevicePtr<std::byte> grow(Bytes size) {
    Bytes wanted{size.value < residents_end_ ? residents_end_ : size.value};
    if (wanted.value == 0) wanted = Bytes{Arch::arena_alignment};  // tensors of no elements are somewhere, too
    if (!(wanted > capacity_)) return base_;
    List<std::byte> residents(base_ ? residents_end_ : 0);
    if (!residents.empty()) {
      check(platform_.copy_out(residents.data(), DevicePtr<const std::byte>{base_}, Bytes{residents.size()}));
      check(platform_.wait());
    }
    const Bytes before = capacity_;
    if (base_) check(platform_.release(base_));
    base_ = {};
    try {
      allocate(wanted, residents);
    } catch (...) {
      try {
        if (before.value != 0) allocate(before, residents);
      } catch (...) {  // not even what there was: nothing is known any more, and residents wait for their upload
        forget_shapes();
        for (std::uint64_t& uploaded : uploaded_) uploaded = 0;
      }
      rebase();
      throw;
    }
    rebase();
    return base_;
  }
  void allocate(Bytes size, const List<std::byte>& residents) {
    capacity_ = {};
    base_ = platform_.allocate(size, Bytes{Arch::arena_alignment});
    capacity_ = size;
    if (residents.empty()) return;
    check(platform_.copy_in(base_, residents.data(), Bytes{residents.size()}));
    check(platform_.wait());
  }
  static void check(Status status) {
    if (!status) throw Error(status.code(), Error::Text("moving the arena: ", status.message()));
  }

  Status move_resident(TensorKey key, void* host, std::uint64_t count, bool to_device) noexcept {
    if (!poison_.ok()) return Status{Errc::poisoned}.poisoning();
    const std::uint32_t t = index(key.tensor());
    if (key.graph() != graph_.tag() || t >= uploaded_.size() || graph_.tensors()[t].direction != Direction::resident) {
      return Status{Errc::wrong_tensor};
    }
    if (count != graph_.tensors()[t].count) return Status::of_tensor(Errc::wrong_size, t);
    if (host == nullptr) return Status::of_tensor(Errc::null_memory, t);
    if (!base_) {
      try {
        (void)grow({});
      } catch (const Error& error) {
        return Status::of_tensor(error.code(), t);
      }
    }
    const Bytes bytes{graph_.tensors()[t].bytes};
    const DevicePtr<std::byte> device = base_.offset(Bytes{offsets_[t]});
    if (to_device) {
      if constexpr (requires { observe_.copies_in(bytes); }) observe_.copies_in(bytes);
    } else {
      if constexpr (requires { observe_.copies_out(bytes); }) observe_.copies_out(bytes);
    }
    Status status = to_device ? platform_.copy_in(device, host, bytes) : platform_.copy_out(host, device, bytes);
    if (const Status waited = platform_.wait(); status.ok()) status = waited;
    if (status.poisoned()) poison_ = status;
    if (status.ok() && to_device && uploaded_[t] == 0) {
      uploaded_[t] = 1;
      for_each_known([&](EntryPtr& known) { known->session.adopt(key.tensor()); });
    }
    return status;
  }

  Shapes shapes_;
  const TaskGraph& graph_;
  P platform_;
  [[no_unique_address]] typename Policies::Values::Store values_;  ///< for all shapes together
  [[no_unique_address]] typename Policies::Observe observe_;       ///< likewise
  std::uint64_t rounds_ = 0;
  List<std::uint64_t> offsets_;   ///< by tensor: of a resident in the arena
  List<std::uint64_t> uploaded_;  ///< by tensor: does the resident hold a value?
  std::uint64_t residents_end_ = 0;
  bool resets_workspace_ = false;  ///< is any workspace to be zero again when its shape comes back?
  DevicePtr<std::byte> base_;
  Bytes capacity_;
  Entries by_count_;
  Entries by_shape_;   ///< of rounds that bring shapes
  Entries by_symbol_;  ///< of rounds that give symbols their values
  Status poison_;
  Status failed_{Errc::abandoned};  ///< the last failure, of which text_ tells
  Error::Text text_;
};

/// Opens a session over a symbolic graph. @throws Error what ShapedSession's constructor throws
template <Platform P, class Policies = DefaultPolicies, launch::EvictionPolicy Capacity = launch::Lru<64>>
[[nodiscard]] ShapedSession<CheckedPlatform<P, Policies>, Policies, Capacity> open_shaped(
    TaskGraph graph, const typename CheckedPlatform<P, Policies>::Options& options = {}) {
  return ShapedSession<CheckedPlatform<P, Policies>, Policies, Capacity>(std::move(graph), options);
}
/// The same over shapes that other sessions use as well.
template <Platform P, class Policies, launch::EvictionPolicy Capacity>
[[nodiscard]] ShapedSession<P, Policies, Capacity> open_shaped(SharedShapes<P, Policies, Capacity> shapes,
                                                               const typename P::Options& options = {}) {
  return ShapedSession<P, Policies, Capacity>(std::move(shapes), options);
}

}  // namespace rondo
