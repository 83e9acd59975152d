// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/graph/collective.hpp>
#include <rondo/mpi/detail/types.hpp>
#include <rondo/mpi/group.hpp>
#include <rondo/platform/pinned.hpp>
#include <rondo/tensor/data_type.hpp>
#include <rondo/tensor/handle.hpp>

#include <climits>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

/// Collectives on session tensors between rounds.
namespace rondo::mpi {

/// The operation applied to the ranks' values of an element.
using Op = Reduction;
using rondo::to_string;

/// Elements that MPI can calculate with: float, double and the integers, but not types that MPI knows only as raw bits.
template <class T>
concept Reducible =
    std::same_as<T, float> || std::same_as<T, double> || (std::integral<T> && Element<T> && !std::same_as<T, bool>);

namespace detail {

/// A number that differs between types on all ranks: kind and size.
template <Reducible T>
inline constexpr std::uint64_t type_number = sizeof(T) + (std::is_floating_point_v<T> ? 256U
                                                          : std::is_signed_v<T>       ? 512U
                                                                                      : 0U);

/// Checks that all ranks use the same tensors. `name(i)` names the i-th tensor of this rank. Collective; the result is
/// the same on every rank. @throws Error invalid_argument, limit_exceeded; errors of Group::gather
template <Reducible T, class Name>
void check_same(const Group& group, Op op, std::span<const std::uint64_t> sizes, const Name& name) {
  const std::uint64_t own[] = {type_number<T>, static_cast<std::uint64_t>(op), sizes.size()};
  const std::vector<std::uint64_t> all = group.gather(own);
  const auto ranks = static_cast<std::size_t>(group.size());
  const auto fail = [](std::initializer_list<rondo::detail::TextPart> text) {
    Error::Text whole{"all_reduce: "};
    whole.append(text);
    throw Error(Errc::invalid_argument, whole);
  };
  for (std::size_t r = 1; r < ranks; ++r) {
    const std::uint64_t* const first = all.data();
    const std::uint64_t* const other = first + 3 * r;
    if (first[0] != other[0]) fail({"ranks 0 and ", r, " have different types of elements"});
    if (first[1] != other[1]) {
      fail({"rank 0 asks for ", to_string(static_cast<Op>(first[1])), ", rank ", r, " for ",
            to_string(static_cast<Op>(other[1]))});
    }
    if (first[2] != other[2]) fail({"rank 0 reduces ", first[2], " tensors, rank ", r, " ", other[2]});
  }
  const std::vector<std::uint64_t> counts = group.gather(sizes);
  for (std::size_t r = 1; r < ranks; ++r) {
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if (counts[i] == counts[r * sizes.size() + i]) continue;
      fail({"'", name(i), "' has ", counts[i], " elements on rank 0 and ", counts[r * sizes.size() + i], " on rank ", r,
            "; give all ranks the same sizes"});
    }
  }
  std::uint64_t total = 0;
  for (const std::uint64_t size : sizes) total += size;
  if (total > INT_MAX) {
    throw Error(Errc::limit_exceeded,
                Error::Text{"all_reduce: ", total, " elements; MPI counts to 2^31 - 1, so reduce the tensors apart"});
  }
  if (op == Op::mean && !std::is_floating_point_v<T>) fail({"only floating-point types have a mean; choose the sum"});
}

/// Host memory for copies of a session's tensors: pinned if the platform has pinned memory.
template <class T, class Platform>
struct MirrorOf {
  struct type : std::vector<T> {
    type(Platform&, std::size_t size) : std::vector<T>(size) {}
  };
};
template <class T, HasPinnedMemory Platform>
struct MirrorOf<T, Platform> {
  using type = PinnedArray<T, Platform>;
};

}  // namespace detail

/// Reduces resident tensors over all ranks between rounds: afterwards each rank's tensors hold the sum, mean, … over
/// all.
///
///     mpi::AllReduce gradients(session, group, mpi::Op::mean, dw1, db1);       // once, on all ranks
///     …
///     (void)gradients.start();                                                 // the reduction begins
///     auto round = session.begin_round(bind(x, hx), bind(loss, hl));           // the next round's copy-in meanwhile
///     (void)gradients.finish();                                                // the results are on the device
///     Status status = std::move(round).launch().finish().status();
///
/// The tensors are sent in one message through host memory: start() downloads them, finish() uploads them. Between the
/// two calls, the host is free, and the session may copy in the next round's inputs, as above, or run rounds that do
/// not use these tensors; writes to them in these rounds are lost. On a session with rounds in flight, both calls wait
/// for those rounds.
///
/// Lifetime: immovable; session and group outlive it. Thread safety: that of the session. All collectives of a group
/// must be in the same order on all ranks.
/// Errors: the constructor states its own. start(): errors of download; busy if already started; device_failed: an
/// error of MPI. finish(): invalid_argument if it was not started; timed_out if not all ranks started it within the
/// group's patience; device_failed: an error of MPI; errors of upload. After a failure of MPI, every later call returns
/// the same error. If a rank cannot start because its own round failed, the others time out; end them with
/// Environment::abort. Cost: two copies of the tensors, and the time of MPI.
template <class Session, Reducible T>
  requires Element<T>
class AllReduce {
 public:
  /// Collective. @throws Error invalid_argument if ranks differ in types, operations, number of tensors, or the size of
  /// a tensor, which is named; wrong_tensor; timed_out if a rank is missing; limit_exceeded above 2^31 - 1 elements
  template <std::same_as<Resident<T>>... More>
  AllReduce(Session& session, const Group& group, Op op, Resident<T> tensor, More... more)
      : session_{session}, group_{group}, op_{op}, tensors_{tensor, more...} {
    std::vector<std::uint64_t> sizes;
    for (const Resident<T>& each : tensors_) {
      sizes.push_back(session.pair(each).size());
      offsets_.push_back(offsets_.back() + sizes.back());
    }
    detail::check_same<T>(group, op, sizes, [this](std::size_t i) {
      const auto view = session_.graph().view();
      return view.name(view.tensors[index(tensors_[i].key.tensor())].name);
    });
    mirror_ = std::make_unique<Mirror>(session.platform(), static_cast<std::size_t>(offsets_.back()));
  }
  AllReduce(const AllReduce&) = delete;
  AllReduce& operator=(const AllReduce&) = delete;
  ~AllReduce() {
    if (request_ == MPI_REQUEST_NULL) return;
    // A rank that is leaving with an exception does not wait: the others wait for its error report.
    const double patience = std::uncaught_exceptions() == 0 ? group_.patience() : 0;
    const bool is_done = !failed_ && detail::await(request_, patience).is_done;
    if (is_done) return;
    (void)mirror_.release();  // MPI still uses it
    group_.note_stuck();
  }

  /// Downloads the tensors and starts the reduction.
  Status start() noexcept {
    if (failed_) return *failed_;
    if (is_started_) return Status{Errc::busy};
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      if (const Status status = session_.download(tensors_[i], part(i)); !status) return status;
    }
    code_ = MPI_Iallreduce(MPI_IN_PLACE, mirror_->data(), static_cast<int>(mirror_->size()),
                           detail::type_of(data_type_of<T>), detail::op_of(op_), group_.comm(), &request_);
    if (code_ != MPI_SUCCESS) return fail(Errc::device_failed);
    is_started_ = true;
    return {};
  }

  /// Whether the reduction is complete. It also lets an MPI without a progress thread advance. Call finish() anyway.
  [[nodiscard]] bool is_done() noexcept {
    if (failed_ || !is_started_) return false;
    int is_done = 1;
    if (request_ != MPI_REQUEST_NULL) code_ = MPI_Test(&request_, &is_done, MPI_STATUS_IGNORE);
    if (code_ != MPI_SUCCESS) (void)fail(Errc::device_failed);
    return !failed_ && is_done != 0;
  }

  /// Waits for the ranks and uploads the results. May be called between a round's copy-in and its launch.
  Status finish() noexcept {
    if (failed_) return *failed_;
    if (!is_started_) return Status{Errc::invalid_argument};
    const detail::Awaited awaited = detail::await(request_, group_.patience());
    code_ = awaited.code;
    if (code_ != MPI_SUCCESS) return fail(Errc::device_failed);
    if (!awaited.is_done) return fail(Errc::timed_out);
    is_started_ = false;
    if (op_ == Op::mean) detail::divide<T>(mirror_->data(), mirror_->size() * sizeof(T), group_.size());
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      Status status = session_.upload(tensors_[i], part(i));
      if (status.code() == Errc::busy) {
        // A round is bound but not launched. The platform executes calls in order, so the launch comes after this copy;
        // the memory belongs to the platform until the round is finished, and is not written before the next start().
        status = session_.platform().copy_in(session_.pair(tensors_[i]).device().template as<std::byte>(),
                                             part(i).data(), Bytes{part(i).size_bytes()});
      }
      if (!status) return status;
    }
    return {};
  }

  /// A sentence that explains a status of this object.
  [[nodiscard]] Error::Text explain(Status status) const noexcept {
    if (failed_ && status == *failed_) {
      if (code_ != MPI_SUCCESS) return Error::Text{"all_reduce: ", detail::text_of(code_).c_str()};
      return Error::Text{
          "all_reduce: rank ", group_.rank(), " waited ", group_.patience_ms(),
          " ms for the others; a rank that cannot continue should end all ranks with Environment::abort"};
    }
    if (status.code() == Errc::busy) return Error::Text("all_reduce: started already, or in the middle of a round");
    if (status == Status{Errc::invalid_argument}) return Error::Text("all_reduce: finish() without start()");
    return session_.explain(status);
  }

 private:
  using Device = std::remove_reference_t<decltype(std::declval<Session&>().platform())>;
  using Mirror = typename detail::MirrorOf<T, Device>::type;

  [[nodiscard]] std::span<T> part(std::size_t i) noexcept {
    return std::span<T>{mirror_->data(), mirror_->size()}.subspan(
        static_cast<std::size_t>(offsets_[i]), static_cast<std::size_t>(offsets_[i + 1] - offsets_[i]));
  }
  Status fail(Errc code) noexcept {
    failed_.emplace(code);
    return *failed_;
  }

  Session& session_;
  const Group& group_;
  Op op_;
  std::vector<Resident<T>> tensors_;
  std::vector<std::uint64_t> offsets_{0};  ///< the offset of each tensor in the mirror, and the end
  std::unique_ptr<Mirror> mirror_;
  MPI_Request request_ = MPI_REQUEST_NULL;
  bool is_started_ = false;
  int code_ = MPI_SUCCESS;
  std::optional<Status> failed_;
};
template <class Session, Element T, class... More>
AllReduce(Session&, const Group&, Op, Resident<T>, More...) -> AllReduce<Session, T>;

/// Reduces one tensor at once, without overlap; for rare operations. Collective.
/// @throws Error as AllReduce's constructor does
template <class Session, Reducible T>
  requires Element<T>
Status all_reduce(Session& session, Resident<T> tensor, Op op, const Group& group) {
  AllReduce<Session, T> reduce(session, group, op, tensor);
  const Status status = reduce.start();
  return status ? reduce.finish() : status;
}

/// Reduces host memory, such as losses, counts and times. Collective; waits.
/// @throws Error invalid_argument if ranks differ, timed_out if a rank is missing, device_failed
template <Reducible T>
void all_reduce(std::span<T> values, Op op, const Group& group) {
  const std::uint64_t sizes[] = {values.size()};
  detail::check_same<T>(group, op, sizes, [](std::size_t) { return "host memory"; });
  auto memory = std::make_unique<std::vector<T>>(values.begin(), values.end());
  MPI_Request request = MPI_REQUEST_NULL;
  detail::check(MPI_Iallreduce(MPI_IN_PLACE, memory->data(), static_cast<int>(values.size()),
                               detail::type_of(data_type_of<T>), detail::op_of(op), group.comm(), &request),
                "all_reduce");
  detail::finish(request, memory, group, "all_reduce");
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = (*memory)[i];
  if (op == Op::mean) detail::divide<T>(values.data(), values.size_bytes(), group.size());
}

}  // namespace rondo::mpi
