// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <source_location>
#include <span>
#include <thread>
#include <utility>
#include <vector>

/// Processes that work together as ranks, using MPI 3 or later.
namespace rondo::mpi {

namespace detail {

/// MPI's text for one of its error codes.
[[nodiscard]] inline Error::Text text_of(int code) noexcept {
  char text[MPI_MAX_ERROR_STRING + 1] = {};
  int size = 0;
  if (MPI_Error_string(code, text, &size) != MPI_SUCCESS) return Error::Text{"MPI error ", code};
  return Error::Text(static_cast<const char*>(text));
}

/// Throws if `code` is an error. @throws Error device_failed, with MPI's own text
inline void check(int code, const char* what, std::source_location where = std::source_location::current()) {
  if (code != MPI_SUCCESS) throw Error(Errc::device_failed, Error::Text{what, ": ", text_of(code).c_str()}, where);
}

/// The result of waiting for a request.
struct Awaited {
  bool is_done = false;
  int code = MPI_SUCCESS;
};

/// The longest wait for other ranks, in seconds, which a clock can still count.
inline constexpr double most_patience = 1e9;

/// Calls `test(&is_done)`, which returns MPI's code, until it is done, for at most `patience` seconds. It reads the
/// clock only if that takes long. A blocking call would wait forever for a rank that never comes.
template <class Test>
[[nodiscard]] Awaited await_until(const Test& test, double patience) noexcept {
  using Clock = std::chrono::steady_clock;
  Clock::time_point deadline{};
  for (std::uint32_t n = 1;; ++n) {
    int is_done = 0;
    const int code = test(&is_done);
    if (code != MPI_SUCCESS || is_done != 0) return {is_done != 0, code};
    if (n % 16 == 0) std::this_thread::yield();  // there may be more ranks than cores
    if (n % 1024 != 0) continue;
    if (deadline == Clock::time_point{}) {
      deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                    std::chrono::duration<double>(std::min(patience, most_patience)));
    } else if (Clock::now() > deadline) {
      return {};
    }
  }
}
/// Waits for a request, `patience` seconds at most.
[[nodiscard]] inline Awaited await(MPI_Request& request, double patience) noexcept {
  return await_until([&](int* is_done) { return MPI_Test(&request, is_done, MPI_STATUS_IGNORE); }, patience);
}

}  // namespace detail

/// Initialises MPI, and finalises it. Construct it first in main():
///
///     int main(int argc, char** argv) {
///       const rondo::mpi::Environment mpi(&argc, &argv);
///       try { … } catch (const std::exception& e) { std::fprintf(stderr, "%s\n", e.what()); mpi.abort(1); }
///     }
///
/// Does nothing if MPI was already initialised. A rank that ends with an exception ends all of them, since the others
/// would wait for it. Thread safety: destroy it on the thread that constructed it.
class Environment {
 public:
  /// Requests MPI_THREAD_MULTIPLE, which is needed for measuring on other ranks. @throws Error device_failed
  explicit Environment(int* argc = nullptr, char*** argv = nullptr) {
    int is_initialised = 0;
    detail::check(MPI_Initialized(&is_initialised), "MPI");
    if (is_initialised != 0) return;
    int provided = 0;
    detail::check(MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided), "MPI cannot be initialised");
    is_mine_ = true;
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  ~Environment() {
    if (!is_mine_) return;
    if (std::uncaught_exceptions() != 0) abort(1);
    (void)MPI_Finalize();
  }

  /// Ends this rank and all others.
  [[noreturn]] void abort(int exit_code) const noexcept {
    (void)MPI_Abort(MPI_COMM_WORLD, exit_code);
    std::terminate();
  }

 private:
  bool is_mine_ = false;
};

/// The options of a Group.
struct GroupOptions {
  /// The seconds that a rank waits for the others in a collective before it gives up.
  double patience = 60;
};

/// Ranks that work together, with messages separate from all others of the program: a duplicate of a communicator, on
/// which MPI returns errors.
///
/// Lifetime: immovable; MPI must outlive it. Its users keep a reference. Thread safety: that with which MPI was
/// initialised. The constructor is collective: all ranks of the communicator must call it, in the same order.
class Group {
 public:
  using Options = GroupOptions;

  /// @throws Error not_open before MPI_Init; device_failed
  explicit Group(MPI_Comm of = MPI_COMM_WORLD, Options options = {}) : options_{options} {
    int is_initialised = 0;
    if (MPI_Initialized(&is_initialised) != MPI_SUCCESS || is_initialised == 0) {
      throw Error(Errc::not_open, Error::Text("MPI has not been initialised; make an mpi::Environment in main()"));
    }
    detail::check(MPI_Comm_dup(of, &comm_), "MPI cannot duplicate the communicator");
    (void)MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    (void)MPI_Comm_rank(comm_, &rank_);
    (void)MPI_Comm_size(comm_, &size_);
  }
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  ~Group() {
    int is_finalised = 0;
    (void)MPI_Finalized(&is_finalised);
    // Freeing is collective, but a rank that leaves with an exception is alone.
    if (is_finalised == 0 && !is_stuck_ && std::uncaught_exceptions() == 0) (void)MPI_Comm_free(&comm_);
  }

  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] int size() const noexcept { return size_; }
  [[nodiscard]] MPI_Comm comm() const noexcept { return comm_; }
  /// The time that a rank waits for the others, in seconds.
  [[nodiscard]] double patience() const noexcept { return options_.patience; }
  [[nodiscard]] long patience_ms() const noexcept {
    return static_cast<long>(1e3 * std::min(options_.patience, detail::most_patience));
  }
  /// Sets this time, in seconds, for waits that begin later: set-up may take longer than rounds.
  void set_patience(double seconds) noexcept { options_.patience = seconds; }

  /// Notes that a collective was given up that MPI still uses: its memory and this communicator are never freed.
  void note_stuck() const noexcept { is_stuck_ = true; }

  /// Collects the numbers of all ranks, equally many from each, in the order of the ranks. Collective.
  /// @throws Error timed_out if a rank is missing, device_failed
  [[nodiscard]] std::vector<std::uint64_t> gather(std::span<const std::uint64_t> own) const {
    auto all = std::make_unique<std::vector<std::uint64_t>>(own.size() * static_cast<std::size_t>(size_));
    auto sent = std::make_unique<std::vector<std::uint64_t>>(own.begin(), own.end());
    const int n = static_cast<int>(own.size());
    MPI_Request request = MPI_REQUEST_NULL;
    detail::check(MPI_Iallgather(sent->data(), n, MPI_UINT64_T, all->data(), n, MPI_UINT64_T, comm_, &request),
                  "MPI cannot gather from all ranks");
    const detail::Awaited awaited = detail::await(request, patience());
    if (!awaited.is_done) {  // MPI still uses the memory
      (void)sent.release();
      (void)all.release();
      note_stuck();
    }
    detail::check(awaited.code, "gathering from all ranks");
    if (!awaited.is_done) {
      throw Error(Errc::timed_out, Error::Text{"rank ", rank_, " waited ", patience_ms(),
                                               " ms for the others; does every rank come here, in the same order?"});
    }
    return std::move(*all);
  }

 private:
  Options options_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
  mutable bool is_stuck_ = false;
};

namespace detail {

/// Waits for a request that uses `memory`, which is not freed if MPI still uses it then. @throws Error timed_out,
/// device_failed
template <class Memory>
void finish(MPI_Request& request, std::unique_ptr<Memory>& memory, const Group& group, const char* what) {
  const Awaited awaited = await(request, group.patience());
  if (!awaited.is_done) {
    (void)memory.release();
    group.note_stuck();
  }
  check(awaited.code, what);
  if (awaited.is_done) return;
  throw Error(Errc::timed_out,
              Error::Text{what, ": rank ", group.rank(), " waited ", group.patience_ms(), " ms for the others"});
}

}  // namespace detail
}  // namespace rondo::mpi
