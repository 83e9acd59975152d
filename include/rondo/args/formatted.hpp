// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/args/detail/symbolic_extents.hpp>
#include <rondo/args/layout.hpp>
#include <rondo/graph/task_graph.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string_view>
#include <utility>
#include <vector>

/// Tasks whose arguments are laid out by a format that is supplied with the kernel, for example in a compiler's output.
///
///     args::Operands io;
///     io.input(x).dynamic_input(a, b, c).output(y).workspace(w).tiling(std::int32_t{128});
///     args::add_formatted(graph, "concat", CoreType::vector, &entry, "{i0*}{i1}{o0*}{ws0*}{t}", io);
namespace rondo::args {

/// The tensors of a kernel in the order of its IR, and its tiling data. A value; add_formatted() checks it.
class Operands {
 public:
  /// Adds the next IR input. `no_input`: an optional one that is absent. `dynamic_input`: any number of tensors.
  template <Element T, Direction D>
  Operands& input(TensorHandle<T, D> tensor) {
    return add(inputs_, Occurrence::required, {tensor.key});
  }
  /// Adds a value that the session writes; see launch/round_values.hpp.
  template <class Value>
    requires(Value::direction == Direction::session_value)
  Operands& input(Value value) {
    return add(inputs_, Occurrence::required, {value.key});
  }
  Operands& no_input() { return add(inputs_, Occurrence::optional, {}); }
  template <class... H>
  Operands& dynamic_input(H... tensors) {
    return add(inputs_, Occurrence::dynamic, {tensors.key...});
  }
  /// Adds the next IR output in the same way. A tensor that is both input and output is updated.
  template <Element T, Direction D>
  Operands& output(TensorHandle<T, D> tensor) {
    static_assert(kernels_may_write(D), "rondo: the kernel writes a tensor that is an input; make it inout");
    return add(outputs_, Occurrence::required, {tensor.key});
  }
  Operands& no_output() { return add(outputs_, Occurrence::optional, {}); }
  template <Element... T, Direction... D>
  Operands& dynamic_output(TensorHandle<T, D>... tensors) {
    static_assert((kernels_may_write(D) && ...), "rondo: the kernel writes a tensor that is an input; make it inout");
    return add(outputs_, Occurrence::dynamic, {tensors.key...});
  }
  template <Element T, Direction D>
  Operands& workspace(TensorHandle<T, D> tensor) {
    static_assert(kernels_may_write(D), "rondo: the kernel writes a tensor that is an input; make it inout");
    workspaces_.push_back(tensor.key);
    return *this;
  }
  /// Adds the next eight bytes of the tiling data (`{t}`): a scalar of the task, see RoundSession::set_scalar.
  template <class T>
    requires(std::is_arithmetic_v<T> || std::is_enum_v<T>)
  Operands& tiling(T value) {
    tiling_.push_back(rondo::detail::to_word(value));
    return *this;
  }
  /// Sets the operands of a sub-node, for the patterns `{skn<id>…}` of a super-kernel.
  Operands& node(std::uint32_t id, Operands operands) {
    node_ids_.push_back(id);
    nodes_.push_back(std::move(operands));
    return *this;
  }

 private:
  struct List {
    /// One IR parameter: its number of occurrences, and its tensors in `keys`.
    struct Group {
      Occurrence occurrence;
      std::uint32_t first;
      std::uint32_t count;
    };
    std::vector<Group> groups;
    std::vector<TensorKey> keys;
  };
  Operands& add(List& list, Occurrence occurrence, std::initializer_list<TensorKey> keys) {
    list.groups.push_back(
        {occurrence, static_cast<std::uint32_t>(list.keys.size()), static_cast<std::uint32_t>(keys.size())});
    list.keys.insert(list.keys.end(), keys);
    return *this;
  }

  List inputs_;
  List outputs_;
  std::vector<TensorKey> workspaces_;
  std::vector<ArgWord> tiling_;
  std::vector<std::uint32_t> node_ids_;
  std::vector<Operands> nodes_;

  friend class FormattedTask;
};

/// Converts a format and its operands into the argument records of a task.
class FormattedTask {
 public:
  FormattedTask(const TaskGraph& graph, std::string_view name, std::string_view format, const Operands& operands)
      : graph_{graph}, name_{name}, operands_{operands} {
    collect_accesses(operands);
    const Signature signature = describe(operands);
    const LayoutSize size = check_layout(format, signature);
    std::vector<Slot> slots(size.slots);
    (void)try_lay_out(format, signature, slots);
    block_bytes_ = size.block_bytes;
    // The tiling data follow the block: first those of the kernel, then those of each sub-node.
    std::vector<Tiling> tilings{{&operands, block_bytes_}};
    for (const Operands& node : operands.nodes_) tilings.push_back({&node, tilings.back().end()});
    for (const Slot& slot : slots) {
      Tiling& tiling =
          *std::find_if(tilings.begin(), tilings.end(), [&](const Tiling& t) { return t.of == &operands_of(slot); });
      records_.push_back(detail::record_of(
          graph_, slot, tiling.offset, [](std::uint32_t tensor) { return tensor; },
          [this](const Slot& of_address) { return address(of_address); }));
      tiling.is_reached = tiling.is_reached || slot.kind == SlotKind::tiling;
    }
    for (const Tiling& tiling : tilings) {
      if (tiling.is_reached != !tiling.of->tiling_.empty()) {
        fail(tiling.is_reached ? "has a format with {t}, but its operands hold no tiling data"
                               : "has tiling data, but its format has no {t}, through which they are reached");
      }
      for (const ArgWord word : tiling.of->tiling_) {
        records_.push_back({graph::ArgRecord::Kind::scalar, Access::read, 0, word, block_bytes_});
        block_bytes_ += static_cast<std::uint32_t>(sizeof(ArgWord));
      }
    }
    for (const Touched& touched : touched_) {
      if (!touched.placed) {
        throw Error(Errc::invalid_argument,
                    Error::Text{"task '", name_, "': its args format leaves out tensor '",
                                graph_.name(graph_.tensors()[index(touched.key.tensor())].name), "'"});
      }
    }
  }

  [[nodiscard]] const std::vector<graph::ArgRecord>& records() const noexcept { return records_; }
  [[nodiscard]] std::uint32_t block_bytes() const noexcept { return block_bytes_; }

 private:
  struct Touched {
    TensorKey key;
    bool reads = false;
    bool writes = false;
    bool placed = false;
  };
  struct Shapes {
    std::vector<Shape> instances;
    std::vector<Parameter> parameters;
  };

  /// The tiling data of the kernel or of a sub-node.
  struct Tiling {
    const Operands* of;
    std::uint32_t offset;     ///< from the start of the block
    bool is_reached = false;  ///< whether a word of the block points to them
    [[nodiscard]] std::uint32_t end() const {
      return offset + static_cast<std::uint32_t>(sizeof(ArgWord) * of->tiling_.size());
    }
  };

  [[noreturn]] void fail(const char* what) const {
    throw Error(Errc::invalid_argument, Error::Text{"task '", name_, "' ", what});
  }

  Touched& touched(TensorKey key) {
    for (Touched& t : touched_) {
      if (t.key == key) return t;
    }
    if (key.graph() != graph_.tag() || index(key.tensor()) >= graph_.tensors().size()) {
      fail("receives a tensor of another graph; use the handles of this one");
    }
    return touched_.emplace_back(Touched{key});
  }
  void collect_accesses(const Operands& operands) {
    for (const TensorKey key : operands.inputs_.keys) touched(key).reads = true;
    for (const TensorKey key : operands.outputs_.keys) touched(key).writes = true;
    for (const TensorKey key : operands.workspaces_) touched(key).writes = true;
    for (const Operands& node : operands.nodes_) collect_accesses(node);
  }

  [[nodiscard]] Signature describe(const Operands& operands) {
    const auto describe_list = [&](const Operands::List& list) -> std::span<const Parameter> {
      Shapes& shapes = shapes_.emplace_back();
      for (const TensorKey key : list.keys) {
        const std::uint32_t tensor = index(key.tensor());
        shapes.instances.push_back(detail::marks_of(tensor, graph_.tensors()[tensor].shape.rank()));
      }
      for (const auto& group : list.groups) {
        const std::span all(shapes.instances);
        shapes.parameters.push_back({group.occurrence, group.count, all.subspan(group.first, group.count)});
      }
      return shapes.parameters;
    };
    Signature signature;
    signature.inputs = describe_list(operands.inputs_);
    signature.outputs = describe_list(operands.outputs_);
    signature.workspaces = static_cast<std::uint32_t>(operands.workspaces_.size());
    std::vector<SubNode> nodes;
    nodes.reserve(operands.nodes_.size());
    for (std::size_t n = 0; n < operands.nodes_.size(); ++n) {
      nodes.push_back({operands.node_ids_[n], describe(operands.nodes_[n])});
    }
    signature.nodes = nodes_.emplace_back(std::move(nodes));
    return signature;
  }

  [[nodiscard]] const Operands& operands_of(const Slot& slot) const {
    for (std::size_t n = 0; n < operands_.nodes_.size(); ++n) {
      if (operands_.node_ids_[n] == slot.node) return operands_.nodes_[n];
    }
    return operands_;
  }

  [[nodiscard]] graph::ArgRecord address(const Slot& slot) {
    const Operands& operands = operands_of(slot);
    const TensorKey key = slot.kind == SlotKind::input    ? operands.inputs_.keys[slot.tensor]
                          : slot.kind == SlotKind::output ? operands.outputs_.keys[slot.tensor]
                                                          : operands.workspaces_[slot.index];
    Touched& t = touched(key);
    t.placed = true;
    const Access access = t.reads && t.writes ? Access::read_write : t.writes ? Access::write : Access::read;
    return {graph::ArgRecord::Kind::address, access, index(key.tensor()), 0};
  }

  const TaskGraph& graph_;
  std::string_view name_;
  const Operands& operands_;
  std::vector<Touched> touched_;
  std::deque<Shapes> shapes_;
  std::deque<std::vector<SubNode>> nodes_;
  std::vector<graph::ArgRecord> records_;
  std::uint32_t block_bytes_ = 0;
};

/// Adds a task that runs a raw kernel on arguments laid out by `format`. The format is checked against the operands.
/// @throws Error invalid_argument, and leaves the graph unchanged: a mistake in the format, with position and reason; a
/// pattern that the operands do not match; a tensor that the format omits, or that belongs to another graph
inline TaskId add_formatted(TaskGraph& graph, std::string_view name, CoreType core, Blocks blocks, KernelEntry entry,
                            std::string_view format, const Operands& operands) {
  const FormattedTask task(graph, name, format, operands);
  return graph.add_laid_out(name, core, blocks, entry, task.records(), task.block_bytes());
}
inline TaskId add_formatted(TaskGraph& graph, std::string_view name, CoreType core, KernelEntry entry,
                            std::string_view format, const Operands& operands) {
  return add_formatted(graph, name, core, Blocks{1}, entry, format, operands);
}

}  // namespace rondo::args
