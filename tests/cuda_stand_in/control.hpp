// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

/// How a test talks to the stand-in for the CUDA driver (libcuda.so.1 of this folder), past the code that believes in a
/// device.
extern "C" {

/// Forgets the log, the faults, the misuses, the limits and a lost context, and lets the device go; what is live stays.
void rondo_cuda_stand_in_reset();
/// The end of the process, as far as a device knows of it: nothing is live any more.
void rondo_cuda_stand_in_end_process();
/// What there is at most: "memory" (bytes), "streams", "events", "devices", "launch_parameters"; the "version" of the
/// driver; the "compute_capability" (80) of the devices; the newest "ptx_version" (88) that it compiles; the
/// "max_threads" that a kernel allows.
void rondo_cuda_stand_in_limit(const char* what, std::uint64_t value);
/// The k-th use of `call` from now on, counted from 1 (0: each use), returns `code`. What releases something does its
/// work in any case; a sticky code loses the context. The call "device" stands for the device's own operations: the
/// k-th to run fails with `code`, and calls after it tell.
void rondo_cuda_stand_in_fault(const char* call, std::uint64_t k, int code);
std::uint64_t rondo_cuda_stand_in_faults_left();
/// A device that begins nothing more until it is let go.
void rondo_cuda_stand_in_hang();
void rondo_cuda_stand_in_let_go();

/// How often a call was made since reset; null: all calls together, without those that ask: cuStreamQuery,
/// cuCtxGetCurrent. Also "bytes_in" and "bytes_out", which copies moved over the bus, and "pageable", copies that made
/// the host wait.
std::uint64_t rondo_cuda_stand_in_calls(const char* call);
/// What was made and not yet released: "memory", "pinned", "streams", "events", "graphs", "executables", "modules",
/// "contexts"; null: all of it.
std::uint64_t rondo_cuda_stand_in_live(const char* what);
/// What the caller did that it must not, one in each line. @returns how many
std::uint64_t rondo_cuda_stand_in_misuses(char* text, std::size_t size);
/// Reads or writes device memory as a device would. @returns false if it is none
bool rondo_cuda_stand_in_peek(std::uint64_t address, void* to, std::size_t size);
bool rondo_cuda_stand_in_poke(std::uint64_t address, const void* from, std::size_t size);
/// The host function that runs in place of an entry of PTX: it gets the words of one block's arguments, which are so
/// many bytes. Where PTX has an entry of another name, looking it up fails.
void rondo_cuda_stand_in_kernel(const char* entry, void (*kernel)(std::int64_t*), std::uint32_t block_bytes);

/// Calls of the driver's that tests make themselves.
int cuStreamBeginCapture_v2(void* stream, int mode);
int cuStreamEndCapture(void* stream, void** graph);
}

namespace cuda_stand_in {

/// A kernel of the stand-in: a host function that gets the words of one block's arguments.
using Kernel = void (*)(std::int64_t* args);

/// Kernels by name, in the form of a module that cuModuleLoadDataEx takes here: entries after a magic line.
struct ModuleEntry {
  char name[112] = {};
  Kernel kernel = nullptr;
  std::uint64_t block_bytes = 0;
};
inline constexpr char module_magic[32] = "rondo-cuda-stand-in-module\n";

class ModuleImage {
 public:
  void add(std::string_view name, Kernel kernel, std::uint32_t block_bytes) {
    ModuleEntry entry;
    std::memcpy(entry.name, name.data(), name.size() < 111 ? name.size() : 111);
    entry.kernel = kernel;
    entry.block_bytes = block_bytes;
    entries_.push_back(entry);
  }
  [[nodiscard]] std::vector<std::byte> bytes() const {
    const std::uint64_t count = entries_.size();
    std::vector<std::byte> bytes(sizeof(module_magic) + sizeof(count) + sizeof(ModuleEntry) * entries_.size());
    std::memcpy(bytes.data(), module_magic, sizeof(module_magic));
    std::memcpy(bytes.data() + sizeof(module_magic), &count, sizeof(count));
    if (count != 0) {
      std::memcpy(bytes.data() + sizeof(module_magic) + sizeof(count), entries_.data(), sizeof(ModuleEntry) * count);
    }
    return bytes;
  }

 private:
  std::vector<ModuleEntry> entries_;
};

}  // namespace cuda_stand_in
