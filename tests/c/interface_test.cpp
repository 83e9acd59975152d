// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/c/rondo.h>

#include <doctest/doctest.h>

#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

template <class T>
T* tensor(std::int64_t word) {
  return reinterpret_cast<T*>(static_cast<std::uintptr_t>(word));  // NOLINT: the address of simulated memory
}
float number(std::int64_t word) {
  float value = 0;
  std::memcpy(&value, &word, sizeof value);
  return value;
}

/// y += a x
void saxpy(std::int64_t* args) {
  for (std::int64_t i = 0; i < args[4]; ++i) tensor<float>(args[1])[i] += number(args[2]) * tensor<float>(args[0])[i];
}
/// z = x + w
void add(std::int64_t* args) {
  for (std::int64_t i = 0; i < args[5]; ++i) {
    tensor<float>(args[2])[i] = tensor<float>(args[0])[i] + tensor<float>(args[1])[i];
  }
}
/// Writes what it is told: extents, block, scalars.
void report(std::int64_t* args) {  // words: y, block, i8, u16, f64, bool, then rows and columns
  std::int64_t* const y = tensor<std::int64_t>(args[0]);
  const auto block = static_cast<std::uint32_t>(args[1]);
  y[block] = args[1] >> 32;
  if (block != 0) return;
  double d = 0;
  std::memcpy(&d, &args[4], sizeof d);
  y[4] = args[2];
  y[5] = args[3];
  y[6] = static_cast<std::int64_t>(d);
  y[7] = args[5];
  y[8] = args[6];
  y[9] = args[7];
}

bool says(std::string_view words) { return std::string_view(rondo_last_error()).find(words) != std::string_view::npos; }

void count_until(std::int64_t* args) {
  std::int32_t* const count = tensor<std::int32_t>(args[1]);
  *tensor<std::int32_t>(args[2]) = ++*count == *tensor<std::int32_t>(args[0]) ? 1 : 0;
}
void is_odd(std::int64_t* args) { *tensor<std::int32_t>(args[1]) = *tensor<std::int32_t>(args[0]) % 2; }
/// What the bodies of loops need to add `until`.
struct Counting {
  rondo_kernel kernel{};
  rondo_graph graph{};
  rondo_tensor tensors[6] = {};
  rondo_tensor count = {};  ///< the tensor that is counted; tensors[1] unless set
};
rondo_code add_until(rondo_graph graph, void* context) {
  const Counting& c = *static_cast<const Counting*>(context);
  const rondo_argument arguments[] = {rondo_tensor_argument(c.tensors[0]),
                                      rondo_tensor_argument(c.count.id == 0 ? c.tensors[1] : c.count),
                                      rondo_tensor_argument(c.tensors[3])};
  return rondo_graph_add_task(graph, c.kernel, arguments, 3, nullptr, nullptr);
}
rondo_code add_until_and_fail(rondo_graph graph, void* context) {
  const rondo_code code = add_until(graph, context);
  return code == RONDO_OK ? RONDO_BUSY : code;
}

struct Kernel {
  Kernel(const char* name, const char* signature, rondo_function function) {
    REQUIRE_EQ(rondo_kernel_create(name, RONDO_VECTOR, signature, function, &handle), RONDO_OK);
  }
  ~Kernel() { (void)rondo_kernel_destroy(handle); }
  rondo_kernel handle{};
};

constexpr const char* saxpy_signature = "x: in f32[n], y: inout f32[n], a: f32";

struct Saxpy {
  explicit Saxpy(const char* declarations = "x: in f32[4], y: inout f32[4]") {
    REQUIRE_EQ(rondo_graph_create(RONDO_EDGES_DERIVED, &graph), RONDO_OK);
    REQUIRE_EQ(rondo_graph_add_tensors(graph, declarations, tensors.data(), 2), RONDO_OK);
    const rondo_argument arguments[] = {rondo_tensor_argument(tensors[0]), rondo_tensor_argument(tensors[1]),
                                        rondo_number_argument(2)};
    REQUIRE_EQ(rondo_graph_add_task(graph, kernel.handle, arguments, 3, nullptr, &task), RONDO_OK);
  }
  ~Saxpy() { (void)rondo_graph_destroy(graph); }
  Kernel kernel{"saxpy", saxpy_signature, saxpy};
  rondo_graph graph{};
  std::array<rondo_tensor, 2> tensors{};
  rondo_task task = 0;
};

struct Open {
  explicit Open(Saxpy& made, const char* platform = "a2a3_sim", std::uint32_t in_flight = 1) : saxpy{made} {
    rondo_options options = RONDO_OPTIONS_INIT;
    options.in_flight = in_flight;
    REQUIRE_EQ(rondo_open(saxpy.graph, platform, &options, &session), RONDO_OK);
    REQUIRE_EQ(rondo_bindings_create(session, &bindings), RONDO_OK);
  }
  ~Open() { (void)rondo_close(session); }
  void bind(std::vector<float>& x, std::vector<float>& y) {
    REQUIRE_EQ(rondo_bind_read_only(bindings, saxpy.tensors[0], x.data(), x.size() * 4), RONDO_OK);
    REQUIRE_EQ(rondo_bind(bindings, saxpy.tensors[1], y.data(), y.size() * 4), RONDO_OK);
  }
  [[nodiscard]] rondo_counters counters() const {
    rondo_counters c{};
    c.size = sizeof c;
    REQUIRE_EQ(rondo_get_counters(session, &c), RONDO_OK);
    return c;
  }
  Saxpy& saxpy;
  rondo_session session{};
  rondo_bindings bindings{};
};

std::string refused(const char* signature) {
  rondo_kernel kernel{};
  CHECK_EQ(rondo_kernel_create("k", RONDO_VECTOR, signature, saxpy, &kernel), RONDO_INVALID_ARGUMENT);
  CHECK_EQ(kernel.id, 0);
  return rondo_last_error();
}

}  // namespace

TEST_CASE("c: memory with strides is packed and scattered, and refused where it cannot be") {
  for (const std::uint32_t in_flight : {1U, 3U}) {
    Saxpy saxpy;
    Open open(saxpy, "a2a3_sim", in_flight);
    const rondo_bindings b = open.bindings;
    std::vector<float> x{1, 0, 2, 0, 3, 0, 4, 0}, y{4, 3, 2, 1};
    const std::int64_t extent = 4, two = 8, back = -4, none = 0;
    REQUIRE_EQ(rondo_bind_strided(b, saxpy.tensors[0], x.data(), &extent, &two, 1), RONDO_OK);
    REQUIRE_EQ(rondo_bind_strided(b, saxpy.tensors[1], &y[3], &extent, &back, 1), RONDO_OK);
    if (in_flight == 1) {
      REQUIRE_EQ(rondo_run_round(b), RONDO_OK);
    } else {
      REQUIRE_EQ(rondo_submit_round(b, nullptr), RONDO_OK);
      REQUIRE_EQ(rondo_wait_all(open.session), RONDO_OK);
    }
    CHECK(y == std::vector<float>{12, 9, 6, 3});
    CHECK_EQ(rondo_bind_strided(b, saxpy.tensors[1], y.data(), &extent, &none, 1), RONDO_OVERLAPPING);
    CHECK_EQ(rondo_bind_strided(b, saxpy.tensors[1], y.data(), &extent, nullptr, 1), RONDO_INVALID_ARGUMENT);
    CHECK_EQ(rondo_bind_strided(b, saxpy.tensors[1], nullptr, &extent, &two, 1), RONDO_NULL_MEMORY);
    CHECK_EQ(rondo_bind_strided(b, rondo_tensor{12345}, y.data(), &extent, &two, 1), RONDO_WRONG_TENSOR);
    CHECK_EQ(rondo_bind_strided(b, saxpy.tensors[1], y.data(), &extent, &two, 0), RONDO_WRONG_SIZE);
    REQUIRE_EQ(rondo_bind_strided(b, saxpy.tensors[0], x.data(), &extent, &none, 1), RONDO_OK);
    REQUIRE_EQ(rondo_run_round(b), RONDO_OK);
    CHECK(y == std::vector<float>{14, 11, 8, 5});
  }
}

TEST_CASE("c: device memory with strides is packed on the device, and the reason why memory is copied is told") {
  Saxpy saxpy;
  Open open(saxpy, "host");
  const rondo_bindings b = open.bindings;
  alignas(64) float memory[16] = {0, 1, 0, 2, 0, 3, 0, 4, 1, 1, 1, 1};
  const auto address = [&](std::size_t i) { return reinterpret_cast<std::uint64_t>(&memory[i]); };
  const auto why = [&](rondo_tensor tensor) {
    const char* text = "";
    REQUIRE_EQ(rondo_why_copied(b, tensor, &text), RONDO_OK);
    return std::string(text == nullptr ? "used in place" : text);
  };
  const std::int64_t extent = 4, two = 8, none = 0;
  CHECK_EQ(why(saxpy.tensors[0]), "no memory is bound to the tensor");
  REQUIRE_EQ(rondo_bind_device_strided(b, saxpy.tensors[0], address(1), &extent, &two, 1), RONDO_OK);
  REQUIRE_EQ(rondo_bind_device(b, saxpy.tensors[1], address(8), 16), RONDO_OK);
  CHECK_EQ(why(saxpy.tensors[0]), "the device memory has strides, so it is packed on the device");
  CHECK_EQ(why(saxpy.tensors[1]), "used in place");
  REQUIRE_EQ(rondo_run_round(b), RONDO_OK);
  CHECK(std::vector<float>(memory + 8, memory + 12) == std::vector<float>{3, 5, 7, 9});
  CHECK_EQ(rondo_bind_device_strided(b, saxpy.tensors[1], address(8), &extent, &none, 1), RONDO_OVERLAPPING);
  CHECK_EQ(rondo_bind_device_strided(b, saxpy.tensors[1], 0, &extent, &two, 1), RONDO_NULL_MEMORY);
  CHECK_EQ(rondo_bind_device_strided(b, rondo_tensor{12345}, address(8), &extent, &two, 1), RONDO_WRONG_TENSOR);
  CHECK_EQ(rondo_why_copied(b, rondo_tensor{12345}, nullptr), RONDO_WRONG_TENSOR);
  CHECK_EQ(rondo_why_copied(b, saxpy.tensors[0], nullptr), RONDO_INVALID_ARGUMENT);
  CHECK(says("why is NULL"));
}

TEST_CASE("c: rounds use device memory that the session allocated, until it is released") {
  Saxpy saxpy;
  Open open(saxpy, "a2a3_sim");
  const rondo_session s = open.session;
  const float x[4] = {1, 2, 3, 4}, ones[4] = {1, 1, 1, 1};
  std::uint64_t at_x = 0, at_y = 0;
  std::size_t bytes = 0;
  REQUIRE_EQ(rondo_allocate(s, saxpy.tensors[0], nullptr, 0, &at_x, &bytes), RONDO_OK);
  CHECK_EQ(bytes, sizeof x);
  REQUIRE_EQ(rondo_allocate(s, saxpy.tensors[1], nullptr, 0, &at_y, nullptr), RONDO_OK);
  REQUIRE_EQ(rondo_upload_array(s, at_x, x, sizeof x), RONDO_OK);
  REQUIRE_EQ(rondo_upload_array(s, at_y, ones, sizeof ones), RONDO_OK);
  REQUIRE_EQ(rondo_bind_device(open.bindings, saxpy.tensors[0], at_x, sizeof x), RONDO_OK);
  REQUIRE_EQ(rondo_bind_device(open.bindings, saxpy.tensors[1], at_y, sizeof ones), RONDO_OK);
  REQUIRE_EQ(rondo_run_round(open.bindings), RONDO_OK);
  std::vector<float> y(4);
  REQUIRE_EQ(rondo_download_array(s, at_y, y.data(), sizeof ones), RONDO_OK);
  CHECK(y == std::vector<float>{3, 5, 7, 9});

  CHECK_EQ(rondo_upload_array(s, at_x, x, 8), RONDO_WRONG_SIZE);
  CHECK_EQ(rondo_download_array(s, at_x, nullptr, sizeof x), RONDO_NULL_MEMORY);
  CHECK_EQ(rondo_allocate(s, rondo_tensor{12345}, nullptr, 0, &at_x, nullptr), RONDO_WRONG_TENSOR);
  CHECK_EQ(rondo_allocate(s, saxpy.tensors[0], nullptr, 1, &at_x, nullptr), RONDO_NULL_MEMORY);
  CHECK_EQ(rondo_allocate(s, saxpy.tensors[0], nullptr, 0, nullptr, nullptr), RONDO_NULL_MEMORY);
  const std::int64_t extents[] = {4, 1};
  CHECK_EQ(rondo_allocate(s, saxpy.tensors[0], extents, 2, &at_x, nullptr), RONDO_WRONG_SIZE);
  CHECK_EQ(rondo_release(s, at_x), RONDO_OK);
  CHECK_EQ(rondo_release(s, at_x), RONDO_INVALID_ARGUMENT);
  CHECK(says("no array at this address"));
  CHECK_EQ(rondo_upload_array(s, 0, x, sizeof x), RONDO_INVALID_ARGUMENT);
  CHECK_EQ(rondo_upload_array(rondo_session{}, at_y, x, sizeof x), RONDO_WRONG_HANDLE);
}

TEST_CASE("c: memory for a tensor whose size depends on symbols is allocated with a shape") {
  const Kernel kernel{"saxpy", saxpy_signature, saxpy};
  rondo_graph graph{};
  rondo_tensor tensors[2] = {};
  rondo_session session{};
  REQUIRE_EQ(rondo_graph_create(RONDO_EDGES_DERIVED, &graph), RONDO_OK);
  REQUIRE_EQ(rondo_graph_add_tensors(graph, "x: in f32[n], y: inout f32[n]", tensors, 2), RONDO_OK);
  const rondo_argument arguments[] = {rondo_tensor_argument(tensors[0]), rondo_tensor_argument(tensors[1]),
                                      rondo_number_argument(2)};
  REQUIRE_EQ(rondo_graph_add_task(graph, kernel.handle, arguments, 3, nullptr, nullptr), RONDO_OK);
  REQUIRE_EQ(rondo_open(graph, "a2a3_sim", nullptr, &session), RONDO_OK);
  std::uint64_t address = 0;
  std::size_t bytes = 0;
  CHECK_EQ(rondo_allocate(session, tensors[0], nullptr, 0, &address, &bytes), RONDO_WRONG_SIZE);
  const std::int64_t n = 6;
  CHECK_EQ(rondo_allocate(session, tensors[0], &n, 1, &address, &bytes), RONDO_OK);
  CHECK_EQ(bytes, 24);
  CHECK_EQ(rondo_close(session), RONDO_OK);
  CHECK_EQ(rondo_release(session, address), RONDO_WRONG_HANDLE);
  CHECK_EQ(rondo_graph_destroy(graph), RONDO_OK);
}

TEST_CASE("c: a graph asks for memory of another kind by its name") {
  Saxpy saxpy;
  REQUIRE_EQ(rondo_graph_in_memory(saxpy.graph, saxpy.tensors[0], "mapped_host"), RONDO_OK);
  rondo_session session{};
  REQUIRE_EQ(rondo_open(saxpy.graph, "a2a3_sim", nullptr, &session), RONDO_OK);
  CHECK_EQ(rondo_close(session), RONDO_OK);
  REQUIRE_EQ(rondo_graph_in_memory(saxpy.graph, saxpy.tensors[0], "huge_pages"), RONDO_OK);
  CHECK_EQ(rondo_open(saxpy.graph, "host", nullptr, &session), RONDO_UNSUPPORTED);
  CHECK(says("cannot be in huge pages memory"));
  CHECK_EQ(rondo_graph_in_memory(saxpy.graph, saxpy.tensors[0], "swap"), RONDO_INVALID_ARGUMENT);
  CHECK(says("there is no memory of the kind 'swap'; choose device, huge_pages"));
}

TEST_CASE("c: rounds run on every platform whose kernels are functions") {
  for (const char* platform : {"a2a3_sim", "a5_sim", "a2a3_sim_pool", "a5_sim_pool", "a2a3_sim_model", "a5_sim_model",
                               "a2a3_sim_checked", "a5_sim_checked", "host", "host_pool"}) {
    CAPTURE(platform);
    REQUIRE_EQ(rondo_platform_check(platform), RONDO_OK);
    Saxpy saxpy;
    Open open(saxpy, platform);
    std::vector<float> x{1, 2, 3, 4};
    std::vector<float> y{1, 1, 1, 1};
    open.bind(x, y);
    CHECK_EQ(rondo_run_round(open.bindings), RONDO_OK);
    CHECK_EQ(y, std::vector<float>{3, 5, 7, 9});
    CHECK_EQ(rondo_begin_round(open.bindings), RONDO_OK);
    CHECK_EQ(rondo_launch(open.bindings), RONDO_OK);
    CHECK_EQ(rondo_finish_round(open.bindings), RONDO_OK);
    CHECK_EQ(y[3], 17);
    CHECK_EQ(open.counters().rounds, 2);
    CHECK_GT(open.counters().arena_bytes, 0);
  }
}

TEST_CASE("c: platforms are listed by name, and a missing device is named") {
  std::vector<std::string> names;
  for (std::size_t p = 0; rondo_platform_name(p) != nullptr; ++p) names.emplace_back(rondo_platform_name(p));
  CHECK_EQ(names.size(), 14);
  CHECK_EQ(names[0], "a2a3_sim");
  CHECK_EQ(rondo_platform_check("a7"), RONDO_INVALID_ARGUMENT);
  CHECK(says("there is no platform 'a7'; the platforms are a2a3_sim, a5_sim"));
  setenv("RONDO_CUDA_LIBRARY", "/nowhere/libcuda.so", 1);
  CHECK_EQ(rondo_platform_check("cuda"), RONDO_NO_SUCH_DEVICE);
  CHECK(says("/nowhere/libcuda.so not found"));
  Saxpy saxpy;
  rondo_session session{};
  CHECK_EQ(rondo_open(saxpy.graph, "cuda", nullptr, &session), RONDO_NO_SUCH_DEVICE);
  unsetenv("RONDO_CUDA_LIBRARY");
}

TEST_CASE("c: a kernel finds scalars, extents and its block where the header says") {
  const Kernel kernel("report", "y: out i64[r, c], b: block, i: i8, u: u16, d: f64, t: bool", report);
  rondo_graph graph{};
  rondo_tensor y{};
  REQUIRE_EQ(rondo_graph_create(RONDO_EDGES_DERIVED, &graph), RONDO_OK);
  REQUIRE_EQ(rondo_graph_add_tensors(graph, "y: out i64[5, 2]", &y, 1), RONDO_OK);
  const rondo_argument arguments[] = {rondo_tensor_argument(y), rondo_integer_argument(-1),
                                      rondo_natural_argument(65535), rondo_number_argument(7),
                                      rondo_integer_argument(1)};
  REQUIRE_EQ(rondo_graph_add_task(graph, kernel.handle, arguments, 5, "2 + 1", nullptr), RONDO_OK);
  rondo_session session{};
  rondo_bindings bindings{};
  REQUIRE_EQ(rondo_open(graph, "a2a3_sim", nullptr, &session), RONDO_OK);
  REQUIRE_EQ(rondo_bindings_create(session, &bindings), RONDO_OK);
  std::int64_t result[10] = {};
  REQUIRE_EQ(rondo_bind(bindings, y, result, sizeof result), RONDO_OK);
  REQUIRE_EQ(rondo_run_round(bindings), RONDO_OK);
  CHECK_EQ(result[0], 3);
  CHECK_EQ(result[1], 3);
  CHECK_EQ(result[2], 3);
  CHECK_EQ(result[4], 255);  // the bits of -1 in eight bits
  CHECK_EQ(result[5], 65535);
  CHECK_EQ(result[6], 7);
  CHECK_EQ(result[7], 1);
  CHECK_EQ(result[8], 5);
  CHECK_EQ(result[9], 2);
  CHECK_EQ(rondo_close(session), RONDO_OK);
  CHECK_EQ(rondo_graph_destroy(graph), RONDO_OK);
}

TEST_CASE("c: a signature that does not parse is shown with a caret under the place") {
  CHECK_EQ(
      refused("x: in f99[n], a: f32"),
      "the signature of kernel 'k': no such element type; there are f32 f16 bf16 f64 c64 c128 i8 to i64 u8 to u64 bool "
      "fp8e4m3fn fp8e8m0 fp4e2m1\n  x: in f99[n], a: f32\n        ^^^");
  CHECK_EQ(refused("x in f32[n]"),
           "the signature of kernel 'k': expected a colon after the name\n  x in f32[n]\n    ^");
  CHECK(refused("").find("nothing is declared") != std::string::npos);
  CHECK(refused("x: in f32").find("expected the extents") != std::string::npos);
  CHECK(refused("x: in f32[n").find("expected a comma, or ]") != std::string::npos);
  CHECK(refused("x: in f32[n],").find("expected the name of a tensor or scalar") != std::string::npos);
  CHECK(refused("x: in f32[n], x: f32").find("declared twice") != std::string::npos);
  CHECK(refused("x: resident f32[n]").find("only graphs have the others") != std::string::npos);
  CHECK(refused("a: f32[n]").find("a scalar has no extents") != std::string::npos);
  CHECK(refused("a: f16").find("pass its bits") != std::string::npos);
  CHECK(refused("x: in f32[]").find("at least one extent") != std::string::npos);
  CHECK(refused("x: in f32[a,b,c,d,e,f]").find("at most 5 dimensions") != std::string::npos);
  CHECK(refused("x: in f32[99999999999999999999]").find("64 bits") != std::string::npos);
  CHECK(refused("x: in f32[max(n)]").find("the second argument") != std::string::npos);
  CHECK(refused("x: in f32[mean(n, m)]").find("ceil_div, min and max") != std::string::npos);
  const std::string deep = std::string(100'000, '(') + "n" + std::string(100'000, ')');
  CHECK(refused(("x: in f32[" + deep + "]").c_str()).find("more than 64 parentheses") != std::string::npos);
  // Of a long text the part around the place is shown, and the caret stands under it.
  const std::string text = refused(("x: in f32[" + std::string(200, 'n') + "], y: int f32[n]").c_str());
  const std::size_t line = text.find("\n  ") + 3;
  const std::size_t carets = text.find("\n  ", line) + 3;
  REQUIRE(text.find('^') != std::string::npos);
  CHECK_EQ(text.substr(line + (text.find('^') - carets), 3), "int");
}

TEST_CASE("c: what a graph is handed is checked, and what is wrong leaves it as it was") {
  Saxpy saxpy;
  rondo_tensor other{};
  CHECK_EQ(rondo_graph_add_tensors(saxpy.graph, "z: in f32[4], w: in f32[4]", &other, 1), RONDO_INVALID_ARGUMENT);
  CHECK(says("declares 2 tensors, and there is room for 1"));
  CHECK_EQ(rondo_graph_find_tensor(saxpy.graph, "z", &other), RONDO_WRONG_TENSOR);
  CHECK_EQ(rondo_graph_add_tensors(saxpy.graph, "x: in f32[4]", &other, 1), RONDO_INVALID_ARGUMENT);
  CHECK(says("'x' is already there"));
  CHECK_EQ(rondo_graph_add_tensors(saxpy.graph, "a: f32", &other, 1), RONDO_INVALID_ARGUMENT);
  CHECK(says("only a kernel has scalars"));
  REQUIRE_EQ(rondo_graph_add_tensors(saxpy.graph, "z: in f32[5]", &other, 1), RONDO_OK);
  rondo_tensor integers{};
  REQUIRE_EQ(rondo_graph_add_tensors(saxpy.graph, "i: inout i32[4]", &integers, 1), RONDO_OK);

  const auto add = [&](rondo_argument a, rondo_argument b, rondo_argument c, const char* blocks = nullptr) {
    const rondo_argument arguments[] = {a, b, c};
    return rondo_graph_add_task(saxpy.graph, saxpy.kernel.handle, arguments, 3, blocks, nullptr);
  };
  const rondo_argument x = rondo_tensor_argument(saxpy.tensors[0]);
  const rondo_argument y = rondo_tensor_argument(saxpy.tensors[1]);
  const rondo_argument two = rondo_number_argument(2);
  CHECK_EQ(add(rondo_tensor_argument(other), y, two), RONDO_WRONG_SIZE);
  CHECK(says("n is 5 in 'x' and 4 in 'y'"));
  CHECK_EQ(add(x, rondo_tensor_argument(integers), two), RONDO_INVALID_ARGUMENT);
  CHECK(says("takes float32 as argument 1, and tensor 'i' holds int32"));
  CHECK_EQ(add(y, x, two), RONDO_INVALID_ARGUMENT);
  CHECK(says("tensor 'x' is an input"));
  CHECK_EQ(add(y, y, two), RONDO_INVALID_ARGUMENT);
  CHECK(says("'y' twice and writes it"));
  CHECK_EQ(add(x, y, rondo_number_argument(1e300)), RONDO_INVALID_ARGUMENT);
  CHECK(says("does not fit"));
  CHECK_EQ(add(x, y, x), RONDO_INVALID_ARGUMENT);
  CHECK(says("takes a scalar as a"));
  CHECK_EQ(add(x, two, two), RONDO_INVALID_ARGUMENT);
  CHECK(says("takes a tensor as y"));
  CHECK_EQ(add(x, y, two, "0"), RONDO_INVALID_ARGUMENT);
  CHECK_EQ(add(x, y, two, "4294967296"), RONDO_INVALID_ARGUMENT);
  CHECK(says("4294967296 blocks"));
  CHECK_EQ(rondo_graph_add_task(saxpy.graph, saxpy.kernel.handle, &x, 1, nullptr, nullptr), RONDO_INVALID_ARGUMENT);
  CHECK(says("takes 3 arguments"));
  // An expression of symbols that other tensors determine.
  const Kernel doubling("doubling", "x: in f32[n], y: out f32[2 * n]", nullptr);
  const rondo_argument pair[] = {x, y};
  CHECK_EQ(rondo_graph_add_task(saxpy.graph, doubling.handle, pair, 2, nullptr, nullptr), RONDO_WRONG_SIZE);
  CHECK(says("takes 'y' with extent 8 in dimension 0, and the tensor has 4"));
  const Saxpy stranger;
  for (const std::size_t many : {std::size_t{4}, std::size_t{1} << 40, SIZE_MAX}) {
    CHECK_EQ(rondo_graph_add_task(saxpy.graph, saxpy.kernel.handle, &x, many, nullptr, nullptr),
             RONDO_INVALID_ARGUMENT);
    CHECK(says("takes 3 arguments"));
  }
  CHECK_EQ(add(rondo_tensor_argument(stranger.tensors[0]), y, two), RONDO_INVALID_ARGUMENT);
  CHECK(says("of another graph"));
  CHECK_EQ(rondo_graph_add_edge(saxpy.graph, 0, 9), RONDO_INVALID_ARGUMENT);
  CHECK_EQ(rondo_graph_zero(saxpy.graph, saxpy.tensors[0], 0), RONDO_INVALID_ARGUMENT);
  CHECK_EQ(rondo_graph_alias(saxpy.graph, saxpy.tensors[1], saxpy.tensors[0]), RONDO_INVALID_ARGUMENT);
  CHECK_EQ(rondo_kernel_create(nullptr, RONDO_VECTOR, "a: f32", nullptr, nullptr), RONDO_NULL_MEMORY);
  CHECK(says("name is NULL"));
  CHECK_EQ(rondo_kernel_create("k", 7, "a: f32", nullptr, &saxpy.kernel.handle), RONDO_INVALID_ARGUMENT);
}

TEST_CASE("c: a kernel without a function runs on devices only") {
  const Kernel kernel("device_only", saxpy_signature, nullptr);
  Saxpy saxpy;
  const rondo_argument arguments[] = {rondo_tensor_argument(saxpy.tensors[0]), rondo_tensor_argument(saxpy.tensors[1]),
                                      rondo_number_argument(2)};
  REQUIRE_EQ(rondo_graph_add_task(saxpy.graph, kernel.handle, arguments, 3, nullptr, nullptr), RONDO_OK);
  rondo_session session{};
  CHECK_EQ(rondo_open(saxpy.graph, "host", nullptr, &session), RONDO_INVALID_ARGUMENT);
  CHECK(says("kernel 'device_only' has no function"));
}

TEST_CASE("c: a session does not have what is added to its graph later, nor what was refused") {
  Saxpy saxpy;
  const rondo_argument swapped[] = {rondo_tensor_argument(saxpy.tensors[1]), rondo_tensor_argument(saxpy.tensors[0]),
                                    rondo_number_argument(2)};
  CHECK_EQ(rondo_graph_add_task(saxpy.graph, saxpy.kernel.handle, swapped, 3, "unknown", nullptr),
           RONDO_INVALID_ARGUMENT);
  std::vector<float> x{1, 2, 3, 4};
  std::vector<float> y(4);
  Open open(saxpy);
  open.bind(x, y);
  rondo_tensor late[40] = {};
  std::string declarations = "late0: in f32[4]";
  for (int n = 1; n < 40; ++n) declarations += ", late" + std::to_string(n) + ": in f32[4]";
  REQUIRE_EQ(rondo_graph_add_tensors(saxpy.graph, declarations.c_str(), late, 40), RONDO_OK);
  const std::int64_t extent = 4;
  const std::int64_t stride = 1;
  CHECK_EQ(rondo_bind(open.bindings, late[39], x.data(), 16), RONDO_WRONG_TENSOR);
  CHECK_EQ(rondo_bind_strided(open.bindings, late[39], x.data(), &extent, &stride, 1), RONDO_WRONG_TENSOR);
  CHECK_EQ(rondo_run_round(open.bindings), RONDO_OK);  // no symbol "unknown" asks for a value
  CHECK_EQ(y[3], 8);
}

TEST_CASE("c: wrong, closed and foreign handles are errors") {
  Saxpy saxpy;
  std::vector<float> x{1, 2, 3, 4};
  std::vector<float> y(4);
  rondo_session session{};
  rondo_bindings bindings{};
  {
    Open open(saxpy);
    open.bind(x, y);
    session = open.session;
    bindings = open.bindings;
    CHECK_EQ(rondo_run_round(bindings), RONDO_OK);
    // A handle of another kind is no handle.
    CHECK_EQ(rondo_run_round(rondo_bindings{session.id}), RONDO_WRONG_HANDLE);
    CHECK_EQ(rondo_close(rondo_session{saxpy.graph.id}), RONDO_WRONG_HANDLE);
    CHECK_EQ(rondo_bind(bindings, rondo_tensor{12345}, x.data(), 16), RONDO_WRONG_TENSOR);
    const Saxpy stranger;
    CHECK_EQ(rondo_bind(bindings, stranger.tensors[0], x.data(), 16), RONDO_WRONG_TENSOR);
  }
  // The session's end is that of its bindings, also when another object has taken their place.
  Open again(saxpy);
  again.bind(x, y);
  CHECK_EQ(rondo_run_round(bindings), RONDO_WRONG_HANDLE);
  CHECK(says("closed or destroyed"));
  CHECK_EQ(rondo_close(session), RONDO_WRONG_HANDLE);
  CHECK_EQ(rondo_bindings_destroy(bindings), RONDO_WRONG_HANDLE);
  CHECK_EQ(rondo_wait_all(session), RONDO_WRONG_HANDLE);
  CHECK_EQ(rondo_run_round(again.bindings), RONDO_OK);
  CHECK_EQ(rondo_bindings_destroy(again.bindings), RONDO_OK);
  CHECK_EQ(rondo_run_round(again.bindings), RONDO_WRONG_HANDLE);
  for (const std::uint64_t id :
       {std::uint64_t{0}, ~std::uint64_t{0}, std::uint64_t{1} << 24, std::uint64_t{0xFFFFFF}}) {
    CHECK_EQ(rondo_run_round(rondo_bindings{id}), RONDO_WRONG_HANDLE);
    CHECK_EQ(rondo_graph_destroy(rondo_graph{id}), RONDO_WRONG_HANDLE);
    CHECK_EQ(rondo_kernel_destroy(rondo_kernel{id}), RONDO_WRONG_HANDLE);
    CHECK_EQ(rondo_open(rondo_graph{id}, "a2a3_sim", nullptr, &session), RONDO_WRONG_HANDLE);
  }
}

TEST_CASE("c: wrong bindings are refused in the words of the session, which stays usable") {
  Saxpy saxpy;
  Open open(saxpy);
  std::vector<float> x{1, 2, 3, 4};
  std::vector<float> y(4);
  CHECK_EQ(rondo_run_round(open.bindings), RONDO_UNBOUND_TENSOR);
  CHECK(says("'x'"));
  CHECK_EQ(rondo_bind(open.bindings, saxpy.tensors[0], x.data(), 12), RONDO_WRONG_SIZE);
  CHECK(says("'x'"));
  CHECK_EQ(rondo_bind(open.bindings, saxpy.tensors[0], nullptr, 16), RONDO_NULL_MEMORY);
  CHECK_EQ(rondo_bind_device(open.bindings, saxpy.tensors[0], 0, 16), RONDO_NULL_MEMORY);
  CHECK_EQ(rondo_bind_read_only(open.bindings, saxpy.tensors[1], y.data(), 16), RONDO_WRONG_TENSOR);
  CHECK_EQ(rondo_launch(open.bindings), RONDO_NOT_OPEN);
  CHECK(says("no round was begun"));
  CHECK_EQ(rondo_finish_round(open.bindings), RONDO_NOT_OPEN);
  CHECK(says("no round was begun"));
  open.bind(x, y);
  REQUIRE_EQ(rondo_begin_round(open.bindings), RONDO_OK);
  CHECK_EQ(rondo_run_round(open.bindings), RONDO_BUSY);
  CHECK_EQ(rondo_finish_round(open.bindings), RONDO_ABANDONED);
  CHECK_EQ(rondo_run_round(open.bindings), RONDO_OK);
  CHECK_EQ(open.counters().poisoned, 0);
}

TEST_CASE("c: device memory is bound without a copy") {
  Saxpy saxpy;
  Open open(saxpy);
  alignas(64) float x[4] = {1, 2, 3, 4};  // of the simulation: host memory is the device's
  alignas(64) float y[4] = {};
  REQUIRE_EQ(rondo_bind_device(open.bindings, saxpy.tensors[0], reinterpret_cast<std::uintptr_t>(x), 16), RONDO_OK);
  REQUIRE_EQ(rondo_bind_device(open.bindings, saxpy.tensors[1], reinterpret_cast<std::uintptr_t>(y), 16), RONDO_OK);
  CHECK_EQ(rondo_run_round(open.bindings), RONDO_OK);
  CHECK_EQ(rondo_run_round(open.bindings), RONDO_OK);
  CHECK_EQ(y[3], 16);
}

TEST_CASE("c: residents, held inputs and scalars change between rounds") {
  const Kernel kernel("add", "x: in f32[n], w: in f32[n], z: out f32[n]", add);
  const Kernel scale("saxpy", saxpy_signature, saxpy);
  rondo_graph graph{};
  rondo_tensor t[4] = {};
  REQUIRE_EQ(rondo_graph_create(RONDO_EDGES_DERIVED, &graph), RONDO_OK);
  REQUIRE_EQ(
      rondo_graph_add_tensors(graph, "x: in f32[2], w: resident f32[2], z: workspace f32[2], y: inout f32[2]", t, 4),
      RONDO_OK);
  REQUIRE_EQ(rondo_graph_keep(graph, t[0]), RONDO_OK);
  const rondo_argument first[] = {rondo_tensor_argument(t[0]), rondo_tensor_argument(t[1]),
                                  rondo_tensor_argument(t[2])};
  const rondo_argument second[] = {rondo_tensor_argument(t[2]), rondo_tensor_argument(t[3]), rondo_number_argument(1)};
  rondo_task task = 0;
  REQUIRE_EQ(rondo_graph_add_task(graph, kernel.handle, first, 3, nullptr, nullptr), RONDO_OK);
  REQUIRE_EQ(rondo_graph_add_task(graph, scale.handle, second, 3, nullptr, &task), RONDO_OK);
  rondo_session session{};
  rondo_bindings bindings{};
  REQUIRE_EQ(rondo_open(graph, "a2a3_sim", nullptr, &session), RONDO_OK);
  REQUIRE_EQ(rondo_graph_destroy(graph), RONDO_OK);  // the session has what it needs
  REQUIRE_EQ(rondo_bindings_create(session, &bindings), RONDO_OK);
  float x[] = {1, 2};
  float w[] = {10, 20};
  float y[] = {0, 0};
  REQUIRE_EQ(rondo_bind(bindings, t[0], x, sizeof x), RONDO_OK);
  REQUIRE_EQ(rondo_bind(bindings, t[3], y, sizeof y), RONDO_OK);
  CHECK_EQ(rondo_run_round(bindings), RONDO_UNINITIALIZED_READ);
  CHECK_EQ(rondo_upload(session, t[1], w, 4), RONDO_WRONG_SIZE);
  CHECK_EQ(rondo_upload(session, t[0], w, 8), RONDO_WRONG_TENSOR);
  REQUIRE_EQ(rondo_upload(session, t[1], w, sizeof w), RONDO_OK);
  REQUIRE_EQ(rondo_run_round(bindings), RONDO_OK);
  CHECK_EQ(y[1], 22);
  for (const rondo_tensor other : {t[1], t[2], t[3]}) {
    CHECK_EQ(rondo_hold(session, other), RONDO_WRONG_TENSOR);
    CHECK_EQ(rondo_release_hold(session, other), RONDO_WRONG_TENSOR);
  }
  REQUIRE_EQ(rondo_hold(session, t[0]), RONDO_OK);
  x[1] = 1000;  // not looked at
  REQUIRE_EQ(rondo_set_scalar(session, task, 0, rondo_number_argument(2)), RONDO_OK);
  CHECK_EQ(rondo_set_scalar(session, task, 1, rondo_number_argument(2)), RONDO_INVALID_ARGUMENT);
  CHECK_EQ(rondo_set_scalar(session, 7, 0, rondo_number_argument(2)), RONDO_INVALID_ARGUMENT);
  REQUIRE_EQ(rondo_run_round(bindings), RONDO_OK);
  CHECK_EQ(y[1], 22 + 2 * 22);
  REQUIRE_EQ(rondo_release_hold(session, t[0]), RONDO_OK);
  REQUIRE_EQ(rondo_run_round(bindings), RONDO_OK);
  CHECK_EQ(y[1], 66 + 2 * 1020);
  float back[2] = {};
  REQUIRE_EQ(rondo_download(session, t[1], back, sizeof back), RONDO_OK);
  CHECK_EQ(back[1], 20);
  CHECK_EQ(rondo_close(session), RONDO_OK);
}

TEST_CASE("c: a graph with symbols runs rounds of many sizes") {
  for (const std::uint32_t in_flight : {1U, 3U}) {
    Saxpy saxpy("x: in f32[n, 2], y: inout f32[n * 2]");
    Open open(saxpy, "a2a3_sim", in_flight);
    for (const std::size_t n : {2U, 6U, 2U, 10U}) {
      std::vector<float> x(n, 3);
      std::vector<float> y(n, 1);
      open.bind(x, y);
      REQUIRE_EQ(rondo_run_round(open.bindings), RONDO_OK);
      CHECK_EQ(y[n - 1], 7);
    }
    CHECK_EQ(open.counters().shapes, 3);
    std::vector<float> x(3);
    std::vector<float> y(4);
    open.bind(x, y);
    CHECK_NE(rondo_run_round(open.bindings), RONDO_OK);
    CHECK_EQ(rondo_begin_round(open.bindings), RONDO_UNSUPPORTED);
    CHECK(says("a session of a graph with symbols"));
    CHECK_EQ(rondo_hold(open.session, saxpy.tensors[0]), RONDO_UNSUPPORTED);
    CHECK(says("a session of a graph with symbols"));
    CHECK_EQ(rondo_launch(open.bindings), RONDO_NOT_OPEN);
    CHECK(says("no round was begun"));
    CHECK_EQ(rondo_bind(open.bindings, saxpy.tensors[0], x.data(), 7), RONDO_WRONG_SIZE);
    CHECK(says("tensor 'x' (in, float32): the bound memory"));
    CHECK_EQ(open.counters().poisoned, 0);
  }
  Saxpy saxpy("x: in f32[n, 2], y: inout f32[n * 2]");
  Open open(saxpy, "null");
  const std::int64_t extent = 4;
  const std::int64_t stride = 8;
  CHECK_EQ(rondo_bind_device_strided(open.bindings, saxpy.tensors[0], 64, &extent, &stride, 1), RONDO_UNSUPPORTED);
  CHECK(says("tensor 'x' (in, float32): the platform cannot do this"));
}

TEST_CASE("c: a loop repeats until its tasks end it, a `when` runs or does not, and both are explained") {
  const Kernel until("until", "x: in i32[n], count: inout i32[n], done: out i32[n]", count_until);
  const Kernel odd("odd", "x: in i32[n], done: out i32[n]", is_odd);
  Counting counting{until.handle};
  REQUIRE_EQ(rondo_graph_create(RONDO_EDGES_DERIVED, &counting.graph), RONDO_OK);
  const char* const declarations =
      "x: in i32[1], count: inout i32[1], more: inout i32[1], done: workspace i32[1], flag: workspace i32[1], "
      "f: inout f32[1]";
  rondo_tensor* const t = counting.tensors;
  REQUIRE_EQ(rondo_graph_add_tensors(counting.graph, declarations, t, 6), RONDO_OK);
  const auto repeat = [&](rondo_tensor condition, const char* most, rondo_loop_body body, rondo_task* task) {
    return rondo_graph_repeat_until(counting.graph, condition, most, body, &counting, task);
  };
  // What is refused leaves no tasks, and no symbols, which nothing would give a value.
  CHECK_EQ(repeat(t[3], nullptr, add_until, nullptr), RONDO_NULL_MEMORY);
  CHECK_EQ(repeat(t[3], "8", nullptr, nullptr), RONDO_NULL_MEMORY);
  CHECK_EQ(repeat(t[5], "m", add_until, nullptr), RONDO_INVALID_ARGUMENT);
  CHECK(says("make it an integer or bool"));
  CHECK_EQ(repeat(t[3], "0", add_until, nullptr), RONDO_INVALID_ARGUMENT);
  CHECK_EQ(repeat(t[3], "k", add_until_and_fail, nullptr), RONDO_BUSY);
  CHECK_EQ(repeat(t[3], "8", [](rondo_graph graph, void*) { return rondo_graph_destroy(graph); }, nullptr), RONDO_BUSY);
  CHECK(says("the body of a loop of this graph runs"));
  CHECK_EQ(rondo_graph_when(rondo_graph{7}, t[3], add_until, &counting, nullptr), RONDO_WRONG_HANDLE);
  rondo_graph left{};  // by an exception; no body of it runs
  rondo_tensor left_done{};
  REQUIRE_EQ(rondo_graph_create(RONDO_EDGES_DERIVED, &left), RONDO_OK);
  REQUIRE_EQ(rondo_graph_add_tensors(left, "done: inout i32[1]", &left_done, 1), RONDO_OK);
  const auto leave = [](rondo_graph, void*) -> rondo_code { throw std::runtime_error("left"); };
  CHECK_EQ(rondo_graph_repeat_until(left, left_done, "8", leave, nullptr, nullptr), RONDO_INTERNAL);
  CHECK_EQ(rondo_graph_destroy(left), RONDO_OK);

  rondo_task tasks[3] = {};
  const rondo_argument looked_at[] = {rondo_tensor_argument(t[0]), rondo_tensor_argument(t[4])};
  REQUIRE_EQ(rondo_graph_add_task(counting.graph, odd.handle, looked_at, 2, nullptr, nullptr), RONDO_OK);
  REQUIRE_EQ(repeat(t[3], "8", add_until, &tasks[0]), RONDO_OK);
  counting.count = t[2];
  REQUIRE_EQ(rondo_graph_when(counting.graph, t[4], add_until, &counting, &tasks[1]), RONDO_OK);
  REQUIRE_EQ(rondo_graph_add_task(counting.graph, odd.handle, looked_at, 2, nullptr, &tasks[2]), RONDO_OK);
  CHECK_EQ(tasks[0], 2);
  CHECK_EQ(tasks[1], 3);
  CHECK_EQ(tasks[2], 5);

  rondo_session session{};
  rondo_bindings bindings{};
  REQUIRE_EQ(rondo_open(counting.graph, "a2a3_sim", nullptr, &session), RONDO_OK);
  REQUIRE_EQ(rondo_bindings_create(session, &bindings), RONDO_OK);
  struct Expected {
    std::int32_t x, count, more;
  };
  for (const Expected expected : {Expected{5, 5, 1}, Expected{4, 4, 0}, Expected{99, 8, 1}}) {
    std::int32_t x = expected.x;
    std::int32_t count = 0;
    std::int32_t more = 0;
    float f = 0;
    REQUIRE_EQ(rondo_bind(bindings, t[0], &x, 4), RONDO_OK);
    REQUIRE_EQ(rondo_bind(bindings, t[1], &count, 4), RONDO_OK);
    REQUIRE_EQ(rondo_bind(bindings, t[2], &more, 4), RONDO_OK);
    REQUIRE_EQ(rondo_bind(bindings, t[5], &f, 4), RONDO_OK);
    REQUIRE_EQ(rondo_run_round(bindings), RONDO_OK);
    CHECK_EQ(count, expected.count);
    CHECK_EQ(more, expected.more);
  }
  CHECK_EQ(rondo_set_scalar(session, tasks[0], 0, rondo_integer_argument(1)), RONDO_INVALID_ARGUMENT);
  CHECK(says("task 2 is the decision of a loop"));
  CHECK_EQ(rondo_set_scalar(session, tasks[1], 0, rondo_integer_argument(1)), RONDO_INVALID_ARGUMENT);
  CHECK(says("task 3 is the decision of a loop"));
  CHECK_EQ(rondo_set_scalar(session, tasks[1] + 1, 0, rondo_integer_argument(1)), RONDO_INVALID_ARGUMENT);
  CHECK(says("kernel 'until' has 0 scalars"));

  rondo_loop loops[2] = {};
  std::size_t count = 0;
  REQUIRE_EQ(rondo_explain_loops(session, nullptr, 0, &count), RONDO_OK);
  REQUIRE_EQ(count, 2);
  REQUIRE_EQ(rondo_explain_loops(session, loops, 2, &count), RONDO_OK);
  CHECK_EQ(loops[0].name, std::string_view("until done"));
  CHECK_EQ(loops[1].name, std::string_view("when flag"));
  CHECK_EQ(loops[0].decision, tasks[0]);
  CHECK_EQ(loops[1].decision, tasks[1]);
  CHECK_EQ(loops[0].host_decides, 0);
  CHECK_EQ(loops[0].why, std::string_view());
  loops[0] = loops[1] = {};
  REQUIRE_EQ(rondo_explain_loops(session, loops, 1, &count), RONDO_OK);
  CHECK_NE(loops[0].name, nullptr);
  CHECK_EQ(loops[1].name, nullptr);
  CHECK_EQ(rondo_explain_loops(session, nullptr, 1, &count), RONDO_NULL_MEMORY);
  CHECK_EQ(rondo_close(session), RONDO_OK);
  CHECK_EQ(rondo_explain_loops(session, loops, 2, &count), RONDO_WRONG_HANDLE);
  CHECK_EQ(rondo_graph_destroy(counting.graph), RONDO_OK);
}

TEST_CASE("c: rounds in flight are delivered in order, and tickets tell how they went") {
  for (const char* platform : {"a2a3_sim", "a2a3_sim_pool", "host"}) {
    CAPTURE(platform);
    Saxpy saxpy;
    Open open(saxpy, platform, 3);
    std::vector<std::vector<float>> ys(8, std::vector<float>(4, 1));
    std::vector<float> x{1, 2, 3, 4};
    std::vector<std::uint64_t> tickets(ys.size());
    for (std::size_t r = 0; r < ys.size(); ++r) {
      open.bind(x, ys[r]);
      REQUIRE_EQ(rondo_submit_round(open.bindings, &tickets[r]), RONDO_OK);
      CHECK_LE(open.counters().in_flight, 3);
    }
    CHECK_EQ(rondo_wait(open.session, tickets[5]), RONDO_OK);
    CHECK_EQ(ys[5][3], 9);
    CHECK_EQ(rondo_wait(open.session, tickets[0]), RONDO_OK);
    CHECK_EQ(rondo_wait_all(open.session), RONDO_OK);
    std::size_t left = 9;
    CHECK_EQ(rondo_poll(open.session, &left), RONDO_OK);
    CHECK_EQ(left, 0);
    for (const auto& y : ys) CHECK_EQ(y, std::vector<float>{3, 5, 7, 9});
    CHECK_EQ(open.counters().rounds, 8);
    CHECK_EQ(rondo_wait(open.session, tickets[7] + 1), RONDO_INVALID_ARGUMENT);
  }
  Saxpy saxpy;
  Open alone(saxpy);  // with one round in flight at most a round is over when it was submitted
  std::vector<float> x(4);
  std::vector<float> y(4);
  alone.bind(x, y);
  std::uint64_t ticket = 0;
  CHECK_EQ(rondo_submit_round(alone.bindings, &ticket), RONDO_OK);
  CHECK_EQ(rondo_wait(alone.session, ticket), RONDO_OK);
  CHECK_EQ(rondo_wait(alone.session, ticket + 1), RONDO_INVALID_ARGUMENT);
  rondo_options options = RONDO_OPTIONS_INIT;
  options.in_flight = 5;
  rondo_session session{};
  CHECK_EQ(rondo_open(saxpy.graph, "a2a3_sim", &options, &session), RONDO_INVALID_ARGUMENT);
  CHECK(says("in_flight is 5; choose 1 to 4"));
  options.size = 8;
  CHECK_EQ(rondo_open(saxpy.graph, "a2a3_sim", &options, &session), RONDO_INVALID_ARGUMENT);
  CHECK(says("RONDO_OPTIONS_INIT"));
}

TEST_CASE("c: symbols are stated by name where sizes do not determine them") {
  Saxpy saxpy("x: in f32[n, m], y: inout f32[n, m]");
  Open open(saxpy);
  std::vector<float> x(12, 1), y(12, 1);
  open.bind(x, y);
  CHECK_EQ(rondo_run_round(open.bindings), RONDO_INVALID_ARGUMENT);
  const std::string of_the_round = rondo_last_error();
  CHECK_EQ(rondo_wait(open.session, 12345), RONDO_INVALID_ARGUMENT);  // has nothing to do with that round
  CHECK_NE(rondo_last_error(), of_the_round);
  CHECK_EQ(rondo_run_round(open.bindings), RONDO_INVALID_ARGUMENT);
  CHECK_EQ(rondo_last_error(), of_the_round);
  REQUIRE_EQ(rondo_state_symbol(open.bindings, "n", 3), RONDO_OK);
  REQUIRE_EQ(rondo_run_round(open.bindings), RONDO_OK);
  CHECK_EQ(y[11], 3);
  CHECK_EQ(rondo_state_symbol(open.bindings, "k", 3), RONDO_INVALID_ARGUMENT);
  CHECK(says("the graph has no symbol 'k'"));
  CHECK_EQ(rondo_state_symbol(open.bindings, "n", -2), RONDO_INVALID_ARGUMENT);
  CHECK_EQ(rondo_state_symbol(open.bindings, nullptr, 1), RONDO_NULL_MEMORY);
  REQUIRE_EQ(rondo_state_symbol(open.bindings, "n", -1), RONDO_OK);
  CHECK_EQ(rondo_run_round(open.bindings), RONDO_INVALID_ARGUMENT);
}

TEST_CASE("c: a traced session counts, and writes a trace where the platform can") {
  Saxpy saxpy;
  rondo_options options = RONDO_OPTIONS_INIT;
  options.trace = 1;
  rondo_session session{};
  const rondo_code code = rondo_open(saxpy.graph, "a2a3_sim", &options, &session);
  if (code == RONDO_UNSUPPORTED && says("built without traces")) return;
  REQUIRE_EQ(code, RONDO_OK);
  rondo_bindings bindings{};
  REQUIRE_EQ(rondo_bindings_create(session, &bindings), RONDO_OK);
  std::vector<float> x(4, 1), y(4, 1);
  REQUIRE_EQ(rondo_bind(bindings, saxpy.tensors[0], x.data(), 16), RONDO_OK);
  REQUIRE_EQ(rondo_bind(bindings, saxpy.tensors[1], y.data(), 16), RONDO_OK);
  REQUIRE_EQ(rondo_run_round(bindings), RONDO_OK);
  rondo_counters counters{};
  counters.size = sizeof counters;
  REQUIRE_EQ(rondo_get_counters(session, &counters), RONDO_OK);
  CHECK_EQ(counters.copies_in, 2);
  CHECK_EQ(counters.bytes_out, 16);
  CHECK_GT(counters.phase_ns[2], 0);
  // A program that was compiled before there were these figures.
  rondo_counters old{};
  old.size = offsetof(rondo_counters, failed_rounds);
  old.copies_in = 77;
  REQUIRE_EQ(rondo_get_counters(session, &old), RONDO_OK);
  CHECK_EQ(old.rounds, 1);
  CHECK_EQ(old.copies_in, 77);
  const std::string path = "/tmp/rondo_c_trace." + std::to_string(getpid()) + ".json";
  REQUIRE_EQ(rondo_write_trace(session, path.c_str()), RONDO_OK);
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  CHECK_NE(text.find("\"saxpy\""), std::string::npos);
  (void)std::remove(path.c_str());
  CHECK_EQ(rondo_write_trace(session, "/nowhere/trace.json"), RONDO_INVALID_ARGUMENT);
  CHECK_EQ(rondo_close(session), RONDO_OK);
  CHECK_EQ(rondo_open(saxpy.graph, "null", &options, &session), RONDO_UNSUPPORTED);
  REQUIRE_EQ(rondo_open(saxpy.graph, "host", &options, &session), RONDO_OK);
  REQUIRE_EQ(rondo_write_trace(session, path.c_str()), RONDO_OK);
  (void)std::remove(path.c_str());
  CHECK_EQ(rondo_close(session), RONDO_OK);
  options.size = offsetof(rondo_options, trace);
  REQUIRE_EQ(rondo_open(saxpy.graph, "host", &options, &session), RONDO_OK);
  CHECK_EQ(rondo_write_trace(session, path.c_str()), RONDO_NOT_OPEN);
  CHECK_EQ(rondo_close(session), RONDO_OK);
}

namespace {

/// The context of the orchestration below: y += steps * 2 * x, by halves and by way of an intermediate.
struct Orchestrated {
  explicit Orchestrated(const char* called) : runtime{called} {
    REQUIRE_EQ(rondo_graph_create(RONDO_EDGES_DERIVED, &graph), RONDO_OK);
    REQUIRE_EQ(rondo_graph_add_tensors(graph, "x: in f32[4], steps: in i32[1], y: inout f32[4]", tensors.data(), 3),
               RONDO_OK);
  }
  ~Orchestrated() { (void)rondo_graph_destroy(graph); }
  const char* runtime;
  Kernel saxpy_kernel{"saxpy", saxpy_signature, saxpy};
  Kernel add_kernel{"add", "x: in f32[n], w: in f32[n], z: out f32[n]", add};
  rondo_graph graph{};
  std::array<rondo_tensor, 3> tensors{};
  rondo_round last{};
  bool fails = false;
};

#define RONDO_TRY(call) \
  if (const rondo_code code = (call); code != RONDO_OK) return code

rondo_code orchestrate(rondo_round round, void* context) {
  auto& self = *static_cast<Orchestrated*>(context);
  self.last = round;
  const void* steps = nullptr;
  size_t bytes = 0;
  RONDO_TRY(rondo_round_values(round, self.tensors[1], &steps, &bytes));
  if (bytes != 4) return RONDO_INTERNAL;
  const bool has_edges = std::string_view(self.runtime) == "aicpu_build_graph";
  rondo_task last[2] = {};
  for (std::int32_t step = 0; step < *static_cast<const std::int32_t*>(steps); ++step) {
    for (const std::int64_t half : {0, 1}) {
      const std::int64_t first = 2 * half;
      const std::int64_t two = 2;
      rondo_region x{}, y{}, t{};
      rondo_task one = 0, other = 0;
      RONDO_TRY(rondo_round_begin_scope(round));
      RONDO_TRY(rondo_round_view(round, rondo_tensor_argument(self.tensors[0]), &first, &two, 1, &x));
      RONDO_TRY(rondo_round_view(round, rondo_tensor_argument(self.tensors[2]), &first, &two, 1, &y));
      RONDO_TRY(rondo_round_workspace(round, "f32", &two, 1, &t));
      const rondo_argument sum[] = {rondo_region_argument(x), rondo_region_argument(x), rondo_region_argument(t)};
      CHECK_EQ(rondo_round_add_task(round, self.add_kernel.handle, sum, SIZE_MAX, 1, &one), RONDO_INVALID_ARGUMENT);
      RONDO_TRY(rondo_round_add_task(round, self.add_kernel.handle, sum, 3, 1, &one));
      const rondo_argument more[] = {rondo_region_argument(t), rondo_region_argument(y), rondo_number_argument(1)};
      RONDO_TRY(rondo_round_add_task(round, self.saxpy_kernel.handle, more, 3, 1, &other));
      if (has_edges) {
        RONDO_TRY(rondo_round_add_edge(round, one, other));
        if (step != 0) RONDO_TRY(rondo_round_add_edge(round, last[half], other));
      }
      last[half] = other;
      RONDO_TRY(rondo_round_end_scope(round));
      if (self.fails) return rondo_round_view(round, rondo_region_argument({12345}), &first, &two, 1, &x);
    }
  }
  return RONDO_OK;
}

/// Makes three regions, and keeps the last one; if there is one, uses that instead.
rondo_code keep_a_region(rondo_round round, void* context) {
  auto& kept = *static_cast<rondo_region*>(context);
  const std::int64_t first = 0;
  const std::int64_t two = 2;
  rondo_region made{};
  for (int i = 0; i < 3; ++i) RONDO_TRY(rondo_round_workspace(round, "f32", &two, 1, &made));
  if (kept.id != 0) return rondo_round_view(round, rondo_region_argument(kept), &first, &two, 1, &made);
  kept = made;
  return RONDO_OK;
}

}  // namespace

TEST_CASE("c: a region of another session is refused") {
  Orchestrated made("tensormap_and_ringbuffer");
  rondo_region kept{};
  std::vector<float> x(4), y(4);
  std::int32_t steps = 0;
  for (const rondo_code expected : {RONDO_OK, RONDO_ORCHESTRATION_FAILED}) {
    rondo_session session{};
    REQUIRE_EQ(rondo_open_orchestrated(made.graph, "a2a3_sim", made.runtime, keep_a_region, &kept, nullptr, &session),
               RONDO_OK);
    rondo_bindings bindings{};
    REQUIRE_EQ(rondo_bindings_create(session, &bindings), RONDO_OK);
    REQUIRE_EQ(rondo_bind(bindings, made.tensors[0], x.data(), 16), RONDO_OK);
    REQUIRE_EQ(rondo_bind(bindings, made.tensors[1], &steps, 4), RONDO_OK);
    REQUIRE_EQ(rondo_bind(bindings, made.tensors[2], y.data(), 16), RONDO_OK);
    CHECK_EQ(rondo_run_round(bindings), expected);
    CHECK_EQ(rondo_close(session), RONDO_OK);
  }
  CHECK(says("the argument is no tensor or region of this round"));
}

TEST_CASE("c: an orchestration adds the tasks of each round") {
  for (const char* platform : {"a2a3_sim", "a5_sim", "a2a3_sim_pool", "a5_sim_pool"}) {
    for (const char* runtime : {"tensormap_and_ringbuffer", "aicpu_build_graph"}) {
      CAPTURE(platform);
      CAPTURE(runtime);
      Orchestrated made(runtime);
      rondo_session session{};
      REQUIRE_EQ(rondo_open_orchestrated(made.graph, platform, runtime, orchestrate, &made, nullptr, &session),
                 RONDO_OK);
      rondo_bindings bindings{};
      REQUIRE_EQ(rondo_bindings_create(session, &bindings), RONDO_OK);
      std::vector<float> x{1, 2, 3, 4}, y(4);
      std::int32_t steps = 0;
      REQUIRE_EQ(rondo_bind(bindings, made.tensors[0], x.data(), 16), RONDO_OK);
      REQUIRE_EQ(rondo_bind(bindings, made.tensors[1], &steps, 4), RONDO_OK);
      REQUIRE_EQ(rondo_bind(bindings, made.tensors[2], y.data(), 16), RONDO_OK);
      float total = 0;
      for (steps = 0; steps < 5; ++steps) {
        REQUIRE_EQ(rondo_run_round(bindings), RONDO_OK);
        total += 2 * static_cast<float>(steps);
        CHECK_EQ(y, std::vector<float>{total, 2 * total, 3 * total, 4 * total});
      }
      const std::int64_t two = 2;
      rondo_region region{};
      CHECK_EQ(rondo_round_workspace(made.last, "f32", &two, 1, &region), RONDO_NOT_OPEN);
      CHECK(says("the round is over"));
      made.fails = true;
      CHECK_EQ(rondo_run_round(bindings), RONDO_ORCHESTRATION_FAILED);
      CHECK(says("it returned 1, and the last error is: the argument is no tensor or region of this round"));
      CHECK_EQ(rondo_run_round(bindings), RONDO_POISONED);
      CHECK_EQ(rondo_close(session), RONDO_OK);
      CHECK_EQ(rondo_round_workspace(made.last, "f32", &two, 1, &region), RONDO_WRONG_HANDLE);
    }
  }
  Orchestrated made("");
  rondo_session session{};
  CHECK_EQ(rondo_open_orchestrated(made.graph, "host", nullptr, orchestrate, &made, nullptr, &session),
           RONDO_UNSUPPORTED);
  CHECK_EQ(rondo_open_orchestrated(made.graph, "a2a3_sim", "x", orchestrate, &made, nullptr, &session),
           RONDO_INVALID_ARGUMENT);
  CHECK_EQ(rondo_open_orchestrated(made.graph, "a2a3_sim", nullptr, nullptr, &made, nullptr, &session),
           RONDO_NULL_MEMORY);
  CHECK_EQ(session.id, 0);
}

TEST_CASE("c: a round is over when code in C++ leaves its orchestration by an exception") {
  Orchestrated made("tensormap_and_ringbuffer");
  const rondo_orchestration throwing = [](rondo_round round, void* context) -> rondo_code {
    static_cast<Orchestrated*>(context)->last = round;
    throw std::runtime_error("thrown");
  };
  rondo_session session{};
  REQUIRE_EQ(rondo_open_orchestrated(made.graph, "a2a3_sim", nullptr, throwing, &made, nullptr, &session), RONDO_OK);
  rondo_bindings bindings{};
  REQUIRE_EQ(rondo_bindings_create(session, &bindings), RONDO_OK);
  std::array<float, 4> x{}, y{};
  std::int32_t steps = 0;
  REQUIRE_EQ(rondo_bind(bindings, made.tensors[0], x.data(), 16), RONDO_OK);
  REQUIRE_EQ(rondo_bind(bindings, made.tensors[1], &steps, 4), RONDO_OK);
  REQUIRE_EQ(rondo_bind(bindings, made.tensors[2], y.data(), 16), RONDO_OK);
  CHECK_EQ(rondo_run_round(bindings), RONDO_ORCHESTRATION_FAILED);
  CHECK(says("thrown"));
  CHECK_EQ(rondo_round_begin_scope(made.last), RONDO_NOT_OPEN);
  CHECK_EQ(rondo_close(session), RONDO_OK);
}

TEST_CASE("c: a stop poisons the session, whose close still releases everything") {
  Saxpy saxpy;
  Open open(saxpy);
  std::vector<float> x(4);
  std::vector<float> y(4);
  open.bind(x, y);
  REQUIRE_EQ(rondo_request_stop(open.session), RONDO_OK);
  CHECK_EQ(rondo_run_round(open.bindings), RONDO_STOPPED);
  CHECK_EQ(rondo_run_round(open.bindings), RONDO_POISONED);
  CHECK_EQ(open.counters().poisoned, 1);
  CHECK_EQ(rondo_close(open.session), RONDO_OK);
}

TEST_CASE("c: threads with a session each do not disturb each other, nor their errors") {
  std::vector<std::thread> threads;
  std::array<bool, 2> good{};
  for (std::size_t t = 0; t < good.size(); ++t) {
    threads.emplace_back([&good, t] {
      bool ok = true;
      for (int i = 0; i < 50; ++i) {
        rondo_kernel kernel{};
        rondo_graph graph{};
        ok = ok && rondo_kernel_create("k", RONDO_VECTOR, t == 0 ? "x: in q[n]" : "7", nullptr, &kernel) != RONDO_OK;
        ok = ok && says(t == 0 ? "no such element type" : "expected the name");
        ok = ok && rondo_graph_create(RONDO_EDGES_DERIVED, &graph) == RONDO_OK;
        ok = ok && rondo_graph_destroy(graph) == RONDO_OK && rondo_graph_destroy(graph) == RONDO_WRONG_HANDLE;
      }
      good[t] = ok;
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(good[0]);
  CHECK(good[1]);
  CHECK_EQ(std::string_view(rondo_describe(RONDO_WRONG_SIZE)).substr(0, 16), "the bound memory");
  CHECK_EQ(std::string_view(rondo_describe(77)), "unknown error code");
}
