// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Random orchestrations against the same program run in sequence on plain memory. A round's seed is one of its inputs,
// so one session builds another graph each round, and what one round leaves behind would show in the next.

#include "scale.hpp"

#include <rondo/orchestrated.hpp>
#include <rondo/platform/sim/pool.hpp>
#include <rondo/rondo.hpp>

#include "conformance/platforms.hpp"

#include <doctest/doctest.h>
#include <random.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <random>
#include <variant>
#include <vector>

using namespace rondo;

namespace {

struct Part {
  std::uint32_t row, col, rows, cols;
};
bool meet(const Part& a, const Part& b) {
  return a.row < b.row + b.rows && b.row < a.row + a.rows && a.col < b.col + b.cols && b.col < a.col + a.cols;
}

/// Words: {address, rows, columns, row stride} of what is written and of two that are read; then a salt. Every element
/// written depends on all that is read, and on the order: no two runs of it can be swapped unseen.
void mix(std::int64_t* words) {
  std::uint32_t hash = static_cast<std::uint32_t>(words[12]);
  for (int in = 4; in < 12; in += 4) {
    const auto* data = reinterpret_cast<const std::uint32_t*>(words[in]);
    for (std::int64_t r = 0; r < words[in + 1]; ++r) {
      for (std::int64_t c = 0; c < words[in + 2]; ++c) hash = hash * 31 + data[r * words[in + 3] + c];
    }
  }
  if (hash % 8 == 0) {
    static std::atomic<int> sink;
    for (int i = 0; i < 50; ++i) sink.fetch_add(1, std::memory_order_relaxed);
  }
  const bool update = (words[12] & 1) != 0;
  auto* out = reinterpret_cast<std::uint32_t*>(words[0]);
  for (std::int64_t r = 0; r < words[1]; ++r) {
    for (std::int64_t c = 0; c < words[2]; ++c) {
      std::uint32_t& element = out[r * words[3] + c];
      element = (update ? element * 33 : 0) + hash + static_cast<std::uint32_t>(r * 7 + c);
    }
  }
}

/// The same on a core of the stand-in's. It reads through the core's cache, and writes by copies: tasks may write to
/// one line at the same time, and a cache writes whole lines back.
[[maybe_unused]] std::uint64_t mix_on_core(std::int64_t* args) {
  std::int64_t words[13];
  for (int w = 0; w < 13; ++w) words[w] = static_cast<std::int64_t>(rondo_stand_in_core_load(args + w));
  std::int64_t own[13];
  std::copy(words, words + 13, own);
  std::vector<std::uint32_t> parts[3];
  for (int t = 0; t < 3; ++t) {
    const std::int64_t rows = words[4 * t + 1], cols = words[4 * t + 2];
    for (std::int64_t i = 0; i < rows * cols; ++i) {
      const std::int64_t at = words[4 * t] + 4 * (i / cols * words[4 * t + 3] + i % cols);
      const std::uint64_t pair = rondo_stand_in_core_load(reinterpret_cast<const void*>(at & ~std::int64_t{7}));
      parts[t].push_back(static_cast<std::uint32_t>(at % 8 == 0 ? pair : pair >> 32));
    }
    own[4 * t] = reinterpret_cast<std::int64_t>(parts[t].data());
    own[4 * t + 3] = cols;
  }
  mix(own);
  for (std::int64_t r = 0; r < words[1]; ++r) {
    rondo_stand_in_core_copy(reinterpret_cast<void*>(words[0] + 4 * r * words[3]), parts[0].data() + r * words[2],
                             4 * static_cast<std::size_t>(words[2]));
  }
  return 0;
}

/// The program: what it does follows from the seed alone. `B` makes tensors, opens scopes and runs operations.
template <class B>
class Program {
 public:
  using Tensor = typename B::Tensor;
  Program(std::uint32_t seed, B& backend) : random_{seed}, backend_{backend}, left_{static_cast<int>(10 + seed % 80)} {
    for (Tensor t : backend.interface()) alive_.push_back({t, 12, 10});
    block(0);
  }

 private:
  struct Alive {
    Tensor tensor;
    std::uint32_t rows, cols;
  };
  std::uint32_t pick(std::uint32_t n) { return static_cast<std::uint32_t>(random_() % n); }

  Part part_of(const Alive& t) {
    switch (pick(5)) {
      case 0:
      case 1: return {0, 0, t.rows, t.cols};
      case 2: {
        const std::uint32_t row = pick(t.rows);
        return {row, 0, 1 + pick(t.rows - row), t.cols};
      }
      case 3: {
        const std::uint32_t rows = (t.rows + 1) / 2, cols = (t.cols + 2) / 3;
        const std::uint32_t row = pick(2) * rows % t.rows, col = pick(3) * cols % t.cols;
        return {row, col, std::min(rows, t.rows - row), std::min(cols, t.cols - col)};
      }
      default: {
        const std::uint32_t row = pick(t.rows), col = pick(t.cols);
        return {row, col, 1 + pick(t.rows - row), 1 + pick(t.cols - col)};
      }
    }
  }

  void operation(const Alive& out, Part out_part, bool update) {
    Alive in[2] = {alive_[pick(static_cast<std::uint32_t>(alive_.size()))],
                   alive_[pick(static_cast<std::uint32_t>(alive_.size()))]};
    Part parts[2] = {part_of(in[0]), part_of(in[1])};
    const std::uint32_t salt = (pick(1U << 30) & ~1U) | (update ? 1U : 0U);
    for (int i = 0; i < 2; ++i) {
      // One may not read what it writes: then it reads the input instead, which is nobody's output.
      if (backend_.same(in[i].tensor, out.tensor) && meet(parts[i], out_part)) parts[i].rows = 0;
    }
    backend_.run(out.tensor, out_part, update, in[0].tensor, parts[0], in[1].tensor, parts[1], salt);
  }

  void block(int depth) {
    const std::size_t before = alive_.size();
    int made = 0;
    for (std::uint32_t steps = 1 + pick(12); steps > 0 && left_ > 0; --steps) {
      const std::uint32_t what = pick(10);
      --left_;
      if (what < 2 && made < 3) {
        ++made;
        const std::uint32_t rows = 1 + pick(6), cols = 1 + pick(6);
        const Alive fresh{backend_.make(rows, cols), rows, cols};
        operation(fresh, {0, 0, rows, cols}, false);
        alive_.push_back(fresh);
      } else if (what < 5 && depth < 7) {
        backend_.nested([&] { block(depth + 1); });
      } else {
        const Alive out = alive_[pick(static_cast<std::uint32_t>(alive_.size()))];
        operation(out, part_of(out), pick(2) == 0);
      }
    }
    alive_.resize(before, alive_.front());
    if (depth == 0 && left_ > 0) block(0);
  }

  std::mt19937 random_;
  B& backend_;
  int left_;
  std::vector<Alive> alive_;
};

struct Reference {
  struct Memory {
    std::uint32_t* data;
    std::uint32_t cols;
  };
  using Tensor = Memory;
  std::vector<std::uint32_t>& a;
  std::vector<std::uint32_t>& b;
  std::deque<std::vector<std::uint32_t>> made = {};

  std::vector<Tensor> interface() { return {{a.data(), 10}, {b.data(), 10}}; }
  bool same(Tensor x, Tensor y) { return x.data == y.data; }
  Tensor make(std::uint32_t rows, std::uint32_t cols) {
    made.emplace_back(rows * cols);
    return {made.back().data(), cols};
  }
  void nested(auto body) { body(); }
  void run(Tensor out, Part p, bool, Tensor x, Part px, Tensor y, Part py, std::uint32_t salt) {
    std::int64_t words[13] = {};
    const auto put = [&](int at, Tensor t, Part q) {
      words[at] = reinterpret_cast<std::int64_t>(t.data + q.row * t.cols + q.col);
      words[at + 1] = q.rows;
      words[at + 2] = q.cols;
      words[at + 3] = t.cols;
    };
    put(0, out, p);
    put(4, x, px);
    put(8, y, py);
    words[12] = salt;
    mix(words);
  }
};

template <class Round>
struct Orchestrating {
  using Bound = runtime::Region<std::uint32_t, Direction::inout>;
  using Made = runtime::Region<std::uint32_t, Direction::workspace>;
  struct Tensor {
    std::variant<Bound, Made> region;
    int id;
  };
  Round& round;
  InputOutput<std::uint32_t> a, b;
  int ids = 0;
  struct Past {
    int tensor;
    Part part;
    bool write;
    runtime::TaskRef task;
  };
  std::vector<Past> past = {};

  std::vector<Tensor> interface() {
    return {{round.view(a, {0, 0}, {12, 10}), ++ids}, {round.view(b, {0, 0}, {12, 10}), ++ids}};
  }
  bool same(const Tensor& x, const Tensor& y) { return x.id == y.id; }
  Tensor make(std::uint32_t rows, std::uint32_t cols) {
    return {round.template workspace<std::uint32_t>({rows, cols}), ++ids};
  }
  void nested(auto body) {
    const auto scope = round.scope();
    body();
  }
  void run(const Tensor& out, Part p, bool update, const Tensor& x, Part px, const Tensor& y, Part py,
           std::uint32_t salt) {
    std::visit(
        [&](const auto& o, const auto& i, const auto& j) {
          const auto vo = round.view(o, {p.row, p.col}, {p.rows, p.cols});
          // A part of no rows is not read at all; the region that is handed over all the same must not meet the output.
          add(vo, update, i, px, j, py, p, salt);
        },
        out.region, x.region, y.region);
    const Past uses[] = {{out.id, p, true, last}, {x.id, px, false, last}, {y.id, py, false, last}};
    if constexpr (requires { round.add_edge(last, last); }) {
      for (const Past& before : past) {
        for (const Past& use : uses) {
          if (use.part.rows != 0 && before.part.rows != 0 && before.tensor == use.tensor &&
              (before.write || use.write) && meet(before.part, use.part)) {
            round.add_edge(before.task, use.task);
            break;
          }
        }
      }
    }
    past.insert(past.end(), std::begin(uses), std::end(uses));
  }
  runtime::TaskRef last = {};

 private:
  void add(const auto& out, bool update, const auto& x, Part px, const auto& y, Part py, Part p, std::uint32_t salt) {
    const auto with = [&](const auto&... inputs) {
      const auto handed = update ? updates(out) : runtime::writes(out);
      const CoreType core = salt % 4 < 2 ? CoreType::cube : CoreType::vector;
      last = round.add_raw("mix", core, &mix, handed, std::int64_t{p.rows}, std::int64_t{p.cols},
                           static_cast<std::int64_t>(out.stride(0)), inputs..., std::int64_t{salt});
    };
    const auto part = [&](const auto& region, Part q, auto then) {
      if (q.rows == 0) {
        then(std::int64_t{0}, std::int64_t{0}, std::int64_t{0}, std::int64_t{0});
      } else {
        const auto view = round.view(region, {q.row, q.col}, {q.rows, q.cols});
        then(reads(view), std::int64_t{q.rows}, std::int64_t{q.cols}, static_cast<std::int64_t>(view.stride(0)));
      }
    };
    part(x, px, [&](const auto&... first) { part(y, py, [&](const auto&... second) { with(first..., second...); }); });
  }
};

template <class Runtime_>
struct With : DefaultPolicies {
  using Runtime = Runtime_;
};

struct Setting {
  std::uint32_t threads = 0;
  bool late = false;
  bool tight = false;
  std::uint32_t blocks = 0;  ///< of cube and vector cores that run the tasks; 0: none
};

template <class P, class R>
void check_seeds(Setting setting, std::uint32_t first, std::uint32_t count) {
  constexpr bool is_explicit = std::is_same_v<R, runtime::AicpuBuildGraph>;
  TaskGraph graph;
  const auto seed = graph.input<std::uint32_t>("seed", {});
  const auto a = graph.inout<std::uint32_t>("a", {12, 10});
  const auto b = graph.inout<std::uint32_t>("b", {12, 10});
  const auto orchestration = [=](auto& round) {
    using Round = std::remove_reference_t<decltype(round)>;
    Orchestrating<Round> backend{round, a, b};
    Program<Orchestrating<Round>>(round.value(seed), backend);
  };
  typename RoundSession<P, With<R>, Orchestrated<std::remove_cv_t<decltype(orchestration)>>>::Options options;
  if (setting.threads != 0) options.orchestration.threads = setting.threads;
  options.orchestration.late = setting.late;
  if (setting.tight) {
    options.orchestration.window = is_explicit ? 256 : 4;
    options.orchestration.ring_bytes = Bytes{is_explicit ? 32768U : 8192U};
    options.orchestration.tensors = 64;
    options.orchestration.regions = 256;
    options.orchestration.edges = is_explicit ? 4096 : 4;
  }
  std::vector<std::byte> binary;
  if constexpr (is_over_stand_in<P>) {
    stand_in::Binary cores;
    cores.add("rondo_dispatch", &rondo_stand_in_dispatch, true, true);
    binary = cores.bytes();
    for (const int core : {0, 1}) rondo_stand_in_cached_task("mix", core, &mix_on_core);
    if (setting.blocks != 0) options.orchestrator.cores = KernelBinary::from_memory(binary);
    options.orchestrator.blocks = setting.blocks;
  }
  auto session = open<P, With<R>>(graph, orchestration, options);
  if constexpr (is_over_stand_in<P>) REQUIRE(session.platform().dispatch().is_on_cores == (setting.blocks != 0));
  for (std::uint32_t i = first; i < first + count; ++i) {
    const auto s = static_cast<std::uint32_t>(rondo::test::seed_of(i));
    CAPTURE(s);
    std::vector<std::uint32_t> ha(120, s), hb(120, s + 1), ra = ha, rb = hb;
    Reference reference{ra, rb};
    Program<Reference>(s, reference);
    const Status status = session.run_round(bind(seed, s), bind(a, ha), bind(b, hb));
    REQUIRE_MESSAGE(status.ok(), std::string(session.explain(status).c_str()));
    REQUIRE(ha == ra);
    REQUIRE(hb == rb);
  }
}

template <class P_, class R_>
struct On {
  using P = P_;
  using R = R_;
};

}  // namespace

#define RONDO_RUNTIMES(P) On<P, runtime::TensorMapRingBuffer>, On<P, runtime::AicpuBuildGraph>

TEST_CASE_TEMPLATE("in sequence, random orchestrations give what plain memory gives", C, RONDO_RUNTIMES(A2A3Sim)) {
  check_seeds<typename C::P, typename C::R>({}, 1, scaled(1500));
}

TEST_CASE_TEMPLATE("run as late as possible, newest first, only the edges keep the order, and they do", C,
                   RONDO_RUNTIMES(A2A3Sim)) {
  check_seeds<typename C::P, typename C::R>({0, true, false}, 10'000, scaled(1500));
  check_seeds<typename C::P, typename C::R>({0, true, true}, 20'000, scaled(1500));
}

TEST_CASE_TEMPLATE("on threads, random orchestrations give what plain memory gives", C, RONDO_RUNTIMES(A5SimOn<Pool>)) {
  check_seeds<typename C::P, typename C::R>({1, false, false}, 30'000, scaled(1000));
  check_seeds<typename C::P, typename C::R>({3, false, false}, 40'000, scaled(1000));
  check_seeds<typename C::P, typename C::R>({2, false, true}, 50'000, scaled(1000));
}

TEST_CASE_TEMPLATE("built on a device by a program of its own, random orchestrations give what plain memory gives", C,
                   RONDO_RUNTIMES(A2A3OverStandIn), RONDO_RUNTIMES(A5OverStandIn)) {
  check_seeds<typename C::P, typename C::R>({}, 1, scaled(300));
  check_seeds<typename C::P, typename C::R>({0, true, true}, 20'000, scaled(200));
  check_seeds<typename C::P, typename C::R>({2, false, false}, 40'000, scaled(200));
}

TEST_CASE_TEMPLATE("on a device's cores of both types, random orchestrations give what plain memory gives", C,
                   RONDO_RUNTIMES(A2A3OverStandIn), RONDO_RUNTIMES(A5OverStandIn)) {
  check_seeds<typename C::P, typename C::R>({0, false, false, 1}, 60'000, scaled(80));
  check_seeds<typename C::P, typename C::R>({0, false, true, 2}, 70'000, scaled(80));
}
