// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/measure/local_runner.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace rondo::measure {

// --- in the worker process -------------------------------------------------------------------------------------------

/// Answers requests until the connection ends.
inline void LocalRunner::serve(int connection, const Workload& workload, const Repetition& repetition) {
  std::string arrived;
  bool is_garbage = false;
  char buffer[4096];
  for (;;) {
    std::optional<std::string> body = detail::cut_message(arrived, is_garbage);
    if (is_garbage) return;
    if (!body) {
      const ssize_t n = ::read(connection, buffer, sizeof buffer);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return;
      arrived.append(buffer, static_cast<std::size_t>(n));
      continue;
    }
    detail::Reader reader{*body};
    std::string path = reader.text();
    std::string argument = reader.text();
    const std::uint64_t device = reader.number();
    Measured measured;
    {
      Trial trial(std::move(path), std::move(argument), device, repetition);
      try {
        workload(trial);
        measured = std::move(trial.measured());
        if (measured.seconds.empty()) {
          measured.fault = Fault::instantiation;
          measured.text = "the workload timed nothing; call trial.time_rounds() in it";
        }
      } catch (...) {
        auto [fault, text] = detail::current_fault(Fault::run);
        measured.fault = fault;
        measured.text = std::move(text);
      }
    }
    (void)std::fflush(nullptr);
    const bool is_last = detail::has_children();  // the end of this process ends them
    std::string reply = detail::encode(measured, is_last);
    if (detail::is_too_long(reply)) {
      reply = detail::encode({Fault::instantiation,
                              fmt::format("the times and texts of the candidate take {} bytes; the most is {}; "
                                          "repeat fewer times, or shorten the text",
                                          reply.size(), detail::longest_message),
                              {},
                              {},
                              0},
                             is_last);
    }
    for (std::size_t sent = 0; sent < reply.size();) {
      const ssize_t n = ::send(connection, reply.data() + sent, reply.size() - sent, MSG_NOSIGNAL);
      if (n < 0 && errno != EINTR) return;
      if (n > 0) sent += static_cast<std::size_t>(n);
    }
  }
}

// --- in this process -------------------------------------------------------------------------------------------------

inline void LocalRunner::work(Job job, std::size_t device) noexcept {
  Measured measured;
  try {
    measured = run(slots_[device], *job.artifact, device);  // NOLINT: submit_run() took one
  } catch (...) {
    auto [fault, text] = detail::current_fault(Fault::unknown);
    measured = {Fault::unknown, std::move(text), {}, {}, 0};
    // Its answer to this candidate must not reach the next one.
    if (std::optional<detail::ForkServer::Worker>& worker = slots_[device].worker; worker) {
      (void)server_.reap(worker->pid);
      worker.reset();
    }
  }
  job.artifact.reset();
  detail::tell(job.on_measured, std::move(measured));
}

inline Measured LocalRunner::run(Slot& slot, const SharedObject& artifact, std::size_t device) {
  if (ending_.load(std::memory_order_relaxed)) return verdict(Ended::told_to_end, std::nullopt);
  detail::Writer request;
  request.put(artifact.path());
  request.put(artifact.argument());
  request.put(std::uint64_t{device});
  if (detail::is_too_long(request.message())) {
    return {Fault::instantiation,
            fmt::format("the input of the candidate takes {} bytes; the most is {}; pass it in a file",
                        request.message().size(), detail::longest_message),
            {},
            {},
            0};
  }

  if (!slot.worker) {
    slot.worker = server_.spawn();
    slot.used = 0;
  }
  const auto start = detail::Clock::now();
  detail::BoundedText output(options_.output_bytes);
  Measured measured;
  bool is_last = false;
  const Ended ended = exchange(*slot.worker, request.message(), output, measured, is_last);
  const double seconds = detail::seconds_since(start);
  if (ended != Ended::answered || is_last || ++slot.used >= options_.candidates_per_process) {
    const std::optional<int> status = server_.reap(slot.worker->pid);
    if (ended != Ended::answered) measured = verdict(ended, status);
    (void)detail::drain(slot.worker->output.get(), output);
    slot.worker.reset();
  }
  measured.run_seconds = seconds;
  if (const std::string said = output.str(); measured.fault != Fault::none && !said.empty()) {
    measured.text += "; it printed: " + said;
  }
  return measured;
}

/// Sends the request and waits for the answer, for the end of the worker, or for the time limit; reads the worker's
/// output meanwhile.
inline LocalRunner::Ended LocalRunner::exchange(const detail::ForkServer::Worker& worker, const std::string& request,
                                                detail::BoundedText& output, Measured& measured, bool& is_last) const {
  const auto deadline = detail::after_seconds(options_.time_limit);
  const int connection = worker.connection.get();
  detail::set_nonblocking(connection);
  std::size_t sent = 0;
  std::string arrived;
  bool prints = true;
  for (;;) {
    const int left = detail::milliseconds_until(deadline);
    if (left == 0) return Ended::out_of_time;
    if (ending_.load(std::memory_order_relaxed)) return Ended::told_to_end;
    const auto wanted = static_cast<short>(sent < request.size() ? POLLIN | POLLOUT : POLLIN);
    pollfd waits[2] = {{connection, wanted, 0}, {prints ? worker.output.get() : -1, POLLIN, 0}};
    (void)::poll(waits, 2, std::min(left, 50));
    if (prints && waits[1].revents != 0) prints = detail::drain(worker.output.get(), output);
    if ((waits[0].revents & POLLOUT) != 0 && sent < request.size()) {
      const ssize_t n = ::send(connection, request.data() + sent, request.size() - sent, MSG_NOSIGNAL);
      if (n > 0) sent += static_cast<std::size_t>(n);
      if (n < 0 && errno != EINTR && errno != EAGAIN) return Ended::gone;
    }
    if ((waits[0].revents & (POLLIN | POLLHUP | POLLERR)) == 0) continue;
    char buffer[16384];
    const ssize_t n = ::read(connection, buffer, sizeof buffer);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n <= 0) return Ended::gone;
    arrived.append(buffer, static_cast<std::size_t>(n));
    bool is_garbage = false;
    if (const auto body = detail::cut_message(arrived, is_garbage)) {
      auto answer = detail::decode(*body, is_last);
      if (!answer || !arrived.empty()) return Ended::garbage;
      measured = std::move(*answer);
      return Ended::answered;
    }
    if (is_garbage) return Ended::garbage;
  }
}

/// Makes the message about a candidate that gave no answer.
inline Measured LocalRunner::verdict(Ended ended, std::optional<int> status) const {
  Measured m;
  switch (ended) {
    case Ended::answered: break;
    case Ended::told_to_end: m.fault = Fault::stopped, m.text = "the runner is gone"; break;
    case Ended::out_of_time:
      m.fault = Fault::run_timeout;
      m.text = fmt::format("not done within {:g} s", options_.time_limit);
      break;
    case Ended::garbage:
      m.fault = Fault::run;
      m.text = "the candidate wrote into its process's connection";
      break;
    case Ended::gone:
      m.fault = Fault::run;
      if (!status) {
        m.fault = Fault::unknown;
        m.text = "the processes that measure were killed; measure it again";
      } else if (WIFSIGNALED(*status) && WTERMSIG(*status) == SIGKILL) {
        m.fault = Fault::unknown;
        m.text =
            "the process was killed from outside, or for lack of memory, or it closed its connection; measure it again";
      } else if (WIFSIGNALED(*status)) {
        m.text = fmt::format("the candidate crashed: signal {}, {}", WTERMSIG(*status), ::strsignal(WTERMSIG(*status)));
      } else {
        m.text = fmt::format("the candidate ended its process, with status {}", WEXITSTATUS(*status));
      }
      break;
  }
  return m;
}

}  // namespace rondo::measure
