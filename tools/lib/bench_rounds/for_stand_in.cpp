// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// The kernels of the cases for the stand-in of Rondo's tests, which takes a shared library of the host for a kernel
// binary: bench_rounds digits_step --platform a2a3_onboard --kernels libbench_rounds_for_stand_in.so

#include "../../../examples/02_digits/kernels.hpp"
#include "../../../examples/03_decode_loop/model.hpp"
#include "kernels.hpp"

using rondo::ArgWord;
using rondo::detail::kernel_entry;

extern "C" {
void saxpy(ArgWord* args) { kernel_entry<bench_rounds::Saxpy>(args); }
void twice(ArgWord* args) { kernel_entry<bench_rounds::Twice>(args); }
void scale(ArgWord* args) { kernel_entry<bench_rounds::Scale>(args); }
void accumulate(ArgWord* args) { kernel_entry<bench_rounds::Accumulate>(args); }
void touch(ArgWord* args) { bench_rounds::touch(args); }

void matmul(ArgWord* args) { kernel_entry<digits::MatMul>(args); }
void matmul_at(ArgWord* args) { kernel_entry<digits::MatMulAt>(args); }
void matmul_bt(ArgWord* args) { kernel_entry<digits::MatMulBt>(args); }
void bias_relu(ArgWord* args) { kernel_entry<digits::BiasRelu>(args); }
void bias_softmax(ArgWord* args) { kernel_entry<digits::BiasSoftmax>(args); }
void cross_entropy(ArgWord* args) { kernel_entry<digits::CrossEntropy>(args); }
void loss_gradient(ArgWord* args) { kernel_entry<digits::LossGradient>(args); }
void relu_gradient(ArgWord* args) { kernel_entry<digits::ReluGradient>(args); }
void column_sum(ArgWord* args) { kernel_entry<digits::ColumnSum>(args); }
void descend(ArgWord* args) { kernel_entry<digits::Descend>(args); }

void norm(ArgWord* args) { kernel_entry<decode::Norm>(args); }
void mat_vec(ArgWord* args) { kernel_entry<decode::MatVec>(args); }
void store(ArgWord* args) { kernel_entry<decode::Store>(args); }
void attend(ArgWord* args) { kernel_entry<decode::Attend>(args); }
void add(ArgWord* args) { kernel_entry<decode::Add>(args); }
void silu(ArgWord* args) { kernel_entry<decode::Silu>(args); }
}
