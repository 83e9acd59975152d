// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>
#include <rondo/graph/kernel.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rondo::observe {

/// Kernels by name: a dump contains names, and a replay calls the linked kernels with these names. A value.
class KernelTable {
 public:
  /// A kernel and its name.
  struct Entry {
    /// The name that dumps contain.
    std::string name;
    KernelEntry entry = nullptr;
    std::uint32_t block_bytes = 0;  ///< the size of its arguments; 0: unknown
  };

  /// Adds a kernel that is a type. @throws Error invalid_argument if there is another kernel with the same name
  template <class K>
  KernelTable& add() {
    static_assert(check_kernel<K>());
    std::uint32_t block_bytes = 0;
    if constexpr (!rondo::detail::DeclaresArgs<K>) {
      block_bytes = static_cast<std::uint32_t>(rondo::detail::ParametersOf<K>::words * sizeof(ArgWord));
    }
    return add({K::name.data(), K::name.size()}, &rondo::detail::kernel_entry<K>, block_bytes);
  }
  /// Adds a raw kernel, or one with a separate args format. @throws as above
  KernelTable& add(std::string_view name, KernelEntry entry, std::uint32_t block_bytes = 0) {
    if (find(name) != nullptr) {
      throw Error(Errc::invalid_argument, Error::Text{"there are two kernels called '", name, "'; rename one"});
    }
    entries_.push_back({std::string{name}, entry, block_bytes});
    return *this;
  }

  /// The kernel with this name; null if there is none.
  [[nodiscard]] const Entry* find(std::string_view name) const noexcept {
    const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.name == name; });
    return found == entries_.end() ? nullptr : &*found;
  }

 private:
  std::vector<Entry> entries_;
};

/// Makes a table: `kernels<Saxpy, MatMul>()`. @throws Error invalid_argument if two kernels have the same name
template <class... K>
[[nodiscard]] KernelTable kernels() {
  KernelTable table;
  (table.add<K>(), ...);
  return table;
}

}  // namespace rondo::observe
