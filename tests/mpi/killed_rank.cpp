// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Not a test: the tuner over several ranks that killed_rank.sh starts.
#include "mpi/patient.hpp"

#include <unistd.h>
#include <rondo/measure/callable.hpp>
#include <rondo/measure/program_measurer.hpp>
#include <rondo/measure/records.hpp>
#include <rondo/mpi/measure.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

using namespace rondo::measure;

TEST_CASE("a tuner of which a rank may be killed" * doctest::skip()) {
  const std::string folder = std::getenv("RONDO_TEST_FOLDER");
  const rondo::mpi::Group group(MPI_COMM_WORLD, patient);
  std::ofstream{folder + "/rank" + std::to_string(group.rank())} << ::getpid() << std::endl;
  if (group.rank() != 0) {
    CallableBuilder<std::int64_t, std::int64_t> builder(1, [](const std::int64_t& n) { return n; });
    CallableRunner<std::int64_t> runner(1, [](const std::int64_t& n) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      return std::vector<double>{static_cast<double>(1 + n)};
    });
    rondo::mpi::serve(group, builder, runner);
    return;
  }
  RecordLog log(folder + "/log", "task");
  {
    rondo::mpi::RankBuilder<std::int64_t, std::int64_t> builder(group, {.join_seconds = long_join});
    rondo::mpi::RankRunner<std::int64_t> runner(group, {.join_seconds = long_join});
    ProgramMeasurer measurer(builder, runner);
    for (std::int64_t n = 0; n < 300; ++n) {
      const std::string key = std::to_string(n);
      if (log.is_settled(key)) continue;
      (void)measurer.submit(n, [&log, key](const Result& result) { log.append(key, result); });
    }
    measurer.wait();
    // A run that is to be killed does not end by itself.
    while (std::getenv("RONDO_TEST_IS_LAST") == nullptr) std::this_thread::sleep_for(std::chrono::seconds(1));
  }
  CHECK(log.unreadable() <= 2);
}
