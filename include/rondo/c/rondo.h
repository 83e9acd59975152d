/* SPDX-FileCopyrightText: 2026 The Rondo authors */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RONDO_C_RONDO_H
#define RONDO_C_RONDO_H

/* Rondo for C: sets a device graph up once and runs it round after round.
 *
 * Every function that can fail returns a rondo_code, 0 for success. After a failure rondo_last_error() is a sentence
 * that says what happened and what to do. Handles are checked: a call fails with RONDO_WRONG_HANDLE if its handle was
 * never made, was destroyed, or is of another kind. No call throws. Rondo frees all that it allocates.
 *
 * Thread safety: different sessions may be used by different threads. One session, with its bindings, and one graph
 * serve one thread at a time; only rondo_request_stop() may be called from any thread while the session is open. */

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define RONDO_C_API __attribute__((visibility("default")))
#else
#define RONDO_C_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface. It increases when programs that were compiled before would no longer work. */
#define RONDO_ABI_VERSION 1
/* The RONDO_ABI_VERSION that the library was compiled with. */
RONDO_C_API uint32_t rondo_abi_version(void);
/* The version of Rondo, as "1.2.3". */
RONDO_C_API const char* rondo_version(void);

/* --- errors ------------------------------------------------------------------------------------------------------ */

typedef int32_t rondo_code;
enum {
  RONDO_OK = 0,
  RONDO_INVALID_ARGUMENT = 1,
  RONDO_OVERFLOW = 2,
  RONDO_NULL_MEMORY = 3,
  RONDO_WRONG_SIZE = 4,
  RONDO_WRONG_TENSOR = 5,
  RONDO_UNBOUND_TENSOR = 6,
  RONDO_BOUND_TWICE = 7,
  RONDO_MISALIGNED = 8,
  RONDO_FIXED_ADDRESS = 9,
  RONDO_OVERLAPPING = 10,
  RONDO_ALIAS_BROKEN = 11,
  RONDO_SHARED_MEMORY = 12,
  RONDO_CYCLE = 13,
  RONDO_RACE = 14,
  RONDO_UNINITIALIZED_READ = 15,
  RONDO_LIMIT_EXCEEDED = 16,
  RONDO_BUSY = 17,
  RONDO_MIXED_MODES = 18,
  RONDO_CLOSED = 19,
  RONDO_POISONED = 20,
  RONDO_NOT_OPEN = 21,
  RONDO_OUT_OF_MEMORY = 22,
  RONDO_OUT_OF_RESOURCES = 23,
  RONDO_NO_SUCH_DEVICE = 24,
  RONDO_UNSUPPORTED = 25,
  RONDO_TIMED_OUT = 26,
  RONDO_STOPPED = 27,
  RONDO_ABANDONED = 28,
  RONDO_DEADLOCK = 29,
  RONDO_KERNEL_FAILED = 30,
  RONDO_ORCHESTRATION_FAILED = 31,
  RONDO_DEVICE_FAILED = 32,
  RONDO_CHECK_FAILED = 33,
  RONDO_STALE_MEMORY = 34,
  /* Codes of this interface alone. */
  RONDO_WRONG_HANDLE = 1001,       /* the object does not exist, or no longer exists */
  RONDO_OUT_OF_HOST_MEMORY = 1002, /* the host has no memory left */
  RONDO_INTERNAL = 1003            /* a defect of Rondo: please report it */
};

/* A sentence that says what a code means in general. */
RONDO_C_API const char* rondo_describe(rondo_code code);
/* A sentence about the last failure in this thread, with names and numbers; "" before the first. Valid until the next
 * failure in this thread. */
RONDO_C_API const char* rondo_last_error(void);

/* --- handles ----------------------------------------------------------------------------------------------------- */

typedef struct rondo_kernel {
  uint64_t id;
} rondo_kernel;
typedef struct rondo_graph {
  uint64_t id;
} rondo_graph;
typedef struct rondo_session {
  uint64_t id;
} rondo_session;
typedef struct rondo_bindings {
  uint64_t id;
} rondo_bindings;
/* A tensor of a graph. It is not an object of its own and is not destroyed. */
typedef struct rondo_tensor {
  uint64_t id;
} rondo_tensor;
/* The round under way, and an intermediate or a box of a tensor in it; see rondo_open_orchestrated(). */
typedef struct rondo_round {
  uint64_t id;
} rondo_round;
typedef struct rondo_region {
  uint64_t id;
} rondo_region;
/* A task of a graph, by its number in the order in which tasks were added. */
typedef uint32_t rondo_task;

/* --- kernels ----------------------------------------------------------------------------------------------------- */

/* A kernel's function. `args` points to 64-bit words: one for each name of the signature, in order (a tensor's address,
 * a scalar's bits, or for `block` the index of the running block with the number of blocks in the upper half), then the
 * extents of the tensors in turn. A tensor declared with one extent has one word there, its number of elements. */
typedef void (*rondo_function)(int64_t* args);

typedef int32_t rondo_core;
enum { RONDO_CUBE = 0, RONDO_VECTOR = 1 };

/* Makes a kernel of a function and a signature: "x: in f32[n], y: inout f32[n], a: f32, b: block". Element types are
 * f32 f16 bf16 f64 c64 c128, i8 to i64, u8 to u64, bool, fp8e4m3fn, fp8e8m0, fp4e2m1. The extents of tensors must fit
 * their symbols and expressions. `name` is its name on a device. `function` may be NULL for a kernel that exists on
 * devices only. */
RONDO_C_API rondo_code rondo_kernel_create(const char* name, rondo_core core, const char* signature,
                                           rondo_function function, rondo_kernel* kernel);
/* Destroys a kernel. Graphs and sessions keep their own copies, except of its function, which must outlive them. */
RONDO_C_API rondo_code rondo_kernel_destroy(rondo_kernel kernel);

/* --- graphs ------------------------------------------------------------------------------------------------------ */

typedef int32_t rondo_edges;
enum {
  RONDO_EDGES_DERIVED = 0, /* from the tensors that tasks read and write, in the order of the tasks */
  RONDO_EDGES_EXPLICIT = 1 /* from rondo_graph_add_edge alone */
};
RONDO_C_API rondo_code rondo_graph_create(rondo_edges edges, rondo_graph* graph);
/* Destroys a graph. Sessions over it are not affected. RONDO_BUSY: the body of one of its loops runs. */
RONDO_C_API rondo_code rondo_graph_destroy(rondo_graph graph);

/* Adds the tensors that a text declares: "x: in f32[n, 64], y: out f32[n, 64]". A role is in, out, inout, resident,
 * workspace or host_input. An extent is a number, a symbol, or an expression of those with + - * / ceil_div min max; a
 * graph with symbols runs rounds of different sizes. `count`: the number of tensors in the text, whose handles are
 * written to `tensors`. Adds all tensors or none. */
RONDO_C_API rondo_code rondo_graph_add_tensors(rondo_graph graph, const char* declarations, rondo_tensor* tensors,
                                               size_t count);
RONDO_C_API rondo_code rondo_graph_find_tensor(rondo_graph graph, const char* name, rondo_tensor* tensor);

/* An argument of a task, made by one of the functions below. */
typedef struct rondo_argument {
  int32_t kind; /* 0: a tensor, 1: an integer, 2: a floating-point number, 3: an unsigned integer, 4: a region */
  int32_t reserved;
  union {
    rondo_tensor tensor;
    rondo_region region;
    int64_t integer;
    double number;
    uint64_t natural;
  } value;
} rondo_argument;
static inline rondo_argument rondo_tensor_argument(rondo_tensor tensor) {
  rondo_argument a;
  a.kind = 0, a.reserved = 0, a.value.tensor = tensor;
  return a;
}
static inline rondo_argument rondo_integer_argument(int64_t integer) {
  rondo_argument a;
  a.kind = 1, a.reserved = 0, a.value.integer = integer;
  return a;
}
static inline rondo_argument rondo_number_argument(double number) {
  rondo_argument a;
  a.kind = 2, a.reserved = 0, a.value.number = number;
  return a;
}
static inline rondo_argument rondo_natural_argument(uint64_t natural) {
  rondo_argument a;
  a.kind = 3, a.reserved = 0, a.value.natural = natural;
  return a;
}

static inline rondo_argument rondo_region_argument(rondo_region region) {
  rondo_argument a;
  a.kind = 4, a.reserved = 0, a.value.region = region;
  return a;
}

/* Adds a task. `arguments`: one for each name of the kernel's signature except blocks, which the launch fills in;
 * types, directions, extents and the range of scalars are checked. `blocks`: their number, as an extent ("8",
 * "ceil_div(n, 128)"); NULL: one. `task` may be NULL. */
RONDO_C_API rondo_code rondo_graph_add_task(rondo_graph graph, rondo_kernel kernel, const rondo_argument* arguments,
                                            size_t count, const char* blocks, rondo_task* task);
/* Adds the tasks of a loop to the graph that it receives, with the functions of this section. A result other than
 * RONDO_OK removes these tasks, and is the result of the call that adds the loop. */
typedef rondo_code (*rondo_loop_body)(rondo_graph graph, void* context);
/* Adds a loop: the tasks that `body` adds run again and again until `condition`, a tensor of one integer or bool that
 * they write, is not 0 at the end of a repetition, but `most` times at most (an extent: "8", "n"). `task`, unless NULL:
 * the task that decides; an edge to or from a task of the loop orders the whole loop. */
RONDO_C_API rondo_code rondo_graph_repeat_until(rondo_graph graph, rondo_tensor condition, const char* most,
                                                rondo_loop_body body, void* context, rondo_task* task);
/* The same for tasks that run once, if `condition` is not 0 when the loop begins, or not at all. Tensors that only they
 * write are undefined after them. */
RONDO_C_API rondo_code rondo_graph_when(rondo_graph graph, rondo_tensor condition, rondo_loop_body body, void* context,
                                        rondo_task* task);
/* `after` starts only when `before` is done. */
RONDO_C_API rondo_code rondo_graph_add_edge(rondo_graph graph, rondo_task before, rondo_task after);
/* The tensor shares its memory with no other, so that it keeps its contents from round to round. */
RONDO_C_API rondo_code rondo_graph_keep(rondo_graph graph, rondo_tensor tensor);
/* The tensor is in memory of another kind: "device", "huge_pages", "normal_pages", "task_scheduler", "peer" or
 * "mapped_host". A resident or workspace gets a block of its own; rondo_open() refuses a kind that the platform lacks.
 * For an input, output or inout, rondo_allocate() returns memory of this kind. */
RONDO_C_API rondo_code rondo_graph_in_memory(rondo_graph graph, rondo_tensor tensor, const char* kind);
/* The workspace holds zeros when the tasks of a round begin: of each round, or (`once`) of the first round only. */
RONDO_C_API rondo_code rondo_graph_zero(rondo_graph graph, rondo_tensor workspace, int32_t once);
/* Requires each round to bind the same memory to both tensors. */
RONDO_C_API rondo_code rondo_graph_alias(rondo_graph graph, rondo_tensor output, rondo_tensor input);

/* --- platforms --------------------------------------------------------------------------------------------------- */

/* The name of a platform that the library was built with, by number; NULL after the last. */
RONDO_C_API const char* rondo_platform_name(size_t number);
/* RONDO_OK if sessions on the platform can be opened on this machine; otherwise rondo_last_error() says why not. */
RONDO_C_API rondo_code rondo_platform_check(const char* platform);

/* --- sessions ---------------------------------------------------------------------------------------------------- */

typedef struct rondo_options {
  size_t size;                     /* sizeof(rondo_options) */
  uint32_t device;                 /* the number of the device */
  uint32_t threads;                /* for an engine that has threads (…_pool); 0: one for each core */
  uint32_t in_flight;              /* rounds in flight at most, 1 to 4; more than 1 take the memory of 4 */
  int32_t timeout_ms;              /* to wait for the end of a round on a device; 0: the default, -1: no limit */
  uint64_t device_memory;          /* bytes that the session takes at most; 0: as many as there are */
  const char* const* kernel_files; /* binaries with the kernels, for devices */
  size_t kernel_file_count;
  int32_t trace; /* 1: count and trace rounds, and tasks on simulated chips and the host */
  int32_t reserved;
} rondo_options;
#define RONDO_OPTIONS_INIT {sizeof(rondo_options), 0, 0, 1, 0, 0, NULL, 0, 0, 0}

/* Opens a session: plans, allocates and lays out, once. `options` may be NULL. Later changes of the graph have no
 * effect on the session. */
RONDO_C_API rondo_code rondo_open(rondo_graph graph, const char* platform, const rondo_options* options,
                                  rondo_session* session);
/* Waits for the device, releases everything, and ends the session's handle and those of its bindings, whatever it
 * returns. */
RONDO_C_API rondo_code rondo_close(rondo_session session);

/* --- bindings ---------------------------------------------------------------------------------------------------- */

/* Bindings of a session: memory for each in, out, inout and host_input. They are checked when they are made and serve
 * any number of rounds. A session may have several bindings, used in turn. */
RONDO_C_API rondo_code rondo_bindings_create(rondo_session session, rondo_bindings* bindings);
RONDO_C_API rondo_code rondo_bindings_destroy(rondo_bindings bindings);
/* Binds host memory of exactly the tensor's bytes, for the rounds to come. In a graph with symbols the sizes that a
 * round binds determine the values of the symbols. The memory must outlive its rounds. */
RONDO_C_API rondo_code rondo_bind(rondo_bindings bindings, rondo_tensor tensor, void* host, size_t bytes);
/* Does the same for memory that rounds only read. */
RONDO_C_API rondo_code rondo_bind_read_only(rondo_bindings bindings, rondo_tensor tensor, const void* host,
                                            size_t bytes);
/* Binds host memory with strides, such as a column of a matrix: a round packs its elements to copy them, and scatters
 * those that it wrote. `first`: the element at index 0 of each of the `rank` dimensions. `strides`: along each, the
 * bytes from one element to the next, which may be negative, or 0 for an input. Allocates memory for the packed
 * elements; rounds do not. */
RONDO_C_API rondo_code rondo_bind_strided(rondo_bindings bindings, rondo_tensor tensor, void* first,
                                          const int64_t* extents, const int64_t* strides, size_t rank);
/* Binds device memory: nothing is copied, unless kernels cannot use the address; then a round copies on the device. */
RONDO_C_API rondo_code rondo_bind_device(rondo_bindings bindings, rondo_tensor tensor, uint64_t address, size_t bytes);
/* Binds device memory with strides, as rondo_bind_strided() binds host memory. Rounds pack it on the device, in device
 * memory that is allocated here. RONDO_UNSUPPORTED if the platform cannot copy there. */
RONDO_C_API rondo_code rondo_bind_device_strided(rondo_bindings bindings, rondo_tensor tensor, uint64_t first,
                                                 const int64_t* extents, const int64_t* strides, size_t rank);
/* Returns in `why` the reason why rounds copy the memory of a tensor, or NULL if kernels use the memory itself. The
 * text stays valid until the process ends. */
RONDO_C_API rondo_code rondo_why_copied(rondo_bindings bindings, rondo_tensor tensor, const char** why);

/* States the value of a symbol of the graph by its name, for the rounds to come, where sizes do not determine it; -1
 * has the sizes determine it again. */
RONDO_C_API rondo_code rondo_state_symbol(rondo_bindings bindings, const char* symbol, int64_t value);

/* --- rounds ------------------------------------------------------------------------------------------------------ */

/* Runs one round: copies inputs, runs the tasks, copies outputs, waits. A failure either leaves the session usable or
 * poisons it: then rounds return RONDO_POISONED, and only rondo_close() works. */
RONDO_C_API rondo_code rondo_run_round(rondo_bindings bindings);

/* Run a round in three steps. Not for graphs with symbols. */
RONDO_C_API rondo_code rondo_begin_round(rondo_bindings bindings);
RONDO_C_API rondo_code rondo_launch(rondo_bindings bindings);
RONDO_C_API rondo_code rondo_finish_round(rondo_bindings bindings);

/* Starts a round: inputs have been taken when it returns. While all slots are taken it waits for the oldest round.
 * Outputs are in host memory once the round was waited for or polled. `ticket` may be NULL. */
RONDO_C_API rondo_code rondo_submit_round(rondo_bindings bindings, uint64_t* ticket);
/* Does the same, but returns RONDO_BUSY instead of waiting. */
RONDO_C_API rondo_code rondo_try_submit_round(rondo_bindings bindings, uint64_t* ticket);
/* Waits for one round, or for all, and returns its failure or the first failure. */
RONDO_C_API rondo_code rondo_wait(rondo_session session, uint64_t ticket);
RONDO_C_API rondo_code rondo_wait_all(rondo_session session);
/* Delivers the rounds that are done, without waiting. `in_flight`, unless NULL: the number of rounds that are left. */
RONDO_C_API rondo_code rondo_poll(rondo_session session, size_t* in_flight);

/* --- between rounds ---------------------------------------------------------------------------------------------- */

/* Copies host memory into a resident tensor, or a resident tensor into host memory, and waits. */
RONDO_C_API rondo_code rondo_upload(rondo_session session, rondo_tensor resident, const void* host, size_t bytes);
RONDO_C_API rondo_code rondo_download(rondo_session session, rondo_tensor resident, void* host, size_t bytes);
/* Allocates device memory for an input, output or inout of the graph. Bind it with rondo_bind_device(), which copies
 * nothing. `extents`: the shape of a tensor whose size depends on symbols; NULL and rank 0: that of the tensor.
 * `bytes`, unless NULL: the size. The contents are undefined until a round or rondo_upload_array() writes them.
 * rondo_release() waits for the rounds in flight, and releases the memory; so does rondo_close(). */
RONDO_C_API rondo_code rondo_allocate(rondo_session session, rondo_tensor tensor, const int64_t* extents, size_t rank,
                                      uint64_t* address, size_t* bytes);
RONDO_C_API rondo_code rondo_release(rondo_session session, uint64_t address);
/* Copies host memory into memory of rondo_allocate(), or that to the host, all of it, and waits. */
RONDO_C_API rondo_code rondo_upload_array(rondo_session session, uint64_t address, const void* host, size_t bytes);
RONDO_C_API rondo_code rondo_download_array(rondo_session session, uint64_t address, void* host, size_t bytes);
/* From the next round on the input stays as the last round left it, until rondo_release_hold(). */
RONDO_C_API rondo_code rondo_hold(rondo_session session, rondo_tensor input);
RONDO_C_API rondo_code rondo_release_hold(rondo_session session, rondo_tensor input);
/* Changes the n-th scalar of a task, counted from 0, from the next round on. */
RONDO_C_API rondo_code rondo_set_scalar(rondo_session session, rondo_task task, size_t n, rondo_argument value);
/* Ends the round under way, or else the next one, and poisons the session. On NPUs and GPUs it ends the first round
 * that reaches a loop about which the host decides, and no other. May be called from any thread. */
RONDO_C_API rondo_code rondo_request_stop(rondo_session session);

/* A loop of a session's graph. */
typedef struct rondo_loop {
  const char* name; /* as in messages, such as "until done"; valid until the session is closed */
  const char* why;  /* the reason why the host decides, as a clause; "" if the device does */
  rondo_task decision;
  int32_t host_decides; /* 1: the host reads the condition, and waits for it in the middle of a round */
} rondo_loop;
/* Says for each loop of a session what decides it. `count`: the number of loops. Writes the first `room` of them to
 * `loops`, which may be NULL if `room` is 0. */
RONDO_C_API rondo_code rondo_explain_loops(rondo_session session, rondo_loop* loops, size_t room, size_t* count);

typedef struct rondo_counters {
  size_t size;          /* sizeof(rondo_counters), set by the caller */
  uint64_t rounds;      /* rounds that succeeded */
  uint64_t in_flight;   /* rounds that were submitted and not yet delivered */
  uint64_t arena_bytes; /* the bytes of device memory for tensors */
  uint64_t shapes;      /* the shapes that are kept; 1 for a graph without symbols */
  int32_t poisoned;     /* 1 if the session is poisoned */
  int32_t reserved;
  double last_round_ns; /* the time of the tasks on the device; negative if unknown */
  /* 0 unless the session was opened with `trace`: */
  uint64_t failed_rounds;
  uint64_t copies_in;
  uint64_t bytes_in;
  uint64_t copies_out;
  uint64_t bytes_out;
  uint64_t refreshes; /* refreshes of addresses in the arguments of tasks */
  uint64_t refresh_bytes;
  uint64_t phase_ns[7]; /* the host's time: outside (0), bind, copy in, refresh, launch, copy out, wait */
} rondo_counters;
RONDO_C_API rondo_code rondo_get_counters(rondo_session session, rondo_counters* counters);

/* Waits for rounds in flight, then writes the last rounds and tasks of a session that was opened with `trace` to a
 * file, for ui.perfetto.dev. Not between rondo_launch() and rondo_finish_round(). */
RONDO_C_API rondo_code rondo_write_trace(rondo_session session, const char* path);

/* --- orchestrations ---------------------------------------------------------------------------------------------- */

/* Adds the tasks of a round, with the functions below. A result other than RONDO_OK fails the round and poisons the
 * session. If a function below returns RONDO_STOPPED, the round has failed; return then. */
typedef rondo_code (*rondo_orchestration)(rondo_round round, void* context);

/* Opens a session whose tasks `orchestration` adds in each round. `interface`: a graph of tensors without tasks.
 * `runtime`: "tensormap_and_ringbuffer" (also if NULL), which finds edges from the tensors that tasks access, or
 * "aicpu_build_graph", for which you state each edge. On a2a3_sim, a5_sim, and those with _pool, one round at a time.
 * While a round runs, the orchestration may be called by another thread than that of the session. */
RONDO_C_API rondo_code rondo_open_orchestrated(rondo_graph interface, const char* platform, const char* runtime,
                                               rondo_orchestration orchestration, void* context,
                                               const rondo_options* options, rondo_session* session);

/* As rondo_graph_add_task(), with tensors of the interface and regions of this round. The session keeps the kernel. */
RONDO_C_API rondo_code rondo_round_add_task(rondo_round round, rondo_kernel kernel, const rondo_argument* arguments,
                                            size_t count, uint32_t blocks, rondo_task* task);
/* `after` starts only when `before` is done. With aicpu_build_graph, before the scope of `after` ends. */
RONDO_C_API rondo_code rondo_round_add_edge(rondo_round round, rondo_task before, rondo_task after);
/* An intermediate of the open scope, of elements of that type ("f32"); its contents are undefined. */
RONDO_C_API rondo_code rondo_round_workspace(rondo_round round, const char* type, const int64_t* extents, size_t rank,
                                             rondo_region* region);
/* The box of a tensor or of a region that starts at the index `first`. */
RONDO_C_API rondo_code rondo_round_view(rondo_round round, rondo_argument of, const int64_t* first,
                                        const int64_t* extents, size_t rank, rondo_region* region);
/* A scope. The memory of its intermediates is used again when it has ended and its tasks are done. Scopes that are open
 * when the orchestration returns are ended. */
RONDO_C_API rondo_code rondo_round_begin_scope(rondo_round round);
RONDO_C_API rondo_code rondo_round_end_scope(rondo_round round);
/* The contents of an input in this round. `bytes` may be NULL. */
RONDO_C_API rondo_code rondo_round_values(rondo_round round, rondo_tensor input, const void** values, size_t* bytes);

#ifdef __cplusplus
}
#endif

#endif /* RONDO_C_RONDO_H */
