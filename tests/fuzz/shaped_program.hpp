// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fuzz/fuzz.hpp>
#include <fuzz/session_graph.hpp>
#include <rondo/launch/round_values.hpp>
#include <rondo/session/shaped_session.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace rondo::fuzz {

/// to = 3 (a + b), with b in each row, in blocks; fails if `a` begins with the number that it refuses.
struct AddToRows {
  static constexpr std::string_view name = "add_to_rows";
  static constexpr auto core = CoreType::vector;
  static void run(In<Word> a, In<Word> b, Out<Word> to, Block block) {
    if (a[0] == refused_by_take) throw std::runtime_error("a refused element");
    for (std::size_t i = block.index; i < to.size(); i += block.count) to[i] = 3 * (a[i] + b[i % b.size()]);
  }
};
/// sums += the sums of the columns
struct SumColumns {
  static constexpr std::string_view name = "sum_columns";
  static constexpr auto core = CoreType::vector;
  static void run(In<Word> a, InOut<Word> sums) noexcept {
    for (std::size_t i = 0; i < a.size(); ++i) sums[i % sums.size()] += a[i];
  }
};
/// total += the sum of all elements, the shift, and 1
struct Count {
  static constexpr std::string_view name = "count";
  static constexpr auto core = CoreType::cube;
  static void run(In<Word> a, In<Word> shift, InOut<Word> total) noexcept {
    for (std::size_t i = 0; i < a.size(); ++i) total[0] += a[i];
    total[1] += shift[0];
    total[2] += 1;
  }
};

/// A graph of rows and columns whose numbers differ from round to round; the bytes choose its tasks, and whether one
/// of them is repeated, at most as often as there are columns.
struct ShapedGraph {
  /// `has_offset`: whether the last task uses a scalar that the host sets.
  explicit ShapedGraph(Bytes& bytes, bool has_offset = false) {
    if (has_offset) offset = launch::scalar(graph, "offset", Word{0});
    const auto choices = bytes.take();
    has_sums = choices % 2 != 0;
    has_total = choices / 2 % 2 != 0;
    is_long = choices / 4 % 2 != 0;
    repeats_sums = has_sums && choices / 8 % 2 != 0;
    graph.add<AddToRows>(Blocks{min(ceil_div(rows, 2), 20)}, x, b, t);
    if (repeats_sums) {
      graph.add<Few>(b, shift, left);
      graph.repeat_until(done, columns, [&] {
        graph.add<SumColumns>(t, sums);
        graph.add<CountDown>(left, done);
      });
    } else if (has_sums) {
      graph.add<SumColumns>(t, sums);
    }
    if (is_long) graph.add<Shift>(t, shift, u);
    const Workspace<Word> last = is_long ? u : t;
    if (has_total) graph.add<Count>(last, shift, total);
    if (offset) graph.add<Offset>(last, shift, *offset, y);
    if (!offset) graph.add<Shift>(last, shift, y);
  }
  ShapedGraph(const ShapedGraph&) = delete;
  ShapedGraph& operator=(const ShapedGraph&) = delete;

  TaskGraph graph;
  Dim rows = graph.dim("rows");
  Dim columns = graph.dim("columns");
  Input<Word> x = graph.input<Word>("x", {rows, columns});
  Input<Word> b = graph.input<Word>("b", {columns});
  InputOutput<Word> sums = graph.inout<Word>("sums", {columns});
  Output<Word> y = graph.output<Word>("y", {rows, columns});
  Resident<Word> total = graph.resident<Word>("total", {3});
  Workspace<Word> t = graph.workspace<Word>("t", {rows, columns});
  Workspace<Word> u = graph.workspace<Word>("u", {rows, columns});
  Workspace<Word> left = graph.workspace<Word>("left", {1});
  Workspace<Word> done = graph.workspace<Word>("done", {1});
  HostInput<Word> shift = graph.host_input<Word>("shift", {1});
  std::optional<launch::Value<launch::HostScalar<Word>>> offset;
  bool has_sums, has_total, is_long, repeats_sums;
};

/// The memory of one round on the host, in the round's shape.
struct ShapedMemory {
  std::vector<Word> x, b, sums, y;
  Word shift = 0;
  std::int64_t rows = 0, columns = 0;
  friend bool operator==(const ShapedMemory&, const ShapedMemory&) = default;
};

/// A session of many shapes, and what its device must hold. Two sessions share their shapes.
template <class Session>
class ShapedUnderTest {
 public:
  using P = typename Session::Platform;
  static constexpr bool has_values = requires(Session& session) { session.values(); };
  struct Graph : ShapedGraph {
    explicit Graph(Bytes& bytes) : ShapedGraph{bytes, has_values} {}
    typename Session::Shapes shapes{graph};
  };

  explicit ShapedUnderTest(const Graph& graph) : g_{graph}, session_{graph.shapes} {}
  ShapedUnderTest(const ShapedUnderTest&) = delete;
  ShapedUnderTest& operator=(const ShapedUnderTest&) = delete;
  ~ShapedUnderTest() {
    finish();
    if (!is_over_) download();
    require(session_.close().ok() && session_.close().ok());
    require(run_plainly(memory_).code() == Errc::closed);
  }

  [[nodiscard]] bool is_over() const { return is_over_; }
  [[nodiscard]] bool has_failed() const { return has_failed_; }

  /// One call of the session, or a few, with a check of what they do.
  void step(Bytes& bytes, ShapedUnderTest*) {
    switch (bytes.take() % 12) {
      case 0: return round(bytes, [this](auto& m) { return run_plainly(m); });
      case 1: return round(bytes, [this](auto& m) { return run_with_symbols(m); });
      case 2: return round(bytes, [this](auto& m) { return run_with_shapes(m); });
      case 3: return round(bytes, [this](auto& m) { return run_by_number(m); });
      case 4: return upload(bytes.take());
      case 5: return download();
      case 6:
      case 7: return submit(bytes);
      case 8: return prepare(bytes.take() % 9, 1 + bytes.take() % 7);
      case 9: return session_.reserve(rondo::Bytes{std::uint64_t{64} * bytes.take()});
      case 10: return be_refused(bytes);
      default: return bytes.take() % 4 == 0 ? end(bytes.take() % 2 == 0) : submit(bytes);
    }
  }
  /// Another session of the process has failed.
  void note_failed_for_all() {
    if (is_over_) return;
    finish(true);
    const Status status = session_.upload(g_.total, total_);
    require(!status.ok());
    after_failure(status);
  }

 private:
  /// A round in flight.
  struct Flight {
    ShapedMemory memory, expected;
    bool is_open = false;
  };

  void fill(Bytes& bytes, ShapedMemory& m) {
    const auto rows = bytes.take();
    m.rows = rows % 9 * (rows < 224 ? 1 : 40);  // seldom many
    m.columns = 1 + bytes.take() % 7;
    m.x.assign(static_cast<std::size_t>(m.rows * m.columns), bytes.take());
    m.b.assign(static_cast<std::size_t>(m.columns), bytes.take());
    m.sums.assign(m.b.size(), 4);
    for (std::size_t i = 0; i < m.x.size(); ++i) m.x[i] += static_cast<Word>(i % 5);
    for (std::size_t i = 0; i < m.b.size(); ++i) m.b[i] += static_cast<Word>(i);
    m.y.assign(m.x.size(), 77);
    m.shift = bytes.take();
    if constexpr (has_values) {
      offset_ = bytes.take();
      require(session_.values().set(*g_.offset, offset_).ok());
    }
  }
  Status run_plainly(ShapedMemory& m) {
    return session_.run_round(bind(g_.x, m.x), bind(g_.b, m.b), bind(g_.sums, m.sums), bind(g_.y, m.y),
                              bind(g_.shift, m.shift));
  }
  Status run_with_symbols(ShapedMemory& m) {
    return session_.run_round(with_symbols({{g_.rows, m.rows}, {g_.columns, m.columns}}), bind(g_.shift, m.shift),
                              bind(g_.y, m.y), bind(g_.x, m.x), bind(g_.b, m.b), bind(g_.sums, m.sums));
  }
  Status run_with_shapes(ShapedMemory& m) {
    const Shape shape{m.rows, m.columns};
    return session_.run_round(bind(g_.x, m.x, shape), bind(g_.b, m.b), bind(g_.sums, m.sums), bind(g_.y, m.y, shape),
                              bind(g_.shift, m.shift));
  }
  /// With bindings that the program knows by their number only.
  Status run_by_number(ShapedMemory& m) {
    if (!bindings_) bindings_.emplace(session_);
    const auto bind = [&](TensorKey key, auto& memory) {
      const rondo::Bytes size{sizeof(Word) * memory.size()};
      require(bindings_->bind(key.tensor(), static_cast<void*>(memory.data()), size).ok());
    };
    const std::span<Word> shift{&m.shift, 1};
    bind(g_.y.key, m.y);
    bind(g_.x.key, m.x);
    bind(g_.b.key, m.b);
    bind(g_.sums.key, m.sums);
    bind(g_.shift.key, shift);
    return session_.run_round(*bindings_);
  }

  /// What a round leaves in the host's memory; the state is then that after the round.
  ShapedMemory expect(const ShapedMemory& m) {
    ShapedMemory expected = m;
    const Word times = g_.repeats_sums ? std::min(1 + few(m.b[0], m.shift), static_cast<Word>(m.columns)) : 1;
    for (std::size_t i = 0; i < m.x.size(); ++i) {
      const Word t = 3 * (m.x[i] + m.b[i % m.b.size()]);
      const Word last = g_.is_long ? t + 3 * m.shift : t;
      if (g_.has_sums) expected.sums[i % m.b.size()] += times * t;
      if (g_.has_total) total_[0] += last;
      expected.y[i] = last + 3 * m.shift + 5 * offset_;
    }
    if (g_.has_total) total_[1] += m.shift;
    if (g_.has_total) total_[2] += 1;
    ++rounds_;
    return expected;
  }
  [[nodiscard]] bool is_blocked() const { return g_.has_total && !is_uploaded_; }
  /// A call that is refused leaves everything as it is.
  template <class Call>
  void refuse(Errc code, const Call& call) {
    finish();
    const ShapedMemory before = memory_;
    const Status status = call();
    require(status.code() == code && !status.poisoned() && !session_.poisoned());
    require(memory_ == before && session_.rounds() == rounds_);
  }
  template <class Run>
  void round(Bytes& bytes, const Run& run) {
    finish();
    fill(bytes, memory_);
    if (is_blocked()) return refuse(Errc::uninitialized_read, [&] { return run(memory_); });
    const ShapedMemory expected = expect(memory_);
    const Status status = run(memory_);
    require(status.ok() && memory_ == expected && session_.rounds() == rounds_ && session_.entries() <= 3);
  }
  void submit(Bytes& bytes) {
    if (is_blocked()) return round(bytes, [this](auto& m) { return run_plainly(m); });
    if (next_ == flights_.size()) finish();
    Flight& flight = flights_[next_++];
    ShapedMemory& m = flight.memory;
    fill(bytes, m);
    flight.expected = expect(m);
    flight.is_open = true;
    require(session_
                .submit_round(bind(g_.x, m.x), bind(g_.b, m.b), bind(g_.sums, m.sums), bind(g_.y, m.y),
                              bind(g_.shift, m.shift))
                .submitted()
                .ok());
  }
  /// `may_fail`: whether rounds in flight may have failed.
  void finish(bool may_fail = false) {
    const Status status = session_.wait_all();
    for (Flight& flight : flights_) {
      if (!status.ok() && (may_fail || is_over_)) flight.is_open = false;
      if (flight.is_open) require(status.ok() && flight.memory == flight.expected);
      flight.is_open = false;
    }
    next_ = 0;
  }

  void upload(Word value) {
    finish();
    total_ = {value, value + 1, value + 2};
    require(session_.upload(g_.total, total_).ok());
    is_uploaded_ = true;
  }
  void download() {
    finish();
    if (!is_uploaded_) return;
    std::array<Word, 3> values{};
    require(session_.download(g_.total, values).ok() && values == total_);
  }
  void prepare(std::int64_t rows, std::int64_t columns) {
    session_.prepare({{g_.rows, rows}, {g_.columns, columns}});
    require(session_.entries() <= 3);
  }
  void be_refused(Bytes& bytes) {
    finish();
    fill(bytes, memory_);
    ShapedMemory& m = memory_;
    std::vector<Word> other(m.y.size() + 1), sums(m.sums.size() + 1);
    const auto run = [&](auto& to, auto& its_sums) {
      return session_.run_round(bind(g_.x, m.x), bind(g_.b, m.b), bind(g_.sums, its_sums), bind(g_.y, to),
                                bind(g_.shift, m.shift));
    };
    refuse(Errc::wrong_size, [&] { return run(other, m.sums); });
    refuse(Errc::wrong_size, [&] { return run(m.y, sums); });
    refuse(Errc::unbound_tensor, [&] { return session_.run_round(bind(g_.x, m.x), bind(g_.b, m.b)); });
    const auto run_stated = [&](Dim symbol, std::int64_t value) {
      return session_.run_round(with_symbols({{symbol, value}}), bind(g_.x, m.x), bind(g_.b, m.b),
                                bind(g_.sums, m.sums), bind(g_.y, m.y), bind(g_.shift, m.shift));
    };
    refuse(Errc::invalid_argument, [&] { return run_stated(g_.rows, -1); });
    refuse(Errc::wrong_size, [&] { return run_stated(g_.rows, m.rows + 1); });
    refuse(Errc::wrong_size, [&] { return run_stated(g_.columns, m.columns + 1); });
    refuse(Errc::wrong_size, [&] { return session_.upload(g_.total, std::array<Word, 4>{}); });
    refuse(Errc::out_of_memory, [&] { return code_of([&] { session_.reserve(rondo::Bytes{~std::uint64_t{0}}); }); });
    refuse(Errc::invalid_argument, [&] { return code_of([&] { session_.prepare({{g_.rows, -4}}); }); });
  }
  /// Converts an exception of set-up to a status.
  template <class Call>
  static Status code_of(const Call& call) {
    try {
      call();
      return {};
    } catch (const Error& error) {
      return Status{error.code()};
    }
  }

  void end(bool fails) {
    finish();
    is_over_ = true;
    if (!fails) {
      require(session_.close().ok());
      require(session_.upload(g_.total, total_).code() == Errc::closed);
      require(code_of([&] { session_.reserve(rondo::Bytes{1}); }).code() == Errc::closed);
      return;
    }
    is_over_ = false;
    if (!is_uploaded_) upload(3);
    memory_ = {{refused_by_take, 1}, {1, 1}, {1, 1}, {1, 1}, 1, 1, 2};
    const Status status = run_plainly(memory_);
    require(!status.ok());
    has_failed_ = true;
    after_failure(status);
  }
  /// The session says to each call that it does not work.
  void after_failure(Status status) {
    is_over_ = true;
    require(session_.poisoned() && (status.poisoned() || status.code() == Errc::poisoned));
    require(run_plainly(memory_).code() == Errc::poisoned);
    require(session_.upload(g_.total, total_).code() == Errc::poisoned);
    require(code_of([&] { session_.prepare({{g_.rows, 2}, {g_.columns, 2}}); }).code() == Errc::poisoned);
    require(code_of([&] { session_.reserve(rondo::Bytes{1 << 20}); }).code() == Errc::poisoned);
  }

  const Graph& g_;
  Session session_;
  std::optional<DynamicBindings<Session>> bindings_;
  ShapedMemory memory_;
  std::array<Word, 3> total_{};
  Word offset_ = 0;  ///< the scalar that the host has set; 0 if there is none
  std::array<Flight, 3> flights_{};
  std::size_t next_ = 0;
  std::uint64_t rounds_ = 0;
  bool is_uploaded_ = false;
  bool is_over_ = false;
  bool has_failed_ = false;
};

}  // namespace rondo::fuzz
