// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "control.hpp"

#include <atomic>
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
inline constexpr int graph_is_captured = 107026;
inline constexpr int stream_is_captured = 107027;
inline constexpr int event_is_captured = 107028;
inline constexpr int stream_is_not_captured = 107029;
inline constexpr int capture_refuses = 107030;
inline constexpr int captures_meet = 107032;
inline constexpr int capture_of_another_thread = 107038;
inline constexpr int capture_refuses_async = 107041;
inline constexpr int body_is_being_captured = 107045;
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

/// States, for tests in which memory or threads run out, that this thread runs code of the stand-in.
class Inside {
 public:
  Inside() noexcept { ++depth; }
  ~Inside() { --depth; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  static inline thread_local int depth = 0;
};

/// The order in which the operations of a captured graph run; `any` is one that its streams and events allow.
enum class ReplayOrder { any, first_stream_first, last_stream_first };

/// Memory of the device. Its address on the host is mapped without access, except while kernels run, because kernels
/// use that address. The device works through another mapping.
struct Block {
  std::byte* address = nullptr;  ///< the address that the caller knows
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
  int core = 1;          ///< 0: both, 1: cube, the runtime's default, 2: vector, 100: AICPU
  bool is_there = true;  ///< whether it exists; otherwise it was only registered, and fails when it is launched
  const BinaryFile* binary = nullptr;
  bool shares_args = false;  ///< all blocks take the same args
  bool is_mixed = false;     ///< runs on cube and vector cores at the same time
};
/// The report that the callback for failed kernels receives.
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

/// A word on the device, and the conditional task that reads it.
struct Condition {
  enum class Kind { when, loop, choice };
  Graph* of = nullptr;                   ///< the graph that the task is in
  std::byte* word = nullptr;             ///< the address that the caller knows
  std::unique_ptr<std::uint64_t> value;  ///< the word itself, where the caller knows no address
  std::uint64_t at_begin = 0;            ///< the word when the graph begins, if `is_set_at_begin`
  bool is_set_at_begin = false;
  Kind kind = Kind::when;
  std::vector<std::shared_ptr<Graph>> bodies;  ///< empty: there is no task yet
};

struct EventState {
  std::uint64_t recorded = 0;
  std::uint64_t complete = 0;
  bool has_time = false;       ///< created with the flag for times
  bool can_be_awaited = true;  ///< created with the flag that lets streams wait for it
  std::chrono::steady_clock::time_point time;
  double at_ns = 0;  ///< on the virtual clock
  Graph* captured_in = nullptr;
  std::uint64_t captured_at = 0;  ///< the number of the graph's operation that records it
};

struct Op {
  enum class Kind { copy_in, copy_out, copy_inside, set, kernel, record, wait, host_func, graph, condition };
  Kind kind = Kind::set;
  std::byte* to = nullptr;          ///< the address that the caller knows
  const std::byte* from = nullptr;  ///< the address that the caller knows; null: `bytes`
  std::size_t size = 0;
  int value = 0;
  std::vector<std::byte> bytes;  ///< a snapshot, or host args
  std::uint64_t hash = 0;        ///< the hash of the bytes on the host when the copy was queued
  const Function* function = nullptr;
  std::uint32_t blocks = 1;
  std::uint64_t timeout_us = 0;  ///< 0: none
  EventState* event = nullptr;
  std::uint64_t ticket = 0;  ///< an event's ticket; for a wait in a graph, the number of the awaited operation
  std::uint32_t lane = 0;    ///< in a graph: the number of the stream on which it was captured
  void (*call)(void*) = nullptr;
  void* user = nullptr;
  std::shared_ptr<Graph> graph;
  std::shared_ptr<Condition> condition;
  std::shared_ptr<std::atomic<bool>> is_ended;  ///< for a kernel that runs on all cores at once: it must end
};

struct Graph {
  std::vector<Op> ops;
  std::map<StreamState*, std::uint32_t> lanes;  ///< the number of each stream that takes part; the origin is 0
  std::vector<std::uint64_t> entries;           ///< by lane: the entries that it takes of the device's queues
  bool is_lost = false;                         ///< whether a call of the capture failed
  bool tells_loss = false;  ///< whether a query of the capture reports that; otherwise only its end does
  std::thread::id owner;
  int mode = 0;
  std::uint64_t id = 0;  ///< a number of the capture, where callers can ask for it
  StreamState* origin = nullptr;
  std::vector<std::shared_ptr<Condition>> conditions;
  /// The body of a conditional task is captured once, between the task and the end of the capture around it.
  enum class Body { none, waits, is_captured, is_done };
  Body body = Body::none;
};

struct StreamState {
  std::deque<Op> queue;
  std::uint64_t queued = 0;
  std::uint64_t done = 0;
  double now_ns = 0;   ///< on the virtual clock
  int error = 0;       ///< the first failure that is not reported yet
  bool skips = false;  ///< whether all operations are skipped, after a copy that failed, until the failure is reported
  std::string error_text;
  bool stopping = false;
  std::uint64_t aborts = 0;              ///< the number of aborts
  std::uint64_t synchronised = 0;        ///< the number of synchronisations
  std::condition_variable work;          ///< an operation is queued, or the worker must stop
  std::multiset<std::uint64_t> awaited;  ///< the values of `done` that threads wait for
  std::shared_ptr<Graph> capture;
  std::list<Op> running;  ///< the operation that runs; at most one
  std::thread worker;
  std::uint64_t number = 0;  ///< in the order in which streams are made
};

struct Fault {
  std::string call;
  std::uint64_t uses_left = 0;  ///< 1: the next use fails; 0: each use fails
  bool is_each = false;
  int code = 0;
};

struct Machine {
  static Machine& instance();

  std::mutex mutex;
  std::condition_variable changed;  ///< an event is complete, or a stream has reached an awaited operation

  // The chip and its limits.
  std::string soc;
  std::int64_t npu_arch = 2201;
  std::size_t guard = 32;
  std::map<std::string, std::uint64_t> limits;

  // The calls, and how the test changes the machine.
  std::vector<std::string> log;
  std::map<std::string, std::uint64_t> counts;
  std::list<Fault> faults;
  std::vector<std::string> misuses;
  ReplayOrder replay_order = ReplayOrder::any;
  std::uint64_t replays = 0;
  std::map<std::string, double> costs;  ///< in nanoseconds: of a kernel by its name, of any "kernel", of a "wait"
  std::uint32_t cores = 24;
  double device_ns = 0;                       ///< the time on the virtual clock
  bool is_held = false;                       ///< whether no stream begins an operation
  bool resumes_if_awaited = false;            ///< whether the next wait, or question about an event, resumes the device
  bool is_hung = false;                       ///< whether none will begin one, even for a wait without a limit
  std::map<std::string, std::uint64_t> slow;  ///< kernels that take longer, by name, in microseconds

  // Live objects.
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
  std::uint64_t streams_begun = 0;    ///< the number of streams made so far
  std::uint64_t taken[64] = {};       ///< by device: calls that set it and are not yet undone
  std::uint64_t generation[64] = {};  ///< by device: how often its last use ended
  int working = 0;                    ///< workers for which device memory is open at its host addresses

  // Call everything below with the lock held, unless it says otherwise.
  void misuse(std::string text);
  [[nodiscard]] std::uint64_t limit(const char* what) const;
  [[nodiscard]] std::size_t memory_in_use() const;
  [[nodiscard]] Block* block_of(const void* p, std::size_t size);
  /// The bytes that were asked for in all blocks of device memory, or of pinned memory.
  [[nodiscard]] std::uint64_t bytes_held(bool is_pinned_memory);
  [[nodiscard]] bool is_pinned(const void* p, std::size_t size) const;
  [[nodiscard]] Block* map_block(std::byte* at, int file, std::size_t size, std::size_t mapped);
  void unmap_block(Block& block);
  void open_memory();
  void close_memory();
  /// Whether a queued or running operation uses [p, p + size).
  [[nodiscard]] bool is_in_use(const void* p, std::size_t size);

  void start(StreamState& stream);
  void submit(StreamState& stream, Op op);
  void resume();
  /// Waits for a stream. @returns false if it takes longer than `timeout_ms` milliseconds, and the device is held or
  /// cores have a kernel, which may hang; -1: no limit
  bool drain(std::unique_lock<std::mutex>& lock, StreamState& stream, std::int64_t timeout_ms);
  void stop(std::unique_lock<std::mutex>& lock, StreamState& stream);
  /// Removes the queued operations.
  void discard(StreamState& stream);

  /// Whether a kernel for cube and vector cores is queued, or runs.
  [[nodiscard]] bool cores_have_kernel() const;
  /// The number of queues that captured graphs take. A queue holds 2008 entries.
  [[nodiscard]] std::uint64_t queues_in_use() const;
  /// Takes room in the queues for a captured operation. @returns false if there is none
  [[nodiscard]] bool take_entries(Graph& graph, std::uint32_t lane, std::uint64_t entries);
  /// Returns a graph and the bodies in it, those in bodies, too.
  [[nodiscard]] static std::vector<Graph*> with_bodies(Graph& graph);
  /// Releases the words of the graph's conditions.
  void release_conditions(Graph& graph);

 private:
  void work(StreamState& stream);
  void pass_time(StreamState& stream, const Op& op);
  [[nodiscard]] double kernel_ns(const Op& op) const;
  [[nodiscard]] double wait_ns() const;
  /// The time of a graph on the virtual clock, in nanoseconds.
  [[nodiscard]] double play_graph(const Graph& graph) const;
  /// Runs a graph; the lock must not be held. @returns a code
  int run_graph(Graph& graph, std::string& text, std::string& kernel);
  int run_condition(const Condition& condition, std::string& text, std::string& kernel);
  /// The word of a condition, through the machine's mapping. The lock must not be held.
  [[nodiscard]] std::uint64_t* word_of(const Condition& condition);
  /// Runs one operation; the lock must not be held. @returns a code
  int run(Op& op, std::string& text, std::string& kernel);
  int run_kernel(const Op& op, std::string& text);
};

[[nodiscard]] std::uint64_t hash_of(const void* p, std::size_t size);
/// The device of the calling thread; -1: none.
[[nodiscard]] int current_device();
void set_current_device(int device, std::uint64_t generation);
extern thread_local bool in_host_func;
extern thread_local std::string recent_error;
extern thread_local std::uint32_t block_index;  ///< the index of the block that this thread runs
extern thread_local std::uint32_t block_count;

}  // namespace stand_in
