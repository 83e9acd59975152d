// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Kernels that the tests of the Python module need.

#include "register_kernel.hpp"  // python/

#include <atomic>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <thread>

namespace {

std::atomic<bool> gate_is_open{false};
std::atomic<bool> is_waiting{false};

/// Waits until Python opens the gate, which it can only while the round has let go of the GIL.
struct AwaitGate {
  static constexpr std::string_view name = "await_gate";
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::In<float> x, rondo::Out<float> y) {
    is_waiting = true;
    for (int waited = 0; !gate_is_open; ++waited) {
      if (waited == 10'000) throw std::runtime_error("nobody opened the gate");
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    is_waiting = false;
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = x[i];
  }
};

/// Throws when x[0] is negative.
struct Picky {
  static constexpr std::string_view name = "picky";
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::In<float> x, rondo::Out<float> y) {
    if (x[0] < 0) throw std::runtime_error("x[0] is negative");
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = x[i];
  }
};

enum class Sign : std::int8_t { plus = 1, minus = -1 };

/// One output for each kind of scalar.
struct Scalars {
  static constexpr std::string_view name = "scalars";
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::Out<std::int64_t> y, std::int8_t a, std::uint16_t b, std::int64_t c, std::uint64_t d, double e,
                  bool f, Sign g) noexcept {
    y[0] = a;
    y[1] = b;
    y[2] = c;
    y[3] = static_cast<std::int64_t>(d);
    y[4] = static_cast<std::int64_t>(e);
    y[5] = f ? 1 : 0;
    y[6] = static_cast<std::int64_t>(g);
  }
};

/// y = x, for any type of that many bytes.
template <class T>
struct Copy {
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::In<T> x, rondo::Out<T> y) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = x[i];
  }
};
struct CopyHalf : Copy<rondo::Float16> {
  static constexpr std::string_view name = "copy_float16";
};
struct CopyBFloat : Copy<rondo::BFloat16> {
  static constexpr std::string_view name = "copy_bfloat16";
};
struct CopyBool : Copy<bool> {
  static constexpr std::string_view name = "copy_bool";
};
struct CopyInt64 : Copy<std::int64_t> {
  static constexpr std::string_view name = "copy_int64";
};
struct CopyFp8 : Copy<rondo::Fp8E4M3Fn> {
  static constexpr std::string_view name = "copy_fp8e4m3fn";
};

/// Of a name that the example's kernels have already.
struct AnotherAdd {
  static constexpr std::string_view name = "add";
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::In<float>, rondo::Out<float>) noexcept {}
};

}  // namespace

PYBIND11_MODULE(rondo_test_kernels, module) {
  using rondo::python::register_kernel;
  register_kernel<AwaitGate>();
  register_kernel<Picky>();
  register_kernel<Scalars>();
  register_kernel<CopyHalf>();
  register_kernel<CopyBFloat>();
  register_kernel<CopyBool>();
  register_kernel<CopyInt64>();
  register_kernel<CopyFp8>();
  module.def("open_gate", [](bool open) { gate_is_open = open; });
  module.def("is_waiting", [] { return is_waiting.load(); });
  module.def("register_another_add", [] { register_kernel<AnotherAdd>(); });
  module.def("foreign_record",
             [] { return pybind11::capsule(&rondo::python::detail::record<Picky>, "rondo.kernel 0.0.0/1/1"); });
}
