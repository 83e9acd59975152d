// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/types.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <initializer_list>
#include <string_view>
#include <type_traits>
#include <vector>

namespace audio {

/// The interface of a rondo::TaskGraph without Rondo: each kernel is a function call, in the order of add().
class PlainGraph {
 public:
  template <class T>
  struct Tensor {
    T* data;
    std::int64_t size;
    std::int64_t extents[2];
    std::size_t id;
  };
  using Extents = std::initializer_list<std::size_t>;

  template <class T>
  Tensor<T> host_input(std::string_view, Extents extents) {
    return make<T>(extents);
  }
  template <class T>
  Tensor<T> output(std::string_view, Extents extents) {
    return make<T>(extents);
  }
  template <class T>
  Tensor<T> resident(std::string_view, std::initializer_list<std::int64_t> extents) {
    return make<T>({static_cast<std::size_t>(*extents.begin())});
  }
  template <class T>
  Tensor<T> workspace(std::string_view, Extents extents) {
    return make<T>(extents);
  }

  /// A kernel and the tensors that it reads and writes.
  struct Call {
    std::function<void()> run;
    std::vector<std::size_t> reads{};
    std::vector<std::size_t> writes{};
  };
  template <class K, class... A>
  void add(const A&... args) {
    add_call(&K::run, args...);
  }
  [[nodiscard]] const std::vector<Call>& calls() const noexcept { return calls_; }

  void run() const {
    for (const Call& call : calls_) call.run();
  }

 private:
  template <class T>
  Tensor<T> make(Extents extents) {
    Tensor<T> tensor{nullptr, 1, {1, 1}, memory_.size()};
    std::size_t d = 0;
    for (const std::size_t e : extents) {
      tensor.extents[d++] = static_cast<std::int64_t>(e);
      tensor.size *= static_cast<std::int64_t>(e);
    }
    auto& words = memory_.emplace_back((static_cast<std::size_t>(tensor.size) * sizeof(T) + 7) / 8);
    tensor.data = reinterpret_cast<T*>(words.data());
    return tensor;
  }

  template <class... P, class... A>
  void add_call(void (*kernel)(P...) noexcept, const A&... args) {
    Call call{[=] { kernel(parameter<P>(args)...); }};
    (note<P>(call, args), ...);
    calls_.push_back(std::move(call));
  }
  template <class P, class A>
  static P parameter(const A& argument) {
    if constexpr (requires { P::rank; }) {
      return P::rank == 1 ? P(argument.data, &argument.size) : P(argument.data, argument.extents);
    } else {
      return argument;
    }
  }
  template <class P, class A>
  static void note(Call& call, const A& argument) {
    if constexpr (requires { P::rank; }) {
      (std::is_const_v<typename P::element_type> ? call.reads : call.writes).push_back(argument.id);
    }
  }

  std::deque<std::vector<std::uint64_t>> memory_;  ///< zeros, by tensor
  std::vector<Call> calls_;
};

}  // namespace audio
