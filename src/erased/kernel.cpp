// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include "kernel.hpp"

#include "declaration.hpp"
#include "fail.hpp"

#include <cstdio>
#include <limits>
#include <optional>

namespace rondo::erased {

namespace {

KernelParameter parameter_of(const Declaration& d, std::string_view text, std::string_view what) {
  KernelParameter p;
  p.type = d.type;
  if (d.role == Role::scalar) {
    switch (d.type) {
      case DataType::boolean: p.scalar = ScalarKind::boolean; break;
      case DataType::float32:
      case DataType::float64: p.scalar = ScalarKind::floating; break;
      case DataType::int8:
      case DataType::int16:
      case DataType::int32:
      case DataType::int64: p.scalar = ScalarKind::signed_integer; break;
      case DataType::uint8:
      case DataType::uint16:
      case DataType::uint32:
      case DataType::uint64: p.scalar = ScalarKind::unsigned_integer; break;
      default:
        fail_at(text, what, d.at, d.name.size(),
                "no scalar has this type; pass its bits, or its parts, as scalars of other types");
    }
    p.scalar_bytes = static_cast<std::uint8_t>(size_of(d.type));
    return p;
  }
  p.is_tensor = true;
  p.rank = static_cast<std::uint8_t>(d.extents.size());
  switch (d.role) {
    case Role::in: p.access = Access::read; break;
    case Role::out: p.access = Access::write; break;
    case Role::inout: p.access = Access::read_write; break;
    default:
      fail_at(text, what, d.at, d.name.size(), "a kernel's tensor is in, out or inout; only graphs have the others");
  }
  if (p.rank == 0) fail_at(text, what, d.at, d.name.size(), "a kernel's tensor has at least one extent; write [n]");
  return p;
}

std::string extent_text(const std::optional<std::int64_t>& extent) {
  return extent ? std::to_string(*extent) : std::string("an expression");
}

}  // namespace

SignatureKernel::SignatureKernel(std::string_view called, CoreType on, std::string_view signature, KernelEntry entry,
                                 const void* closure)
    : name_{called}, signature_{signature}, entry_{entry}, closure_{closure} {
  if (called.empty()) fail(Errc::invalid_argument, "a kernel has no name; give it one");
  const std::string what = "the signature of kernel '" + name_ + "'";
  Declarations declared = parse_declarations(signature_, what);
  symbols_ = std::move(declared.symbols);
  for (Declaration& d : declared.list) {
    if (d.role == Role::block) {
      words_.push_back(block);
      continue;
    }
    words_.push_back(parameters_.size());
    parameters_.push_back(parameter_of(d, signature_, what));
    parameters_.back().name = d.name;
    extents_.push_back(std::move(d.extents));
  }
  for (std::size_t p = 0; p < parameters_.size(); ++p) parameters_[p].extents = extents_[p];
  name = name_;
  core = on;
  parameters = parameters_;
  add = &add_task;
}

TaskId SignatureKernel::add_task(const KernelRecord& kernel, TaskGraph& graph, Blocks blocks,
                                 std::span<const KernelArgument> arguments) {
  const auto& self = static_cast<const SignatureKernel&>(kernel);
  self.check_extents(arguments);
  using Kind = graph::ArgRecord::Kind;
  std::vector<TaskGraph::Described> described;
  if (self.closure_ != nullptr) {
    // A constant, so that it is none of the scalars that a session changes.
    described.push_back(
        {.kind = Kind::constant, .bits = static_cast<ArgWord>(reinterpret_cast<std::uintptr_t>(self.closure_))});
  }
  for (const std::size_t p : self.words_) {
    if (p == block) {
      described.push_back({Kind::block});
    } else if (!self.parameters_[p].is_tensor) {
      described.push_back({.kind = Kind::scalar, .bits = arguments[p].scalar});
    } else {
      const KernelArgument& a = arguments[p];
      const bool is_own = graph.declared_shape(graph.tensors()[index(a.tensor.tensor())]) == a.shape;
      described.push_back(
          {Kind::address, self.parameters_[p].access, a.tensor, is_own ? nullptr : &a.shape, self.parameters_[p].rank});
    }
  }
  return graph.add_described(self.name_, self.core, blocks, self.entry_, described);
}

/// Refuses plain extents that do not fit together; those that depend on the graph's symbols are not known yet.
void SignatureKernel::check_extents(std::span<const KernelArgument> arguments) const {
  struct Value {
    std::optional<std::int64_t> extent;
    std::string_view from;
  };
  std::vector<std::optional<Value>> values(symbols_.size());
  const auto refuse = [this](std::size_t p, std::size_t d, std::int64_t wanted, std::int64_t is) {
    fail(Errc::wrong_size, "kernel '", name_, "' takes '", parameters_[p].name, "' with extent ", wanted,
         " in dimension ", d, ", and the tensor has ", is);
  };
  struct Expression {
    std::size_t p, d;
    std::int64_t is;
  };
  std::vector<Expression> expressions;  // once the symbols are known
  for (std::size_t p = 0; p < parameters_.size(); ++p) {
    if (!parameters_[p].is_tensor) continue;
    const SymbolicShape& shape = arguments[p].shape;
    const bool is_flat = parameters_[p].rank == 1 && shape.rank() != 1;  // all elements, whatever the dimensions
    if (!is_flat && shape.rank() != parameters_[p].rank) continue;       // refused by the graph
    for (std::size_t d = 0; d < parameters_[p].rank; ++d) {
      std::optional<std::int64_t> is;
      if (!is_flat) {
        if (shape.dim(d).empty()) is = shape.extent(d);
      } else if (!shape.is_symbolic()) {
        is = 1;
        for (std::size_t e = 0; e < shape.rank(); ++e) *is *= shape.extent(e);
      }
      const Extent& wanted = extents_[p][d];
      const std::int32_t symbol = wanted.dim.as_symbol();
      if (wanted.dim.empty()) {
        if (is && *is != wanted.value) refuse(p, d, wanted.value, *is);
      } else if (symbol < 0) {
        if (is) expressions.push_back({p, d, *is});
      } else {
        std::optional<Value>& value = values[static_cast<std::size_t>(symbol)];
        if (!value || (is && !value->extent)) value = Value{is, parameters_[p].name};
        if (is && value->extent && *is != *value->extent) {
          fail(Errc::wrong_size, "kernel '", name_, "': ", symbols_[static_cast<std::size_t>(symbol)], " is ",
               extent_text(value->extent), " in '", value->from, "' and ", extent_text(is), " in '",
               parameters_[p].name, "'; pass tensors whose sizes fit together");
        }
      }
    }
  }
  for (const auto& [p, d, is] : expressions) {
    const Dim& dim = extents_[p][d].dim;
    std::vector<std::int64_t> known(symbols_.size());
    bool all = true;
    dim.for_each_symbol([&](std::int32_t symbol) {
      const auto s = static_cast<std::size_t>(symbol);
      all = all && values[s] && values[s]->extent;
      if (all) known[s] = *values[s]->extent;
    });
    const Dim::Value wanted = dim.evaluate(known.data());
    if (all && wanted.ok && wanted.value != is) refuse(p, d, wanted.value, is);
  }
}

std::string describe_kernel(const KernelRecord& kernel) {
  std::string text = to_string(kernel.core) + std::string(": ");
  for (const KernelParameter& p : kernel.parameters) {
    if (&p != kernel.parameters.data()) text += ", ";
    if (p.is_tensor) {
      text += std::string(p.access == Access::read    ? "In"
                          : p.access == Access::write ? "Out"
                                                      : "InOut") +
              "[" + to_string(p.type) + (p.rank == 1 ? "" : ", " + std::to_string(p.rank)) + "]";
    } else {
      constexpr const char* kinds[] = {"bool", "int", "uint", "float"};
      text += kinds[static_cast<std::size_t>(p.scalar)];
      if (p.scalar != ScalarKind::boolean) text += std::to_string(8 * p.scalar_bytes);
    }
  }
  return text;
}
void require_count(const KernelRecord& kernel, std::size_t given) {
  if (given == kernel.parameters.size()) return;
  fail(Errc::invalid_argument, "kernel '", kernel.name, "' takes ", kernel.parameters.size(), " arguments (",
       describe_kernel(kernel), "), ", given, " were given");
}

namespace {

[[noreturn]] void refuse_scalar(const KernelParameter& parameter, std::string_view kernel, std::string_view number) {
  constexpr const char* kinds[] = {"a bool", "a signed integer", "an unsigned integer", "a floating-point number"};
  fail(Errc::invalid_argument, "kernel '", kernel, "' takes ", kinds[static_cast<std::size_t>(parameter.scalar)],
       " of ", 8 * parameter.scalar_bytes, " bits", parameter.name.empty() ? "" : " as ", parameter.name, ", and ",
       number, " does not fit");
}
std::string short_text(double number) {
  char text[32];
  (void)std::snprintf(text, sizeof text, "%g", number);
  return text;
}
ArgWord masked(std::uint64_t bits, const KernelParameter& parameter) {
  return static_cast<ArgWord>(
      parameter.scalar_bytes == 8 ? bits : bits & ((std::uint64_t{1} << 8 * parameter.scalar_bytes) - 1));
}

}  // namespace

ArgWord scalar_word(double number, const KernelParameter& parameter, std::string_view kernel) {
  if (parameter.scalar != ScalarKind::floating) refuse_scalar(parameter, kernel, short_text(number));
  if (parameter.scalar_bytes == sizeof(double)) return rondo::detail::to_word(number);
  constexpr double most = std::numeric_limits<float>::max();
  if (number - number == 0 && (number > most || number < -most)) {
    refuse_scalar(parameter, kernel, short_text(number));
  }
  return rondo::detail::to_word(static_cast<float>(number));
}

ArgWord scalar_word(std::int64_t number, const KernelParameter& parameter, std::string_view kernel) {
  const unsigned bits = 8U * parameter.scalar_bytes;
  if (parameter.scalar == ScalarKind::floating) return scalar_word(static_cast<double>(number), parameter, kernel);
  if (parameter.scalar == ScalarKind::unsigned_integer && number >= 0) {
    return scalar_word(static_cast<std::uint64_t>(number), parameter, kernel);
  }
  const bool fits = parameter.scalar == ScalarKind::boolean
                        ? number == 0 || number == 1
                        : parameter.scalar == ScalarKind::signed_integer &&
                              (bits == 64 || number >> (bits - 1) == (number < 0 ? -1 : 0));
  if (!fits) refuse_scalar(parameter, kernel, std::to_string(number));
  return masked(static_cast<std::uint64_t>(number), parameter);
}

ArgWord scalar_word(std::uint64_t number, const KernelParameter& parameter, std::string_view kernel) {
  if (parameter.scalar != ScalarKind::unsigned_integer) {
    if (number >> 63 != 0) refuse_scalar(parameter, kernel, std::to_string(number));
    return scalar_word(static_cast<std::int64_t>(number), parameter, kernel);
  }
  if (parameter.scalar_bytes != 8 && number >> 8 * parameter.scalar_bytes != 0) {
    refuse_scalar(parameter, kernel, std::to_string(number));
  }
  return masked(number, parameter);
}

}  // namespace rondo::erased
