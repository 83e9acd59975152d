// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// The calls of the ACL runtime that Rondo makes, over the machine of machine.hpp. Written from the API's published
// signatures and behaviour, as a device-less double for tests.

#include "caches.hpp"
#include "elf.hpp"
#include "machine.hpp"

#include <rondo/platform/onboard/acl.hpp>

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

using namespace stand_in;

namespace {

Machine& machine() { return Machine::instance(); }

enum class Needs { nothing, context };

/// The capture mode of this thread: global, thread-local or relaxed.
thread_local int exchanged_mode = 0;

/// The beginning of each call: the log, the faults, and the rules for callers. Holds the lock.
class Entry {
 public:
  Entry(const char* name, Needs needs) : lock{machine().mutex} {
    Machine& m = machine();
    m.log.emplace_back(name);
    ++m.counts[name];
    if (in_host_func) m.misuse(std::string(name) + " was called from a host func");
    for (auto fault = m.faults.begin(); fault != m.faults.end(); ++fault) {
      if (fault->call != name || (!fault->is_each && --fault->uses_left != 0)) continue;
      injected = fault->code;
      if (!fault->is_each) m.faults.erase(fault);
      break;
    }
    if (injected == ok && needs == Needs::context) {
      if (m.inits == 0) m.misuse(std::string(name) + " was called before aclInit or after aclFinalize");
      if (current_device() < 0) injected = no_context;
    }
    if (injected != ok) recent_error = std::string(name) + " failed with " + std::to_string(injected);
  }

  Inside inside;
  std::unique_lock<std::mutex> lock;
  int injected = ok;
};

int refuse(int code, std::string text) {
  recent_error = std::move(text);
  return code;
}

int misuse(const char* call, const std::string& text, int code = bad_parameter) {
  machine().misuse(std::string(call) + ": " + text);
  return refuse(code, text);
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

/// Whether a capture of this thread, or a global one of any thread, forbids this thread synchronous copies. The mode to
/// which the thread changed takes precedence.
bool capture_forbids() {
  return exchanged_mode != 2 &&
         std::any_of(machine().streams.begin(), machine().streams.end(), [](const StreamState* s) {
           return s->capture != nullptr && s->capture->mode != 2 &&
                  ((s->capture->mode == 0 && exchanged_mode == 0) || s->capture->owner == std::this_thread::get_id());
         });
}

bool is_queued(const EventState* event) {
  return std::any_of(machine().streams.begin(), machine().streams.end(), [&](const StreamState* s) {
    const auto uses = [&](const Op& op) { return op.event == event; };
    return std::any_of(s->queue.begin(), s->queue.end(), uses) ||
           std::any_of(s->running.begin(), s->running.end(), uses);
  });
}

/// Checks the device's side of an operation. @returns a code
int check_device_side(const char* call, const void* p, std::size_t size) {
  Machine& m = machine();
  if (m.limit("strict") == 0) return ok;  // the device will find the mistake
  if (size == 0) return misuse(call, "of 0 bytes");
  if (m.block_of(p, 0) == nullptr) return misuse(call, "no device memory at this address");
  if (m.block_of(p, size) == nullptr) return misuse(call, std::to_string(size) + " bytes leave their block");
  return ok;
}

/// The failure of a stream, which is reported once, as by the runtime for a stream that does not stop at failures.
int take_error(StreamState& stream) {
  if (stream.error != ok) recent_error = stream.error_text;
  stream.skips = false;
  return std::exchange(stream.error, ok);
}

int copy(const char* call, Op op, int kind, std::size_t room, StreamState& stream, std::unique_lock<std::mutex>& lock) {
  Machine& m = machine();
  const bool is_strict = m.limit("strict") != 0;
  if (op.size == 0) return is_strict ? misuse(call, "of 0 bytes") : ok;
  if (room < op.size) return refuse(bad_parameter, "the destination is smaller than the copy");
  const bool to_device = m.block_of(op.to, 0) != nullptr;
  const bool from_device = m.block_of(op.from, 0) != nullptr;
  if (kind == 5) {
    if (m.limit("snapshot_copies") == 0) return refuse(not_supported, "no snapshot copies");
    if (const int code = check_device_side(call, op.to, op.size); code != ok) return code;
    op.kind = Op::Kind::copy_in;
    op.bytes.assign(op.from, op.from + op.size);
    op.from = nullptr;
    m.submit(stream, std::move(op));
    return ok;
  }
  if (to_device && from_device) {
    for (const auto* const side : {static_cast<const std::byte*>(op.to), op.from}) {
      if (const int code = check_device_side(call, side, op.size); code != ok) return code;
    }
    op.kind = Op::Kind::copy_inside;
    m.submit(stream, std::move(op));
    return ok;
  }
  if (kind < 0 || kind > 4) return refuse(bad_parameter, "unknown kind of copy");
  const bool in = kind == 1 || (kind == 4 && to_device) || (!is_strict && to_device);
  if (!to_device && !from_device) return refuse(not_supported, "from host to host");
  if (is_strict && kind != 4 && (kind == 1) != to_device) {
    return misuse(call, "the kind of copy is not that of its addresses");
  }
  const auto* const device = in ? op.to : op.from;
  const auto* const host = in ? op.from : op.to;
  if (const int code = check_device_side(call, device, op.size); code != ok) return code;
  if (reinterpret_cast<std::uintptr_t>(device) % 64 != 0) m.misuse(std::string(call) + ": device side not at 64 bytes");
  op.kind = in ? Op::Kind::copy_in : Op::Kind::copy_out;
  if (!m.is_pinned(host, op.size) && m.limit("old_driver") == 0) {
    if (stream.capture != nullptr) return refuse(bad_parameter, "pageable memory in a capture");
    ++m.counts["pageable"];
    if (capture_forbids()) {
      m.drain(lock, stream, -1);
      return refuse(capture_refuses_async, "a copy that became synchronous during a capture");
    }
    m.submit(stream, std::move(op));
    m.drain(lock, stream, -1);
    return take_error(stream);
  }
  if (in && stream.capture == nullptr) op.hash = hash_of(op.from, op.size);
  m.submit(stream, std::move(op));
  return ok;
}

std::size_t fill(char* text, std::size_t size, const std::vector<std::string>& lines) {
  std::string all;
  for (const std::string& line : lines) all += line + "\n";
  if (size != 0) {
    const std::size_t n = std::min(size - 1, all.size());
    std::memcpy(text, all.data(), n);
    text[n] = '\0';
  }
  return all.size() + 1;
}

/// Begins to capture a stream to a graph. @returns a code
int begin_capture(StreamState& stream, std::shared_ptr<Graph> graph, int mode) {
  if (mode < 0 || mode > 2) return bad_parameter;
  if (stream.capture != nullptr) return refuse(stream_is_captured, "the stream is being captured");
  graph->owner = std::this_thread::get_id();
  graph->mode = mode;
  graph->origin = &stream;
  graph->lanes.try_emplace(&stream, 0);
  if (!machine().take_entries(*graph, 0, 1)) return refuse(out_of_queues, "no queue is left for a capture");
  stream.capture = std::move(graph);
  return ok;
}
/// The graph of that address if it is being captured, else null.
Graph* captured(const void* graph) {
  for (const StreamState* const s : machine().streams) {
    if (s->capture.get() == graph && graph != nullptr) return s->capture.get();
  }
  return nullptr;
}
std::shared_ptr<Condition> condition_of(const void* handle) {
  for (const StreamState* const s : machine().streams) {
    if (s->capture == nullptr) continue;
    for (const auto& condition : s->capture->conditions) {
      if (condition.get() == handle) return condition;
    }
  }
  return nullptr;
}
bool has_conditional_tasks() { return machine().limit("conditional_tasks") != 0; }
// UBSan compares the types of calls, so the struct that is passed by value is Rondo's; its layout is the runtime's.
using rondo::platform::onboard::ConditionalTask;
static_assert(offsetof(ConditionalTask, condition) == 0 && offsetof(ConditionalTask, kind) == 8);
static_assert(offsetof(ConditionalTask, bodies) == 12 && offsetof(ConditionalTask, body) == 16);

}  // namespace

extern "C" {

// --- control
// -----------------------------------------------------------------------------------------------------------

void rondo_stand_in_reset() {
  const Inside inside;
  Machine& m = machine();
  const std::lock_guard lock{m.mutex};
  m.log = {};
  m.counts.clear();
  m.faults.clear();
  m.misuses.clear();
  m.limits.clear();
  reset_cache_limits();
  m.costs.clear();
  m.cores = 24;
  m.replay_order = ReplayOrder::any;
  m.slow.clear();
  m.resume();
}
void rondo_stand_in_chip(const char* name) {
  Machine& m = machine();
  const std::lock_guard lock{m.mutex};
  const std::string asked{name};
  const std::string soc = asked == "a2a3" ? "Ascend910B4" : asked == "a5" ? "Ascend950PR_9579" : asked;
  const bool is_a5 = soc.starts_with("Ascend950");
  const auto npu_arch = is_a5 ? 3510 : 2201;
  // Both are written only if they differ, since another thread may be reading them.
  if (m.soc != soc) m.soc = soc;
  if (m.npu_arch != npu_arch) m.npu_arch = npu_arch;
  m.guard = is_a5 ? 0 : 32;
  set_cache_limit("aicpu_sees_host", is_a5 ? 1 : 0);
}
void rondo_stand_in_limit(const char* what, std::uint64_t value) {
  const std::lock_guard lock{machine().mutex};
  machine().limits[what] = value;
  set_cache_limit(what, value);
}
void rondo_stand_in_fault(const char* call, std::uint64_t k, int code) {
  const std::lock_guard lock{machine().mutex};
  machine().faults.push_back({call, k, k == 0, code});
}
void rondo_stand_in_clear_faults() {
  const std::lock_guard lock{machine().mutex};
  machine().faults.clear();
}
void rondo_stand_in_settle() {
  std::unique_lock lock{machine().mutex};
  for (StreamState* const stream : machine().streams) (void)machine().drain(lock, *stream, -1);
}
void rondo_stand_in_hold() {
  const std::lock_guard lock{machine().mutex};
  machine().is_held = true;
  machine().changed.notify_all();
}
void rondo_stand_in_hold_until_awaited() {
  const std::lock_guard lock{machine().mutex};
  machine().is_held = machine().resumes_if_awaited = true;
}
void rondo_stand_in_slow(const char* kernel, std::uint64_t microseconds) {
  const std::lock_guard lock{machine().mutex};
  machine().slow[kernel] = microseconds;
}
void rondo_stand_in_hang() {
  const std::lock_guard lock{machine().mutex};
  machine().is_held = machine().is_hung = true;
  machine().changed.notify_all();
}
std::uint64_t rondo_stand_in_range_start() {
  const Entry entry("mstxRangeStartA", Needs::nothing);
  machine().ranges.insert(machine().next_range);
  return machine().next_range++;
}
void rondo_stand_in_range_end(std::uint64_t range) {
  const Entry entry("mstxRangeEnd", Needs::nothing);
  if (machine().ranges.erase(range) == 0) machine().misuse("mstxRangeEnd: no such range");
}
void rondo_stand_in_resume() {
  const std::lock_guard lock{machine().mutex};
  machine().resume();
}
void rondo_stand_in_cost(const char* what, double ns) {
  const std::lock_guard lock{machine().mutex};
  machine().costs[what] = ns;
}
void rondo_stand_in_cores(std::uint32_t cores) {
  const std::lock_guard lock{machine().mutex};
  machine().cores = cores;
}
double rondo_stand_in_device_ns() {
  const std::lock_guard lock{machine().mutex};
  return machine().device_ns;
}
void rondo_stand_in_replay_order(const char* name) {
  const std::lock_guard lock{machine().mutex};
  const std::string order = name;
  machine().replay_order = order == "first_stream_first"  ? ReplayOrder::first_stream_first
                           : order == "last_stream_first" ? ReplayOrder::last_stream_first
                                                          : ReplayOrder::any;
}
bool rondo_stand_in_is_inside() { return Inside::depth != 0; }
std::uint64_t rondo_stand_in_faults_left() {
  const std::lock_guard lock{machine().mutex};
  return machine().faults.size();
}
std::uint64_t rondo_stand_in_calls(const char* call) {
  const std::lock_guard lock{machine().mutex};
  if (call == nullptr) return machine().log.size();
  const auto found = machine().counts.find(call);
  return found == machine().counts.end() ? 0 : found->second;
}
std::size_t rondo_stand_in_log(char* text, std::size_t size) {
  const std::lock_guard lock{machine().mutex};
  return fill(text, size, machine().log);
}
std::uint64_t rondo_stand_in_live(const char* what) {
  Machine& m = machine();
  const std::lock_guard lock{m.mutex};
  std::uint64_t devices = 0;
  for (const std::uint64_t taken : m.taken) devices += taken;
  const std::pair<const char*, std::uint64_t> all[] = {{"memory", m.blocks.size()},
                                                       {"pinned", m.pinned.size()},
                                                       {"mapped host", m.mapped_host.size()},
                                                       {"streams", m.streams.size()},
                                                       {"events", m.events.size()},
                                                       {"instances", m.instances.size()},
                                                       {"binaries", m.binaries.size()},
                                                       {"addresses", m.addresses.size()},
                                                       {"physical", m.physical.size()},
                                                       {"ranges", m.ranges.size()},
                                                       {"devices", devices},
                                                       {"inits", static_cast<std::uint64_t>(m.inits)}};
  std::uint64_t sum = 0;
  for (const auto& [name, count] : all) {
    if (what == nullptr || std::strcmp(what, name) == 0) sum += count;
  }
  return sum;
}
std::uint64_t rondo_stand_in_bytes(const char* what) { return machine().bytes_held(std::strcmp(what, "pinned") == 0); }
std::uint64_t rondo_stand_in_misuses(char* text, std::size_t size) {
  const std::lock_guard lock{machine().mutex};
  if (text != nullptr) fill(text, size, machine().misuses);
  return machine().misuses.size();
}
bool rondo_stand_in_peek(std::uint64_t address, void* to, std::size_t size) {
  const std::lock_guard lock{machine().mutex};
  const auto* const p = reinterpret_cast<const std::byte*>(address);
  const Block* const block = machine().block_of(p, size);
  if (block != nullptr) std::memcpy(to, block->inside + (p - block->address), size);
  return block != nullptr;
}
bool rondo_stand_in_poke(std::uint64_t address, const void* from, std::size_t size) {
  const std::lock_guard lock{machine().mutex};
  auto* const p = reinterpret_cast<std::byte*>(address);
  Block* const block = machine().block_of(p, size);
  if (block != nullptr) std::memcpy(block->inside + (p - block->address), from, size);
  return block != nullptr;
}

std::uint64_t rondo_stand_in_synchronised(void* stream) {
  const std::lock_guard lock{machine().mutex};
  return static_cast<StreamState*>(stream)->synchronised;
}
int rondo_stand_in_capture_mode() { return exchanged_mode; }

std::uint32_t rondo_stand_in_block_index() { return block_index; }
std::uint32_t rondo_stand_in_block_count() { return block_count; }

// --- process and device
// ----------------------------------------------------------------------------------------------

int aclInit(const char*) {
  const Entry entry("aclInit", Needs::nothing);
  if (entry.injected != ok) return entry.injected;
  if (machine().inits != 0) return initialised_already;
  ++machine().inits;
  return ok;
}
int aclFinalize() {
  const Entry entry("aclFinalize", Needs::nothing);
  if (machine().inits == 0) return misuse("aclFinalize", "not initialised");
  machine().inits = 0;
  return entry.injected;
}
const char* aclGetRecentErrMsg() {
  const std::lock_guard lock{machine().mutex};
  return recent_error.empty() ? nullptr : recent_error.c_str();
}
int aclrtGetDeviceCount(std::uint32_t* count) {
  const Entry entry("aclrtGetDeviceCount", Needs::nothing);
  if (entry.injected != ok) return entry.injected;
  *count = static_cast<std::uint32_t>(machine().limit("devices"));
  return ok;
}
const char* aclrtGetSocName() {
  const Entry entry("aclrtGetSocName", Needs::nothing);
  return entry.injected != ok ? nullptr : machine().soc.c_str();
}
int aclrtSetDevice(std::int32_t device) {
  const Entry entry("aclrtSetDevice", Needs::nothing);
  if (entry.injected != ok) return entry.injected;
  Machine& m = machine();
  if (m.inits == 0) m.misuse("aclrtSetDevice was called before aclInit or after aclFinalize");
  if (device < 0 || static_cast<std::uint64_t>(device) >= m.limit("devices")) return bad_device;
  ++m.taken[device];
  set_current_device(device, m.generation[device]);
  return ok;
}
int aclrtResetDevice(std::int32_t device) {
  const Entry entry("aclrtResetDevice", Needs::nothing);
  Machine& m = machine();
  if (device < 0 || device >= 64 || m.taken[device] == 0) return misuse("aclrtResetDevice", "not set");
  if (--m.taken[device] == 0) {
    ++m.generation[device];
    if (!m.streams.empty() || !m.events.empty() || !m.blocks.empty()) {
      m.misuse("aclrtResetDevice: streams, events or memory are still there");
    }
  }
  return entry.injected;
}
int aclrtGetDeviceInfo(std::uint32_t, int attribute, std::int64_t* value) {
  const Entry entry("aclrtGetDeviceInfo", Needs::nothing);
  if (entry.injected != ok) return entry.injected;
  const bool is_a5 = machine().npu_arch == 3510;
  switch (attribute) {
    case 1: *value = is_a5 ? 5 : 4; return ok;
    case 101:
    case 102: *value = is_a5 ? 36 : 20; return ok;
    case 201: *value = is_a5 ? 72 : 40; return ok;
    case 601: *value = machine().npu_arch; return ok;
    default: return refuse(bad_parameter, "unknown attribute");
  }
}

// --- streams and events
// ----------------------------------------------------------------------------------------------

int aclrtCreateStreamWithConfig(void** stream, std::uint32_t, std::uint32_t) {
  const Entry entry("aclrtCreateStreamWithConfig", Needs::context);
  if (entry.injected != ok) return entry.injected;
  Machine& m = machine();
  if (m.streams.size() >= m.limit("streams")) return refuse(out_of_streams, "no stream is left");
  auto* const made = new StreamState;
  made->now_ns = m.device_ns;
  m.streams.insert(made);
  m.start(*made);
  *stream = made;
  return ok;
}
int aclrtDestroyStream(void* handle) {
  Entry entry("aclrtDestroyStream", Needs::context);
  if (entry.injected == no_context) return no_context;
  StreamState* const stream = stream_of("aclrtDestroyStream", handle);
  if (stream == nullptr) return bad_parameter;
  if (stream->done != stream->queued && stream->error == ok) machine().misuse("aclrtDestroyStream: work is pending");
  if (stream->capture != nullptr) {
    machine().misuse("aclrtDestroyStream: it is being captured");
    return refuse(stream_is_captured, "the stream is being captured");
  }
  machine().stop(entry.lock, *stream);
  machine().streams.erase(stream);
  delete stream;
  return entry.injected;
}
int aclrtStreamAbort(void* handle) {
  Entry entry("aclrtStreamAbort", Needs::context);
  if (entry.injected != ok) return entry.injected;
  StreamState* const stream = stream_of("aclrtStreamAbort", handle);
  if (stream == nullptr) return bad_parameter;
  if (machine().limit("abort") == 0) return refuse(not_supported, "streams cannot be aborted");
  ++stream->aborts;
  machine().discard(*stream);
  const auto runs_on_cores = [&] {
    return std::any_of(stream->running.begin(), stream->running.end(),
                       [](const Op& op) { return op.is_ended != nullptr; });
  };
  while (runs_on_cores()) {  // a kernel that was told to end does so soon
    entry.lock.unlock();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    entry.lock.lock();
  }
  return ok;
}
int aclrtDestroyStreamForce(void* handle) {
  Entry entry("aclrtDestroyStreamForce", Needs::context);
  if (entry.injected != ok) return entry.injected;
  StreamState* const stream = stream_of("aclrtDestroyStreamForce", handle);
  if (stream == nullptr) return bad_parameter;
  if (machine().limit("destroy_by_force") == 0) return refuse(not_supported, "streams cannot be destroyed by force");
  machine().discard(*stream);
  machine().stop(entry.lock, *stream);
  machine().streams.erase(stream);
  delete stream;
  return ok;
}
int aclrtResetDeviceForce(std::int32_t device) {
  Entry entry("aclrtResetDeviceForce", Needs::context);
  if (entry.injected != ok) return entry.injected;
  Machine& m = machine();
  if (device < 0 || device >= 64) return bad_device;
  if (m.limit("reset_by_force") == 0) return refuse(not_supported, "the device cannot be reset by force");
  for (StreamState* const stream : std::set<StreamState*>(m.streams)) {
    m.discard(*stream);
    m.stop(entry.lock, *stream);
    m.streams.erase(stream);
    delete stream;
  }
  for (EventState* const event : m.events) delete event;
  m.events.clear();
  m.instances.clear();
  while (!m.blocks.empty()) m.unmap_block(m.blocks.begin()->second);
  for (const auto& [p, size] : m.pinned) std::free(reinterpret_cast<void*>(p));
  m.pinned.clear();
  m.mapped_host.clear();
  for (BinaryFile* const binary : m.binaries) delete binary;
  m.binaries.clear();
  m.taken[device] = 0;
  ++m.generation[device];
  return ok;
}
int aclrtSynchronizeStreamWithTimeout(void* handle, std::int32_t timeout_ms) {
  Entry entry("aclrtSynchronizeStreamWithTimeout", Needs::context);
  if (machine().resumes_if_awaited) machine().resume();
  StreamState* const stream = stream_of("aclrtSynchronizeStreamWithTimeout", handle);
  if (stream == nullptr) return bad_parameter;
  if (timeout_ms == 0 || timeout_ms < -1) return refuse(bad_parameter, "the limit is neither -1 nor more than 0");
  if (stream->capture != nullptr) return refuse(stream_is_captured, "the stream is being captured");
  ++stream->synchronised;
  if (entry.injected != ok) {
    // A failure of the device is reported when the device has finished; a timeout or a refusal is reported before.
    if (entry.injected / 1000 == 507 && entry.injected != wait_timed_out) machine().drain(entry.lock, *stream, -1);
    return entry.injected;
  }
  const std::uint64_t aborts = stream->aborts;
  const bool is_through = machine().drain(entry.lock, *stream, timeout_ms);
  if (stream->aborts != aborts) return refuse(stream_was_aborted, "the stream was aborted");
  if (!is_through && machine().limit("silent") != 0) {
    machine().changed.wait(entry.lock, [] { return !machine().is_held; });  // the runtime asks the device
  }
  return is_through ? take_error(*stream) : refuse(wait_timed_out, "the stream did not finish");
}
int aclrtCreateEventExWithFlag(void** event, std::uint32_t flags) {
  const Entry entry("aclrtCreateEventExWithFlag", Needs::context);
  if (entry.injected != ok) return entry.injected;
  Machine& m = machine();
  if (m.events.size() >= m.limit("events")) return refuse(out_of_streams, "no event is left");
  auto* const made = new EventState;
  made->has_time = (flags & 8) != 0;        // ACL_EVENT_TIME_LINE
  made->can_be_awaited = (flags & 1) != 0;  // ACL_EVENT_SYNC
  m.events.insert(made);
  *event = made;
  return ok;
}
int aclrtDestroyEvent(void* handle) {
  const Entry entry("aclrtDestroyEvent", Needs::context);
  if (entry.injected == no_context) return no_context;
  EventState* const event = event_of("aclrtDestroyEvent", handle);
  if (event == nullptr) return bad_parameter;
  if (is_queued(event)) return misuse("aclrtDestroyEvent", "work is pending");
  machine().events.erase(event);
  delete event;
  return entry.injected;
}
int aclrtRecordEvent(void* handle, void* on) {
  const Entry entry("aclrtRecordEvent", Needs::context);
  if (entry.injected != ok) return entry.injected;
  EventState* const event = event_of("aclrtRecordEvent", handle);
  StreamState* const stream = stream_of("aclrtRecordEvent", on);
  if (event == nullptr || stream == nullptr) return bad_parameter;
  if (stream->capture != nullptr) {
    Op op;
    op.kind = Op::Kind::record;
    machine().submit(*stream, std::move(op));
    event->captured_in = stream->capture.get();
    event->captured_at = stream->capture->ops.size() - 1;
    return ok;
  }
  event->captured_in = nullptr;
  Op op;
  op.kind = Op::Kind::record;
  op.event = event;
  op.ticket = ++event->recorded;
  machine().submit(*stream, std::move(op));
  return ok;
}
int aclrtStreamWaitEvent(void* on, void* handle) {
  const Entry entry("aclrtStreamWaitEvent", Needs::context);
  if (entry.injected != ok) return entry.injected;
  EventState* const event = event_of("aclrtStreamWaitEvent", handle);
  StreamState* const stream = stream_of("aclrtStreamWaitEvent", on);
  if (event == nullptr || stream == nullptr) return bad_parameter;
  if (!event->can_be_awaited) return refuse(not_supported, "an event that no stream can wait for");
  if (event->captured_in != nullptr && stream->capture == nullptr) {
    // The stream joins the capture that the event belongs to.
    for (StreamState* const s : machine().streams) {
      if (s->capture.get() != event->captured_in) continue;
      Graph& graph = *s->capture;
      if (!machine().take_entries(graph, static_cast<std::uint32_t>(graph.lanes.size()), 1)) {
        graph.is_lost = true;
        return refuse(out_of_queues, "no queue is left for a stream that joins a capture");
      }
      stream->capture = s->capture;
      graph.lanes.try_emplace(stream, static_cast<std::uint32_t>(graph.lanes.size()));
      break;
    }
  }
  if (stream->capture != nullptr) {
    if (event->captured_in == nullptr && event->recorded == 0) return ok;  // there is nothing to wait for
    if (event->captured_in == nullptr) return refuse(capture_dependency, "an event from outside the capture");
    if (event->captured_in != stream->capture.get()) {
      event->captured_in->is_lost = stream->capture->is_lost = true;
      return refuse(captures_meet, "an event of another capture");
    }
    Op op;
    op.kind = Op::Kind::wait;
    op.ticket = event->captured_at;
    machine().submit(*stream, std::move(op));
    return ok;
  }
  Op op;
  op.kind = Op::Kind::wait;
  op.event = event;
  op.ticket = event->recorded;
  machine().submit(*stream, std::move(op));
  return ok;
}
int aclrtQueryEventStatus(void* handle, int* status) {
  const Entry entry("aclrtQueryEventStatus", Needs::context);
  if (machine().resumes_if_awaited) machine().resume();
  if (entry.injected != ok) return entry.injected;
  const EventState* const event = event_of("aclrtQueryEventStatus", handle);
  if (event == nullptr) return bad_parameter;
  if (event->captured_in != nullptr) return refuse(event_is_captured, "the event is being captured");
  *status = event->complete >= event->recorded ? 1 : 0;
  return ok;
}
int aclrtEventElapsedTime(float* ms, void* from, void* to) {
  const Entry entry("aclrtEventElapsedTime", Needs::context);
  if (entry.injected != ok) return entry.injected;
  const EventState* const a = event_of("aclrtEventElapsedTime", from);
  const EventState* const b = event_of("aclrtEventElapsedTime", to);
  if (a == nullptr || b == nullptr) return bad_parameter;
  for (const EventState* const event : {a, b}) {
    if (!event->has_time) return refuse(event_not_over, "an event without a time line");
    if (event->recorded == 0 || event->complete < event->recorded)
      return refuse(event_not_over, "an event that is not over");
  }
  *ms = std::chrono::duration<float, std::milli>(b->time - a->time).count();
  return ok;
}
int aclrtLaunchHostFunc(void* on, void (*call)(void*), void* user) {
  const Entry entry("aclrtLaunchHostFunc", Needs::context);
  if (entry.injected != ok) return entry.injected;
  StreamState* const stream = stream_of("aclrtLaunchHostFunc", on);
  if (stream == nullptr) return bad_parameter;
  Op op;
  op.kind = Op::Kind::host_func;
  op.call = call;
  op.user = user;
  machine().submit(*stream, std::move(op));
  return ok;
}

// --- memory
// ----------------------------------------------------------------------------------------------------------

namespace {
int take_memory(void** p, std::size_t size) {
  Machine& m = machine();
  if (size == 0) return refuse(zero_size, "of 0 bytes");
  if (size > m.limit("memory") - std::min<std::uint64_t>(m.memory_in_use(), m.limit("memory"))) {
    return refuse(out_of_memory, "the device has no such memory left");
  }
  const std::size_t mapped = (size + 4095) / 4096 * 4096;
  const int file = memfd_create("device memory", 0);
  const bool sized = file >= 0 && ftruncate(file, static_cast<off_t>(mapped)) == 0;
  Block* const block = sized ? m.map_block(nullptr, file, size, mapped) : nullptr;
  if (file >= 0) close(file);
  if (block == nullptr) return refuse(out_of_memory, "the host has no memory left to stand in");
  *p = block->address;
  return ok;
}
}  // namespace

int aclrtMalloc(void** p, std::size_t size, int policy) {
  const Entry entry("aclrtMalloc", Needs::context);
  if (entry.injected != ok) return entry.injected;
  if (policy < 0 || policy > 3) return refuse(bad_parameter, "unknown pages");
  constexpr const char* counted[] = {"", "huge_pages", "normal_pages", "pages for peers"};
  if (policy != 0) ++machine().counts[counted[policy]];
  return take_memory(p, size);
}
int aclrtMallocForTaskScheduler(void** p, std::size_t size, int policy, const void*) {
  const Entry entry("aclrtMallocForTaskScheduler", Needs::context);
  if (entry.injected != ok) return entry.injected;
  return policy < 0 || policy > 2 ? refuse(bad_parameter, "unknown pages") : take_memory(p, size);
}
int aclrtHostRegisterV2(void* p, std::uint64_t size, std::uint32_t flags) {
  const Entry entry("aclrtHostRegisterV2", Needs::context);
  if (entry.injected != ok) return entry.injected;
  const auto at = reinterpret_cast<std::uintptr_t>(p);
  if (size == 0) return refuse(zero_size, "of 0 bytes");
  if (flags != 2 || at % 4096 != 0 || size % 4096 != 0 || !machine().is_pinned(p, size)) {
    return refuse(bad_parameter, "not whole pages of pinned memory, to be mapped");
  }
  if (!machine().mapped_host.try_emplace(at, size).second) return refuse(registered_already, "registered already");
  return ok;
}
int aclrtHostGetDevicePointer(void* p, void** device, std::uint32_t flags) {
  const Entry entry("aclrtHostGetDevicePointer", Needs::context);
  if (entry.injected != ok) return entry.injected;
  if (flags != 0) return refuse(zero_size, "a flag that is not 0");
  if (!machine().mapped_host.contains(reinterpret_cast<std::uintptr_t>(p)))
    return refuse(not_registered, "not registered");
  *device = p;
  return ok;
}
int aclrtHostUnregister(void* p) {
  const Entry entry("aclrtHostUnregister", Needs::context);
  if (entry.injected == no_context) return no_context;
  if (machine().mapped_host.erase(reinterpret_cast<std::uintptr_t>(p)) == 0)
    return refuse(not_registered, "not registered");
  return entry.injected;
}
int aclrtFree(void* p) {
  Entry entry("aclrtFree", Needs::context);
  if (entry.injected == no_context) return no_context;
  Machine& m = machine();
  const auto found = m.blocks.find(reinterpret_cast<std::uintptr_t>(p));
  if (found == m.blocks.end() || found->second.is_mapped_by_caller) {
    return misuse("aclrtFree", "no block begins here: freed already?");
  }
  if (m.is_in_use(p, found->second.size)) {
    m.misuse("aclrtFree: queued work touches the block");
    for (StreamState* const s : std::set<StreamState*>(m.streams)) m.drain(entry.lock, *s, -1);
  }
  m.unmap_block(m.blocks.at(reinterpret_cast<std::uintptr_t>(p)));
  return entry.injected;
}
int aclrtMallocHost(void** p, std::size_t size) {
  const Entry entry("aclrtMallocHost", Needs::context);
  if (entry.injected != ok) return entry.injected;
  if (size == 0) return refuse(zero_size, "of 0 bytes");
  constexpr std::size_t most = std::size_t{1} << 39;  // AddressSanitizer ends a program that asks for twice as much
  *p = size > most ? nullptr : std::aligned_alloc(64, (size + 63) / 64 * 64);
  if (*p == nullptr) return refuse(out_of_memory, "no host memory is left");
  std::memset(*p, 0xCD, size);
  machine().pinned[reinterpret_cast<std::uintptr_t>(*p)] = size;
  return ok;
}
int aclrtFreeHost(void* p) {
  Entry entry("aclrtFreeHost", Needs::context);
  if (entry.injected == no_context) return no_context;
  Machine& m = machine();
  const auto found = m.pinned.find(reinterpret_cast<std::uintptr_t>(p));
  if (found == m.pinned.end()) return misuse("aclrtFreeHost", "no pinned memory begins here: freed already?");
  if (m.is_in_use(p, found->second)) {
    m.misuse("aclrtFreeHost: queued work touches the memory");
    for (StreamState* const s : std::set<StreamState*>(m.streams)) m.drain(entry.lock, *s, -1);
  }
  for (const auto& [at, length] : m.mapped_host) {
    if (at >= found->first && at < found->first + found->second) m.misuse("aclrtFreeHost: still registered");
  }
  m.pinned.erase(reinterpret_cast<std::uintptr_t>(p));
  std::free(p);
  return entry.injected;
}
int aclrtMemcpyAsync(void* to, std::size_t room, const void* from, std::size_t size, int kind, void* on) {
  Entry entry("aclrtMemcpyAsync", Needs::context);
  if (entry.injected != ok) return entry.injected;
  StreamState* const stream = stream_of("aclrtMemcpyAsync", on);
  if (stream == nullptr) return bad_parameter;
  Op op;
  op.to = static_cast<std::byte*>(to);
  op.from = static_cast<const std::byte*>(from);
  op.size = size;
  return copy("aclrtMemcpyAsync", std::move(op), kind, room, *stream, entry.lock);
}
int aclrtMemcpy(void* to, std::size_t room, const void* from, std::size_t size, int kind) {
  const Entry entry("aclrtMemcpy", Needs::context);
  if (entry.injected != ok) return entry.injected;
  if (capture_forbids()) return refuse(capture_refuses, "a synchronous copy during a capture");
  if (room < size) return refuse(bad_parameter, "the destination is smaller than the copy");
  const auto side = [](const void* p) -> std::byte* {
    auto* const at = static_cast<std::byte*>(const_cast<void*>(p));
    Block* const block = machine().block_of(p, 0);
    return block == nullptr ? at : block->inside + (at - block->address);
  };
  const bool is_on_device[] = {kind == 1 || kind == 3, kind == 2 || kind == 3};  // the destination, the source
  const void* const sides[] = {to, from};
  for (int i = 0; i < 2; ++i) {
    if (!is_on_device[i]) continue;
    if (const int code = check_device_side("aclrtMemcpy", sides[i], size); code != ok) return code;
  }
  std::memmove(side(to), side(from), size);
  return ok;
}
int aclrtMemsetAsync(void* to, std::size_t room, std::int32_t value, std::size_t size, void* on) {
  const Entry entry("aclrtMemsetAsync", Needs::context);
  if (entry.injected != ok) return entry.injected;
  StreamState* const stream = stream_of("aclrtMemsetAsync", on);
  if (stream == nullptr || room < size) return bad_parameter;
  if (const int code = check_device_side("aclrtMemsetAsync", to, size); code != ok) return code;
  Op op;
  if (machine().npu_arch == 2201) ++machine().counts["set_through_host"];
  op.kind = Op::Kind::set;
  op.to = static_cast<std::byte*>(to);
  op.size = size;
  op.value = value;
  machine().submit(*stream, std::move(op));
  return ok;
}

// --- virtual memory
// --------------------------------------------------------------------------------------------------

namespace {
constexpr std::size_t page = 2097152;
bool has_virtual_memory() { return machine().limit("virtual_memory") != 0; }
}  // namespace

int aclrtMemGetAllocationGranularity(const void*, int, std::size_t* granularity) {
  const Entry entry("aclrtMemGetAllocationGranularity", Needs::context);
  if (entry.injected != ok) return entry.injected;
  if (!has_virtual_memory()) return refuse(not_supported, "no virtual memory");
  *granularity = page;
  return ok;
}
int aclrtReserveMemAddress(void** p, std::size_t size, std::size_t, void*, std::uint64_t) {
  const Entry entry("aclrtReserveMemAddress", Needs::context);
  if (entry.injected != ok) return entry.injected;
  if (!has_virtual_memory()) return refuse(not_supported, "no virtual memory");
  if (size == 0 || size % page != 0) return refuse(bad_parameter, "not a multiple of the granularity");
  void* const at = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return out_of_memory;
  machine().addresses[reinterpret_cast<std::uintptr_t>(at)] = size;
  *p = at;
  return ok;
}
int aclrtReleaseMemAddress(void* p) {
  const Entry entry("aclrtReleaseMemAddress", Needs::context);
  const auto found = machine().addresses.find(reinterpret_cast<std::uintptr_t>(p));
  if (found == machine().addresses.end()) return misuse("aclrtReleaseMemAddress", "not reserved");
  if (machine().block_of(p, 1) != nullptr) return misuse("aclrtReleaseMemAddress", "still mapped");
  munmap(p, found->second);
  machine().addresses.erase(found);
  return entry.injected;
}
int aclrtMallocPhysical(void** handle, std::size_t size, const void*, std::uint64_t) {
  const Entry entry("aclrtMallocPhysical", Needs::context);
  if (entry.injected != ok) return entry.injected;
  if (!has_virtual_memory()) return refuse(not_supported, "no virtual memory");
  Machine& m = machine();
  std::size_t used = m.memory_in_use();
  if (size > m.limit("memory") - std::min<std::uint64_t>(used, m.limit("memory"))) return out_of_memory;
  const int file = memfd_create("device memory", 0);
  if (file < 0 || ftruncate(file, static_cast<off_t>(size)) != 0) return out_of_memory;
  auto* const made = new Physical{file, size};
  m.physical.insert(made);
  *handle = made;
  return ok;
}
int aclrtFreePhysical(void* handle) {
  const Entry entry("aclrtFreePhysical", Needs::context);
  auto* const memory = static_cast<Physical*>(handle);
  if (machine().physical.erase(memory) == 0) return misuse("aclrtFreePhysical", "no such memory");
  close(memory->file);
  delete memory;
  return entry.injected;
}
int aclrtMapMem(void* p, std::size_t size, std::size_t, void* handle, std::uint64_t) {
  const Entry entry("aclrtMapMem", Needs::context);
  if (entry.injected != ok) return entry.injected;
  auto* const memory = static_cast<Physical*>(handle);
  const auto found = machine().addresses.find(reinterpret_cast<std::uintptr_t>(p));
  if (!machine().physical.contains(memory) || found == machine().addresses.end() || size > found->second) {
    return misuse("aclrtMapMem", "no such memory or address");
  }
  return machine().map_block(static_cast<std::byte*>(p), memory->file, size, size) == nullptr ? out_of_memory : ok;
}
int aclrtUnmapMem(void* p) {
  Entry entry("aclrtUnmapMem", Needs::context);
  Machine& m = machine();
  const auto found = m.blocks.find(reinterpret_cast<std::uintptr_t>(p));
  if (found == m.blocks.end() || !found->second.is_mapped_by_caller) return misuse("aclrtUnmapMem", "not mapped");
  if (m.is_in_use(p, found->second.size)) {
    m.misuse("aclrtUnmapMem: queued work touches the memory");
    for (StreamState* const s : std::set<StreamState*>(m.streams)) m.drain(entry.lock, *s, -1);
  }
  m.unmap_block(m.blocks.at(reinterpret_cast<std::uintptr_t>(p)));
  return entry.injected;
}

// --- kernels
// ---------------------------------------------------------------------------------------------------------

namespace {
struct LoadOption {
  std::int32_t type;
  std::uint32_t value[4];
};
struct LoadOptions {
  const LoadOption* options;
  std::size_t count;
};
struct PlaceHolder {
  std::uint32_t address_offset;
  std::uint32_t data_offset;
};
struct LaunchAttr {
  std::int32_t id;
  std::uint32_t value[4];
};
struct LaunchConfig {
  const LaunchAttr* attrs;
  std::size_t count;
};
/// @returns a code
int read_config(const void* config, Op& op) {
  if (config == nullptr) return ok;
  const auto& given = *static_cast<const LaunchConfig*>(config);
  for (const LaunchAttr* a = given.attrs; a != given.attrs + given.count; ++a) {
    if (a->id == 8) {
      op.timeout_us = a->value[0] + (std::uint64_t{a->value[1]} << 32);
    } else if (a->id == 1) {
      machine().counts["all_at_once"] += a->value[0];
    } else {
      return refuse(bad_parameter, "unknown attribute of a launch");
    }
  }
  return ok;
}
constexpr std::int32_t magic = 2;
constexpr std::int32_t cpu_kernel_mode = 3;

/// Reads the kernels of a binary in memory. Kernels that do not state their cores get those of an option. @returns a
/// code
int read_kernels(const void* data, std::size_t size, int core, std::list<Function>& functions) {
  if (const auto kernels = kernels_of_elf(data, size)) {
    for (const ElfKernel& k : *kernels) {
      const bool says = k.core != KernelFor::nothing_said;
      functions.push_back({k.name, k.entry, says ? static_cast<int>(k.core) - 1 : core});
    }
    return kernels->empty() ? refuse(bad_parameter, "the file has no kernel") : ok;
  }
  BinaryHeader header;
  if (data == nullptr || size < sizeof(header)) return refuse(bad_parameter, "no kernel binary");
  std::memcpy(&header, data, sizeof(header));
  if (std::memcmp(header.magic, BinaryHeader::expected, sizeof(header.magic)) != 0 ||
      size != sizeof(header) + header.entries * sizeof(BinaryEntry)) {
    return refuse(bad_parameter, "no kernel binary");
  }
  for (std::uint64_t i = 0; i < header.entries; ++i) {
    BinaryEntry e;
    std::memcpy(&e, static_cast<const std::byte*>(data) + sizeof(header) + i * sizeof(e), sizeof(e));
    functions.push_back({e.name, e.kernel, core});
    functions.back().shares_args = e.shares_args;
    functions.back().is_mixed = e.is_mixed;
    if (e.is_mixed) functions.back().core = 3;
  }
  return ok;
}
}  // namespace

int aclrtBinaryLoadFromData(const void* data, std::size_t size, const void* options, void** handle) {
  const Entry entry("aclrtBinaryLoadFromData", Needs::context);
  if (entry.injected != ok) return entry.injected;
  int core = 1;
  if (const auto* const given = static_cast<const LoadOptions*>(options); given != nullptr) {
    const LoadOption& option = *given->options;
    const bool is_core = option.type == magic && machine().limit("load_magic") != 0 &&
                         (option.value[0] == 0x41415246 || option.value[0] == 0x41494343);
    const bool is_for_cpu = option.type == cpu_kernel_mode && option.value[0] == 2;
    if (given->count != 1 || (!is_core && !is_for_cpu)) return refuse(bad_parameter, "unknown options");
    if (is_for_cpu && machine().limit("cpu_kernels") == 0) return refuse(not_supported, "no kernels on the AICPU");
    core = is_for_cpu ? 100 : option.value[0] == 0x41415246 ? 2 : 1;
  }
  auto made = std::make_unique<BinaryFile>();
  made->is_for_cpu = core == 100;
  if (const int code = read_kernels(data, size, core, made->functions); code != ok) return code;
  machine().binaries.insert(made.get());
  *handle = made.release();
  return ok;
}
int aclrtBinaryLoadFromFile(const char* path, const void* options, void** handle) {
  const Entry entry("aclrtBinaryLoadFromFile", Needs::context);
  if (entry.injected != ok) return entry.injected;
  if (path == nullptr || path[0] != '/') return refuse(bad_parameter, "the path is not absolute");
  if (options != nullptr) return refuse(bad_parameter, "no such option where a file is loaded");
  auto made = std::make_unique<BinaryFile>();
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (kernels_of_elf(bytes.data(), bytes.size())) {
    if (const int code = read_kernels(bytes.data(), bytes.size(), 1, made->functions); code != ok) return code;
  } else {
    made->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (made->library == nullptr) return refuse(bad_parameter, dlerror());
  }
  machine().binaries.insert(made.get());
  *handle = made.release();
  return ok;
}
int aclrtBinaryUnLoad(void* handle) {
  const Entry entry("aclrtBinaryUnLoad", Needs::context);
  if (entry.injected == no_context) return no_context;
  auto* const binary = static_cast<BinaryFile*>(handle);
  if (machine().binaries.erase(binary) == 0) return misuse("aclrtBinaryUnLoad", "no such binary");
  const auto runs = [&](const Op& op) {
    return op.kind == Op::Kind::kernel && std::any_of(binary->functions.begin(), binary->functions.end(),
                                                      [&](const Function& f) { return &f == op.function; });
  };
  for (const auto& [at, whole] : machine().instances) {
    for (const Graph* const graph : Machine::with_bodies(*whole)) {
      if (std::any_of(graph->ops.begin(), graph->ops.end(), runs)) {
        machine().misuse("aclrtBinaryUnLoad: a captured graph still has its kernels");
      }
    }
  }
  for (const StreamState* s : machine().streams) {
    if (std::any_of(s->queue.begin(), s->queue.end(), runs)) machine().misuse("aclrtBinaryUnLoad: kernels are queued");
  }
  if (binary->library != nullptr) dlclose(binary->library);
  delete binary;
  return entry.injected;
}
int aclrtBinaryGetFunction(void* handle, const char* name, void** function) {
  const Entry entry("aclrtBinaryGetFunction", Needs::context);
  if (entry.injected != ok) return entry.injected;
  auto* const binary = static_cast<BinaryFile*>(handle);
  if (!machine().binaries.contains(binary)) return misuse("aclrtBinaryGetFunction", "no such binary");
  if (machine().limit("kernel_names") == 0) return refuse(not_supported, "kernels have no names here");
  if (binary->is_for_cpu) return misuse("aclrtBinaryGetFunction", "of a binary for the AICPU");
  for (Function& f : binary->functions) {
    if (f.name == name) return *function = &f, ok;
  }
  if (void* const symbol = binary->library == nullptr ? nullptr : dlsym(binary->library, name); symbol != nullptr) {
    binary->functions.push_back({name, reinterpret_cast<Kernel>(symbol), 0});  // for no type of core
    binary->functions.back().shares_args =
        dlsym(binary->library, (std::string(name) + "_shares_args").c_str()) != nullptr;
    *function = &binary->functions.back();
    return ok;
  }
  return refuse(bad_parameter, std::string("the binary has no kernel ") + name);
}
int aclrtBinaryGetFunctionByEntry(void* handle, std::uint64_t number, void** function) {
  const Entry entry("aclrtBinaryGetFunctionByEntry", Needs::context);
  if (entry.injected != ok) return entry.injected;
  auto* const binary = static_cast<BinaryFile*>(handle);
  if (!machine().binaries.contains(binary)) return misuse("aclrtBinaryGetFunctionByEntry", "no such binary");
  if (machine().limit("kernel_entries") == 0) return refuse(not_supported, "kernels have no numbers here");
  for (Function& f : binary->functions) {
    const std::size_t bar = f.name.rfind('_');
    if (bar != std::string::npos && f.name.substr(bar + 1) == std::to_string(number)) return *function = &f, ok;
  }
  return refuse(bad_parameter, "the binary has no kernel of this number");
}
int aclrtBinarySetExceptionCallback(void* handle, void (*callback)(void*, void*), void* user) {
  const Entry entry("aclrtBinarySetExceptionCallback", Needs::context);
  if (entry.injected != ok) return entry.injected;
  auto* const binary = static_cast<BinaryFile*>(handle);
  if (!machine().binaries.contains(binary)) return misuse("aclrtBinarySetExceptionCallback", "no such binary");
  if (machine().limit("exception_callback") == 0) return refuse(not_supported, "there is no callback for exceptions");
  binary->on_exception = callback;
  binary->user = user;
  for (Function& f : binary->functions) f.binary = binary;
  return ok;
}
int aclrtGetArgsFromExceptionInfo(const void* info, void** args, std::uint32_t* size) {
  const Entry entry("aclrtGetArgsFromExceptionInfo", Needs::nothing);
  if (entry.injected != ok) return entry.injected;
  *args = static_cast<const Exception*>(info)->args;
  *size = static_cast<const Exception*>(info)->size;
  return ok;
}
int aclrtGetFunctionAttribute(void* function, int attribute, std::int64_t* value) {
  const Entry entry("aclrtGetFunctionAttribute", Needs::context);
  if (entry.injected != ok) return entry.injected;
  if (attribute != 1) return refuse(bad_parameter, "unknown attribute");
  *value = static_cast<const Function*>(function)->core;
  return ok;
}
int aclrtRegisterCpuFunc(void* handle, const char* name, const char* kernel, void** function) {
  const Entry entry("aclrtRegisterCpuFunc", Needs::context);
  if (entry.injected != ok) return entry.injected;
  auto* const binary = static_cast<BinaryFile*>(handle);
  if (!machine().binaries.contains(binary)) return misuse("aclrtRegisterCpuFunc", "no such binary");
  if (!binary->is_for_cpu || kernel == nullptr || *kernel == '\0') return refuse(bad_parameter, "not for the AICPU");
  for (Function& f : binary->functions) {
    if (f.name == name) return *function = &f, ok;
  }
  if (machine().limit("strict") != 0) {
    return refuse(bad_parameter, std::string("the binary has no function ") + name);
  }
  binary->functions.push_back({name, nullptr, 100, false});
  *function = &binary->functions.back();
  return ok;
}
int aclrtLaunchKernelV2(void* function, std::uint32_t blocks, const void* args, std::size_t size, const void* config,
                        void* on) {
  const Entry entry("aclrtLaunchKernelV2", Needs::context);
  if (entry.injected != ok) return entry.injected;
  StreamState* const stream = stream_of("aclrtLaunchKernelV2", on);
  if (stream == nullptr || blocks == 0) return bad_parameter;
  if (const int code = check_device_side("aclrtLaunchKernelV2", args, size); code != ok) return code;
  if (reinterpret_cast<std::uintptr_t>(args) % 8 != 0) machine().misuse("aclrtLaunchKernelV2: args not at 8 bytes");
  Op op;
  op.kind = Op::Kind::kernel;
  if (const int code = read_config(config, op); code != ok) return code;
  op.function = static_cast<const Function*>(function);
  if (op.function->is_mixed) op.is_ended = std::make_shared<std::atomic<bool>>(false);
  if (op.function->core == 1) ++machine().counts["on_cube_cores"];
  if (op.function->core == 2) ++machine().counts["on_vector_cores"];
  op.blocks = blocks;
  op.from = static_cast<const std::byte*>(args);
  op.size = size;
  machine().submit(*stream, std::move(op));
  return ok;
}
int aclrtLaunchKernelWithHostArgs(void* function, std::uint32_t blocks, void* on, const void* config, void* args,
                                  std::size_t size, const void* placeholders, std::size_t count) {
  const Entry entry("aclrtLaunchKernelWithHostArgs", Needs::context);
  if (entry.injected != ok) return entry.injected;
  StreamState* const stream = stream_of("aclrtLaunchKernelWithHostArgs", on);
  if (stream == nullptr || blocks == 0 || size == 0) return bad_parameter;
  Op op;
  op.kind = Op::Kind::kernel;
  if (const int code = read_config(config, op); code != ok) return code;
  op.function = static_cast<const Function*>(function);
  if (op.function->is_mixed) op.is_ended = std::make_shared<std::atomic<bool>>(false);
  if (op.function->core == 1) ++machine().counts["on_cube_cores"];
  if (op.function->core == 2) ++machine().counts["on_vector_cores"];
  op.blocks = blocks;
  // The runtime writes the future address of each placeholder's data into the caller's own bytes, and copies all bytes
  // before it returns. A capture keeps this copy for every replay.
  op.bytes.resize(size);
  for (std::size_t i = 0; i < count; ++i) {
    const PlaceHolder& place = static_cast<const PlaceHolder*>(placeholders)[i];
    if (std::size_t{place.address_offset} + sizeof(void*) > size || place.data_offset >= size) {
      return refuse(bad_parameter, "a placeholder leaves the args");
    }
    const std::byte* const data = op.bytes.data() + place.data_offset;
    std::memcpy(static_cast<std::byte*>(args) + place.address_offset, &data, sizeof(data));
  }
  std::memcpy(op.bytes.data(), args, size);
  op.size = size;
  if (size > machine().limit("launch_bytes")) ++machine().counts["args_copies"];
  machine().submit(*stream, std::move(op));
  return ok;
}

// --- capture
// ---------------------------------------------------------------------------------------------------------

namespace {
/// Whether the last operation of each further stream is the record of an event that another stream waits for.
bool is_joined(const Graph& graph) {
  std::vector<std::uint64_t> last(graph.lanes.size(), graph.ops.size());
  for (std::uint64_t i = 0; i < graph.ops.size(); ++i) last[graph.ops[i].lane] = i;
  return std::all_of(last.begin() + 1, last.end(), [&](std::uint64_t at) {
    return at < graph.ops.size() && graph.ops[at].kind == Op::Kind::record &&
           std::any_of(
               graph.ops.begin(), graph.ops.end(),
               [&](const Op& op) { return op.kind == Op::Kind::wait && op.ticket == at; });
  });
}
}  // namespace

int aclmdlRICaptureBegin(void* on, int mode) {
  const Entry entry("aclmdlRICaptureBegin", Needs::context);
  if (entry.injected != ok) return entry.injected;
  StreamState* const stream = stream_of("aclmdlRICaptureBegin", on);
  return stream == nullptr ? bad_parameter : begin_capture(*stream, std::make_shared<Graph>(), mode);
}
int aclmdlRICaptureToModelRIBegin(void* on, void* body, int mode) {
  const Entry entry("aclmdlRICaptureToModelRIBegin", Needs::context);
  if (entry.injected != ok) return entry.injected;
  StreamState* const stream = stream_of("aclmdlRICaptureToModelRIBegin", on);
  if (stream == nullptr) return bad_parameter;
  for (const StreamState* const s : machine().streams) {
    if (s->capture == nullptr) continue;
    for (const auto& condition : s->capture->conditions) {
      for (const auto& graph : condition->bodies) {
        if (graph.get() != body) continue;
        if (graph->body != Graph::Body::waits) return refuse(graph_is_captured, "the body is captured already");
        const int code = begin_capture(*stream, graph, mode);
        if (code == ok) graph->body = Graph::Body::is_captured;
        return code;
      }
    }
  }
  return misuse("aclmdlRICaptureToModelRIBegin", "no body of a graph that is being captured");
}
int aclmdlRICondHandleCreate(void* graph, std::uint32_t value, int flags, void** handle) {
  const Entry entry("aclmdlRICondHandleCreate", Needs::context);
  if (entry.injected != ok) return entry.injected;
  Graph* const of = captured(graph);
  if (of == nullptr || (flags != 0 && flags != 1)) return refuse(bad_parameter, "the graph is not being captured");
  if (!has_conditional_tasks()) return refuse(not_supported, "no conditional tasks");
  void* word = nullptr;
  if (const int code = take_memory(&word, sizeof(std::uint64_t)); code != ok) return code;
  std::memset(machine().block_of(word, sizeof(std::uint64_t))->inside, 0, sizeof(std::uint64_t));
  const auto condition = std::make_shared<Condition>();
  condition->of = of;
  condition->word = static_cast<std::byte*>(word);
  condition->at_begin = value;
  condition->is_set_at_begin = flags == 1;
  of->conditions.push_back(condition);
  *handle = condition.get();
  return ok;
}
int aclmdlRICondHandleGetCondPtr(void* handle, std::uint64_t** word) {
  const Entry entry("aclmdlRICondHandleGetCondPtr", Needs::context);
  if (entry.injected != ok) return entry.injected;
  if (!has_conditional_tasks()) return refuse(not_supported, "no conditional tasks");
  const auto condition = condition_of(handle);
  if (condition == nullptr) return misuse("aclmdlRICondHandleGetCondPtr", "no such condition");
  *word = reinterpret_cast<std::uint64_t*>(condition->word);
  return ok;
}
int aclmdlRIAddCondTask(ConditionalTask task, void* on, std::uint32_t flags) {
  const Entry entry("aclmdlRIAddCondTask", Needs::context);
  if (entry.injected != ok) return entry.injected;
  StreamState* const stream = stream_of("aclmdlRIAddCondTask", on);
  const auto condition = condition_of(task.condition);
  if (stream == nullptr || flags != 0 || task.kind < 0 || task.kind > 2 || task.body == nullptr) return bad_parameter;
  if (condition == nullptr) return misuse("aclmdlRIAddCondTask", "no such condition");
  if (!condition->bodies.empty()) return refuse(bad_parameter, "the condition has a task already");
  if (stream->capture == nullptr) return refuse(stream_is_not_captured, "the stream is not being captured");
  if (!has_conditional_tasks()) return refuse(not_supported, "no conditional tasks");
  if (stream->capture.get() != condition->of) return refuse(bad_parameter, "the condition is of another graph");
  if (stream->capture->origin != stream) return refuse(not_supported, "the stream has joined the capture");
  const bool is_right = task.kind == 0   ? task.bodies == 1 || task.bodies == 2
                        : task.kind == 1 ? task.bodies == 1
                                         : task.bodies != 0;
  if (!is_right) return refuse(bad_parameter, "a wrong number of bodies");
  condition->kind = static_cast<Condition::Kind>(task.kind);
  for (std::uint32_t b = 0; b < task.bodies; ++b) {
    condition->bodies.push_back(std::make_shared<Graph>());
    condition->bodies.back()->body = Graph::Body::waits;
    task.body[b] = condition->bodies.back().get();
  }
  Op op;
  op.kind = Op::Kind::condition;
  op.condition = condition;
  machine().submit(*stream, std::move(op));
  return ok;
}
int aclmdlRICaptureEnd(void* on, void** instance) {
  const Entry entry("aclmdlRICaptureEnd", Needs::context);
  if (entry.injected == no_context) return no_context;
  StreamState* const stream = stream_of("aclmdlRICaptureEnd", on);
  *instance = nullptr;
  if (stream == nullptr) return bad_parameter;
  if (stream->capture == nullptr) return refuse(bad_parameter, "the stream is not being captured");
  const std::shared_ptr<Graph> graph = stream->capture;
  for (const auto& [s, lane] : graph->lanes) s->capture = nullptr;
  for (EventState* const event : machine().events) {
    if (event->captured_in == graph.get()) event->captured_in = nullptr;
  }
  const bool is_body = graph->body != Graph::Body::none;
  const auto end = [&](int code, const char* why) {
    if (!is_body) machine().release_conditions(*graph);
    return refuse(code, why);
  };
  if (entry.injected != ok) return end(entry.injected, "an injected fault");
  if (graph->mode != 2 && graph->owner != std::this_thread::get_id())
    return end(capture_of_another_thread, "begun by another thread");
  if (graph->is_lost) return end(capture_is_lost, "a call that belongs to the capture failed");
  if (!is_joined(*graph)) return end(capture_unjoined, "a stream was not joined");
  for (const auto& condition : graph->conditions) {
    for (const auto& body : condition->bodies) {
      if (body->body != Graph::Body::is_done) return end(body_is_being_captured, "a body has not been captured");
    }
  }
  *instance = graph.get();
  if (is_body) {
    graph->body = Graph::Body::is_done;
  } else {
    machine().instances[graph.get()] = graph;
  }
  return ok;
}
int aclmdlRICaptureGetInfo(void* on, int* status, void** instance) {
  const Entry entry("aclmdlRICaptureGetInfo", Needs::context);
  if (entry.injected != ok) return entry.injected;
  const StreamState* const stream = stream_of("aclmdlRICaptureGetInfo", on);
  if (stream == nullptr) return bad_parameter;
  *status = stream->capture == nullptr ? 0 : stream->capture->tells_loss ? 2 : 1;
  *instance = stream->capture.get();
  return ok;
}
int aclmdlRICaptureThreadExchangeMode(int* mode) {
  const Entry entry("aclmdlRICaptureThreadExchangeMode", Needs::context);
  if (entry.injected != ok) return entry.injected;
  if (mode == nullptr || *mode < 0 || *mode > 2) return refuse(bad_parameter, "no mode of captures");
  std::swap(*mode, exchanged_mode);
  return ok;
}
int aclmdlRIExecuteAsync(void* instance, void* on) {
  const Entry entry("aclmdlRIExecuteAsync", Needs::context);
  if (entry.injected != ok) return entry.injected;
  StreamState* const stream = stream_of("aclmdlRIExecuteAsync", on);
  const auto found = machine().instances.find(instance);
  if (stream == nullptr) return bad_parameter;
  if (found == machine().instances.end()) return misuse("aclmdlRIExecuteAsync", "no such graph");
  if (stream->capture != nullptr) return refuse(stream_is_captured, "a graph cannot be nested in another capture");
  Op op;
  op.kind = Op::Kind::graph;
  op.graph = found->second;
  machine().submit(*stream, std::move(op));
  return ok;
}
int aclmdlRIDestroy(void* instance) {
  const Entry entry("aclmdlRIDestroy", Needs::context);
  if (entry.injected == no_context) return no_context;
  const auto found = machine().instances.find(instance);
  if (found == machine().instances.end()) return misuse("aclmdlRIDestroy", "no such graph");
  for (const StreamState* s : machine().streams) {
    const auto runs = [&](const Op& op) { return op.graph.get() == instance; };
    if (std::any_of(s->queue.begin(), s->queue.end(), runs) ||
        std::any_of(s->running.begin(), s->running.end(), runs)) {
      machine().misuse("aclmdlRIDestroy: its execution is pending");
    }
  }
  machine().release_conditions(*found->second);
  machine().instances.erase(found);
  return entry.injected;
}

}  // extern "C"
