// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

/// How a test talks to the stand-in for the ACL runtime (libacl_rt.so of this folder), behind the back of the code that
/// believes in a device.
extern "C" {

/// Forgets the log, the faults, the misuses and the limits, and lets the device go; what is live stays.
void rondo_stand_in_reset();
/// "a2a3" (Ascend910B4), "a5" (Ascend950PR_9579), or any SoC name; from the next question on. The environment variable
/// RONDO_STAND_IN_CHIP names the first.
void rondo_stand_in_chip(const char* name);
/// What there is at most: "memory" (bytes), "streams", "events", "devices", "queues" of captured graphs; and what it
/// can do, 0 or 1: "virtual_memory", "snapshot_copies", "kernel_names" (finding kernels by name), "kernel_entries" (by
/// number), "cpu_kernels", "exception_callback", "load_magic" (the option that says for which cores kernels are),
/// "abort" and "destroy_by_force" (of streams), "reset_by_force" (of the device). "strict" (1): what a runtime would
/// let pass, and fail of later or never, is refused and noted. "old_driver" (0): copies of pageable memory are
/// asynchronous, and allowed in a capture. "silent" (0): a device that is held does not say what it does, for which the
/// runtime asks it once a limit is over, and waits. "launch_bytes": args of a launch up to this size travel without a
/// copy.
void rondo_stand_in_limit(const char* what, std::uint64_t value);

/// The k-th use of `call` from now on, counted from 1 (0: each use), returns `code`. What releases something does its
/// work in any case. The call "device" stands for the device's own operations: the k-th to run fails with `code` at a
/// later synchronise.
void rondo_stand_in_fault(const char* call, std::uint64_t k, int code);
void rondo_stand_in_clear_faults();
/// A device slower than any host: it begins nothing more until it is let go, or somebody waits for it without a limit.
void rondo_stand_in_hold();
void rondo_stand_in_let_go();
/// The virtual clock: what a kernel takes, by its name or for all ("kernel"), and what a "wait" for an event takes, in
/// nanoseconds; nothing unless told. Streams run at the same time on it, and kernels take a core for each block.
void rondo_stand_in_cost(const char* what, double ns);
void rondo_stand_in_cores(std::uint32_t cores);
/// How far the device is on the virtual clock.
double rondo_stand_in_device_ns();
/// How a captured graph's streams take turns, where their events leave that open: "any", which is another at each
/// replay, "first_stream_first", "last_stream_first".
void rondo_stand_in_replay_order(const char* name);
/// A device that begins nothing more at all until it is let go: whoever waits for it without a limit misuses it.
void rondo_stand_in_hang();
/// A kernel that takes so long.
void rondo_stand_in_slow(const char* kernel, std::uint64_t microseconds);
/// How many of the faults have not come to pass.
std::uint64_t rondo_stand_in_faults_left();

/// How often a call was made since reset; null: all calls together. Also "pageable", copies that made the stream wait;
/// "set_through_host", fills that went over the bus; "on_cube_cores" and "on_vector_cores", launches; "all_at_once",
/// those whose blocks begin together; "huge_pages" and
/// "normal_pages", memory that was asked for so; "args_copies", those whose args were too large to travel without a
/// copy.
std::uint64_t rondo_stand_in_calls(const char* call);
/// The calls since reset in order, one in each line. @returns what the text takes
std::size_t rondo_stand_in_log(char* text, std::size_t size);
/// What was made and not yet released: "memory", "pinned", "mapped host", "streams", "events", "instances", "binaries",
/// "addresses", "physical", "ranges", "devices", "inits"; null: all of it.
std::uint64_t rondo_stand_in_live(const char* what);
/// What the caller did that it must not, one in each line. @returns how many
std::uint64_t rondo_stand_in_misuses(char* text, std::size_t size);
/// Reads or writes device memory as a device would. @returns false if it is none
bool rondo_stand_in_peek(std::uint64_t address, void* to, std::size_t size);
bool rondo_stand_in_poke(std::uint64_t address, const void* from, std::size_t size);

/// How often a stream was synchronised.
std::uint64_t rondo_stand_in_synchronised(void* stream);
/// The mode to which the calling thread exchanged its own: 0 global, as at first, 1 thread-local, 2 relaxed.
int rondo_stand_in_capture_mode();
/// Inside a kernel that shares its args: which of how many blocks runs.
std::uint32_t rondo_stand_in_block_index();
std::uint32_t rondo_stand_in_block_count();
/// Rondo's refresh kernel, as its source for the device says, compiled for the host; it shares its args.
void rondo_stand_in_refresh(std::int64_t* args);
}

namespace stand_in {

/// A kernel of the stand-in: a host function that gets the words of one block's arguments; one that shares its args
/// gets those of the launch, as each block does on a device, and asks for its index.
using Kernel = void (*)(std::int64_t* args);

/// One entry of a kernel binary that aclrtBinaryLoadFromData takes here. From files the stand-in loads shared libraries
/// of the host instead, whose symbols are the kernels; a kernel `k` shares its args if there is a symbol k_shares_args.
struct BinaryEntry {
  static constexpr std::size_t longest = 118;
  char name[longest + 1] = {};
  bool shares_args = false;
  Kernel kernel = nullptr;
};
struct BinaryHeader {
  static constexpr char expected[16] = "rondo-stand-in\n";
  char magic[16] = {};
  std::uint64_t entries = 0;
};

/// Kernels by name, in the form of a binary.
class Binary {
 public:
  void add(std::string_view name, Kernel kernel, bool shares_args = false) {
    BinaryEntry entry;
    entry.shares_args = shares_args;
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
