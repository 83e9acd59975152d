// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include "any_session.hpp"
#include "elements.hpp"
#include "errors.hpp"

#include <rondo/binding/dynamic_bindings.hpp>
#include <rondo/platform/null.hpp>
#include <rondo/platform/select.hpp>
#include <rondo/platform/sim/pool.hpp>
#include <rondo/session/open.hpp>

#include <span>
#include <utility>
#include <variant>

namespace rondo::python {

namespace {

template <Platform P>
class SessionOn final : public AnySession {
  using Session = RoundSession<P>;

  class Bindings final : public AnyBindings {
    using BoundRound = decltype(std::declval<Session&>().begin_round(std::declval<DynamicBindings<Session>&>()));
    using LaunchedRound = decltype(std::declval<BoundRound>().launch());

   public:
    explicit Bindings(Session& session) : session_{session}, bindings_(session) {}
    Status bind(TensorId tensor, void* host, Bytes size) noexcept override {
      return bindings_.bind(tensor, host, size);
    }
    Status run_round() noexcept override { return session_.run_round(bindings_); }
    Status begin_round() noexcept override {
      BoundRound round = session_.begin_round(bindings_);
      const Status status = round.failure();
      if (status.ok()) round_.template emplace<BoundRound>(std::move(round));
      return status;
    }
    Status launch() noexcept override {
      BoundRound* const bound = std::get_if<BoundRound>(&round_);
      if (bound == nullptr) return Status{Errc::busy};
      LaunchedRound launched = std::move(*bound).launch();
      const Status status = launched.failure();
      round_.template emplace<LaunchedRound>(std::move(launched));
      return status;
    }
    Status finish() noexcept override {
      Status status{Errc::abandoned};
      if (LaunchedRound* const launched = std::get_if<LaunchedRound>(&round_); launched != nullptr) {
        status = std::move(*launched).finish().status();
      }
      round_.template emplace<std::monostate>();  // a round that was not launched is dropped
      return status;
    }

   private:
    Session& session_;
    DynamicBindings<Session> bindings_;
    std::variant<std::monostate, BoundRound, LaunchedRound> round_;  ///< the one under way
  };

 public:
  explicit SessionOn(const TaskGraph& graph) : session_(freeze(graph)) {}

  [[nodiscard]] std::unique_ptr<AnyBindings> make_bindings() override { return std::make_unique<Bindings>(session_); }
  [[nodiscard]] graph::GraphView graph() const noexcept override { return session_.graph().view(); }
  [[nodiscard]] Error::Text explain(Status status) const noexcept override { return session_.explain(status); }
  Status upload(std::size_t tensor, const void* host, std::size_t size) noexcept override {
    return with_element(graph().tensors[tensor].type, [&](auto t) {
      using T = typename decltype(t)::type;
      const std::span<const T> memory{static_cast<const T*>(host), size};
      return session_.upload(Resident<T>{graph().key(tensor)}, memory);
    });
  }
  Status download(std::size_t tensor, void* host, std::size_t size) noexcept override {
    return with_element(graph().tensors[tensor].type, [&](auto t) {
      using T = typename decltype(t)::type;
      const std::span<T> memory{static_cast<T*>(host), size};
      return session_.download(Resident<T>{graph().key(tensor)}, memory);
    });
  }
  Status set_scalar(TaskId task, std::size_t n, ArgWord word) noexcept override {
    return session_.set_scalar(task, n, word);
  }
  bool request_stop() noexcept override {
    if constexpr (HasStopping<P>) session_.request_stop();
    return HasStopping<P>;
  }
  [[nodiscard]] std::uint64_t rounds() const noexcept override { return session_.rounds(); }
  [[nodiscard]] bool poisoned() const noexcept override { return session_.poisoned(); }
  [[nodiscard]] Bytes arena_bytes() const noexcept override { return session_.arena_bytes(); }
  Status close() noexcept override { return session_.close(); }

 private:
  Session session_;
};

template <Platform P>
std::unique_ptr<AnySession> open_on(const TaskGraph& graph) {
  return std::make_unique<SessionOn<P>>(graph);
}

constexpr const char* names[] = {"a2a3_sim", "a5_sim", "a2a3_sim_pool", "a5_sim_pool", "null", nullptr};
using Opener = std::unique_ptr<AnySession> (*)(const TaskGraph&);
constexpr Opener openers[] = {open_on<A2A3Sim>, open_on<A5Sim>, open_on<A2A3SimOn<Pool>>, open_on<A5SimOn<Pool>>,
                              open_on<NullPlatform>};

}  // namespace

std::unique_ptr<AnySession> open_any(std::string_view platform, const TaskGraph& graph) {
  for (std::size_t p = 0; p < std::size(openers); ++p) {
    if (platform == names[p]) return openers[p](graph);
  }
  fail(Errc::invalid_argument, "there is no platform '", platform,
       "'; the platforms are a2a3_sim, a5_sim, a2a3_sim_pool, a5_sim_pool, null");
}

const char* const* platform_names() noexcept { return names; }

}  // namespace rondo::python
