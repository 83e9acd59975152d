// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/measure/artifact.hpp>
#include <rondo/measure/concepts.hpp>
#include <rondo/measure/source_builder.hpp>
#include <rondo/mpi/detail/rank_client.hpp>
#include <rondo/mpi/detail/rank_server.hpp>
#include <rondo/platform/start_thread.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>

/// Builders and runners on other ranks, for use with ProgramMeasurer. One rank is the tuner, the others serve it:
///
///     const Group group;                       // on all ranks
///     if (group.rank() != 0) {
///       measure::SourceBuilder builder({.workers = 4});
///       measure::LocalRunner runner(workload);
///       mpi::serve(group, builder, runner);              // until the tuner's builder and runner are gone
///     } else {
///       mpi::RankBuilder<> builder(group);
///       mpi::RankRunner<> runner(group);
///       measure::ProgramMeasurer measurer(builder, runner);  // use it as on one machine
///     }
namespace rondo::mpi {

using measure::Builder;
using measure::Built;
using measure::Fault;
using measure::Measured;
using measure::OnBuilt;
using measure::OnMeasured;
using measure::Runner;
using measure::SharedObject;
using measure::SourceCandidate;

/// The encoding of a value between ranks: `void put(detail::Writer&, const T&)` and `T take(detail::Reader&)`.
/// Specialise it for types of your own. All ranks run on one kind of machine: numbers are sent as they are in memory.
template <class T>
struct RankCodec;

/// A number, as its bytes.
template <class T>
  requires std::is_arithmetic_v<T>
struct RankCodec<T> {
  void put(detail::Writer& to, T value) const {
    to.put(std::string_view{reinterpret_cast<const char*>(&value), sizeof value});
  }
  [[nodiscard]] T take(detail::Reader& from) const {
    T value{};
    const std::string bytes = from.text();
    if (bytes.size() == sizeof value) std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
};
/// A string, as its characters.
template <>
struct RankCodec<std::string> {
  void put(detail::Writer& to, const std::string& value) const { to.put(value); }
  [[nodiscard]] std::string take(detail::Reader& from) const { return from.text(); }
};
/// A candidate, whose source is made on the tuner's rank.
template <>
struct RankCodec<SourceCandidate> {
  void put(detail::Writer& to, const SourceCandidate& candidate) const {
    to.put(candidate.source.empty() && candidate.generate ? candidate.generate() : candidate.source);
    to.put(candidate.argument);
    to.put(std::uint64_t{candidate.flags.size()});
    for (const std::string& flag : candidate.flags) to.put(flag);
  }
  [[nodiscard]] SourceCandidate take(detail::Reader& from) const {
    SourceCandidate candidate;
    candidate.source = from.text();
    candidate.argument = from.text();
    for (std::uint64_t n = from.number(); n > 0 && from.has_more(); --n) candidate.flags.push_back(from.text());
    return candidate;
  }
};
/// A shared object, as its bytes; the rank keeps it in a temporary folder during the artifact's lifetime.
template <>
struct RankCodec<SharedObject> {
  void put(detail::Writer& to, const SharedObject& object) const {
    std::ifstream file{object.path(), std::ios::binary};
    const std::string bytes{std::istreambuf_iterator<char>{file}, {}};
    if (!file || bytes.empty()) {
      throw Error(Errc::out_of_resources, Error::Text{"the artifact ", object.path().c_str(), " cannot be read"});
    }
    to.put(bytes);
    to.put(object.argument());
  }
  [[nodiscard]] SharedObject take(detail::Reader& from) {
    const std::string bytes = from.text();
    return store.put(bytes, from.text());
  }
  measure::ArtifactStore store;
};

namespace detail {

/// Encodes a value as a letter's field. @throws errors of the codec
template <class T>
[[nodiscard]] std::string encode_by(RankCodec<T>& codec, const T& value) {
  Writer writer;
  codec.put(writer, value);
  return writer.message().substr(sizeof(std::uint64_t));
}
template <class T>
[[nodiscard]] T decode_by(RankCodec<T>& codec, const std::string& body) {
  Reader reader{body};
  T value = codec.take(reader);
  if (!reader.ok()) throw measure::Failure(Fault::unknown, "what another rank sent is garbled");
  return value;
}

}  // namespace detail

/// A Builder that passes builds to the builders of other ranks; see serve().
///
/// Each rank holds at most as many jobs as its own builder can use, one more than its workers; a job is assigned to a
/// rank when there is room. A build whose failure was not caused by the candidate (Fault::unknown, device) is assigned
/// to another rank, if there is one, up to Options::attempts times; the result's text and Options::on_reissue report
/// it. Lifetime: one RankBuilder and one RankRunner at a time over a group, which outlives them. The destructor waits
/// for the builds under way, and dismisses the ranks. Thread safety: submit_build from any thread; callbacks are called
/// on one thread. Errors: as for the ranks' builders. If a rank dies, MPI ends the whole program, and a search can
/// continue from its log. Cost: the source and the artifact are each sent once.
template <class I = SourceCandidate, class A = SharedObject>
class RankBuilder {
 public:
  using Input = I;
  using Artifact = A;
  using Options = RankOptions;

  /// Waits until all other ranks serve. @throws Error timed_out, invalid_argument if there are none, unsupported
  explicit RankBuilder(const Group& group, Options options = {})
      : client_{group, detail::Line::build, std::move(options)} {}

  void submit_build(Input input, OnBuilt<Artifact> on_built) {
    std::string body;
    try {
      body = detail::encode_by(inputs_, input);
    } catch (...) {
      auto [fault, text] = detail::current_fault(Fault::instantiation);
      return on_built({fault, std::move(text), std::nullopt, 0});
    }
    client_.submit(std::move(body), [this, on_built = std::move(on_built)](detail::Answer answer) {
      Built<Artifact> built{answer.fault, std::move(answer.text), std::nullopt, answer.seconds};
      if (built.fault == Fault::none) {
        try {
          built.artifact.emplace(detail::decode_by(artifacts_, answer.body));
        } catch (...) {
          auto [fault, text] = detail::current_fault(Fault::unknown);
          built.fault = Fault::unknown;
          built.text = std::move(text);
        }
      }
      on_built(std::move(built));
    });
  }
  [[nodiscard]] std::size_t capacity() const noexcept { return client_.capacity(); }
  /// The number of jobs that were assigned again.
  [[nodiscard]] std::uint64_t reissues() const noexcept { return client_.reissues(); }
  /// The number of jobs that a rank has finished; 0 for a number that no rank has.
  [[nodiscard]] std::uint64_t answered_by(int rank) const noexcept { return client_.answered_by(rank); }

 private:
  RankCodec<Input> inputs_;
  RankCodec<Artifact> artifacts_;
  detail::RankClient client_;  // last: its threads use all of the above
};

/// A Runner that passes artifacts to the runners of other ranks; otherwise as RankBuilder. If a rank's worker process
/// is killed (Fault::unknown), its job loses one attempt.
template <class A = SharedObject>
class RankRunner {
 public:
  using Artifact = A;
  using Options = RankOptions;

  /// @throws as RankBuilder's constructor does
  explicit RankRunner(const Group& group, Options options = {})
      : client_{group, detail::Line::run, std::move(options)} {}

  void submit_run(Artifact artifact, OnMeasured on_measured) {
    std::string body;
    {
      const Artifact gone = std::move(artifact);  // destroyed before the result is reported
      body = detail::encode_by(artifacts_, gone);
    }
    client_.submit(std::move(body), [on_measured = std::move(on_measured)](detail::Answer answer) {
      Measured measured;
      detail::Reader reader{answer.body};
      measured.seconds = reader.reals();
      measured.device_seconds = reader.reals();
      measured.fault = answer.fault;
      measured.text = std::move(answer.text);
      measured.run_seconds = answer.seconds;
      on_measured(std::move(measured));
    });
  }
  [[nodiscard]] std::size_t capacity() const noexcept { return client_.capacity(); }
  [[nodiscard]] std::uint64_t reissues() const noexcept { return client_.reissues(); }
  [[nodiscard]] std::uint64_t answered_by(int rank) const noexcept { return client_.answered_by(rank); }

 private:
  RankCodec<Artifact> artifacts_;
  detail::RankClient client_;  // last: its threads use all of the above
};

static_assert(measure::check_builder<RankBuilder<>>() && measure::check_runner<RankRunner<>>());

/// Builds for the tuner's RankBuilder until that is destroyed. Waits. @throws Error unsupported, device_failed
template <Builder B>
void serve(const Group& group, B& builder, int tuner = 0) {
  RankCodec<typename B::Input> inputs;
  const auto artifacts = std::make_shared<RankCodec<typename B::Artifact>>();
  detail::serve_rank(group, detail::Line::build, tuner, builder.capacity(), [&](const std::string& body, auto answer) {
    builder.submit_build(detail::decode_by(inputs, body), [artifacts, answer](Built<typename B::Artifact> built) {
      detail::Answer outcome{built.fault, std::move(built.text), built.seconds, {}};
      try {
        if (built.artifact) outcome.body = detail::encode_by(*artifacts, *built.artifact);
      } catch (...) {
        auto [fault, text] = detail::current_fault(Fault::unknown);
        outcome.fault = Fault::unknown;
        outcome.text = std::move(text);
      }
      built.artifact.reset();
      answer(std::move(outcome));
    });
  });
}

/// Runs for the tuner's RankRunner until that is destroyed. Waits. @throws Error unsupported, device_failed
template <Runner R>
void serve(const Group& group, R& runner, int tuner = 0) {
  RankCodec<typename R::Artifact> artifacts;
  detail::serve_rank(group, detail::Line::run, tuner, runner.capacity(), [&](const std::string& body, auto answer) {
    runner.submit_run(detail::decode_by(artifacts, body), [answer](Measured measured) {
      detail::Writer times;
      times.put(measured.seconds);
      times.put(measured.device_seconds);
      answer({measured.fault, std::move(measured.text), measured.run_seconds,
              times.message().substr(sizeof(std::uint64_t))});
    });
  });
}

/// Serves the tuner's RankBuilder and its RankRunner until both are destroyed. Waits. @throws Error unsupported,
/// device_failed, out_of_resources
template <Builder B, Runner R>
void serve(const Group& group, B& builder, R& runner, int tuner = 0) {
  std::exception_ptr thrown;
  std::thread builds = platform::start_thread(
      [&] {
        try {
          serve(group, builder, tuner);
        } catch (...) {
          thrown = std::current_exception();
        }
      },
      "the thread that builds for the tuner");
  try {
    serve(group, runner, tuner);
  } catch (...) {
    builds.join();
    throw;
  }
  builds.join();
  if (thrown) std::rethrow_exception(thrown);
}

}  // namespace rondo::mpi
