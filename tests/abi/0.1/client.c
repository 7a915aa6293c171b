/* A host compiled against the headers of release 0.1: every function of their entry list, once as the linker binds it
 * and once through the proc table. Option and out structs end where a page ends, so that a library that takes them for
 * larger ones faults. Part of the frozen release: it is not edited, and stands alone. */
#define _GNU_SOURCE

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ingot/ingot.h"

#if INGOT_VERSION_MAJOR != 0 || INGOT_VERSION_MINOR != 1
#error "these are not the headers of release 0.1"
#endif

static int failures;
static const ingot_proc_table* f;

#define CHECK(condition)                                                     \
  do {                                                                       \
    if (!(condition)) {                                                      \
      fprintf(stderr, "%s:%d: CHECK(%s)\n", __FILE__, __LINE__, #condition); \
      ++failures;                                                            \
    }                                                                        \
  } while (0)

static int succeeded(const char* what, int line, ingot_status* status) {
  const char* text = "";
  size_t length = 0;
  f->ingot_status_message(status, &text, &length);
  if (status) fprintf(stderr, "%s:%d: %s: %.*s\n", __FILE__, line, what, (int)length, text), ++failures;
  f->ingot_status_release(status);
  return status == NULL;
}
#define OK(call) succeeded(#call, __LINE__, f->call)

static int fails_with(ingot_code code, ingot_status* status) {
  const int as_expected = f->ingot_status_code(status) == code;
  f->ingot_status_release(status);
  return as_expected;
}

/* Zeros of this size that end at the end of a page, with nothing mapped behind; struct_size is set. Never given back.
 */
static void* at_page_end(size_t size) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char* p = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED || mprotect(p + page, page, PROT_NONE) != 0) abort();
  p += page - size;
  memcpy(p, &size, sizeof size);
  return p;
}
#define NEW(type) ((type*)at_page_end(sizeof(type)))

/* ---- callbacks, which count ---- */

static int destroyed, allocated, freed, logged, alarms, done_code, tasks_run, cache_gets, cache_puts;

static void on_destroy(void* user) { __atomic_fetch_add((int*)user, 1, __ATOMIC_ACQ_REL); }
static int destroyed_now(void) { return __atomic_load_n(&destroyed, __ATOMIC_ACQUIRE); }
static void on_log(void* user, ingot_log_level level, const char* text, size_t length) {
  (void)user, (void)level, (void)text, (void)length;
  __atomic_fetch_add(&logged, 1, __ATOMIC_RELAXED);
}
static int32_t on_get(void* user, const char* key, size_t length,
                      void (*emit)(void* emit_user, const void* bytes, size_t size), void* emit_user) {
  (void)user, (void)key, (void)length, (void)emit, (void)emit_user;
  __atomic_fetch_add(&cache_gets, 1, __ATOMIC_RELAXED);
  return 0;
}
static int32_t on_put(void* user, const char* key, size_t length, const void* bytes, size_t size) {
  (void)user, (void)key, (void)length, (void)bytes, (void)size;
  __atomic_fetch_add(&cache_puts, 1, __ATOMIC_RELAXED);
  return 1;
}
static void on_parallel(void* user, uint32_t tasks, void (*task)(void* context, uint32_t index), void* context) {
  uint32_t i;
  (void)user;
  for (i = 0; i < tasks; ++i) task(context, i), ++tasks_run;
}
static void* on_allocate(void* user, size_t bytes, size_t alignment) {
  void* p = NULL;
  (void)user;
  ++allocated;
  return posix_memalign(&p, alignment < sizeof p ? sizeof p : alignment, bytes ? bytes : 1) == 0 ? p : NULL;
}
static void on_deallocate(void* user, void* memory, size_t bytes, size_t alignment) {
  (void)user, (void)bytes, (void)alignment;
  ++freed;
  free(memory);
}
static void on_alarm(void* user, ingot_alarm_kind kind, uint64_t value, uint64_t limit) {
  (void)user, (void)kind, (void)value, (void)limit;
  __atomic_fetch_add(&alarms, 1, __ATOMIC_RELAXED);
}
static void on_done(void* user, ingot_code code) {
  (void)user;
  __atomic_store_n(&done_code, (int)code, __ATOMIC_RELEASE);
}

/* ---- what the parts share ---- */

static ingot_tensor tensor(void* data, int32_t rank, int64_t* shape) {
  ingot_tensor t = {NULL, {1, 0}, 0, {2, 32, 1}, NULL, NULL, 0};
  t.data = data, t.ndim = rank, t.shape = shape;
  return t;
}

/* Every option that 0.1 has. `pack` may be NULL. */
static ingot_context* new_context(const char* const* pack) {
  ingot_context_options* o = NEW(ingot_context_options);
  ingot_context* c = NULL;
  o->no_disk_cache = 1;
  o->ignore_environment = 1;
  o->num_threads = 2;
  o->memory_cache_bytes = 1 << 20;
  o->memory_cache_entries = 64;
  o->disk_cache_bytes = 1 << 20;
  o->log = on_log, o->log_user = &destroyed, o->log_destroy = on_destroy, o->log_level = INGOT_LOG_DEBUG;
  o->trust_host_cache = 1;
  o->cache_get = on_get, o->cache_put = on_put, o->cache_user = &destroyed, o->cache_destroy = on_destroy;
  o->parallel_for = on_parallel, o->parallel_user = &destroyed, o->parallel_destroy = on_destroy;
  o->parallel_width = 2;
  o->allocate = on_allocate, o->deallocate = on_deallocate;
  o->allocator_user = &destroyed, o->allocator_destroy = on_destroy;
  o->packs = pack, o->n_packs = pack ? 1 : 0;
  o->alarm = on_alarm, o->alarm_user = &destroyed, o->alarm_destroy = on_destroy;
  o->alarm_cache_percent = 50, o->alarm_queue = 8;
  OK(ingot_context_create(o, &c));
  return c;
}
enum { destroy_callbacks = 5 };

static ingot_executable* new_executable(ingot_context* c, const ingot_graph* g) {
  ingot_compile_options* o = NEW(ingot_compile_options);
  ingot_executable* e = NULL;
  o->backend = INGOT_BACKEND_AUTO;
  OK(ingot_compile(c, g, o, &e));
  return e;
}

static ingot_stats stats_of(const ingot_context* c) {
  ingot_stats* s = NEW(ingot_stats);
  OK(ingot_context_stats(c, s));
  return *s;
}

/* y = x * 2 + bias, total = the sum over y's rows: by calls. */
static ingot_graph* built(ingot_context* c) {
  ingot_graph* g = NULL;
  ingot_dim n = 0, two = 0, even[2], shape[2];
  ingot_value x = 0, rows = 0, factor = 0, bias = 0, y = 0, total = 0, found = 99, operands[3];
  static float borrowed[1] = {0.5f}; /* for as long as the graph and what is made of it */
  float data[1] = {2.0f};
  ingot_tensor scalar = tensor(data, 0, NULL), kept = tensor(borrowed, 0, NULL);
  const int64_t axis[1] = {1};
  ingot_attr axes;
  ingot_buffer* text = NULL;
  const char* p = NULL;
  size_t size = 0;
  const int before = destroyed_now();
  memset(&axes, 0, sizeof axes);
  axes.name = "axes", axes.name_length = INGOT_NUL, axes.kind = INGOT_ATTR_I64S, axes.value.i64s = axis, axes.count = 1;
  OK(ingot_graph_create(c, "by_calls", INGOT_NUL, &g));
  f->ingot_graph_retain(g);
  f->ingot_graph_release(g);
  OK(ingot_graph_set_flags(g, INGOT_GRAPH_RELAXED_PRECISION));
  OK(ingot_graph_dim_symbol(g, "N", 1, 0, 1000, &n));
  OK(ingot_graph_dim_symbol(g, "B", 1, 1, INT64_MAX, &shape[0]));
  OK(ingot_graph_dim_expr(g, INGOT_DIM_CONSTANT, 2, NULL, 0, &two));
  even[0] = n, even[1] = two;
  OK(ingot_graph_assume(g, INGOT_FACT_DIVISIBLE, even, 2));
  OK(ingot_graph_dim_expr(g, INGOT_DIM_MUL, 0, even, 2, &shape[1]));
  OK(ingot_graph_input(g, "x", 1, INGOT_F32, shape, 2, &x));
  OK(ingot_graph_dim_input(g, "n", 1, n, &rows));
  OK(ingot_graph_constant(g, &scalar, 0, NULL, NULL, &factor));
  OK(ingot_graph_constant(g, &kept, 0, on_destroy, &destroyed, &bias));
  CHECK(destroyed_now() == before);
  operands[0] = x, operands[1] = factor, operands[2] = bias;
  OK(ingot_graph_op(g, INGOT_OP_FMA, operands, 3, NULL, 0, &y, 1));
  OK(ingot_graph_op(g, INGOT_OP_REDUCE_SUM, &y, 1, &axes, 1, &total, 1));
  OK(ingot_graph_output(g, "y", INGOT_NUL, y));
  OK(ingot_graph_output(g, "total", INGOT_NUL, total));
  OK(ingot_graph_finish(g));
  CHECK(fails_with(INGOT_FAILED_PRECONDITION, f->ingot_graph_output(g, NULL, 0, y)));
  OK(ingot_graph_find_value(g, "n", 1, &found));
  CHECK(found == rows);
  OK(ingot_graph_print(g, &text));
  f->ingot_buffer_data(text, &p, &size);
  CHECK(size == strlen(p) && strstr(p, "graph @by_calls(%x: f32[B, 2*N], %n: dim N)"));
  f->ingot_buffer_release(text);
  return g;
}

/* Runs the graph above in every way that 0.1 has of running. */
static void runs(ingot_context* c, ingot_executable* e) {
  static char scratch[4096] __attribute__((aligned(64)));
  float x[8] = {1, 2, 3, 4, 5, 6, 7, 8}, y[8], total[2];
  int64_t n = 2, shape[2] = {2, 4}, dims[2] = {0, 0};
  ingot_tensor tx = tensor(x, 2, shape), ty = tensor(y, 2, shape), tt = tensor(total, 1, shape),
               tn = tensor(&n, 0, NULL);
  const ingot_tensor *ins[2] = {&tx, &tn}, *outs[2] = {&ty, &tt};
  ingot_run_options* o = NEW(ingot_run_options);
  uint32_t cancel = 0;
  size_t n_ins = 0, n_outs = 0, rank = 0;
  uint64_t bytes = 0;
  ingot_io_info* info = NEW(ingot_io_info);
  const uint64_t runs_before = stats_of(c).runs;
  tn.dtype.code = 0, tn.dtype.bits = 64;
  OK(ingot_executable_io_count(e, &n_ins, &n_outs));
  CHECK(n_ins == 2 && n_outs == 2);
  OK(ingot_executable_io_info(e, 0, 0, info));
  CHECK(strcmp(info->name, "x") == 0 && info->dtype == INGOT_F32 && info->rank == 2 && info->extents[0] == -1);
  CHECK(strcmp(info->shape_text, "[B, 2*N]") == 0);
  OK(ingot_executable_output_shape(e, ins, 2, 0, dims, 2, &rank));
  CHECK(rank == 2 && dims[0] == 2 && dims[1] == 4);
  OK(ingot_executable_scratch_size(e, ins, 2, &bytes));
  CHECK(bytes <= sizeof scratch);
  OK(ingot_run(e, ins, 2, outs, 2, NULL));
  CHECK(y[0] == 2.5f && y[7] == 16.5f && total[0] == 22 && total[1] == 54);
  memset(y, 0, sizeof y);
  o->cancel = &cancel, o->scratch = scratch, o->scratch_bytes = sizeof scratch, o->serial = 1, o->never_stall = 1;
  o->allocate = on_allocate, o->deallocate = on_deallocate, o->allocator_user = &destroyed;
  OK(ingot_run(e, ins, 2, outs, 2, o));
  CHECK(y[7] == 16.5f && total[1] == 54);
  cancel = 1;
  CHECK(fails_with(INGOT_CANCELLED, f->ingot_run(e, ins, 2, outs, 2, o)));
  n = 3;
  CHECK(fails_with(INGOT_INVALID_ARGUMENT, f->ingot_run(e, ins, 2, outs, 2, NULL)));
  n = 2;
  CHECK(stats_of(c).runs >= runs_before + 2);
}

/* DLPack 1.0. */
struct DLManagedTensorVersioned {
  uint32_t major, minor;
  void* manager_ctx;
  void (*deleter)(struct DLManagedTensorVersioned* self);
  uint64_t flags;
  ingot_tensor dl_tensor;
};

static void outputs_made(ingot_executable* e) {
  float x[4] = {1, 2, 3, 4};
  int64_t n = 2, shape[2] = {1, 4};
  ingot_tensor tx = tensor(x, 2, shape), tn = tensor(&n, 0, NULL);
  const ingot_tensor* ins[2] = {&tx, &tn};
  struct DLManagedTensorVersioned* made[2] = {NULL, NULL};
  const int before = allocated - freed;
  tn.dtype.code = 0, tn.dtype.bits = 64;
  if (!OK(ingot_run_allocating(e, ins, 2, made, 2, NULL))) return;
  CHECK(made[0]->major == 1 && made[0]->dl_tensor.ndim == 2 && made[0]->dl_tensor.shape[1] == 4);
  CHECK(((float*)made[0]->dl_tensor.data)[3] == 8.5f && ((float*)made[1]->dl_tensor.data)[0] == 22);
  made[0]->deleter(made[0]);
  made[1]->deleter(made[1]);
  CHECK(allocated - freed == before);
}

static void calls(ingot_executable* e) {
  float x[4] = {1, 2, 3, 4}, other[4] = {0, 0, 0, 1}, y[4], total[1];
  int64_t n = 2, shape[2] = {1, 4};
  ingot_tensor tx = tensor(x, 2, shape), tn = tensor(&n, 0, NULL), out;
  const ingot_tensor* ins[2] = {&tx, &tn};
  ingot_call *call = NULL, *clone = NULL;
  tn.dtype.code = 0, tn.dtype.bits = 64;
  OK(ingot_call_create(e, &call));
  OK(ingot_call_bind(call, ins, 2, NULL, 0));
  OK(ingot_call_output(call, 0, &out));
  CHECK(out.ndim == 2 && out.shape[1] == 4 && out.data == NULL);
  OK(ingot_call_set_data(call, 1, 0, y));
  OK(ingot_call_set_data(call, 1, 1, total));
  OK(ingot_call_run(call, NULL));
  CHECK(y[3] == 8.5f && total[0] == 22);
  OK(ingot_call_clone(call, &clone));
  f->ingot_call_release(call);
  OK(ingot_call_set_data(clone, 0, 0, other));
  OK(ingot_call_run(clone, NEW(ingot_run_options)));
  CHECK(y[3] == 2.5f && total[0] == 4);
  f->ingot_call_release(clone);
}

static void events(ingot_executable* e) {
  ingot_prepare_options* o = NEW(ingot_prepare_options);
  ingot_event* event = NULL;
  const int before = destroyed_now();
  done_code = -1;
  if (!OK(ingot_executable_prepare(e, NULL, 0, o, &event))) return;
  f->ingot_event_retain(event);
  OK(ingot_event_on_done(event, on_done, &destroyed, on_destroy));
  OK(ingot_event_wait(event, -1));
  CHECK(f->ingot_event_poll(event) == INGOT_OK);
  OK(ingot_event_cancel(event)); /* too late to matter */
  f->ingot_event_release(event);
  f->ingot_event_release(event);
  /* The thread that ended it may still be calling back. */
  for (int i = 0; i < 10000 && destroyed_now() == before; ++i) usleep(1000);
  CHECK(destroyed_now() == before + 1 && done_code == INGOT_OK);
}

/* The same by text, with names for what lies between; a part of it; its descriptions. */
static ingot_executable* parsed(ingot_context* c) {
  static const char text[] =
      "ingot 1.0\ngraph @by_text(%x: f32[N]) -> (y: f32[N]) where N >= 1 {\n"
      "  %twice = mul %x, 2.0\n  %y = add %twice, 0.5\n  return %y\n}\n";
  ingot_graph *g = NULL, *none = NULL;
  ingot_executable *e, *part = NULL;
  ingot_value feed = 0, fetch = 0;
  float x[3] = {1, 2, 3}, y[3];
  int64_t shape[1] = {3};
  ingot_tensor tx = tensor(x, 1, shape), ty = tensor(y, 1, shape);
  const ingot_tensor *ins[1] = {&tx}, *outs[1] = {&ty};
  ingot_buffer* about = NULL;
  const char* p = NULL;
  CHECK(fails_with(INGOT_INVALID_ARGUMENT, f->ingot_graph_parse(c, "ingot 1.0\ngraph", INGOT_NUL, &none)));
  OK(ingot_graph_parse(c, text, sizeof text - 1, &g));
  OK(ingot_graph_find_value(g, "twice", INGOT_NUL, &feed));
  OK(ingot_graph_find_value(g, "y", INGOT_NUL, &fetch));
  e = new_executable(c, g);
  f->ingot_graph_release(g);
  OK(ingot_executable_subset(e, &feed, 1, &fetch, 1, &part));
  OK(ingot_run(part, ins, 1, outs, 1, NULL));
  CHECK(y[0] == 1.5f && y[2] == 3.5f);
  f->ingot_executable_release(part);
  OK(ingot_run(e, ins, 1, outs, 1, NULL));
  CHECK(y[0] == 2.5f && y[2] == 6.5f);
  OK(ingot_executable_describe(e, "source", INGOT_NUL, &about));
  f->ingot_buffer_data(about, &p, NULL);
  CHECK(strstr(p, "@by_text"));
  f->ingot_buffer_release(about);
  OK(ingot_ops_json(&about));
  f->ingot_buffer_data(about, &p, NULL);
  CHECK(strstr(p, "\"schema\"") && strstr(p, "layer_norm"));
  f->ingot_buffer_release(about);
  OK(ingot_context_cache(c, "info", INGOT_NUL, &about));
  f->ingot_buffer_data(about, &p, NULL);
  CHECK(strstr(p, "\"schema\""));
  f->ingot_buffer_release(about);
  return e;
}

/* The code of `e` goes into a file, from which another context serves it without a compile. */
static void packs(ingot_executable* e) {
  char path[] = "/tmp/ingot-abi-XXXXXX";
  const int file = mkstemp(path);
  const char* const list[1] = {path};
  ingot_buffer* pack = NULL;
  const char* bytes = NULL;
  size_t size = 0;
  ingot_context* c;
  ingot_executable* again;
  ingot_status* status = f->ingot_executable_pack(&e, 1, NULL, 0, &pack);
  CHECK(file >= 0);
  if (f->ingot_status_code(status) == INGOT_UNAVAILABLE) { /* a build without a compiler */
    f->ingot_status_release(status);
  } else if (succeeded("ingot_executable_pack", __LINE__, status)) {
    f->ingot_buffer_data(pack, &bytes, &size);
    CHECK(write(file, bytes, size) == (ssize_t)size);
    f->ingot_buffer_release(pack);
    c = new_context(list);
    again = parsed(c);
    CHECK(stats_of(c).pack_hits >= 1);
    f->ingot_executable_release(again);
    f->ingot_context_release(c);
  }
  close(file);
  unlink(path);
}

static void whole_life(const char* way, const ingot_proc_table* table) {
  int32_t major = -1, minor = -1, patch = -1;
  const int failed_before = failures;
  ingot_context* c;
  ingot_graph* g;
  ingot_executable *by_calls, *by_text;
  int before;
  f = table;
  f->ingot_version(&major, &minor, &patch);
  CHECK(major == 0 && minor >= 1 && patch >= 0);
  before = destroyed_now();
  c = new_context(NULL);
  f->ingot_context_retain(c);
  f->ingot_context_release(c);
  g = built(c);
  by_calls = new_executable(c, g);
  f->ingot_graph_release(g);
  f->ingot_executable_retain(by_calls);
  f->ingot_executable_release(by_calls);
  runs(c, by_calls);
  outputs_made(by_calls);
  calls(by_calls);
  events(by_calls);
  by_text = parsed(c);
  OK(ingot_context_trim(c, 0));
  OK(ingot_context_sync(c, 1, 0, NULL));
  CHECK(stats_of(c).graphs >= 2 && stats_of(c).memory_cache_bytes == 0);
  f->ingot_context_release(c);
  packs(by_text);
  f->ingot_executable_release(by_calls);
  f->ingot_executable_release(by_text);
  /* Those of one context or two, of the borrowed constant and of the event. */
  before = destroyed_now() - before - 2;
  CHECK(logged > 0);
  CHECK(before == destroy_callbacks || before == 2 * destroy_callbacks);
  printf("%s: %s\n", way, failures == failed_before ? "well" : "FAILED");
}

int main(void) {
  static const ingot_proc_table linked = {
      sizeof(ingot_proc_table),
#define INGOT_ENTRY(minor, ret, name, params) name,
#include "ingot/entries.def"
#undef INGOT_ENTRY
  };
  const ingot_proc_table* table = ingot_get_proc_table(0);
  whole_life("functions as the linker binds them", &linked);
  CHECK(ingot_get_proc_table(1) == NULL);
  CHECK(table != NULL && table->struct_size >= sizeof(ingot_proc_table));
  if (!table || table->struct_size < sizeof(ingot_proc_table)) return 1;
#define INGOT_ENTRY(minor, ret, name, params) CHECK(table->name == linked.name);
#include "ingot/entries.def"
#undef INGOT_ENTRY
  whole_life("functions of the proc table", table);
  return failures != 0;
}
