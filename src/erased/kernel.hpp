// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/detail/fixed_text.hpp>
#include <rondo/graph/task_graph.hpp>
#include <rondo/version.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Kernels, graphs and sessions whose types are known at run time only. The C library and the Python module are made of
/// them.
namespace rondo::erased {

/// How a number becomes the word of a scalar.
enum class ScalarKind : std::uint8_t { boolean, signed_integer, unsigned_integer, floating };

/// One parameter of a kernel, for which a task has an argument. A Block is not among them: the launch fills it in.
struct KernelParameter {
  bool is_tensor = false;
  DataType type = DataType::float32;  ///< of a tensor's elements
  Access access = Access::read;       ///< of a tensor
  std::uint8_t rank = 1;              ///< of a tensor; 1 takes any number of dimensions
  ScalarKind scalar = ScalarKind::floating;
  std::uint8_t scalar_bytes = 0;
  std::string_view name{};            ///< from the signature, if the kernel has one
  std::span<const Extent> extents{};  ///< of a tensor, from the signature: numbers and symbols of the signature
};

/// The argument for a parameter.
struct KernelArgument {
  TensorKey tensor;
  SymbolicShape shape;  ///< the tensor's own, or the one that it was reshaped to
  ArgWord scalar = 0;
};

/// A kernel. Outlives the tasks that are added with it.
struct KernelRecord {
  std::string_view name;
  CoreType core = CoreType::vector;
  std::span<const KernelParameter> parameters;
  /// Adds a task to a graph; the arguments were checked against the parameters.
  TaskId (*add)(const KernelRecord& kernel, TaskGraph& graph, Blocks blocks,
                std::span<const KernelArgument> arguments) = nullptr;
};

struct RoundArgument;

/// A kernel that is a function and a signature. Its argument block is that of a C++ kernel with the same parameters:
/// one word for each parameter (the address of a tensor, the bits of a scalar, a block's index and, in the upper half,
/// count), then the extents of the tensors in turn. A tensor of one extent has one word there, its number of elements.
class SignatureKernel : public KernelRecord {
 public:
  /// `entry` may be null for kernels that exist on a device only. `closure`, unless null, is passed to the function as
  /// a word before all others. @throws Error invalid_argument: a signature that does not parse
  SignatureKernel(std::string_view called, CoreType on, std::string_view signature, KernelEntry entry,
                  const void* closure = nullptr);
  SignatureKernel(const SignatureKernel&) = delete;
  SignatureKernel& operator=(const SignatureKernel&) = delete;

  [[nodiscard]] const std::string& signature() const noexcept { return signature_; }
  /// The index of the parameter of each name in the signature, or `block`.
  [[nodiscard]] const std::vector<std::size_t>& words() const noexcept { return words_; }
  static constexpr std::size_t block = ~std::size_t{0};
  [[nodiscard]] KernelEntry function() const noexcept { return entry_; }
  [[nodiscard]] const void* closure() const noexcept { return closure_; }
  /// Makes the checks of add_task() for a task that an orchestration adds. @throws Error invalid_argument, wrong_size
  void check(std::span<const RoundArgument> arguments) const;

 private:
  static TaskId add_task(const KernelRecord& kernel, TaskGraph& graph, Blocks blocks,
                         std::span<const KernelArgument> arguments);
  void check_extents(std::span<const KernelArgument> arguments) const;

  std::string name_;
  std::string signature_;
  KernelEntry entry_;
  const void* closure_;
  std::vector<std::string> symbols_;
  std::vector<std::vector<Extent>> extents_;  ///< by parameter
  std::vector<KernelParameter> parameters_;
  std::vector<std::size_t> words_;
};

/// The parameters as text: "vector: In[float32], InOut[float32], float32".
[[nodiscard]] std::string describe_kernel(const KernelRecord& kernel);
/// @throws Error invalid_argument unless the kernel takes this many arguments
void require_count(const KernelRecord& kernel, std::size_t given);

/// Converts a number to the word that a parameter takes. @throws Error invalid_argument: it does not fit
[[nodiscard]] ArgWord scalar_word(double number, const KernelParameter& parameter, std::string_view kernel);
[[nodiscard]] ArgWord scalar_word(std::int64_t number, const KernelParameter& parameter, std::string_view kernel);
[[nodiscard]] ArgWord scalar_word(std::uint64_t number, const KernelParameter& parameter, std::string_view kernel);

/// Python modules pass records as capsules of this name. Both must be compiled against the same version of Rondo, since
/// the record and the graph that it adds to are C++ objects of it.
inline constexpr rondo::detail::FixedText<64> capsule_text{
    "rondo.kernel ",        version.major, ".", version.minor, ".", version.patch, "/", sizeof(TaskGraph), "/",
    sizeof(KernelParameter)};
inline constexpr const char* capsule_name = capsule_text.c_str();

}  // namespace rondo::erased
