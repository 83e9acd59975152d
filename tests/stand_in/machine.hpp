// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "control.hpp"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

/// The machine that the stand-in's calls drive. One lock guards all of it; device operations run outside of it.
namespace stand_in {

inline constexpr int ok = 0;
inline constexpr int bad_parameter = 107000;
inline constexpr int bad_device = 107001;
inline constexpr int no_context = 107002;
inline constexpr int event_not_over = 107006;
inline constexpr int zero_size = 100000;
inline constexpr int initialised_already = 100002;
inline constexpr int stream_was_aborted = 107023;
inline constexpr int capture_dependency = 107024;
inline constexpr int capture_unjoined = 107025;
inline constexpr int stream_is_captured = 107027;
inline constexpr int event_is_captured = 107028;
inline constexpr int capture_refuses = 107030;
inline constexpr int captures_meet = 107032;
inline constexpr int capture_of_another_thread = 107038;
inline constexpr int capture_refuses_async = 107041;
inline constexpr int not_supported = 207000;
inline constexpr int out_of_memory = 207001;
inline constexpr int out_of_streams = 207005;
inline constexpr int copy_failed = 507013;
inline constexpr int kernel_timed_out = 507014;
inline constexpr int kernel_exception = 507015;
inline constexpr int cpu_kernel_exception = 507018;
inline constexpr int wait_timed_out = 507046;
inline constexpr int out_of_queues = 207008;
inline constexpr int capture_is_lost = 507903;
inline constexpr int registered_already = 507910;
inline constexpr int not_registered = 507911;

/// In which order the operations of a captured graph run: any is one that streams and events allow.
enum class ReplayOrder { any, first_stream_first, last_stream_first };

/// Memory of the device. The host's address is mapped without access; the device works through another mapping, but
/// while kernels run, which know the host's addresses.
struct Block {
  std::byte* address = nullptr;  ///< as the caller knows it
  std::byte* inside = nullptr;   ///< the same memory, accessible
  std::size_t size = 0;
  std::size_t mapped = 0;
  bool is_mapped_by_caller = false;  ///< aclrtMapMem
};

struct Physical {
  int file = -1;
  std::size_t size = 0;
};

struct BinaryFile;
struct Function {
  std::string name;
  Kernel kernel = nullptr;
  int core = 1;          ///< 0: both, 1: cube, which is what a runtime assumes, 2: vector, 100: AICPU
  bool is_there = true;  ///< else it was registered, and fails when it is launched
  const BinaryFile* binary = nullptr;
  bool shares_args = false;  ///< all blocks are given the same args
};
/// What the callback for kernels that fail is given.
struct Exception {
  void* args = nullptr;
  std::uint32_t size = 0;
};
struct BinaryFile {
  void* library = nullptr;
  bool is_for_cpu = false;  ///< its functions are registered one by one, and run on the AICPU
  std::list<Function> functions;
  void (*on_exception)(void*, void*) = nullptr;
  void* user = nullptr;
};

struct StreamState;
struct Graph;

struct EventState {
  std::uint64_t recorded = 0;
  std::uint64_t complete = 0;
  bool has_time = false;       ///< made with the flag of a time line
  bool can_be_awaited = true;  ///< made with the flag that lets streams wait for it
  std::chrono::steady_clock::time_point time;
  double at_ns = 0;  ///< on the virtual clock
  Graph* captured_in = nullptr;
  std::uint64_t captured_at = 0;  ///< which of the graph's operations records it
};

struct Op {
  enum class Kind { copy_in, copy_out, copy_inside, set, kernel, record, wait, host_func, graph };
  Kind kind = Kind::set;
  std::byte* to = nullptr;          ///< as the caller knows it
  const std::byte* from = nullptr;  ///< likewise; null: `bytes`
  std::size_t size = 0;
  int value = 0;
  std::vector<std::byte> bytes;  ///< a snapshot, or host args
  std::uint64_t hash = 0;        ///< of the host's bytes when the copy was queued
  const Function* function = nullptr;
  std::uint32_t blocks = 1;
  std::uint64_t timeout_us = 0;  ///< 0: none
  EventState* event = nullptr;
  std::uint64_t ticket = 0;  ///< of an event; of a wait in a graph, which of its operations is waited for
  std::uint32_t lane = 0;    ///< in a graph: the stream it was captured on
  void (*call)(void*) = nullptr;
  void* user = nullptr;
  std::shared_ptr<Graph> graph;
};

struct Graph {
  std::vector<Op> ops;
  std::map<StreamState*, std::uint32_t> lanes;  ///< the streams that take part, by number; the origin is 0
  std::vector<std::uint64_t> entries;           ///< by lane: what it takes of queues of the device's
  bool is_lost = false;                         ///< a call that belongs to it failed
  bool tells_loss = false;                      ///< asked about itself it says so; else only its end does
  std::thread::id owner;
  int mode = 0;
  StreamState* origin = nullptr;
};

struct StreamState {
  std::deque<Op> queue;
  std::uint64_t queued = 0;
  std::uint64_t done = 0;
  double now_ns = 0;   ///< on the virtual clock
  int error = 0;       ///< the first failure that nobody has been told of yet
  bool skips = false;  ///< all operations, after a copy that failed, until then
  std::string error_text;
  bool stopping = false;
  std::uint64_t aborts = 0;              ///< how often it was aborted
  std::uint64_t synchronised = 0;        ///< how often it was waited for
  std::condition_variable work;          ///< something is queued, or the worker is to stop
  std::multiset<std::uint64_t> awaited;  ///< what `done` must reach for those who wait
  std::shared_ptr<Graph> capture;
  std::list<Op> running;  ///< at most one
  std::thread worker;
};

struct Fault {
  std::string call;
  std::uint64_t uses_left = 0;  ///< 1: the next use; 0: each
  bool is_each = false;
  int code = 0;
};

struct Machine {
  static Machine& instance();

  std::mutex mutex;
  std::condition_variable changed;  ///< an event is complete, or a stream has come as far as somebody waits for

  // What it is.
  std::string soc;
  std::int64_t npu_arch = 2201;
  std::size_t guard = 32;
  std::map<std::string, std::uint64_t> limits;

  // What was asked of it.
  std::vector<std::string> log;
  std::map<std::string, std::uint64_t> counts;
  std::list<Fault> faults;
  std::vector<std::string> misuses;
  ReplayOrder replay_order = ReplayOrder::any;
  std::uint64_t replays = 0;
  std::map<std::string, double> costs;  ///< of a kernel, by name; of any "kernel"; of a "wait"; in nanoseconds
  std::uint32_t cores = 24;
  double device_ns = 0;                       ///< how far the virtual clock is
  bool is_held = false;                       ///< no stream begins anything
  bool is_hung = false;                       ///< and will not, whoever waits
  std::map<std::string, std::uint64_t> slow;  ///< kernels that take longer, by name, in microseconds

  // What is live.
  std::map<std::uintptr_t, Block> blocks;
  std::map<std::uintptr_t, std::size_t> pinned;
  std::map<std::uintptr_t, std::size_t> mapped_host;  ///< registered for the device
  std::map<std::uintptr_t, std::size_t> addresses;    ///< reserved
  std::set<Physical*> physical;
  std::set<StreamState*> streams;
  std::set<EventState*> events;
  std::map<void*, std::shared_ptr<Graph>> instances;
  std::set<BinaryFile*> binaries;
  std::set<std::uint64_t> ranges;
  std::uint64_t next_range = 1;
  int inits = 0;
  std::uint64_t taken[64] = {};       ///< by device: set and not yet reset
  std::uint64_t generation[64] = {};  ///< by device: how often it was reset for good
  int working = 0;                    ///< workers for which device memory is open at its host addresses

  // Everything below wants the lock held.
  void misuse(std::string text);
  [[nodiscard]] std::uint64_t limit(const char* what) const;
  [[nodiscard]] std::size_t memory_in_use() const;
  [[nodiscard]] Block* block_of(const void* p, std::size_t size);
  [[nodiscard]] bool is_pinned(const void* p, std::size_t size) const;
  [[nodiscard]] Block* map_block(std::byte* at, int file, std::size_t size, std::size_t mapped);
  void unmap_block(Block& block);
  void open_memory();
  void close_memory();
  /// Does anything queued or running touch [p, p + size)?
  [[nodiscard]] bool is_in_use(const void* p, std::size_t size);

  void start(StreamState& stream);
  void submit(StreamState& stream, Op op);
  void let_go();
  /// @returns false when it took longer than timeout_ms (−1: for ever)
  bool drain(std::unique_lock<std::mutex>& lock, StreamState& stream, std::int64_t timeout_ms);
  void stop(std::unique_lock<std::mutex>& lock, StreamState& stream);
  /// What is queued never happens.
  void discard(StreamState& stream);

  /// How many queues captured graphs take. A queue has room for 2008 entries.
  [[nodiscard]] std::uint64_t queues_in_use() const;
  /// Takes room in the queues for an operation that is captured. @returns false if there is none
  [[nodiscard]] bool take_entries(Graph& graph, std::uint32_t lane, std::uint64_t entries);

 private:
  void work(StreamState& stream);
  void pass_time(StreamState& stream, const Op& op);
  [[nodiscard]] double kernel_ns(const Op& op) const;
  [[nodiscard]] double wait_ns() const;
  /// What a graph takes on the virtual clock.
  [[nodiscard]] double play_graph(const Graph& graph) const;
  /// Runs a graph, the lock not held. @returns a code
  int run_graph(Graph& graph, std::string& text, std::string& kernel);
  /// Runs one operation, the lock not held. @returns a code
  int run(Op& op, std::string& text, std::string& kernel);
  int run_kernel(const Op& op, std::string& text);
};

[[nodiscard]] std::uint64_t hash_of(const void* p, std::size_t size);
/// The device of the calling thread; -1: none.
[[nodiscard]] int current_device();
void set_current_device(int device, std::uint64_t generation);
extern thread_local bool in_host_func;
extern thread_local std::string recent_error;
extern thread_local std::uint32_t block_index;  ///< of the block that this thread runs
extern thread_local std::uint32_t block_count;

}  // namespace stand_in
