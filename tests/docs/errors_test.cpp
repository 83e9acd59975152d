// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// docs/errors.md is what this program finds: it makes each mistake, and compares what it is told with the page. With
// RONDO_WRITE_ERRORS=<file> in the environment it writes the page instead.

#include <rondo/rondo.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

using namespace rondo;

namespace {

struct Twice {
  static constexpr std::string_view name = "twice";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> x, Out<float> y) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = 2 * x[i];
  }
};
struct Picky {
  static constexpr std::string_view name = "picky";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> x, Out<float> y) {
    if (x[0] < 0) throw std::runtime_error("x[0] is negative");
    y[0] = x[0];
  }
};

/// What was done, and what became of it.
struct Mistake {
  std::string done;
  std::string told;
};
using Mistakes = std::vector<Mistake>;

/// Of the tests.
std::string folder() {
  const std::string data = RONDO_TEST_DATA_DIR;
  return data.substr(0, data.rfind('/'));
}

/// Of a program that must not compile, the first text that its first line expects.
Mistake refused(const std::string& done, const std::string& program) {
  std::ifstream file(folder() + "/compile_fail/" + program + ".cpp");
  std::string line;
  std::getline(file, line);
  const std::string lead = "// expect: ";
  REQUIRE_MESSAGE(line.starts_with(lead), program);
  std::string text = line.substr(lead.size());
  text = text.substr(0, text.find(" || "));
  if (std::count(text.begin(), text.end(), '`') % 2 != 0) text += " …`";
  return {done, text};
}
/// Of set-up code, what it throws.
Mistake thrown(const std::string& done, const std::function<void()>& mistake) {
  try {
    mistake();
  } catch (const Error& error) {
    return {done, error.what()};
  }
  FAIL("nothing was thrown: ", done);
  return {};
}

Mistakes by_the_compiler() {
  return {
      refused("A kernel without a name", "kernel_without_name"),
      refused("A kernel whose `run` is no static function of tensors and scalars", "kernel_run_is_a_member"),
      refused("`add` with an argument too few or too many", "add_too_few_arguments"),
      refused("A tensor of another element type than the kernel's parameter", "add_wrong_element_type"),
      refused("A `std::vector` where the kernel takes a tensor", "add_vector_for_a_tensor"),
      refused("`1` for a kernel's `float`: an integer that may not be exact", "add_integer_for_a_float"),
      refused("A kernel that writes an input", "add_writes_an_input"),
      refused("A raw kernel whose tensors are passed bare", "add_raw_without_access"),
      refused("A temporary bound to a round", "bind_temporary"),
      refused("A pointer bound to a round", "bind_pointer"),
      refused("Host memory of another element type", "bind_wrong_element_type"),
      refused("A const output", "bind_const_output"),
      refused("A resident bound like an input", "bind_resident"),
      refused("Ordinary memory in an asynchronous round", "pageable_async_copy"),
      refused("A static graph's round with a tensor missing", "static_graph_too_few_bindings"),
      refused("A completion that may throw", "in_flight_completion_may_throw"),
  };
}

Mistakes while_setting_up() {
  return {
      thrown("Two tensors of one name",
             [] {
               TaskGraph g;
               (void)g.input<float>("x", {4});
               (void)g.input<float>("x", {4});
             }),
      thrown("A tensor of more than 2^63 bytes",
             [] {
               TaskGraph g;
               (void)g.input<float>("x", {std::size_t{1} << 40, std::size_t{1} << 40});
             }),
      thrown("A workspace that is read before any task writes it",
             [] {
               TaskGraph g;
               const auto t = g.workspace<float>("t", {4});
               g.add<Twice>(t, g.output<float>("y", {4}));
               (void)freeze(g);
             }),
      thrown("Two tasks that write one tensor, with no edge between them",
             [] {
               TaskGraph g{Edges::explicit_};
               const auto x = g.input<float>("x", {4});
               const auto y = g.output<float>("y", {4});
               g.add<Twice>(x, y);
               g.add<Twice>(x, y);
               (void)freeze(g);
             }),
      thrown("Edges in a circle",
             [] {
               TaskGraph g{Edges::explicit_};
               const auto x = g.input<float>("x", {4});
               const TaskId a = g.add<Twice>(x, g.output<float>("y", {4}));
               const TaskId b = g.add<Twice>(x, g.output<float>("z", {4}));
               g.add_edge(a, b);
               g.add_edge(b, a);
               (void)freeze(g);
             }),
      thrown("More blocks than the chip has",
             [] {
               TaskGraph g;
               g.add<Twice>(Blocks{1000}, g.input<float>("x", {4}), g.output<float>("y", {4}));
               (void)open<A2A3Sim>(g);
             }),
      thrown("More memory than the device has",
             [] {
               TaskGraph g;
               g.add<Twice>(g.input<float>("x", {1000}), g.output<float>("y", {1000}));
               (void)open<A2A3Sim>(g, {.device_memory = Bytes{4096}});
             }),
      thrown("A name that the graph does not have",
             [] {
               TaskGraph g;
               g.add<Twice>(g.input<float>("x", {4}), g.output<float>("y", {4}));
               (void)freeze(g).input<float>("z");
             }),
  };
}

Mistakes in_a_round() {
  TaskGraph g;
  const auto x = g.input<float>("x", {4});
  const auto y = g.output<float>("y", {4});
  g.add<Picky>(x, y);
  auto session = open<A2A3Sim>(g);
  std::vector<float> hx(4, 1.0F), hy(4), small(3);
  Mistakes all;
  const auto told = [&](const char* done, Status status) {
    CHECK_FALSE(status);
    all.push_back({done, session.explain(status).c_str()});
  };
  told("A span of the wrong size", session.run_round(bind(x, small), bind(y, hy)));
  told("A tensor left out", session.run_round(bind(x, hx)));
  told("A tensor bound twice", session.run_round(bind(x, hx), bind(x, hx)));
  told("A null pointer", session.run_round(bind(x, std::span<float>(static_cast<float*>(nullptr), 4)), bind(y, hy)));
  TaskGraph other;
  const auto stranger = other.input<float>("x", {4});
  told("A tensor of another graph", session.run_round(bind(stranger, hx), bind(y, hy)));
  {
    auto open_round = session.begin_round(bind(x, hx), bind(y, hy));
    told("A second round while one is under way", session.run_round(bind(x, hx), bind(y, hy)));
    CHECK(std::move(open_round).launch().finish().status().ok());
  }
  hx[0] = -1.0F;
  told("A kernel that throws", session.run_round(bind(x, hx), bind(y, hy)));
  told("The next round", session.run_round(bind(x, hx), bind(y, hy)));
  (void)session.close();
  told("A round after `close()`", session.run_round(bind(x, hx), bind(y, hy)));

  TaskGraph with_resident;
  const auto r = with_resident.resident<float>("weights", {4});
  const auto out = with_resident.output<float>("y", {4});
  with_resident.add<Twice>(r, out);
  auto stateful = open<A2A3Sim>(with_resident);
  const Status unread = stateful.run_round(bind(out, hy));
  all.push_back({"A resident that is read before anything was uploaded to it", stateful.explain(unread).c_str()});

  auto overlapping = open_pipelined<A2A3Sim, 2>(g);
  const Status foreign = overlapping.wait(RoundTicket(7, Status{}));
  all.push_back({"A ticket of another session", overlapping.explain(foreign).c_str()});
  return all;
}

const char* name_of(Errc code) {
  switch (code) {
    case Errc::ok: return "ok";
    case Errc::invalid_argument: return "invalid_argument";
    case Errc::overflow: return "overflow";
    case Errc::null_memory: return "null_memory";
    case Errc::wrong_size: return "wrong_size";
    case Errc::wrong_tensor: return "wrong_tensor";
    case Errc::unbound_tensor: return "unbound_tensor";
    case Errc::bound_twice: return "bound_twice";
    case Errc::misaligned: return "misaligned";
    case Errc::fixed_address: return "fixed_address";
    case Errc::overlapping: return "overlapping";
    case Errc::alias_broken: return "alias_broken";
    case Errc::shared_memory: return "shared_memory";
    case Errc::cycle: return "cycle";
    case Errc::race: return "race";
    case Errc::uninitialized_read: return "uninitialized_read";
    case Errc::limit_exceeded: return "limit_exceeded";
    case Errc::busy: return "busy";
    case Errc::mixed_modes: return "mixed_modes";
    case Errc::closed: return "closed";
    case Errc::poisoned: return "poisoned";
    case Errc::not_open: return "not_open";
    case Errc::out_of_memory: return "out_of_memory";
    case Errc::out_of_resources: return "out_of_resources";
    case Errc::no_such_device: return "no_such_device";
    case Errc::unsupported: return "unsupported";
    case Errc::timed_out: return "timed_out";
    case Errc::stopped: return "stopped";
    case Errc::abandoned: return "abandoned";
    case Errc::deadlock: return "deadlock";
    case Errc::kernel_failed: return "kernel_failed";
    case Errc::orchestration_failed: return "orchestration_failed";
    case Errc::device_failed: return "device_failed";
    case Errc::check_failed: return "check_failed";
    case Errc::stale_memory: return "stale_memory";
  }
  return nullptr;
}

std::string codes() {
  std::ostringstream out;
  for (int code = 1; name_of(static_cast<Errc>(code)) != nullptr; ++code) {
    out << "| `" << name_of(static_cast<Errc>(code)) << "` | " << describe(static_cast<Errc>(code)) << " |\n";
  }
  return out.str();
}

std::string page() {
  std::ostringstream out;
  out << "<!-- SPDX-FileCopyrightText: 2026 The Rondo authors -->\n"
         "<!-- SPDX-License-Identifier: Apache-2.0 -->\n"
         "# Messages for the likeliest mistakes\n\n"
         "If the compiler can find a mistake, it does. Otherwise set-up throws an `Error`, or the round returns a "
         "`Status`, which\n"
         "`session.explain(status)` turns into a sentence. A test makes each of these mistakes and compares the "
         "message with this\n"
         "page.\n";
  const auto section = [&](const char* title, const Mistakes& mistakes) {
    out << "\n## " << title << "\n";
    for (const Mistake& m : mistakes) out << "\n**" << m.done << "**\n\n> " << m.told << '\n';
  };
  section("From the compiler", by_the_compiler());
  section("While setting up", while_setting_up());
  section("In a round", in_a_round());
  out << "\n## All codes\n\n"
         "An `Error` and a `Status` have a code, `rondo::Errc`. In C the codes are called `RONDO_…`, and in Python "
         "`rondo.Errc.…`.\n"
         "`kernel_failed`, `orchestration_failed`, `deadlock`, `device_failed`, `timed_out` and `stopped` poison the "
         "session if a\n"
         "round fails with them; `status.poisoned()` says so. After all other failures of a round the session stays "
         "usable, unless\n"
         "the round was in flight: a round that fails after it was submitted always poisons the session.\n\n"
         "| code | meaning, and what to do |\n|---|---|\n"
      << codes();
  return out.str();
}

}  // namespace

TEST_CASE("The page of errors says what they say") {
  const std::string expected = page();
  if (const char* const path = std::getenv("RONDO_WRITE_ERRORS"); path != nullptr) {
    std::ofstream(path) << expected;
    return;
  }
  std::ifstream file(folder() + "/../docs/errors.md");
  std::ostringstream text;
  text << file.rdbuf();
  CHECK_MESSAGE(text.str() == expected,
                "write the page again with RONDO_WRITE_ERRORS=docs/errors.md, and read what changed");
}
