// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/measure/detail/wire.hpp>
#include <rondo/measure/fault.hpp>
#include <rondo/mpi/group.hpp>

#include <chrono>
#include <climits>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

/// The messages between a tuner and its ranks: letters of bytes, whose fields are those of wire.hpp.
namespace rondo::mpi::detail {

using measure::Fault;
using measure::detail::current_fault;
using measure::detail::Reader;
using measure::detail::Writer;

/// The kind of a letter; builds and runs have separate mailboxes.
enum class Line : int { build = 1, run = 2 };

enum class LetterKind : std::uint64_t { hello, job, answer, end };

struct Letter {
  int rank = 0;  ///< the sender
  std::string body;
};

/// Sends and receives letters without waiting. For one thread; several threads may use several mailboxes if these have
/// different lines or directions. Errors: throws errors of MPI.
class Mailbox {
 public:
  Mailbox(const Group& group, Line line, bool is_tuner) : comm_{group.comm()} {
    const int first = 2 * static_cast<int>(line);
    out_tag_ = is_tuner ? first : first + 1;
    in_tag_ = is_tuner ? first + 1 : first;
  }
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;
  ~Mailbox() {
    for (Sent& sent : sent_) {  // a letter that no rank receives keeps its memory, since MPI may still read it
      if (!await(sent.request, 1).is_done) (void)new std::string(std::move(sent.body));
    }
  }

  /// The size of the largest letter that MPI sends, in bytes; smaller in tests.
  static inline std::size_t most_bytes = INT_MAX;

  /// Sends the message of a Writer. @throws Error also limit_exceeded: the letter is too large
  void send(int rank, std::string message) {
    if (message.size() > most_bytes) {
      throw Error(Errc::limit_exceeded, Error::Text{"a letter between ranks has ", message.size(), " bytes; at most ",
                                                    most_bytes, " can be sent"});
    }
    sent_.push_back({std::move(message), MPI_REQUEST_NULL});
    Sent& sent = sent_.back();
    check(
        MPI_Isend(sent.body.data(), static_cast<int>(sent.body.size()), MPI_BYTE, rank, out_tag_, comm_, &sent.request),
        "sending to a rank");
  }

  /// The next letter that has arrived, if any.
  [[nodiscard]] std::optional<Letter> receive() {
    progress();
    int is_there = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    check(MPI_Improbe(MPI_ANY_SOURCE, in_tag_, comm_, &is_there, &message, &status),
          "looking for letters of other ranks");
    if (is_there == 0) return std::nullopt;
    int size = 0;
    check(MPI_Get_count(&status, MPI_BYTE, &size), "the size of a letter");
    Letter letter{status.MPI_SOURCE, std::string(static_cast<std::size_t>(size), '\0')};
    check(MPI_Mrecv(letter.body.data(), size, MPI_BYTE, &message, MPI_STATUS_IGNORE), "receiving from a rank");
    letter.body.erase(0, sizeof(std::uint64_t));  // the length that a Writer adds; MPI has reported it
    return letter;
  }

 private:
  struct Sent {
    std::string body;
    MPI_Request request;
  };

  /// Frees letters that have been sent completely.
  void progress() {
    for (auto sent = sent_.begin(); sent != sent_.end();) {
      int is_done = 0;
      check(MPI_Test(&sent->request, &is_done, MPI_STATUS_IGNORE), "sending to a rank");
      sent = is_done != 0 ? sent_.erase(sent) : std::next(sent);
    }
  }

  MPI_Comm comm_;
  int out_tag_;
  int in_tag_;
  std::list<Sent> sent_;  // stable addresses
};

/// The time to sleep before checking for letters again. MPI cannot be waited for together with anything else, and its
/// own waiting takes a core from the measurement; so the checks become rarer, up to every two milliseconds.
class Nap {
 public:
  void reset() noexcept { micros_ = 50; }
  /// Sleeps until the time is over or it is notified. The lock is held before and after.
  void take(std::unique_lock<std::mutex>& lock, std::condition_variable& awake) {
    (void)awake.wait_for(lock, std::chrono::microseconds(micros_));
    micros_ = micros_ < 1000 ? 2 * micros_ : 2000;
  }

 private:
  long micros_ = 50;
};

/// Checks that several threads may call MPI. @throws Error unsupported if not
inline void require_threads() {
  int provided = 0;
  check(MPI_Query_thread(&provided), "MPI");
  if (provided < MPI_THREAD_MULTIPLE) {
    throw Error(
        Errc::unsupported,
        Error::Text("measuring on other ranks needs MPI_THREAD_MULTIPLE; initialise MPI by mpi::Environment, or "
                    "install an MPI that has it"));
  }
}

/// A rank's answer to a job.
struct Answer {
  Fault fault = Fault::none;
  std::string text = {};
  double seconds = 0;
  std::string body = {};  ///< the artifact, or the times
};

}  // namespace rondo::mpi::detail
