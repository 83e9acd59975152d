// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

/// The functions by which a test controls the stand-in for the CUDA driver (libcuda.so.1 of this folder). The code
/// under test does not know of them.
extern "C" {

/// Clears the log, the faults, the misuses, the limits and a lost context, and resumes the device; live objects stay.
void rondo_cuda_stand_in_reset();
/// Whether this thread runs code of the stand-in.
bool rondo_cuda_stand_in_is_inside();
/// Releases all objects, as a driver does at the end of a process.
void rondo_cuda_stand_in_end_process();
/// Sets a limit or a property: "memory" (bytes), "streams", "events", "devices", "launch_parameters"; the "version" of
/// the driver; the "compute_capability" (80) of the devices; the newest "ptx_version" (88) that it compiles; the
/// "max_threads" that a kernel allows.
void rondo_cuda_stand_in_limit(const char* what, std::uint64_t value);
/// Makes the k-th use of `call` from now on, counted from 1, return `code`; 0 makes each use fail. A call that releases
/// something releases it in any case, and a sticky code loses the context. The call "device" stands for the operations
/// of the device: the k-th one fails, and later calls return `code`.
void rondo_cuda_stand_in_fault(const char* call, std::uint64_t k, int code);
std::uint64_t rondo_cuda_stand_in_faults_left();
/// Hangs the device: it begins no operation until rondo_cuda_stand_in_resume().
void rondo_cuda_stand_in_hang();
void rondo_cuda_stand_in_resume();
/// Waits until the device has executed all operations that it was given; their failures remain for the driver to
/// report.
void rondo_cuda_stand_in_settle();

/// The number of uses of a call since the reset; null counts all calls except waits, cuStreamQuery, cuCtxGetCurrent and
/// cuThreadExchangeStreamCaptureMode. Also the bytes that copies moved over the bus ("bytes_in", "bytes_out"), and the
/// number of copies that made the host wait ("pageable").
std::uint64_t rondo_cuda_stand_in_calls(const char* call);
/// The number of objects that exist, of one kind: "memory", "pinned", "streams", "events", "graphs", "executables",
/// "modules", "contexts"; null counts all.
std::uint64_t rondo_cuda_stand_in_live(const char* what);
/// The bytes that were asked for in all blocks that exist, of "memory" or "pinned".
std::uint64_t rondo_cuda_stand_in_bytes(const char* what);
/// Writes the caller's misuses of the API, one to a line. @returns their number
std::uint64_t rondo_cuda_stand_in_misuses(char* text, std::size_t size);
/// Read and write device memory as the device does. @returns false if the address is not device memory
bool rondo_cuda_stand_in_peek(std::uint64_t address, void* to, std::size_t size);
bool rondo_cuda_stand_in_poke(std::uint64_t address, const void* from, std::size_t size);
/// Sets the host function that runs in place of an entry of PTX. It takes the words of one block's arguments, which are
/// `block_bytes` long. Looking up an entry without such a function fails.
void rondo_cuda_stand_in_kernel(const char* entry, void (*kernel)(std::int64_t*), std::uint32_t block_bytes);
/// Puts a host function on a stream, as a library of the vendor puts its kernels there. `size`: the bytes of its
/// arguments, which are copied. @returns the driver's code
int rondo_cuda_stand_in_launch(void* stream, void (*kernel)(std::int64_t*), const void* words, std::size_t size);

/// Calls of the driver that tests make themselves.
int cuStreamBeginCapture_v2(void* stream, int mode);
int cuStreamEndCapture(void* stream, void** graph);
int cuStreamIsCapturing(void* stream, int* mode);
int cuCtxGetCurrent(void** context);
}

namespace cuda_stand_in {

/// A kernel of the stand-in: a host function that takes the words of one block's arguments.
using Kernel = void (*)(std::int64_t* args);

/// One kernel of a module for the stand-in's cuModuleLoadDataEx. A module is a magic line, the number of entries, and
/// the entries.
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
