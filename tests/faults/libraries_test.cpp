// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Each library that Rondo opens at run time fails to open once: the error names it and says what to do, or another
// library takes its place, and what opens afterwards works. A library is opened once in a process, so each life has a
// process of its own.

#include "conformance/kernels.hpp"
#include "conformance/platforms.hpp"
#include "cuda_stand_in/over_cuda_stand_in.hpp"
#include "faults/system_calls.hpp"

#include <rondo/platform/cuda/nccl.hpp>
#include <rondo/platform/onboard/hccl.hpp>

#include <doctest/doctest.h>

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

using namespace rondo;
using namespace rondo::test;

namespace {

using Floats = std::vector<float>;

/// A session of one round.
template <class P, bool has_marks = false>
bool live_with_session() {
  Floats in(4, 2), out(4);
  TaskGraph graph;
  const auto x = graph.input<float>("x", {4});
  const auto y = graph.output<float>("y", {4});
  graph.add<kernels::Scale>(x, y, 3.0F);
  typename P::Options options{};
  if constexpr (has_marks) options.profiler_ranges = true;
  auto session = open<P>(graph, options);
  return session.run_round(bind(x, in), bind(y, out)).ok() && session.close().ok() && out == Floats(4, 6);
}
/// The only rank of a group.
struct Alone {
  static int rank() { return 0; }
  static int size() { return 1; }
  static std::vector<std::uint64_t> gather(std::span<const std::uint64_t> numbers) {
    return {numbers.begin(), numbers.end()};
  }
};
template <class Communicator>
bool live_with_collectives() {
  return Communicator(Alone{}).size() == 1;
}

/// Runs a life in a process of its own and, if it throws, another one there, which must be right. The exception leaves
/// nothing behind. @throws Error with the text of the life's exception
template <bool (*live)()>
bool live_in_a_process() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return false;
  const pid_t child = ::fork();
  if (child == 0) {
    // These stay in any case.
    (void)platform::onboard::Runtime::instance(), (void)platform::cuda::Runtime::instance();
    rondo_stand_in_chip("a5"), rondo_cuda_stand_in_reset();
    const Held before = held();
    bool is_right = false, has_thrown = false;
    try {
      is_right = live();
    } catch (const Error& error) {
      has_thrown = true;
      is_right = ::write(ends[1], error.what(), std::strlen(error.what())) > 0;
    }
    if (has_thrown) is_right = is_right && held() == before && live();
    ::_exit(is_right ? 0 : 1);
  }
  ::close(ends[1]);
  char text[512] = {};
  const ssize_t size = ::read(ends[0], text, sizeof(text) - 1);
  ::close(ends[0]);
  int status = -1;
  if (child < 0 || ::waitpid(child, &status, 0) != child || status != 0) return false;
  if (size > 0) throw Error(Errc::no_such_device, Error::Text(text));
  return true;
}

/// The system's reason.
constexpr const char* reason = "/a library that fails: cannot open shared object file";

/// Whether each part is in the text.
bool has(const std::string& text, std::initializer_list<const char*> parts) {
  for (const char* const part : parts) {
    if (text.find(part) == std::string::npos) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("A driver that cannot be opened is named, and a later session opens it") {
  const auto is_named = [](const Outcome& outcome) {
    CHECK(has(outcome.told, {"libcuda.so.1 cannot be opened: ", reason, "; install what is missing"}));
  };
  const auto live = &live_in_a_process<&live_with_session<CudaOverStandIn>>;
  CHECK(fail_each_use(SystemCall::library, {0}, live, is_named) == 1);
}

TEST_CASE("A runtime that cannot be opened is named, and a later session opens it; the profiler may be missing") {
  const auto is_named = [](const Outcome& outcome) {
    const bool is_profilers = outcome.n == 2;
    CHECK(outcome.told.empty() == is_profilers);
    CHECK(
        (is_profilers || has(outcome.told, {"libacl_rt.so cannot be opened: ", reason, "; install what is missing"})));
  };
  const auto live = &live_in_a_process<&live_with_session<A2A3OverStandIn>>;
  CHECK(fail_each_use(SystemCall::library, {0}, live, is_named) == 1);
  const auto live_with_marks = &live_in_a_process<&live_with_session<A5OverStandIn, true>>;
  CHECK(fail_each_use(SystemCall::library, {0}, live_with_marks, is_named) == 2);
}

TEST_CASE("The library that the environment names takes the place of one that cannot be opened") {
  Dl_info stand_in{};
  REQUIRE(::dladdr(reinterpret_cast<const void*>(&rondo_stand_in_reset), &stand_in) != 0);
  REQUIRE(::setenv("RONDO_ACL_LIBRARY", stand_in.dli_fname, 1) == 0);
  const auto live = &live_in_a_process<&live_with_session<A2A3OverStandIn>>;
  const auto is_quiet = [](const Outcome& outcome) { CHECK(outcome.told.empty()); };
  CHECK(fail_each_use(SystemCall::library, {0}, live, is_quiet) == 1);
  REQUIRE(::unsetenv("RONDO_ACL_LIBRARY") == 0);
}

TEST_CASE("A library of collectives that cannot be opened is named, and is opened later") {
  const auto live_on_npu = &live_in_a_process<&live_with_collectives<HcclCommunicator>>;
  const auto live_on_gpu = &live_in_a_process<&live_with_collectives<NcclCommunicator>>;
  const auto is_named = [](const char* first, const char* second) {
    return [=](const Outcome& outcome) {
      const char* const library = outcome.n == 1 ? first : second;
      CHECK(has(outcome.told, {library, " cannot be opened: ", reason, "; install what is missing"}));
    };
  };
  CHECK(fail_each_use(SystemCall::library, {0}, live_on_npu, is_named("libhccl.so", "libacl_rt.so")) == 2);
  CHECK(fail_each_use(SystemCall::library, {0}, live_on_gpu, is_named("libnccl.so.2", "libcuda.so.1")) == 2);
}
