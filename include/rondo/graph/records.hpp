// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>
#include <rondo/extent.hpp>
#include <rondo/graph/words.hpp>
#include <rondo/tensor/handle.hpp>
#include <rondo/types.hpp>

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

/// A graph as flat arrays of plain records, for planners, args tables and engines.
namespace rondo::graph {

/// A range of the graph's text.
struct NameRef {
  std::uint32_t begin = 0;
  std::uint32_t size = 0;
};

/// The largest size of a host input, in bytes.
inline constexpr std::int64_t max_host_input_bytes = 4096;

/// The kinds of values that a session writes; see launch/round_values.hpp.
enum class ValueKind : std::uint8_t { none, random, step, scalar, descriptor };
/// A value that the session writes for each round.
struct RoundValue {
  ValueKind kind = ValueKind::none;
  std::uint32_t source = 0;     ///< for a descriptor: the tensor that it describes
  std::uint64_t bits = 0;       ///< a seed, or the initial value of a scalar
  std::uint64_t first = 0;      ///< the number of the first round, or the start of its random numbers
  std::uint64_t per_round = 0;  ///< the increment of `first` per round
  void (*make)(std::byte* to, std::uint64_t address, const Shape& shape) noexcept = nullptr;  ///< for a descriptor
};

/// A tensor of a graph: its elements, its use in a round, and the properties of its memory.
struct TensorRecord {
  NameRef name;
  DataType type = DataType::float32;
  Direction direction = Direction::in;
  Shape shape;              ///< 0 in place of each symbolic extent
  std::uint64_t count = 0;  ///< number of elements; 0 if the shape is symbolic
  std::uint64_t bytes = 0;  ///< 0 if the shape is symbolic
  bool fixed = false;       ///< its address never changes, since a task that reads it cannot be refreshed
  bool kept = false;        ///< shares its memory with no other tensor, so its contents last from round to round
  bool delivered = false;   ///< whether an output is a view of it
  Zeroed zeroed = Zeroed::never;
  MemoryKind memory = MemoryKind::device;  ///< see TaskGraph::in_memory
  std::uint32_t alias_of = no_alias;       ///< the input whose memory this output reuses
  static constexpr std::uint32_t no_alias = 0xFFFF'FFFF;
  std::uint32_t view_of = no_alias;       ///< the source of a view, which is not a view itself
  std::uint32_t viewed_at = 0;            ///< for a view: the number of tasks when it was made
  std::uint32_t symbolic = not_symbolic;  ///< the number of its shape among TaskGraph::symbolic_sizes()
  static constexpr std::uint32_t not_symbolic = 0xFFFF'FFFF;
  std::uint64_t view_first = 0;  ///< for a view: its first element in `view_of`; with symbols, set by instantiate()
  RoundValue value{};            ///< for a session_value

  [[nodiscard]] constexpr bool is_symbolic() const noexcept { return symbolic != not_symbolic; }
  /// Whether it can have this many bytes.
  [[nodiscard]] constexpr bool may_have(Bytes size) const noexcept {
    return is_symbolic() ? size.value % size_of(type) == 0 : size.value == bytes;
  }
  [[nodiscard]] constexpr bool is_view() const noexcept { return view_of != no_alias; }
  /// The offset of a view in its source, in bytes; 0 for other tensors.
  [[nodiscard]] constexpr std::uint64_t view_offset() const noexcept { return view_first * size_of(type); }
  /// Whether each slot of rounds in flight has its own memory for the tensor. All slots share zeroed workspace.
  [[nodiscard]] constexpr bool has_memory_per_slot() const noexcept {
    return is_bound_each_round(direction) ||
           (delivered && direction == Direction::workspace && zeroed == Zeroed::never);
  }
  /// Whether all rounds in flight use the same memory for the tensor, even if each slot has its own workspace.
  [[nodiscard]] constexpr bool is_shared_by_rounds() const noexcept {
    return direction == Direction::resident ||
           (direction == Direction::workspace && ((kept && zeroed != Zeroed::each_round) || zeroed == Zeroed::once));
  }
  /// Whether an output is a view of it, and all rounds in flight share it: they are then delivered one at a time.
  [[nodiscard]] constexpr bool is_delivered_alone() const noexcept {
    return delivered && (direction == Direction::resident || zeroed != Zeroed::never);
  }
  /// Whether a session places it in memory of its own, outside the arena.
  [[nodiscard]] constexpr bool is_outside_arena() const noexcept {
    return memory != MemoryKind::device && !is_bound_each_round(direction);
  }
  [[nodiscard]] constexpr bool is_defined_at_start() const noexcept {
    return defined_at_start(direction) || zeroed != Zeroed::never;
  }
};

/// A size of a graph that depends on symbols.
struct SymbolicSize {
  enum class Of : std::uint8_t {
    tensor,   ///< the shape of `tensor`
    view,     ///< the first element of the view `tensor`, counted in its source `task`
    blocks,   ///< the number of blocks of `task`
    reshape,  ///< the shape that `task` gives to `tensor`; see reshape()
    value,    ///< of `task`: a value of a library call, or the most repetitions of a loop
  };
  Of of = Of::tensor;
  std::uint32_t task = 0;  ///< by TaskId; for a view, its source, by TensorId
  std::uint32_t tensor = 0;
  SymbolicShape shape{};  ///< of rank 1 unless it is a shape
};

/// The tensor that owns the memory of `tensor`: the source of a view, or the tensor itself.
template <class Tensors>
[[nodiscard]] constexpr std::uint32_t root_of(const Tensors& tensors, std::uint32_t tensor) noexcept {
  return tensors[tensor].is_view() ? tensors[tensor].view_of : tensor;
}

/// The tensor whose memory `tensor` uses: the source of a view, the input that an output reuses, or the tensor itself.
template <class Tensors>
[[nodiscard]] constexpr std::uint32_t home_of(const Tensors& tensors, std::uint32_t tensor) noexcept {
  tensor = root_of(tensors, tensor);
  const std::uint32_t alias = tensors[tensor].alias_of;
  return alias == TensorRecord::no_alias ? tensor : alias;
}

/// Four or eight bytes of a task's argument block.
struct ArgRecord {
  enum class Kind : std::uint8_t {
    address,          ///< the device address of `tensor`
    scalar,           ///< `bits`: a value that the user gives
    extent,           ///< `bits`: an extent of `tensor`; for kernels written as types
    block,            ///< index and count of the running block
    constant,         ///< `bits`: a constant in the kernel's args format
    own_block,        ///< the device address of this argument block plus `bits`
    system,           ///< an address that only the platform knows, selected by `bits`; see args/system_slot.hpp
    reshaped_extent,  ///< of the shape that the task gives to `tensor`, number `bits` of the graph's symbolic sizes;
                      ///< instantiate() replaces it with an extent
    filled_bytes,     ///< of the fill: the bytes from its first tensor to the end of its last
  };
  Kind kind = Kind::scalar;
  Access access = Access::read;  ///< for an address
  std::uint32_t tensor = 0;      ///< for an address
  ArgWord bits = 0;
  std::uint32_t offset = 0;               ///< bytes from the start of the block; need not be a multiple of the width
  std::uint8_t width = 8;                 ///< in bytes: 4 (the low half) or 8
  std::uint8_t dimension = all_elements;  ///< for an extent: the dimension of `tensor`
  static constexpr std::uint8_t all_elements = 0xFF;
  std::uint16_t in_place_of = not_in_place;  ///< for an address: the argument, by number, whose memory it may reuse
  static constexpr std::uint16_t not_in_place = 0xFFFF;

  [[nodiscard]] constexpr bool is_address() const noexcept { return kind == Kind::address; }
  [[nodiscard]] constexpr bool is_address_of(std::uint32_t t) const noexcept { return is_address() && tensor == t; }
};

/// A task of a graph: its kernel, core and blocks, and the range of its arguments in `args`.
struct TaskRecord {
  NameRef name;
  CoreType core = CoreType::vector;
  bool fills = false;        ///< whether the task zeroes the round's zeroed workspaces; see graph/zeroed.hpp
  bool idle = false;         ///< has no work; freezing removes the task but preserves the order it implies
  bool waits = false;        ///< the call waits for other processes; it runs when no other task can
  std::uint32_t blocks = 1;  ///< 1 if they are symbolic
  std::uint32_t first_arg = 0;
  std::uint32_t arg_count = 0;
  std::uint32_t added_as = 0;      ///< its TaskId, in the order of add()
  std::uint32_t block_bytes = 0;   ///< the bytes of one argument block; a multiple of 8
  std::uint32_t threads = 0;       ///< per block, if the device has threads; 0: the kernel does not state it
  std::uint32_t shared_bytes = 0;  ///< the bytes that the threads of a block share
  std::uint32_t loop = no_loop;    ///< the innermost loop that it is part of
  static constexpr std::uint32_t no_loop = 0xFFFF'FFFF;
  KernelEntry entry = nullptr;
  CostEntry cost = nullptr;          ///< null: the kernel does not state a cost
  NameRef wide_name{};               ///< the name of the kernel for tensors of 2^31 elements or more
  KernelEntry wide_entry = nullptr;  ///< null: `entry` supports all sizes
  CallEntry call = nullptr;          ///< for a library call; devices with streams call it in place of a kernel
  SessionEntry session = nullptr;    ///< for a library call that is notified of sessions
};

struct LoopCode;

/// A loop: consecutive tasks that run repeatedly or under a condition, see graph/loops.hpp. Its decision, a task that
/// reads the condition, is the last of them for `repeat_until` and the first for `when`.
struct LoopRecord {
  enum class Kind : std::uint8_t { repeat_until, when };
  Kind kind = Kind::repeat_until;
  std::uint32_t condition = 0;                 ///< a tensor of one integer
  std::uint32_t decision = none;               ///< a TaskId; in a frozen graph, a position
  std::uint32_t parent = TaskRecord::no_loop;  ///< the loop that contains it
  std::uint32_t first = 0;                     ///< in a frozen graph: the position of its first task
  std::uint32_t last = 0;                      ///< the position after its last task; `first` if it has no work
  double expected = 0;                         ///< repetitions that predictions assume; 0: the most
  const LoopCode* code = nullptr;              ///< see graph/rare_code.hpp
  static constexpr std::uint32_t none = 0xFFFF'FFFF;

  [[nodiscard]] constexpr bool has_work() const noexcept { return first != last; }
};

/// Whether the loop `inner` is `outer` or is part of it; no_loop stands for the whole graph.
template <class Loops>
[[nodiscard]] constexpr bool is_within(const Loops& loops, std::uint32_t inner, std::uint32_t outer) noexcept {
  while (inner != outer && inner != TaskRecord::no_loop) inner = loops[inner].parent;
  return inner == outer;
}

/// Whether an output reuses the memory of this input; see TaskGraph::alias.
[[nodiscard]] constexpr bool is_reused(std::span<const TensorRecord> tensors, std::uint32_t input) noexcept {
  for (const TensorRecord& tensor : tensors) {
    if (tensor.alias_of == input) return true;
  }
  return false;
}

/// The list as a span. The constructor that takes a range checks concepts, 12 ms in g++ 12 for each type.
template <class T>
[[nodiscard]] constexpr std::span<const T> span_of(const std::vector<T>& list) noexcept {
  return {list.data(), list.size()};
}

struct Lanes;

/// A frozen graph as spans. Trivially copyable; the graph must outlive it.
struct GraphView {
  std::span<const TensorRecord> tensors;
  std::span<const TaskRecord> tasks;  ///< each after all of its predecessors
  std::span<const ArgRecord> args;
  std::span<const std::uint32_t> successor_begin;    ///< tasks + 1 entries: the start of each task's successors
  std::span<const std::uint32_t> successors;         ///< positions in `tasks`
  std::span<const std::uint32_t> predecessor_count;  ///< by task
  std::string_view text;
  std::uint32_t tag = 0;                ///< the graph's part of its TensorKeys
  const Lanes* lanes = nullptr;         ///< how tasks are dealt to lanes; null: one lane, in the order of the tasks
  std::span<const LoopRecord> loops{};  ///< each after the loop that contains it

  [[nodiscard]] constexpr std::string_view name(NameRef ref) const noexcept {
    return {text.data() + ref.begin, ref.size};
  }
  [[nodiscard]] constexpr std::span<const ArgRecord> args_of(const TaskRecord& task) const noexcept {
    return args.subspan(task.first_arg, task.arg_count);
  }
  [[nodiscard]] constexpr std::span<const std::uint32_t> successors_of(std::size_t task) const noexcept {
    return successors.subspan(successor_begin[task], successor_begin[task + 1] - successor_begin[task]);
  }
  [[nodiscard]] constexpr TensorKey key(std::size_t tensor) const noexcept {
    return {TensorId{static_cast<std::uint32_t>(tensor)}, tag};
  }

  /// The handle of the tensor with this name. @throws Error invalid_argument if no tensor has this name, element type
  /// and direction
  template <Element T, Direction D>
  [[nodiscard]] constexpr TensorHandle<T, D> find(std::string_view name_wanted) const {
    for (std::size_t t = 0; t < tensors.size(); ++t) {
      const TensorRecord& tensor = tensors[t];
      if (name(tensor.name) != name_wanted) continue;
      if (tensor.type != data_type_of<T> || tensor.direction != D) {
        throw Error(Errc::invalid_argument, Error::Text{"tensor '", name_wanted, "' is ", to_string(tensor.direction),
                                                        " of ", to_string(tensor.type), ", asked for as ", to_string(D),
                                                        " of ", to_string(data_type_of<T>)});
      }
      return {key(t)};
    }
    throw Error(Errc::invalid_argument, Error::Text{"the graph has no tensor called '", name_wanted, "'"});
  }
};

}  // namespace rondo::graph
