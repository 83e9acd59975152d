// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include "session.hpp"

#include "any_session.hpp"
#include "errors.hpp"
#include "graph.hpp"
#include "host_memory.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace py = pybind11;

namespace rondo::python {

namespace {

/// Bindings, and what keeps their memory alive.
struct Bound {
  std::vector<HostMemory> memory;  ///< dies last
  std::unique_ptr<AnyBindings> bindings;
};

/// A session that Python owns. Native calls run with the GIL released, so that other Python threads go on; a second
/// thread that comes meanwhile is told so, since a session serves one at a time.
class Session {
 public:
  Session(const Graph& graph, const std::string& platform)
      : platform_{platform}, kernels_{graph.kernels}, session_{open_any(platform, graph.tasks)} {
    const graph::GraphView view = session_->graph();
    for (std::size_t t = 0; t < view.tensors.size(); ++t) {
      const graph::TensorRecord& record = view.tensors[t];
      const std::string name(view.name(record.name));
      tensors_.push_back({py::reinterpret_steal<py::object>(PyUnicode_InternFromString(name.c_str())), name,
                          TensorId{static_cast<std::uint32_t>(t)}, record.type, record.shape, record.direction});
      if (is_bound_each_round(record.direction)) ports_.push_back(t);
    }
    own_ = std::make_shared<Bound>();
    own_->bindings = session_->make_bindings();
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  /// A round that is under way is waited for, before the memory goes that it works on.
  ~Session() {
    if (round_ != nullptr) (void)round_->bindings->finish();
  }

  [[nodiscard]] const char* platform() const noexcept { return platform_.c_str(); }

  /// Arrays, checked and bound.
  [[nodiscard]] std::shared_ptr<Bound> bind(const py::kwargs& arrays) {
    refuse_beside_another();
    auto bound = std::make_shared<Bound>();
    bound->bindings = session_->make_bindings();
    bind(*bound, arrays);
    return bound;
  }
  void run_round(const py::kwargs& arrays) {
    refuse_in_round();
    bind(*own_, arrays);
    const Status status = alone([&] { return own_->bindings->run_round(); });
    own_->memory.clear();
    check(status);
  }
  void run_round(const Bound& bound) {
    refuse_in_round();
    check(alone([&] { return bound.bindings->run_round(); }));
  }

  void initialize_round(const py::kwargs& arrays) {
    refuse_in_round();
    bind(*own_, arrays);
    initialize_round(own_);
  }
  void initialize_round(std::shared_ptr<Bound> bound) {
    refuse_in_round();
    const Status status = alone([&] { return bound->bindings->begin_round(); });
    if (!status.ok()) own_->memory.clear();
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

  void upload(const std::string& name, py::handle array) {
    const std::size_t t = resident_called(name);
    const HostMemory memory = memory_of(array, tensors_[t], false);
    check(alone([&] { return session_->upload(t, memory.data, session_->graph().tensors[t].count); }));
  }
  void download(const std::string& name, py::handle array) {
    const std::size_t t = resident_called(name);
    const HostMemory memory = memory_of(array, tensors_[t], true);
    check(alone([&] { return session_->download(t, memory.data, session_->graph().tensors[t].count); }));
  }
  void set_scalar(std::uint32_t task, std::size_t n, py::handle value) {
    if (task >= kernels_.size())
      fail(Errc::invalid_argument, "there is no task ", task, "; the graph has ", kernels_.size());
    std::size_t scalar = 0;
    for (const KernelParameter& parameter : kernels_[task]->parameters) {
      if (parameter.is_tensor || scalar++ != n) continue;
      const ArgWord word = scalar_word(value, parameter, kernels_[task]->name);
      return check(alone([&] { return session_->set_scalar(TaskId{task}, n, word); }));
    }
    fail(Errc::invalid_argument, "kernel '", kernels_[task]->name, "' has ", scalar, " scalars, and no scalar ", n);
  }

  void request_stop() {
    if (!session_->request_stop()) fail(Errc::unsupported, platform_, " cannot be stopped in the middle of a round");
  }
  void close() {
    const Status status = alone([&] { return session_->close(); });
    if (round_ != nullptr) (void)end();
    check(status);
  }
  /// For a look at what a round changes.
  [[nodiscard]] const AnySession& at_rest() const {
    refuse_beside_another();
    return *session_;
  }

 private:
  /// Runs f without the GIL, alone.
  template <class F>
  Status alone(F&& f) {
    refuse_beside_another();
    is_running_ = true;
    Status status;
    {
      const py::gil_scoped_release others_may_run;
      status = f();
    }
    is_running_ = false;
    return status;
  }
  void check(Status status) const {
    if (!status.ok()) throw Error(status.code(), session_->explain(status));
  }
  void refuse_beside_another() const {
    if (is_running_) fail(Errc::busy, "another thread is in a call of this session, which serves one at a time");
  }
  void refuse_in_round() const {
    if (round_ != nullptr) fail(Errc::busy, "a round is under way; call finalize_round() first");
  }

  /// Checks an array for each tensor that rounds bind, then binds them all: a wrong one changes nothing.
  void bind(Bound& bound, const py::kwargs& arrays) {
    std::vector<HostMemory> memory(ports_.size());
    for (const auto& [name, array] : arrays) {
      const std::size_t p = port_called(name);
      const Port& port = tensors_[ports_[p]];
      memory[p] = memory_of(array, port, copies_out(port.direction));
    }
    for (std::size_t p = 0; p < ports_.size(); ++p) {
      if (memory[p].data == nullptr) {
        fail(Errc::unbound_tensor, "tensor '", tensors_[ports_[p]].text,
             "' is not bound; each round binds all inputs, outputs and inouts");
      }
    }
    refuse_beside_another();  // here, since asking an array for its memory may have run code of Python
    for (std::size_t p = 0; p < ports_.size(); ++p) {
      memory[p].take();
      const Bytes size{session_->graph().tensors[ports_[p]].bytes};
      check(bound.bindings->bind(tensors_[ports_[p]].tensor, memory[p].data, size));
    }
    bound.memory = std::move(memory);
  }
  Status end() {
    const Status status = alone([&] { return round_->bindings->finish(); });
    round_ = nullptr;
    own_->memory.clear();
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
  std::vector<const KernelRecord*> kernels_;
  std::unique_ptr<AnySession> session_;
  std::vector<Port> tensors_;       ///< all of the graph's
  std::vector<std::size_t> ports_;  ///< which of them rounds bind
  std::shared_ptr<Bound> own_;      ///< for arrays that come by name, each round anew
  std::shared_ptr<Bound> round_;    ///< of the round under way, taken step by step
  bool is_running_ = false;         ///< guarded by the GIL
};

/// Arrays, checked and bound once for many rounds; keeps them and the session alive.
class Binding {
 public:
  Binding(py::object session, const py::kwargs& arrays) : session_{std::move(session)}, bound_{self().bind(arrays)} {}

  [[nodiscard]] Session& self() const { return py::cast<Session&>(session_); }
  [[nodiscard]] const std::shared_ptr<Bound>& bound() const { return bound_; }

 private:
  py::object session_;
  std::shared_ptr<Bound> bound_;
};

/// The binding that a method was called with, or null if it was called with arrays by name.
const Binding* binding_of(const Session& session, const char* method, const py::args& positional,
                          const py::kwargs& arrays) {
  if (positional.empty()) return nullptr;
  if (positional.size() > 1 || !arrays.empty() || !py::isinstance<Binding>(positional[0])) {
    throw py::type_error(std::string("rondo: ") + method + " takes arrays by name, or one binding of session.bind()");
  }
  const auto& binding = py::cast<const Binding&>(positional[0]);
  if (&binding.self() != &session) fail(Errc::wrong_tensor, "the binding is another session's; bind with this one");
  return &binding;
}

}  // namespace

void define_session(py::module_& module) {
  py::class_<Binding>(module, "Binding", "Arrays, checked and bound once for many rounds; made by Session.bind.")
      .def(
          "run_round", [](const Binding& b) { b.self().run_round(*b.bound()); }, "One round over these arrays.");

  py::class_<Session>(module, "Session", "A graph, opened on a platform, that runs round after round.")
      .def(py::init<const Graph&, const std::string&>(), py::arg("graph"), py::arg("platform") = "a2a3_sim")
      .def(
          "bind", [](const py::object& session, const py::kwargs& arrays) { return Binding(session, arrays); },
          "Checks arrays, given by tensor name, once for many rounds.")
      .def(
          "run_round",
          [](Session& session, const py::args& positional, const py::kwargs& arrays) {
            const Binding* const binding = binding_of(session, "run_round", positional, arrays);
            binding == nullptr ? session.run_round(arrays) : session.run_round(*binding->bound());
          },
          "One round, over arrays by tensor name or over a binding.")
      .def(
          "initialize_round",
          [](Session& session, const py::args& positional, const py::kwargs& arrays) {
            const Binding* const binding = binding_of(session, "initialize_round", positional, arrays);
            binding == nullptr ? session.initialize_round(arrays) : session.initialize_round(binding->bound());
          },
          "Binds arrays, or takes a binding, and copies the inputs.")
      .def("launch", &Session::launch, "Starts the tasks of the round; does not wait.")
      .def("finalize_round", &Session::finalize_round, "Copies the outputs and waits until all is done.")
      .def("upload", &Session::upload, py::arg("tensor"), py::arg("array"), "Copies an array into a resident tensor.")
      .def("download", &Session::download, py::arg("tensor"), py::arg("array"),
           "Copies a resident tensor into an array.")
      .def("set_scalar", &Session::set_scalar, py::arg("task"), py::arg("n"), py::arg("value"),
           "Changes the n-th scalar of a task from the next round on.")
      .def("request_stop", &Session::request_stop,
           "From any thread: ends the round under way, or the next, and poisons the session.")
      .def("close", &Session::close, "Releases everything; later calls raise Error with code closed.")
      .def("__enter__", [](const py::object& session) { return session; })
      .def("__exit__", [](Session& session, const py::args&) { session.close(); })
      .def_property_readonly("rounds", [](const Session& s) { return s.at_rest().rounds(); })
      .def_property_readonly("poisoned", [](const Session& s) { return s.at_rest().poisoned(); })
      .def_property_readonly("arena_bytes", [](const Session& s) { return s.at_rest().arena_bytes().value; })
      .def_property_readonly("platform", &Session::platform);

  py::list names;
  for (const char* const* name = platform_names(); *name != nullptr; ++name) names.append(*name);
  module.attr("platforms") = py::tuple(names);
}

}  // namespace rondo::python
