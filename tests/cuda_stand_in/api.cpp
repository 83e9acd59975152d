// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// The calls of the CUDA driver that Rondo makes, over the machine of tests/stand_in. Written from the API's published
// signatures and behaviour, as a device-less double for tests; README.md lists the rules.

#include "control.hpp"
#include "graphs.hpp"
#include "own_kernels.hpp"

#include <rondo/platform/cuda/driver.hpp>

#include <dlfcn.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#define CUDA_CALL extern "C" __attribute__((visibility("default"))) int
#define CONTROL extern "C" __attribute__((visibility("default")))

using namespace cuda_stand_in;
using stand_in::Block;
using stand_in::EventState;
using stand_in::StreamState;

namespace {

struct RegisteredKernel {
  cuda_stand_in::Kernel kernel = nullptr;
  std::uint32_t block_bytes = 0;
};

/// The state of the driver in addition to the machine. The machine's lock guards it.
struct Driver {
  bool is_initialised = false;
  pid_t process = 0;
  int lost = success;  ///< the sticky code
  std::map<int, std::uint64_t> retained;
  std::set<CudaModule*> modules;
  std::set<CudaGraph*> graphs;
  std::uint64_t captures = 0;                                              ///< that have begun
  std::set<CudaGraph*> bodies;                                             ///< of conditional nodes, which own them
  std::map<std::uint64_t, std::weak_ptr<stand_in::Condition>> conditions;  ///< by handle
  std::map<void*, std::shared_ptr<stand_in::Graph>> executables;
  std::map<void*, NodePlaces> places;  ///< by executable
  std::map<std::string, RegisteredKernel> registered;
  std::map<cuda_stand_in::Kernel, stand_in::Function> of_libraries;
};
Driver& driver() {
  static Driver& made = *new Driver;  // never destroyed: callers may close after main
  return made;
}
Machine& machine() { return Machine::instance(); }

char contexts[64];
thread_local void* current = nullptr;
thread_local int capture_mode = 0;  ///< of calls that captures forbid: 2, relaxed, allows them

bool is_sticky(int code) {
  return (code >= 700 && code < 720 && code != 701 && (code < 704 || code > 713)) || code == 214;
}

std::uint64_t limit(const char* what, std::uint64_t otherwise) {
  const auto found = machine().limits.find(what);
  return found == machine().limits.end() ? otherwise : found->second;
}

/// The driver's code for a failure of the machine.
int code_of(int machine_code) {
  switch (machine_code) {
    case stand_in::copy_failed: return illegal_address;
    case stand_in::kernel_timed_out: return launch_timeout;
    case stand_in::kernel_exception: return launch_failed;
    default: return machine_code;
  }
}

enum class Needs { nothing, initialised, context };

/// The beginning of each call: the log, the faults, the rules for callers, a lost context. Holds the lock.
class Entry {
 public:
  Entry(const char* name, Needs needs) : lock{machine().mutex} {
    Machine& m = machine();
    ++m.counts[name];
    const auto is = [name](const char* other) { return std::strcmp(name, other) == 0; };
    const bool is_free = is("cuStreamQuery") || is("cuStreamSynchronize") || is("cuCtxGetCurrent") ||
                         is("cuThreadExchangeStreamCaptureMode");
    if (!is_free) ++m.counts["all"];
    if (stand_in::in_host_func) m.misuse(std::string(name) + " was called from a host func");
    for (auto fault = m.faults.begin(); fault != m.faults.end(); ++fault) {
      if (fault->call != name || (!fault->is_each && --fault->uses_left != 0)) continue;
      code = fault->code;
      if (!fault->is_each) m.faults.erase(fault);
      break;
    }
    if (is_sticky(code)) driver().lost = code;
    for (const StreamState* const s : m.streams) {
      if (s->error != stand_in::ok && driver().lost == success) driver().lost = code_of(s->error);
    }
    if (needs == Needs::nothing) return;
    if (code == success && (!driver().is_initialised || driver().process != getpid())) code = not_initialised;
    if (code == success && driver().lost != success) code = driver().lost;
    if (needs == Needs::context && code == success) {
      if (current == nullptr) {
        code = invalid_context;
      } else if (driver().retained[device()] == 0) {
        m.misuse(std::string(name) + " was called in a context that was given back");
      }
    }
  }
  [[nodiscard]] static int device() { return static_cast<int>(static_cast<char*>(current) - contexts); }

  stand_in::Inside inside;
  std::unique_lock<std::mutex> lock;
  int code = success;
};

int misuse(const char* call, const std::string& text, int code = invalid_value) {
  machine().misuse(std::string(call) + ": " + text);
  return code;
}
StreamState* stream_of(const char* call, void* handle) {
  auto* const stream = static_cast<StreamState*>(handle);
  if (machine().streams.contains(stream)) return stream;
  machine().misuse(std::string(call) + ": no such stream");
  return nullptr;
}
EventState* event_of(const char* call, void* handle) {
  auto* const event = static_cast<EventState*>(handle);
  if (machine().events.contains(event)) return event;
  machine().misuse(std::string(call) + ": no such event");
  return nullptr;
}
/// Refuses a call that a stream in capture mode does not allow; the capture is lost.
int refuse_in_capture(StreamState& stream) {
  stream.capture->is_lost = true;
  return capture_unsupported;
}
/// Whether captures forbid calls that might wait for the device: those of this thread, and those of any thread in the
/// global mode. They are lost then.
bool capture_forbids() {
  bool forbids = false;
  for (const StreamState* const s : machine().streams) {
    if (s->capture == nullptr || s->capture->mode == 2 || capture_mode == 2) continue;
    if (s->capture->mode == 1 && s->capture->owner != std::this_thread::get_id()) continue;
    s->capture->is_lost = forbids = true;
  }
  return forbids;
}
template <class T>
T* pointer(std::uint64_t address) {
  return reinterpret_cast<T*>(address);  // NOLINT: an address of the stand-in's device
}
void destroy_stream(std::unique_lock<std::mutex>& lock, StreamState* stream) {
  machine().stop(lock, *stream);
  machine().streams.erase(stream);
  delete stream;
}
void drain_all(std::unique_lock<std::mutex>& lock) {
  for (StreamState* const s : std::set<StreamState*>(machine().streams)) machine().drain(lock, *s, -1);
}

void forget_bodies(const CudaGraph& graph) {
  for (const auto& node : graph.nodes) {
    if (node->body == nullptr) continue;
    forget_bodies(*node->body);
    driver().bodies.erase(node->body.get());
  }
}
void destroy_graph(CudaGraph* graph) {
  forget_bodies(*graph);
  delete graph;
}

int copy(const char* call, Op op, bool in, StreamState& stream, std::unique_lock<std::mutex>& lock) {
  Machine& m = machine();
  if (op.size == 0) return success;
  const auto* const device = in ? op.to : op.from;
  const auto* const host = in ? op.from : op.to;
  if (m.block_of(device, 0) == nullptr) return misuse(call, "no device memory at this address");
  if (m.block_of(device, op.size) == nullptr) return misuse(call, std::to_string(op.size) + " bytes leave their block");
  if (m.block_of(host, 0) != nullptr) return misuse(call, "device memory on the host's side");
  op.kind = in ? Op::Kind::copy_in : Op::Kind::copy_out;
  m.counts[in ? "bytes_in" : "bytes_out"] += op.size;
  if (m.is_pinned(host, op.size)) {
    if (in && stream.capture == nullptr) op.hash = stand_in::hash_of(op.from, op.size);
    m.submit(stream, std::move(op));
    return success;
  }
  // Pageable memory: a copy to the device reads its bytes at once; a copy from the device waits. In a capture, either
  // is made when the graph runs.
  if (stream.capture != nullptr) {
    m.submit(stream, std::move(op));
    return success;
  }
  if (in) {
    op.bytes.assign(op.from, op.from + op.size);
    op.from = nullptr;
    m.submit(stream, std::move(op));
    return success;
  }
  ++m.counts["pageable"];
  m.submit(stream, std::move(op));
  m.drain(lock, stream, -1);
  return success;
}

/// Makes the operation of a launch. @returns a code
int kernel_op(CudaFunction& function, const unsigned* grid, const unsigned* block, unsigned shared, void** parameters,
              Op& op) {
  const std::uint64_t threads = std::uint64_t{block[0]} * block[1] * block[2];
  if (threads == 0 || threads > limit("max_threads", 1024)) return invalid_value;
  if (grid[0] == 0 || grid[0] > 0x7FFF'FFFFU || grid[1] != 1 || grid[2] != 1) return invalid_value;
  if (shared > function.dynamic_shared_limit) return invalid_value;
  if (parameters == nullptr) return misuse("cuLaunchKernel", "no parameters");
  op.kind = Op::Kind::kernel;
  op.function = &function.on_machine;
  if (function.run == nullptr) {
    std::uint64_t args = 0;
    std::memcpy(&args, parameters[0], sizeof(args));
    op.from = pointer<const std::byte>(args);
    op.blocks = grid[0];
    op.size = grid[0] * function.block_bytes;
    if (machine().block_of(op.from, op.size) == nullptr) return misuse("cuLaunchKernel", "args that are in no memory");
    return success;
  }
  const auto push = [&](const void* from, std::size_t size) {
    const auto* const bytes = static_cast<const std::byte*>(from);
    op.bytes.insert(op.bytes.end(), bytes, bytes + size);
  };
  const std::uint64_t shape[] = {grid[0], threads};
  push(shape, sizeof(shape));
  for (std::size_t i = 0; i < function.host_parameters.size(); ++i) push(parameters[i], function.host_parameters[i]);
  op.size = op.bytes.size();
  return success;
}

void refresh_entry(std::int64_t* words) {
  const auto* const p = reinterpret_cast<const std::uint64_t*>(words);
  run_refresh(static_cast<std::uint32_t>(p[0]), static_cast<std::uint32_t>(p[1]), p + 2);
}
void refresh_carried_entry(std::int64_t* words) {
  const auto* const p = reinterpret_cast<const std::uint64_t*>(words);
  run_refresh_carried(static_cast<std::uint32_t>(p[0]), static_cast<std::uint32_t>(p[1]), p + 2);
}

void decide_entry(std::int64_t* words) {
  const auto* const p = reinterpret_cast<const std::uint64_t*>(words);
  run_decide(static_cast<std::uint32_t>(p[0]), static_cast<std::uint32_t>(p[1]), p + 2);
}

void add_function(CudaModule& module, const std::string& name, cuda_stand_in::Kernel kernel,
                  std::uint64_t block_bytes) {
  auto made = std::make_unique<CudaFunction>();
  made->on_machine.name = name;
  made->on_machine.kernel = kernel;
  made->block_bytes = block_bytes;
  if (name == "rondo_refresh" || name == "rondo_refresh_carried") {
    const bool carried = name == "rondo_refresh_carried";
    made->run = carried ? &run_refresh_carried : &run_refresh;
    made->host_parameters = carried ? std::vector<std::size_t>{4096} : std::vector<std::size_t>{8, 8, 8, 8};
    made->on_machine.kernel = carried ? &refresh_carried_entry : &refresh_entry;
    made->on_machine.shares_args = true;
  }
  if (name == "rondo_decide") {
    made->run = &run_decide;
    made->host_parameters = {8, 8, 8, 4};
    made->on_machine.kernel = &decide_entry;
    made->on_machine.shares_args = true;
  }
  module.functions[name] = std::move(made);
}

/// The number after a word in a text, as "sm_" in ".target sm_70"; 0 if there is none.
std::uint64_t number_after(const std::string& text, const char* word) {
  const std::size_t at = text.find(word);
  return at == std::string::npos ? 0 : std::strtoull(text.c_str() + at + std::strlen(word), nullptr, 10);
}

int load_ptx(CudaModule& module, const std::string& text, char* log, std::size_t log_bytes) {
  const std::size_t version = text.find(".version ");
  if (version == std::string::npos || text.find(".target sm_") == std::string::npos) {
    if (log != nullptr) (void)snprintf(log, log_bytes, "ptxas: no .version and .target at the beginning");
    return invalid_ptx;
  }
  const double number = std::strtod(text.c_str() + version + 9, nullptr);
  if (static_cast<std::uint64_t>(number * 10 + 0.5) > limit("ptx_version", 88)) return unsupported_ptx_version;
  if (number_after(text, ".target sm_") > limit("compute_capability", 80)) return no_binary_for_gpu;
  const bool needs_conditions = text.find(".func cudaGraphSetConditional") != std::string::npos;
  if (needs_conditions && limit("version", 12040) < 12030) return invalid_ptx;
  for (std::size_t at = 0; (at = text.find(".entry ", at)) != std::string::npos;) {
    at += 7;
    const std::string name = text.substr(at, text.find_first_of("( \n", at) - at);
    const RegisteredKernel kernel = driver().registered[name];
    add_function(module, name, kernel.kernel, kernel.block_bytes);
  }
  return success;
}

int load(CudaModule& module, const void* image, char* log, std::size_t log_bytes) {
  const auto* const bytes = static_cast<const char*>(image);
  if (std::memcmp(bytes, "\177ELF", 4) == 0) return no_binary_for_gpu;  // a cubin is always for another chip
  if (std::strncmp(bytes, module_magic, 26) == 0) {
    std::uint64_t count = 0;
    std::memcpy(&count, bytes + sizeof(module_magic), sizeof(count));
    for (std::uint64_t i = 0; i < count; ++i) {
      ModuleEntry entry;
      std::memcpy(&entry, bytes + sizeof(module_magic) + sizeof(count) + i * sizeof(entry), sizeof(entry));
      add_function(module, entry.name, entry.kernel, entry.block_bytes);
    }
    return success;
  }
  const std::string text = bytes;
  if (text.find('.') == std::string::npos) return invalid_image;
  return load_ptx(module, text, log, log_bytes);
}

}  // namespace

// --- control

CONTROL void rondo_cuda_stand_in_reset() {
  Machine& m = machine();
  const std::lock_guard lock{m.mutex};
  m.counts.clear();
  m.faults.clear();
  m.misuses.clear();
  m.limits.clear();
  m.resume();
  driver().lost = success;
  driver().registered.clear();
  for (StreamState* const s : m.streams) s->error = stand_in::ok;
}
CONTROL bool rondo_cuda_stand_in_is_inside() { return stand_in::Inside::depth != 0; }
CONTROL void rondo_cuda_stand_in_end_process() {
  Machine& m = machine();
  std::unique_lock lock{m.mutex};
  for (StreamState* const s : m.streams) m.discard(*s);
  m.resume();
  for (StreamState* const s : std::set<StreamState*>(m.streams)) destroy_stream(lock, s);
  for (EventState* const event : m.events) delete event;
  m.events.clear();
  driver().executables.clear();
  for (CudaGraph* const graph : driver().graphs) destroy_graph(graph);
  driver().graphs.clear();
  driver().conditions.clear();
  for (CudaModule* const module : driver().modules) delete module;
  driver().modules.clear();
  while (!m.blocks.empty()) m.unmap_block(m.blocks.begin()->second);
  for (const auto& [p, size] : m.pinned) std::free(reinterpret_cast<void*>(p));
  m.pinned.clear();
  driver().retained.clear();
  driver().lost = success;
}
CONTROL void rondo_cuda_stand_in_limit(const char* what, std::uint64_t value) {
  const std::lock_guard lock{machine().mutex};
  machine().limits[what] = value;
}
CONTROL void rondo_cuda_stand_in_fault(const char* call, std::uint64_t k, int code) {
  const std::lock_guard lock{machine().mutex};
  machine().faults.push_back({call, k, k == 0, code});
}
CONTROL std::uint64_t rondo_cuda_stand_in_faults_left() {
  const std::lock_guard lock{machine().mutex};
  return machine().faults.size();
}
CONTROL void rondo_cuda_stand_in_hang() {
  const std::lock_guard lock{machine().mutex};
  machine().is_held = machine().is_hung = true;
}
CONTROL void rondo_cuda_stand_in_resume() {
  const std::lock_guard lock{machine().mutex};
  machine().resume();
}
CONTROL void rondo_cuda_stand_in_settle() {
  std::unique_lock lock{machine().mutex};
  for (StreamState* const stream : machine().streams) (void)machine().drain(lock, *stream, -1);
}
CONTROL std::uint64_t rondo_cuda_stand_in_calls(const char* call) {
  const std::lock_guard lock{machine().mutex};
  const auto found = machine().counts.find(call == nullptr ? "all" : call);
  return found == machine().counts.end() ? 0 : found->second;
}
CONTROL std::uint64_t rondo_cuda_stand_in_live(const char* what) {
  Machine& m = machine();
  const std::lock_guard lock{m.mutex};
  std::uint64_t retained = 0;
  for (const auto& [device, count] : driver().retained) retained += count;
  const std::pair<const char*, std::uint64_t> all[] = {
      {"memory", m.blocks.size()},          {"pinned", m.pinned.size()},
      {"streams", m.streams.size()},        {"events", m.events.size()},
      {"graphs", driver().graphs.size()},   {"executables", driver().executables.size()},
      {"modules", driver().modules.size()}, {"contexts", retained}};
  std::uint64_t sum = 0;
  for (const auto& [name, count] : all) {
    if (what == nullptr || std::strcmp(what, name) == 0) sum += count;
  }
  return sum;
}
CONTROL std::uint64_t rondo_cuda_stand_in_bytes(const char* what) {
  return machine().bytes_held(std::strcmp(what, "pinned") == 0);
}
CONTROL std::uint64_t rondo_cuda_stand_in_misuses(char* text, std::size_t size) {
  const std::lock_guard lock{machine().mutex};
  std::string all;
  for (const std::string& line : machine().misuses) all += line + "\n";
  if (text != nullptr && size != 0) {
    const std::size_t n = std::min(size - 1, all.size());
    std::memcpy(text, all.data(), n);
    text[n] = '\0';
  }
  return machine().misuses.size();
}
CONTROL bool rondo_cuda_stand_in_peek(std::uint64_t address, void* to, std::size_t size) {
  const std::lock_guard lock{machine().mutex};
  const auto* const p = pointer<const std::byte>(address);
  const Block* const block = machine().block_of(p, size);
  if (block != nullptr) std::memcpy(to, block->inside + (p - block->address), size);
  return block != nullptr;
}
CONTROL bool rondo_cuda_stand_in_poke(std::uint64_t address, const void* from, std::size_t size) {
  const std::lock_guard lock{machine().mutex};
  auto* const p = pointer<std::byte>(address);
  Block* const block = machine().block_of(p, size);
  if (block != nullptr) std::memcpy(block->inside + (p - block->address), from, size);
  return block != nullptr;
}
CONTROL void rondo_cuda_stand_in_kernel(const char* entry, void (*kernel)(std::int64_t*), std::uint32_t block_bytes) {
  const std::lock_guard lock{machine().mutex};
  driver().registered[entry] = {kernel, block_bytes};
}

// --- process, device and context

CUDA_CALL cuDriverGetVersion(int* version) {
  const Entry entry("cuDriverGetVersion", Needs::nothing);
  if (entry.code == success) *version = static_cast<int>(limit("version", 12040));
  return entry.code;
}
CUDA_CALL cuInit(unsigned flags) {
  const Entry entry("cuInit", Needs::nothing);
  if (entry.code != success) return entry.code;
  if (flags != 0) return invalid_value;
  if (driver().is_initialised && driver().process != getpid()) return not_initialised;
  driver().is_initialised = true;
  driver().process = getpid();
  return success;
}
CUDA_CALL cuGetErrorName(int code, const char** name) {
  *name = code == illegal_address ? "CUDA_ERROR_ILLEGAL_ADDRESS"
          : code == launch_failed ? "CUDA_ERROR_LAUNCH_FAILED"
                                  : "CUDA_ERROR";
  return code < 0 ? invalid_value : success;
}
CUDA_CALL cuGetErrorString(int code, const char** text) {
  *text = "words of the driver's";
  return code < 0 ? invalid_value : success;
}
CUDA_CALL cuDeviceGetCount(int* count) {
  const Entry entry("cuDeviceGetCount", Needs::initialised);
  if (entry.code == success) *count = static_cast<int>(limit("devices", 1));
  return entry.code;
}
CUDA_CALL cuDeviceGet(int* device, int ordinal) {
  const Entry entry("cuDeviceGet", Needs::initialised);
  if (entry.code != success) return entry.code;
  if (ordinal < 0 || static_cast<std::uint64_t>(ordinal) >= limit("devices", 1)) return invalid_device;
  *device = ordinal;
  return success;
}
CUDA_CALL cuDeviceGetName(char* name, int size, int) {
  (void)snprintf(name, static_cast<std::size_t>(size), "Stand-in GPU");
  return success;
}
CUDA_CALL cuDeviceGetAttribute(int* value, int attribute, int) {
  const Entry entry("cuDeviceGetAttribute", Needs::initialised);
  if (entry.code != success) return entry.code;
  const auto capability = static_cast<int>(limit("compute_capability", 80));
  switch (attribute) {
    case 1: *value = 1024; return success;
    case 5: *value = 0x7FFF'FFFF; return success;
    case 8: *value = 49152; return success;
    case 16: *value = 108; return success;
    case 41: *value = 1; return success;
    case 75: *value = capability / 10; return success;
    case 76: *value = capability % 10; return success;
    case 97: *value = 166912; return success;
    default: return invalid_value;
  }
}
CUDA_CALL cuDevicePrimaryCtxRetain(void** context, int device) {
  const Entry entry("cuDevicePrimaryCtxRetain", Needs::initialised);
  if (entry.code != success) return entry.code;
  ++driver().retained[device];
  *context = contexts + device;
  return success;
}
CUDA_CALL cuDevicePrimaryCtxRelease_v2(int device) {
  const Entry entry("cuDevicePrimaryCtxRelease", Needs::initialised);
  if (driver().retained[device] == 0) return misuse("cuDevicePrimaryCtxRelease", "not retained");
  --driver().retained[device];
  return entry.code;
}
CUDA_CALL cuCtxSetCurrent(void* context) {
  const Entry entry("cuCtxSetCurrent", Needs::initialised);
  if (entry.code == success) current = context;
  return entry.code;
}
CUDA_CALL cuCtxGetCurrent(void** context) {
  const Entry entry("cuCtxGetCurrent", Needs::initialised);
  *context = current;
  return entry.code == driver().lost ? success : entry.code;  // a lost context is still current
}

// --- streams and events

CUDA_CALL cuStreamCreateWithPriority(void** stream, unsigned, int) {
  const Entry entry("cuStreamCreateWithPriority", Needs::context);
  if (entry.code != success) return entry.code;
  Machine& m = machine();
  if (m.streams.size() >= limit("streams", 1024)) return out_of_memory;
  auto* const made = new StreamState;
  m.streams.insert(made);
  m.start(*made);
  *stream = made;
  return success;
}
CUDA_CALL cuStreamDestroy_v2(void* handle) {
  Entry entry("cuStreamDestroy", Needs::context);
  if (capture_forbids()) return capture_unsupported;
  if (entry.code == invalid_context) return entry.code;
  StreamState* const stream = stream_of("cuStreamDestroy", handle);
  if (stream == nullptr) return invalid_handle;
  if (stream->done != stream->queued && driver().lost == success) machine().misuse("cuStreamDestroy: work is pending");
  if (stream->capture != nullptr) machine().misuse("cuStreamDestroy: it is being captured");
  destroy_stream(entry.lock, stream);
  return entry.code;
}
CUDA_CALL cuStreamSynchronize(void* handle) {
  Entry entry("cuStreamSynchronize", Needs::context);
  if (capture_forbids()) return capture_unsupported;
  if (entry.code != success) return entry.code;
  StreamState* const stream = stream_of("cuStreamSynchronize", handle);
  if (stream == nullptr) return invalid_handle;
  if (stream->capture != nullptr) return refuse_in_capture(*stream);
  machine().drain(entry.lock, *stream, -1);
  if (stream->error != stand_in::ok) driver().lost = code_of(stream->error);
  return driver().lost;
}
CUDA_CALL cuStreamQuery(void* handle) {
  Entry entry("cuStreamQuery", Needs::context);
  if (entry.code != success) return entry.code;
  StreamState* const stream = stream_of("cuStreamQuery", handle);
  if (stream == nullptr) return invalid_handle;
  if (stream->capture != nullptr) return refuse_in_capture(*stream);
  if (capture_forbids()) return capture_unsupported;
  if (stream->done == stream->queued) return success;
  entry.lock.unlock();
  (void)sched_yield();
  return not_ready;
}
CUDA_CALL cuStreamWaitEvent(void* on, void* handle, unsigned) {
  const Entry entry("cuStreamWaitEvent", Needs::context);
  if (entry.code != success) return entry.code;
  EventState* const event = event_of("cuStreamWaitEvent", handle);
  StreamState* const stream = stream_of("cuStreamWaitEvent", on);
  if (event == nullptr || stream == nullptr) return invalid_handle;
  if (stream->capture != nullptr) return refuse_in_capture(*stream);
  Op op;
  op.kind = Op::Kind::wait;
  op.event = event;
  op.ticket = event->recorded;
  machine().submit(*stream, std::move(op));
  return success;
}
CUDA_CALL cuStreamBeginCapture_v2(void* handle, int mode) {
  const Entry entry("cuStreamBeginCapture", Needs::context);
  if (entry.code != success) return entry.code;
  StreamState* const stream = stream_of("cuStreamBeginCapture", handle);
  if (stream == nullptr) return invalid_handle;
  if (stream->capture != nullptr) return misuse("cuStreamBeginCapture", "it is being captured already");
  stream->capture = std::make_shared<stand_in::Graph>();
  stream->capture->lanes[stream] = 0;
  stream->capture->id = ++driver().captures;
  stream->capture->owner = std::this_thread::get_id();
  stream->capture->mode = mode;
  return success;
}
CUDA_CALL cuStreamGetCaptureInfo_v2(void* handle, int* state, std::uint64_t* id, void**, void* const**, std::size_t*) {
  const Entry entry("cuStreamGetCaptureInfo", Needs::context);
  if (entry.code != success) return entry.code;
  const StreamState* const stream = stream_of("cuStreamGetCaptureInfo", handle);
  if (stream == nullptr) return invalid_handle;
  *state = stream->capture == nullptr ? 0 : stream->capture->is_lost ? 2 : 1;
  if (*state == 1) *id = stream->capture->id;
  return success;
}
CUDA_CALL cuThreadExchangeStreamCaptureMode(int* mode) {
  const Entry entry("cuThreadExchangeStreamCaptureMode", Needs::initialised);
  if (entry.code == success) std::swap(capture_mode, *mode);
  return entry.code;
}
CUDA_CALL cuStreamEndCapture(void* handle, void** graph) {
  const Entry entry("cuStreamEndCapture", Needs::context);
  *graph = nullptr;
  StreamState* const stream = stream_of("cuStreamEndCapture", handle);
  if (entry.code != success) {
    if (stream != nullptr) stream->capture = nullptr;  // the capture ends in any case
    return entry.code;
  }
  if (stream == nullptr) return invalid_handle;
  if (stream->capture == nullptr) return capture_unmatched;
  if (stream->capture->mode != 2 && stream->capture->owner != std::this_thread::get_id()) return capture_wrong_thread;
  const auto captured = std::exchange(stream->capture, nullptr);
  for (EventState* const event : machine().events) {
    if (event->captured_in == captured.get()) event->captured_in = nullptr;
  }
  if (captured->is_lost) return capture_invalidated;
  auto made = graph_of_capture(*captured);
  *graph = made.get();
  driver().graphs.insert(made.release());
  return success;
}
CUDA_CALL cuStreamIsCapturing(void* handle, int* mode) {
  const Entry entry("cuStreamIsCapturing", Needs::context);
  if (entry.code != success) return entry.code;
  const StreamState* const stream = stream_of("cuStreamIsCapturing", handle);
  if (stream == nullptr) return invalid_handle;
  *mode = stream->capture == nullptr ? 0 : stream->capture->is_lost ? 2 : 1;
  return success;
}
CUDA_CALL cuEventCreate(void** event, unsigned flags) {
  const Entry entry("cuEventCreate", Needs::context);
  if (entry.code != success) return entry.code;
  if (machine().events.size() >= limit("events", 65536)) return out_of_memory;
  auto* const made = new EventState;
  made->has_time = (flags & 2) == 0;
  machine().events.insert(made);
  *event = made;
  return success;
}
CUDA_CALL cuEventDestroy_v2(void* handle) {
  Entry entry("cuEventDestroy", Needs::context);
  if (capture_forbids()) return capture_unsupported;
  if (entry.code == invalid_context) return entry.code;
  EventState* const event = event_of("cuEventDestroy", handle);
  if (event == nullptr) return invalid_handle;
  drain_all(entry.lock);  // the driver keeps an event until the work that uses it has ended
  machine().events.erase(event);
  delete event;
  return entry.code;
}
CUDA_CALL cuEventRecord(void* handle, void* on) {
  const Entry entry("cuEventRecord", Needs::context);
  if (entry.code != success) return entry.code;
  EventState* const event = event_of("cuEventRecord", handle);
  StreamState* const stream = stream_of("cuEventRecord", on);
  if (event == nullptr || stream == nullptr) return invalid_handle;
  event->captured_in = stream->capture.get();
  Op op;
  op.kind = Op::Kind::record;
  op.event = event;
  if (stream->capture == nullptr) op.ticket = ++event->recorded;
  machine().submit(*stream, std::move(op));
  return success;
}
CUDA_CALL cuEventQuery(void* handle) {
  const Entry entry("cuEventQuery", Needs::context);
  if (entry.code != success) return entry.code;
  const EventState* const event = event_of("cuEventQuery", handle);
  if (event == nullptr) return invalid_handle;
  for (StreamState* const s : machine().streams) {
    if (event->captured_in == nullptr || s->capture.get() != event->captured_in) continue;
    s->capture->is_lost = true;
    return captured_event;
  }
  if (capture_forbids()) return capture_unsupported;
  return event->complete >= event->recorded ? success : not_ready;
}
CUDA_CALL cuEventElapsedTime(float* ms, void* from, void* to) {
  const Entry entry("cuEventElapsedTime", Needs::context);
  if (entry.code != success) return entry.code;
  const EventState* const a = event_of("cuEventElapsedTime", from);
  const EventState* const b = event_of("cuEventElapsedTime", to);
  if (a == nullptr || b == nullptr || !a->has_time || !b->has_time) return invalid_handle;
  if (a->recorded == 0 || b->recorded == 0) return invalid_handle;
  if (a->complete < a->recorded || b->complete < b->recorded) return not_ready;
  *ms = std::chrono::duration<float, std::milli>(b->time - a->time).count();
  return success;
}

// --- memory

CUDA_CALL cuMemAlloc_v2(std::uint64_t* address, std::size_t size) {
  const Entry entry("cuMemAlloc", Needs::context);
  if (entry.code != success) return entry.code;
  Machine& m = machine();
  if (size == 0) return invalid_value;
  if (capture_forbids()) return capture_unsupported;
  const std::uint64_t all = limit("memory", std::uint64_t{1} << 36);
  if (size > all - std::min<std::uint64_t>(m.memory_in_use(), all)) return out_of_memory;
  const std::size_t mapped = (size + 4095) / 4096 * 4096;
  const int file = memfd_create("device memory", 0);
  const bool sized = file >= 0 && ftruncate(file, static_cast<off_t>(mapped)) == 0;
  Block* const block = sized ? m.map_block(nullptr, file, size, mapped) : nullptr;
  if (file >= 0) close(file);
  if (block == nullptr) return out_of_memory;
  *address = reinterpret_cast<std::uintptr_t>(block->address);
  return success;
}
CUDA_CALL cuMemFree_v2(std::uint64_t address) {
  Entry entry("cuMemFree", Needs::context);
  if (capture_forbids()) return capture_unsupported;
  if (entry.code == invalid_context) return entry.code;
  Machine& m = machine();
  const auto found = m.blocks.find(address);
  if (found == m.blocks.end()) return misuse("cuMemFree", "no block begins here: freed already?");
  if (m.is_in_use(pointer<void>(address), found->second.size)) {
    if (driver().lost == success) m.misuse("cuMemFree: queued work touches the block");
    drain_all(entry.lock);
  }
  m.unmap_block(m.blocks.at(address));
  return entry.code;
}
CUDA_CALL cuMemHostAlloc(void** p, std::size_t size, unsigned) {
  const Entry entry("cuMemHostAlloc", Needs::context);
  if (capture_forbids()) return capture_unsupported;
  if (entry.code != success) return entry.code;
  if (size == 0) return invalid_value;
  constexpr std::size_t most = std::size_t{1} << 39;  // AddressSanitizer ends a program that asks for twice as much
  *p = size > most ? nullptr : std::aligned_alloc(64, (size + 63) / 64 * 64);
  if (*p == nullptr) return out_of_memory;
  std::memset(*p, 0xCD, size);
  machine().pinned[reinterpret_cast<std::uintptr_t>(*p)] = size;
  return success;
}
CUDA_CALL cuMemFreeHost(void* p) {
  Entry entry("cuMemFreeHost", Needs::context);
  if (capture_forbids()) return capture_unsupported;
  if (entry.code == invalid_context) return entry.code;
  Machine& m = machine();
  const auto found = m.pinned.find(reinterpret_cast<std::uintptr_t>(p));
  if (found == m.pinned.end()) return misuse("cuMemFreeHost", "no pinned memory begins here: freed already?");
  if (m.is_in_use(p, found->second)) {
    if (driver().lost == success) m.misuse("cuMemFreeHost: queued work touches the memory");
    drain_all(entry.lock);
  }
  m.pinned.erase(reinterpret_cast<std::uintptr_t>(p));
  std::free(p);
  return entry.code;
}
CUDA_CALL cuMemcpyHtoDAsync_v2(std::uint64_t to, const void* from, std::size_t size, void* on) {
  Entry entry("cuMemcpyHtoDAsync", Needs::context);
  if (entry.code != success) return entry.code;
  StreamState* const stream = stream_of("cuMemcpyHtoDAsync", on);
  if (stream == nullptr) return invalid_handle;
  Op op;
  op.to = pointer<std::byte>(to);
  op.from = static_cast<const std::byte*>(from);
  op.size = size;
  return copy("cuMemcpyHtoDAsync", std::move(op), true, *stream, entry.lock);
}
CUDA_CALL cuMemcpyDtoHAsync_v2(void* to, std::uint64_t from, std::size_t size, void* on) {
  Entry entry("cuMemcpyDtoHAsync", Needs::context);
  if (entry.code != success) return entry.code;
  StreamState* const stream = stream_of("cuMemcpyDtoHAsync", on);
  if (stream == nullptr) return invalid_handle;
  Op op;
  op.to = static_cast<std::byte*>(to);
  op.from = pointer<const std::byte>(from);
  op.size = size;
  return copy("cuMemcpyDtoHAsync", std::move(op), false, *stream, entry.lock);
}
CUDA_CALL cuMemcpyDtoDAsync_v2(std::uint64_t to, std::uint64_t from, std::size_t size, void* on) {
  const Entry entry("cuMemcpyDtoDAsync", Needs::context);
  if (entry.code != success) return entry.code;
  StreamState* const stream = stream_of("cuMemcpyDtoDAsync", on);
  if (stream == nullptr) return invalid_handle;
  for (const std::uint64_t side : {to, from}) {
    if (machine().block_of(pointer<void>(side), size) == nullptr) return misuse("cuMemcpyDtoDAsync", "no such memory");
  }
  Op op;
  op.kind = Op::Kind::copy_inside;
  op.to = pointer<std::byte>(to);
  op.from = pointer<const std::byte>(from);
  op.size = size;
  machine().submit(*stream, std::move(op));
  return success;
}
CUDA_CALL cuMemcpy2DAsync_v2(const rondo::platform::cuda::CopyRows* rows, void* on) {
  const Entry entry("cuMemcpy2DAsync", Needs::context);
  if (entry.code != success) return entry.code;
  StreamState* const stream = stream_of("cuMemcpy2DAsync", on);
  if (stream == nullptr) return invalid_handle;
  if (rows->from_pitch < rows->width || rows->to_pitch < rows->width) return invalid_value;
  if (rows->from_kind != 2 || rows->to_kind != 2) return misuse("cuMemcpy2DAsync", "not within device memory");
  if (rows->height == 0) return success;
  for (const auto& [side, pitch] : {std::pair{rows->to, rows->to_pitch}, std::pair{rows->from, rows->from_pitch}}) {
    const std::size_t whole = (rows->height - 1) * pitch + rows->width;
    if (machine().block_of(pointer<void>(side), whole) == nullptr) return misuse("cuMemcpy2DAsync", "no such memory");
  }
  for (std::size_t row = 0; row < rows->height; ++row) {
    Op op;
    op.kind = Op::Kind::copy_inside;
    op.to = pointer<std::byte>(rows->to + row * rows->to_pitch);
    op.from = pointer<const std::byte>(rows->from + row * rows->from_pitch);
    op.size = rows->width;
    machine().submit(*stream, std::move(op));
  }
  return success;
}
CUDA_CALL cuMemsetD8Async(std::uint64_t to, unsigned char value, std::size_t size, void* on) {
  const Entry entry("cuMemsetD8Async", Needs::context);
  if (entry.code != success) return entry.code;
  StreamState* const stream = stream_of("cuMemsetD8Async", on);
  if (stream == nullptr) return invalid_handle;
  if (size == 0) return success;
  if (machine().block_of(pointer<void>(to), size) == nullptr) return misuse("cuMemsetD8Async", "no such memory");
  Op op;
  op.kind = Op::Kind::set;
  op.to = pointer<std::byte>(to);
  op.size = size;
  op.value = value;
  machine().submit(*stream, std::move(op));
  return success;
}

// --- modules and launches

CUDA_CALL cuModuleLoadDataEx(void** module, const void* image, unsigned count, int* options, void** values) {
  const Entry entry("cuModuleLoadDataEx", Needs::context);
  if (capture_forbids()) return capture_unsupported;
  if (entry.code != success) return entry.code;
  char* log = nullptr;
  std::size_t log_bytes = 0;
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] == 5) log = static_cast<char*>(values[i]);
    if (options[i] == 6) log_bytes = reinterpret_cast<std::uintptr_t>(values[i]);
  }
  auto made = std::make_unique<CudaModule>();
  const int code = load(*made, image, log, log_bytes);
  if (code != success) return code;
  *module = made.get();
  driver().modules.insert(made.release());
  return success;
}
CUDA_CALL cuModuleUnload(void* handle) {
  Entry entry("cuModuleUnload", Needs::context);
  if (capture_forbids()) return capture_unsupported;
  if (entry.code == invalid_context) return entry.code;
  auto* const module = static_cast<CudaModule*>(handle);
  if (!driver().modules.contains(module)) return misuse("cuModuleUnload", "no such module");
  const auto runs_it = [&](const auto& self, const stand_in::Graph& graph) -> bool {
    return std::any_of(graph.ops.begin(), graph.ops.end(), [&](const Op& op) {
      if (op.kind == Op::Kind::condition) return self(self, *op.condition->bodies.front());
      return op.kind == Op::Kind::kernel &&
             std::any_of(module->functions.begin(), module->functions.end(),
                         [&](const auto& f) { return &f.second->on_machine == op.function; });
    });
  };
  for (const auto& [handle_of, graph] : driver().executables) {
    if (runs_it(runs_it, *graph)) machine().misuse("cuModuleUnload: an executable graph runs its kernels");
  }
  drain_all(entry.lock);
  driver().modules.erase(module);
  delete module;
  return entry.code;
}
CUDA_CALL cuModuleGetFunction(void** function, void* handle, const char* name) {
  const Entry entry("cuModuleGetFunction", Needs::context);
  if (entry.code != success) return entry.code;
  auto* const module = static_cast<CudaModule*>(handle);
  if (!driver().modules.contains(module)) return misuse("cuModuleGetFunction", "no such module");
  const auto found = module->functions.find(name);
  if (found == module->functions.end()) return not_found;
  if (found->second->on_machine.kernel == nullptr) {
    return misuse("cuModuleGetFunction", std::string(name) + " is PTX without a host function");
  }
  *function = found->second.get();
  return success;
}
CUDA_CALL cuFuncGetAttribute(int* value, int attribute, void*) {
  const Entry entry("cuFuncGetAttribute", Needs::context);
  if (entry.code != success) return entry.code;
  *value = attribute == 0 ? static_cast<int>(limit("max_threads", 1024)) : 0;
  return success;
}
CUDA_CALL cuFuncSetAttribute(void* function, int attribute, int value) {
  const Entry entry("cuFuncSetAttribute", Needs::context);
  if (entry.code != success) return entry.code;
  if (attribute != 8 || value < 0 || value > 166912) return invalid_value;
  static_cast<CudaFunction*>(function)->dynamic_shared_limit = static_cast<std::uint32_t>(value);
  return success;
}
CUDA_CALL cuLaunchKernel(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                         unsigned shared, void* on, void** parameters, void**) {
  const Entry entry("cuLaunchKernel", Needs::context);
  if (entry.code != success) return entry.code;
  StreamState* const stream = stream_of("cuLaunchKernel", on);
  if (stream == nullptr) return invalid_handle;
  const unsigned grid[] = {gx, gy, gz};
  const unsigned block[] = {bx, by, bz};
  Op op;
  const int code = kernel_op(*static_cast<CudaFunction*>(function), grid, block, shared, parameters, op);
  if (code == success) machine().submit(*stream, std::move(op));
  return code;
}

CONTROL int rondo_cuda_stand_in_launch(void* on, void (*kernel)(std::int64_t*), const void* words, std::size_t size) {
  const Entry entry("rondo_cuda_stand_in_launch", Needs::context);
  if (entry.code != success) return entry.code;
  StreamState* const stream = stream_of("rondo_cuda_stand_in_launch", on);
  if (stream == nullptr) return invalid_handle;
  stand_in::Function& function = driver().of_libraries[kernel];  // its address stays
  function.name = "kernel of a library";
  function.kernel = kernel;
  function.shares_args = true;
  const auto* const bytes = static_cast<const std::byte*>(words);
  Op op;
  op.kind = Op::Kind::kernel;
  op.function = &function;
  op.bytes.assign(bytes, bytes + size);
  op.size = size;
  machine().submit(*stream, std::move(op));
  return success;
}

// --- graphs

CUDA_CALL cuGraphCreate(void** graph, unsigned) {
  const Entry entry("cuGraphCreate", Needs::context);
  if (entry.code != success) return entry.code;
  auto* const made = new CudaGraph;
  driver().graphs.insert(made);
  *graph = made;
  return success;
}
namespace {
int add_node(const char* call, void* handle, void* const* needs, std::size_t count, std::unique_ptr<CudaNode> node,
             void** made) {
  auto* const graph = static_cast<CudaGraph*>(handle);
  if (!driver().graphs.contains(graph) && !driver().bodies.contains(graph))
    return misuse(call, "no such graph", invalid_handle);
  for (std::size_t i = 0; i < count; ++i) {
    const auto is_it = [&](const auto& n) { return n.get() == needs[i]; };
    if (std::none_of(graph->nodes.begin(), graph->nodes.end(), is_it)) return misuse(call, "needs a node of no graph");
    if (std::count(needs, needs + count, needs[i]) != 1) return misuse(call, "needs a node twice");
    node->needs.push_back(static_cast<CudaNode*>(needs[i]));
  }
  *made = node.get();
  graph->nodes.push_back(std::move(node));
  return success;
}
}  // namespace
CUDA_CALL cuGraphAddKernelNode(void** made, void* graph, void* const* needs, std::size_t count,
                               const rondo::platform::cuda::KernelNodeParams* p) {
  const Entry entry("cuGraphAddKernelNode", Needs::context);
  if (entry.code != success) return entry.code;
  auto node = std::make_unique<CudaNode>();
  const int code =
      kernel_op(*static_cast<CudaFunction*>(p->function), p->grid, p->block, p->shared_bytes, p->parameters, node->op);
  return code != success ? code : add_node("cuGraphAddKernelNode", graph, needs, count, std::move(node), made);
}
CUDA_CALL cuGraphAddChildGraphNode(void** made, void* graph, void* const* needs, std::size_t count, void* child) {
  const Entry entry("cuGraphAddChildGraphNode", Needs::context);
  if (entry.code != success) return entry.code;
  if (!driver().graphs.contains(static_cast<CudaGraph*>(child))) return invalid_handle;
  auto node = std::make_unique<CudaNode>();
  node->child = static_cast<const CudaGraph*>(child)->clone();
  return add_node("cuGraphAddChildGraphNode", graph, needs, count, std::move(node), made);
}
CUDA_CALL cuGraphConditionalHandleCreate(std::uint64_t* made, void* handle, void* context, unsigned at_launch,
                                         unsigned flags) {
  const Entry entry("cuGraphConditionalHandleCreate", Needs::context);
  if (entry.code != success) return entry.code;
  auto* const graph = static_cast<CudaGraph*>(handle);
  if (!driver().graphs.contains(graph) && !driver().bodies.contains(graph))
    return misuse("cuGraphConditionalHandleCreate", "no such graph", invalid_handle);
  if (context != current) return misuse("cuGraphConditionalHandleCreate", "another context");
  if (flags > 1) return invalid_value;
  const auto condition = std::make_shared<stand_in::Condition>();
  condition->value = std::make_unique<std::uint64_t>(0xCDCDCDCD);
  condition->at_begin = at_launch;
  condition->is_set_at_begin = flags == 1;
  graph->conditions.push_back(condition);
  *made = reinterpret_cast<std::uintptr_t>(condition.get());
  driver().conditions[*made] = condition;
  return success;
}
CUDA_CALL cuGraphAddNode(void** made, void* handle, void* const* needs, std::size_t count,
                         rondo::platform::cuda::ConditionalNodeParams* p) {
  const Entry entry("cuGraphAddNode", Needs::context);
  if (entry.code != success) return entry.code;
  if (p->type != 13 || p->kind > 1 || p->body_count != 1) return invalid_value;
  auto* const graph = static_cast<CudaGraph*>(handle);
  auto node = std::make_unique<CudaNode>();
  node->condition = driver().conditions[p->handle].lock();
  if (node->condition == nullptr) return misuse("cuGraphAddNode", "no such condition");
  if (std::erase(graph->conditions, node->condition) == 0)
    return misuse("cuGraphAddNode", "the condition is of another graph, or has a node");
  if (p->context != current) return misuse("cuGraphAddNode", "another context");
  node->condition->kind = p->kind == 1 ? stand_in::Condition::Kind::loop : stand_in::Condition::Kind::when;
  node->body = std::make_unique<CudaGraph>();
  driver().bodies.insert(graph->body = node->body.get());
  p->bodies = reinterpret_cast<void**>(&graph->body);
  return add_node("cuGraphAddNode", graph, needs, count, std::move(node), made);
}
namespace {
/// Whether the body of a conditional node has a kernel of a library.
bool has_library_in_body(const CudaGraph& graph, bool is_body = false) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const auto& node) {
    const bool is_library = node->op.kind == Op::Kind::kernel && node->op.function != nullptr &&
                            driver().of_libraries.contains(node->op.function->kernel);
    return (is_body && is_library) || (node->child != nullptr && has_library_in_body(*node->child, is_body)) ||
           (node->body != nullptr && has_library_in_body(*node->body, true));
  });
}
}  // namespace
CUDA_CALL cuGraphInstantiateWithFlags(void** exec, void* handle, unsigned long long) {
  const Entry entry("cuGraphInstantiateWithFlags", Needs::context);
  if (capture_forbids()) return capture_unsupported;
  if (entry.code != success) return entry.code;
  auto* const graph = static_cast<CudaGraph*>(handle);
  if (!driver().graphs.contains(graph)) return misuse("cuGraphInstantiateWithFlags", "no such graph");
  if (has_library_in_body(*graph)) return invalid_value;
  NodePlaces places;
  auto made = instantiate(*graph, places);
  *exec = made.get();
  driver().places[*exec] = std::move(places);
  driver().executables[*exec] = std::move(made);
  return success;
}
CUDA_CALL cuGraphUpload(void* exec, void* on) {
  const Entry entry("cuGraphUpload", Needs::context);
  if (capture_forbids()) return capture_unsupported;
  if (entry.code != success) return entry.code;
  if (!driver().executables.contains(exec)) return misuse("cuGraphUpload", "no such graph");
  return stream_of("cuGraphUpload", on) == nullptr ? invalid_handle : success;
}
CUDA_CALL cuGraphLaunch(void* exec, void* on) {
  const Entry entry("cuGraphLaunch", Needs::context);
  if (entry.code != success) return entry.code;
  const auto found = driver().executables.find(exec);
  if (found == driver().executables.end()) return misuse("cuGraphLaunch", "no such graph");
  StreamState* const stream = stream_of("cuGraphLaunch", on);
  if (stream == nullptr) return invalid_handle;
  if (stream->capture != nullptr) return refuse_in_capture(*stream);
  if (found->second->ops.empty()) return success;
  Op op;
  op.kind = Op::Kind::graph;
  op.graph = found->second;
  machine().submit(*stream, std::move(op));
  return success;
}
CUDA_CALL cuGraphExecDestroy(void* exec) {
  Entry entry("cuGraphExecDestroy", Needs::context);
  if (capture_forbids()) return capture_unsupported;
  if (entry.code == invalid_context) return entry.code;
  driver().places.erase(exec);
  if (driver().executables.erase(exec) == 0) return misuse("cuGraphExecDestroy", "no such graph");
  return entry.code;
}
CUDA_CALL cuGraphDestroy(void* handle) {
  const Entry entry("cuGraphDestroy", Needs::context);
  auto* const graph = static_cast<CudaGraph*>(handle);
  if (driver().graphs.erase(graph) == 0) return misuse("cuGraphDestroy", "no such graph");
  destroy_graph(graph);
  return entry.code;
}

// --- calls of Rondo's rivals, in benchmarks

CUDA_CALL cuGraphExecKernelNodeSetParams(void* exec, void* node, const rondo::platform::cuda::KernelNodeParams* p) {
  const Entry entry("cuGraphExecKernelNodeSetParams", Needs::context);
  if (entry.code != success) return entry.code;
  const auto found = driver().executables.find(exec);
  if (found == driver().executables.end() || !driver().places[exec].contains(node)) return invalid_value;
  Op op;
  const int code =
      kernel_op(*static_cast<CudaFunction*>(p->function), p->grid, p->block, p->shared_bytes, p->parameters, op);
  if (code != success) return code;
  Op& old = found->second->ops[driver().places[exec][node]];
  op.lane = old.lane;
  old = std::move(op);
  return success;
}
CUDA_CALL cuGraphExecUpdate(void* exec, void* handle, void** node, int* result) {
  const Entry entry("cuGraphExecUpdate", Needs::context);
  if (entry.code != success) return entry.code;
  const auto found = driver().executables.find(exec);
  auto* const graph = static_cast<CudaGraph*>(handle);
  if (found == driver().executables.end() || !driver().graphs.contains(graph)) return invalid_value;
  NodePlaces places;
  auto made = instantiate(*graph, places);
  *node = nullptr;
  *result = made->ops.size() == found->second->ops.size() ? 0 : 1;
  if (*result != 0) return 910;
  *found->second = *made;
  return success;
}

/// Sets the value of a conditional node, on the device. It must be in an executable graph.
void cuda_stand_in::set_condition(std::uint64_t handle, std::uint32_t value) {
  const std::lock_guard lock{machine().mutex};
  const auto condition = driver().conditions[handle].lock();
  if (condition == nullptr || condition->bodies.empty()) {
    machine().misuse("cudaGraphSetConditional: no such conditional node");
  } else {
    *condition->value = value;
  }
}

/// Looks up a call by its name, in the version that drivers of `version` had.
CUDA_CALL cuGetProcAddress(const char* name, void** found, int version, unsigned long long) {
  *found = nullptr;
  if (version >= 12000) return misuse("cuGetProcAddress", "of a version whose structs are others");
  Dl_info self{};
  if (dladdr(static_cast<const void*>(contexts), &self) == 0) return not_found;
  void* const library = dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  rondo::platform::cuda::Calls calls;
  const auto look = [&](const char* wanted, const char* symbol, auto&) {
    if (std::strcmp(wanted, name) == 0) *found = dlsym(library, symbol);
  };
  visit_required(calls, look);
  visit_optional(calls, look);
  if (library != nullptr) dlclose(library);
  return *found == nullptr ? not_found : success;
}
