// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/measure/local_runner.hpp>
#include <rondo/measure/program_measurer.hpp>
#include <rondo/measure/source_builder.hpp>
#include <rondo/rondo.hpp>

#include "unit/measure/process_support.hpp"
#include "unit/support.hpp"

#include <sys/wait.h>

#include <doctest/doctest.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <future>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace rondo;
using namespace rondo::measure;

/// The body of a candidate: what stands between the braces of `void twice(int64_t* words)`, which gets x and y.
std::string candidate(const std::string& body) {
  return "#include <cstdint>\n#include <cstdio>\n#include <cstdlib>\n#include <signal.h>\n#include <unistd.h>\n"
         "extern \"C\" void twice(std::int64_t* words) {\n"
         "  const float* x = reinterpret_cast<const float*>(words[0]);\n"
         "  float* y = reinterpret_cast<float*>(words[1]);\n"
         "  (void)x; (void)y;\n" +
         body + "\n}\n";
}
const std::string good = "for (int i = 0; i < 8; ++i) y[i] = 2 * x[i];";

/// For candidates that end: longer than a busy machine takes.
const LocalRunnerOptions patient{.time_limit = 1e6};

/// Compiled at most once in all tests.
SharedObject compile(const std::string& body) {
  static const test::Folder folder;
  static SourceBuilder builder({.workers = 1, .flags = {"-O0"}, .time_limit = 1e6, .cache = folder.path()});
  std::promise<Built<SharedObject>> promise;
  builder.submit_build({.source = candidate(body)}, [&](Built<SharedObject> b) { promise.set_value(std::move(b)); });
  Built<SharedObject> built = promise.get_future().get();
  INFO(built.text);
  REQUIRE(built.artifact);
  return std::move(*built.artifact);
}

/// A round of the candidate between two tensors of eight elements, checked and then timed.
void run_twice(Trial& trial) {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {8});
  const auto y = graph.output<float>("y", {8});
  graph.add_raw("twice", CoreType::vector, trial.symbol<void(ArgWord*)>("twice"), reads(x), writes(y));
  auto session = open<A2A3Sim>(graph);
  std::vector<float> hx{1, 2, 3, 4, 5, 6, 7, 8}, hy(8), reference{2, 4, 6, 8, 10, 12, 14, 16};
  if (const Status status = session.run_round(bind(x, hx), bind(y, hy)); !status) {
    throw Failure(fault_of(status.code()), session.explain(status).c_str());
  }
  trial.check("y", hy, reference);
  trial.time_rounds(session, bind(x, hx), bind(y, hy));
}

std::future<Measured> submit(LocalRunner& runner, SharedObject artifact) {
  auto promise = std::make_shared<std::promise<Measured>>();
  runner.submit_run(std::move(artifact), [promise](Measured m) { promise->set_value(std::move(m)); });
  return promise->get_future();
}
Measured run(LocalRunner& runner, const std::string& body) { return submit(runner, compile(body)).get(); }

/// Code that leaves its process's number in a file.
std::string note(const std::string& file, const std::string& pid = "getpid()") {
  return "if (FILE* f = fopen(\"" + file + "\", \"w\")) { fprintf(f, \"%d\", (int)" + pid + "); fclose(f); }\n";
}
long noted(const std::string& file) {
  const std::string text = test::read_file(file);
  REQUIRE(!text.empty());
  return std::stol(text);
}
void await_end(long pid) {
  test::await([pid] { return !test::is_alive(pid); });
}

}  // namespace

TEST_CASE("A candidate runs as a round session in a process of its own") {
  const test::Folder folder;
  LocalRunner runner(run_twice, {.time_limit = 1e6, .repetition = {.number = 2, .repeat = 4}});
  const Measured m = run(runner, good + note(folder / "pid"));
  INFO(m.text);
  REQUIRE(m.ok());
  CHECK(m.seconds.size() == 4);
  CHECK(m.best() > 0);
  CHECK(m.run_seconds > 0);
  CHECK(noted(folder / "pid") != ::getpid());
}

TEST_CASE("A workload is told its candidate's file, its input and how often to repeat it") {
  ArtifactStore store;
  LocalRunner runner(
      [](Trial& trial) {
        const std::ifstream file(trial.path());
        std::ostringstream contents;
        contents << file.rdbuf();
        throw Failure(Fault::wrong_answer,
                      contents.str() + ", " + trial.argument() + ", " + std::to_string(trial.repetition().repeat));
      },
      {.time_limit = 1e6, .repetition = {.repeat = 7}});
  const Measured m = submit(runner, store.put("the file", "the input")).get();
  CHECK(m.fault == Fault::wrong_answer);
  CHECK(m.text == "the file, the input, 7");
}

TEST_CASE("A wrong answer is told apart, with the element that is wrong") {
  LocalRunner runner(run_twice, patient);
  const Measured m = run(runner, "for (int i = 0; i < 8; ++i) y[i] = i == 5 ? 0 : 2 * x[i];");
  CHECK(m.fault == Fault::wrong_answer);
  CHECK(test::says(m.text, "y[5] is 0", "says 12", "1 of 8"));
  CHECK(m.seconds.empty());
}

TEST_CASE("A candidate without the function is a fault of instantiation, as is a workload that times nothing") {
  LocalRunner runner([](Trial& trial) { (void)trial.symbol<void(ArgWord*)>("thrice"); }, patient);
  const Measured missing = run(runner, good);
  CHECK(missing.fault == Fault::instantiation);
  CHECK(test::says(missing.text, "thrice", "extern \"C\""));
  LocalRunner idle([](Trial&) {});
  CHECK(run(idle, good).fault == Fault::instantiation);
}

TEST_CASE("A candidate that crashes, exits or throws is a fault of its run, and the next one runs") {
  for (const std::size_t per_process : {1U, 100U}) {
    LocalRunner runner(run_twice, {.time_limit = 1e6, .candidates_per_process = per_process});
    CHECK(run(runner, good).ok());
    const Measured crash = run(runner, "*reinterpret_cast<volatile int*>(8) = 1;");
    CHECK(crash.fault == Fault::run);
    CHECK(test::says(crash.text, "crashed", "signal 11"));
    CHECK(run(runner, good).ok());
    const Measured exits = run(runner, "puts(\"last words\"); exit(3);");
    CHECK(exits.fault == Fault::run);
    CHECK(test::says(exits.text, "status 3", "it printed: last words"));
    CHECK(run(runner, good).ok());
    const Measured throws = run(runner, "throw 7;");
    CHECK(throws.fault == Fault::run);
    CHECK(test::says(throws.text, "twice"));
    CHECK(run(runner, good).ok());
    const Measured aborts = run(runner, "abort();");
    CHECK(aborts.fault == Fault::run);
    CHECK(run(runner, good).ok());
  }
}

TEST_CASE("A candidate that hangs is killed at the limit with all it started, even what ran away from it") {
  // On a busy machine it is given more time, until it has started everything.
  bool has_started = false;
  for (double limit = 2.5; !has_started; limit *= 2) {
    const test::Folder folder;
    LocalRunner runner(run_twice, {.time_limit = limit});
    const Measured m = run(runner, note(folder / "self") + "if (fork() == 0) {" + note(folder / "child") +
                                       "for (;;) pause(); }\n"
                                       "if (fork() == 0) { setsid(); if (fork() == 0) {" +
                                       note(folder / "daemon") +
                                       "for (;;) pause(); } _exit(0); }\n"
                                       "signal(SIGTERM, SIG_IGN); for (;;) pause();");
    CHECK(m.fault == Fault::run_timeout);
    CHECK(test::says(m.text, "not done within"));
    has_started = true;
    for (const char* name : {"self", "child", "daemon"}) {
      const std::string text = test::read_file(folder / name);
      has_started = has_started && !text.empty();
      if (!text.empty()) await_end(std::stol(text));
    }
    if (!has_started) continue;
    const Measured next = run(runner, good);
    CHECK((next.ok() || next.fault == Fault::run_timeout));
    has_started = next.fault != Fault::run_timeout;
  }
}

TEST_CASE("What a candidate leaves running does not outlive its turn") {
  const test::Folder folder;
  LocalRunner runner(run_twice, patient);
  const Measured m = run(runner, good +
                                     "static bool once = false; if (!once) { once = true;\n"
                                     "if (fork() == 0) { setsid(); if (fork() == 0) {" +
                                     note(folder / "daemon") + note(folder / "ready") +
                                     "for (;;) pause(); } _exit(0); }\n"
                                     "while (access(\"" +
                                     folder / "ready" + "\", F_OK) != 0) usleep(1000); }");
  INFO(m.text);
  CHECK(m.ok());
  await_end(noted(folder / "daemon"));
}

TEST_CASE("What a candidate leaves running ends with its turn also where a process runs several candidates") {
  const test::Folder folder;
  LocalRunner runner(run_twice, {.time_limit = 1e6, .candidates_per_process = 100});
  const std::string wait = "while (access(\"" + folder / "ready" + "\", F_OK) != 0) usleep(1000);\n";
  const std::string loop = note(folder / "left") + note(folder / "ready") + "for (;;) pause(); }\n";
  for (const std::string& left :
       {"if (fork() == 0) { " + loop, "if (fork() == 0) { setsid(); if (fork() == 0) {" + loop + "_exit(0); }\n"}) {
    (void)std::filesystem::remove(folder / "ready");
    const Measured m = run(runner, good + note(folder / "self") +
                                       "static bool once = false; if (!once) { once = true;\n" + left + wait + "}");
    INFO(m.text);
    CHECK(m.ok());
    CHECK(!test::is_alive(noted(folder / "left")));
    CHECK(run(runner, good + note(folder / "next")).ok());
    CHECK(noted(folder / "next") != noted(folder / "self"));
  }
}

TEST_CASE("An input or a result that is too long for a message is a fault of the candidate that says so") {
  const std::size_t length = (std::size_t{64} << 20) + 1;
  LocalRunner runner([](Trial& trial) { trial.measured().seconds.assign(std::stoul(trial.argument()), 1.0); },
                     {.time_limit = 1e6, .candidates_per_process = 100});
  const Measured input = submit(runner, ArtifactStore().put("", std::string(length, '1'))).get();
  CHECK(input.fault == Fault::instantiation);
  CHECK(test::says(input.text, "the input of the candidate takes ", " bytes; the most is 67108864"));
  const Measured result = submit(runner, ArtifactStore().put("", std::to_string(length / 8))).get();
  CHECK(result.fault == Fault::instantiation);
  CHECK(test::says(result.text, "times and texts", "67108864"));
  CHECK(result.seconds.empty());
  const Measured next = submit(runner, ArtifactStore().put("", "1000000")).get();
  INFO(next.text);
  CHECK(next.seconds.size() == 1'000'000);
}

TEST_CASE("A crash is seen at once although a child of the candidate lives on, in a session of its own") {
  const test::Folder folder;
  LocalRunner runner(run_twice, patient);
  const Measured m = run(runner, "if (fork() == 0) { setsid();" + note(folder / "child") + note(folder / "ready") +
                                     "for (;;) pause(); }\n"
                                     "while (access(\"" +
                                     folder / "ready" +
                                     "\", F_OK) != 0) usleep(1000);\n"
                                     "*reinterpret_cast<volatile int*>(8) = 1;");
  CHECK(m.fault == Fault::run);
  CHECK(test::says(m.text, "signal 11"));
  await_end(noted(folder / "child"));
}

TEST_CASE("The time limit is of one candidate's turn, and waiting for it does not count") {
  // Two rounds are 0.6 s, and five candidates 3 s. A busy machine gets more time, but always less than all of them
  // take.
  bool all_are_ok = false;
  for (int times = 1; !all_are_ok; times *= 2) {
    LocalRunner runner(run_twice, {.time_limit = 2.5 * times, .repetition = {.warm_up = 0, .repeat = 1}});
    const SharedObject slow = compile(good + "usleep(" + std::to_string(300'000 * times) + ");");
    std::vector<std::future<Measured>> all;
    for (int i = 0; i < 5; ++i) all.push_back(submit(runner, slow));
    all_are_ok = true;
    for (auto& each : all) {
      const Measured m = each.get();
      CHECK((m.ok() || m.fault == Fault::run_timeout));
      all_are_ok = m.ok() && all_are_ok;
    }
  }
}

TEST_CASE("A device has one candidate at a time, and each device its own") {
  const test::Folder folder;
  const auto exclusive = [path = folder.path()](Trial& trial) {
    const std::string lock = path + "/" + std::to_string(trial.device());
    if (trial.device() > 1) throw Failure(Fault::run, "there is no such device");
    if (::open(lock.c_str(), O_CREAT | O_EXCL | O_RDWR, 0600) < 0) throw Failure(Fault::run, "another is at it");
    ::usleep(3000);
    trial.time_calls([] {});
    (void)::unlink(lock.c_str());
  };
  LocalRunner runner(exclusive, {.devices = 2, .time_limit = 1e6});
  std::vector<std::future<Measured>> all;
  for (int i = 0; i < 20; ++i) all.push_back(submit(runner, compile(good)));
  for (auto& each : all) {
    const Measured m = each.get();
    INFO(m.text);
    CHECK(m.ok());
  }
}

TEST_CASE("A flood of output harms nobody, and little of it is kept") {
  LocalRunner runner(run_twice, {.time_limit = 1e6, .output_bytes = 200});
  const std::string flood = "for (int i = 0; i < 300000; ++i) puts(\"a line of text that nobody will ever read\");";
  const Measured fine = run(runner, good + flood);
  CHECK(fine.ok());
  CHECK(fine.text.empty());
  const Measured m = run(runner, flood + "fflush(stdout); abort();");
  CHECK(m.fault == Fault::run);
  CHECK(test::says(m.text, "it printed: a line of text", "bytes more"));
  CHECK(m.text.size() < 500);
  const Measured endless = [&] {
    LocalRunner impatient(run_twice, {.time_limit = 0.5, .output_bytes = 200});
    return run(impatient, "for (;;) puts(\"a line of text that nobody will ever read\");");
  }();
  CHECK(endless.fault == Fault::run_timeout);
}

TEST_CASE("What the program has yet to write into its files harms no candidate, and is written once") {
  const test::Folder folder;
  std::vector<std::FILE*> files;
  for (int i = 0; i < 12; ++i) {
    std::FILE* const file = std::fopen((folder / std::to_string(i)).c_str(), "w+");
    REQUIRE(file != nullptr);
    std::fputs("a line\n", file);
    files.push_back(file);
  }
  std::fputs("to be read\n", files[0]);
  std::rewind(files[0]);
  CHECK(std::fgetc(files[0]) == 'a');
  std::fseek(files[0], 2, SEEK_SET);
  std::fputs("L", files[0]);  // with bytes after it in the buffer
  for (const std::size_t per_process : {1U, 100U}) {
    LocalRunner runner(run_twice, {.time_limit = 1e6, .candidates_per_process = per_process});
    for (int i = 0; i < 2; ++i) {
      const Measured m = run(runner, good);
      INFO(m.text);
      CHECK(m.ok());
    }
    const Measured exits = run(runner, "puts(\"last words\"); exit(3);");
    CHECK(test::says(exits.text, "status 3", "it printed: last words"));
  }
  for (std::FILE* const file : files) (void)std::fclose(file);
  CHECK(test::read_file(folder / "0") == "a Line\nto be read\n");
  for (int i = 1; i < 12; ++i) CHECK(test::read_file(folder / std::to_string(i)) == "a line\n");
}

TEST_CASE("A worker killed by somebody else costs its candidate alone, which may be measured again") {
  LocalRunner runner(run_twice, patient);
  const Measured m = run(runner, "kill(getpid(), SIGKILL);");
  CHECK(m.fault == Fault::unknown);
  CHECK(!is_final(m.fault));
  CHECK(test::says(m.text, "killed", "measure it again"));
  CHECK(run(runner, good).ok());
}

TEST_CASE("If even the process that starts the others is killed, the next candidate gets a new one") {
  const test::Folder folder;
  LocalRunner runner(run_twice, patient);
  const Measured m = run(runner, note(folder / "self") + "kill(getppid(), SIGKILL); for (;;) pause();");
  CHECK(m.fault == Fault::unknown);
  await_end(noted(folder / "self"));
  for (int i = 0; i < 3; ++i) CHECK(run(runner, good).ok());
}

TEST_CASE("What a candidate started does not outlive even the process that starts the others") {
  const test::Folder folder;
  LocalRunner runner(run_twice, patient);
  const std::string child = "if (fork() == 0) { setsid();" + note(folder / "child") + note(folder / "ready") +
                            "for (;;) pause(); }\nwhile (access(\"" + folder / "ready" +
                            "\", F_OK) != 0) usleep(1000);\n";
  const Measured m = run(runner, child + "kill(getppid(), SIGKILL); for (;;) pause();");
  CHECK(m.fault == Fault::unknown);
  await_end(noted(folder / "child"));
  CHECK(run(runner, good).ok());
}

TEST_CASE("If its keeper is killed as well, both are started anew") {
  LocalRunner runner(run_twice, patient);
  const Measured m = run(runner,
                         "char path[64]; snprintf(path, sizeof path, \"/proc/%d/stat\", (int)getppid());\n"
                         "FILE* f = fopen(path, \"r\"); int keeper = 0;\n"
                         "if (fscanf(f, \"%*d %*s %*s %d\", &keeper) == 1) kill(keeper, SIGKILL);\nfor (;;) pause();");
  CHECK(m.fault == Fault::unknown);
  for (int i = 0; i < 3; ++i) CHECK(run(runner, good).ok());
}

TEST_CASE("A process runs as many candidates as it may") {
  const test::Folder folder;
  const SharedObject noting = compile(good + note(folder / "pid"));
  for (const std::size_t per_process : {1U, 2U}) {
    LocalRunner runner(run_twice, {.time_limit = 1e6, .candidates_per_process = per_process});
    std::vector<long> pids;
    for (int i = 0; i < 4; ++i) {
      CHECK(submit(runner, noting).get().ok());
      pids.push_back(noted(folder / "pid"));
    }
    CHECK((pids[0] == pids[1]) == (per_process == 2));
    CHECK(pids[1] != pids[2]);
    CHECK((pids[2] == pids[3]) == (per_process == 2));
  }
}

TEST_CASE("A candidate that writes into every open file does not pass for measured") {
  LocalRunner runner(run_twice, patient);
  const Measured m =
      run(runner, "for (int fd = 3; fd < 64; ++fd) (void)!write(fd, \"garbage, garbage, garbage\", 25);");
  CHECK(m.fault == Fault::run);
  CHECK(run(runner, good).ok());
}

TEST_CASE("A runner destroyed while busy kills what runs and ends the rest as stopped") {
  const test::Folder folder;
  std::vector<std::future<Measured>> all;
  {
    LocalRunner runner(run_twice, patient);
    all.push_back(submit(runner, compile(note(folder / "pid") + "for (;;) pause();")));
    for (int i = 0; i < 3; ++i) all.push_back(submit(runner, compile(good)));
    test::await([&] { return !test::read_file(folder / "pid").empty(); });
  }
  for (auto& each : all) CHECK(each.get().fault == Fault::stopped);
  await_end(noted(folder / "pid"));
}

TEST_CASE("A runner may be destroyed before first use") {
  for (int i = 0; i < 20; ++i) LocalRunner runner(run_twice, patient);
}

// Not a test: the program of the next one.
TEST_CASE("a program that measures until it is killed" * doctest::skip()) {
  const std::string path = std::getenv("RONDO_TEST_ARTIFACT");
  LocalRunner runner(run_twice, patient);
  const auto folder = std::make_shared<measure::detail::ArtifactFolder>(std::filesystem::path{path}.parent_path());
  submit(runner, SharedObject{std::make_shared<measure::detail::ArtifactFile>(folder, path), {}}).wait();
}

TEST_CASE("When the program is killed, its workers end too") {
  const test::Folder folder;
  const SharedObject hanging =
      compile(note(folder / "server", "getppid()") + note(folder / "worker") + "for (;;) pause();");
  const pid_t program =
      test::start_program("a program that measures until it is killed", {"RONDO_TEST_ARTIFACT=" + hanging.path()});
  test::await([&] { return !test::read_file(folder / "worker").empty(); });
  (void)::kill(program, SIGKILL);
  (void)::waitpid(program, nullptr, 0);
  await_end(noted(folder / "worker"));
  await_end(noted(folder / "server"));
}

TEST_CASE("Sources are built and run to the end, whatever becomes of each") {
  const test::Folder folder;
  SourceBuilder builder({.flags = {"-O0"}, .time_limit = 1e6});
  {
    LocalRunner impatient(run_twice, {.time_limit = 1});
    ProgramMeasurer measurer(builder, impatient, {.mode = Mode::Async});
    Fault fault = Fault::none;
    measurer.submit({.source = candidate("for (;;) pause();")}, [&](const Result& r) { fault = r.fault; });
    measurer.wait();
    CHECK(fault == Fault::run_timeout);
  }
  LocalRunner runner(run_twice, patient);
  ProgramMeasurer measurer(builder, runner, {.mode = Mode::Async});
  const std::vector<std::pair<std::string, Fault>> all{
      {good, Fault::none},       {"this is no C++", Fault::build},
      {"abort();", Fault::run},  {"y[0] = 1;", Fault::wrong_answer},
      {good + " ", Fault::none}, {"kill(getpid(), SIGKILL);", Fault::unknown},
      {good, Fault::none}};
  std::vector<std::optional<Result>> results(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    measurer.submit({.source = candidate(all[i].first)}, [&results, i](const Result& r) { results[i] = r; });
  }
  measurer.wait();
  for (std::size_t i = 0; i < all.size(); ++i) {
    REQUIRE(results[i]);
    INFO(results[i]->text);
    CHECK(results[i]->fault == all[i].second);
  }
  CHECK(std::distance(std::filesystem::directory_iterator{builder.folder()}, {}) == 1);  // the lock alone
}
