// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/args/args_table.hpp>
#include <rondo/error.hpp>
#include <rondo/graph/records.hpp>
#include <rondo/platform/concept.hpp>
#include <rondo/tensor/handle.hpp>
#include <rondo/types.hpp>
#include <rondo/update/concept.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

/// Sessions that are opened again after a failure.
namespace rondo {
namespace detail {

/// The state of a session between two rounds, except its graph and the contents of its residents.
template <class Session>
class SessionState {
  static constexpr bool has_shapes = requires { typename Session::Shapes; };
  static constexpr bool has_scalars = !has_shapes && Session::highest_update == UpdateLevel::init;

 public:
  /// Copies the state of a session. Allocates only the first time.
  void take(Session& session) {
    values_ = session.shared_.values;
    uploads_ = session.uploaded_;
    if constexpr (has_scalars) read_scalars(session, scalars_);
  }
  /// Restores the state in a session over the same graph whose residents have been restored.
  void give(Session& session) const {
    session.shared_.values = values_;
    session.uploaded_ = uploads_;
    if constexpr (!has_shapes) session.unblock();
    if constexpr (has_scalars) {
      std::vector<Scalar> initial;
      read_scalars(session, initial);
      for (std::size_t i = 0; i < scalars_.size(); ++i) {
        const Scalar& s = scalars_[i];
        if (s.bits != initial[i].bits) (void)session.set_scalar_bits(TaskId{s.task}, s.n, s.bits);
      }
    }
  }

  static Status wait_until_idle(Session& session) noexcept { return session.wait_until_idle(); }
  /// The host memory that the residents take.
  [[nodiscard]] static std::uint64_t bytes(const graph::GraphView& view) noexcept {
    std::uint64_t sum = 0;
    for (const graph::TensorRecord& tensor : view.tensors) sum += step(tensor);
    return sum;
  }
  /// Copies all residents from the device of an idle session to `host`, or back. `waits`: whether to wait until the
  /// copies are done.
  static Status copy(Session& session, std::byte* host, bool to_device, bool waits) noexcept {
    // Little memory may be copied through staging, which a refused call discards. Its copies come first, and are waited
    // for; those of more memory go directly to where they belong.
    constexpr std::uint64_t least_direct = 4096;
    const graph::GraphView view = session.interface();
    Status status;
    const auto is_small = [&](std::uint32_t t) { return view.tensors[t].bytes < least_direct; };
    std::uint32_t last_small = 0;
    for (std::uint32_t t = 0; t < view.tensors.size(); ++t) {
      if (step(view.tensors[t]) != 0 && is_small(t)) last_small = t;
    }
    for (const bool copies_small : {true, false}) {
      std::byte* at = host;
      for (std::uint32_t t = 0; t < view.tensors.size() && status.ok(); ++t) {
        const graph::TensorRecord& tensor = view.tensors[t];
        if (tensor.direction == Direction::resident && is_small(t) == copies_small) {
          const bool waits_now = waits || (copies_small && t == last_small);
          status = session.move_resident({TensorId{t}, view.tag}, at, Bytes{tensor.bytes}, to_device, waits_now);
        }
        at += step(tensor);
      }
    }
    return status;
  }

 private:
  struct Scalar {
    std::uint32_t task = 0;
    std::uint32_t n = 0;
    ArgWord bits{};
  };

  [[nodiscard]] static std::uint64_t step(const graph::TensorRecord& tensor) noexcept {
    return tensor.direction == Direction::resident ? align_up(tensor.bytes, 64) : 0;
  }
  /// Tasks may be in another order on another device, so the scalars are sorted by task.
  static void read_scalars(const Session& session, std::vector<Scalar>& to) {
    to.clear();
    const graph::GraphView view = session.interface();
    const args::ArgsTable& table = session.args();
    for (std::size_t position = 0; position < view.tasks.size(); ++position) {
      std::uint32_t n = 0;
      const auto begin = static_cast<std::size_t>(table.block(position, 0) - table.words()) * sizeof(ArgWord);
      for (const graph::ArgRecord& arg : view.args_of(view.tasks[position])) {
        if (arg.kind != graph::ArgRecord::Kind::scalar) continue;
        Scalar& scalar = to.emplace_back(Scalar{view.tasks[position].added_as, n++});
        std::memcpy(&scalar.bits, table.image().data() + begin + arg.offset, arg.width);
      }
    }
    std::ranges::sort(to, {}, [](const Scalar& s) { return std::pair{s.task, s.n}; });
  }

  std::vector<std::uint8_t> uploads_;
  decltype(Session::shared_.values) values_;
  std::vector<Scalar> scalars_;
};

}  // namespace detail

/// A session that can be opened again, on the same or another device, with its residents as they were at the last
/// checkpoint. `Open` is a callable that opens it with given options.
///
///     using P = A2A3Onboard;
///     const auto opener = [&](const P::Options& options) { return rondo::open<P>(graph, options); };
///     rondo::Recoverable session(opener, P::Options{});
///     Status status;
///     for (std::uint64_t round = 0; status.ok() && round < batches.size();) {
///       status = session->run_round(bind(x, batches[round]), bind(y, results[round]));
///       if (status.ok() && ++round % 100 == 0) status = session.checkpoint();
///       if (!status.poisoned()) continue;
///       round = session.recover();  // the rounds after the checkpoint run again
///       status = {};
///     }
///
/// A checkpoint holds the residents, the session's values (see launch/round_values.hpp), what set_scalar() changed, and
/// the number of rounds. It does not hold inputs: those that are held are released, as by move_arena(). Prebindings,
/// DynamicBindings, tickets, pairs of residents and references to the session end with the session that made them.
///
/// Lifetime: immovable. Everything that `Open` and the options refer to must outlive it. Thread safety: that of the
/// session. Errors: opening throws Error; checkpoints return Status. Cost on the hot path: none; the host memory of two
/// checkpoints.
template <class Open, class Options>
class Recoverable {
 public:
  /// The session that is recovered.
  using Session = std::invoke_result_t<Open&, const Options&>;

  /// Opens the session. @throws Error as `open` does; out_of_memory
  explicit Recoverable(Open open, Options options = {})
      : open_{std::move(open)}, options_{std::move(options)}, session_{new Session(open_(options_))} {
    for (Checkpoint& c : checkpoints_) {
      c = {host_memory(*session_), State{}, 0};
      c.state.take(*session_);
    }
  }
  Recoverable(const Recoverable&) = delete;
  Recoverable& operator=(const Recoverable&) = delete;

  /// The session; valid until the next recover().
  [[nodiscard]] Session* operator->() noexcept { return session_.get(); }
  [[nodiscard]] Session& operator*() noexcept { return *session_; }
  /// The number of rounds that succeeded, not counting those that a recovery discarded.
  [[nodiscard]] std::uint64_t rounds() const noexcept { return first_round_ + session_->rounds(); }

  /// Waits for the rounds in flight, and copies the state of the session to the host. On NPUs and GPUs, the copies of a
  /// session with one round at a time, on a stream of its own, run while the host continues: such a checkpoint is
  /// complete when a later round has succeeded, and until then a recovery uses the previous one. The first checkpoint
  /// waits. Errors: as download(); earlier checkpoints remain.
  Status checkpoint() noexcept {
    // A completion that runs now may make a checkpoint, too.
    if (const Status status = State::wait_until_idle(*session_); !status) return status;
    complete_pending();
    Checkpoint& next = checkpoints_[1 - last_];
    const bool waits = !may_overlap() || !has_any_;
    is_pending_ = false;
    if (const Status status = State::copy(*session_, next.memory.get(), false, waits); !status) return status;
    next.state.take(*session_);
    next.rounds = rounds();
    has_any_ = is_pending_ = true;
    if (waits) complete();
    return {};
  }

  /// Closes the session, usually a poisoned one, and opens it again with the same options. Returns the number of rounds
  /// at the last complete checkpoint: the next round is the one with that number, counted from 0. Without a checkpoint
  /// this is 0, and residents need an upload. If it throws, the old session is closed, and recover() may be called
  /// again, with other options. @throws Error as `open` does; wrong_tensor if that opens another graph; and whatever
  /// the upload of the residents returns
  std::uint64_t recover() { return recover(Options(options_)); }
  /// The same with other options, such as another device, which later recoveries use as well.
  std::uint64_t recover(Options options) {
    if (!is_closed_) {
      complete_pending();
      const std::byte* const memory = checkpoints_[last_].memory.get();
      if (has_any_) kept_.assign(memory, memory + State::bytes(session_->interface()));
      for (Checkpoint& c : checkpoints_) c.memory.reset();
      (void)session_->close();  // what a failed device does not release is lost with it
      is_closed_ = true;
    }
    const Checkpoint& kept = checkpoints_[last_];
    std::unique_ptr<Session> next{new Session(open_(options))};
    require_same_graph(*next);
    HostMemory memory[2] = {host_memory(*next), host_memory(*next)};
    if (has_any_) {
      require_ok(State::copy(*next, kept_.data(), true, true), "restoring the residents");
      kept.state.give(*next);
    }
    std::copy(kept_.begin(), kept_.end(), memory[last_].get());
    session_ = std::move(next);
    options_ = std::move(options);
    for (std::size_t c = 0; c < 2; ++c) checkpoints_[c].memory = std::move(memory[c]);
    kept_ = {};
    is_closed_ = is_pending_ = false;
    return first_round_ = kept.rounds;
  }

 private:
  using Platform = typename Session::Platform;
  using State = detail::SessionState<Session>;
  struct Release {
    Platform* platform = nullptr;
    void operator()(std::byte* memory) const noexcept {
      if constexpr (HasPinnedMemory<Platform>) {
        platform->release_pinned(memory);
      } else {
        delete[] memory;
      }
    }
  };
  using HostMemory = std::unique_ptr<std::byte[], Release>;
  struct Checkpoint {
    HostMemory memory;
    State state;
    std::uint64_t rounds = 0;
  };

  [[nodiscard]] static HostMemory host_memory(Session& session) {
    const std::uint64_t size = State::bytes(session.interface());
    if (size == 0) return {};
    Platform& platform = session.platform();
    if constexpr (HasPinnedMemory<Platform>) {
      return {static_cast<std::byte*>(platform.allocate_pinned(Bytes{size})), Release{&platform}};
    } else {
      return {new std::byte[size], Release{&platform}};
    }
  }
  /// Whether copies may be under way when checkpoint() returns. Rounds in flight, and rounds on a stream of the
  /// caller's, could overtake them.
  [[nodiscard]] bool may_overlap() const noexcept {
    if constexpr (requires { requires Session::is_queued; } || !HasPinnedMemory<Platform> ||
                  !HasCallersStream<Platform>) {
      return false;
    } else if constexpr (requires { options_.stream == nullptr; }) {
      return options_.stream == nullptr;
    }
    return true;
  }
  /// A round that succeeded has waited for the copies that were requested before it.
  void complete_pending() noexcept {
    if (is_pending_ && rounds() > checkpoints_[1 - last_].rounds) complete();
  }
  void complete() noexcept {
    last_ = 1 - last_;
    is_pending_ = false;
  }
  void require_same_graph(Session& next) const {
    const graph::GraphView now = next.interface();
    const graph::GraphView before = session_->interface();
    const auto is_same = [](const graph::TensorRecord& a, const graph::TensorRecord& b) {
      return a.direction == b.direction && a.bytes == b.bytes;
    };
    if (now.tag == before.tag && now.args.size() == before.args.size() &&
        std::equal(now.tensors.begin(), now.tensors.end(), before.tensors.begin(), before.tensors.end(), is_same)) {
      return;
    }
    throw Error(Errc::wrong_tensor, Error::Text("recover: the callable opened another graph than before; its "
                                                "tensors are not those of the checkpoint"));
  }

  Open open_;
  Options options_;
  std::unique_ptr<Session> session_;
  Checkpoint checkpoints_[2];    ///< the last complete one, and the one being made
  std::vector<std::byte> kept_;  ///< the last complete one, while no session is open
  std::size_t last_ = 0;
  std::uint64_t first_round_ = 0;  ///< the number of rounds when the session was opened
  bool has_any_ = false;           ///< whether there is a complete checkpoint
  bool is_pending_ = false;        ///< whether the other checkpoint may be complete soon
  bool is_closed_ = false;
};

}  // namespace rondo
