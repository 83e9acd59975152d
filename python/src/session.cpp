// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include "session.hpp"

#include "../../src/erased/session.hpp"
#include "errors.hpp"
#include "graph.hpp"
#include "host_memory.hpp"
#include "kernel.hpp"
#include "round.hpp"

#include <pybind11/stl.h>

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace py = pybind11;

namespace rondo::python {

using erased::AnyBindings;
using erased::AnySession;

namespace {

/// How often this process was forked from another one since the module was imported. Engines have threads, and drivers
/// have state, that no child has.
std::uint32_t forks = 0;

/// Bindings, and what keeps their memory alive.
struct Bound {
  std::vector<HostMemory> memory;     ///< dies last
  std::vector<SessionArray*> arrays;  ///< those of the memory that are a session's, which its caller may release
  std::unique_ptr<AnyBindings> bindings;
};

/// Arrays by tensor name, as CPython passes arguments by name.
struct Arrays {
  PyObject* const* values = nullptr;
  PyObject* names = nullptr;  ///< a tuple, or null if there are none

  [[nodiscard]] Py_ssize_t size() const noexcept { return names == nullptr ? 0 : PyTuple_GET_SIZE(names); }
  [[nodiscard]] py::handle name(Py_ssize_t a) const noexcept { return PyTuple_GET_ITEM(names, a); }
};

/// Packed memory in place of an array with strides, for a copy outside of rounds; the array's own where it has none.
class Packed {
 public:
  Packed(const HostMemory& memory, bool is_read) : memory_{memory}, bytes_(memory.layout ? memory.layout->bytes() : 0) {
    if (memory.layout && is_read) memory.layout->pack(bytes_.data(), static_cast<const std::byte*>(memory.data));
  }
  [[nodiscard]] void* data() noexcept { return memory_.layout ? bytes_.data() : memory_.data; }
  [[nodiscard]] const void* data() const noexcept { return memory_.layout ? bytes_.data() : memory_.data; }
  /// Copies what was written here to the array.
  void scatter() noexcept {
    if (memory_.layout) memory_.layout->scatter(static_cast<std::byte*>(memory_.data), bytes_.data());
  }

 private:
  const HostMemory& memory_;
  std::vector<std::byte> bytes_;
};

/// Releases the GIL in a block; cheaper than what pybind11 has.
class WithoutGil {
 public:
  WithoutGil() noexcept : state_{PyEval_SaveThread()} {}
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;
  ~WithoutGil() { PyEval_RestoreThread(state_); }

 private:
  PyThreadState* state_;
};

class Session;
/// All sessions of this process; guarded by the GIL.
std::vector<Session*>& all_sessions() {
  static std::vector<Session*>& sessions = *new std::vector<Session*>;
  return sessions;
}
/// The thread that closes them all at the interpreter's end; guarded by the GIL.
std::optional<std::thread::id> ends_on;
bool is_ending_elsewhere() { return ends_on && *ends_on != std::this_thread::get_id(); }
void refuse_ending_elsewhere() {
  if (is_ending_elsewhere()) fail(Errc::closed, "the interpreter ends, which closes all sessions");
}

/// The opening or the end of a session that is not in all_sessions(). The end of the interpreter waits for it, since
/// afterwards no thread gets the GIL back. Created and destroyed with the GIL.
class Transition {
 public:
  Transition() noexcept { ++count; }
  Transition(const Transition&) = delete;
  Transition& operator=(const Transition&) = delete;
  ~Transition() {
    if (forks_ == forks) --count;
  }
  static inline std::size_t count = 0;  ///< of this process

 private:
  std::uint32_t forks_ = forks;
};

/// A session that Python owns. Native calls run with the GIL released, so that other Python threads go on; a second
/// thread that comes meanwhile is told so, since a session serves one at a time.
class Session {
 public:
  /// `orchestration`: the function that adds the tasks of each round, or None; then the tasks are the graph's.
  Session(const Graph& graph, const std::string& platform, const erased::Options& options,
          const py::object& orchestration, const std::string& runtime)
      : platform_{platform},
        device_{device_kind(platform, options.device)},
        kernels_{graph.native.kernels},
        kernel_objects_(py::list(graph.kernels.attr("copy")())),
        symbols_(erased::symbols_of(graph.native.tasks)),
        forks_{forks} {
    refuse_ending_elsewhere();
    const Transition opens;
    const erased::Graph source = graph.native;  // other threads may change the graph meanwhile
    if (orchestration.is_none()) {
      const py::gil_scoped_release others_may_run;
      session_ = erased::open_any(platform, source, options);
    } else {
      orchestration_ = std::make_unique<Orchestration>(orchestration, kernel_objects_);
      const erased::Runtime called = erased::runtime_called(runtime);
      const py::gil_scoped_release others_may_run;
      session_ = erased::open_orchestrated_any(platform, source, options, called,
                                               [this](erased::AnyRound& round) { (*orchestration_)(round); });
    }
    const graph::GraphView view = session_->interface();
    for (std::size_t t = 0; t < view.tensors.size(); ++t) {
      const graph::TensorRecord& record = view.tensors[t];
      const std::string name(view.name(record.name));
      PyObject* interned = py::str(name).release().ptr();
      PyUnicode_InternInPlace(&interned);
      tensors_.push_back({py::reinterpret_steal<py::object>(interned), name, TensorId{static_cast<std::uint32_t>(t)},
                          record.type, source.tasks.declared_shape(record), record.direction, record.bytes,
                          numpy_dtype(record.type)});
      if (is_bound_each_round(record.direction)) ports_.push_back(t);
    }
    own_ = std::make_shared<Bound>();
    own_->bindings = session_->make_bindings();
    all_sessions().push_back(this);
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  /// A round that is under way is waited for, before the memory goes that it works on. In a forked process nothing of
  /// the session can be ended: it is left to the process's end. So is one that was opened while the interpreter ended.
  ~Session() {
    std::erase(all_sessions(), this);
    if (forks_ != forks || is_ending_elsewhere()) {
      if (round_ != nullptr) (void)round_->bindings.release();
      (void)own_->bindings.release();
      (void)session_.release();
      (void)new std::vector(std::move(discarded_));
      return;
    }
    const Transition ends;
    {
      const py::gil_scoped_release kernels_may_run;
      if (round_ != nullptr) (void)round_->bindings->finish();
      (void)session_->wait_all();
      (void)session_->close();
    }
    (void)take_raised(session_->explain(Status{Errc::poisoned}));
  }

  [[nodiscard]] const char* platform() const noexcept { return platform_.c_str(); }

  /// Arrays, checked and bound.
  [[nodiscard]] std::shared_ptr<Bound> bind(const Arrays& arrays) {
    refuse_beside_another();
    auto bound = std::make_shared<Bound>();
    bound->bindings = session_->make_bindings();
    bind(*bound, arrays);
    return bound;
  }
  void run_round(const Arrays& arrays) {
    refuse_in_round();
    bind(*own_, arrays);
    const Status status = alone([&] { return own_->bindings->run_round(); });
    // Elsewhere, since releasing an array may run code of Python that uses the session.
    std::vector<HostMemory> memory = std::exchange(own_->memory, {});
    forget_delivered();
    const std::vector<Flight> earlier = keep_lent(status, own_, memory);
    memory.clear();
    spare_ = std::move(memory);
    check(status);
  }
  void run_round(const std::shared_ptr<Bound>& bound) {
    refuse_in_round();
    refuse_beside_another();
    refuse_released(*bound);
    const Status status = alone([&] { return bound->bindings->run_round(); });
    forget_delivered();
    std::vector<HostMemory> none;
    const std::vector<Flight> earlier = keep_lent(status, bound, none);
    check(status);
  }

  void initialize_round(const Arrays& arrays) {
    refuse_in_round();
    bind(*own_, arrays);
    initialize_round(own_);
  }
  void initialize_round(std::shared_ptr<Bound> bound) {
    refuse_in_round();
    refuse_released(*bound);
    const Status status = alone([&] { return bound->bindings->begin_round(); });
    if (!status.ok()) (void)std::exchange(own_->memory, {});
    check(status);
    round_ = std::move(bound);
  }
  void launch() {
    if (round_ == nullptr) fail(Errc::not_open, "launch: no round was initialized; call initialize_round(…) first");
    const Status status = alone([&] { return round_->bindings->launch(); });
    if (status.code() == Errc::busy) fail(Errc::busy, "launch: this round was launched already; finalize it");
    if (!status.ok()) check(end());
  }
  void finalize_round() {
    if (round_ == nullptr)
      fail(Errc::not_open, "finalize_round: no round was initialized; call initialize_round(…) first");
    check(end());
  }

  // Rounds in flight.

  std::uint64_t submit(const Arrays& arrays) {
    refuse_in_round();
    bind(*own_, arrays);
    return submit(own_, std::move(own_->memory));
  }
  std::uint64_t submit(const std::shared_ptr<Bound>& bound) {
    refuse_in_round();
    refuse_released(*bound);
    return submit(bound, {});
  }
  void wait(std::uint64_t ticket) {
    refuse_beside_another();
    const Status status = alone([&] { return session_->wait(RoundTicket{ticket, Status{}}); });
    forget_delivered();
    check(status);
  }
  void wait_all() {
    const Status status = alone([&] { return session_->wait_all(); });
    forget_delivered();
    check(status);
  }
  std::size_t poll() {
    (void)alone([&] { return (void)session_->poll(), Status{}; });
    forget_delivered();
    return session_->in_flight();
  }
  bool is_delivered(std::uint64_t ticket) {
    (void)poll();
    return session_->is_delivered(ticket);
  }

  void upload(const std::string& name, py::handle array) {
    const std::size_t t = resident_called(name);
    const HostMemory memory = memory_of(array, tensors_[t], false, {});
    const Packed packed(memory, true);
    check(alone(
        [&] { return session_->upload(session_->interface().key(t), packed.data(), memory.bytes(tensors_[t])); }));
  }
  void download(const std::string& name, py::handle array) {
    const std::size_t t = resident_called(name);
    const HostMemory memory = memory_of(array, tensors_[t], true, {});
    Packed packed(memory, false);
    check(alone(
        [&] { return session_->download(session_->interface().key(t), packed.data(), memory.bytes(tensors_[t])); }));
    packed.scatter();
  }
  /// `extents`: of a tensor whose shape has symbols; without them, its own.
  [[nodiscard]] std::unique_ptr<SessionArray> allocate(const std::string& name,
                                                       const std::optional<std::vector<std::int64_t>>& extents) {
    refuse_beside_another();
    Port port = tensors_[ports_[port_called(py::str(name))]];
    Shape shape;
    if (extents) shape = Shape(extents->data(), extents->size());
    auto array = session_->allocate(session_->interface().key(index(port.tensor)), extents ? &shape : nullptr);
    if (extents) port.shape = shape;
    return std::make_unique<SessionArray>(
        this, std::move(array), std::move(port), [this](DeviceArray<std::uint8_t>&& gone) {
          if (forks_ != forks) return (void)new DeviceArray(std::move(gone));  // the device is the parent's
          discarded_.push_back(std::move(gone));
          if (!is_running_ && !is_ending_elsewhere()) (void)alone([] { return Status{}; });
        });
  }
  void upload(SessionArray& to, py::handle array) {
    refuse_foreign(to, to.port());
    const HostMemory memory = memory_of(array, to.port(), false, {});
    refuse_released(to);
    const Packed packed(memory, true);
    check(alone([&] { return session_->upload(to.native(), packed.data(), Bytes{to.native().size()}); }));
  }
  void download(SessionArray& from, py::handle array) {
    refuse_foreign(from, from.port());
    const HostMemory memory = memory_of(array, from.port(), true, {});
    refuse_released(from);
    Packed packed(memory, false);
    check(alone([&] { return session_->download(from.native(), packed.data(), Bytes{from.native().size()}); }));
    packed.scatter();
  }
  void set_held(const std::string& name, bool is_held) {
    for (const Port& port : tensors_) {
      if (port.text != name || port.direction != Direction::in) continue;
      const TensorKey key = session_->interface().key(index(port.tensor));
      const Status status = alone([&] { return session_->set_held(key, is_held); });
      forget_delivered();
      check(status);
      std::erase(held_, name);
      if (is_held) {
        held_.push_back(name);
        if (lent_.bound != nullptr || !lent_.memory.empty()) lent_held_.push_back(std::exchange(lent_, {}));
      }
      return;
    }
    fail(Errc::wrong_tensor, "the graph has no input called '", name, "'");
  }
  void set_scalar(std::uint32_t task, std::size_t n, py::handle value) {
    if (is_closed_) fail(Errc::closed, "the session was closed; open another");
    const erased::KernelParameter& parameter = erased::scalar_of(kernels_, TaskId{task}, n);
    const ArgWord word = scalar_word(value, parameter, kernels_[task]->name);
    check(alone([&] { return session_->set_scalar(TaskId{task}, n, word); }));
  }

  void write_trace(const std::string& path) {
    refuse_beside_another();
    if (path.find('\0') != std::string::npos)
      throw py::value_error("rondo: the path of the trace holds a null character");
    refuse_in_round();
    (void)alone([&] { return session_->wait_all(); });  // their kernels may need the GIL
    forget_delivered();
    erased::write_trace_file(*session_, path);
  }

  void request_stop() {
    refuse_forked();
    if (!session_->request_stop()) fail(Errc::unsupported, platform_, " cannot be stopped in the middle of a round");
  }
  void close() {
    const Status status = alone([&] { return session_->close(); });
    if (round_ != nullptr) (void)end();
    const std::deque<Flight> gone = std::exchange(in_flight_, {});
    const Flight lent = std::exchange(lent_, {});
    const std::vector<Flight> lent_held = std::exchange(lent_held_, {});
    check(status);
    is_closed_ = true;
    const auto untold = take_raised(session_->explain(Status{Errc::poisoned}));
    // What the session was made of may refer to the session, and Python cannot see that.
    const auto orchestration = std::exchange(orchestration_, nullptr);
    const py::list kernels = std::exchange(kernel_objects_, py::list());
  }
  /// The end of a `with`. `is_good`: it was not left by an exception, so a round in flight that fails is told.
  void leave(bool is_good) {
    try {
      if (is_good && session_->in_flight() != 0) wait_all();
    } catch (...) {
      close();
      throw;
    }
    close();
  }
  /// Whether a thread of this process is in a native call.
  [[nodiscard]] bool is_running() const noexcept { return is_running_ && forks_ == forks; }
  /// For a look at what a round changes.
  [[nodiscard]] AnySession& at_rest() const {
    refuse_beside_another();
    return *session_;
  }

  /// The tensor of that name, which rounds bind.
  [[nodiscard]] TensorId tensor_called(py::handle name) const { return tensors_[ports_[port_called(name)]].tensor; }

 private:
  struct Flight {
    std::uint64_t ticket = 0;
    std::shared_ptr<Bound> bound;
    std::vector<HostMemory> memory;
  };

  /// Runs f without the GIL, alone.
  template <class F>
  Status alone(F&& f) {
    refuse_beside_another();
    is_running_ = true;
    Status status;
    {
      std::vector<DeviceArray<std::uint8_t>> discarded = std::exchange(discarded_, {});
      const WithoutGil others_may_run;
      discarded.clear();
      status = f();
    }
    is_running_ = false;
    return status;
  }
  void check(Status status) const {
    if (!status.ok()) [[unlikely]]
      raise(status);
  }
  /// An exception of a kernel of Python is raised as it is; what else failed, as rondo.Error.
  [[noreturn, gnu::cold]] void raise(Status status) const {
    if (orchestration_ != nullptr && status.code() == Errc::orchestration_failed) orchestration_->raise_pending();
    const Error::Text text = session_->explain(status);
    if (status.code() == Errc::kernel_failed) {
      if (const auto raised = take_raised(text)) throw py::error_already_set(std::move(*raised));
    }
    throw Error(status.code(), text);
  }
  /// Takes the exception of a kernel that a text of this session names; null if it names none.
  [[nodiscard]] std::unique_ptr<py::error_already_set> take_raised(const Error::Text& text) const {
    for (const py::handle object : kernel_objects_) {
      if (auto raised = py::cast<Kernel&>(object).take_raised(text)) return raised;
    }
    return nullptr;
  }
  [[nodiscard]] static DeviceKind device_kind(const std::string& platform, std::uint32_t device) noexcept {
    constexpr std::int32_t cuda = 2;
    constexpr std::int32_t extension = 12;  // where frameworks of the chips have theirs
    const auto id = static_cast<std::int32_t>(device);
    if (platform == "cuda") return {cuda, id};
    return platform.ends_with("_onboard") ? DeviceKind{extension, id} : DeviceKind{};
  }
  std::uint64_t submit(const std::shared_ptr<Bound>& bound, std::vector<HostMemory> memory) {
    RoundTicket ticket;
    (void)alone([&] { return (ticket = bound->bindings->submit(true)).submitted(); });
    forget_delivered();
    check(ticket.submitted());
    in_flight_.push_back({ticket.number(), bound, std::move(memory)});
    return ticket.number();
  }
  /// The arrays of rounds that were delivered are free.
  void forget_delivered() {
    while (in_flight_.size() > session_->in_flight()) {
      Flight gone = std::move(in_flight_.front());  // dies after it was removed, since that may run code of Python
      in_flight_.pop_front();
      const std::vector<Flight> earlier = keep_lent({}, gone.bound, gone.memory);
    }
  }
  /// Keeps the device memory that DLPack lent to the last round, unless that failed, since set_held() may make later
  /// rounds read it. @returns what no round can read any more, for the caller to drop when it no longer uses the
  /// session's lists
  [[nodiscard]] std::vector<Flight> keep_lent(Status status, const std::shared_ptr<Bound>& bound,
                                              std::vector<HostMemory>& memory) {
    const auto is_lent = [](const HostMemory& each) { return each.loan != nullptr && each.device != 0; };
    if (!status.ok()) return {};
    std::vector<Flight> gone;
    if (held_.empty()) gone = std::exchange(lent_held_, {});
    Flight lent;
    for (HostMemory& each : memory) {
      if (is_lent(each)) lent.memory.push_back(std::move(each));
    }
    if (bound != own_ && std::ranges::any_of(bound->memory, is_lent)) lent.bound = bound;
    if (lent_.bound != nullptr || !lent_.memory.empty()) gone.push_back(std::move(lent_));
    lent_ = std::move(lent);
    return gone;
  }
  /// Refuses arrays whose shapes give a symbol two values.
  /// @returns the values of the symbols, -1 for those that no array has as an extent
  [[nodiscard, gnu::noinline]] std::vector<std::int64_t> symbols_in(const std::vector<HostMemory>& memory) const {
    std::vector<std::int64_t> values(symbols_.size(), -1);
    std::vector<const Port*> from(symbols_.size());
    const auto each = [&](auto&& visit) {
      for (std::size_t p = 0; p < ports_.size(); ++p) {
        const Port& port = tensors_[ports_[p]];
        for (std::size_t d = 0; d < port.shape.rank(); ++d) {
          if (!port.shape.dim(d).empty()) visit(port, d, port.shape.dim(d), memory[p].extents[d]);
        }
      }
    };
    each([&](const Port& port, std::size_t, const Dim& dim, std::int64_t is) {
      if (dim.as_symbol() < 0) return;
      const auto s = static_cast<std::size_t>(dim.as_symbol());
      if (values[s] >= 0 && values[s] != is) {
        fail(Errc::wrong_size, "symbol '", symbols_[s], "' is ", values[s], " in the array of '", from[s]->text,
             "' and ", is, " in that of '", port.text, "'; bind arrays whose shapes fit together");
      }
      values[s] = is;
      from[s] = &port;
    });
    each([&](const Port& port, std::size_t d, const Dim& dim, std::int64_t is) {
      bool known = true;
      dim.for_each_symbol([&](std::int32_t s) { known = known && values[static_cast<std::size_t>(s)] >= 0; });
      if (!known) return;
      const Dim::Value wanted = dim.evaluate(values.data());
      if (wanted.ok && wanted.value != is) {
        fail(Errc::wrong_size, "extent ", d, " of the array of '", port.text, "' is ", is,
             ", and by the other arrays it is ", wanted.value, "; bind arrays whose shapes fit together");
      }
    });
    return values;
  }
  void refuse_forked() const {
    if (forks_ == forks) [[likely]]
      return;
    fail(Errc::not_open,
         "the session was opened before this process was forked, and has no threads and no device here; "
         "open a session in this process");
  }
  void refuse_beside_another() const {
    refuse_forked();
    if (is_running_) fail(Errc::busy, "another thread is in a call of this session, which serves one at a time");
    refuse_ending_elsewhere();
  }
  void refuse_foreign(const SessionArray& array, const Port& port) const {
    if (array.is_of(this)) return;
    fail(Errc::wrong_tensor, "tensor '", port.text,
         "': the array was allocated by another session; take one of this session's allocate()");
  }
  static void refuse_released(SessionArray& array) {
    if (array.native().span().data().address() != 0) return;
    fail(Errc::null_memory, "tensor '", array.port().text,
         "': the array was released, or its session closed; allocate another");
  }
  static void refuse_released(const Bound& bound) {
    for (SessionArray* const array : bound.arrays) refuse_released(*array);
  }
  void refuse_in_round() const {
    if (round_ != nullptr) fail(Errc::busy, "a round is under way; call finalize_round() first");
  }

  /// Checks an array for each tensor that rounds bind, then binds them all: a wrong one changes nothing.
  void bind(Bound& bound, const Arrays& arrays) {
    std::vector<HostMemory> memory = std::exchange(spare_, {});
    memory.clear();
    memory.resize(ports_.size());
    for (Py_ssize_t a = 0; a < arrays.size(); ++a) {
      const std::size_t p = port_called(arrays.name(a));
      const Port& port = tensors_[ports_[p]];
      memory[p] = memory_of(arrays.values[a], port, copies_out(port.direction), device_);
      if (memory[p].session_array != nullptr) refuse_foreign(*memory[p].session_array, port);
    }
    for (std::size_t p = 0; p < ports_.size(); ++p) {
      if (!memory[p].is_bound()) {
        fail(Errc::unbound_tensor, "tensor '", tensors_[ports_[p]].text,
             "' is not bound; each round binds all inputs, outputs and inouts");
      }
      for (std::size_t q = 0; q < p && memory[p].is_capsule(); ++q) {
        if (!memory[q].array.is(memory[p].array)) continue;
        fail(Errc::bound_twice, "tensors '", tensors_[ports_[q]].text, "' and '", tensors_[ports_[p]].text,
             "' are bound to one DLPack capsule, which only one may take; take a second one");
      }
    }
    std::vector<std::int64_t> values;
    if (!symbols_.empty()) values = symbols_in(memory);
    // Here, since asking an array for its memory may have run code of Python.
    refuse_beside_another();
    if (&bound == own_.get()) refuse_in_round();
    bound.arrays.clear();
    for (std::size_t p = 0; p < ports_.size(); ++p) {
      const Port& port = tensors_[ports_[p]];
      const Bytes size = memory[p].bytes(port);
      rondo::BindingList& to = bound.bindings->list();
      const HostMemory& from = memory[p];
      if (from.session_array != nullptr) bound.arrays.push_back(from.session_array);
      if (from.device == 0) {
        check(from.layout ? to.bind(port.tensor, from.data, *from.layout) : to.bind(port.tensor, from.data, size));
      } else {
        const rondo::DevicePtr<std::byte> device{from.device};
        check(from.layout ? to.bind(port.tensor, device, *from.layout) : to.bind(port.tensor, device, size));
      }
    }
    for (std::size_t s = 0; s < values.size(); ++s) check(bound.bindings->list().state_symbol(s, values[s]));
    for (HostMemory& each : memory) each.take();
    bound.memory = std::move(memory);
  }
  Status end() {
    const Status status = alone([&] { return round_->bindings->finish(); });
    const std::shared_ptr<Bound> bound = std::exchange(round_, nullptr);
    forget_delivered();
    std::vector<HostMemory> memory = std::exchange(own_->memory, {});
    const std::vector<Flight> earlier = keep_lent(status, bound, memory);
    return status;
  }

  std::size_t port_called(py::handle name) const {
    // Keywords are interned, as the ports' names are: mostly a comparison of pointers.
    for (std::size_t p = 0; p < ports_.size(); ++p) {
      if (tensors_[ports_[p]].name.is(name)) return p;
    }
    for (std::size_t p = 0; p < ports_.size(); ++p) {
      if (tensors_[ports_[p]].name.equal(name)) return p;
    }
    fail(Errc::wrong_tensor, "the graph has no input, output or inout called '", std::string(py::str(name)), "'");
  }
  std::size_t resident_called(const std::string& name) const {
    for (std::size_t t = 0; t < tensors_.size(); ++t) {
      if (tensors_[t].text == name && tensors_[t].direction == Direction::resident) return t;
    }
    fail(Errc::wrong_tensor, "the graph has no resident tensor called '", name, "'");
  }

  std::string platform_;
  DeviceKind device_;
  std::vector<const erased::KernelRecord*> kernels_;
  py::list kernel_objects_;  ///< keeps the kernels of Python
  std::vector<std::string> symbols_;
  std::uint32_t forks_;
  std::unique_ptr<Orchestration> orchestration_;  ///< null: the tasks are the graph's
  std::unique_ptr<AnySession> session_;
  std::vector<Port> tensors_;                         ///< all of the graph's
  std::vector<std::size_t> ports_;                    ///< which of them rounds bind
  std::vector<HostMemory> spare_;                     ///< empty, with room for the arrays of a round
  std::shared_ptr<Bound> own_;                        ///< for arrays that come by name, each round anew
  std::shared_ptr<Bound> round_;                      ///< of the round under way, taken step by step
  std::deque<Flight> in_flight_;                      ///< keeps the arrays of rounds in flight
  Flight lent_;                                       ///< see keep_lent()
  std::vector<std::string> held_;                     ///< the inputs that are held
  std::vector<Flight> lent_held_;                     ///< the device memory of DLPack that they may be in
  std::vector<DeviceArray<std::uint8_t>> discarded_;  ///< released in the next call, for which the GIL is released
  bool is_running_ = false;                           ///< guarded by the GIL
  bool is_closed_ = false;
};

/// Arrays, checked and bound once for many rounds; keeps them and the session alive.
class Binding {
 public:
  Binding(py::object session, Session& native, const Arrays& arrays)
      : session_{std::move(session)}, native_{native}, bound_{native.bind(arrays)} {}

  [[nodiscard]] Session& self() const noexcept { return native_; }
  [[nodiscard]] const std::shared_ptr<Bound>& bound() const { return bound_; }
  [[nodiscard]] std::optional<std::string> why_copied(const py::str& name) const {
    const char* const why = bound_->bindings->list().why_copied(native_.tensor_called(name));
    return why == nullptr ? std::nullopt : std::optional<std::string>(why);
  }

 private:
  py::object session_;
  Session& native_;
  std::shared_ptr<Bound> bound_;
};

/// Closes every session that this process has opened; what fails is not told, since nobody is left to hear it. Waits
/// for calls of threads that go on while the interpreter ends, and refuses their next ones.
void close_all() {
  std::vector<py::object> kept;  // closing one may be what drops another
  const auto keep_all = [&] {
    for (Session* const session : all_sessions()) kept.push_back(py::cast(session, py::return_value_policy::reference));
  };
  ends_on = std::this_thread::get_id();
  keep_all();
  while (Transition::count != 0) {
    const WithoutGil others_may_run;
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
  keep_all();  // also those that were being opened
  for (const py::object& object : kept) {
    auto& session = py::cast<Session&>(object);
    while (session.is_running()) {
      const WithoutGil others_may_run;
      std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
    try {
      session.close();
    } catch (const Error&) {
    } catch (py::error_already_set&) {
    }
  }
}

/// A round in flight.
class Ticket {
 public:
  Ticket(py::object session, std::uint64_t number) : session_{std::move(session)}, number_{number} {}
  void wait() const { py::cast<Session&>(session_).wait(number_); }
  [[nodiscard]] bool is_done() const { return py::cast<Session&>(session_).is_delivered(number_); }

 private:
  py::object session_;
  std::uint64_t number_;
};

py::dict counters_dict(const erased::Counters& c) {
  // As tools/bench_rounds calls the phases.
  constexpr const char* phases[] = {nullptr, "bind", "copy in", "refresh", "launch", "copy out", "wait"};
  py::dict ns;
  for (std::size_t p = 1; p < std::size(phases); ++p) ns[phases[p]] = c.phase_ns[p];
  py::dict all;
  all["rounds"] = c.rounds;
  all["failed_rounds"] = c.failed_rounds;
  all["copies_in"] = c.copies_in;
  all["bytes_in"] = c.bytes_in;
  all["copies_out"] = c.copies_out;
  all["bytes_out"] = c.bytes_out;
  all["refreshes"] = c.refreshes;
  all["refresh_bytes"] = c.refresh_bytes;
  all["parks"] = c.parks;
  all["phase_ns"] = ns;
  return all;
}

// --- methods of every round, which CPython calls without a detour through pybind11

/// The object of C++ in one of Python, whose type CPython has checked.
template <class T>
T& native_of(PyObject* self) {
  auto* const instance = reinterpret_cast<py::detail::instance*>(self);
  void* const object =
      instance->simple_layout ? instance->simple_value_holder[0] : instance->get_value_and_holder().value_ptr();
  if (object == nullptr) throw py::type_error("rondo: the object was not initialized");
  return *static_cast<T*>(object);
}

/// The binding that a method was called with, or null if it was called with arrays by name.
const Binding* binding_of(const Session& session, const char* method, PyObject* const* values, Py_ssize_t positional,
                          const Arrays& arrays) {
  if (positional == 0) return nullptr;
  if (positional > 1 || arrays.size() != 0 || !py::isinstance<Binding>(values[0])) {
    throw py::type_error(std::string("rondo: ") + method + " takes arrays by name, or one binding of session.bind()");
  }
  const auto& binding = native_of<Binding>(values[0]);
  if (&binding.self() != &session) fail(Errc::wrong_tensor, "the binding is another session's; bind with this one");
  return &binding;
}

/// A method that takes arrays by name, or a binding: `f(self, session, binding or null, arrays)`.
template <class F>
PyObject* call_method(PyObject* self, const char* method, PyObject* const* values, Py_ssize_t positional,
                      PyObject* names, F&& f) noexcept {
  try {
    auto& session = native_of<Session>(self);
    const Arrays arrays{values + positional, names};
    return f(session, binding_of(session, method, values, positional, arrays), arrays).release().ptr();
  } catch (...) {
    return raise_current();
  }
}

PyObject* bind_arrays(PyObject* self, PyObject* const* values, Py_ssize_t positional, PyObject* names) {
  return call_method(self, "bind", values, positional, names, [&](Session& s, const Binding* b, const Arrays& arrays) {
    if (b != nullptr) throw py::type_error("rondo: bind takes arrays by name");
    return py::cast(std::make_unique<Binding>(py::reinterpret_borrow<py::object>(self), s, arrays));
  });
}
PyObject* run_session_round(PyObject* self, PyObject* const* values, Py_ssize_t positional, PyObject* names) {
  return call_method(self, "run_round", values, positional, names,
                     [](Session& session, const Binding* binding, const Arrays& arrays) -> py::object {
                       binding == nullptr ? session.run_round(arrays) : session.run_round(binding->bound());
                       return py::none();
                     });
}
PyObject* initialize_round(PyObject* self, PyObject* const* values, Py_ssize_t positional, PyObject* names) {
  return call_method(self, "initialize_round", values, positional, names,
                     [](Session& session, const Binding* binding, const Arrays& arrays) -> py::object {
                       binding == nullptr ? session.initialize_round(arrays)
                                          : session.initialize_round(binding->bound());
                       return py::none();
                     });
}
PyObject* submit_round(PyObject* self, PyObject* const* values, Py_ssize_t positional, PyObject* names) {
  return call_method(
      self, "submit", values, positional, names, [&](Session& session, const Binding* binding, const Arrays& arrays) {
        const std::uint64_t number = binding == nullptr ? session.submit(arrays) : session.submit(binding->bound());
        return py::cast(Ticket(py::reinterpret_borrow<py::object>(self), number));
      });
}
PyObject* run_bound_round(PyObject* self, PyObject*) {
  try {
    const auto& binding = native_of<Binding>(self);
    binding.self().run_round(binding.bound());
    Py_RETURN_NONE;
  } catch (...) {
    return raise_current();
  }
}

using FastCall = PyObject* (*)(PyObject*, PyObject* const*, Py_ssize_t, PyObject*);
PyMethodDef fast_method(const char* name, FastCall function, const char* doc) {
  return {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function)), METH_FASTCALL | METH_KEYWORDS,
          doc};
}
/// `method` lives as long as the type.
void add_method(py::handle type, PyMethodDef& method) {
  const auto descriptor =
      py::reinterpret_steal<py::object>(PyDescr_NewMethod(reinterpret_cast<PyTypeObject*>(type.ptr()), &method));
  if (!descriptor) throw py::error_already_set();
  py::setattr(type, method.ml_name, descriptor);
}

}  // namespace

void define_session(py::module_& module) {
  py::class_<Binding> binding(module, "Binding",
                              "Arrays, checked and bound once for many rounds; made by Session.bind.");
  static PyMethodDef run_bound = {"run_round", run_bound_round, METH_NOARGS, "One round over these arrays."};
  add_method(binding, run_bound);
  binding.def("why_copied", &Binding::why_copied, py::arg("name"),
              "The reason why rounds copy the memory of a tensor; None if kernels use the memory itself.");

  constexpr std::uint32_t none = 0xFFFF'FFFF;
  const auto or_none = [](std::uint32_t number) {
    return number == none ? py::object(py::none()) : py::object(py::int_(number));
  };
  py::class_<erased::Finding>(module, "Finding", "A mistake that a checked round found.")
      .def_readonly("kind", &erased::Finding::kind)
      .def_readonly("text", &erased::Finding::text, "All of it as a sentence, with names.")
      .def_property_readonly("task", [or_none](const erased::Finding& f) { return or_none(f.task); })
      .def_property_readonly("tensor", [or_none](const erased::Finding& f) { return or_none(f.tensor); })
      .def("__repr__", [](const erased::Finding& f) { return "<rondo.Finding " + f.kind + ": " + f.text + ">"; });
  py::class_<LoopReport>(module, "Loop", "A loop of a session's graph, and who reads its condition.")
      .def_readonly("name", &LoopReport::name, "As in messages, such as 'until done'.")
      .def_property_readonly(
          "decision", [](const LoopReport& l) { return index(l.decision); }, "The task that decides.")
      .def_property_readonly(
          "host_decides", [](const LoopReport& l) { return l.decider == LoopReport::Decider::host; },
          "Whether the host reads the condition, and waits for it in the middle of a round.")
      .def_property_readonly(
          "why", [](const LoopReport& l) { return std::string(l.why); },
          "The reason why the host decides, as a clause; empty if the device does.")
      .def("__repr__", [](const LoopReport& l) {
        const bool is_host = l.decider == LoopReport::Decider::host;
        return "<rondo.Loop '" + l.name + "': the " + (is_host ? "host" : "device") + " decides>";
      });
  py::class_<erased::Prediction>(module, "Prediction", "The predicted times of a round on the chip, in nanoseconds.")
      .def_readonly("copy_in_ns", &erased::Prediction::copy_in_ns)
      .def_readonly("launch_ns", &erased::Prediction::launch_ns)
      .def_readonly("run_ns", &erased::Prediction::run_ns)
      .def_readonly("complete_ns", &erased::Prediction::complete_ns)
      .def_readonly("copy_out_ns", &erased::Prediction::copy_out_ns)
      .def_readonly("critical_path_ns", &erased::Prediction::critical_path_ns)
      .def_readonly("bound_by", &erased::Prediction::bound_by)
      .def("__str__", [](const erased::Prediction& p) { return p.report; });

  py::class_<Ticket>(module, "Ticket", "A round in flight; made by Session.submit. It can be awaited.")
      .def("wait", &Ticket::wait, "Waits until the round was delivered; raises what went wrong with it.")
      .def_property_readonly("done", &Ticket::is_done, "Whether the round was delivered; delivers what is done.");

  py::class_<SessionArray>(module, "DeviceArray", "Device memory for a tensor; made by Session.allocate.")
      .def("release", &SessionArray::release, "Releases the memory; the session does the same when it is closed.")
      .def_property_readonly("shape",
                             [](const SessionArray& a) {
                               py::tuple shape(a.port().shape.rank());
                               for (std::size_t d = 0; d < shape.size(); ++d) shape[d] = a.port().shape.extent(d);
                               return shape;
                             })
      .def_property_readonly("dtype", [](const SessionArray& a) { return to_string(a.port().type); })
      .def_property_readonly(
          "nbytes", [](SessionArray& a) { return a.native().size(); }, "0 once the memory was released.");

  py::class_<Session> session_type(module, "Session", "A graph, opened on a platform, that runs round after round.");
  static PyMethodDef methods[] = {
      fast_method("bind", bind_arrays, "Checks arrays, given by tensor name, once for many rounds."),
      fast_method("run_round", run_session_round, "One round, over arrays by tensor name or over a binding."),
      fast_method("initialize_round", initialize_round, "Binds arrays, or takes a binding, and copies the inputs."),
      fast_method("submit", submit_round,
                  "Submits a round and returns its Ticket. Its outputs are complete after a wait for the ticket."),
  };
  for (PyMethodDef& method : methods) add_method(session_type, method);
  session_type
      .def(py::init([](const Graph& graph, const std::string& platform, std::uint32_t in_flight, std::uint32_t device,
                       std::uint32_t threads, std::uint64_t device_memory, std::int32_t timeout_ms,
                       const std::vector<std::string>& kernel_files, bool trace, const py::object& orchestration,
                       const std::string& runtime) {
             erased::Options options;
             options.in_flight = in_flight;
             options.device = device;
             options.threads = threads;
             options.device_memory = device_memory;
             options.timeout_ms = timeout_ms;
             options.kernel_files = kernel_files;
             options.trace = trace;
             return std::make_unique<Session>(graph, platform, options, orchestration, runtime);
           }),
           py::arg("graph"), py::arg("platform") = "a2a3_sim", py::kw_only(), py::arg("in_flight") = 1,
           py::arg("device") = 0, py::arg("threads") = 0, py::arg("device_memory") = 0, py::arg("timeout_ms") = 0,
           py::arg("kernel_files") = std::vector<std::string>(), py::arg("trace") = false,
           py::arg("orchestration") = py::none(), py::arg("runtime") = "tensormap_and_ringbuffer")
      .def("launch", &Session::launch, "Starts the tasks of the round; does not wait.")
      .def("finalize_round", &Session::finalize_round, "Copies the outputs and waits until all is done.")
      .def("wait_all", &Session::wait_all, "Waits for the rounds in flight; raises the first failure.")
      .def("poll", &Session::poll, "Delivers the rounds that are done; returns how many are still in flight.")
      .def(
          "hold", [](Session& s, const std::string& name) { s.set_held(name, true); }, py::arg("tensor"),
          "From the next round on the input stays as the last round left it.")
      .def(
          "release_hold", [](Session& s, const std::string& name) { s.set_held(name, false); }, py::arg("tensor"),
          "Undoes hold.")
      .def("allocate", &Session::allocate, py::arg("tensor"), py::arg("shape") = py::none(), py::keep_alive<0, 1>(),
           "Allocates device memory for a tensor, which rounds bind without a copy.")
      .def("upload", py::overload_cast<const std::string&, py::handle>(&Session::upload), py::arg("tensor"),
           py::arg("array"), "Copies an array into a resident tensor, or into device memory of allocate().")
      .def("upload", py::overload_cast<SessionArray&, py::handle>(&Session::upload), py::arg("tensor"),
           py::arg("array"))
      .def("download", py::overload_cast<const std::string&, py::handle>(&Session::download), py::arg("tensor"),
           py::arg("array"), "Copies a resident tensor, or device memory of allocate(), into an array.")
      .def("download", py::overload_cast<SessionArray&, py::handle>(&Session::download), py::arg("tensor"),
           py::arg("array"))
      .def("set_scalar", &Session::set_scalar, py::arg("task"), py::arg("n"), py::arg("value"),
           "Changes the n-th scalar of a task from the next round on.")
      .def(
          "request_stop", &Session::request_stop,
          "Ends the current round, or else the next, and poisons the session. On NPUs and GPUs it ends the first round "
          "that reaches a loop about which the host decides, and no other. May be called from any thread.")
      .def("close", &Session::close, "Releases everything; later calls raise Error with code closed.")
      .def("__enter__", [](const py::object& session) { return session; })
      .def("__exit__", [](Session& session, const py::object& type, const py::args&) { session.leave(type.is_none()); })
      .def_property_readonly("rounds", [](const Session& s) { return s.at_rest().rounds(); })
      .def_property_readonly(
          "in_flight", [](const Session& s) { return s.at_rest().in_flight(); }, "Rounds that were not delivered yet.")
      .def_property_readonly("shapes", [](const Session& s) { return s.at_rest().shapes(); })
      .def_property_readonly(
          "last_round_ns",
          [](const Session& s) -> py::object {
            const double ns = s.at_rest().last_round_ns();
            return ns < 0 ? py::object(py::none()) : py::object(py::float_(ns));
          },
          "The nanoseconds that the tasks of the last round took on the device; None if it is unknown.")
      .def(
          "explain_loops", [](Session& s) { return s.at_rest().loops(); }, "The loops of the graph, as a list of Loop.")
      .def_property_readonly(
          "findings",
          [](Session& s) {
            py::list all;
            for (const erased::Finding& f : s.at_rest().findings()) all.append(f);
            return all;
          },
          "The findings of the last round, on a platform whose name ends in _checked.")
      .def_property_readonly(
          "prediction", [](Session& s) { return s.at_rest().prediction(); },
          "The prediction for the last round, on a platform whose name ends in _model; None elsewhere.")
      .def_property_readonly(
          "counters",
          [](Session& s) -> py::object {
            const auto counters = s.at_rest().counters();
            return counters ? py::object(counters_dict(*counters)) : py::object(py::none());
          },
          "The counters of all rounds so far, as a dictionary, in a session with trace=True; None elsewhere.")
      .def(
          "write_trace",
          [](Session& s, const py::object& path) {
            s.write_trace(py::cast<std::string>(py::module_::import("os").attr("fsencode")(path)));
          },
          py::arg("path"), "Writes the last rounds and tasks of a session with trace=True, as a file for Perfetto.")
      .def_property_readonly("poisoned", [](const Session& s) { return s.at_rest().poisoned(); })
      .def_property_readonly("arena_bytes", [](const Session& s) { return s.at_rest().arena_bytes().value; })
      .def_property_readonly("platform", &Session::platform);

  module.def("_close_all", &close_all, "Closes all sessions; called when the interpreter ends.");
  module.def(
      "platforms",
      [] {
        py::dict all;
        for (const erased::PlatformEntry& entry : erased::platforms()) {
          const Error::Text missing = entry.missing();
          all[entry.name] = missing.empty() ? py::object(py::none()) : py::object(py::str(missing.c_str()));
        }
        return all;
      },
      "The platforms by name: None if this machine can use the platform, or else the reason why not.");
  static const int is_noted = pthread_atfork(nullptr, nullptr, [] {
    ++forks;
    Transition::count = 0;  // its threads are not here
  });
  if (is_noted != 0) fail(Errc::out_of_resources, "the module cannot learn of forks");
}

}  // namespace rondo::python
