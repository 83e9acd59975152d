// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Every rank runs the same test cases in the same order; the program fails if any case fails on any rank.

#define DOCTEST_CONFIG_IMPLEMENT
#include <rondo/mpi/group.hpp>

#include <doctest/doctest.h>

int main(int argc, char** argv) {
  const rondo::mpi::Environment environment(&argc, &argv);
  doctest::Context context(argc, argv);
  const int result = context.run();
  if (result != 0) environment.abort(result);  // other ranks may wait for messages that this rank has not sent
  return result;
}
