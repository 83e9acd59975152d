// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>
#include <rondo/mpi/all_reduce.hpp>
#include <rondo/mpi/detail/types.hpp>
#include <rondo/mpi/group.hpp>
#include <rondo/tensor/data_type.hpp>
#include <rondo/tensor/handle.hpp>

#include <climits>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

/// Collectives on host memory, and on resident tensors between rounds, that wait until they are done. For those that
/// overlap with tasks, see communicator.hpp; for a reduction that overlaps with a copy-in, see all_reduce.hpp. Call
/// them in the same order on all ranks, and, except send() and recv(), only when no round with collectives over the
/// same group is in flight.
///
/// Errors of all functions: Error invalid_argument if the ranks' types, sizes or ranks do not fit together, timed_out
/// if a rank does not come within the group's patience, limit_exceeded above 2^31 - 1 bytes, device_failed: an error of
/// MPI. Those that take a session return the status of its download or upload.
namespace rondo::mpi {

namespace detail {

[[nodiscard]] inline int count_of(const char* what, std::uint64_t bytes) {
  if (bytes > INT_MAX) {
    throw Error(Errc::limit_exceeded,
                Error::Text{what, ": ", bytes, " bytes; MPI counts to 2^31 - 1, so divide the tensor"});
  }
  return static_cast<int>(bytes);
}

/// Checks that all ranks pass the same type, number of elements, and further number.
inline void check_same(const Group& group, const char* what, DataType type, std::uint64_t elements,
                       const char* number_name, std::uint64_t number) {
  const std::uint64_t own[] = {static_cast<std::uint64_t>(type), elements, number};
  const std::vector<std::uint64_t> all = group.gather(own);
  constexpr std::size_t count = std::size(own);
  for (std::size_t r = 1; r < static_cast<std::size_t>(group.size()); ++r) {
    const std::uint64_t* const other = &all[count * r];
    const auto fail = [&](std::initializer_list<rondo::detail::TextPart> text) {
      Error::Text whole{what, ": "};
      whole.append(text);
      throw Error(Errc::invalid_argument, whole);
    };
    if (all[0] != other[0]) {
      fail({"rank 0 has ", to_string(static_cast<DataType>(all[0])), ", rank ", r, " has ",
            to_string(static_cast<DataType>(other[0]))});
    }
    if (all[1] != other[1]) fail({"rank 0 has ", all[1], " elements, rank ", r, " has ", other[1]});
    if (all[2] != other[2]) fail({"rank 0 passes ", number_name, " ", all[2], ", rank ", r, " passes ", other[2]});
  }
}
inline void check_rank(const Group& group, const char* what, int rank) {
  if (rank >= 0 && rank < group.size()) return;
  throw Error(Errc::invalid_argument,
              Error::Text{what, ": there is no rank ", rank, "; there are ", group.size(), ", counted from 0"});
}
inline void check_other_rank(const Group& group, const char* what, int rank) {
  check_rank(group, what, rank);
  if (rank != group.rank()) return;
  throw Error(Errc::invalid_argument, Error::Text{what, ": rank ", rank, " is this one"});
}
/// Checks that the whole has as many times the elements of a part as there are ranks.
inline void check_parts(const Group& group, const char* what, std::uint64_t part, std::uint64_t whole) {
  if (part * static_cast<std::uint64_t>(group.size()) == whole) return;
  throw Error(Errc::invalid_argument, Error::Text{what, ": a part has ", part, " elements, the whole has ", whole,
                                                  "; with ", group.size(), " ranks it must have that many times more"});
}

/// The tag of messages between two ranks; those of a graph's collectives have 0.
inline constexpr int point_to_point = 1;

/// The contents of a resident tensor.
template <class Session, Element T>
Status download(Session& session, Resident<T> tensor, std::vector<T>& to) {
  to.resize(session.pair(tensor).size());
  return session.download(tensor, std::span<T>{to});
}

}  // namespace detail

/// Gives all ranks the values of rank `from`.
template <Element T>
void broadcast(std::span<T> values, int from, const Group& group) {
  detail::check_rank(group, "broadcast", from);
  detail::check_same(group, "broadcast", data_type_of<T>, values.size(), "rank", static_cast<std::uint64_t>(from));
  auto memory = std::make_unique<std::vector<T>>(values.begin(), values.end());
  MPI_Request request = MPI_REQUEST_NULL;
  const int bytes = detail::count_of("broadcast", values.size_bytes());
  detail::check(MPI_Ibcast(memory->data(), bytes, MPI_BYTE, from, group.comm(), &request), "broadcast");
  detail::finish(request, memory, group, "broadcast");
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = (*memory)[i];
}

/// Gives all ranks the values of all ranks, in the order of the ranks.
template <Element T>
void all_gather(std::span<const T> own, std::span<T> all, const Group& group) {
  detail::check_parts(group, "all_gather", own.size(), all.size());
  detail::check_same(group, "all_gather", data_type_of<T>, own.size(), "", 0);
  struct Memory {
    std::vector<T> own, all;
  };
  auto memory = std::make_unique<Memory>(Memory{{own.begin(), own.end()}, std::vector<T>(all.size())});
  MPI_Request request = MPI_REQUEST_NULL;
  (void)detail::count_of("all_gather", all.size_bytes());
  const int bytes = static_cast<int>(own.size_bytes());
  detail::check(
      MPI_Iallgather(memory->own.data(), bytes, MPI_BYTE, memory->all.data(), bytes, MPI_BYTE, group.comm(), &request),
      "all_gather");
  detail::finish(request, memory, group, "all_gather");
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = memory->all[i];
}

/// Reduces the values of all ranks, and gives each rank its part of the result, in the order of the ranks.
template <Reducible T>
void reduce_scatter(std::span<const T> values, std::span<T> part, Op op, const Group& group) {
  detail::check_parts(group, "reduce_scatter", part.size(), values.size());
  detail::check_same(group, "reduce_scatter", data_type_of<T>, part.size(), "operation",
                     static_cast<std::uint64_t>(op));
  if (op == Op::mean && !std::is_floating_point_v<T>) {
    throw Error(Errc::invalid_argument,
                Error::Text("reduce_scatter: only floating-point types have a mean; choose the sum"));
  }
  struct Memory {
    std::vector<T> all, part;
  };
  auto memory = std::make_unique<Memory>(Memory{{values.begin(), values.end()}, std::vector<T>(part.size())});
  MPI_Request request = MPI_REQUEST_NULL;
  (void)detail::count_of("reduce_scatter", values.size_bytes());
  detail::check(MPI_Ireduce_scatter_block(memory->all.data(), memory->part.data(), static_cast<int>(part.size()),
                                          detail::type_of(data_type_of<T>), detail::op_of(op), group.comm(), &request),
                "reduce_scatter");
  detail::finish(request, memory, group, "reduce_scatter");
  for (std::size_t i = 0; i < part.size(); ++i) part[i] = memory->part[i];
  if (op == Op::mean) detail::divide<T>(part.data(), part.size_bytes(), group.size());
}

/// Sends values to another rank, which calls recv(). Waits until MPI has taken them.
template <Element T>
void send(std::span<const T> values, int to, const Group& group) {
  detail::check_other_rank(group, "send", to);
  auto memory = std::make_unique<std::vector<T>>(values.begin(), values.end());
  MPI_Request request = MPI_REQUEST_NULL;
  const int bytes = detail::count_of("send", values.size_bytes());
  detail::check(MPI_Isend(memory->data(), bytes, MPI_BYTE, to, detail::point_to_point, group.comm(), &request), "send");
  detail::finish(request, memory, group, "send");
}

/// Receives the values that another rank sends by send().
template <Element T>
void recv(std::span<T> values, int from, const Group& group) {
  detail::check_other_rank(group, "recv", from);
  MPI_Status status;
  const auto looks = [&](int* is_there) {
    return MPI_Iprobe(from, detail::point_to_point, group.comm(), is_there, &status);
  };
  const detail::Awaited awaited = detail::await_until(looks, group.patience());
  detail::check(awaited.code, "recv");
  if (!awaited.is_done) {
    throw Error(Errc::timed_out,
                Error::Text{"recv: rank ", group.rank(), " waited ", group.patience_ms(), " ms for rank ", from});
  }
  int bytes = 0;
  detail::check(MPI_Get_count(&status, MPI_BYTE, &bytes), "recv");
  std::vector<std::byte> wrong(
      static_cast<std::size_t>(bytes) == values.size_bytes() ? 0U : static_cast<std::size_t>(bytes));
  void* const memory = wrong.empty() ? static_cast<void*>(values.data()) : wrong.data();
  detail::check(MPI_Recv(memory, bytes, MPI_BYTE, from, detail::point_to_point, group.comm(), MPI_STATUS_IGNORE),
                "recv");
  if (static_cast<std::size_t>(bytes) == values.size_bytes()) return;
  throw Error(Errc::invalid_argument, Error::Text{"recv: rank ", from, " sends ", bytes, " bytes to rank ",
                                                  group.rank(), ", which has memory for ", values.size_bytes()});
}

/// Gives all ranks' tensors the contents of that of rank `from`.
template <class Session, Element T>
Status broadcast(Session& session, Resident<T> tensor, int from, const Group& group) {
  std::vector<T> values(session.pair(tensor).size());
  const Status status = from == group.rank() ? session.download(tensor, std::span<T>{values}) : Status{};
  if (!status) return status;
  broadcast(std::span<T>{values}, from, group);
  return from == group.rank() ? Status{} : session.upload(tensor, std::span<const T>{values});
}
/// Gives all ranks' `all` the contents of all ranks' `own`.
template <class Session, Element T>
Status all_gather(Session& session, Resident<T> own, Resident<T> all, const Group& group) {
  std::vector<T> part, whole(session.pair(all).size());
  if (const Status status = detail::download(session, own, part); !status) return status;
  all_gather(std::span<const T>{part}, std::span<T>{whole}, group);
  return session.upload(all, std::span<const T>{whole});
}
/// Reduces all ranks' `values`, and gives each rank's `part` its part of the result.
template <class Session, Reducible T>
  requires Element<T>
Status reduce_scatter(Session& session, Resident<T> values, Resident<T> part, Op op, const Group& group) {
  std::vector<T> whole, own(session.pair(part).size());
  if (const Status status = detail::download(session, values, whole); !status) return status;
  reduce_scatter(std::span<const T>{whole}, std::span<T>{own}, op, group);
  return session.upload(part, std::span<const T>{own});
}
/// Sends the contents of a tensor to another rank.
template <class Session, Element T>
Status send(Session& session, Resident<T> tensor, int to, const Group& group) {
  std::vector<T> values;
  if (const Status status = detail::download(session, tensor, values); !status) return status;
  send(std::span<const T>{values}, to, group);
  return {};
}
/// Receives the contents of a tensor from another rank.
template <class Session, Element T>
Status recv(Session& session, Resident<T> tensor, int from, const Group& group) {
  std::vector<T> values(session.pair(tensor).size());
  recv(std::span<T>{values}, from, group);
  return session.upload(tensor, std::span<const T>{values});
}

}  // namespace rondo::mpi
