// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/graph/kernel.hpp>

#include <rondo/tensor/handle.hpp>

#include <string>
#include <string_view>

// Near misses of a Kernel: each model is a kernel but for one thing.

namespace {

using namespace rondo;

struct Named {
  static constexpr std::string_view name = "k";
};
struct Placed {
  static constexpr auto core = CoreType::vector;
};
struct Bodied {
  static void run(In<float>, Out<float>) {}
};

struct Complete : Named, Placed, Bodied {};
static_assert(Kernel<Complete> && check_kernel<Complete>());

template <class K>
concept LacksName = !HasKernelName<K> && HasCore<K> && HasRun<K> && !Kernel<K>;
template <class K>
concept LacksCore = HasKernelName<K> && !HasCore<K> && HasRun<K> && !Kernel<K>;
template <class K>
concept LacksRun = HasKernelName<K> && HasCore<K> && !HasRun<K> && !Kernel<K>;

// --- name
struct NameIsAPointer : Placed, Bodied {
  static constexpr const char* name = "k";  // without data() and size()
};
struct NameIsNotStatic : Placed, Bodied {
  [[nodiscard]] std::string_view name() const { return "k"; }
};
struct NameIsWide : Placed, Bodied {
  static constexpr std::wstring_view name = L"k";
};
struct Nameless : Placed, Bodied {};
static_assert(LacksName<Nameless>);
static_assert(LacksName<NameIsAPointer>);
static_assert(LacksName<NameIsNotStatic>);
static_assert(LacksName<NameIsWide>);

// --- core
struct Coreless : Named, Bodied {};
struct CoreIsANumber : Named, Bodied {
  static constexpr int core = 0;
};
struct CoreIsText : Named, Bodied {
  static constexpr std::string_view core = "cube";
};
static_assert(LacksCore<Coreless>);
static_assert(LacksCore<CoreIsANumber>);
static_assert(LacksCore<CoreIsText>);

// --- run
template <class... P>
struct Runs : Named, Placed {
  static void run(P...) {}
};
static_assert(Kernel<Runs<>>);
static_assert(Kernel<Runs<In<float>, Out<bool, 5>, InOut<BFloat16, 3>, Block, double, CoreType, char, bool>>);

struct Bodiless : Named, Placed {};
struct RunIsAMember : Named, Placed {
  void run(In<float>) {}
};
struct RunReturns : Named, Placed {
  static int run(In<float>) { return 0; }
};
struct RunIsOverloaded : Named, Placed {
  static void run(In<float>) {}
  static void run(Out<float>) {}
};
struct RunIsATemplate : Named, Placed {
  template <class T>
  static void run(In<T>) {}
};
struct RunIsPrivate : Named, Placed {
 private:
  [[maybe_unused]] static void run(In<float>) {}
};
static_assert(LacksRun<Bodiless>);
static_assert(LacksRun<RunIsAMember>);
static_assert(LacksRun<RunReturns>);
static_assert(LacksRun<RunIsOverloaded>);
static_assert(LacksRun<RunIsATemplate>);
static_assert(LacksRun<RunIsPrivate>);
static_assert(LacksRun<Runs<float*>>);        // host pointers mean nothing on the device
static_assert(LacksRun<Runs<long double>>);   // 16 bytes do not fit into a word
static_assert(LacksRun<Runs<In<float>&>>);    // by value: there is no object to refer to
static_assert(LacksRun<Runs<const float&>>);  // likewise
static_assert(LacksRun<Runs<std::string>>);   // no scalar
static_assert(LacksRun<Runs<In<float>, void*>>);
static_assert(LacksRun<Runs<Input<float>>>);  // that is the graph's side

// --- cost, which need not be there
struct Costs : Complete {
  static double cost(In<float>, Out<float>) { return 1; }
};
struct CostsNoexcept : Complete {
  static constexpr double cost(In<float>, Out<float>) noexcept { return 1; }
};
static_assert(!StatesCost<Complete>);
static_assert(StatesCost<Costs> && Kernel<Costs> && check_kernel<Costs>());
static_assert(StatesCost<CostsNoexcept> && check_kernel<CostsNoexcept>());
template <class F>
constexpr bool fits = detail::is_cost_of<F, detail::ParametersOf<Complete>>;
static_assert(fits<double (*)(In<float>, Out<float>)> && fits<double (*)(In<float>, Out<float>) noexcept>);
static_assert(!fits<float (*)(In<float>, Out<float>)>);        // not in double
static_assert(!fits<double (*)(In<float>)>);                   // too few
static_assert(!fits<double (*)(In<float>, InOut<float>)>);     // another one
static_assert(!fits<double (*)(In<float>, Out<float>, int)>);  // too many
static_assert(!fits<const double*>);                           // a constant

static_assert(!Kernel<int> && !Kernel<void (*)(ArgWord*)>);

}  // namespace
