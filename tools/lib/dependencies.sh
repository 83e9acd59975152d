# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
#
# Sourced by the commands in tools/. Defines require_for <purpose>, which installs the packages that Rondo needs for it.
# It looks for what each package provides, so a second run, or a machine set up in another way, installs nothing.

say() { printf '\n== %s\n' "$*"; }

has_program() { command -v "$1" >/dev/null 2>&1; }
has_header() { has_program g++ && printf '#include <%s>\n' "$1" | g++ -std=c++20 -x c++ -E - >/dev/null 2>&1; }
# Only MPI's compiler wrapper finds its header, and the wrapper can be installed without the header.
has_mpi_header() { has_program mpicxx && printf '#include <mpi.h>\n' | mpicxx -x c++ -E - >/dev/null 2>&1; }

# The newest clang that is installed, 16 at least. 19 goes first: it is the one that CMakePresets.json names.
find_clang() {
  local name version
  for name in clang++-19 clang++-22 clang++-21 clang++-20 clang++-18 clang++-17 clang++-16 clang++; do
    has_program "$name" || continue
    version=$("$name" -dumpversion)
    [ "${version%%.*}" -ge 16 ] && { echo "$name"; return; }
  done
  return 1
}

# The version of that clang, or of the one to install. Its packages and tools have it in their names.
clang_version() {
  local clang version=19
  ! clang=$(find_clang) || version=$("$clang" -dumpversion)
  echo "${version%%.*}"
}

# A clang without its runtime compiles but cannot link a sanitizer.
has_clang_sanitizers() {
  local clang
  clang=$(find_clang) && ls "$("$clang" -print-resource-dir)"/lib/*/*tsan*.a >/dev/null 2>&1
}

has_libcxx() {
  local clang
  clang=$(find_clang) && echo '#include <atomic>' | "$clang" -stdlib=libc++ -std=c++20 -x c++ -E - >/dev/null 2>&1
}

# A Python that has NumPy, its own headers and setuptools and can make environments, to build and test the package; the
# first python3 on the path need not be one.
has_python_for_modules() {
  local python
  for python in $(type -ap python3) /usr/bin/python3; do
    "$python" -c 'import importlib.util, os, sysconfig, sys
has_all = all(map(importlib.util.find_spec, ["numpy", "pip", "setuptools", "venv", "wheel"]))
sys.exit(not has_all or not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' >/dev/null 2>&1 && return
  done
  return 1
}
# The same Python has the module, which only tests use.
has_python_module() {
  local python
  for python in $(type -ap python3) /usr/bin/python3; do
    "$python" -c "import numpy, $1" >/dev/null 2>&1 && return
  done
  return 1
}
# A numba must fit NumPy, and Debian 12 has a pair that does.
is_debian_12() { grep -qs '^VERSION_ID="12"' /etc/os-release && grep -q '^ID=debian' /etc/os-release; }
has_mkdocs_theme() { has_file /usr/share/mkdocs/themes/material; }
has_python_yaml() { has_program python3 && python3 -c 'import yaml' >/dev/null 2>&1; }
# Some headers cannot be preprocessed alone, so they are looked for as files.
has_file() { [ -e "$1" ]; }

# Whether the page of tools/report can be tested if a browser is installed. The browser's driver needs Node.js 20, which
# Debian 12 does not have.
has_browser_driver() {
  has_program npm && node -e 'process.exit(parseInt(process.versions.node) >= 20 ? 0 : 1)' >/dev/null 2>&1
}
has_browser() { has_program chromium || has_program chromium-browser || has_program google-chrome; }

# Prints the Debian packages that are needed for <purpose>, which is demo, test, coverage, lint, portability, release,
# check_release, site or browse (a site in a browser), and are not there.
missing_packages() {
  local clang
  clang=$(clang_version)
  has_program g++ || echo g++
  case $1 in
    portability)
      has_header doctest/doctest.h || echo doctest-dev
      has_program aarch64-linux-gnu-g++ || echo g++-aarch64-linux-gnu
      has_program s390x-linux-gnu-g++ || echo g++-s390x-linux-gnu
      has_program qemu-aarch64 || echo qemu-user
      has_program musl-gcc || echo musl-tools
      find_clang >/dev/null || echo clang-19
      has_libcxx || printf '%s\n' "libc++-$clang-dev" "libc++abi-$clang-dev"
      return ;;
    release)
      has_program cmake || echo cmake
      has_program ninja || echo ninja-build
      has_program dpkg-deb || echo dpkg
      has_header dlpack/dlpack.h || echo libdlpack-dev
      has_header nlohmann/json.hpp || echo nlohmann-json3-dev
      has_header fmt/format.h || echo libfmt-dev
      has_header range/v3/version.hpp || echo librange-v3-dev
      has_python_for_modules || printf '%s\n' python3-dev python3-numpy python3-pip python3-setuptools python3-venv python3-wheel
      has_file '/usr/include/pybind11/pybind11.h' || has_file '/usr/local/include/pybind11/pybind11.h' || echo pybind11-dev
      return ;;
    lint)
      has_program clang-tidy-19 || echo clang-tidy-19
      has_header range/v3/version.hpp || echo librange-v3-dev
      has_header dlpack/dlpack.h || echo libdlpack-dev
      has_header nlohmann/json.hpp || echo nlohmann-json3-dev
      has_header fmt/format.h || echo libfmt-dev
      has_mpi_header || echo libopenmpi-dev
      return ;;
    check_release)
      has_program mmdebstrap || echo mmdebstrap
      return ;;
    site | browse)
      [ "$1" = site ] || has_browser || echo chromium
      has_program python3 || echo python3
      has_program cmake || echo cmake
      has_program doxygen || echo doxygen
      has_program mkdocs || echo mkdocs
      has_mkdocs_theme || echo mkdocs-material
      return ;;
  esac
  has_program cmake || echo cmake
  has_program ninja || echo ninja-build
  has_header CLI/CLI.hpp || echo libcli11-dev
  has_header range/v3/version.hpp || echo librange-v3-dev
  [ "$1" = test ] || [ "$1" = coverage ] || return 0
  [ "$1" = test ] || { has_program "llvm-cov-$clang" && has_program "llvm-profdata-$clang"; } || echo "llvm-$clang"
  has_header doctest/doctest.h || echo doctest-dev
  has_header benchmark/benchmark.h || echo libbenchmark-dev
  has_header tbb/flow_graph.h || echo libtbb-dev
  has_header dlpack/dlpack.h || echo libdlpack-dev
  has_header nlohmann/json.hpp || echo nlohmann-json3-dev
  has_header fmt/format.h || echo libfmt-dev
  has_program dot || echo graphviz
  has_program mpirun || echo openmpi-bin
  has_mpi_header || echo libopenmpi-dev
  find_clang >/dev/null || echo clang-19
  has_clang_sanitizers || echo "libclang-rt-$clang-dev"
  has_program clang-format-19 || echo clang-format-19
  has_program objdump || echo binutils
  has_program valgrind || echo valgrind
  has_program spin || echo spin
  has_program python3 || echo python3
  has_python_for_modules || printf '%s\n' python3-dev python3-numpy python3-pip python3-setuptools python3-venv python3-wheel
  has_file '/usr/include/pybind11/pybind11.h' || has_file '/usr/local/include/pybind11/pybind11.h' || echo pybind11-dev
  has_program pkg-config || echo pkg-config
  has_program dpkg-deb || echo dpkg
  has_program doxygen || echo doxygen
  has_program gdb || echo gdb
  has_program lldb || echo lldb
  has_program node || echo nodejs
  has_python_module cffi || echo python3-cffi
  has_python_module mypy || echo mypy
  ! is_debian_12 || has_python_module numba || echo python3-numba
  has_python_yaml || echo python3-yaml
  ! has_browser_driver || has_browser || echo chromium
}

require_for() {
  local missing still as_root=()
  mapfile -t missing < <(missing_packages "$1")
  if [ ${#missing[@]} -eq 0 ]; then
    say "Everything needed is installed"
    return
  fi
  if ! has_program apt-get; then
    say "This machine has no apt-get. Please install what these Debian packages hold, then run this again:"
    printf '   %s\n' "${missing[@]}"
    exit 1
  fi
  if [ "$(id -u)" -ne 0 ]; then
    if ! has_program sudo; then
      say "Installing needs root and there is no sudo. Please run this as root, then this command again:"
      echo "   apt-get update && apt-get install -y --no-install-recommends ${missing[*]}"
      exit 1
    fi
    as_root=(sudo)
  fi
  say "Installing with apt-get: ${missing[*]}"
  "${as_root[@]}" apt-get update
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}"

  mapfile -t still < <(missing_packages "$1")
  if [ ${#still[@]} -gt 0 ]; then
    say "Still missing after the installation: ${still[*]}"
    exit 1
  fi
}

jobs_to_run() { echo "${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}"; }
