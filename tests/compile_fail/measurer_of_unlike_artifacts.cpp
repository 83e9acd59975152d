// expect: rondo: the runner cannot run what the builder builds
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/measure/callable.hpp>
#include <rondo/measure/program_measurer.hpp>

struct Other {};
using Builder = rondo::measure::CallableBuilder<int, int>;
using Runner = rondo::measure::CallableRunner<Other>;

void use(Builder& builder, Runner& runner) { rondo::measure::ProgramMeasurer measurer(builder, runner); }
