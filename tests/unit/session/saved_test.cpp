// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/saved_file.hpp>

#include <folder.hpp>
#include <random.hpp>
#include <rondo/arch/a2a3.hpp>
#include <rondo/detail/bytes.hpp>
#include <rondo/graph/static_graph.hpp>
#include <rondo/platform/file.hpp>
#include <rondo/platform/host/host.hpp>
#include <rondo/platform/sim/pool.hpp>
#include <rondo/session/open.hpp>
#include <rondo/session/open_static.hpp>
#include <scale.hpp>
#include <unit/session/scripted_platform.hpp>
#include <unit/support.hpp>

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

using namespace rondo;
using namespace rondo::test;

namespace {

/// y = x + 1, in some microseconds.
struct Slow {
  static constexpr std::string_view name = "slow";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> x, Out<float> y) noexcept {
    for (int i = 0; i < 3000; ++i) asm volatile("");
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = x[i] + 1;
  }
};

struct CountedPlanner {
  static constexpr const char* name = "counted";
  static inline int calls = 0;
  static memory::Plan plan(const memory::Problem& problem) {
    ++calls;
    return memory::Greedy::plan(problem);
  }
};
struct Counting : DefaultPolicies {
  using Plan = CountedPlanner;
};
struct Logging : DefaultPolicies {
  static inline std::string fallbacks;
  static void log(LogEvent event, const char* text) noexcept {
    if (event == LogEvent::fallback) fallbacks += text;
  }
};

/// Chains that are independent of each other: y[c] = x + length.
struct Chains {
  TaskGraph graph;
  Input<float> x = graph.input<float>("x", {4});
  std::vector<Output<float>> y;
  std::size_t length;

  explicit Chains(std::size_t tasks_of_each) : length{tasks_of_each} {
    for (std::size_t c = 0; c < 2; ++c) {
      const std::string id = std::to_string(c);
      y.push_back(graph.output<float>("y" + id, {4}));
      auto last = graph.workspace<float>("w" + id, {4});
      graph.add<Slow>(x, last);
      for (std::size_t i = 2; i < length; ++i) {
        const auto next = graph.workspace<float>("w" + id + "_" + std::to_string(i), {4});
        graph.add<Slow>(last, next);
        last = next;
      }
      graph.add<Slow>(last, y[c]);
    }
  }
  template <class Session>
  void run(Session& session, int rounds) {
    for (int r = 0; r < rounds; ++r) {
      const std::vector<float> hx{static_cast<float>(r), 2, 3, 4};
      std::vector<float> h0(4);
      std::vector<float> h1(4);
      REQUIRE(session.run_round(bind(x, hx), bind(y[0], h0), bind(y[1], h1)).ok());
      REQUIRE(h0[0] == static_cast<float>(r) + static_cast<float>(length));
      REQUIRE(h1[3] == 4 + static_cast<float>(length));
    }
  }
};

using OnThreads = HostOn<Pool>;

OnThreads::Options on_threads(SavedFile saved = {}, std::uint32_t threads = 2) {
  OnThreads::Options options;
  options.engine.threads = threads;
  options.engine.learning_rounds = 4;
  options.engine.trial_rounds = 0;
  options.engine.look_rounds = 0;
  options.engine.costs = {.per_node = 1, .across_threads = 0, .per_round = 0};
  options.saved = saved;
  return options;
}

std::vector<std::byte> contents(const std::string& path) {
  const std::string bytes = rondo::detail::read_file(path.c_str(), "it cannot be read");
  return {std::as_bytes(std::span(bytes)).begin(), std::as_bytes(std::span(bytes)).end()};
}
void write(const std::string& path, const std::vector<std::byte>& bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

/// A small graph on the calling thread, and the file of its session.
struct Small {
  Folder folder;
  std::string path = folder / "small.rondo";
  TaskGraph graph;
  Input<float> x = graph.input<float>("x", {2});
  Output<float> y = graph.output<float>("y", {2});
  Workspace<float> w = graph.workspace<float>("w", {2});

  Small() {
    graph.add<Scale>(x, w, 2.0F);
    graph.add<Scale>(w, y, 3.0F);
    auto session = open<A2A3Sim>(graph);
    session.save(path.c_str());
  }
  template <class Policies = DefaultPolicies>
  Raised opened(SavedFile saved) {
    return raised([&] {
      auto session = open<A2A3Sim, Policies>(graph, {.saved = saved});
      const std::vector<float> hx{1, 2};
      std::vector<float> hy(2);
      CHECK(session.run_round(bind(x, hx), bind(y, hy)).ok());
      CHECK(hy == std::vector<float>{6, 12});
      is_restored = session.is_restored();
    });
  }
  bool is_restored = false;
};

rondo::detail::SavedKey key_of(const TaskGraph& graph) {
  return rondo::detail::make_saved_key({"host", freeze(graph).view(), arch::limits_of<arch::Host>, {}});
}

constexpr auto build = [] {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {2});
  const auto y = graph.output<float>("y", {2});
  graph.add<Scale>(x, y, 2.0F);
  return graph;
};
constexpr auto& constant = static_graph<build>;

}  // namespace

TEST_CASE("A session that is opened from a file neither plans nor learns, and goes on as the saved one did") {
  const Folder folder;
  const std::string path = folder / "chains.rondo";
  const std::string again = folder / "again.rondo";
  Chains chains(20);
  std::size_t threads = 0;
  while (threads != 2) {  // a machine that is busy while it learns may have no second thread to give
    CountedPlanner::calls = 0;
    auto session = open<OnThreads, Counting>(chains.graph, on_threads());
    CHECK(!session.is_restored());
    CHECK(CountedPlanner::calls == 1);
    chains.run(session, 6);
    Pool& pool = session.platform().engine();
    threads = pool.threads_used();
    CHECK(pool.learning_rounds() == 4);
    CHECK(pool.searches() == 1);
    session.save(path.c_str());
    chains.run(session, 1);
  }
  auto session = open<OnThreads, Counting>(chains.graph, on_threads(path.c_str()));
  CHECK(session.is_restored());
  chains.run(session, 1);
  CHECK(session.platform().engine().threads_used() == threads);
  chains.run(session, 10);
  CHECK(CountedPlanner::calls == 1);
  CHECK(session.platform().engine().learning_rounds() == 0);
  CHECK(session.platform().engine().searches() == 0);
  session.save(again.c_str());
  CHECK(contents(again) == contents(path));
  CHECK(folder.files() == 2);  // none under another name
}

TEST_CASE("A session that is opened from a file goes on learning") {
  const Folder folder;
  const std::string path = folder / "chains.rondo";
  Chains chains(6);
  auto options = on_threads();
  options.engine.look_rounds = 1;
  {
    auto session = open<OnThreads>(chains.graph, options);
    chains.run(session, 6);
    session.save(path.c_str());
  }
  // The costs in the file say that tasks cost nothing, so one thread would do.
  const FrozenGraph frozen = freeze(chains.graph);
  const rondo::detail::SavedKey key = rondo::detail::make_saved_key(
      {"host",
       frozen.view(),
       arch::limits_of<arch::Host>,
       {.planner = "greedy", .concurrency = static_cast<std::uint64_t>(memory::Concurrency::parallel)}});
  auto state = rondo::detail::decode_saved("", contents(path), key, frozen.view(), arch::limits_of<arch::Host>);
  rondo::detail::ByteWriter alone;
  alone.put(std::uint32_t{2});
  alone.put_all(std::vector<double>(2 * chains.length, 1.0));
  alone.put(std::array<std::uint8_t, 4>{1, 0, 0, 0});  // settled; not forced; no schedule; no overlap
  state.learned = {alone.take()};
  write(path, encode_saved(key, state));
  options.saved = path.c_str();
  auto session = open<OnThreads>(chains.graph, options);
  chains.run(session, 1);
  CHECK(session.platform().engine().threads_used() == 1);
  std::size_t most = 0;
  while (most < 2) {  // the times that it learns depend on the machine
    chains.run(session, 1);
    most = session.platform().engine().threads_used();
  }
  CHECK(session.platform().engine().learning_rounds() == 0);
}

TEST_CASE("Rounds in flight overlap at once if the session is opened from a file, without a search") {
  const Folder folder;
  const std::string path = folder / "flight.rondo";
  Chains chains(4);
  const auto run = [&](auto& session, int rounds) {
    const std::vector<float> hx{1, 2, 3, 4};
    std::vector<float> h0(4);
    std::vector<float> h1(4);
    for (int r = 0; r < rounds; ++r) {
      (void)session.submit_round(bind(chains.x, hx), bind(chains.y[0], h0), bind(chains.y[1], h1));
    }
    REQUIRE(session.wait_all().ok());
    REQUIRE(h1[3] == 8);
  };
  const auto run_until_overlapping = [&](auto& session) {
    while (!session.platform().engine().is_overlapping()) run(session, 8);
  };
  {
    auto session = open_pipelined<OnThreads, 2>(chains.graph, on_threads());
    run_until_overlapping(session);
    session.save(path.c_str());
    run(session, 4);
  }
  auto session = open_pipelined<OnThreads, 2>(chains.graph, on_threads(path.c_str()));
  CHECK(session.is_restored());
  run_until_overlapping(session);
  run(session, 8);
  CHECK(session.platform().engine().searches() == 0);
  CHECK(session.platform().engine().learning_rounds() == 0);
  const Raised three = raised([&] { auto s = open_pipelined<OnThreads, 3>(chains.graph, on_threads(path.c_str())); });
  CHECK(says(three.text, "another number of rounds in flight"));
}

namespace {
/// y = x once the gate is open; throws for a negative x.
struct Gated {
  static constexpr std::string_view name = "gated";
  static constexpr auto core = CoreType::vector;
  static inline std::atomic<bool> is_open{true};
  static void run(In<float> x, Out<float> y) {
    while (!is_open.load(std::memory_order_relaxed)) std::this_thread::yield();
    if (x[0] < 0) throw std::runtime_error("negative");
    y[0] = x[0];
  }
};
}  // namespace

TEST_CASE("A round that overlaps with others is done when its own tasks are, and fails when they do") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {4});
  const auto y = graph.output<float>("y", {4});
  auto last = graph.workspace<float>("w", {4});
  graph.add<Slow>(x, last);
  for (int i = 0; i < 3; ++i) {  // a chain, of which two rounds run in the time of one
    const auto next = graph.workspace<float>("w" + std::to_string(i), {4});
    graph.add<Slow>(last, next);
    last = next;
  }
  graph.add<Gated>(last, y);
  auto session = open_pipelined<OnThreads, 2>(graph, on_threads());
  std::vector<float> hx{1, 2, 3, 4}, hy(4);
  const auto submit = [&] { return session.submit_round(bind(x, hx), bind(y, hy)); };
  while (!session.platform().engine().is_overlapping()) REQUIRE(session.wait(submit()).ok());
  REQUIRE(session.wait(submit()).ok());

  Gated::is_open = false;
  hx[0] = 7;
  const auto gated = submit();
  for (int look = 0; look < 1000; ++look) REQUIRE(session.poll() == 1);
  Gated::is_open = true;
  CHECK(session.wait(gated).ok());
  CHECK(hy[0] == 11);

  hx[0] = -9;
  CHECK(session.wait(submit()).code() == Errc::kernel_failed);
  CHECK(hy[0] == 11);
}

TEST_CASE("A file of another graph, platform, planner or number of threads is refused, and says so") {
  Small small;
  CHECK(small.opened(small.path.c_str()).code == Errc::ok);
  CHECK(small.is_restored);

  const Raised other_planner = small.opened<Counting>(small.path.c_str());
  CHECK(other_planner.code == Errc::invalid_argument);
  CHECK(says(other_planner.text, small.path, "another planner", "save the session again"));

  const Raised other_platform =
      raised([&] { auto session = open<OnThreads>(small.graph, on_threads(small.path.c_str())); });
  CHECK(says(other_platform.text, "saved on a2a3_sim", "not for host"));

  small.graph.add<Accumulate>(small.x, small.graph.resident<float>("r", {2}));
  CHECK(says(small.opened(small.path.c_str()).text, "another graph"));
  const std::string nowhere = small.folder / "nothing.rondo";
  CHECK(says(small.opened(nowhere.c_str()).text, nowhere, "no such file"));
  CHECK(says(small.opened(small.folder.path().c_str()).text, "cannot be read: Is a directory"));

  Chains chains(6);
  const std::string path = small.folder / "two.rondo";
  {
    auto session = open<OnThreads>(chains.graph, on_threads());
    chains.run(session, 6);
    session.save(path.c_str());
  }
  const Raised threads = raised([&] { auto session = open<OnThreads>(chains.graph, on_threads(path.c_str(), 3)); });
  CHECK(says(threads.text, path, "learned for 2 threads", "has 3"));
  auto session = open<OnThreads>(chains.graph, on_threads({path.c_str(), IfUnusable::ignore}, 3));
  chains.run(session, 6);
  CHECK(session.platform().engine().learning_rounds() == 4);
}

TEST_CASE("Every damaged file is refused, or ignored if the options say so") {
  Small small;
  const std::vector<std::byte> good = contents(small.path);
  auto random = rondo::test::make_random(22);
  for (int i = 0; i < scaled(600); ++i) {
    std::vector<std::byte> bad = good;
    const std::size_t at = random() % bad.size();
    const auto where = bad.begin() + static_cast<std::ptrdiff_t>(at);
    switch (random() % 4) {
      case 0: bad[at] ^= static_cast<std::byte>(1U + random() % 255); break;
      case 1: bad.resize(at); break;
      case 2: bad.insert(where, static_cast<std::byte>(random())); break;
      default:
        if (at + 8 > bad.size()) continue;
        const std::uint64_t word = std::uint64_t{random()} << 32U | random();
        std::memcpy(&bad[at], &word, sizeof(word));
    }
    if (bad == good) continue;
    write(small.path, bad);
    CAPTURE(at);
    REQUIRE(small.opened(small.path.c_str()).code == Errc::invalid_argument);
    if (i % 20 != 0) continue;
    small.is_restored = true;
    Logging::fallbacks.clear();
    REQUIRE(small.opened<Logging>({small.path.c_str(), IfUnusable::ignore}).code == Errc::ok);
    CHECK(!small.is_restored);
    CHECK(says(Logging::fallbacks, small.path));
  }
  std::vector<std::byte> older = good;
  older[12] ^= std::byte{1};
  write(small.path, older);
  CHECK(says(small.opened(small.path.c_str()).text, "another version of Rondo"));
  CHECK(small.opened({nullptr}).code == Errc::ok);
}

TEST_CASE("A file that is not for this session says what it is") {
  Small small;
  const std::vector<std::byte> good = contents(small.path);
  const auto with = [&](std::size_t at, const auto& value) {
    std::vector<std::byte> bytes = good;
    std::memcpy(&bytes[at], &value, sizeof(value));
    return bytes;
  };
  const auto text_of = [&](const std::vector<std::byte>& bytes) {
    write(small.path, bytes);
    return small.opened(small.path.c_str()).text;
  };
  CHECK(says(text_of(with(0, 'R')), "no file of a session"));
  CHECK(says(text_of(with(12, std::array<std::uint32_t, 3>{7, 8, 9})), "wrote it: 7.8.9, format 2"));
  // The name of a platform that fills its place, in a body whose checksum is right.
  std::vector<std::byte> nameless = good;
  constexpr std::size_t checksum_at = 32, body_at = 40, name_bytes = 32;
  std::memset(&nameless[body_at], 'x', name_bytes);
  rondo::detail::Hash hash;
  hash.add(std::span(nameless).subspan(body_at));
  const std::uint64_t checksum = hash.value();
  std::memcpy(&nameless[checksum_at], &checksum, sizeof(checksum));
  CHECK(says(text_of(nameless), "it was saved on " + std::string(name_bytes - 1, 'x') + " and is not for a2a3_sim"));
}

TEST_CASE("A file is for one platform and for the limits of one chip") {
  const FrozenGraph frozen = freeze(build());
  const arch::Limits& chip = arch::limits_of<arch::Host>;
  const auto key = key_of(build());
  const auto bytes = encode_saved(key, {.arena_bytes = 1024, .offsets = {0, 512}});
  const auto code_for = [&](const rondo::detail::SavedKey& other) {
    return raised([&] { (void)rondo::detail::decode_saved("", bytes, other, frozen.view(), chip); }).code;
  };
  CHECK(code_for(key) == Errc::ok);
  auto other_platform = key;
  other_platform.platform = rondo::detail::FixedText<32>("cuda");
  CHECK(code_for(other_platform) == Errc::invalid_argument);
  auto other_chip = key;
  ++other_chip.chip;
  CHECK(code_for(other_chip) == Errc::invalid_argument);
}

TEST_CASE("A plan in a file is good if each block lies in the arena, and each view where its source is") {
  const arch::Limits& chip = arch::limits_of<arch::A2A3>;
  const auto code_in = [&](const graph::GraphView& view, std::uint64_t arena_bytes,
                           std::vector<std::uint64_t> offsets) {
    const rondo::detail::SavedKey key;
    const auto bytes = encode_saved(key, {arena_bytes, std::move(offsets)});
    return raised([&] { (void)rondo::detail::decode_saved("", bytes, key, view, chip); }).code;
  };
  const auto code_of = [&](const TaskGraph& graph, std::uint64_t arena_bytes, std::vector<std::uint64_t> offsets) {
    const FrozenGraph frozen = freeze(graph);
    return code_in(frozen.view(), arena_bytes, std::move(offsets));
  };
  const std::uint64_t block = chip.block_bytes(16);  // of four floats
  {
    TaskGraph graph;
    const auto x = graph.input<float>("x", {4});
    graph.add<Scale>(x, graph.output<float>("y", {4}), 2.0F);
    const std::uint64_t second = align_up(block, chip.tensor_alignment);
    CHECK(code_of(graph, second + block, {0, second}) == Errc::ok);
    CHECK(code_of(graph, second + block - 1, {0, second}) == Errc::invalid_argument);
    CHECK(code_of(graph, second + 16, {0, second}) == Errc::invalid_argument);
    CHECK(code_of(graph, 0, {0, 0}) == Errc::invalid_argument);
  }
  {  // A host input is not in the arena.
    TaskGraph graph;
    const auto h = graph.host_input<float>("h", {1000});
    graph.add<Scale>(h, graph.output<float>("y", {4}), 2.0F);
    CHECK(code_of(graph, block, {0, 0}) == Errc::ok);
  }
  {  // Tensors without bytes need no arena.
    const FrozenGraph frozen = freeze(build());
    std::vector<graph::TensorRecord> empty(frozen.view().tensors.begin(), frozen.view().tensors.end());
    for (graph::TensorRecord& tensor : empty) tensor.bytes = 0;
    graph::GraphView view = frozen.view();
    view.tensors = empty;
    CHECK(code_in(view, 0, {0, 0}) == Errc::ok);
    CHECK(code_in(view, 0, {chip.tensor_alignment, 0}) == Errc::invalid_argument);
  }
  {  // A view has no block of its own.
    TaskGraph graph;
    const auto x = graph.input<float>("x", {4});
    const auto last = graph.workspace<float>("last", {1});
    graph.make_view(last, x, 3);
    graph.add<Scale>(last, graph.output<float>("y", {1}), 2.0F);
    const std::uint64_t source = align_up(chip.block_bytes(4), chip.tensor_alignment);
    CHECK(code_of(graph, source + block, {source, source + 12, 0}) == Errc::ok);
    CHECK(code_of(graph, source + block, {source, source + 8, 0}) == Errc::invalid_argument);
  }
}

TEST_CASE("A file of a graph with tensors outside the arena opens again") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {4});
  const auto w = graph.resident<float>("w", {1024});
  const auto y = graph.output<float>("y", {4});
  graph.add<Scale>(x, y, 2.0F);
  graph.add_raw("reads", CoreType::vector, +[](ArgWord*) {}, reads(w), updates(y));
  graph.in_memory(w, MemoryKind::mapped_host);
  const std::string path = (std::filesystem::temp_directory_path() / "rondo_saved_outside").string();
  open<A2A3Sim>(graph).save(path.c_str());
  CHECK(open<A2A3Sim>(graph, {.saved = path.c_str()}).is_restored());
  std::filesystem::remove(path);
}

TEST_CASE("What a file with a right checksum holds cannot place a tensor outside of the arena, or end in a deadlock") {
  Chains chains(4);
  const Folder folder;
  const std::string path = folder / "chains.rondo";
  {
    auto session = open<OnThreads>(chains.graph, on_threads());
    chains.run(session, 6);
    session.save(path.c_str());
  }
  const FrozenGraph frozen = freeze(chains.graph);
  const arch::Limits& chip = arch::limits_of<arch::Host>;
  const rondo::detail::SavedKey key = rondo::detail::make_saved_key(
      {"host",
       frozen.view(),
       chip,
       {.planner = "greedy", .concurrency = static_cast<std::uint64_t>(memory::Concurrency::parallel)}});
  const auto good = rondo::detail::decode_saved("", contents(path), key, frozen.view(), chip);
  const auto code_of = [&](const rondo::detail::SavedState& state) {
    return raised([&] { (void)rondo::detail::decode_saved("", encode_saved(key, state), key, frozen.view(), chip); })
        .code;
  };
  CHECK(code_of(good) == Errc::ok);
  for (std::size_t t = 0; t < good.offsets.size(); ++t) {
    for (const std::uint64_t offset : {good.arena_bytes, ~std::uint64_t{0}, ~std::uint64_t{63}, std::uint64_t{1}}) {
      auto bad = good;
      bad.offsets[t] = offset;
      CHECK(code_of(bad) == Errc::invalid_argument);
    }
  }
  auto fewer = good;
  fewer.offsets.pop_back();
  CHECK(code_of(fewer) == Errc::invalid_argument);

  auto random = rondo::test::make_random(23);
  int used = 0;
  for (int i = 0; i < scaled(200); ++i) {
    auto bad = good;
    std::vector<std::byte>& learned = bad.learned[0];
    const std::size_t at = random() % learned.size();
    if (i % 3 == 0) learned.resize(at);
    if (i % 3 != 0) learned[at] ^= static_cast<std::byte>(1U + random() % 255);
    write(path, encode_saved(key, bad));
    const Raised refused = raised([&] {
      auto session = open<OnThreads>(chains.graph, on_threads(path.c_str()));
      chains.run(session, 2);  // right in any case
      ++used;
    });
    const bool is_cut = i % 3 == 0 && at != 0;  // empty, it says that nothing was learned
    CHECK((refused.code == Errc::invalid_argument || (!is_cut && refused.code == Errc::ok)));
  }
  CHECK(used > 0);  // such as other costs
}

TEST_CASE("A schedule is for a graph with tasks") {
  Chains chains(4);
  const Folder folder;
  const std::string path = folder / "schedule.rondo";
  std::vector<std::byte> learned;
  {
    auto session = open<OnThreads>(chains.graph, on_threads());
    chains.run(session, 6);
    session.save(path.c_str());
    const arch::Limits& chip = arch::limits_of<arch::Host>;
    const FrozenGraph frozen = freeze(chains.graph);
    const auto key = rondo::detail::make_saved_key(
        {"host",
         frozen.view(),
         chip,
         {.planner = "greedy", .concurrency = static_cast<std::uint64_t>(memory::Concurrency::parallel)}});
    learned = rondo::detail::decode_saved("", contents(path), key, frozen.view(), chip).learned[0];
  }
  rondo::detail::ByteReader from(learned);
  const auto threads = from.get<std::uint32_t>();
  const std::size_t costs = from.get_all<double>().size();
  REQUIRE(costs == chains.graph.tasks().size());
  rondo::detail::ByteWriter without;
  without.put(threads);
  without.put_all(std::vector<double>{});
  const auto kept = std::span(learned).last(learned.size() - without.bytes().size() - costs * sizeof(double));

  TaskGraph graph;
  (void)graph.input<float>("x", {4});
  const FrozenGraph frozen = freeze(graph);
  {
    auto session = open<OnThreads>(graph, on_threads());
    session.save(path.c_str());
  }
  const arch::Limits& chip = arch::limits_of<arch::Host>;
  const auto key = rondo::detail::make_saved_key(
      {"host",
       frozen.view(),
       chip,
       {.planner = "greedy", .concurrency = static_cast<std::uint64_t>(memory::Concurrency::parallel)}});
  auto state = rondo::detail::decode_saved("", contents(path), key, frozen.view(), chip);
  state.learned.assign(1, without.take());
  state.learned[0].insert(state.learned[0].end(), kept.begin(), kept.end());
  write(path, encode_saved(key, state));
  const Raised refused = raised([&] { auto session = open<OnThreads>(graph, on_threads(path.c_str())); });
  CHECK(refused.code == Errc::invalid_argument);
  CHECK(refused.text.find("does not belong to this graph") != std::string::npos);
}

TEST_CASE("A file belongs to a graph of these tensors, tasks, arguments and edges, whatever its scalars are") {
  const auto with = [](auto change) {
    TaskGraph graph;
    change(graph);
    return key_of(graph).graph;
  };
  const auto usual = [](TaskGraph& g, const char* name = "y", std::int64_t size = 2, float factor = 2.0F) {
    const auto x = g.input<float>("x", {size});
    const auto y = g.output<float>(name, {size});
    const auto z = g.output<float>("z", {size});
    return std::vector<TaskId>{g.add<Scale>(x, y, factor), g.add<Scale>(x, z, factor)};
  };
  const std::uint64_t key = with([&](TaskGraph& g) { usual(g); });
  CHECK(with([&](TaskGraph& g) { usual(g); }) == key);
  CHECK(with([&](TaskGraph& g) { usual(g, "y", 2, 3.0F); }) == key);
  CHECK(with([&](TaskGraph& g) { usual(g, "v"); }) != key);
  CHECK(with([&](TaskGraph& g) { usual(g, "y", 3); }) != key);
  CHECK(with([&](TaskGraph& g) {
          const auto tasks = usual(g);
          g.add_edge(tasks[0], tasks[1]);
        }) != key);
  CHECK(with([&](TaskGraph& g) {
          const auto x = g.input<float>("x", {2});
          g.keep(x);
          g.add<Scale>(x, g.output<float>("y", {2}), 2.0F);
          g.add<Scale>(x, g.output<float>("z", {2}), 2.0F);
        }) != key);
}

TEST_CASE("A file belongs to a graph in each part that decides where its tensors are and what its tasks do") {
  struct Records {
    std::vector<graph::TensorRecord> tensors;
    std::vector<graph::TaskRecord> tasks;
    std::vector<graph::ArgRecord> args;
    std::vector<graph::LoopRecord> loops;
  };
  using Change = void (*)(graph::TensorRecord&, graph::TaskRecord&, graph::ArgRecord&, graph::LoopRecord&);
  const FrozenGraph frozen = freeze(build());
  const graph::GraphView view = frozen.view();
  const auto key = [&](Change change) {
    Records r{{view.tensors.begin(), view.tensors.end()},
              {view.tasks.begin(), view.tasks.end()},
              {view.args.begin(), view.args.end()},
              {{}}};
    change(r.tensors[0], r.tasks[0], r.args[0], r.loops[0]);
    graph::GraphView changed = view;
    changed.tensors = r.tensors;
    changed.tasks = r.tasks;
    changed.args = r.args;
    changed.loops = r.loops;
    return rondo::detail::make_saved_key({"host", changed, arch::limits_of<arch::Host>, {}}).graph;
  };
  const Change changes[] = {
      [](auto&, auto&, auto&, auto&) {},
      [](auto& tensor, auto&, auto&, auto&) { ++tensor.name.begin; },
      [](auto& tensor, auto&, auto&, auto&) { ++tensor.name.size; },
      [](auto& tensor, auto&, auto&, auto&) { tensor.type = DataType::int32; },
      [](auto& tensor, auto&, auto&, auto&) { tensor.direction = Direction::inout; },
      [](auto& tensor, auto&, auto&, auto&) { tensor.direction = Direction::resident; },
      [](auto& tensor, auto&, auto&, auto&) { tensor.zeroed = Zeroed::each_round; },
      [](auto& tensor, auto&, auto&, auto&) { tensor.zeroed = Zeroed::once; },
      [](auto& tensor, auto&, auto&, auto&) { tensor.value.kind = graph::ValueKind::step; },
      [](auto& tensor, auto&, auto&, auto&) { tensor.fixed = true; },
      [](auto& tensor, auto&, auto&, auto&) { tensor.kept = true; },
      [](auto& tensor, auto&, auto&, auto&) { tensor.delivered = true; },
      [](auto& tensor, auto&, auto&, auto&) { tensor.memory = MemoryKind::huge_pages; },
      [](auto& tensor, auto&, auto&, auto&) { tensor.shape = Shape{2, 1}; },
      [](auto& tensor, auto&, auto&, auto&) { tensor.shape = Shape{3}; },
      [](auto& tensor, auto&, auto&, auto&) { tensor.alias_of = 1; },
      [](auto& tensor, auto&, auto&, auto&) { tensor.view_of = 1; },
      [](auto& tensor, auto&, auto&, auto&) { tensor.view_first = 1; },
      [](auto& tensor, auto&, auto&, auto&) { ++tensor.count; },
      [](auto&, auto& task, auto&, auto&) { ++task.name.begin; },
      [](auto&, auto& task, auto&, auto&) { ++task.name.size; },
      [](auto&, auto& task, auto&, auto&) { task.core = CoreType::cube; },
      [](auto&, auto& task, auto&, auto&) { task.fills = true; },
      [](auto&, auto& task, auto&, auto&) { task.call = [](ArgWord*, void*) { return 0; }; },
      [](auto&, auto& task, auto&, auto&) { task.blocks = 2; },
      [](auto&, auto& task, auto&, auto&) { ++task.arg_count; },
      [](auto&, auto& task, auto&, auto&) { task.block_bytes += 8; },
      [](auto&, auto& task, auto&, auto&) { task.threads = 64; },
      [](auto&, auto& task, auto&, auto&) { task.shared_bytes = 64; },
      [](auto&, auto& task, auto&, auto&) { task.loop = 0; },
      [](auto&, auto& task, auto&, auto&) { ++task.added_as; },
      [](auto&, auto&, auto& arg, auto&) { arg.kind = graph::ArgRecord::Kind::constant; },
      [](auto&, auto&, auto& arg, auto&) { arg.access = Access::read_write; },
      [](auto&, auto&, auto& arg, auto&) { arg.width = 4; },
      [](auto&, auto&, auto& arg, auto&) { ++arg.tensor; },
      [](auto&, auto&, auto& arg, auto&) { arg.offset += 8; },
      [](auto&, auto&, auto& arg, auto&) { arg.in_place_of = 1; },
      [](auto&, auto&, auto& arg, auto&) { arg.dimension = 1; },
      [](auto&, auto&, auto&, auto& loop) { loop.kind = graph::LoopRecord::Kind::when; },
      [](auto&, auto&, auto&, auto& loop) { loop.condition = 1; },
      [](auto&, auto&, auto&, auto& loop) { loop.parent = 1; },
      [](auto&, auto&, auto&, auto& loop) { loop.decision = 1; },
      [](auto&, auto&, auto&, auto& loop) { loop.first = 1; },
      [](auto&, auto&, auto&, auto& loop) { loop.last = 1; },
  };
  std::set<std::uint64_t> keys;
  for (const Change change : changes) keys.insert(key(change));
  CHECK(keys.size() == std::size(changes));
}

TEST_CASE("A file belongs to a chip with these limits, and to a session that lays out its arena in this way") {
  const FrozenGraph frozen = freeze(build());
  const auto key = [&](auto change) {
    arch::Limits chip = arch::limits_of<arch::Host>;
    rondo::detail::LayoutRules rules;
    change(chip, rules);
    return rondo::detail::make_saved_key({"host", frozen.view(), chip, rules});
  };
  const auto usual = key([](auto&, auto&) {});
  CHECK(key([](auto& chip, auto&) { chip.max_blocks = 3; }).chip != usual.chip);
  CHECK(key([](auto& chip, auto&) { chip.name = "other"; }).chip != usual.chip);
  CHECK(key([](auto& chip, auto&) { chip.view_alignment += 64; }).chip != usual.chip);
  std::set<std::uint64_t> layouts{usual.layout};
  layouts.insert(key([](auto&, auto& rules) { rules.ports_last = !rules.ports_last; }).layout);
  layouts.insert(key([](auto&, auto& rules) { rules.residents_first = !rules.residents_first; }).layout);
  layouts.insert(key([](auto&, auto& rules) { rules.slots += 1; }).layout);
  CHECK(layouts.size() == 4);
}

TEST_CASE("Measured costs are in the file if there are any") {
  const FrozenGraph frozen = freeze(build());
  const auto key = rondo::detail::make_saved_key({"host", frozen.view(), arch::limits_of<arch::Host>, {}});
  rondo::detail::SavedState state;
  state.arena_bytes = 4096;
  state.offsets = {0, 1024};
  const auto read = [&] {
    const std::vector<std::byte> bytes = rondo::detail::encode_saved(key, state);
    return rondo::detail::decode_saved("file", bytes, key, frozen.view(), arch::limits_of<arch::Host>);
  };
  CHECK(!read().costs.has_value());
  args::RefreshCosts costs;
  costs.copy = 7;
  costs.copied_byte = 3;
  state.costs = costs;
  CHECK(read().costs == costs);
}

TEST_CASE("A session is saved only where a file can be, and only while it is usable; nothing is left behind") {
  Small small;
  auto session = open<A2A3Sim>(small.graph);
  const auto saved = [&](const std::string& path) { return raised([&] { session.save(path.c_str()); }); };
  CHECK(says(saved(small.folder / "no/such/folder").text, "cannot be saved there"));
  std::filesystem::create_directory(small.folder / "taken");
  CHECK(says(saved(small.folder / "taken").text, "cannot be saved there"));
  CHECK(says(saved("").text, "a file without a name: "));
  CHECK(says(raised([&] { session.save(nullptr); }).text, "a file without a name: "));
  CHECK(small.folder.files() == 2);
  CHECK(session.close().ok());
  CHECK(saved(small.path).code == Errc::closed);

  TaskGraph graph;
  const auto x = graph.input<float>("x", {2});
  const auto y = graph.output<float>("y", {2});
  graph.add<Fragile>(x, y);
  auto fragile = open<A2A3Sim>(graph);
  const std::vector<float> hx{-1, 2};
  std::vector<float> hy(2);
  CHECK(fragile.run_round(bind(x, hx), bind(y, hy)).poisoned());
  CHECK(raised([&] { fragile.save(small.path.c_str()); }).code == Errc::poisoned);
}

TEST_CASE("A session over a constant graph is saved, too") {
  const Folder folder;
  const std::string path = folder / "constant.rondo";
  {
    auto session = open<A2A3Sim, constant>();
    session.save(path.c_str());
  }
  auto session = open<A2A3Sim, constant>({.saved = path.c_str()});
  CHECK(session.is_restored());
  const std::vector<float> hx{1, 2};
  std::vector<float> hy(2);
  CHECK(session.run_round(bind(constant.input<float>("x"), hx), bind(constant.output<float>("y"), hy)).ok());
  CHECK(hy == std::vector<float>{2, 4});
}
