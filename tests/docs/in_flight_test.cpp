// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// The programs that docs/in_flight.md shows.

#include <rondo/rondo.hpp>
#include <rondo/session/round_loop.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace {

struct Twice {
  static constexpr std::string_view name = "twice";
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::In<float> x, rondo::Out<float> y) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = 2 * x[i];
  }
};
using Session = rondo::PipelinedSession<rondo::A2A3Sim, 3>;

struct Batch {
  std::vector<float> x = std::vector<float>(8, 1.0F);
  std::vector<float> y = std::vector<float>(8);
};

rondo::TaskGraph graph;
const auto x = graph.input<float>("x", {8});
const auto y = graph.output<float>("y", {8});
const auto task = graph.add<Twice>(x, y);

rondo::Error::Text run(Session& session, std::vector<Batch>& batches) {
  rondo::RoundTicket last;
  for (auto& batch : batches) {
    last = session.submit_round(bind(x, batch.x), bind(y, batch.y));
    if (!last) break;
  }
  rondo::Status status = session.wait_all();     // until then rounds may write to the batches
  if (status.ok()) status = session.wait(last);  // the failure if the last round was refused
  return session.explain(status);
}

/// Doubles a token until it is large.
struct Request {
  std::vector<float> token = std::vector<float>(8, 1.0F);
  std::vector<float> logits = std::vector<float>(8);
  [[nodiscard]] bool done() const { return token[0] >= 1000.0F; }
  void choose() { token = logits; }
};

rondo::RoundLoop decode(Session& session, Request& request) {
  const auto& token = x;
  const auto& logits = y;
  while (!request.done()) {
    const auto status = co_await session.round(bind(token, request.token), bind(logits, request.logits));
    if (!status) co_return status;
    request.choose();
  }
  co_return rondo::Status{};
}

}  // namespace

TEST_CASE("Batches overlap, each with its own result") {
  auto session = rondo::open_pipelined<rondo::A2A3Sim, 3>(graph);
  std::vector<Batch> batches(10);
  CHECK(std::string(run(session, batches).c_str()) == "ok");
  for (const Batch& batch : batches) CHECK(batch.y == std::vector<float>(8, 2.0F));

  batches[4].x.pop_back();
  CHECK(std::string(run(session, batches).c_str()).find("it takes 32 bytes") != std::string::npos);
  CHECK(session.rounds() >= 10);
}

TEST_CASE("A completion hears of its round while the session is polled") {
  auto session = rondo::open_pipelined<rondo::A2A3Sim, 3>(graph);
  Batch batch;
  int good = 0;
  const auto done = [&](Batch& which, rondo::Status status) noexcept {
    good += status.ok() && which.y == std::vector<float>(8, 2.0F);
  };
  const auto ticket = session.submit_round(bind(x, batch.x), bind(y, batch.y),
                                           [&](rondo::Status status) noexcept { done(batch, status); });
  while (session.poll() != 0) {
  }
  CHECK(good == 1);
  CHECK(session.wait(ticket).ok());
}

TEST_CASE("Decode loops share a session") {
  auto session = rondo::open_pipelined<rondo::A2A3Sim, 3>(graph);
  std::vector<Request> requests(5);
  std::vector<rondo::RoundLoop> loops;
  for (Request& request : requests) loops.push_back(decode(session, request));
  CHECK(session.wait_all().ok());
  for (std::size_t i = 0; i < loops.size(); ++i) {
    CHECK(loops[i].done());
    CHECK(loops[i].status().ok());
    CHECK(requests[i].token[0] == 1024.0F);
  }
}
