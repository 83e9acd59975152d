// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include "any_session.hpp"
#include "elements.hpp"
#include "errors.hpp"

#include <rondo/platform/null.hpp>
#include <rondo/platform/select.hpp>
#include <rondo/session/dynamic_bindings.hpp>
#include <rondo/session/open.hpp>

#include <span>

namespace rondo::python {

namespace {

template <Platform P>
class SessionOn final : public AnySession {
  using Session = RoundSession<P>;

  class Bindings final : public AnyBindings {
   public:
    explicit Bindings(Session& session) : bindings_(session) {}
    Status bind(TensorId tensor, void* host, Bytes size) noexcept override {
      return bindings_.bind(tensor, host, size);
    }
    Status run_round() noexcept override { return bindings_.run_round(); }
    Status begin_round() noexcept override { return bindings_.begin_round(); }
    Status launch() noexcept override { return bindings_.launch(); }
    Status finish() noexcept override { return bindings_.finish(); }
    [[nodiscard]] bool in_round() const noexcept override { return bindings_.in_round(); }

   private:
    DynamicBindings<Session> bindings_;
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
    constexpr bool is_able = requires(P & p) { p.request_stop(); };
    if constexpr (is_able) session_.request_stop();
    return is_able;
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
