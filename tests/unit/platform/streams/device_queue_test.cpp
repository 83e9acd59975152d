// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/streams/device_queue.hpp>

#include <rondo/arch/a2a3.hpp>
#include <rondo/arch/a5.hpp>
#include <unit/support.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <string>
#include <vector>

using namespace rondo;
using platform::streams::Code;
using platform::streams::Event;
using platform::streams::Stream;
using Strings = std::vector<std::string>;

namespace {

constexpr Code refused = 1;
constexpr Code no_memory = 2;
constexpr Code late = 3;   ///< the work may still run
constexpr Code ended = 4;  ///< the device ended a task that ran too long
constexpr Code failed = 5;

struct ScriptedApi {
  static constexpr const char* enter = "enter";
  static constexpr const char* create_stream = "create_stream";
  static constexpr const char* synchronize = "synchronize";
  static constexpr const char* create_event = "create_event";
  static constexpr const char* record_event = "record";
  static constexpr const char* wait_event = "wait_event";
  static constexpr const char* malloc_host = "malloc_host";
  static constexpr const char* free_host = "free_host";
  static constexpr const char* copy = "copy_now";
  static constexpr const char* copy_async = "copy";
  static constexpr const char* launch = "launch";
  static constexpr const char* launch_refresh = "refresh";
  static constexpr std::uint32_t plain_event = 0;
  static constexpr std::uint32_t timed_event = 1;
  static constexpr std::uint32_t stream_flags = 0;
  static constexpr int event_complete = 1;

  [[nodiscard]] static constexpr Errc errc_of(Code code) noexcept {
    constexpr Errc of[] = {Errc::ok,        Errc::unsupported, Errc::out_of_memory,
                           Errc::timed_out, Errc::timed_out,   Errc::device_failed};
    return of[code];
  }
  [[nodiscard]] static constexpr Status status_of(Code code) noexcept {
    const Status status{errc_of(code)};
    return code < late ? status : status.poisoning();
  }
  [[nodiscard]] static constexpr bool may_go_on(Code code) noexcept { return code == refused || code == late; }
};

/// A runtime that writes down each call, carries it out at once, and answers with the codes that a test names.
struct Machine {
  Strings log;
  std::map<std::string, std::deque<Code>> answers;  ///< by a call as it is written down, or by its first word
  std::deque<std::string> names;                    ///< streams and events point to theirs
  std::map<void*, std::uint64_t> pinned;
  int event_status = ScriptedApi::event_complete;
  int entered = 0;

  Machine() = default;
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
  ~Machine() {
    for (const auto& [memory, size] : pinned) std::free(memory);
  }

  Code call(const std::string& text) {
    log.push_back(text);
    for (const std::string& key : {text, text.substr(0, text.find(' '))}) {
      const auto found = answers.find(key);
      if (found == answers.end() || found->second.empty()) continue;
      const Code code = found->second.front();
      found->second.pop_front();
      return code;
    }
    return platform::streams::code_ok;
  }
  void* object(const char* kind) {
    int count = 1;
    for (const std::string& name : names) count += name.starts_with(kind) ? 1 : 0;
    return &names.emplace_back(kind + std::to_string(count));
  }
  static const std::string& name(const void* object) { return *static_cast<const std::string*>(object); }
  [[nodiscard]] std::uint64_t held() const {
    std::uint64_t bytes = 0;
    for (const auto& [memory, size] : pinned) bytes += size;
    return bytes;
  }
  [[nodiscard]] Strings take() { return std::exchange(log, {}); }
  [[nodiscard]] std::size_t count(const std::string& part) const {
    std::size_t found = 0;
    for (const std::string& text : log) found += text.find(part) != std::string::npos ? 1U : 0U;
    return found;
  }
};

struct Calls {
  Machine* machine;

  Code create_stream(Stream* stream, std::uint32_t priority, std::uint32_t) const {
    *stream = machine->object("s");
    return machine->call("create_stream " + Machine::name(*stream) + " " + std::to_string(priority));
  }
  Code create_event(Event* event, std::uint32_t) const {
    *event = machine->object("e");
    return machine->call("create_event " + Machine::name(*event));
  }
  Code malloc_host(void** memory, std::uint64_t size) const {
    const Code code = machine->call("malloc_host " + std::to_string(size));
    if (code == platform::streams::code_ok) machine->pinned[*memory = std::malloc(size)] = size;
    return code;
  }
  Code free_host(void* memory) const {
    machine->pinned.erase(memory);
    std::free(memory);
    return machine->call("free_host");
  }
  Code copy_async(void* to, std::uint64_t, const void* from, std::uint64_t size, int kind, Stream stream) const {
    const char* const way = kind == platform::streams::host_to_device     ? " in "
                            : kind == platform::streams::device_to_device ? " within "
                                                                          : " out ";
    const Code code = machine->call("copy " + Machine::name(stream) + way + std::to_string(size));
    if (code == platform::streams::code_ok) std::memcpy(to, from, size);
    return code;
  }
  Code record_event(Event event, Stream) const { return machine->call("record " + Machine::name(event)); }
  Code wait_event(Stream stream, Event event) const {
    return machine->call("wait_event " + Machine::name(stream) + " " + Machine::name(event));
  }
  Code query_event(Event event, int* status) const {
    *status = machine->event_status;
    return machine->call("query " + Machine::name(event));
  }
  Code elapsed_time(float* ms, Event, Event) const {
    *ms = 2;
    return machine->call("elapsed");
  }
  Code destroy_stream(Stream stream) const { return machine->call("destroy " + Machine::name(stream)); }
  Code destroy_event(Event event) const { return machine->call("destroy " + Machine::name(event)); }
};

struct ScriptedDevice {
  using Api = ScriptedApi;
  Machine& machine;
  Calls all{&machine};
  std::string own_name = "own";
  std::string noted = {};  ///< what note() was told since the test last looked

  [[nodiscard]] const Calls& calls() const noexcept { return all; }
  [[nodiscard]] Stream stream() noexcept { return &own_name; }
  [[nodiscard]] static Stream callers_stream() noexcept { return nullptr; }
  Code enter() {
    ++machine.entered;
    const auto found = machine.answers.find("enter");
    return found == machine.answers.end() || found->second.empty() ? 0 : found->second.front();
  }
  Code enter_to_release() { return enter(); }
  Code wait() { return machine.call("wait"); }
  void note_contents() const {}
  void must(const char* call, Code code) const {
    if (code != 0) throw Error(Api::errc_of(code), Error::Text(call));
  }
  void note(const char* call, Code code) { noted += std::string(call) + " " + std::to_string(code) + ";"; }
  Code synchronize(Stream s) { return machine.call("synchronize " + Machine::name(s)); }
  Code synchronize_again(Stream s) { return machine.call("again " + Machine::name(s)); }
  void end_by_force(Stream& s) { (void)machine.call("end " + Machine::name(s)); }
  Code copy_now(void* to, const void* from, std::uint64_t size, int kind, Stream) {
    std::memcpy(to, from, size);
    const char* const way = kind == platform::streams::host_to_device ? "in " : "out ";
    return machine.call(std::string("copy_now ") + way + std::to_string(size));
  }
};
struct ScriptedRefresh {
  Machine& machine;
  Code launch(const args::RefreshOp&, const void*, Stream s) { return machine.call("refresh " + Machine::name(s)); }
};
struct ScriptedProgram {
  Machine& machine;
  Code launch(const char*&, Stream s) { return machine.call("launch " + Machine::name(s)); }
  [[nodiscard]] Status blame(Status status) const noexcept { return Status::of_task(status.code(), 3).poisoning(); }
};
struct ScriptedParts {
  using Device = ScriptedDevice;
  using RefreshKernel = ScriptedRefresh;
  using Program = ScriptedProgram;
};

/// A queue over the machine, and memory for its rounds: `device` is the device's.
template <class Events = platform::streams::NoRoundEvents, class Arch = arch::A5>
struct Rig {
  static constexpr std::uint64_t apart = Arch::tensor_alignment;
  static constexpr std::size_t bytes = 32 * apart;

  Machine machine;
  ScriptedDevice device{machine};
  ScriptedRefresh refresh{machine};
  ScriptedProgram program{machine};
  double round_ns = 0;
  std::uint64_t pinned = 0;
  alignas(apart) std::array<char, bytes> memory;  ///< of the device
  std::vector<char> host = std::vector<char>(bytes, 'h');
  platform::streams::DeviceQueue<Arch, ScriptedParts, Events> queue;

  explicit Rig(std::uint64_t room = 1024, std::uint64_t most = 1 << 20)
      : queue{device, refresh, 2, 4, Bytes{room}, Bytes{most}, round_ns, pinned} {
    memory.fill('.');
  }
  ~Rig() {
    (void)queue.close();
    CHECK(pinned == 0);
    CHECK(machine.held() == 0);
  }
  Rig(const Rig&) = delete;
  Rig& operator=(const Rig&) = delete;

  [[nodiscard]] std::uint64_t address(std::uint64_t at) {
    return reinterpret_cast<std::uint64_t>(memory.data()) + at;  // NOLINT: an address for the runtime
  }
  Status in(std::uint32_t slot, std::uint64_t at, std::uint64_t size) {
    return queue.copy_in(slot, DevicePtr<std::byte>{address(at)}, host.data(), Bytes{size});
  }
  Status out(std::uint32_t slot, std::uint64_t at, std::uint64_t size, void* to) {
    return queue.copy_out(slot, to, DevicePtr<const std::byte>{address(at)}, Bytes{size});
  }
  /// Submits a round without copies.
  void submit(std::uint32_t slot) {
    REQUIRE(queue.launch(slot, program).ok());
    REQUIRE(queue.commit(slot).ok());
  }
  Status deliver(std::uint32_t slot) {
    queue.await(slot);
    return queue.deliver(slot);
  }
  /// Runs a round, so that the next one does not wait for what opened the session.
  void warm_up() {
    submit(0);
    REQUIRE(deliver(0).ok());
    (void)machine.take();
  }
};

}  // namespace

TEST_CASE("Each slot has a stream of no priority over others, two events, and staging for both directions") {
  Rig rig(100);
  CHECK(rig.machine.take() == Strings{"create_stream s1 0", "create_event e1", "create_event e2", "create_stream s2 0",
                                      "create_event e3", "create_event e4", "malloc_host 256", "malloc_host 256"});
  CHECK(rig.pinned == 512);
  CHECK(rig.machine.held() == 512);
}

TEST_CASE("Staging grows with what rounds copy, up to its limit, and what is pinned is told") {
  Rig rig(128, 2 * 2 * 320);
  (void)rig.machine.take();
  rig.machine.answers["enter"] = {refused};
  rig.queue.reserve(Bytes{128});  // asks nothing of the device
  rig.queue.reserve(Bytes{64});
  CHECK(rig.machine.take().empty());
  rig.machine.answers.clear();
  rig.warm_up();
  CHECK(rig.in(0, 0, 128).ok());
  CHECK(rig.queue.launch(0, rig.program).ok());
  CHECK(rig.machine.count("copy_now") == 0);  // as large as it was
  CHECK(rig.queue.commit(0).ok());
  CHECK(rig.deliver(0).ok());
  (void)rig.machine.take();

  rig.queue.reserve(Bytes{256});
  CHECK(rig.machine.take() == Strings{"malloc_host 512", "free_host", "malloc_host 512", "free_host"});
  CHECK(rig.pinned == rig.machine.held());
  rig.queue.reserve(Bytes{4096});
  CHECK(rig.machine.take() == Strings{"malloc_host 640", "free_host", "malloc_host 640", "free_host"});
  CHECK(rig.pinned == 2 * 2 * 320);
  CHECK(rig.pinned == rig.machine.held());
}

TEST_CASE("Staging that could not grow in one slot is asked for in that slot only, the next time") {
  Rig rig(128);
  (void)rig.machine.take();
  rig.machine.answers["malloc_host"] = {0, no_memory};
  CHECK(test::raised([&] { rig.queue.reserve(Bytes{256}); }).code == Errc::out_of_memory);
  CHECK(rig.pinned == rig.machine.held());
  (void)rig.machine.take();
  rig.queue.reserve(Bytes{256});
  CHECK(rig.machine.take() == Strings{"malloc_host 512", "free_host"});
  CHECK(rig.pinned == rig.machine.held());
}

TEST_CASE("What is pinned is told where the old staging could not be freed") {
  Rig rig(128);
  rig.machine.answers["free_host"] = {refused};
  CHECK(test::raised([&] { rig.queue.reserve(Bytes{256}); }).code == Errc::unsupported);
  CHECK(rig.pinned == rig.machine.held());
}

TEST_CASE("What opened the session is waited for before a slot's first operation, and never again") {
  SUBCASE("a copy") {
    Rig rig(64);
    (void)rig.machine.take();
    CHECK(rig.in(0, 0, 128).ok());  // more than the staging holds
    CHECK(rig.machine.take() == Strings{"wait", "copy_now in 128"});
  }
  SUBCASE("a refresh") {
    Rig rig;
    (void)rig.machine.take();
    CHECK(rig.queue.refresh_args(0, {}).ok());
    CHECK(rig.machine.take() == Strings{"wait", "refresh s1"});
  }
  SUBCASE("a copy within the device") {
    Rig rig;
    (void)rig.machine.take();
    const auto copy = [&] {
      return rig.queue.copy_on_device(
          0, {DevicePtr<std::byte>{rig.address(64)}, DevicePtr<const std::byte>{rig.address(0)}, Bytes{32}, 1, 0, 0});
    };
    CHECK(copy().ok());
    CHECK(rig.machine.take() == Strings{"wait", "copy s1 within 32"});
    rig.warm_up();
    CHECK(copy().ok());
    CHECK(rig.machine.take() == Strings{"wait_event s1 e1", "copy s1 within 32"});
  }
  Rig rig;
  (void)rig.machine.take();
  rig.submit(0);
  CHECK(rig.machine.take() == Strings{"wait", "launch s1", "record e1", "record e2"});
  CHECK(rig.in(1, 0, 64).ok());
  CHECK(rig.queue.refresh_args(1, {}).ok());
  rig.submit(1);
  CHECK(rig.machine.take() ==
        Strings{"copy s2 in 64", "refresh s2", "wait_event s2 e1", "launch s2", "record e3", "record e4"});
  CHECK(rig.deliver(0).ok());
  CHECK(rig.deliver(1).ok());
}

TEST_CASE("A round that is well is two copies, a launch and its events, and nothing of it is noted as a failure") {
  Rig rig;
  rig.warm_up();
  std::vector<char> y(64), z(64);
  std::memset(rig.host.data(), 'x', 64);
  CHECK(rig.in(0, 0, 64).ok());
  CHECK(rig.in(0, 64, 64).ok());
  CHECK(rig.in(0, 128, 32).ok());
  CHECK(rig.queue.launch(0, rig.program).ok());
  CHECK(rig.out(0, 64, 64, y.data()).ok());
  CHECK(rig.out(0, 128, 64, z.data()).ok());
  CHECK(rig.queue.commit(0).ok());
  CHECK(rig.machine.take() ==
        Strings{"copy s1 in 160", "wait_event s1 e1", "launch s1", "record e1", "copy s1 out 128", "record e2"});
  CHECK(y == std::vector<char>(64));  // not before it is delivered
  const int before = rig.machine.entered;
  CHECK(rig.deliver(0).ok());
  CHECK(rig.machine.entered == before + 1);  // to wait
  CHECK(rig.machine.take() == Strings{"synchronize s1"});
  CHECK(y == std::vector<char>(64, 'x'));
  CHECK(z[0] == 'x');
  CHECK(z[32] == '.');
  CHECK(rig.device.noted.empty());
}

TEST_CASE("What may be another tensor's between two inputs stays as it is") {
  Rig rig;
  rig.warm_up();
  const auto apart = Rig<>::apart;
  CHECK(rig.in(0, 0, 4).ok());
  CHECK(rig.in(0, apart, 4).ok());          // less than an alignment after the end of the first one
  CHECK(rig.in(0, 2 * apart + 4, 4).ok());  // there is room for a tensor in between
  CHECK(rig.in(0, 8 * apart, 4).ok());
  CHECK(rig.queue.launch(0, rig.program).ok());
  CHECK(rig.machine.count("copy s1 in") == 3);
  CHECK(rig.memory[0] == 'h');
  CHECK(rig.memory[apart] == 'h');
  CHECK(rig.memory[2 * apart + 4] == 'h');
  CHECK(rig.memory[8 * apart] == 'h');
  for (const auto at : {apart + 4, 2 * apart, 2 * apart + 3, 2 * apart + 8, 8 * apart - 1}) {
    CAPTURE(at);
    CHECK(rig.memory[at] == '.');
  }
  CHECK(rig.queue.commit(0).ok());
  CHECK(rig.deliver(0).ok());
}

TEST_CASE("Tensors in blocks of their own travel together, with the padding and the guards in between") {
  Rig<platform::streams::NoRoundEvents, arch::A2A3> rig(2048);
  rig.warm_up();
  std::uint64_t at = 0;
  for (const std::uint64_t size : {512U, 40U, 64U, 4U}) {
    CHECK(rig.in(0, at, size).ok());
    at = align_up(at + arch::block_bytes<arch::A2A3>(size), 64);
  }
  CHECK(rig.machine.take().empty());
  CHECK(rig.in(0, at + 64, 4).ok());  // farther away than the block of the last one reaches
  CHECK(rig.machine.count("copy s1 in") == 1);
  CHECK(rig.in(0, 1028, 40).ok());
  CHECK(rig.in(0, 1088, 4).ok());  // the next aligned address behind one that is not
  CHECK(rig.machine.count("copy s1 in") == 2);
  CHECK(rig.in(0, 1540, 40).ok());
  CHECK(rig.in(0, 1664, 4).ok());  // there may be a tensor in between
  CHECK(rig.machine.count("copy s1 in") == 4);
  rig.submit(0);
  CHECK(rig.deliver(0).ok());
}

TEST_CASE("The thread of a round takes the device before a copy that an input causes") {
  Rig rig;
  rig.warm_up();
  const int before = rig.machine.entered;
  CHECK(rig.in(0, 0, 64).ok());
  CHECK(rig.in(0, 1024, 64).ok());  // far away, so the first one is copied now
  CHECK(rig.machine.take() == Strings{"copy s1 in 64"});
  CHECK(rig.machine.entered == before + 1);
  rig.machine.answers["enter"] = {refused};
  const Status status = rig.in(0, 0, 64);
  CHECK(status.code() == Errc::unsupported);
  CHECK(rig.device.noted == "enter 1;");
  CHECK(rig.machine.count("copy") == 0);
  rig.machine.answers.clear();
  rig.submit(0);
  CHECK(rig.deliver(0).ok());
}

TEST_CASE("Staging is used to its end, and what does not fit is copied alone") {
  Rig rig(128);
  rig.warm_up();
  SUBCASE("in one piece") {
    CHECK(rig.in(0, 0, 64).ok());
    CHECK(rig.in(0, 64, 64).ok());
    CHECK(rig.machine.take().empty());
    CHECK(rig.in(0, 128, 1).ok());
    CHECK(rig.machine.take() == Strings{"copy s1 in 128", "copy_now in 1"});
  }
  SUBCASE("in several pieces") {
    CHECK(rig.in(0, 0, 64).ok());
    CHECK(rig.in(0, 512, 60).ok());
    CHECK(rig.machine.take() == Strings{"copy s1 in 64"});
    CHECK(rig.in(0, 0, 8).ok());
    CHECK(rig.machine.take() == Strings{"copy s1 in 60", "copy_now in 8"});
  }
  SUBCASE("on the way out") {
    std::vector<char> y(128), z(1);
    CHECK(rig.queue.launch(0, rig.program).ok());
    (void)rig.machine.take();
    CHECK(rig.out(0, 0, 128, y.data()).ok());
    CHECK(rig.out(0, 512, 1, z.data()).ok());
    CHECK(rig.machine.take() == Strings{"copy s1 out 128"});
    CHECK(rig.queue.commit(0).ok());
    CHECK(rig.machine.take() == Strings{"record e2"});
    CHECK(z == std::vector<char>(1));  // not before it is delivered
    CHECK(rig.deliver(0).ok());
    CHECK(rig.machine.take() == Strings{"synchronize s1", "copy_now out 1"});
    CHECK(y == std::vector<char>(128, '.'));
    CHECK(z == std::vector<char>(1, '.'));
    return;
  }
  rig.submit(0);
  CHECK(rig.deliver(0).ok());
}

TEST_CASE("A round that fails writes no output, whether staging has room for it or not") {
  Rig rig(128);
  rig.warm_up();
  std::vector<char> y(64), z(256);
  CHECK(rig.queue.launch(0, rig.program).ok());
  CHECK(rig.out(0, 0, 64, y.data()).ok());
  CHECK(rig.out(0, 512, 256, z.data()).ok());
  CHECK(rig.queue.commit(0).ok());
  SUBCASE("on the device") { rig.machine.answers["synchronize s1"] = {failed}; }
  SUBCASE("when the output is copied") { rig.machine.answers["copy_now"] = {refused}; }
  SUBCASE("when the thread takes the device") {
    rig.queue.await(0);
    rig.machine.answers["enter"] = {refused};
    CHECK(rig.queue.deliver(0).code() == Errc::unsupported);
    CHECK(rig.device.noted == "enter 1;");
    CHECK(rig.machine.count("copy_now") == 0);
    rig.machine.answers.clear();
    CHECK(y == std::vector<char>(64));
    return;
  }
  CHECK(!rig.deliver(0).ok());
  CHECK(y == std::vector<char>(64));
  CHECK(rig.queue.launch(1, rig.program).ok());
  CHECK(rig.out(1, 0, 256, z.data()).ok());
  CHECK(rig.queue.commit(1).ok());
  rig.machine.answers.clear();
  (void)rig.machine.take();
  CHECK(rig.deliver(1).code() == Errc::poisoned);
  CHECK(rig.machine.count("copy_now") == 0);
}

TEST_CASE("A delivery writes the outputs of its own round only") {
  Rig rig;
  std::vector<char> before(4), y(4), z(4), later(4);
  CHECK(rig.queue.launch(0, rig.program).ok());
  CHECK(rig.out(0, 0, 4, before.data()).ok());
  CHECK(rig.queue.commit(0).ok());
  CHECK(rig.queue.launch(1, rig.program).ok());
  CHECK(rig.out(1, 0, 4, y.data()).ok());
  CHECK(rig.out(1, 4, 4, z.data()).ok());
  CHECK(rig.queue.commit(1).ok());
  CHECK(rig.deliver(0).ok());
  CHECK(before == std::vector<char>(4, '.'));
  CHECK(y == std::vector<char>(4));
  CHECK(rig.deliver(1).ok());
  CHECK(y == std::vector<char>(4, '.'));
  CHECK(z == std::vector<char>(4, '.'));
  y.assign(4, '-');  // the caller's again
  z.assign(4, '-');
  CHECK(rig.queue.launch(1, rig.program).ok());
  CHECK(rig.out(1, 8, 4, later.data()).ok());
  CHECK(rig.queue.commit(1).ok());
  CHECK(rig.deliver(1).ok());
  CHECK(y == std::vector<char>(4, '-'));
  CHECK(z == std::vector<char>(4, '-'));
  CHECK(later == std::vector<char>(4, '.'));
}

TEST_CASE("A call that is refused is told by its name") {
  Rig<platform::streams::RoundEvents> rig;
  rig.warm_up();
  CHECK(rig.round_ns == 2e6);
  SUBCASE("an input's copy") {
    rig.machine.answers["copy"] = {refused};
    CHECK(rig.in(0, 0, 4).ok());
    CHECK(rig.in(0, 512, 4).code() == Errc::unsupported);
    CHECK(rig.device.noted == "copy 1;");
  }
  SUBCASE("the record before the tasks") {
    rig.machine.answers["record"] = {refused};
    CHECK(rig.queue.launch(0, rig.program).code() == Errc::unsupported);
    CHECK(rig.device.noted == "record 1;");
  }
  SUBCASE("the launch") {
    rig.machine.answers["wait_event"] = {refused};
    CHECK(rig.queue.launch(0, rig.program).code() == Errc::unsupported);
    CHECK(rig.device.noted == "wait_event 1;");
  }
  SUBCASE("the device itself") {
    rig.machine.answers["enter"] = {refused};
    SUBCASE("at the launch") { CHECK(rig.queue.launch(0, rig.program).code() == Errc::unsupported); }
    SUBCASE("at a refresh") { CHECK(rig.queue.refresh_args(0, {}).code() == Errc::unsupported); }
    SUBCASE("at a copy that is not staged") { CHECK(rig.in(0, 0, 1025).code() == Errc::unsupported); }
    CHECK(rig.device.noted == "enter 1;");
    CHECK(rig.machine.take().empty());
    rig.machine.answers.clear();
  }
  rig.queue.cancel(0);
  rig.submit(0);
  CHECK(rig.deliver(0).ok());
}

TEST_CASE("A round that cannot be asked about is to be waited for, and so is one after a failure") {
  Rig rig;
  rig.submit(0);
  rig.machine.event_status = 0;
  CHECK_FALSE(rig.queue.is_done(0));
  rig.machine.event_status = ScriptedApi::event_complete;
  CHECK(rig.queue.is_done(0));
  rig.machine.event_status = 0;
  rig.machine.answers["query"] = {refused};
  CHECK(rig.queue.is_done(0));
  rig.machine.answers["enter"] = {refused};
  CHECK(rig.queue.is_done(0));
  rig.machine.answers.clear();
  rig.machine.answers["synchronize s1"] = {failed};
  rig.submit(1);
  CHECK(rig.deliver(0).code() == Errc::device_failed);
  (void)rig.machine.take();
  CHECK(rig.queue.is_done(1));
  CHECK(rig.deliver(1).code() == Errc::poisoned);
  CHECK(rig.machine.take().empty());  // nothing is asked of the device any more
}

TEST_CASE("When a failure is told no stream works any more, and later rounds only fail as poisoned") {
  Rig rig;
  rig.submit(0);
  rig.submit(1);
  rig.machine.answers["synchronize s1"] = {failed};
  rig.machine.answers["synchronize s2"] = {failed};
  rig.queue.await(0);
  rig.queue.await(1);
  (void)rig.machine.take();
  const Status told = rig.queue.deliver(0);
  CHECK(told.code() == Errc::device_failed);
  CHECK(told.subject() == Status::Subject::task);  // which the program knows
  CHECK(rig.machine.take() == Strings{"synchronize own", "synchronize s1", "synchronize s2"});
  CHECK(rig.queue.deliver(1) == Status{Errc::poisoned}.poisoning());
  CHECK(rig.device.noted == "synchronize 5;");
  rig.machine.answers["synchronize s2"] = {failed};
  CHECK(rig.queue.close().ok());  // it was told
}

TEST_CASE("A stream that is late has one more chance, and is ended with the others only if it misses that") {
  Rig rig;
  rig.submit(0);
  rig.machine.answers["synchronize s1"] = {late};
  rig.queue.await(0);
  (void)rig.machine.take();
  SUBCASE("it comes to its end") {
    CHECK(rig.queue.deliver(0).code() == Errc::timed_out);
    CHECK(rig.machine.take() == Strings{"again s1", "again s2"});
  }
  SUBCASE("it does not") {
    rig.machine.answers["again s1"] = {late};
    CHECK(rig.queue.deliver(0).code() == Errc::timed_out);
    CHECK(rig.machine.take() == Strings{"again s1", "end s1", "end s2"});
  }
}

TEST_CASE("A stream whose task was ended by the device, or whose wait is refused, is not late") {
  for (const Code code : {ended, refused}) {
    CAPTURE(code);
    Rig rig;
    rig.submit(0);
    rig.machine.answers["synchronize s1"] = {code};
    rig.queue.await(0);
    (void)rig.machine.take();
    CHECK(rig.queue.deliver(0).code() == ScriptedApi::errc_of(code));
    CHECK(rig.machine.take() == Strings{"synchronize own", "synchronize s1", "synchronize s2"});
  }
}

TEST_CASE("Closing waits for each stream, and tells a failure that nobody was told") {
  Rig rig;
  rig.submit(0);
  (void)rig.machine.take();
  SUBCASE("all is well") {
    CHECK(rig.queue.close().ok());
    CHECK(rig.machine.take() == Strings{"synchronize own", "synchronize s1", "synchronize s2", "destroy s1",
                                        "destroy s2", "destroy e1", "destroy e2", "free_host", "destroy e3",
                                        "destroy e4", "free_host"});
  }
  SUBCASE("of the device") {
    rig.machine.answers["synchronize s1"] = {failed};
    CHECK(rig.queue.close().code() == Errc::device_failed);
  }
  SUBCASE("of a stream that is late") {
    rig.machine.answers["synchronize s1"] = {late};
    CHECK(rig.queue.close().code() == Errc::timed_out);
    CHECK(rig.machine.count("synchronize s2") == 0);
    CHECK(rig.machine.count("again") == 2);
    CHECK(rig.machine.count("end") == 0);
  }
  SUBCASE("of the first call that is refused") {
    rig.machine.answers["destroy s2"] = {no_memory};
    rig.machine.answers["destroy e1"] = {refused};
    CHECK(rig.queue.close().code() == Errc::out_of_memory);
  }
  SUBCASE("of the device, before that of a call") {
    rig.machine.answers["enter"] = {refused};
    rig.machine.answers["synchronize s1"] = {failed};
    CHECK(rig.queue.close().code() == Errc::unsupported);
    rig.machine.answers.clear();
  }
}

TEST_CASE("A failure that a cancelled round met is told by the next one, and not once more when the queue closes") {
  Rig rig;
  rig.warm_up();
  CHECK(rig.queue.launch(0, rig.program).ok());
  rig.machine.answers["synchronize s1"] = {failed, failed};
  rig.queue.cancel(0);
  (void)rig.machine.take();
  CHECK(rig.queue.launch(0, rig.program).code() == Errc::device_failed);
  CHECK(rig.machine.take().empty());
  rig.queue.cancel(0);
  rig.machine.answers["synchronize s2"] = {failed};
  CHECK(rig.queue.close().ok());
}
