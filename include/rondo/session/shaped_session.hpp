// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/binding/dynamic_bindings.hpp>
#include <rondo/binding/shape_words.hpp>
#include <rondo/launch/launch_cache.hpp>
#include <rondo/launch/shape_key.hpp>
#include <rondo/launch/solve.hpp>
#include <rondo/session/explain.hpp>
#include <rondo/session/in_flight.hpp>
#include <rondo/session/log.hpp>
#include <rondo/session/session_base.hpp>
#include <rondo/session/shape_entry.hpp>
#include <rondo/session/shared_shapes.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace rondo {

/// A symbolic graph, opened on a platform, whose rounds may have different shapes. The first round of a shape creates
/// its plan, args and program; later rounds reuse them. All shapes share one device and one arena, which grows to the
/// largest; residents keep their location and contents. SharedShapes provides the plain graphs and plans, so sessions
/// that share it plan each shape once.
///
///     auto session = open_shaped<A2A3Sim>(graph);                    // n = graph.dim("n"); x is {n, 64}
///     session.run_round(bind(x, hx), bind(y, hy));                   // n follows from the number of elements
///     session.run_round(bind(x, hx, {rows, 64}), bind(y, hy));       // or is stated
///     session.run_round(with_symbols({{n, 128}}), bind(x, hx), bind(y, hy));
///
/// `Depth` rounds may be in flight, with different shapes; see PipelinedSession. With a depth of 1, submitting a round
/// also completes it.
///
/// Lifetime: immovable. Thread safety: one thread at a time; others may run sessions that share its shapes. Errors: as
/// RoundSession and PipelinedSession. A new shape may also return wrong_size and invalid_argument for sizes that match
/// no values of the symbols, overflow, limit_exceeded, out_of_memory; then nothing has changed, and explain() names
/// symbol and values. Cost: for a known shape, a check of the sizes and the round of RoundSession; for a new one, its
/// set-up, which first waits for rounds in flight. The order in which tensors are bound is part of a shape's key:
/// always use the same order.
template <Platform P, class Policies = DefaultPolicies, class Capacity = launch::Lru<64>, std::size_t Depth = 1>
class ShapedSession : public detail::SessionBase<ShapedSession<P, Policies, Capacity, Depth>, P, Policies>,
                      public detail::InFlight<ShapedSession<P, Policies, Capacity, Depth>, P, Policies, Depth> {
  using Base = detail::SessionBase<ShapedSession, P, Policies>;
  friend Base;
  using Flights = detail::InFlight<ShapedSession, P, Policies, Depth>;
  friend Flights;
  using typename Base::State;

 public:
  using typename Base::Options;
  /// The shapes, which sessions may share.
  using Shapes = SharedShapes<P, Policies, Capacity, Depth>;

  /// Opens the device; no shape is known yet. @throws Error invalid_argument if a resident's size is symbolic; and
  /// as the platform does
  explicit ShapedSession(TaskGraph graph, const Options& options = {})
      : ShapedSession(Shapes(std::move(graph), options), options) {}
  /// The same, with shapes that other sessions also use.
  explicit ShapedSession(Shapes shapes, const Options& options = {});
  ~ShapedSession() { this->close_and_report(); }

  /// Runs one round after those in flight, and waits for it; see RoundSession::run_round. Bindings as in submit_round.
  /// The first argument may be values of symbols; see with_symbols(). Errors: also invalid_argument for a
  /// symbol that the graph does not have, one stated twice, and a negative value.
  template <class... Bound>
  [[gnu::always_inline]] Status run_round(Bound&&... bound) noexcept {
    if constexpr (Flights::is_queued || !(BoundPair<std::remove_cvref_t<Bound>> && ...)) {
      if (this->in_flight() != 0) (void)this->wait_all();
    }
    if constexpr ((detail::is_strided<std::remove_cvref_t<Bound>> || ...)) {
      return this->run_strided(bound...);
    } else {
      return run_on(
          platform::Direct<P>{platform_}, this->next_slot(),
          [this](Status status) __attribute__((always_inline)) { return settle(status); }, bound...);
    }
  }

  /// Sets up a shape before a round needs it, for rounds that bind all tensors in the order of the graph. If sizes do
  /// not determine the symbols, the shape is only planned: its rounds state the symbols, see with_symbols(). @throws
  /// Error like a round with a new shape; the session is unchanged then
  void prepare(std::initializer_list<std::pair<Dim, std::int64_t>> symbols) {
    require_ok(refusal(), "prepare");
    const std::vector<std::int64_t> values = launch::values_of(graph_, symbols);
    const auto shape = shapes_.find_or_resolve(values);
    const auto tensors = shape->graph.view().tensors;
    std::vector<launch::BoundSize> sizes;
    std::vector<std::uint64_t> words;
    for (std::uint32_t t = 0; t < tensors.size(); ++t) {
      if (!is_bound_each_round(tensors[t].direction)) continue;
      words.push_back(detail::size_word(tensors[t].count, t));
      sizes.push_back({t, tensors[t].count, nullptr});
    }
    if (is_told(values, sizes) && entries_.find_in_table(words) == nullptr) {
      set_up([&] { (void)insert(words, shape); });
    }
    entries_.forget_last();
  }

  /// Grows the arena to at least `size`, so that it need not grow later.
  /// @throws Error out_of_memory, poisoned, closed; the session is unchanged then
  void reserve(Bytes size) {
    require_ok(wait_until_idle(), "reserve");
    if (size.value > std::uint64_t{1} << 62U) {
      throw Error(Errc::out_of_memory, Error::Text{"reserve: ", size.value, " bytes; the most is 2^62"});
    }
    set_up([&] { grow({.bytes = size.value}); });
  }

  using Flights::rounds;
  /// The number of shapes that are currently known.
  [[nodiscard]] std::size_t entries() const noexcept { return entries_.size(); }
  /// The counts of lookups, for policies that have `using Lookups = launch::Counts;`.
  [[nodiscard]] launch::Counts lookups() const noexcept
    requires std::is_same_v<typename Policies::Lookups, launch::Counts>
  {
    return entries_.counts();
  }
  /// The bytes of the arena, which fits the largest shape so far in all slots.
  [[nodiscard]] Bytes arena_bytes() const noexcept { return Bytes{parts_.bytes}; }
  /// The bytes by kind of memory of all known shapes together. The report has no tensors and no plan, since each shape
  /// has its own. Include session/memory_report.hpp. Cost: that of set-up; allocates. @throws std::bad_alloc
  [[nodiscard]] memory::Report memory_report();
  /// The symbolic graph.
  [[nodiscard]] const TaskGraph& graph() const noexcept { return graph_; }
  /// The symbolic graph's tensors.
  [[nodiscard]] graph::GraphView interface() const noexcept { return graph_.interface(); }
  /// Returns wrong_size unless a tensor can have this many bytes, and wrong_tensor if the graph has no such tensor.
  Status check_bytes(TensorId tensor, Bytes size) noexcept {
    if (index(tensor) >= graph_.tensors().size()) return Status{Errc::wrong_tensor};
    if (graph_.tensors()[index(tensor)].may_have(size)) return {};
    shared_.refusal_detail = size.value;
    return without_text(Status::of_tensor(Errc::wrong_size, index(tensor)));
  }

  /// Returns a sentence for a status of this session that names the tensor or task, symbols and values.
  [[nodiscard]] Error::Text explain(Status status) const noexcept {
    if (status == failed_) return text_;
    return this->with_cause(detail::explain_status(interface(), status, shared_.refusal_detail, nullptr), status);
  }

 private:
  using Base::observe_;
  using Base::platform_;
  using Base::round_observer;
  using Base::shared_;
  using Base::state_;
  using Base::uploaded_;
  static constexpr std::size_t slots = Flights::depth;
  using Resolved = typename Shapes::Resolved;
  using Entry = detail::ShapeEntry<P, Policies, Resolved, slots>;
  // On the heap, so that an entry exists before its insertion: creating one may grow the arena, which visits all.
  using Entries = launch::LaunchCache<std::unique_ptr<Entry>, Capacity, typename Policies::Lookups>;
  template <class, BoundPair...>
  friend class detail::RoundAwaiter;
  template <class>
  friend class DynamicBindings;
  friend class detail::SessionState<ShapedSession>;

  // --- rounds

  /// For pairs.
  template <class Channel, class Settle, BoundPair... B>
  [[gnu::always_inline]] Status run_on(Channel channel, std::uint32_t slot, Settle settle, const B&... pairs) noexcept {
    constexpr bool with_shapes = (detail::has_shape<B> || ...);
    std::uint64_t words[(with_shapes ? 1 + max_rank : 1) * sizeof...(B) + 1];
    return run_entry(channel, slot, settle, {words, detail::write_sizes<with_shapes>(words, pairs...)}, {}, pairs...);
  }
  /// For pairs and stated symbols.
  template <class Channel, class Settle, std::size_t N, BoundPair... B>
  Status run_on(Channel channel, std::uint32_t slot, Settle settle, const launch::StatedSymbols<N>& symbols,
                const B&... pairs) noexcept {
    std::uint64_t words[(1 + max_rank) * sizeof...(B) + Dim::max_symbols + 1];
    std::uint64_t* end = detail::write_sizes<true>(words, pairs...);
    std::int64_t values[Dim::max_symbols];
    const std::size_t count = graph_.symbols().size();
    for (std::size_t s = 0; s < count; ++s) values[s] = launch::not_stated;
    for (const auto& [dim, value] : symbols.values) {
      const auto s = static_cast<std::size_t>(dim.as_symbol());  // -1 is out of range
      if (s >= count || value < 0 || values[s] != launch::not_stated) [[unlikely]]
        return refuse_symbols();
      values[s] = value;
    }
    for (std::size_t s = 0; s < count; ++s) *end++ = static_cast<std::uint64_t>(values[s]);
    return run_entry(channel, slot, settle, {words, end}, {values, count}, pairs...);
  }
  /// For bindings known only at run time.
  template <class Channel, class Settle>
  Status run_on(Channel channel, std::uint32_t slot, Settle settle, DynamicBindings<ShapedSession>& bindings) noexcept;
  /// Takes the sizes of these bindings, and the symbols if any is stated, as the key of a round.
  launch::KeyView key_of(std::span<const detail::Binding> list, std::span<const std::int64_t> symbols) noexcept;

  template <class Channel, class Settle, BoundPair... B>
  [[gnu::always_inline]] Status run_entry(Channel channel, std::uint32_t slot, Settle settle, launch::KeyView key,
                                          std::span<const std::int64_t> values, const B&... pairs) noexcept {
    Base::template check_strategy<B...>();
    std::unique_ptr<Entry>* found = entries_.find_last(key);
    if (found == nullptr) [[unlikely]] {
      const launch::BoundSize sizes[] = {detail::size_of(pairs)..., {}};
      if (const Status s = change_shape(key, {sizes, sizeof...(B)}, values, found); !s) return s;
    }
    Entry& entry = **found;
    if constexpr (!Channel::is_synchronous) in_slot_[slot] = &entry;
    round_observer().enters(Phase::bind);
    const Status status =
        entry.instances()[slot].run(channel, round_observer(), settle, std::index_sequence_for<B...>{}, pairs...);
    if (!status.ok()) [[unlikely]]
      explain_failure(entry, status);
    return status;
  }
  // --- for InFlight

  [[nodiscard]] bool is_submitted_anew() noexcept { return std::exchange(is_submitted_anew_, false); }
  [[nodiscard]] Status refusal() const noexcept { return this->unusable(); }
  using Flights::ranges_of_bound;
  template <std::size_t N, BoundPair... B>
  [[nodiscard, gnu::always_inline]] static auto ranges_of_bound(const launch::StatedSymbols<N>&,
                                                                const B&... pairs) noexcept {
    return detail::ranges_of(pairs...);
  }
  void note_submitted(std::uint32_t) noexcept {
    if constexpr (!Flights::is_queued) entries_.forget_last();  // the next round checks whether this one was delivered
  }
  static void note_refused() noexcept {}  // there is no hold()
  Status without_text(Status status) noexcept { return failed_ = Status{Errc::abandoned}, status; }  // text_ is older
  [[gnu::cold]] void fail(Status status, std::size_t slot) noexcept {
    if (!status.poisoned() && !(status = platform_.wait()).poisoned()) return;  // no work of the round may remain
    state_ = State::poisoned;
    entries_.forget_last();  // so that every round checks the state
    if (slot < slots && in_slot_[slot] != nullptr) return explain_failure(*in_slot_[slot], status);
    if (status == failed_) this->poison(text_);  // of a round that failed when it was submitted
  }
  [[gnu::cold]] Status note_failure(Status status) noexcept {
    (void)keep(status, detail::explain_status(interface(), status, 0, detail::failure_text_of(platform_)));
    return this->noted(status);
  }
  [[nodiscard]] Status wait_until_idle() noexcept {
    (void)this->wait_all();
    return refusal();
  }
  [[gnu::always_inline]] Status settle(Status status) noexcept {
    detail::notify_round_end<Policies>(observe_, RoundIndex{this->round_number()}, status, platform_);
    if (!status.ok()) [[unlikely]] {
      if (!status.poisoned()) status = first_failure(status, platform_.wait());  // no work of the round may remain
      if (!status.poisoned()) return status;
    }
    this->count_direct(status);
    return status;
  }

  // --- shapes

  /// Whether sizes alone determine the values of the symbols.
  [[nodiscard]] bool is_told(const std::vector<std::int64_t>& values, std::span<const launch::BoundSize> sizes) const {
    try {
      return launch::solve(graph_, sizes) == values;
    } catch (const Error&) {
      return false;
    }
  }
  /// Keeps the text that explain() returns for this status.
  Status keep(Status status, const Error::Text& text) noexcept {
    text_ = text;
    return failed_ = status;
  }
  [[gnu::cold]] Status refuse_stale(std::uint32_t tensor, memory::Staleness why) noexcept {
    const Status status = Status::of_tensor(Errc::stale_memory, tensor);
    return keep(status, detail::explain_status(interface(), status, static_cast<std::uint64_t>(why), nullptr));
  }
  [[gnu::cold, gnu::noinline]] Status refuse_symbols() noexcept {
    return keep(
        Status{Errc::invalid_argument},
        Error::Text("with_symbols: give each of the graph's own symbols at most one value, which is not negative"));
  }
  [[gnu::cold, gnu::noinline]] void explain_failure(const Entry& entry, Status status) noexcept;
  /// Called if the last round had another shape, which may have written over workspaces that are zeroed once. Errors:
  /// busy: submit the round anew
  [[gnu::noinline]] Status change_shape(launch::KeyView key, std::span<const launch::BoundSize> sizes,
                                        std::span<const std::int64_t> values, std::unique_ptr<Entry>*& found) noexcept;
  /// Whether rounds were delivered since `delivered` ones. If so, the round that waited for them is submitted anew.
  [[nodiscard]] bool has_delivered(std::uint64_t delivered) noexcept {
    return is_submitted_anew_ = Flights::is_queued && this->delivered() != delivered;
  }
  /// Converts exceptions of set-up to a status and its text.
  [[gnu::cold, gnu::noinline]] Status make_entry(launch::KeyView key, std::span<const launch::BoundSize> sizes,
                                                 std::span<const std::int64_t> symbols,
                                                 std::unique_ptr<Entry>*& made) noexcept;
  void check_bound(std::span<const launch::BoundSize> sizes) const;
  std::unique_ptr<Entry>& insert(launch::KeyView key, std::shared_ptr<const Resolved> shape) {
    (void)this->wait_all();  // a shape may be evicted
    require_ok(refusal(), "setting up a shape");
    std::unique_ptr<Entry> entry = make_shape_entry(std::move(shape));
    return entries_.insert(key, [&] { return std::move(entry); });
  }
  [[nodiscard]] std::unique_ptr<Entry> make_shape_entry(std::shared_ptr<const Resolved> shape);

  // --- the arena

  void rebase();
  /// Grows the arena and its parts to at least these sizes.
  void grow(const detail::ShapedArena& wanted);
  void allocate_arena(const detail::ShapedArena& parts, std::span<const std::byte> residents);
  /// @throws Error with the words of the platform, unless the status is a success
  void check(Status status, const char* what = "moving the arena") const {
    if (status.ok()) return;
    const Error::Text cause = detail::explain_status(interface(), status, 0, detail::failure_text_of(platform_));
    throw Error(status.code(), Error::Text{what, ": ", cause});
  }
  /// Whether set-up that failed in this way has lost the device.
  [[nodiscard]] static constexpr bool is_loss(Errc code) noexcept {
    return code == Errc::device_failed || code == Errc::timed_out || code == Errc::stopped;
  }
  [[gnu::cold]] Status note_loss(Errc code, const char* text) noexcept {
    return this->noted(keep(Status{code}.poisoning(), Error::Text(text)));
  }
  /// Runs a step of set-up. If that loses the device, the session is poisoned. @throws Error as the step does
  template <class Step>
  void set_up(const Step& step) {
    try {
      step();
    } catch (const Error& error) {
      if (is_loss(error.code()) && refusal().ok()) (void)note_loss(error.code(), error.what());
      throw;
    }
  }
  Status find_resident(TensorKey key, DevicePtr<std::byte>& at) noexcept;
  void note_uploads() noexcept {
    entries_.for_each([&](std::unique_ptr<Entry>& entry) { entry->instances().unblock(uploaded_); });
  }

  // The steps of close().
  static void drop_open_round() noexcept {}
  Status wait_for_device() noexcept { return platform_.wait(); }
  Status close_instances() noexcept {
    Status status;
    entries_.for_each([&](std::unique_ptr<Entry>& entry) { status = first_failure(status, entry->close()); });
    entries_.clear();
    return status;
  }
  Status release_arena() noexcept { return base_ ? platform_.release(std::exchange(base_, {})) : Status{}; }
  static void note_released(DevicePtr<std::byte>, Bytes) noexcept {}
  static void note_closed() noexcept {}

  Options options_;
  Shapes shapes_;
  const TaskGraph& graph_;
  detail::OtherMemory<P> others_;       ///< of tensors that all shapes share
  std::vector<std::uint64_t> offsets_;  ///< by tensor: the offset of a resident in the arena
  std::uint64_t residents_end_ = 0;
  bool resets_workspace_ = false;  ///< whether any workspace must be zeroed when its shape returns
  DevicePtr<std::byte> base_;
  detail::ShapedArena parts_;
  std::vector<launch::BoundSize> sizes_;   ///< by port: the sizes of a round with dynamic bindings
  std::vector<std::uint64_t> size_words_;  ///< the key of that round
  Entries entries_;
  bool is_submitted_anew_ = false;    ///< whether the round that is being refused will be submitted again
  const Entry* in_slot_[slots] = {};  ///< the shape of the last round of each slot of the queue
  Status failed_{Errc::abandoned};    ///< the last failure, which text_ describes
  Error::Text text_;
};

/// Opens a session over a symbolic graph. @throws Error as ShapedSession's constructor does
template <Platform P, class Policies = DefaultPolicies, class Capacity = launch::Lru<64>, std::size_t Depth = 1>
[[nodiscard]] ShapedSession<CheckedPlatform<P, Policies>, Policies, Capacity, Depth> open_shaped(
    TaskGraph graph, const typename CheckedPlatform<P, Policies>::Options& options = {}) {
  return ShapedSession<CheckedPlatform<P, Policies>, Policies, Capacity, Depth>(std::move(graph), options);
}
/// The same, with shapes that other sessions also use.
template <Platform P, class Policies, class Capacity, std::size_t Depth>
[[nodiscard]] ShapedSession<P, Policies, Capacity, Depth> open_shaped(SharedShapes<P, Policies, Capacity, Depth> shapes,
                                                                      const typename P::Options& options = {}) {
  return ShapedSession<P, Policies, Capacity, Depth>(std::move(shapes), options);
}

}  // namespace rondo

#include <rondo/session/shaped_session_impl.hpp>  // IWYU pragma: export
