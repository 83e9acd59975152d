// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/measure/source_builder.hpp>

#include "unit/measure/process_support.hpp"
#include "unit/support.hpp"

#include <dlfcn.h>
#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <future>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace rondo;
using namespace rondo::measure;

Built<SharedObject> build(SourceBuilder& builder, SourceCandidate candidate) {
  std::promise<Built<SharedObject>> promise;
  builder.submit_build(std::move(candidate), [&](Built<SharedObject> b) { promise.set_value(std::move(b)); });
  return promise.get_future().get();
}

std::string returning(int n) { return "extern \"C\" int answer() { return " + std::to_string(n) + "; }\n"; }

int call(const std::string& path) {
  void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  REQUIRE(library != nullptr);
  const int n = reinterpret_cast<int (*)()>(::dlsym(library, "answer"))();
  (void)::dlclose(library);
  return n;
}

SourceBuilderOptions quick() { return {.flags = {"-O0"}, .time_limit = 1e6}; }

}  // namespace

TEST_CASE("Source becomes a shared object, which is removed after use") {
  std::string folder;
  {
    SourceBuilder builder(quick());
    folder = builder.folder();
    std::string path;
    {
      const auto built = build(builder, {.source = returning(42), .argument = "for the workload"});
      INFO(built.text);
      REQUIRE(built.fault == Fault::none);
      path = built.artifact->path();
      CHECK(built.artifact->argument() == "for the workload");
      CHECK(built.seconds > 0);
      CHECK(call(path) == 42);
    }
    CHECK(!std::filesystem::exists(path));
    CHECK(std::filesystem::exists(folder));
  }
  CHECK(!std::filesystem::exists(folder));
}

TEST_CASE("What the compiler refuses is a fault of building, with what it said") {
  SourceBuilder builder(quick());
  const auto built = build(builder, {.source = "int main( { return 0; }\n"});
  CHECK(built.fault == Fault::build);
  CHECK(!built.artifact);
  CHECK(test::says(built.text, "error"));
  CHECK(std::distance(std::filesystem::directory_iterator{builder.folder()}, {}) == 1);  // the lock
}

TEST_CASE("A source that cannot be made is a fault of instantiation") {
  SourceBuilder builder(quick());
  const auto refused = build(builder, {.source = {}, .generate = []() -> std::string { throw 1; }});
  CHECK(refused.fault == Fault::instantiation);
  const auto made = build(builder, {.source = {}, .generate = [] { return returning(1); }});
  CHECK(made.fault == Fault::none);
}

TEST_CASE("Equal content is compiled once while it is in use, whoever asks first, and other content anew") {
  SourceBuilder builder(quick());
  std::vector<std::promise<Built<SharedObject>>> promises(4);
  for (auto& promise : promises) {
    builder.submit_build({.source = returning(7)}, [&](Built<SharedObject> b) { promise.set_value(std::move(b)); });
  }
  std::vector<Built<SharedObject>> built;
  for (auto& promise : promises) built.push_back(promise.get_future().get());
  CHECK(builder.compilations() == 1);
  for (const auto& b : built) {
    REQUIRE(b.artifact);
    CHECK(b.artifact->path() == built[0].artifact->path());
  }
  CHECK(build(builder, {.source = returning(8)}).fault == Fault::none);
  CHECK(build(builder, {.source = returning(7), .flags = {"-g"}}).fault == Fault::none);
  CHECK(builder.compilations() == 3);
  built.clear();
  CHECK(build(builder, {.source = returning(7)}).fault == Fault::none);
  CHECK(builder.compilations() == 4);  // the file was gone
}

TEST_CASE("A cache keeps artifacts for the next builder") {
  const test::Folder folder;
  SourceBuilderOptions options = quick();
  options.cache = folder / "cache";
  {
    SourceBuilder builder(options);
    CHECK(build(builder, {.source = returning(5)}).fault == Fault::none);
    CHECK(build(builder, {.source = "nonsense"}).fault == Fault::build);
    CHECK(builder.compilations() == 2);
  }
  SourceBuilder builder(options);
  const auto built = build(builder, {.source = returning(5)});
  REQUIRE(built.artifact);
  CHECK(call(built.artifact->path()) == 5);
  CHECK(builder.compilations() == 0);
  CHECK(std::distance(std::filesystem::directory_iterator{options.cache}, {}) ==
        2);  // and the list of what it includes
}

TEST_CASE("Two builders that compile the same source for one cache at the same time use different files") {
  const test::Folder folder;
  SourceBuilderOptions options = quick();
  options.cache = folder / "cache";
  options.compiler = folder / "compiler";
  std::ofstream{options.compiler} << "#!/bin/sh\n[ \"$1\" = --version ] || { echo $* >> " << folder / "calls"
                                  << "; exit 1; }\n";
  std::filesystem::permissions(options.compiler, std::filesystem::perms::owner_all);
  SourceBuilder first(options), second(options);
  CHECK(build(first, {.source = returning(1)}).fault == Fault::build);
  CHECK(build(second, {.source = returning(1)}).fault == Fault::build);
  std::ifstream calls{folder / "calls"};
  std::string one, other;
  REQUIRE(std::getline(calls, one));
  REQUIRE(std::getline(calls, other));
  CHECK(one != other);
}

TEST_CASE("A kept artifact is built again after a file that it includes has changed or gone") {
  const test::Folder folder;
  SourceBuilderOptions options = quick();
  options.cache = folder / "cache";
  const std::string header = folder / "two words.hpp";
  const auto answer = [&](std::uint64_t compilations) {
    SourceBuilder builder(options);
    const auto built = build(builder, {.source = "#include \"" + header + "\"\n"});
    CHECK(builder.compilations() == compilations);
    return built.artifact ? call(built.artifact->path()) : -1;
  };
  const auto change = [&](const std::string& text) {
    std::ofstream{header} << text;
    std::filesystem::last_write_time(header, std::filesystem::file_time_type::clock::now() + std::chrono::hours(1));
  };
  std::ofstream{header} << returning(1);
  CHECK(answer(1) == 1);
  CHECK(answer(0) == 1);
  change(returning(2));
  CHECK(answer(1) == 2);
  std::filesystem::remove(header);
  CHECK(answer(1) == -1);
}

TEST_CASE("A kept artifact belongs to the working folder, from which its source includes files") {
  const test::Folder folder;
  SourceBuilderOptions options = quick();
  options.flags.push_back("-Iinclude");
  options.cache = folder / "cache";
  const auto before = std::filesystem::current_path();
  for (int n = 1; n <= 2; ++n) {
    const std::filesystem::path home = folder / std::to_string(n);
    std::filesystem::create_directories(home / "include");
    std::ofstream{home / "include/answer.hpp"} << returning(n);
  }
  for (const int n : {1, 2, 1}) {
    std::filesystem::current_path(folder / std::to_string(n));
    SourceBuilder builder(options);
    const auto built = build(builder, {.source = "#include \"answer.hpp\"\n"});
    std::filesystem::current_path(before);
    INFO(built.text);
    REQUIRE(built.artifact);
    CHECK(call(built.artifact->path()) == n);
  }
}

TEST_CASE("Static libraries are linked, whether they are flags of the builder or of the candidate") {
  const test::Folder folder;
  std::ofstream{folder / "helper.cpp"} << "extern \"C\" int helper() { return 5; }\n";
  const auto must = [](const std::vector<std::string>& command) {
    const measure::detail::ChildOutcome outcome = measure::detail::run_child(command, {.seconds = 1e6});
    INFO(outcome.output);
    REQUIRE(outcome.ok());
  };
  must({"c++", "-fPIC", "-c", folder / "helper.cpp", "-o", folder / "helper.o"});
  must({"ar", "rcs", folder / "libhelper.a", folder / "helper.o"});
  const std::string source = "extern \"C\" int helper(); extern \"C\" int answer() { return helper(); }\n";
  const std::vector<std::string> by_name{"-L" + folder.path(), "-lhelper"}, by_path{folder / "libhelper.a"};
  for (const auto& flags : {by_name, by_path}) {
    SourceBuilderOptions options = quick();
    SourceBuilder plain(options);
    options.flags.insert(options.flags.end(), flags.begin(), flags.end());
    SourceBuilder linking(options);
    const auto own = build(plain, {.source = source, .flags = flags});
    const auto shared = build(linking, {.source = source, .flags = {"-g"}});
    REQUIRE(own.artifact);
    REQUIRE(shared.artifact);
    CHECK(call(own.artifact->path()) == 5);
    CHECK(call(shared.artifact->path()) == 5);
  }
}

TEST_CASE("Artifacts that are loaded together have variables of their own") {
  SourceBuilder builder(quick());
  const auto source = [](int n) {
    return "inline int tile = " + std::to_string(n) +
           ";\nextern \"C\" int answer() { static int* last = &tile; return *last; }\n";
  };
  const auto one = build(builder, {.source = source(1)}), two = build(builder, {.source = source(2)});
  REQUIRE(one.artifact);
  REQUIRE(two.artifact);
  void* const loaded = ::dlopen(one.artifact->path().c_str(), RTLD_NOW | RTLD_LOCAL);
  REQUIRE(loaded != nullptr);
  CHECK(call(two.artifact->path()) == 2);
  CHECK(call(one.artifact->path()) == 1);
  (void)::dlclose(loaded);
}

TEST_CASE("A compiler without -fno-gnu-unique is not given it") {
  const test::Folder folder;
  SourceBuilderOptions options = quick();
  options.compiler = folder / "compiler";
  for (const char* const refusal : {"exit 1", "echo \"no -fno-gnu-unique here\"; exit 0"}) {
    std::ofstream{options.compiler} << "#!/bin/sh\ncase \"$*\" in *gnu-unique*) " << refusal
                                    << ";; esac\n[ \"$1\" = --version ] || exec c++ \"$@\"\n";
    std::filesystem::permissions(options.compiler, std::filesystem::perms::owner_all);
    SourceBuilder builder(options);
    const auto built = build(builder, {.source = returning(5)});
    INFO(built.text);
    REQUIRE(built.artifact);
    CHECK(call(built.artifact->path()) == 5);
  }
}

TEST_CASE("A build that takes too long is killed, with its children, and is a time-out") {
  const test::Folder folder;
  // A compiler that hangs after it has started another process.
  const std::string compiler = folder / "compiler";
  std::ofstream{compiler} << "#!/bin/sh\n[ \"$1\" = --version ] && exit 0\nsleep 1000 & echo $! > " << folder / "pid"
                          << "\necho working\nwait\n";
  std::filesystem::permissions(compiler, std::filesystem::perms::owner_all);
  SourceBuilderOptions options = quick();
  options.compiler = compiler;
  // On a busy machine it is given more time, until it has got so far.
  for (options.time_limit = 2;; options.time_limit *= 2) {
    SourceBuilder builder(options);
    const auto built = build(builder, {.source = returning(5)});
    CHECK(built.fault == Fault::build_timeout);
    CHECK(test::says(built.text, "not built within"));
    if (!test::says(built.text, "working")) continue;
    const long pid = std::stol(test::read_file(folder / "pid"));
    test::await([&] { return !test::is_alive(pid); });
    break;
  }
}

TEST_CASE("A compiler that floods its output, crashes or makes nothing is a fault of building") {
  const test::Folder folder;
  const std::string compiler = folder / "compiler";
  const auto builder_with = [&](const std::string& script) {
    std::ofstream{compiler} << "#!/bin/sh\n[ \"$1\" = --version ] && exit 0\n" << script << '\n';
    std::filesystem::permissions(compiler, std::filesystem::perms::owner_all);
    SourceBuilderOptions options = quick();
    options.compiler = compiler;
    options.output_bytes = 1000;
    SourceBuilder builder(options);
    return build(builder, {.source = returning(5)});
  };
  const auto flood = builder_with("head -c 5000000 /dev/zero | tr '\\0' y; exit 1");
  CHECK(flood.fault == Fault::build);
  CHECK(flood.text.size() < 1100);
  const auto crash = builder_with("kill -SEGV $$");
  CHECK(crash.fault == Fault::build);
  CHECK(test::says(crash.text, "signal 11"));
  const auto nothing = builder_with("exit 0");
  CHECK(nothing.fault == Fault::build);
  CHECK(test::says(nothing.text, "made no file"));
}

TEST_CASE("A builder without a compiler says so at once") {
  SourceBuilderOptions options;
  options.compiler = "/no/such/compiler";
  const auto raised = test::raised([&] { SourceBuilder builder(options); });
  CHECK(raised.code == Errc::unsupported);
  CHECK(test::says(raised.text, "/no/such/compiler", "No such file", "SourceBuilderOptions::compiler"));
}

TEST_CASE("A compiler that is gone when it is needed is named as the reason") {
  const test::Folder folder;
  SourceBuilderOptions options = quick();
  options.compiler = folder / "compiler";
  std::ofstream{options.compiler} << "#!/bin/sh\n";
  std::filesystem::permissions(options.compiler, std::filesystem::perms::owner_all);
  SourceBuilder builder(options);
  std::filesystem::remove(options.compiler);
  const auto built = build(builder, {.source = returning(5)});
  CHECK(built.fault == Fault::unknown);
  CHECK(built.text == "the compiler cannot be started: No such file or directory");
}

TEST_CASE("A folder that a killed program left behind is removed by the next builder, one in use is not") {
  const auto parent = std::filesystem::temp_directory_path();
  const std::string abandoned = (parent / "rondo-artifacts-zzzzzz").string();
  std::filesystem::create_directories(abandoned);
  std::ofstream{abandoned + "/lock"} << '\n';
  std::ofstream{abandoned + "/old.so"} << '\n';
  SourceBuilder first(quick());
  CHECK(!std::filesystem::exists(abandoned));
  SourceBuilder second(quick());
  CHECK(std::filesystem::exists(first.folder()));
}

TEST_CASE("A builder destroyed while busy kills its compiler") {
  const test::Folder folder;
  const std::string compiler = folder / "compiler";
  std::ofstream{compiler} << "#!/bin/sh\n[ \"$1\" = --version ] && exit 0\necho $$ > " << folder / "pid"
                          << "\nexec sleep 1000\n";
  std::filesystem::permissions(compiler, std::filesystem::perms::owner_all);
  std::vector<Fault> faults;
  {
    SourceBuilderOptions options = quick();
    options.workers = 1;
    options.compiler = compiler;
    SourceBuilder builder(options);
    for (int n = 0; n < 3; ++n) {
      builder.submit_build({.source = returning(n)}, [&](Built<SharedObject> b) { faults.push_back(b.fault); });
    }
    test::await([&] { return !test::read_file(folder / "pid").empty(); });
  }
  CHECK(faults == std::vector(3, Fault::stopped));
  const long pid = std::stol(test::read_file(folder / "pid"));
  test::await([&] { return !test::is_alive(pid); });
}

TEST_CASE("Artifacts outlive their builder") {
  std::string folder;
  {
    Built<SharedObject> built;
    {
      SourceBuilder builder(quick());
      folder = builder.folder();
      built = build(builder, {.source = returning(9)});
    }
    REQUIRE(built.artifact);
    CHECK(call(built.artifact->path()) == 9);
  }
  CHECK(!std::filesystem::exists(folder));
}
