// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/binding/bindings.hpp>
#include <rondo/binding/dynamic_bindings.hpp>
#include <rondo/binding/strided.hpp>
#include <rondo/binding/strided_host.hpp>
#include <rondo/error.hpp>
#include <rondo/graph/records.hpp>
#include <rondo/memory/device_array.hpp>
#include <rondo/platform/channel.hpp>
#include <rondo/platform/check_platform.hpp>
#include <rondo/platform/concept.hpp>
#include <rondo/session/log.hpp>
#include <rondo/session/memory_watch.hpp>
#include <rondo/session/observer.hpp>
#include <rondo/session/other_memory.hpp>
#include <rondo/session/policies.hpp>
#include <rondo/tensor/pair.hpp>
#include <rondo/types.hpp>

#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace rondo::memory {
struct Report;
}
namespace rondo {
struct LoopReport;
}

namespace rondo::detail {

template <class Session>
class SessionState;

/// The common part of all sessions: an open platform with its observer and values, residents, and a state.
///
/// `Derived` has `run_round(…)`; `interface()`; `explain(Status)`; `check_bytes(tensor, size)`; `rounds()`, the number
/// of rounds that succeeded; `round_number()`, the number of the next round; `next_slot()`, its slot; `in_flight()`;
/// `wait_until_idle()`, which waits for the rounds in flight and returns ok if the session is usable;
/// `note_failure(Status)`, which returns the status; `without_text(Status)`, which returns the status, and keeps an
/// earlier text from describing it; `refuse_stale(tensor, Staleness)`, which returns the status of a round that is
/// refused for it; `scatter_when_delivered(slot, strided)`; `others_`, its tensors outside the arena;
/// `find_resident(key, address)`, `note_uploads()` after a change of `uploaded_`; and the steps of close():
/// `finish_all()` waits for the rounds in flight, and returns a failure of theirs that nothing else returns,
/// `drop_open_round()` ends a round taken step by step, `wait_for_device()`, `close_queue()`, `close_instances()`,
/// `release_arena()`, `note_released(block, size)` and `note_closed()`.
template <class Derived, rondo::Platform P, class Policies>
class SessionBase {
  static_assert(check_platform<P>());
  static_assert(check_policies<Policies>());
  static_assert(std::is_same_v<P, CheckedPlatform<P, Policies>>,
                "rondo: Policies::Check and Policies::Time choose the platform in open(graph); open the session with "
                "it, or name the platform that they choose");

 public:
  using Platform = P;
  /// The options of a session: the platform's, and those of the runtime if it has any.
  using Options = typename Policies::Runtime::template Options<P>;
  /// The highest update level of the session's update strategy.
  static constexpr UpdateLevel highest_update = Policies::Update::highest;

  SessionBase(const SessionBase&) = delete;
  SessionBase& operator=(const SessionBase&) = delete;

  /// Waits for the rounds in flight, copies host memory into a resident tensor, and waits for the copy. `host`: as in
  /// bind(). Errors: wrong_tensor, wrong_size, null_memory; busy, closed, poisoned.
  template <Element T, class Host>
  Status upload(Resident<T> tensor, const Host& host) noexcept {
    const auto pair = bind(Input<T>{tensor.key}, host);
    const Bytes size{bytes_or_most(pair.size(), sizeof(T))};
    return move_resident(tensor.key, const_cast<T*>(pair.data()), size, true);
  }
  /// Like upload(), but copies from the device to the host.
  template <Element T, class Host>
  Status download(Resident<T> tensor, Host&& host) noexcept {
    const auto pair = bind(Output<T>{tensor.key}, std::forward<Host>(host));
    const Bytes size{bytes_or_most(pair.size(), sizeof(T))};
    return move_resident(tensor.key, pair.data(), size, false);
  }

  // --- device memory for rounds to bind

  /// Allocates device memory for an input, output or inout, which rounds bind without a copy; see DeviceArray. `kind`:
  /// the kind of memory, as in `session.allocate<MemoryKind::mapped_host>(x)`; without it, the one that the graph asks
  /// for, see TaskGraph::in_memory. @throws Error wrong_tensor; wrong_size if the size depends on symbols; closed,
  /// poisoned; and as the platform does
  template <MemoryKind... kind, Element T, Direction D>
    requires(is_model_io(D))
  [[nodiscard]] DeviceArray<T> allocate(TensorHandle<T, D> tensor) {
    return allocate_array<T, kind...>(tensor.key, nullptr);
  }
  /// The same for a tensor whose size depends on symbols, in the shape that it will have. @throws Error wrong_size for
  /// another rank or another constant extent; overflow; and as above
  template <MemoryKind... kind, Element T, Direction D>
    requires(is_model_io(D))
  [[nodiscard]] DeviceArray<T> allocate(TensorHandle<T, D> tensor, const Shape& shape) {
    return allocate_array<T, kind...>(tensor.key, &shape);
  }
  /// Waits for the rounds in flight, copies host memory into an array that this session allocated, and waits for the
  /// copy. `host`: as in bind(). Errors: wrong_size, null_memory; busy, closed, poisoned.
  template <Element T, class Host>
  Status upload(DeviceArray<T>& array, const Host& host) noexcept {
    const auto pair = bind(Input<T>{}, host);
    (void)derived().finish_all();  // a completion may release the array
    return move_array(array.span().data().template as<std::byte>(), array.host().data(),
                      Bytes{array.size() * sizeof(T)}, const_cast<T*>(pair.data()),
                      Bytes{bytes_or_most(pair.size(), sizeof(T))}, true);
  }
  /// Like upload(), but copies from the device to the host.
  template <Element T, class Host>
  Status download(const DeviceArray<T>& array, Host&& host) noexcept {
    const auto pair = bind(Output<T>{}, std::forward<Host>(host));
    (void)derived().finish_all();
    return move_array(DevicePtr<std::byte>{array.span().data().address()}, const_cast<T*>(array.host().data()),
                      Bytes{array.size() * sizeof(T)}, pair.data(), Bytes{bytes_or_most(pair.size(), sizeof(T))},
                      false);
  }

  /// Ends a round with `stopped`, which poisons the session: on simulated chips and the host the current one, or else
  /// the next; on NPUs and GPUs the first one that reaches a loop about which the host decides, and no other. It is the
  /// only function that any thread may call at any time, even during a round.
  void request_stop() noexcept
    requires HasStopping<P>
  {
    platform_.request_stop();
  }

  /// Waits for the rounds in flight, also those that their completions submit, and releases everything; later rounds
  /// return `closed`. Also works on a poisoned session: the round that failed has already returned its failure, so
  /// close() only returns a failure to release. Errors: also timed_out for rounds on a caller's stream that do not end;
  /// busy, and nothing is released, if something of the session's is on a caller's stream that is being captured, so
  /// that it cannot be waited for. Further calls have no effect.
  Status close() noexcept {
    if (state_ == State::closed) return {};
    if constexpr (HasCallersStream<P>) {
      if (const Status status = platform_.callers_stream().may_close(); !status) return status;
    }
    return close_anyway();
  }

  // --- state

  /// Whether a failure has left the session in an unknown state, so that only close() works.
  [[nodiscard]] bool poisoned() const noexcept { return state_ == State::poisoned; }
  /// The loops of the graph, and whether the device or the host decides about each. Include session/loop_report.hpp.
  /// Cost: that of set-up; allocates. @throws std::bad_alloc
  [[nodiscard]] std::vector<LoopReport> explain_loops() const;
  /// The platform, for its own functions.
  [[nodiscard]] P& platform() noexcept { return platform_; }
  /// The observer that Policies::Observe names, default-constructed.
  [[nodiscard]] typename Policies::Observe& observer() noexcept { return observe_; }
  /// The values that the host sets, such as scalars; see launch/round_values.hpp.
  [[nodiscard]] auto& values() noexcept
    requires(Policies::Values::any)
  {
    return shared_.values;
  }
  /// The time of the tasks of the last round in nanoseconds, by the device's clock or its prediction; 0 before the
  /// first round. See DeviceTime.
  [[nodiscard]] double last_round_ns() const noexcept
    requires HasRoundTime<P>
  {
    return platform_.last_round_ns();
  }

 protected:
  enum class State : std::uint8_t { open, in_round, poisoned, closed };

  SessionBase(const Options& options, const graph::GraphView& view)
      : platform_{options}, shared_{view}, uploaded_(view.tensors.size()) {}
  ~SessionBase() = default;

  [[gnu::noinline]] Status close_anyway() noexcept {
    const bool is_told = poisoned();  // the round that failed has returned its failure
    const Status finished = derived().finish_all();
    if (state_ == State::closed) return finished;  // by a completion
    log_closing<Policies>(platform_, derived().rounds());
    derived().drop_open_round();
    Status status = derived().wait_for_device();
    const auto keep = [&status](Status next) { status = first_failure(status, next); };
    const Status queue_closed = derived().close_queue();  // no work of its rounds may run while programs are unloaded
    keep(derived().close_instances());
    if (state_ == State::poisoned) status = is_told ? Status{} : finished;
    if (!is_told || queue_closed.code() != Errc::device_failed) keep(queue_closed);
    arena_watch_.forget();
    if (blocks_ != nullptr) keep(blocks_->close());
    keep(derived().release_arena());
    if constexpr (HasClose<P>) keep(platform_.close());
    state_ = State::closed;
    derived().note_closed();
    return status;
  }
  /// The body of the destructors. Not inlined, because programs have a destructor call at the end of each scope.
  [[gnu::noinline]] void close_and_report() noexcept {
    if (state_ == State::closed) return;
    if (const Status status = close_anyway(); !status && status.code() != Errc::poisoned) {
      Policies::report_unclosed(status, derived().explain(status).c_str());
    }
  }
  template <class>
  friend class rondo::DynamicBindings;
  [[nodiscard]] Derived& derived() noexcept { return static_cast<Derived&>(*this); }
  [[nodiscard]] RoundObserver<typename Policies::Observe> round_observer() noexcept {
    return {observe_, derived().round_number()};
  }
  [[nodiscard]] platform::Direct<P> direct() noexcept { return {platform_}; }
  [[nodiscard]] bool may_submit() const noexcept { return state_ == State::open; }

  template <BoundPair... B>
  static consteval void check_strategy() {
    static_assert(((level_of<B> <= highest_update || !DeviceBoundPair<B>) && ...),
                  "rondo: the session's update strategy never changes the address of an input or output, so no device "
                  "memory can be bound; choose update::ModelIo or update::Auto");
    static_assert(((level_of<B> <= highest_update || DeviceBoundPair<B>) && ...),
                  "rondo: the session's update strategy never refreshes host inputs; choose update::HostInput or "
                  "update::Auto");
  }
  template <Element T, MemoryKind... kind>
  [[nodiscard]] DeviceArray<T> allocate_array(TensorKey tensor, const Shape* shape) {
    static_assert(((memory_kinds_of<P>().has(kind) && kind < MemoryKind::pinned_host) && ...),
                  "rondo: the session's platform has no device memory of this kind; choose one of its memory_kinds");
    const graph::GraphView graph = derived().interface();
    const Bytes size = memory::detail::bytes_of(graph, tensor, shape);
    MemoryKind wanted = graph.tensors[index(tensor.tensor())].memory;
    ((wanted = kind), ...);
    return allocate_block<T>(size, wanted);
  }
  /// @throws Error closed, poisoned; and as the platform does
  template <Element T>
  [[nodiscard]] DeviceArray<T> allocate_block(Bytes size, [[maybe_unused]] MemoryKind wanted = MemoryKind::device) {
    require_ok(unusable(), "allocate");
    if (blocks_ == nullptr) {
      blocks_ = std::make_shared<memory::detail::Blocks>(
          this, [](void* session, DevicePtr<std::byte> block, Bytes bytes) noexcept {
            auto& self = *static_cast<SessionBase*>(session);
            (void)self.derived().finish_all();
            self.derived().note_released(block, bytes);
            return self.platform_.release(block);
          });
    }
    blocks_->reserve();
    const Bytes whole{arch::block_bytes<typename P::Arch>(size.value)};
    constexpr Bytes alignment{P::Arch::tensor_alignment};
    DevicePtr<std::byte> block;
    void* host = nullptr;
    if constexpr (HasMemoryKinds<P>) {
      block = wanted == MemoryKind::device ? platform_.allocate(whole, alignment)
                                           : platform_.allocate(wanted, whole, alignment);
      if (wanted == MemoryKind::mapped_host) host = platform_.host_address(block);
    } else {
      block = platform_.allocate(whole, alignment);
    }
    blocks_->add({block, wanted, whole});
    return {blocks_, block.template as<T>(), size.value / sizeof(T), static_cast<T*>(host)};
  }
  /// Runs a round of pairs of which some have host memory with strides, with packed memory in its place.
  template <class... B>
  Status run_strided(B&... bound) noexcept {
    Status status;
    const auto check = [&]<class Pair>(const Pair& pair) {
      if constexpr (is_strided<Pair>) {
        if (status.ok()) status = check_strided(pair.tensor.key.tensor(), pair.host.first(), {}, pair.host.layout());
      }
    };
    (check(bound), ...);
    if (!status) return status;
    return detail::run_packed([this](auto&&... packed) noexcept { return derived().run_round(packed...); }, bound...);
  }
  Status check_strided(TensorId tensor, const void* host, DevicePtr<std::byte> device,
                       const StridedLayout& layout) noexcept {
    const memory::Staleness found = arena_watch_.check(platform_, host, device, layout);
    if (found == memory::Staleness::none) return {};
    return derived().refuse_stale(index(tensor), found);
  }
  /// Packs memory with strides for a round, except for ports that are held. `held`: by port, or empty. Errors:
  /// unbound_tensor, stale_memory; and those of the platform
  Status pack(BindingList& bindings, std::span<const char> held) noexcept {
    if (const std::shared_ptr<StridedList> strided = bindings.strided(); strided != nullptr) {
      for (const StridedMemory& m : strided->list) {
        if (!m.is_bound || m.is_held(held)) continue;
        const TensorId tensor = bindings.bound()[m.port].key.tensor();
        if (const Status status = check_strided(tensor, m.host, m.device, m.layout); !status) return status;
      }
    }
    return bindings.settle(held);
  }
  /// Runs a round of DynamicBindings with memory that has strides, or with a tensor that is not bound: `run()` runs it
  /// with packed memory. `held`: as in pack().
  template <class Channel, class Run>
  [[gnu::cold, gnu::noinline]] Status run_packed([[maybe_unused]] std::size_t slot, BindingList& bindings,
                                                 std::span<const char> held, const Run& run) noexcept {
    if (const Status status = pack(bindings, held); !status) return status;
    const Status status = run();
    if (!status) return status;
    if constexpr (Channel::is_synchronous) {
      bindings.strided()->scatter();
    } else {
      derived().scatter_when_delivered(slot, bindings.strided());
    }
    return status;
  }
  /// From now on only close() works. `text` describes the failure.
  void poison(const Error::Text& text) noexcept {
    state_ = State::poisoned;
    if (!cause_.empty()) return;
    cause_ = text;
    log_poisoned<Policies>(P::name, derived().rounds(), cause_);
  }
  /// Adds the failure that poisoned the session if the status only says that it is poisoned.
  [[nodiscard]] Error::Text with_cause(Error::Text text, Status status) const noexcept {
    if (status.code() == Errc::poisoned && !cause_.empty()) text.append(Error::Text{". The failure: ", cause_});
    return text;
  }
  /// The reason why the session can no longer be used; ok if it can be.
  [[nodiscard]] Status unusable() const noexcept {
    if (state_ == State::closed) return Status{Errc::closed};
    return state_ == State::poisoned ? Status{Errc::poisoned}.poisoning() : Status{};
  }
  /// Copies a resident to the device, or back. `waits`: whether to wait until the copy is done.
  Status move_resident(TensorKey key, void* host, Bytes size, bool to_device, bool waits = true) noexcept {
    if (const Status status = derived().wait_until_idle(); !status) return status;
    const graph::GraphView graph = derived().interface();
    const std::uint32_t t = index(key.tensor());
    if (key.graph() != graph.tag || t >= graph.tensors.size() || graph.tensors[t].direction != Direction::resident) {
      return derived().without_text(Status{Errc::wrong_tensor});
    }
    if (const Status status = derived().check_bytes(key.tensor(), size); !status) return status;
    if (host == nullptr && size.value != 0) return Status::of_tensor(Errc::null_memory, t);
    DevicePtr<std::byte> at;
    if (const Status status = derived().find_resident(key, at); !status) return status;
    Status status;
    if (size.value != 0) status = copy_between(at, derived().others_.host_address(t), host, size, to_device, waits);
    if (status.ok() && to_device && std::exchange(uploaded_[t], 1) == 0) derived().note_uploads();
    return status;
  }
  /// The residents in the arena have lost their contents.
  void forget_uploads_in_arena() noexcept {
    for (std::size_t t = 0; t < uploaded_.size(); ++t) {
      if (derived().others_.address(t) == 0) uploaded_[t] = 0;
    }
  }
  /// Copies between rounds. `mapped`: the address at which the host accesses the device's memory, or null.
  Status copy_between(DevicePtr<std::byte> device, void* mapped, void* host, Bytes size, bool to_device,
                      bool waits = true) noexcept {
    to_device ? round_observer().copies_in(size) : round_observer().copies_out(size);
    Status status;
    if (mapped == nullptr) {
      status = to_device ? platform_.copy_in(device, host, size) : platform_.copy_out(host, device, size);
    }
    if (waits || mapped != nullptr) status = first_failure(status, derived().wait_for_device());
    if (mapped != nullptr && status.ok()) std::memcpy(to_device ? mapped : host, to_device ? host : mapped, size.value);
    return status.ok() ? status : derived().note_failure(status);
  }
  Status move_array(DevicePtr<std::byte> array, void* mapped, Bytes bytes, void* host, Bytes size,
                    bool to_device) noexcept {
    if (state_ == State::in_round) return Status{Errc::busy};
    if (const Status status = unusable(); !status) return status;
    if (size != bytes) return derived().without_text(Status{array ? Errc::wrong_size : Errc::null_memory});
    if (size.value == 0) return {};
    if (host == nullptr) return derived().without_text(Status{Errc::null_memory});
    return copy_between(array, mapped, host, size, to_device);
  }

  [[no_unique_address]] ArenaWatch<checks_memory<P, Policies>> arena_watch_;
  [[no_unique_address]] P platform_;
  SharedState<typename Policies::Values> shared_;
  [[no_unique_address]] typename Policies::Observe observe_;
  std::shared_ptr<memory::detail::Blocks> blocks_;  ///< of the arrays; null before the first
  std::vector<std::uint8_t> uploaded_;              ///< by tensor: whether the resident has contents
  State state_ = State::open;
  Error::Text cause_;  ///< the failure that poisoned the session
};

}  // namespace rondo::detail
