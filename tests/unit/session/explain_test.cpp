// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/session/explain.hpp>

#include <rondo/graph/freeze.hpp>
#include <unit/support.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <string>

using namespace rondo;
using namespace rondo::test;

namespace {

struct Rig {
  TaskGraph graph;
  Input<float> x = graph.input<float>("x", {4});
  Output<float> y = graph.output<float>("y", {4});
  TaskId task = graph.add<Scale>(x, y, 2.0F);
  FrozenGraph frozen = freeze(graph);

  std::string explain(Status status, std::uint64_t bytes = 0, const char* said = nullptr) const {
    const Error::Text words(said != nullptr ? said : "");
    return detail::explain_status(frozen.view(), status, bytes, said != nullptr ? &words : nullptr).c_str();
  }
};

}  // namespace

TEST_CASE("A sentence names the tensor or the task, and what is wrong with it") {
  const Rig rig;
  CHECK(rig.explain({}) == "ok");
  CHECK(rig.explain(Status::of_tensor(Errc::wrong_size, 1), 12) ==
        "tensor 'y' (out, 4 × float32): it takes 16 bytes, 12 were bound; bind a span of exactly its elements");
  CHECK(says(rig.explain(Status::of_tensor(Errc::uninitialized_read, 0)), "tensor 'x'", "call session.upload first"));
  CHECK(says(rig.explain(Status::of_task(Errc::kernel_failed, 0)), "task 0 'scale': "));
  CHECK(rig.explain(Status{Errc::closed}) == Status{Errc::closed}.message());
}

TEST_CASE("A subject that the graph has not is not named") {
  const Rig rig;
  for (const std::uint32_t no_tensor : {2U, 9U}) {
    CHECK(rig.explain(Status::of_tensor(Errc::wrong_tensor, no_tensor)) == Status{Errc::wrong_tensor}.message());
  }
  CHECK(rig.explain(Status::of_task(Errc::kernel_failed, 9)) == Status{Errc::kernel_failed}.message());
}

TEST_CASE("The platform's own words are added to failures of the device, and to no others") {
  const Rig rig;
  CHECK(says(rig.explain(Status{Errc::device_failed}, 0, "the fan stands still"),
             "; the platform reports: the fan stands still"));
  CHECK(says(rig.explain(Status{Errc::busy}, 0, "the fan stands still"), "; the platform's last failure: the fan"));
  CHECK_FALSE(says(rig.explain(Status{Errc::wrong_tensor}, 0, "the fan stands still"), "fan"));
  CHECK(rig.explain(Status{Errc::device_failed}, 0, "") == Status{Errc::device_failed}.message());
}
