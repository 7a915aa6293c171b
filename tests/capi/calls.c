/* What a host does with the interface, in C99: builder, text, run, shapes, options, callbacks, releases in any order.
 */
#define _XOPEN_SOURCE 700

#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include "check.h"

static ingot_context* context(void) {
  ingot_context_options o = INGOT_CONTEXT_OPTIONS_INIT;
  ingot_context* c = NULL;
  o.no_disk_cache = 1;
  OK(ingot_context_create(&o, &c));
  return c;
}

static ingot_executable* compiled(ingot_context* c, const char* text) {
  ingot_graph* g = NULL;
  ingot_executable* e = NULL;
  OK(ingot_graph_parse(c, text, INGOT_NUL, &g));
  OK(ingot_compile(c, g, NULL, &e));
  ingot_graph_release(g);
  return e;
}

static const char* const scale_text =
    "ingot 1.0\ngraph @scale(%x: f32[N], %s: f32[]) -> (y: f32[N]) {\n  %y = mul %x, %s\n  return %y\n}\n";

static void built_graph_runs_and_prints(void) {
  ingot_context* c = context();
  ingot_graph* g = NULL;
  ingot_dim n;
  ingot_value x, two, y;
  ingot_executable* e = NULL;
  ingot_buffer* text = NULL;
  const char* p;
  float factor = 2.0f, in[3] = {1, -2, 0.5f}, out[3];
  int64_t shape[1] = {3}, none[1] = {0};
  ingot_tensor scalar = tensor_of(&factor, 2, 32, 0, none), a = tensor_of(in, 2, 32, 1, shape),
               b = tensor_of(out, 2, 32, 1, shape);
  const ingot_tensor *ins[1], *outs[1];
  ingot_value operands[2];
  ins[0] = &a, outs[0] = &b;
  OK(ingot_graph_create(c, "double", INGOT_NUL, &g));
  OK(ingot_graph_dim_symbol(g, "N", INGOT_NUL, 0, INT64_MAX, &n));
  OK(ingot_graph_input(g, "x", 1, INGOT_F32, &n, 1, &x));
  OK(ingot_graph_constant(g, &scalar, 0, NULL, NULL, &two));
  operands[0] = x, operands[1] = two;
  OK(ingot_graph_op(g, INGOT_OP_MUL, operands, 2, NULL, 0, &y, 1));
  OK(ingot_graph_output(g, "y", 1, y));
  OK(ingot_graph_finish(g));
  FAILS(INGOT_FAILED_PRECONDITION, "", ingot_graph_output(g, NULL, 0, y));
  OK(ingot_compile(c, g, NULL, &e));
  OK(ingot_graph_print(g, &text));
  ingot_buffer_data(text, &p, NULL);
  CHECK(strstr(p, "graph @double(%x: f32[N]) -> (y: f32[N])"));
  ingot_buffer_release(text);
  /* Parents go first: the executable keeps what it needs. */
  ingot_graph_release(g);
  ingot_context_release(c);
  OK(ingot_run(e, ins, 1, outs, 1, NULL));
  CHECK(out[0] == 2 && out[1] == -4 && out[2] == 1);
  ingot_executable_release(e);
}

static void shapes_and_names_are_told(void) {
  ingot_context* c = context();
  ingot_executable* e = compiled(c, scale_text);
  size_t ins = 0, outs = 0, rank = 99;
  ingot_io_info info = INGOT_IO_INFO_INIT;
  int64_t shape[1] = {7}, dims[4] = {0}, none[1] = {0};
  ingot_tensor x = tensor_of(NULL, 2, 32, 1, shape), s = tensor_of(NULL, 2, 32, 0, none);
  const ingot_tensor* given[2];
  uint64_t scratch = 1;
  given[0] = &x, given[1] = &s;
  OK(ingot_executable_io_count(e, &ins, &outs));
  CHECK(ins == 2 && outs == 1);
  OK(ingot_executable_io_info(e, 0, 0, &info));
  CHECK(strcmp(info.name, "x") == 0 && info.dtype == INGOT_F32 && info.rank == 1 && info.extents[0] == -1);
  CHECK(strcmp(info.shape_text, "[N]") == 0);
  OK(ingot_executable_io_info(e, 1, 0, &info));
  CHECK(strcmp(info.name, "y") == 0);
  OK(ingot_executable_output_shape(e, given, 2, 0, dims, 4, &rank));
  CHECK(rank == 1 && dims[0] == 7);
  OK(ingot_executable_output_shape(e, given, 2, 0, NULL, 0, &rank));
  OK(ingot_executable_scratch_size(e, given, 2, &scratch));
  CHECK(scratch == 0);
  ingot_executable_release(e);
  ingot_context_release(c);
}

static void one_compile_serves_every_size(void) {
  ingot_context* c = context();
  ingot_executable* e =
      compiled(c, "ingot 1.0\ngraph @s(%x: f32[B, C]) -> (f32[B, C]) {\n  %y = softmax %x\n  return %y\n}\n");
  static float x[64 * 128], y[64 * 128];
  int64_t shape[2], rows, cols;
  ingot_stats before = INGOT_STATS_INIT, after = INGOT_STATS_INIT;
  ingot_tensor a = tensor_of(x, 2, 32, 2, shape), b = tensor_of(y, 2, 32, 2, shape);
  const ingot_tensor *ins[1], *outs[1];
  ins[0] = &a, outs[0] = &b;
  OK(ingot_executable_prepare(e, NULL, 0, NULL, NULL));
  OK(ingot_context_stats(c, &before));
  for (rows = 0; rows <= 64; rows += 16)
    for (cols = 1; cols <= 128; cols += 9) {
      shape[0] = rows, shape[1] = cols;
      OK(ingot_run(e, ins, 1, outs, 1, NULL));
      if (rows > 0) CHECK(y[0] > 0.99f / (float)cols && y[0] < 1.01f / (float)cols);
    }
  OK(ingot_context_stats(c, &after));
  CHECK(after.compiles == before.compiles && after.runs == before.runs + 75);
  ingot_executable_release(e);
  ingot_context_release(c);
}

static int destroyed;
static void INGOT_CALL count_destroy(void* user) {
  (void)user;
  ++destroyed;
}
static int lines;
static void INGOT_CALL count_lines(void* user, ingot_log_level level, const char* text, size_t length) {
  (void)user, (void)level, (void)text, (void)length;
  ++lines;
}

static void callbacks_are_destroyed_once(void) {
  ingot_context_options o = INGOT_CONTEXT_OPTIONS_INIT;
  ingot_context* c = NULL;
  ingot_executable* e;
  destroyed = 0, lines = 0;
  o.no_disk_cache = 1;
  o.log = count_lines, o.log_destroy = count_destroy, o.log_level = INGOT_LOG_DEBUG;
  OK(ingot_context_create(&o, &c));
  e = compiled(c, scale_text);
  CHECK(lines > 0);
  ingot_context_release(c);
  CHECK(destroyed == 0); /* the executable still logs */
  ingot_executable_release(e);
  CHECK(destroyed == 1);
  o.cache_get = NULL;
  o.num_threads = 1;
  o.log_level = 77;
  FAILS(INGOT_INVALID_ARGUMENT, "log_level", ingot_context_create(&o, &c));
  CHECK(destroyed == 2); /* also when the call fails */
}

static void borrowed_constants_are_given_back(void) {
  ingot_context* c = context();
  ingot_graph* g = NULL;
  float data[6] = {1, 2, 3, 4, 5, 6}, out[4];
  int64_t shape[1] = {3}, strides[1] = {2}, shape2[1] = {3};
  ingot_tensor t = tensor_of(data, 2, 32, 1, shape), b = tensor_of(out, 2, 32, 1, shape2);
  ingot_value v, sum;
  ingot_value operands[2];
  ingot_executable* e = NULL;
  const ingot_tensor* outs[1];
  outs[0] = &b;
  destroyed = 0;
  OK(ingot_graph_create(c, NULL, 0, &g));
  OK(ingot_graph_constant(g, &t, 0, count_destroy, NULL, &v));
  CHECK(destroyed == 0);
  t.strides = strides; /* 1, 3, 5: not compact, so it is copied and given back */
  OK(ingot_graph_constant(g, &t, 0, count_destroy, NULL, &operands[1]));
  CHECK(destroyed == 1);
  operands[0] = v;
  OK(ingot_graph_op(g, INGOT_OP_ADD, operands, 2, NULL, 0, &sum, 1));
  OK(ingot_graph_output(g, NULL, 0, sum));
  OK(ingot_graph_finish(g));
  OK(ingot_compile(c, g, NULL, &e));
  OK(ingot_run(e, NULL, 0, outs, 1, NULL));
  CHECK(out[0] == 2 && out[1] == 5 && out[2] == 8);
  ingot_executable_release(e);
  ingot_graph_release(g);
  CHECK(destroyed == 2);
  ingot_context_release(c);
}

static void INGOT_CALL in_reverse(void* user, uint32_t tasks, void(INGOT_CALL* task)(void*, uint32_t), void* context_) {
  *(int*)user += 1;
  while (tasks > 0) task(context_, --tasks);
}

static void the_hosts_parallel_for_is_used(void) {
  enum { n = 1 << 20 };
  ingot_context_options o = INGOT_CONTEXT_OPTIONS_INIT;
  ingot_context* c = NULL;
  ingot_executable* e;
  int called = 0, i, wrong = 0;
  float s = 3, *x = malloc(n * sizeof *x);
  int64_t shape[1] = {n}, none[1] = {0};
  ingot_tensor a = tensor_of(x, 2, 32, 1, shape), f = tensor_of(&s, 2, 32, 0, none);
  const ingot_tensor *ins[2], *outs[1];
  ins[0] = &a, ins[1] = &f, outs[0] = &a; /* in place */
  o.no_disk_cache = 1, o.parallel_for = in_reverse, o.parallel_user = &called, o.parallel_width = 4;
  OK(ingot_context_create(&o, &c));
  e = compiled(c, scale_text);
  for (i = 0; i < n; ++i) x[i] = (float)i;
  OK(ingot_run(e, ins, 2, outs, 1, NULL));
  for (i = 0; i < n; ++i) wrong += x[i] != 3 * (float)i;
  CHECK(called == 1 && wrong == 0);
  free(x);
  ingot_executable_release(e);
  ingot_context_release(c);
}

static void a_run_is_cancelled_and_lends_scratch(void) {
  ingot_context* c = context();
  ingot_executable* e = compiled(c, scale_text);
  uint32_t stop = 1;
  float x[4] = {1, 2, 3, 4}, s = 2;
  int64_t shape[1] = {4}, none[1] = {0};
  ingot_tensor a = tensor_of(x, 2, 32, 1, shape), f = tensor_of(&s, 2, 32, 0, none);
  const ingot_tensor *ins[2], *outs[1];
  ingot_run_options o = INGOT_RUN_OPTIONS_INIT;
  ins[0] = &a, ins[1] = &f, outs[0] = &a;
  o.cancel = &stop;
  FAILS(INGOT_CANCELLED, "cancelled", ingot_run(e, ins, 2, outs, 1, &o));
  stop = 0, o.serial = 1;
  OK(ingot_run(e, ins, 2, outs, 1, &o));
  CHECK(x[3] == 8);
  o.scratch = (char*)x + 1;
  FAILS(INGOT_INVALID_ARGUMENT, "aligned", ingot_run(e, ins, 2, outs, 1, &o));
  ingot_executable_release(e);
  ingot_context_release(c);
}

static void descriptions_and_reports(void) {
  static const char* const words[] = {"source", "graph", "fusion", "kernel", "cuda", "json"};
  ingot_context* c = context();
  ingot_executable* e = compiled(c, scale_text);
  ingot_buffer* b = NULL;
  size_t i, size;
  for (i = 0; i < sizeof words / sizeof *words; ++i) {
    OK(ingot_executable_describe(e, words[i], INGOT_NUL, &b));
    ingot_buffer_data(b, NULL, &size);
    CHECK(size > 20);
    ingot_buffer_release(b);
  }
  FAILS(INGOT_INVALID_ARGUMENT, "kernle", ingot_executable_describe(e, "kernle", INGOT_NUL, &b));
  FAILS(INGOT_INVALID_ARGUMENT, "of 1", ingot_executable_describe(e, "kernel/1", INGOT_NUL, &b));
  OK(ingot_ops_json(&b));
  ingot_buffer_release(b);
  OK(ingot_context_cache(c, "info", INGOT_NUL, &b));
  ingot_buffer_release(b);
  ingot_executable_release(e);
  ingot_context_release(c);
}

static void INGOT_CALL count_destroyed(void* user) { ++*(int*)user; }

/* A caller of the version before packs: its struct ends where they begin, and what it handed over is still taken. */
static void an_older_callers_struct_is_read_to_its_end(void) {
  int destroyed = 0;
  ingot_context_options o = INGOT_CONTEXT_OPTIONS_INIT;
  ingot_context* c = NULL;
  o.struct_size = offsetof(ingot_context_options, packs);
  o.n_packs = 7; /* beyond the end: not looked at */
  o.no_disk_cache = 1;
  o.allocator_user = &destroyed;
  o.allocator_destroy = count_destroyed;
  OK(ingot_context_create(&o, &c));
  ingot_context_release(c);
  CHECK(destroyed == 1);
}

static void a_pack_is_made_and_needs_trust(void) {
  static const char* const targets[] = {"x86-64-v2", "aarch64"};
  static const char* const relative[] = {"kernels.pack"};
  static const char* const missing[] = {"/nowhere/kernels.pack"};
  const char* paths[1];
  char path[] = "/tmp/ingot-capi-XXXXXX";
  ingot_context_options o = INGOT_CONTEXT_OPTIONS_INIT;
  ingot_stats s = INGOT_STATS_INIT;
  ingot_context *c = context(), *other = NULL;
  ingot_executable* e = compiled(c, scale_text);
  ingot_buffer* b = NULL;
  ingot_code made;
  FAILS(INGOT_INVALID_ARGUMENT, "executable", ingot_executable_pack(NULL, 0, NULL, 0, &b));
  FAILS(INGOT_INVALID_ARGUMENT, "executables", ingot_executable_pack(NULL, 1, NULL, 0, &b));
  FAILS(INGOT_INVALID_ARGUMENT, "targets", ingot_executable_pack(&e, 1, NULL, 1, &b));
  FAILS(INGOT_INVALID_ARGUMENT, "out", ingot_executable_pack(&e, 1, NULL, 0, NULL));
  FAILS(INGOT_INVALID_ARGUMENT, "kernels.pack", ingot_executable_pack(&e, 1, relative, 1, &b));
  CHECK(b == NULL);
  o.ignore_environment = 1, o.no_disk_cache = 1;
  o.packs = missing, o.n_packs = 1;
  FAILS(INGOT_INVALID_ARGUMENT, "trust_host_cache", ingot_context_create(&o, &other));
  o.trust_host_cache = 1;
  OK(ingot_context_create(&o, &other)); /* a warning, and no pack */
  ingot_context_release(other);
  o.packs = relative;
  FAILS(INGOT_INVALID_ARGUMENT, "absolute", ingot_context_create(&o, &other));
  o.packs = NULL;
  FAILS(INGOT_INVALID_ARGUMENT, "packs", ingot_context_create(&o, &other));
  {
    ingot_status* status = ingot_executable_pack(&e, 1, targets, 2, &b);
    made = ingot_status_code(status);
    ingot_status_release(status);
  }
  CHECK(made == INGOT_OK || made == INGOT_UNAVAILABLE); /* the latter in a build without the compiler */
  if (made == INGOT_OK) {
    const char* data;
    size_t size;
    const int fd = mkstemp(path);
    ingot_buffer_data(b, &data, &size);
    CHECK(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    close(fd);
    paths[0] = path, o.packs = paths;
    OK(ingot_context_create(&o, &other));
    ingot_executable_release(e);
    e = compiled(other, scale_text);
    OK(ingot_executable_prepare(e, NULL, 0, NULL, NULL));
    OK(ingot_context_stats(other, &s));
    CHECK(s.compiles == 0 && s.misses == 0 && s.pack_hits == 1 && s.disk_hits == 0);
    ingot_context_release(other);
    ingot_buffer_release(b);
    unlink(path);
  }
  ingot_executable_release(e);
  ingot_context_release(c);
}

static void the_proc_table_is_the_functions(void) {
  const ingot_proc_table* t = ingot_get_proc_table(INGOT_VERSION_MAJOR);
  CHECK(t && t->struct_size == sizeof *t && t->ingot_run == ingot_run && t->ingot_context_cache == ingot_context_cache);
  CHECK(ingot_get_proc_table(INGOT_VERSION_MAJOR + 1) == NULL);
}

int main(void) {
  CASE(built_graph_runs_and_prints);
  CASE(shapes_and_names_are_told);
  CASE(one_compile_serves_every_size);
  CASE(callbacks_are_destroyed_once);
  CASE(borrowed_constants_are_given_back);
  CASE(the_hosts_parallel_for_is_used);
  CASE(a_run_is_cancelled_and_lends_scratch);
  CASE(descriptions_and_reports);
  CASE(an_older_callers_struct_is_read_to_its_end);
  CASE(a_pack_is_made_and_needs_trust);
  CASE(the_proc_table_is_the_functions);
  return summary();
}
