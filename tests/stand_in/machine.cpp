// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include "machine.hpp"

#include "caches.hpp"

#include <random.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <exception>

namespace stand_in {

thread_local bool in_host_func = false;
thread_local std::string recent_error;
thread_local std::uint32_t block_index = 0;
thread_local std::uint32_t block_count = 1;

namespace {

thread_local int device_of_thread = -1;
thread_local std::uint64_t generation_of_thread = 0;

constexpr std::byte beyond{0xA5};   // the bytes after a block
constexpr std::byte garbage{0xCD};  // the first contents of a block
constexpr std::size_t filled = 65536;

/// The text about a failed kernel, which names the kernel only after a page of registers, as the runtime's text does.
std::string words_about(const std::string& kernel) {
  std::string words = "\nEZ9999: Inner Error!\nEZ9999: ";
  for (int core = 0; core < 12; ++core) {
    words +=
        "The error from device(chipId:0, dieId:0), serial number is 1, there is an aivec error exception, core id is " +
        std::to_string(core) + ", error code = 0x800000, dump info: pc start: 0x12c0c1200000.\n        ";
  }
  return words +
         "[DFX_INFO]AI Core kernel execution failed, device_id=0, stream_id=3, report_stream_id=3, task_id=1, "
         "flip_num=0, fault kernel_name=" +
         kernel + ", fault kernel info ext=none, program id=1, hash=0.";
}

}  // namespace

std::uint64_t hash_of(const void* p, std::size_t size) {
  std::uint64_t hash = 0xCBF2'9CE4'8422'2325;
  const auto* const bytes = static_cast<const unsigned char*>(p);
  for (std::size_t i = 0; i < size; ++i) hash = (hash ^ bytes[i]) * 0x100'0000'01B3;
  return hash;
}

int current_device() {
  if (device_of_thread < 0) return -1;
  Machine& m = Machine::instance();
  return m.generation[device_of_thread] == generation_of_thread ? device_of_thread : -1;
}
void set_current_device(int device, std::uint64_t generation) {
  device_of_thread = device;
  generation_of_thread = generation;
}

Machine& Machine::instance() {
  static Machine& machine = *[] {
    auto* const made = new Machine;  // never destroyed: callers may close after main
    const char* const chip = std::getenv("RONDO_STAND_IN_CHIP");
    made->soc = "Ascend910B4";
    if (chip != nullptr && std::strcmp(chip, "a5") == 0) {
      made->soc = "Ascend950PR_9579";
      made->npu_arch = 3510;
      made->guard = 0;
    }
    return made;
  }();
  return machine;
}

void Machine::misuse(std::string text) { misuses.push_back(std::move(text)); }

std::uint64_t Machine::limit(const char* what) const {
  const auto found = limits.find(what);
  if (found != limits.end()) return found->second;
  const std::string name = what;
  if (name == "memory") return std::uint64_t{1} << 36;
  if (name == "streams") return 1984;
  if (name == "queues") return 1984;
  if (name == "events") return 65536;
  if (name == "devices") return 1;
  if (name == "launch_bytes") return 1024;
  return name == "virtual_memory" || name == "old_driver" || name == "silent" ? 0 : 1;
}

std::size_t Machine::memory_in_use() const {
  std::size_t sum = 0;
  for (const auto& [at, block] : blocks) sum += (block.size + 31) / 32 * 32 + guard;
  return sum;
}

std::uint64_t Machine::bytes_held(bool is_pinned_memory) {
  const std::lock_guard lock{mutex};
  std::uint64_t sum = 0;
  for (const auto& [at, block] : blocks) sum += is_pinned_memory ? 0 : block.size;
  for (const auto& [at, size] : pinned) sum += is_pinned_memory ? size : 0;
  return sum;
}

Block* Machine::block_of(const void* p, std::size_t size) {
  const auto at = reinterpret_cast<std::uintptr_t>(p);
  auto next = blocks.upper_bound(at);
  if (next == blocks.begin()) return nullptr;
  Block& block = std::prev(next)->second;
  const std::uintptr_t offset = at - std::prev(next)->first;
  return offset <= block.size && size <= block.size - offset ? &block : nullptr;
}

bool Machine::is_pinned(const void* p, std::size_t size) const {
  const auto at = reinterpret_cast<std::uintptr_t>(p);
  auto next = pinned.upper_bound(at);
  if (next == pinned.begin()) return false;
  const auto& [begin, length] = *std::prev(next);
  return at - begin <= length && size <= length - (at - begin);
}

Block* Machine::map_block(std::byte* at, int file, std::size_t size, std::size_t mapped) {
  void* const address = mmap(at, mapped, working == 0 ? PROT_NONE : PROT_READ | PROT_WRITE,
                             MAP_SHARED | (at == nullptr ? 0 : MAP_FIXED), file, 0);
  if (address == MAP_FAILED) return nullptr;
  void* const inside = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (inside == MAP_FAILED) {
    munmap(address, mapped);
    return nullptr;
  }
  Block block{static_cast<std::byte*>(address), static_cast<std::byte*>(inside), size, mapped, at != nullptr};
  std::memset(block.inside, static_cast<int>(garbage), std::min(size, filled));
  if (!block.is_mapped_by_caller) std::memset(block.inside + size, static_cast<int>(beyond), mapped - size);
  return &(blocks[reinterpret_cast<std::uintptr_t>(address)] = block);
}

void Machine::unmap_block(Block& block) {
  if (!block.is_mapped_by_caller) {
    const std::byte* const end = block.inside + block.mapped;
    if (std::any_of(static_cast<const std::byte*>(block.inside + block.size), end,
                    [](std::byte b) { return b != beyond; })) {
      misuse("a kernel wrote past the end of a block of " + std::to_string(block.size) + " bytes");
    }
  }
  munmap(block.inside, block.mapped);
  const auto at = reinterpret_cast<std::uintptr_t>(block.address);
  if (block.is_mapped_by_caller) {
    (void)mmap(block.address, block.mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  } else {
    munmap(block.address, block.mapped);
  }
  blocks.erase(at);
}

void Machine::open_memory() {
  if (working++ != 0) return;
  for (auto& [at, block] : blocks) (void)mprotect(block.address, block.mapped, PROT_READ | PROT_WRITE);
}
void Machine::close_memory() {
  if (--working != 0) return;
  for (auto& [at, block] : blocks) (void)mprotect(block.address, block.mapped, PROT_NONE);
}

namespace {

bool overlaps(const void* p, std::size_t size, const void* q, std::size_t other) {
  const auto* const a = static_cast<const std::byte*>(p);
  const auto* const b = static_cast<const std::byte*>(q);
  return q != nullptr && a < b + other && b < a + size;
}

bool touches(const Op& op, const void* p, std::size_t size) {
  const auto is_touched_by = [&](const Graph& graph) {
    return std::any_of(graph.ops.begin(), graph.ops.end(), [&](const Op& inner) { return touches(inner, p, size); });
  };
  if (op.kind == Op::Kind::graph) return is_touched_by(*op.graph);
  if (op.kind == Op::Kind::condition) {
    return std::any_of(op.condition->bodies.begin(), op.condition->bodies.end(),
                       [&](const auto& body) { return is_touched_by(*body); });
  }
  if (overlaps(p, size, op.to, op.size) || (op.bytes.empty() && overlaps(p, size, op.from, op.size))) return true;
  if (op.kind != Op::Kind::kernel) return false;
  // A word that looks like an address in the block counts as one.
  const std::byte* words = op.bytes.data();
  if (op.bytes.empty()) {
    const Block* const args = Machine::instance().block_of(op.from, op.size);
    if (args == nullptr) return false;
    words = args->inside + (op.from - args->address);
  }
  for (std::size_t i = 0; i + sizeof(void*) <= op.size; i += sizeof(void*)) {
    const std::byte* word = nullptr;
    std::memcpy(&word, words + i, sizeof(word));
    if (word != nullptr && overlaps(p, size, word, 1)) return true;
  }
  return false;
}

}  // namespace

bool Machine::is_in_use(const void* p, std::size_t size) {
  return std::any_of(streams.begin(), streams.end(), [&](const StreamState* s) {
    const auto touched = [&](const Op& op) { return touches(op, p, size); };
    return std::any_of(s->queue.begin(), s->queue.end(), touched) ||
           std::any_of(s->running.begin(), s->running.end(), touched);
  });
}

void Machine::start(StreamState& stream) {
  stream.number = streams_begun++;
  stream.worker = std::thread([this, &stream] {
    const Inside inside;
    work(stream);
  });
}

void Machine::submit(StreamState& stream, Op op) {
  if (stream.capture != nullptr) {
    op.lane = stream.capture->lanes[&stream];
    std::uint64_t entries = op.kind == Op::Kind::wait ? 4 : 1;
    if (op.kind == Op::Kind::condition) entries = op.condition->kind == Condition::Kind::loop ? 3 : 2;
    if (!take_entries(*stream.capture, op.lane, entries)) {
      stream.capture->is_lost = stream.capture->tells_loss = true;
    }
    stream.capture->ops.push_back(std::move(op));
    return;
  }
  stream.queue.push_back(std::move(op));
  ++stream.queued;
  stream.work.notify_one();
}

std::uint64_t Machine::queues_in_use() const {
  std::set<const Graph*> graphs;
  const auto add = [&](Graph& whole) {
    for (const Graph* const graph : with_bodies(whole)) graphs.insert(graph);
  };
  for (const auto& [at, graph] : instances) add(*graph);
  for (const StreamState* const stream : streams) {
    if (stream->capture != nullptr) add(*stream->capture);
  }
  std::uint64_t queues = 0;
  for (const Graph* const graph : graphs) {
    for (const std::uint64_t n : graph->entries) queues += (n + 2007) / 2008;
  }
  return queues;
}

bool Machine::take_entries(Graph& graph, std::uint32_t lane, std::uint64_t entries) {
  if (graph.entries.size() <= lane) graph.entries.resize(lane + 1, 0);
  const bool is_another = (graph.entries[lane] + entries + 2007) / 2008 != (graph.entries[lane] + 2007) / 2008;
  if (is_another && queues_in_use() >= limit("queues")) return false;
  graph.entries[lane] += entries;
  return true;
}

std::vector<Graph*> Machine::with_bodies(Graph& graph) {
  std::vector<Graph*> all{&graph};
  for (std::size_t g = 0; g < all.size(); ++g) {
    for (const auto& condition : all[g]->conditions) {
      for (const auto& body : condition->bodies) all.push_back(body.get());
    }
  }
  return all;
}

void Machine::release_conditions(Graph& graph) {
  for (Graph* const each : with_bodies(graph)) {
    for (const auto& condition : each->conditions) {
      const auto found = blocks.find(reinterpret_cast<std::uintptr_t>(condition->word));
      if (found != blocks.end()) unmap_block(found->second);
      condition->word = nullptr;
    }
  }
}

void Machine::resume() {
  is_held = is_hung = resumes_if_awaited = false;
  changed.notify_all();
  for (StreamState* const stream : streams) stream->work.notify_one();
}

bool Machine::drain(std::unique_lock<std::mutex>& lock, StreamState& stream, std::int64_t timeout_ms) {
  const std::uint64_t all = stream.queued;
  const auto finished = [&] { return stream.done >= all; };
  if (finished()) return true;
  const auto awaited = stream.awaited.insert(all);
  if (timeout_ms < 0) {
    if (is_hung) misuse("a wait without a limit, for a device that hangs");
    resume();
    changed.wait(lock, finished);
  } else {
    // The system clock: waits on the steady one are invisible to g++ 12's thread sanitizer.
    changed.wait_until(lock, std::chrono::system_clock::now() + std::chrono::milliseconds(timeout_ms), finished);
    // A device that only has too little of a busy machine is waited for, since on a real one the work takes less time.
    changed.wait(lock, [&] { return finished() || is_held || cores_have_kernel(); });
  }
  stream.awaited.erase(awaited);
  return finished();
}

void Machine::discard(StreamState& stream) {
  stream.queue.clear();
  stream.done = stream.queued;
  for (const Op& op : stream.running) {
    if (op.is_ended == nullptr) continue;
    op.is_ended->store(true, std::memory_order_release);
    --stream.done;  // the kernel ends soon and is counted when it does
  }
  changed.notify_all();
}

bool Machine::cores_have_kernel() const {
  const auto is_for_cores = [](const Op& op) { return op.kind == Op::Kind::kernel && op.function->is_mixed; };
  return std::any_of(streams.begin(), streams.end(), [&](const StreamState* stream) {
    return std::any_of(stream->queue.begin(), stream->queue.end(), is_for_cores) ||
           std::any_of(stream->running.begin(), stream->running.end(), is_for_cores);
  });
}

void Machine::stop(std::unique_lock<std::mutex>& lock, StreamState& stream) {
  drain(lock, stream, -1);
  stream.stopping = true;
  stream.work.notify_one();
  lock.unlock();
  stream.worker.join();
  lock.lock();
}

void Machine::work(StreamState& stream) {
  std::unique_lock lock{mutex};
  // With a seed other than 0, operations begin later than they could, each stream's in its own way.
  auto delays = rondo::test::make_random(stream.number);
  bool holds_memory = false;
  for (;;) {
    if (stream.queue.empty() && holds_memory) {
      close_memory();
      holds_memory = false;
    }
    stream.work.wait(lock, [&] { return stream.stopping || (!is_held && !stream.queue.empty()); });
    if (stream.queue.empty()) break;
    stream.running.push_back(std::move(stream.queue.front()));
    stream.queue.pop_front();
    Op& op = stream.running.front();

    // The device continues after an operation that fails: the stream continues, and its events report nothing. Only the
    // next synchronisation of this stream returns the first failure. All operations after a failed copy are skipped
    // until then: a kernel would use bytes that are no addresses, and would end this process.
    int code = ok;
    if (op.kind == Op::Kind::wait) {
      changed.wait(lock, [&] { return op.event->complete >= op.ticket; });
    } else if (op.kind != Op::Kind::record && !stream.skips) {
      std::string text, kernel;
      for (auto fault = faults.begin(); fault != faults.end(); ++fault) {
        if (fault->call != "device" || (!fault->is_each && --fault->uses_left != 0)) continue;
        code = fault->code;
        text = "the device failed because of an injected fault";
        if (!fault->is_each) faults.erase(fault);
        break;
      }
      if (!holds_memory && (op.kind == Op::Kind::kernel || op.kind == Op::Kind::graph)) {
        open_memory();
        holds_memory = true;
      }
      lock.unlock();
      if (rondo::test::run_seed() != 0 && delays() % 8 == 0) {
        std::this_thread::sleep_for(std::chrono::microseconds(delays() % 100));
      }
      if (code == ok) code = run(op, text, kernel);
      lock.lock();
      stream.skips = code != ok && op.kind != Op::Kind::kernel && op.kind != Op::Kind::graph;
      if (code != ok && stream.error == ok) {
        stream.error = code;
        stream.error_text = std::move(text);
        if (!kernel.empty()) stream.error_text += words_about(kernel);
      }
    }
    pass_time(stream, op);
    if (op.kind == Op::Kind::record) {
      op.event->complete = std::max(op.event->complete, op.ticket);
      op.event->time = std::chrono::steady_clock::now();
    }
    // This comes after closing the device's memory, so that a caller that has waited for the device finds it closed.
    if (stream.queue.empty() && holds_memory) {
      close_memory();
      holds_memory = false;
    }
    const bool is_record = op.kind == Op::Kind::record;
    stream.running.clear();
    ++stream.done;
    // Threads whose operation is still to come are not woken.
    if (is_record || (!stream.awaited.empty() && *stream.awaited.begin() <= stream.done)) changed.notify_all();
  }
}

void Machine::pass_time(StreamState& stream, const Op& op) {
  if (costs.empty()) return;  // the clock stands still
  if (op.kind == Op::Kind::kernel) stream.now_ns += kernel_ns(op);
  if (op.kind == Op::Kind::graph) stream.now_ns += play_graph(*op.graph);
  if (op.kind == Op::Kind::wait) stream.now_ns = std::max(stream.now_ns, op.event->at_ns) + wait_ns();
  if (op.kind == Op::Kind::record) op.event->at_ns = stream.now_ns;
  device_ns = std::max(device_ns, stream.now_ns);
}

int Machine::run(Op& op, std::string& text, std::string& kernel) {
  const auto inside = [this](const std::byte* p, std::size_t size) -> std::byte* {
    const std::lock_guard lock{mutex};
    Block* const block = block_of(p, size);
    if (block == nullptr) {
      if (limit("strict") != 0) misuse("an operation that ran touches device memory that is not there any more");
      return nullptr;
    }
    return block->inside + (p - block->address);
  };
  switch (op.kind) {
    case Op::Kind::copy_in: {
      std::byte* const to = inside(op.to, op.size);
      if (to == nullptr) return copy_failed;
      if (op.bytes.empty() && op.hash != 0 && hash_of(op.from, op.size) != op.hash) {
        const std::lock_guard lock{mutex};
        misuse("host bytes were changed before a copy of " + std::to_string(op.size) + " of them had run");
      }
      std::memcpy(to, op.bytes.empty() ? op.from : op.bytes.data(), op.size);
      if (npu_arch == 3510) host_wrote(to, op.to, op.size);
      return ok;
    }
    case Op::Kind::copy_out: {
      const std::byte* const from = inside(op.from, op.size);
      if (from == nullptr) return copy_failed;
      std::memcpy(op.to, from, op.size);
      return ok;
    }
    case Op::Kind::copy_inside: {
      std::byte* const to = inside(op.to, op.size);
      const std::byte* const from = inside(op.from, op.size);
      if (to == nullptr || from == nullptr) return copy_failed;
      std::memmove(to, from, op.size);
      return ok;
    }
    case Op::Kind::set: {
      std::byte* const to = inside(op.to, op.size);
      if (to == nullptr) return kernel_exception;
      std::memset(to, op.value, op.size);
      return ok;
    }
    case Op::Kind::kernel: {
      if (!op.function->is_there) {
        text = "the AICPU found no such function";
        return cpu_kernel_exception;
      }
      if (op.bytes.empty() && inside(op.from, op.size) == nullptr) return kernel_exception;
      const int code = run_kernel(op, text);
      if (code == ok) return ok;
      kernel = op.function->name;
      Exception report{const_cast<std::byte*>(op.bytes.empty() ? op.from : op.bytes.data()),
                       static_cast<std::uint32_t>(op.size)};
      if (const BinaryFile* const from = op.function->binary; from != nullptr && from->on_exception != nullptr) {
        from->on_exception(&report, from->user);
      }
      return code;
    }
    case Op::Kind::host_func:
      in_host_func = true;
      op.call(op.user);
      in_host_func = false;
      return ok;
    case Op::Kind::graph:
      for (Graph* const each : with_bodies(*op.graph)) {
        for (const auto& condition : each->conditions) {
          if (std::uint64_t* const word = word_of(*condition); condition->is_set_at_begin && word != nullptr) {
            *word = condition->at_begin;
          }
        }
      }
      return run_graph(*op.graph, text, kernel);
    case Op::Kind::condition: return run_condition(*op.condition, text, kernel);
    case Op::Kind::record:
    case Op::Kind::wait: return ok;  // in a graph, these only decide the order
  }
  return ok;
}

int Machine::run_kernel(const Op& op, std::string& text) {
  if (op.function->is_mixed) return run_on_cores(op, text);
  const std::size_t stride = op.function->shares_args ? 0 : op.size / op.blocks;
  const auto* const first = op.bytes.empty() ? op.from : op.bytes.data();
  std::uint64_t takes_us = 0;
  {
    const std::lock_guard lock{mutex};
    if (const auto found = slow.find(op.function->name); found != slow.end()) takes_us = found->second;
  }
  const bool is_ended = op.timeout_us != 0 && takes_us > op.timeout_us;
  std::this_thread::sleep_for(std::chrono::microseconds(is_ended ? op.timeout_us : takes_us));
  if (is_ended) {
    text = "the kernel ran longer than it may";
    return kernel_timed_out;
  }
  try {
    block_count = op.blocks;
    for (std::uint32_t b = 0; b < op.blocks; ++b) {
      block_index = b;
      op.function->kernel(reinterpret_cast<std::int64_t*>(const_cast<std::byte*>(first) + b * stride));
    }
  } catch (const std::exception& e) {
    text = e.what();
    return kernel_exception;
  } catch (...) {
    text = "an exception of unknown type";
    return kernel_exception;
  }
  return ok;
}

}  // namespace stand_in
