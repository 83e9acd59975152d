// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/arch/costs.hpp>
#include <rondo/args/args_table.hpp>
#include <rondo/memory/concurrency.hpp>
#include <rondo/platform/sim/engine.hpp>
#include <rondo/platform/sim/findings.hpp>
#include <rondo/platform/sim/halt.hpp>
#include <rondo/platform/sim/inline.hpp>
#include <rondo/platform/sim/pool.hpp>
#include <rondo/platform/sim/round_checker.hpp>
#include <rondo/platform/sim/sim.hpp>

#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

namespace rondo::platform::sim {

/// An engine for debugging: checks each round against what its tasks declare, then runs it on `Inner`.
///
/// A round runs four times, or until a run has a finding, with a bit pattern in outputs and workspace at the start:
/// 1. task by task: each task may change only its Out and InOut tensors, and must write every Out completely;
/// 2. the same again with another pattern: a difference means state inside a kernel, or a read of unwritten memory;
/// 3. in another order that the edges allow, a different one in each round: a difference means a missing edge;
/// 4. on Inner: a difference means a race.
///
///     auto session = open<A2A3SimOn<Checked<Pool>>>(graph);
///     if (const Status status = session.run_round(…); status.code() == Errc::check_failed)
///       for (const auto& finding : session.platform().engine().findings()) std::puts(finding.text.c_str());
///
/// It checks the memory from the lowest to the highest tensor that a task uses; AddressSanitizer finds writes beyond
/// that. It does not find a race whose outcome is the same in all four runs; more rounds find more.
///
/// Thread safety: that of the session. Errors: a finding fails the round with check_failed, which does not poison the
/// session; the outputs are then not copied. A kernel that throws fails the round with kernel_failed, as on Inner.
/// Cost: memory for three copies of all tensors; in the first run, each task costs two passes over all of it. Beyond
/// the allocations of Inner, a round allocates nothing.
template <class Inner>
class Checked : public EngineOver<Inner> {
  using Base = EngineOver<Inner>;
  using Base::inner_;

 public:
  static constexpr const char* name = "checked";
  static constexpr bool looks_at_graphs = true;
  static constexpr memory::Concurrency concurrency = memory::Concurrency::unordered;
  static constexpr bool follows_the_arena = true;
  static constexpr bool runs_loops = RunsLoops<Inner>;

  /// The options of the inner engine.
  struct Options {
    /// By default, a pool runs its tasks on four threads from the first round on, on every host.
    typename Inner::Options inner = busy();

   private:
    static typename Inner::Options busy() {
      typename Inner::Options options{};
      if constexpr (std::is_same_v<Inner, Pool>) {
        options.threads = 4;
        options.scheduling = Scheduling::uniform;
      }
      return options;
    }
  };

  /// The program of the inner engine, and the checker that watches it.
  template <class InnerProgram>
  struct Program {
    RoundChecker checker;
    InnerProgram inner;
  };

  Checked(const Options& options, const arch::Chip& chip) : Base{options.inner, chip} {}

  template <class Graph>
  [[nodiscard]] auto load(const Graph& graph, args::ArgsTable& args) {
    using InnerProgram = decltype(inner_.load(graph, args));
    return Program<InnerProgram>{RoundChecker(graph.view(), args), inner_.load(graph, args)};
  }

  template <class P>
  Status launch(P& program) noexcept {
    RoundChecker& checker = program.checker;
    last_ = &checker;
    findings_.clear();
    is_reported_ = false;
    running_ = nullptr;
    checker.begin_round();
    Status status = check(checker);
    if (status.ok() && findings_.empty()) {
      checker.restore(true);
      running_ = &checker;
      status = inner_.launch(program.inner);
      if (status.ok()) return status;
      running_ = nullptr;
    }
    checker.end_round(false);
    return status;
  }

  Status wait() noexcept {
    Status status = inner_.wait();
    if (RoundChecker* const checker = std::exchange(running_, nullptr); checker != nullptr) {
      if (status.ok()) checker->compare(Finding::Kind::race, findings_);
      checker->end_round(status.ok() && findings_.empty());
    }
    if (status.ok() && !std::exchange(is_reported_, true)) status = findings_.status();
    return status;
  }

  template <class P>
  Status unload(P& program) noexcept {
    running_ = nullptr;
    if (last_ == &program.checker) last_ = nullptr;
    return Base::unload(program);
  }

  template <class P>
  void move_arena(P& program, DevicePtr<std::byte> from, DevicePtr<std::byte> to) noexcept {
    program.checker.move_arena(to.address() - from.address());
    if constexpr (FollowsTheArena<Inner>) inner_.move_arena(program.inner, from, to);
  }

  /// Restores the memory from the start of the last round, so that its tasks can run again; outputs and workspace are
  /// filled with the pattern. Returns whether there was a round.
  bool restore_round() noexcept {
    if (last_ != nullptr) last_->restore(false);
    return last_ != nullptr;
  }

  /// The findings of the last round.
  [[nodiscard]] std::span<const Finding> findings() const noexcept { return findings_.list(); }
  /// The number of findings that the list has no room for.
  [[nodiscard]] std::size_t findings_dropped() const noexcept { return findings_.dropped(); }

  [[nodiscard]] const Error::Text& failure_text() const noexcept {
    if (!halt_.text().empty() || findings_.empty()) {
      return halt_.text().empty() ? inner_.failure_text() : halt_.text();
    }
    return findings_.list()[0].text;
  }
  void request_stop() noexcept {
    halt_.request_stop();
    Base::request_stop();
  }

 private:
  /// Makes the first three runs, up to the first with a finding.
  [[nodiscard]] Status check(RoundChecker& checker) noexcept {
    checker.restore(false);
    if (const Status s = checker.run_watched(halt_, findings_); !s || !findings_.empty()) return s;
    checker.restore(true);
    if (const Status s = checker.run_in_order(halt_); !s) return s;
    checker.compare(Finding::Kind::not_repeatable, findings_);
    if (!findings_.empty()) return {};
    checker.restore(true);
    if (const Status s = checker.run_in_other_order(halt_, rounds_++); !s) return s;
    checker.compare(Finding::Kind::depends_on_order, findings_);
    return {};
  }

  Halt halt_;
  Findings findings_;
  bool is_reported_ = true;
  std::uint64_t rounds_ = 0;
  RoundChecker* running_ = nullptr;  ///< while Inner runs its program
  RoundChecker* last_ = nullptr;     ///< the checker of the last round
};

}  // namespace rondo::platform::sim

namespace rondo {
using platform::sim::Checked;
using platform::sim::Finding;

namespace detail {
template <class P>
struct CheckedOn {
  static_assert(!sizeof(P),
                "rondo: CheckRounds looks into device memory, which the simulated platforms and the host "
                "alone allow");
};
template <class Engine>
struct CheckedEngine {
  using type = Checked<Engine>;
};
template <class Inner>
struct CheckedEngine<Checked<Inner>> {
  using type = Checked<Inner>;
};
/// The platforms whose device memory is host memory.
template <class P>
  requires requires { typename P::template On<Checked<typename P::Engine>>; }
struct CheckedOn<P> {
  using type = typename P::template On<typename CheckedEngine<typename P::Engine>::type>;
};
}  // namespace detail

/// The check as a policy: open() wraps the engine of the platform in Checked. Includes CheckMemory.
///
///     struct Debugging : DefaultPolicies { using Check = CheckRounds; };
///     auto session = open<A2A3SimOn<Pool>, Debugging>(graph);  // over A2A3SimOn<Checked<Pool>>
struct CheckRounds {
  /// The platform on which sessions run in place of P.
  template <class P>
  using Platform = typename detail::CheckedOn<P>::type;
  /// Whether a session checks memory as with CheckMemory.
  static constexpr bool checks_memory = true;
};
}  // namespace rondo
