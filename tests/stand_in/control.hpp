// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

/// The functions by which a test controls the stand-in for the ACL runtime (libacl_rt.so of this folder). The code
/// under test does not know of them.
extern "C" {

/// Clears the log, the faults, the misuses and the limits, and resumes the device; live objects stay.
void rondo_stand_in_reset();
/// Sets the chip: "a2a3" (Ascend910B4), "a5" (Ascend950PR_9579), or any SoC name. It counts from the next query on. The
/// environment variable RONDO_STAND_IN_CHIP names the first chip.
void rondo_stand_in_chip(const char* name);
/// Sets a limit, a feature or a mode.
/// Limits: "memory" (bytes), "streams", "events", "devices", "queues" of captured graphs, "launch_bytes" (the largest
/// args of a launch that need no copy).
/// Features, 0 or 1: "virtual_memory", "snapshot_copies", "kernel_names" (kernels are found by name), "kernel_entries"
/// (kernels are found by number), "cpu_kernels", "exception_callback", "load_magic" (the option that names the cores of
/// kernels), "conditional_tasks" (of captured graphs), "abort" and "destroy_by_force" (of streams), "reset_by_force"
/// (of the device).
///
/// Modes, with their defaults: "strict" (1): a use that a runtime accepts, and that fails later or never,
/// is refused and noted. "old_driver" (0): copies of pageable memory are asynchronous, and allowed in a capture.
/// "silent" (0): a held device does not answer when the runtime asks what it is doing; the runtime asks that after a
/// time limit, and waits for the answer. Memory that the device's units share: "aicpu_sees_cores" (1): the AICPU sees
/// the lines that cores write back. "cores_see_aicpu" (1): the reverse. "slow_writes" (0): the line that was written
/// first arrives late. "aicpu_look_ms" (0): the time by which the AICPU's clock passes with each look,
/// whatever the cores do.
void rondo_stand_in_limit(const char* what, std::uint64_t value);

/// Makes the k-th use of `call` from now on, counted from 1, return `code`; 0 makes each use fail. A call that releases
/// something releases it in any case. The call "device" stands for the operations of the device: the k-th one fails,
/// and a later synchronise returns `code`.
void rondo_stand_in_fault(const char* call, std::uint64_t k, int code);
void rondo_stand_in_clear_faults();
/// Pauses the device: it begins no operation until rondo_stand_in_resume(), or until a wait without a limit.
void rondo_stand_in_hold();
void rondo_stand_in_resume();
/// Pauses the device until the next synchronisation of a stream, or question about an event: for a test of code that
/// must wait for the device.
void rondo_stand_in_hold_until_awaited();
/// Waits until the device has executed all operations that it was given; their failures remain for the runtime to
/// report. Until then it depends on the speed of the device which operations a fault of "device" hits.
void rondo_stand_in_settle();
/// Sets the time on the virtual clock, in nanoseconds, of the kernel of that name, of all kernels ("kernel"), or of a
/// wait for an event ("wait"); the default is 0. On this clock streams run at the same time, and a kernel takes one
/// core for each block. Kernels on cube and vector cores hold them in any case: a block begins when a core is free.
void rondo_stand_in_cost(const char* what, double ns);
void rondo_stand_in_cores(std::uint32_t cores);
/// The device's time on the virtual clock, in nanoseconds.
double rondo_stand_in_device_ns();
/// Sets the order in which the streams of a captured graph take turns where their events allow several: "any", an order
/// that differs in each replay, "first_stream_first" or "last_stream_first".
void rondo_stand_in_replay_order(const char* name);
/// Hangs the device: it begins no operation until rondo_stand_in_resume(). A wait without a limit is then a misuse.
void rondo_stand_in_hang();
/// Makes a kernel take this long.
void rondo_stand_in_slow(const char* kernel, std::uint64_t microseconds);
/// Whether this thread runs code of the stand-in.
bool rondo_stand_in_is_inside();
/// The number of faults that have not happened yet.
std::uint64_t rondo_stand_in_faults_left();

/// The number of uses of a call since the reset; null counts all calls. Also the number of copies that made the stream
/// wait ("pageable"), of fills over the bus ("set_through_host"), of launches on a kind of core ("on_cube_cores",
/// "on_vector_cores"), of launches whose blocks begin together ("all_at_once"), of launches whose args needed a copy
/// ("args_copies"), and of allocations in pages of a kind ("huge_pages", "normal_pages").
std::uint64_t rondo_stand_in_calls(const char* call);
/// Writes the calls since the reset in order, one to a line. @returns the size of the whole text
std::size_t rondo_stand_in_log(char* text, std::size_t size);
/// The number of objects that exist, of one kind: "memory", "pinned", "mapped host", "streams", "events", "instances",
/// "binaries", "addresses", "physical", "ranges", "devices", "inits"; null counts all.
std::uint64_t rondo_stand_in_live(const char* what);
/// The bytes that were asked for in all blocks that exist, of "memory" or "pinned".
std::uint64_t rondo_stand_in_bytes(const char* what);
/// Writes the caller's misuses of the API, one to a line. @returns their number
std::uint64_t rondo_stand_in_misuses(char* text, std::size_t size);
/// Read and write device memory as the device does. @returns false if the address is not device memory
bool rondo_stand_in_peek(std::uint64_t address, void* to, std::size_t size);
bool rondo_stand_in_poke(std::uint64_t address, const void* from, std::size_t size);

/// The number of synchronisations of a stream.
std::uint64_t rondo_stand_in_synchronised(void* stream);
/// The capture mode of the calling thread: 0 global (the first), 1 thread-local, 2 relaxed.
int rondo_stand_in_capture_mode();
/// Inside a kernel that shares its args: the index of its block, and the number of blocks.
std::uint32_t rondo_stand_in_block_index();
std::uint32_t rondo_stand_in_block_count();
/// Rondo's refresh kernel, whose source for the device is compiled for the host. It shares its args.
void rondo_stand_in_refresh(std::int64_t* args);
/// Rondo's kernel that decides about loops, also compiled for the host. It shares its args.
void rondo_stand_in_decide(std::int64_t* args);
/// Rondo's kernel that runs tasks on cube and vector cores, also compiled for the host.
void rondo_stand_in_dispatch(std::int64_t* args);
/// Sets the host function that is the kernel of tasks of this name. `core`: 0 for cube, 1 for vector. The function
/// works on memory itself, not through the core's cache.
void rondo_stand_in_task(const char* name, int core, void (*kernel)(std::int64_t* args));
/// Does the same for a function that works through the core's cache, with the functions below. It returns 0, or the
/// code of a failure.
void rondo_stand_in_cached_task(const char* name, int core, std::uint64_t (*kernel)(std::int64_t* args));

/// Accesses of a core's thread to memory, through the core's cache. A line that was read stays as it was until it is
/// discarded; a line that was written is written back when it is discarded, and arrives at the next barrier.
std::uint64_t rondo_stand_in_core_load(const void* at);
void rondo_stand_in_core_store(void* at, std::uint64_t value);
void rondo_stand_in_core_discard(const void* at);
void rondo_stand_in_core_discard_all();
void rondo_stand_in_core_barrier();
/// Copies by DMA, which arrive when the core waits for them.
void rondo_stand_in_core_copy(void* to, const void* from, std::size_t size);
void rondo_stand_in_core_wait_for_copies();
/// Waits for a moment, and throws when the kernel is ended; for tasks that do not end. The AICPU's clock passes by 10
/// ms.
void rondo_stand_in_core_idle();
int rondo_stand_in_core_type();
/// Accesses of the program on the AICPU, whose loads may be made as early as its last load barrier.
std::uint64_t rondo_stand_in_aicpu_load(std::uint64_t at);
void rondo_stand_in_aicpu_store(std::uint64_t at, std::uint64_t value);
void rondo_stand_in_aicpu_clean(std::uint64_t at);
void rondo_stand_in_aicpu_invalidate(std::uint64_t at);
/// Whether the program on the AICPU has discarded its copies of all lines of a range since the reset, or written them
/// back.
bool rondo_stand_in_aicpu_has_discarded(std::uint64_t at, std::size_t size);
bool rondo_stand_in_aicpu_has_written_back(std::uint64_t at, std::size_t size);
void rondo_stand_in_aicpu_load_barrier();
void rondo_stand_in_aicpu_store_barrier();
/// The AICPU's clock, in nanoseconds. It stands still while the cores may answer, however long they take. It passes by
/// 10 ms with each look once one side does not see what the other has written, and while the cores have no kernel.
std::uint64_t rondo_stand_in_aicpu_ns();
}

namespace stand_in {

/// The stand-in's form of platform::onboard::AicpuMemory.
struct AicpuMemory {
  static std::uint64_t load(std::uint64_t at) noexcept { return rondo_stand_in_aicpu_load(at); }
  static void store(std::uint64_t at, std::uint64_t value) noexcept { rondo_stand_in_aicpu_store(at, value); }
  static void clean(std::uint64_t at) noexcept { rondo_stand_in_aicpu_clean(at); }
  static void invalidate(std::uint64_t at) noexcept { rondo_stand_in_aicpu_invalidate(at); }
  static void discard(std::uint64_t at, std::uint64_t bytes) noexcept {
    for (std::uint64_t line = at / 64 * 64; line < at + bytes; line += 64) invalidate(line);
  }
  static void write_back(std::uint64_t at, std::uint64_t bytes) noexcept {
    for (std::uint64_t line = at / 64 * 64; line < at + bytes; line += 64) clean(line);
  }
  static void load_barrier() noexcept { rondo_stand_in_aicpu_load_barrier(); }
  static void store_barrier() noexcept { rondo_stand_in_aicpu_store_barrier(); }
  static std::uint64_t now_ns() noexcept { return rondo_stand_in_aicpu_ns(); }
};

/// A kernel of the stand-in: a host function that takes the words of one block's arguments. A kernel that shares its
/// args takes those of the launch, as each block does on a device, and asks for its block's index.
using Kernel = void (*)(std::int64_t* args);

/// One entry of a kernel binary for the stand-in's aclrtBinaryLoadFromData. A file, by contrast, is a shared library of
/// the host whose symbols are the kernels; a kernel `k` shares its args if there is a symbol k_shares_args.
struct BinaryEntry {
  static constexpr std::size_t longest = 117;
  char name[longest + 1] = {};
  bool shares_args = false;
  bool is_mixed = false;  ///< runs on cube and vector cores at the same time
  Kernel kernel = nullptr;
};
struct BinaryHeader {
  static constexpr char expected[16] = "rondo-stand-in\n";
  char magic[16] = {};
  std::uint64_t entries = 0;
};

/// Makes a kernel binary of functions and their names.
class Binary {
 public:
  void add(std::string_view name, Kernel kernel, bool shares_args = false, bool is_mixed = false) {
    BinaryEntry entry;
    entry.shares_args = shares_args;
    entry.is_mixed = is_mixed;
    std::memcpy(entry.name, name.data(), name.size() < BinaryEntry::longest ? name.size() : BinaryEntry::longest);
    entry.kernel = kernel;
    entries_.push_back(entry);
  }
  [[nodiscard]] std::vector<std::byte> bytes() const {
    BinaryHeader header;
    std::memcpy(header.magic, BinaryHeader::expected, sizeof(header.magic));
    header.entries = entries_.size();
    std::vector<std::byte> bytes(sizeof(header) + sizeof(BinaryEntry) * entries_.size());
    std::memcpy(bytes.data(), &header, sizeof(header));
    if (!entries_.empty()) {
      std::memcpy(bytes.data() + sizeof(header), entries_.data(), sizeof(BinaryEntry) * entries_.size());
    }
    return bytes;
  }

 private:
  std::vector<BinaryEntry> entries_;
};

}  // namespace stand_in
