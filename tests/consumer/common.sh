# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
#
# Sourced by the consumer tests. Their environment: ROOT and BUILD, Rondo's source and build folders; WORK, a folder of
# the test's own; CMAKE, GENERATOR, COMPILER, VERSION.
set -euo pipefail
export LC_ALL=C
rm -rf "$WORK"
mkdir -p "$WORK"
cd "$WORK"

fail() { echo "failed: $*"; exit 1; }

# configure <build folder> <source folder> <argument>...
configure() {
  "$CMAKE" -S "$2" -B "$1" -G "$GENERATOR" -DCMAKE_CXX_COMPILER="$COMPILER" \
    -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG= "${@:3}"  # without debug information
}

# Arguments for a machine that has nothing but a compiler and threads.
bare=()
for package in range-v3 nlohmann_json fmt MPI; do bare+=("-DCMAKE_DISABLE_FIND_PACKAGE_$package=ON"); done

# Configures, builds and runs the project; its program must print <expected>.
# expect_platform <expected> <argument>...
expect_platform() {
  rm -rf build
  expect_again "$@"
}

# Does the same in the build folder that is there, which compiles only what changes.
expect_again() {
  configure build "$ROOT/tests/consumer/project" "${@:2}" >configure.log 2>&1 || { cat configure.log; fail "configuring"; }
  "$CMAKE" --build build >build.log 2>&1 || { cat build.log; fail "building"; }
  local printed
  printed=$(./build/consumer)
  echo "consumer printed: $printed"
  [ "$printed" = "$1" ] || fail "expected: $1"
}

# The project uses a product next to the core to plan memory.
expect_product() {
  expect_platform "rondo $VERSION plans 96 bytes" "$@" -DPRODUCT=search
}

# Without its dependency a product is not available, and the configuration names the missing dependency.
expect_no_product_on_a_bare_machine() {
  rm -rf build
  if configure build "$ROOT/tests/consumer/project" "$@" "${bare[@]}" -DPRODUCT=search >configure.log 2>&1; then
    fail "a product was made without what it depends on"
  fi
  local said
  said=$(tr -s ' \n' ' ' <configure.log)
  [[ $said == *"range-v3"* ]] || { cat configure.log; fail "the missing dependency is not named"; }
}

# The onboard platforms compile on every machine; without a runtime the program says so.
expect_onboard_platform_without_device() {
  rm -rf build
  configure build "$ROOT/tests/consumer/project" "$@" -DRONDO_PLATFORM=a5_onboard >configure.log 2>&1 \
    || { cat configure.log; fail "an onboard platform is not known"; }
  "$CMAKE" --build build >build.log 2>&1 || { cat build.log; fail "an onboard platform was not built"; }
  if env -u LD_LIBRARY_PATH -u RONDO_ACL_LIBRARY ./build/consumer >run.log 2>&1; then fail "a device was found"; fi
  grep -q "no such device: libacl_rt.so not found (looked in" run.log \
    || { cat run.log; fail "the absence of a device was told with other words"; }
}

# The same for a GPU.
expect_cuda_without_device() {
  rm -rf build
  configure build "$ROOT/tests/consumer/project" "$@" -DRONDO_PLATFORM=cuda >configure.log 2>&1 \
    || { cat configure.log; fail "the platform cuda is not known"; }
  "$CMAKE" --build build >build.log 2>&1 || { cat build.log; fail "the platform cuda was not built"; }
  if env -u LD_LIBRARY_PATH RONDO_CUDA_LIBRARY=libno_cuda.so ./build/consumer >run.log 2>&1; then fail "a driver was found"; fi
  grep -q "no such device: libno_cuda.so not found (looked in" run.log \
    || { cat run.log; fail "the absence of a driver was told with other words"; }
}

# An unknown platform stops the configuration, which lists the known ones.
expect_unknown_platform() {
  rm -rf build
  if configure build "$ROOT/tests/consumer/project" "$@" -DRONDO_PLATFORM=a4_sim >configure.log 2>&1; then
    fail "an unknown platform was accepted"
  fi
  # CMake may break lines anywhere.
  local said
  said=$(tr -s ' \n' ' ' <configure.log)
  [[ $said == *"RONDO_PLATFORM is 'a4_sim', but Rondo knows only: a2a3_sim, a5_sim"* ]] \
    || { cat configure.log; fail "an unknown platform was refused with other words"; }
}
