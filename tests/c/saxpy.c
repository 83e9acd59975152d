/* SPDX-FileCopyrightText: 2026 The Rondo authors */
/* SPDX-License-Identifier: Apache-2.0 */

/* The program of docs/c.md: y += 2 x, a hundred rounds. */

#include <rondo/c/rondo.h>

#include <stdio.h>
#include <string.h>

/* Words: the address of x, that of y, the bits of a, the number of elements of x, that of y. */
static void saxpy(int64_t* args) {
  const float* x = (const float*)(intptr_t)args[0];
  float* y = (float*)(intptr_t)args[1];
  float a;
  memcpy(&a, &args[2], sizeof a);
  for (int64_t i = 0; i < args[4]; ++i) y[i] += a * x[i];
}

static int failed(const char* call) {
  fprintf(stderr, "%s: %s\n", call, rondo_last_error());
  return 1;
}

int main(void) {
  static float x[1024], y[1024];
  rondo_kernel kernel;
  rondo_graph graph;
  rondo_tensor tensors[2];
  rondo_argument arguments[3];
  rondo_session session;
  rondo_bindings bindings;
  for (int i = 0; i < 1024; ++i) x[i] = 1;

  if (rondo_abi_version() != RONDO_ABI_VERSION) return 1;
  if (rondo_kernel_create("saxpy", RONDO_VECTOR, "x: in f32[n], y: inout f32[n], a: f32", saxpy, &kernel))
    return failed("rondo_kernel_create");
  if (rondo_graph_create(RONDO_EDGES_DERIVED, &graph)) return failed("rondo_graph_create");
  if (rondo_graph_add_tensors(graph, "x: in f32[1024], y: inout f32[1024]", tensors, 2))
    return failed("rondo_graph_add_tensors");
  arguments[0] = rondo_tensor_argument(tensors[0]);
  arguments[1] = rondo_tensor_argument(tensors[1]);
  arguments[2] = rondo_number_argument(2);
  if (rondo_graph_add_task(graph, kernel, arguments, 3, NULL, NULL)) return failed("rondo_graph_add_task");

  if (rondo_open(graph, "a2a3_sim", NULL, &session)) return failed("rondo_open");
  if (rondo_bindings_create(session, &bindings)) return failed("rondo_bindings_create");
  if (rondo_bind_read_only(bindings, tensors[0], x, sizeof x)) return failed("rondo_bind_read_only");
  if (rondo_bind(bindings, tensors[1], y, sizeof y)) return failed("rondo_bind");
  for (int round = 0; round < 100; ++round) {
    if (rondo_run_round(bindings)) return failed("rondo_run_round");
  }
  if (rondo_close(session)) return failed("rondo_close");
  if (rondo_graph_destroy(graph) || rondo_kernel_destroy(kernel)) return failed("destroy");
  printf("y[0] = %g\n", (double)y[0]);
  return y[0] == 200 && y[1023] == 200 ? 0 : 1;
}
