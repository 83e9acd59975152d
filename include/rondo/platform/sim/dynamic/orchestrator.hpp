// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/graph/arguments.hpp>
#include <rondo/graph/kernel.hpp>
#include <rondo/graph/limits.hpp>
#include <rondo/platform/sim/dynamic/region.hpp>
#include <rondo/platform/sim/dynamic/stream_core.hpp>
#include <rondo/platform/sim/halt.hpp>
#include <rondo/tensor/handle.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <string_view>
#include <utility>

namespace rondo::platform::sim::dynamic {

/// A task of the current round. After its round is over, or once it is done and reclaimed, it counts as done.
struct TaskRef {
  TaskSlot* slot = nullptr;
  std::uint64_t number = 0;
};

/// The orchestrator of a runtime: `OrchestratorFor<runtime::AicpuBuildGraph>::type`.
template <class Runtime>
struct OrchestratorFor;

/// The argument of an orchestration: adds tasks, makes intermediates, opens scopes and reads the round's inputs.
/// Kernels are those of TaskGraph, with the same arguments and the same checks by the compiler.
///
/// Lifetime: that of the session; regions and tasks are valid during the round. Thread safety: the orchestrating thread
/// only. Errors: misuse throws Error; an Error that leaves the orchestration fails the round. `Derived` decides the
/// edges of a task in `finish_add`.
template <class Derived>
class Orchestrator : public StreamCore {
 public:
  using StreamCore::StreamCore;

  /// From the next round on, tasks run on these cores. They must outlive the orchestrator.
  void use_cores(const TaskCores& cores) noexcept {
    stream_.use_cores(cores);
    self().leave_order_to_edges();
  }
  /// Called by the runner: ends the round's own scope, and the round.
  Status finish_round() noexcept {
    self().end_scope();
    return this->end_round();
  }

  /// A scope, which ends with its block. Regions made in it may be used in it and in scopes nested in it.
  class [[nodiscard]] Scope {
   public:
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope() {
      // After an exception has left the orchestration, no further task starts.
      if (std::uncaught_exceptions() != exceptions_) owner_.stream_.abandon();
      owner_.self().end_scope();
      owner_.close_scope();
    }

   private:
    friend class Orchestrator;
    explicit Scope(Orchestrator& owner) : owner_{owner}, exceptions_{std::uncaught_exceptions()} {
      owner_.open_scope();
    }
    Orchestrator& owner_;
    int exceptions_;
  };

  /// Opens a scope. @throws Error limit_exceeded beyond 64 scopes, including the round's own
  Scope scope() { return Scope(*this); }

  /// Makes an intermediate in the open scope, with undefined contents. Waits if its ring is full.
  /// @throws Error invalid_argument (shape), overflow, unsupported (element type)
  template <Element T>
  [[nodiscard]] Region<T, Direction::workspace> workspace(const Shape& shape) {
    require_known(data_type_of<T>);
    return whole<T, Direction::workspace>(make_tensor(shape, sizeof(T)));
  }

  /// The box of a tensor that starts at `low` and has these extents; it shares memory with all overlapping boxes. In a
  /// view of a region, indices start at the region's corner. @throws Error invalid_argument if the box is not inside
  template <Element T, Direction D>
  [[nodiscard]] Region<T, D> view(TensorHandle<T, D> tensor, const Shape& low, const Shape& extents) {
    return view(whole<T, D>(interface_tensor(tensor.key)), low, extents);
  }
  template <Element T, Direction D>
  [[nodiscard]] Region<T, D> view(const Region<T, D>& region, const Shape& low, const Shape& extents) const;

  /// The values of an input. They are known before the first task runs, so the orchestration may depend on them.
  template <Element T>
  [[nodiscard]] std::span<const T> values(Input<T> input) const {
    const std::span<const std::byte> all = bytes(input.key);
    return {reinterpret_cast<const T*>(all.data()), all.size() / sizeof(T)};
  }
  /// The value of an input of one element. @throws Error wrong_size if it has more
  template <Element T>
  [[nodiscard]] T value(Input<T> input) const {
    const std::span<const T> all = values(input);
    if (all.size() != 1) {
      throw Error(Errc::wrong_size, Error::Text{"value() takes an input of one element, this has ", all.size()});
    }
    return all[0];
  }

  /// Adds a task that runs kernel K, as TaskGraph::add does, on interface handles and Regions. Waits for room.
  /// @throws Error invalid_argument (rank, gaps in a region, overlapping arguments, a region that is gone),
  /// wrong_tensor, limit_exceeded
  template <class K, class... A>
  TaskRef add(const A&... arguments) {
    return add<K>(Blocks{1}, arguments...);
  }
  template <class K, class... A>
  TaskRef add(Blocks blocks, const A&... arguments) {
    static_assert(check_kernel<K>());
    if constexpr (Kernel<K>) return add_checked<K>(blocks, rondo::detail::ParametersOf<K>{}, arguments...);
  }

  /// Adds a task that runs a raw kernel, as TaskGraph::add_raw does; regions may have gaps. `name` outlives the round.
  template <class... A>
  TaskRef add_raw(std::string_view name, CoreType core, KernelEntry entry, const A&... arguments) {
    return add_raw(name, core, Blocks{1}, entry, arguments...);
  }
  template <class... A>
  TaskRef add_raw(std::string_view name, CoreType core, Blocks blocks, KernelEntry entry, const A&... arguments);

  // --- for callers that know tensors and kernels only at run time
  /// A tensor of any type, or a box of one. Views of it count in elements of the tensor's own type.
  using AnyRegion = Region<std::uint8_t, Direction::workspace>;
  /// Has `before(address, bytes)` called before the orchestration reads an input, where a device needs that.
  void announce_reads(void (*before)(std::uint64_t address, std::uint64_t bytes) noexcept) noexcept {
    before_read_ = before;
  }
  /// A tensor of the interface. @throws Error wrong_tensor
  [[nodiscard]] AnyRegion region(TensorKey tensor) {
    return whole<std::uint8_t, Direction::workspace>(interface_tensor(tensor));
  }
  /// Does what workspace<T>() does.
  [[nodiscard]] AnyRegion workspace(DataType type, const Shape& shape) {
    require_known(type);
    return whole<std::uint8_t, Direction::workspace>(make_tensor(shape, static_cast<std::uint32_t>(size_of(type))));
  }
  /// The memory of a tensor; that of an input holds its values.
  [[nodiscard]] std::span<const std::byte> bytes(TensorKey tensor) const {
    const TensorState& state = interface_tensor(tensor);
    if (before_read_ != nullptr) before_read_(state.address, state.count * state.element_bytes);
    return {reinterpret_cast<const std::byte*>(state.address), state.count * state.element_bytes};  // NOLINT: simulated
  }
  /// An argument of a kernel.
  struct Described {
    graph::ArgRecord::Kind kind = graph::ArgRecord::Kind::scalar;  ///< address, scalar, block or constant
    Access access = Access::read;                                  ///< of an address
    const AnyRegion* region = nullptr;                             ///< of an address
    std::size_t rank = 1;  ///< dimensions that the kernel wants; 1 takes any tensor
    ArgWord bits = 0;      ///< of a scalar or a constant
  };
  /// Adds a task with the argument block of a K::run that has these parameters, as TaskGraph::add_described. Types and
  /// directions are the caller's to check. @throws Error as add()
  TaskRef add_described(std::string_view name, Blocks blocks, KernelEntry entry, std::span<const Described> arguments);

 private:
  friend class Scope;
  [[nodiscard]] Derived& self() noexcept { return static_cast<Derived&>(*this); }

  /// An argument as the task sees it.
  struct ArgumentView {
    std::uint64_t address;
    std::uint64_t count;
    const std::uint64_t* extents;
    std::size_t rank;
  };

  [[nodiscard]] TensorState& interface_tensor(TensorKey key) {
    return const_cast<TensorState&>(std::as_const(*this).interface_tensor(key));
  }
  [[nodiscard]] const TensorState& interface_tensor(TensorKey key) const {
    if (key.graph() != tag_ || index(key.tensor()) >= interface_count_) [[unlikely]] {
      throw Error(Errc::wrong_tensor,
                  Error::Text("the tensor is not in this session's interface; use its own handles"));
    }
    return interface_[index(key.tensor())];
  }
  template <Element T, Direction D>
  [[nodiscard]] Region<T, D> whole(TensorState& tensor) const noexcept;
  void require_known(DataType type) const {
    if (graph::knows(limits_, type)) [[likely]]
      return;
    throw Error(Errc::unsupported,
                Error::Text{"an intermediate is ", to_string(type), ", which ", limits_.name,
                            " does not support; choose ", graph::chip_with(type), " or another type"});
  }
  /// An intermediate of the open scope. @throws Error invalid_argument
  [[nodiscard]] TensorState& make_tensor(const Shape& shape, std::uint32_t element_bytes) {
    std::uint64_t count = 1;
    bool bad = shape.rank() > max_rank;
    for (std::size_t d = 0; d < shape.rank() && !bad; ++d) {
      bad = shape.extent(d) < 1 || __builtin_mul_overflow(count, static_cast<std::uint64_t>(shape.extent(d)), &count);
    }
    if (bad || count > (std::uint64_t{1} << 59)) {
      throw Error(Errc::invalid_argument,
                  Error::Text("an intermediate has at most 5 extents, each at least 1, and fits "
                              "into memory; correct its shape"));
    }
    TensorState& tensor = take_tensor(count * element_bytes);
    tensor.count = count;
    tensor.rank = static_cast<std::uint8_t>(shape.rank());
    tensor.element_bytes = element_bytes;
    tensor.direction = Direction::workspace;
    for (std::size_t d = 0; d < shape.rank(); ++d) tensor.extents[d] = static_cast<std::uint64_t>(shape.extent(d));
    return tensor;
  }

  /// The tensor of an argument. @throws Error if the tensor must not be used
  template <Element T, Direction D>
  [[nodiscard]] TensorState& tensor_of(const TensorHandle<T, D>& handle) {
    return interface_tensor(handle.key);
  }
  template <Element T, Direction D>
  [[nodiscard]] TensorState& tensor_of(const Region<T, D>& region) const {
    if (!is_alive(*region.tensor_, region.serial_)) [[unlikely]] {
      throw Error(Errc::invalid_argument,
                  Error::Text("a region is used when its scope or its round is over; make it in an outer scope"));
    }
    return *region.tensor_;
  }
  template <Element T, Direction D>
  [[nodiscard]] static BoxView box_of(const TensorHandle<T, D>&) noexcept {
    return {};
  }
  template <Element T, Direction D>
  [[nodiscard]] static BoxView box_of(const Region<T, D>& region) noexcept {
    return region.whole_ ? BoxView{} : BoxView{region.low_, region.extents_};
  }
  template <Element T, Direction D>
  [[nodiscard]] static ArgumentView view_of(const TensorHandle<T, D>&, const TensorState& tensor) noexcept {
    return {tensor.address, tensor.count, tensor.extents, tensor.rank};
  }
  template <Element T, Direction D>
  [[nodiscard]] static ArgumentView view_of(const Region<T, D>& region, const TensorState&) noexcept {
    return {region.address_, region.count_, region.extents_, region.rank_};
  }

  [[noreturn]] static void fail_add(std::string_view task, const char* what) {
    throw Error(Errc::invalid_argument, Error::Text{"task '", task, "' ", what});
  }
  void check_add(std::string_view name, Blocks blocks, std::size_t tensors, std::size_t scalars) const;
  /// Checks that two uses by one task either both read or do not overlap. @throws Error if not
  static void check_uses(std::string_view name, const Touch* touches, std::size_t count);
  TaskRef finish(TaskSlot& slot, std::string_view name, CoreType core, Blocks blocks, KernelEntry entry,
                 std::size_t words, Touch* touches, std::size_t tensors);

  /// Copies the words of the first block to each further block.
  static void repeat_words(ArgWord* words, std::size_t count, Blocks blocks) noexcept {
    for (std::size_t block = 1; block < blocks.count; ++block) {
      for (std::size_t w = 0; w < count; ++w) words[block * count + w] = words[w];
    }
  }

  template <Kernel K, class... P, class... A>
  TaskRef add_checked(Blocks blocks, rondo::detail::ParameterList<P...>, const A&... arguments);
  template <class A>
  void fill_raw(const A& argument, ArgWord& word, Touch* touches, std::size_t& tensors);

  void (*before_read_)(std::uint64_t, std::uint64_t) noexcept = nullptr;
};

/// Runs a whole round, on the simulated device or a real one: `orchestration(orchestrator)` adds its tasks, then the
/// function waits for all of them. The text of a failure is in the orchestrator's stream.
template <class Orchestrator, class Orchestration>
Status orchestrate_round(Orchestrator& orchestrator, Orchestration&& orchestration) noexcept {
  orchestrator.begin_round();
  try {
    orchestration(orchestrator);
  } catch (const Stopped&) {  // NOLINT(bugprone-empty-catch): the failure is already recorded
  } catch (...) {
    Error::Text text("the orchestration: ");
    text.append(current_exception_text());
    orchestrator.stream().fail(Status{Errc::orchestration_failed}.poisoning(), text);
  }
  return orchestrator.finish_round();
}

}  // namespace rondo::platform::sim::dynamic

namespace rondo::runtime {
using platform::sim::dynamic::Region;
using platform::sim::dynamic::TaskRef;
using rondo::reads;
using rondo::updates;
using rondo::writes;
}  // namespace rondo::runtime

#include <rondo/platform/sim/dynamic/orchestrator_impl.hpp>  // IWYU pragma: export
