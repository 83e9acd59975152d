// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/graph/words.hpp>
#include <rondo/tensor/view.hpp>
#include <rondo/types.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace rondo {

namespace args::detail {
/// The argument block of a kernel that declares an args format; defined in args/kernel_args.hpp.
template <class K>
struct DeclaredArgs;
}  // namespace args::detail

/// Declared by a kernel that works in place: two of its parameters, counted from 0, may have the same memory. Each
/// block writes an element of the Out only after it has read everything in the In on which this element depends.
///
///     static constexpr rondo::InPlace in_place{.out = 1, .in = 0};
struct InPlace {
  std::size_t out = 0;
  std::size_t in = 0;
  friend constexpr bool operator==(const InPlace&, const InPlace&) noexcept = default;
};

/// Declared by a kernel that requires one of its workspaces, a parameter of run counted from 0, to be zero at the
/// start. It is zeroed each round, or once, if the kernel leaves zeros.
///
///     static constexpr rondo::Zeros zeros{.parameter = 2, .when = rondo::Zeroed::once};
struct Zeros {
  std::size_t parameter = 0;
  Zeroed when = Zeroed::each_round;
  friend constexpr bool operator==(const Zeros&, const Zeros&) noexcept = default;
};

namespace detail {

/// The traits of a parameter of `run`, with the defaults for most. `read` is constexpr for the code of CUDA devices.
struct AnyParameter {
  static constexpr bool is_valid = true;
  static constexpr bool is_tensor = false;
  static constexpr bool is_block = false;
  static constexpr bool is_scratch = false;
  static constexpr Access access = Access::read;
  static constexpr std::size_t rank = 0;
  using element_type = void;
};
template <class P>
struct Parameter : AnyParameter {
  static constexpr bool is_valid = false;
};

template <class V, Access A>
struct TensorParameter : AnyParameter {
  static constexpr bool is_tensor = true;
  static constexpr Access access = A;
  static constexpr std::size_t rank = V::rank;
  using element_type = typename V::value_type;

  static constexpr V at(std::uint64_t address, const ArgWord* extents) noexcept {
    using Pointer = decltype(std::declval<V>().data());
    return V{reinterpret_cast<Pointer>(address), extents};  // NOLINT: the address of simulated memory
  }
  /// `word`: the position of the address; `extents`: the position of the first of `rank` extents.
  static constexpr V read(const ArgWord* args, std::size_t word, std::size_t extents) noexcept {
    return at(static_cast<std::uint64_t>(args[word]), args + extents);
  }
};
template <class T, std::size_t R>
struct Parameter<In<T, R>> : TensorParameter<In<T, R>, Access::read> {};
template <class T, std::size_t R>
struct Parameter<Out<T, R>> : TensorParameter<Out<T, R>, Access::write> {};
template <class T, std::size_t R>
struct Parameter<InOut<T, R>> : TensorParameter<InOut<T, R>, Access::read_write> {};
template <class T, std::size_t R>
struct Parameter<Scratch<T, R>> : TensorParameter<Scratch<T, R>, Access::write> {
  static constexpr bool is_scratch = true;
};

template <class P>
  requires(std::is_arithmetic_v<P> || std::is_enum_v<P>) && (sizeof(P) <= sizeof(ArgWord))
struct Parameter<P> : AnyParameter {
  static constexpr P read(const ArgWord* args, std::size_t at, std::size_t) noexcept { return from_word<P>(args[at]); }
};

template <>
struct Parameter<Block> : AnyParameter {
  static constexpr bool is_block = true;
  static constexpr Block read(const ArgWord* args, std::size_t word, std::size_t) noexcept {
    const auto bits = static_cast<std::uint64_t>(args[word]);
    return {static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits >> 32)};
  }
};

template <class... P>
struct ParameterList {
  static constexpr std::size_t size = sizeof...(P);
  /// The number of words of the argument block: one for each parameter, then the extents of each tensor.
  static constexpr std::size_t words = (sizeof...(P) + ... + Parameter<P>::rank);
};

template <class F>
struct RunSignature {
  static constexpr bool is_valid = false;
};
template <bool is_noexcept, class... P>
struct RunSignature<void (*)(P...) noexcept(is_noexcept)> {
  static constexpr bool is_valid = (Parameter<P>::is_valid && ...);
  static constexpr bool never_throws = is_noexcept;
  using Parameters = ParameterList<P...>;
};

/// Whether F returns double and takes the same parameters as run.
template <class F, class Parameters>
inline constexpr bool is_cost_of = false;
template <bool is_noexcept, class... P>
inline constexpr bool is_cost_of<double (*)(P...) noexcept(is_noexcept), ParameterList<P...>> = true;

/// The word at which the extents of a parameter start.
template <class... P>
[[nodiscard]] consteval std::size_t extents_of(std::size_t parameter, ParameterList<P...>) {
  constexpr std::size_t ranks[] = {Parameter<P>::rank..., 0};
  std::size_t word = sizeof...(P);
  for (std::size_t i = 0; i < parameter; ++i) word += ranks[i];
  return word;
}

/// A variable for each type, whose address identifies the type.
template <class T>
inline constexpr char type_tag = 0;

/// Whether the two parameters exist and are an Out and an In of one element type and rank.
template <class... P>
[[nodiscard]] consteval bool are_in_place(InPlace in_place, ParameterList<P...>) {
  if (in_place.out >= sizeof...(P) || in_place.in >= sizeof...(P)) return false;
  constexpr bool is_tensor[] = {(Parameter<P>::is_tensor && !Parameter<P>::is_scratch)..., false};
  constexpr Access access[] = {Parameter<P>::access..., Access::read};
  constexpr std::size_t ranks[] = {Parameter<P>::rank..., 0};
  constexpr const char* elements[] = {&type_tag<typename Parameter<P>::element_type>..., nullptr};
  const std::size_t out = in_place.out;
  const std::size_t in = in_place.in;
  return is_tensor[out] && is_tensor[in] && access[out] == Access::write && access[in] == Access::read &&
         ranks[out] == ranks[in] && elements[out] == elements[in];
}

/// Whether the parameter exists and is a tensor that the kernel writes.
template <class... P>
[[nodiscard]] consteval bool may_be_zeros(std::size_t parameter, ParameterList<P...>) {
  constexpr bool is_written[] = {(Parameter<P>::is_tensor && writes(Parameter<P>::access))..., false};
  return parameter < sizeof...(P) && is_written[parameter];
}

template <class K>
using ParametersOf = typename RunSignature<decltype(&K::run)>::Parameters;
template <class K>
inline constexpr bool never_throws = RunSignature<decltype(&K::run)>::never_throws;

template <class K, class... P, std::size_t... I>
[[gnu::always_inline]] inline void call_run([[maybe_unused]] ParameterList<P...> list, std::index_sequence<I...>,
                                            [[maybe_unused]] ArgWord* args) noexcept(never_throws<K>) {
  K::run(Parameter<P>::read(args, I, extents_of(I, decltype(list){}))...);
}
template <class K, class... P, std::size_t... I>
inline double call_cost([[maybe_unused]] ParameterList<P...> list, std::index_sequence<I...>, const ArgWord* args) {
  return K::cost(Parameter<P>::read(args, I, extents_of(I, decltype(list){}))...);
}

}  // namespace detail

/// The name of the kernel on the device: `static constexpr std::string_view name = "...";`
template <class K>
concept HasKernelName = requires {
  { K::name.data() } -> std::convertible_to<const char*>;
  { K::name.size() } -> std::convertible_to<std::size_t>;
};

/// The type of core that runs the kernel: `static constexpr auto core = rondo::CoreType::vector;`
template <class K>
concept HasCore = std::convertible_to<decltype(K::core), CoreType>;

/// The body of the kernel for simulation: one `static void run(...)` whose parameters are In, Out, InOut, Scratch,
/// scalars of at most 8 bytes, or Block.
template <class K>
concept HasRun = requires { &K::run; } && detail::RunSignature<decltype(&K::run)>::is_valid;

/// Optional, for predictions: `static double cost(...)` with the parameters of run returns the nanoseconds that one
/// block takes on the chip, computed from shapes, scalars and the Block. Called when a session opens, before the
/// tensors have contents.
template <class K>
concept StatesCost = requires { &K::cost; };

/// Optional: `static constexpr rondo::InPlace in_place{.out = 1, .in = 0};`. If no later task uses the In, the planner
/// gives both parameters the same memory.
template <class K>
concept WorksInPlace = std::convertible_to<decltype(K::in_place), InPlace>;

/// Optional: `static constexpr rondo::Zeros zeros{.parameter = 2};`. This workspace is zeroed.
template <class K>
concept WantsZeros = std::convertible_to<decltype(K::zeros), Zeros>;

/// Optional, for devices whose blocks have threads: `static constexpr std::uint32_t threads = 128;`.
template <class K>
concept StatesThreads = std::convertible_to<decltype(K::threads), std::uint32_t>;

/// Optional, for the same devices: the bytes of memory that the threads of a block share, in addition to what the
/// kernel itself declares: `static constexpr std::uint32_t shared_bytes = 4096;`.
template <class K>
concept StatesSharedBytes = std::convertible_to<decltype(K::shared_bytes), std::uint32_t>;

/// Optional, for kernels with 32-bit indices: `using Wide = AxpyOfManyElements;`, the kernel that runs instead if a
/// tensor has 2^31 elements or more.
template <class K>
concept HasWide = requires { typename K::Wide; };

/// A kernel is a type. It requires the first three parts above; the others are optional.
///
/// The concept cannot check the remaining rules: `run` accesses only its arguments, so that tasks may run concurrently;
/// it writes every element of an Out; and it gives the same result for the same arguments.
template <class K>
concept Kernel = HasKernelName<K> && HasCore<K> && HasRun<K>;

/// Explains, part by part, what K lacks to be a Kernel.
template <class K>
consteval bool check_kernel() {
  static_assert(HasKernelName<K>,
                "rondo: the kernel has no name; write `static constexpr std::string_view name = \"...\";`");
  static_assert(HasCore<K>,
                "rondo: the kernel names no core; write `static constexpr auto core = rondo::CoreType::vector;`");
  static_assert(HasRun<K>,
                "rondo: the kernel needs exactly one `static void run(...)` whose parameters are In<T>, Out<T>, "
                "InOut<T>, Scratch<T>, scalars of at most 8 bytes, or rondo::Block");
  if constexpr (HasRun<K> && StatesCost<K>) {
    static_assert(detail::is_cost_of<decltype(&K::cost), detail::ParametersOf<K>>,
                  "rondo: a kernel's cost is a `static double cost(...)` that takes the parameters of run and returns "
                  "nanoseconds");
  }
  if constexpr (HasRun<K> && WorksInPlace<K>) {
    static_assert(
        detail::are_in_place(K::in_place, detail::ParametersOf<K>{}),
        "rondo: a kernel's in_place names two parameters of run, counted from 0: an Out and an In of the same "
        "element type and rank");
  }
  if constexpr (HasRun<K> && WantsZeros<K>) {
    static_assert(detail::may_be_zeros(K::zeros.parameter, detail::ParametersOf<K>{}),
                  "rondo: a kernel's zeros name a parameter of run, counted from 0: a Scratch or an InOut");
  }
  if constexpr (HasRun<K> && HasWide<K>) {
    static_assert(
        requires {
          requires std::is_same_v<detail::ParametersOf<K>, detail::ParametersOf<typename K::Wide>>;
          requires K::core == K::Wide::core;
          requires HasKernelName<typename K::Wide> && !HasWide<typename K::Wide>;
        },
        "rondo: a kernel's Wide is a kernel for the same core whose run takes the same parameters, and that has no "
        "Wide");
  }
  return Kernel<K>;
}

namespace detail {

/// Whether the kernel declares an args format: `static constexpr auto args = "{i0*}{o0*}"_args;`
template <class K>
concept DeclaresArgs = requires { K::args; };

/// Whether a kernel and its Wide can read the same block of arguments.
template <class K>
consteval bool has_args_of_its_wide() {
  if constexpr (DeclaresArgs<K> && DeclaresArgs<typename K::Wide>) return K::args.view() == K::Wide::args.view();
  return !DeclaresArgs<K> && !DeclaresArgs<typename K::Wide>;
}

/// Whether a kernel and its Wide state the same where a task has one record for both.
template <class K>
consteval bool states_what_its_wide_states() {
  using W = typename K::Wide;
  bool is_same = StatesThreads<K> == StatesThreads<W> && StatesSharedBytes<K> == StatesSharedBytes<W> &&
                 WorksInPlace<K> == WorksInPlace<W> && WantsZeros<K> == WantsZeros<W>;
  if constexpr (StatesThreads<K> && StatesThreads<W>) is_same = is_same && K::threads == W::threads;
  if constexpr (StatesSharedBytes<K> && StatesSharedBytes<W>) is_same = is_same && K::shared_bytes == W::shared_bytes;
  if constexpr (WorksInPlace<K> && WorksInPlace<W>) is_same = is_same && InPlace{K::in_place} == InPlace{W::in_place};
  if constexpr (WantsZeros<K> && WantsZeros<W>) is_same = is_same && Zeros{K::zeros} == Zeros{W::zeros};
  return is_same;
}

template <class K>
consteval bool check_declared_args() {
  static_assert(
      requires { sizeof(args::detail::DeclaredArgs<K>); },
      "rondo: the kernel declares an args format; include <rondo/args/kernel_args.hpp>");
  return true;
}

/// Unpacks an argument block, in the layout of ParameterList or of the kernel's args format, and calls the kernel's
/// body.
template <Kernel K>
inline void kernel_entry(ArgWord* args) noexcept(never_throws<K>) {
  if constexpr (DeclaresArgs<K>) {
    args::detail::DeclaredArgs<K>::call(args);
  } else {
    call_run<K>(ParametersOf<K>{}, std::make_index_sequence<ParametersOf<K>::size>{}, args);
  }
}

/// The entry of the kernel's cost; null if the kernel does not state one.
template <Kernel K>
[[nodiscard]] constexpr CostEntry cost_entry() noexcept {
  if constexpr (StatesCost<K>) {
    static_assert(!DeclaresArgs<K>,
                  "rondo: a kernel that declares an args format cannot state its cost; leave out one");
    return [](const ArgWord* args) {
      return call_cost<K>(ParametersOf<K>{}, std::make_index_sequence<ParametersOf<K>::size>{}, args);
    };
  } else {
    return nullptr;
  }
}

}  // namespace detail

}  // namespace rondo
