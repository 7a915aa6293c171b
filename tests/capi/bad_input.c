/* What the interface can be asked that makes no sense: a status with a message that names the culprit, and everything
 * left as it was. Never a crash. */
#include "check.h"

static ingot_context* c;

static ingot_graph* parse(const char* text) {
  ingot_graph* g = NULL;
  OK(ingot_graph_parse(c, text, INGOT_NUL, &g));
  return g;
}

static void every_entry_refuses_null(void) {
  ingot_graph* g = NULL;
  ingot_executable* e = NULL;
  ingot_buffer* b = NULL;
  ingot_dim d;
  ingot_value v;
  ingot_tensor t;
  ingot_stats stats = INGOT_STATS_INIT;
  ingot_io_info info = INGOT_IO_INFO_INIT;
  size_t n;
  uint64_t bytes;
  memset(&t, 0, sizeof t);
  /* Functions without a status take NULL. */
  ingot_version(NULL, NULL, NULL);
  CHECK(ingot_status_code(NULL) == INGOT_OK);
  ingot_status_message(NULL, NULL, NULL);
  ingot_status_release(NULL);
  ingot_buffer_data(NULL, NULL, NULL);
  ingot_buffer_release(NULL);
  ingot_context_retain(NULL), ingot_context_release(NULL);
  ingot_graph_retain(NULL), ingot_graph_release(NULL);
  ingot_executable_retain(NULL), ingot_executable_release(NULL);
  FAILS(INGOT_INVALID_ARGUMENT, "context", ingot_context_create(NULL, NULL));
  FAILS(INGOT_INVALID_ARGUMENT, "context", ingot_context_stats(NULL, &stats));
  FAILS(INGOT_INVALID_ARGUMENT, "stats", ingot_context_stats(c, NULL));
  FAILS(INGOT_INVALID_ARGUMENT, "context", ingot_context_trim(NULL, 0));
  FAILS(INGOT_INVALID_ARGUMENT, "context", ingot_context_cache(NULL, "list", INGOT_NUL, &b));
  FAILS(INGOT_INVALID_ARGUMENT, "out", ingot_context_cache(c, "list", INGOT_NUL, NULL));
  FAILS(INGOT_INVALID_ARGUMENT, "", ingot_context_cache(c, NULL, 0, &b));
  FAILS(INGOT_INVALID_ARGUMENT, "context", ingot_graph_create(NULL, NULL, 0, &g));
  FAILS(INGOT_INVALID_ARGUMENT, "graph", ingot_graph_create(c, NULL, 0, NULL));
  FAILS(INGOT_INVALID_ARGUMENT, "name", ingot_graph_create(c, NULL, 3, &g));
  FAILS(INGOT_INVALID_ARGUMENT, "context", ingot_graph_parse(NULL, "x", 1, &g));
  FAILS(INGOT_INVALID_ARGUMENT, "text", ingot_graph_parse(c, NULL, 0, &g));
  FAILS(INGOT_INVALID_ARGUMENT, "graph", ingot_graph_parse(c, "x", 1, NULL));
  FAILS(INGOT_INVALID_ARGUMENT, "graph", ingot_graph_print(NULL, &b));
  FAILS(INGOT_INVALID_ARGUMENT, "text", ingot_graph_print(NULL, NULL));
  FAILS(INGOT_INVALID_ARGUMENT, "graph", ingot_graph_set_flags(NULL, 0));
  FAILS(INGOT_INVALID_ARGUMENT, "graph", ingot_graph_dim_symbol(NULL, "B", 1, 0, 1, &d));
  FAILS(INGOT_INVALID_ARGUMENT, "graph", ingot_graph_dim_expr(NULL, INGOT_DIM_CONSTANT, 1, NULL, 0, &d));
  FAILS(INGOT_INVALID_ARGUMENT, "graph", ingot_graph_assume(NULL, INGOT_FACT_EQUAL, NULL, 0));
  FAILS(INGOT_INVALID_ARGUMENT, "graph", ingot_graph_input(NULL, NULL, 0, INGOT_F32, NULL, 0, &v));
  FAILS(INGOT_INVALID_ARGUMENT, "graph", ingot_graph_dim_input(NULL, NULL, 0, 0, &v));
  FAILS(INGOT_INVALID_ARGUMENT, "graph", ingot_graph_constant(NULL, &t, 0, NULL, NULL, &v));
  FAILS(INGOT_INVALID_ARGUMENT, "graph", ingot_graph_op(NULL, INGOT_OP_ADD, NULL, 0, NULL, 0, &v, 1));
  FAILS(INGOT_INVALID_ARGUMENT, "graph", ingot_graph_output(NULL, NULL, 0, 0));
  FAILS(INGOT_INVALID_ARGUMENT, "graph", ingot_graph_finish(NULL));
  FAILS(INGOT_INVALID_ARGUMENT, "graph", ingot_graph_find_value(NULL, "x", 1, &v));
  OK(ingot_graph_create(c, NULL, 0, &g));
  FAILS(INGOT_INVALID_ARGUMENT, "dim", ingot_graph_dim_symbol(g, "B", 1, 0, 1, NULL));
  FAILS(INGOT_INVALID_ARGUMENT, "value", ingot_graph_input(g, NULL, 0, INGOT_F32, NULL, 0, NULL));
  FAILS(INGOT_INVALID_ARGUMENT, "shape", ingot_graph_input(g, NULL, 0, INGOT_F32, NULL, 2, &v));
  FAILS(INGOT_INVALID_ARGUMENT, "data", ingot_graph_constant(g, NULL, 0, NULL, NULL, &v));
  FAILS(INGOT_INVALID_ARGUMENT, "operands", ingot_graph_op(g, INGOT_OP_ADD, NULL, 2, NULL, 0, &v, 1));
  FAILS(INGOT_INVALID_ARGUMENT, "context", ingot_compile(NULL, g, NULL, &e));
  FAILS(INGOT_INVALID_ARGUMENT, "graph", ingot_compile(c, NULL, NULL, &e));
  FAILS(INGOT_INVALID_ARGUMENT, "executable", ingot_compile(c, g, NULL, NULL));
  FAILS(INGOT_FAILED_PRECONDITION, "finished", ingot_compile(c, g, NULL, &e));
  FAILS(INGOT_INVALID_ARGUMENT, "executable", ingot_executable_prepare(NULL, NULL, 0, NULL, NULL));
  FAILS(INGOT_INVALID_ARGUMENT, "executable", ingot_executable_io_count(NULL, &n, &n));
  FAILS(INGOT_INVALID_ARGUMENT, "executable", ingot_executable_io_info(NULL, 0, 0, &info));
  FAILS(INGOT_INVALID_ARGUMENT, "executable", ingot_executable_output_shape(NULL, NULL, 0, 0, NULL, 0, &n));
  FAILS(INGOT_INVALID_ARGUMENT, "executable", ingot_executable_scratch_size(NULL, NULL, 0, &bytes));
  FAILS(INGOT_INVALID_ARGUMENT, "executable", ingot_executable_describe(NULL, "json", INGOT_NUL, &b));
  FAILS(INGOT_INVALID_ARGUMENT, "executable", ingot_run(NULL, NULL, 0, NULL, 0, NULL));
  FAILS(INGOT_INVALID_ARGUMENT, "out", ingot_ops_json(NULL));
  CHECK(e == NULL && b == NULL);
  ingot_graph_release(g);
}

static void the_builder_names_what_is_wrong(void) {
  ingot_graph *g = NULL, *facts = NULL;
  ingot_dim n, m, many[17], three, four, both[2];
  ingot_value x, y, k, v = 77, pair[3];
  ingot_attr a;
  size_t i;
  OK(ingot_graph_create(c, NULL, 0, &g));
  OK(ingot_graph_dim_symbol(g, "N", 1, 1, 100, &n));
  OK(ingot_graph_input(g, "x", 1, INGOT_F32, &n, 1, &x));
  OK(ingot_graph_input(g, "y", 1, INGOT_F64, &n, 1, &y));
  FAILS(INGOT_INVALID_ARGUMENT, "x", ingot_graph_input(g, "x", 1, INGOT_F32, &n, 1, &v));
  FAILS(INGOT_INVALID_ARGUMENT, "dtype", ingot_graph_input(g, "z", 1, 0, &n, 1, &v));
  FAILS(INGOT_INVALID_ARGUMENT, "dtype", ingot_graph_input(g, "z", 1, 31, &n, 1, &v));
  FAILS(INGOT_INVALID_ARGUMENT, "dtype", ingot_graph_input(g, "z", 1, -1, &n, 1, &v));
  for (i = 0; i < 17; ++i) many[i] = n;
  FAILS(INGOT_INVALID_ARGUMENT, "16", ingot_graph_input(g, "z", 1, INGOT_F32, many, 17, &v));
  FAILS(INGOT_INVALID_ARGUMENT, "N", ingot_graph_dim_symbol(g, "N", 1, 200, 300, &n)); /* empty intersection */
  FAILS(INGOT_INVALID_ARGUMENT, "", ingot_graph_dim_symbol(g, "K", 1, 5, 4, &k));
  FAILS(INGOT_INVALID_ARGUMENT, "", ingot_graph_dim_symbol(g, "K", 1, -5, 4, &k));
  FAILS(INGOT_INVALID_ARGUMENT, "", ingot_graph_dim_symbol(g, "", 0, 0, 4, &k));
  FAILS(INGOT_INVALID_ARGUMENT, "", ingot_graph_dim_symbol(g, "\xff\xfe", 2, 0, 4, &k));
  many[0] = 12345;
  FAILS(INGOT_INVALID_ARGUMENT, "shape[0]", ingot_graph_input(g, "z", 1, INGOT_F32, many, 1, &v));
  FAILS(INGOT_INVALID_ARGUMENT, "", ingot_graph_dim_expr(g, 99, 0, &n, 1, &k));
  FAILS(INGOT_INVALID_ARGUMENT, "", ingot_graph_dim_expr(g, INGOT_DIM_MOD, 0, &n, 1, &k));
  OK(ingot_graph_create(c, "facts", INGOT_NUL, &facts));
  OK(ingot_graph_dim_symbol(facts, "M", 1, 0, INT64_MAX, &m));
  OK(ingot_graph_dim_expr(facts, INGOT_DIM_CONSTANT, 3, NULL, 0, &three));
  OK(ingot_graph_dim_expr(facts, INGOT_DIM_CONSTANT, 4, NULL, 0, &four));
  both[0] = m, both[1] = three;
  OK(ingot_graph_assume(facts, INGOT_FACT_EQUAL, both, 2));
  both[1] = four;
  FAILS(INGOT_INVALID_ARGUMENT, "M", ingot_graph_assume(facts, INGOT_FACT_EQUAL, both, 2)); /* M is 3 and 4 */
  FAILS(INGOT_INVALID_ARGUMENT, "fact", ingot_graph_assume(facts, 9, both, 2));
  ingot_graph_release(facts);
  pair[0] = x, pair[1] = y, pair[2] = x;
  FAILS(INGOT_INVALID_ARGUMENT, "add", ingot_graph_op(g, INGOT_OP_ADD, pair, 2, NULL, 0, &v, 1)); /* f32 and f64 */
  FAILS(INGOT_INVALID_ARGUMENT, "add", ingot_graph_op(g, INGOT_OP_ADD, pair, 1, NULL, 0, &v, 1));
  FAILS(INGOT_INVALID_ARGUMENT, "add", ingot_graph_op(g, INGOT_OP_ADD, pair, 3, NULL, 0, &v, 1));
  FAILS(INGOT_INVALID_ARGUMENT, "n_results", ingot_graph_op(g, INGOT_OP_EXP, pair, 1, NULL, 0, &v, 2));
  FAILS(INGOT_INVALID_ARGUMENT, "n_results", ingot_graph_op(g, INGOT_OP_EXP, pair, 1, NULL, 0, &v, 0));
  FAILS(INGOT_INVALID_ARGUMENT, "n_results", ingot_graph_op(g, INGOT_OP_EXP, pair, 1, NULL, 0, &v, SIZE_MAX));
  FAILS(INGOT_INVALID_ARGUMENT, "results", ingot_graph_op(g, INGOT_OP_EXP, pair, 1, NULL, 0, NULL, 1));
  FAILS(INGOT_INVALID_ARGUMENT, "9999", ingot_graph_op(g, 9999, pair, 1, NULL, 0, &v, 1));
  FAILS(INGOT_INVALID_ARGUMENT, "", ingot_graph_op(g, 0, pair, 1, NULL, 0, &v, 1));
  pair[1] = 1u << 30;
  FAILS(INGOT_INVALID_ARGUMENT, "operand 1", ingot_graph_op(g, INGOT_OP_ADD, pair, 2, NULL, 0, &v, 1));
  memset(&a, 0, sizeof a);
  a.name = "axis", a.name_length = INGOT_NUL, a.kind = INGOT_ATTR_I64, a.value.i64 = 1;
  FAILS(INGOT_INVALID_ARGUMENT, "axis", ingot_graph_op(g, INGOT_OP_SOFTMAX, &x, 1, &a, 1, &v, 1)); /* rank 1 */
  a.value.i64 = INT64_MIN;
  FAILS(INGOT_INVALID_ARGUMENT, "axis", ingot_graph_op(g, INGOT_OP_SOFTMAX, &x, 1, &a, 1, &v, 1));
  a.kind = 55;
  FAILS(INGOT_INVALID_ARGUMENT, "kind", ingot_graph_op(g, INGOT_OP_SOFTMAX, &x, 1, &a, 1, &v, 1));
  a.kind = INGOT_ATTR_F64, a.value.f64 = 0.5;
  FAILS(INGOT_INVALID_ARGUMENT, "axis", ingot_graph_op(g, INGOT_OP_SOFTMAX, &x, 1, &a, 1, &v, 1));
  a.kind = INGOT_ATTR_I64S, a.value.i64s = NULL, a.count = 3;
  FAILS(INGOT_INVALID_ARGUMENT, "NULL", ingot_graph_op(g, INGOT_OP_SOFTMAX, &x, 1, &a, 1, &v, 1));
  a.kind = INGOT_ATTR_I64, a.value.i64 = 0, a.count = 0, a.reserved = 1;
  FAILS(INGOT_INVALID_ARGUMENT, "reserved", ingot_graph_op(g, INGOT_OP_SOFTMAX, &x, 1, &a, 1, &v, 1));
  a.reserved = 0, a.count = 1;
  FAILS(INGOT_INVALID_ARGUMENT, "count is 1, expected 0", ingot_graph_op(g, INGOT_OP_SOFTMAX, &x, 1, &a, 1, &v, 1));
  a.count = 0, a.name = "axes";
  FAILS(INGOT_INVALID_ARGUMENT, "axes", ingot_graph_op(g, INGOT_OP_SOFTMAX, &x, 1, &a, 1, &v, 1));
  CHECK(v == 77);
  FAILS(INGOT_INVALID_ARGUMENT, "", ingot_graph_finish(g)); /* no outputs */
  OK(ingot_graph_op(g, INGOT_OP_EXP, &x, 1, NULL, 0, &v, 1));
  OK(ingot_graph_output(g, NULL, 0, v));
  OK(ingot_graph_finish(g)); /* all of that left the graph usable */
  FAILS(INGOT_NOT_FOUND, "nobody", ingot_graph_find_value(g, "nobody", INGOT_NUL, &v));
  ingot_graph_release(g);
}

static void text_errors_say_where(void) {
  static const struct {
    const char* text;
    const char* part;
  } cases_[] = {
      {"", "1:1"},
      {"ingot 2.0\n", "1:"},
      {"ingot 1.0\ngraph @g(%x: f32[N]) -> (f32[N]) {\n  %0 = exq %x\n  return %0\n}\n", "3:8"},
      {"ingot 1.0\ngraph @g(%x: f32[N]) -> (f32[N]) {\n  %0 = exp %y\n  return %0\n}\n", "3:1"},
      {"ingot 1.0\ngraph @g(%x: f33[N]) -> (f32[N]) {\n", "2:14"},
      {"ingot 1.0\ngraph @g(%x: f32[N]) -> (f32[N]) {\n  %0 = softmax %x {axis = 4}\n  return %0\n}\n", "3:"},
      {"ingot 1.0\ngraph @g(%x: f32[N]) -> (f32[N]) {\n  %0 = exp %x\n", "4:"},
      {"ingot 1.0\ngraph @g(%x: f32[99999999999999999999]) -> (f32[N]) {", "2:"},
      {"ingot 1.0\ngraph @g(%x: f32[N]) -> (f64[N]) {\n  return %x\n}\n", ""},
      {"ingot 1.0\n\xff\xfe\n", "2:1"},
  };
  size_t i;
  ingot_graph* g = NULL;
  for (i = 0; i < sizeof cases_ / sizeof *cases_; ++i)
    FAILS(INGOT_INVALID_ARGUMENT, cases_[i].part, ingot_graph_parse(c, cases_[i].text, INGOT_NUL, &g));
  CHECK(g == NULL);
}

static void hostile_text_is_refused(void) {
  enum { big = 10 * 1000 * 1000 };
  char* text = malloc(big + 100);
  ingot_graph* g = NULL;
  size_t at = (size_t)sprintf(text, "ingot 1.0\ngraph @g(%%x: f32[");
  memset(text + at, '(', 10000); /* 10,000 nested parentheses */
  FAILS(INGOT_INVALID_ARGUMENT, "2:", ingot_graph_parse(c, text, at + 10000, &g));
  memset(text + at, 'A', big - at); /* a line of 10 MB */
  FAILS(INGOT_INVALID_ARGUMENT, "", ingot_graph_parse(c, text, big, &g));
  memset(text + at, 0, 1000);
  FAILS(INGOT_INVALID_ARGUMENT, "", ingot_graph_parse(c, text, at + 1000, &g));
  CHECK(g == NULL);
  free(text);
}

static void runs_refuse_tensors_that_do_not_fit(void) {
  ingot_graph* g =
      parse("ingot 1.0\ngraph @g(%x: f32[N], %y: f32[N]) -> (f32[N]) {\n  %0 = add %x, %y\n  return %0\n}\n");
  ingot_executable* e = NULL;
  float buffer[64] = {0};
  int64_t three[1] = {3}, four[1] = {4}, minus[1] = {-1}, huge[1] = {INT64_MAX}, zero[1] = {0}, two[2] = {3, 1};
  ingot_tensor x = tensor_of(buffer, 2, 32, 1, three), y = tensor_of(buffer + 8, 2, 32, 1, three),
               z = tensor_of(buffer + 16, 2, 32, 1, three);
  const ingot_tensor *ins[2], *outs[1], *none[2] = {NULL, NULL};
  ins[0] = &x, ins[1] = &y, outs[0] = &z;
  OK(ingot_compile(c, g, NULL, &e));
  FAILS(INGOT_INVALID_ARGUMENT, "2", ingot_run(e, ins, 1, outs, 1, NULL)); /* a missing feed */
  FAILS(INGOT_INVALID_ARGUMENT, "outputs", ingot_run(e, ins, 2, outs, 0, NULL));
  FAILS(INGOT_INVALID_ARGUMENT, "input 0 (%x)", ingot_run(e, none, 2, outs, 1, NULL));
  FAILS(INGOT_INVALID_ARGUMENT, "inputs", ingot_run(e, NULL, 2, outs, 1, NULL));
  y.shape = four;
  FAILS(INGOT_INVALID_ARGUMENT, "input 1 (%y): dim 0 is 4, expected N = 3", ingot_run(e, ins, 2, outs, 1, NULL));
  y.shape = minus;
  FAILS(INGOT_INVALID_ARGUMENT, "negative", ingot_run(e, ins, 2, outs, 1, NULL));
  y.shape = two, y.ndim = 2;
  FAILS(INGOT_INVALID_ARGUMENT, "rank 2, expected 1", ingot_run(e, ins, 2, outs, 1, NULL));
  y.ndim = -3;
  FAILS(INGOT_INVALID_ARGUMENT, "rank", ingot_run(e, ins, 2, outs, 1, NULL));
  y.ndim = 1, y.shape = NULL;
  FAILS(INGOT_INVALID_ARGUMENT, "shape is NULL", ingot_run(e, ins, 2, outs, 1, NULL));
  x.shape = y.shape = z.shape = huge;
  FAILS(INGOT_INVALID_ARGUMENT, "overflows", ingot_run(e, ins, 2, outs, 1, NULL));
  x.shape = y.shape = z.shape = three;
  y.dtype.bits = 64;
  FAILS(INGOT_INVALID_ARGUMENT, "expected f32", ingot_run(e, ins, 2, outs, 1, NULL));
  y.dtype.bits = 32, y.dtype.lanes = 4;
  FAILS(INGOT_INVALID_ARGUMENT, "lanes", ingot_run(e, ins, 2, outs, 1, NULL));
  y.dtype.lanes = 1, y.data = NULL;
  FAILS(INGOT_INVALID_ARGUMENT, "data is NULL", ingot_run(e, ins, 2, outs, 1, NULL));
  y.data = buffer + 8, y.device.type = 2;
  FAILS(INGOT_INVALID_ARGUMENT, "device", ingot_run(e, ins, 2, outs, 1, NULL));
  y.device.type = 1, z.shape = four;
  FAILS(INGOT_INVALID_ARGUMENT, "output 0", ingot_run(e, ins, 2, outs, 1, NULL)); /* too large; too small alike */
  z.shape = three, z.strides = zero;
  FAILS(INGOT_INVALID_ARGUMENT, "overlap", ingot_run(e, ins, 2, outs, 1, NULL));
  z.strides = huge;
  FAILS(INGOT_INVALID_ARGUMENT, "stride", ingot_run(e, ins, 2, outs, 1, NULL));
  z.strides = NULL;
  OK(ingot_run(e, ins, 2, outs, 1, NULL));
  x.shape = y.shape = z.shape = zero, x.data = y.data = z.data = NULL; /* nothing to do is right, too */
  OK(ingot_run(e, ins, 2, outs, 1, NULL));
  ingot_executable_release(e);
  ingot_graph_release(g);
}

static void dim_inputs_are_extents(void) {
  static const int64_t bad[] = {INT64_MIN, INT64_MIN + 1, -1};
  ingot_graph* g = parse(
      "ingot 1.0\ngraph @g(%n: dim B, %x: u8[N]) -> (u8[2]) where N == B+2 {\n"
      "  %0 = slice %x {starts = [B], limits = [B+2]}\n  return %0\n}\n");
  ingot_executable* e = NULL;
  uint8_t x[6] = {1, 2, 3, 4, 5, 6}, y[2];
  int64_t n, six[1] = {6}, two[1] = {2}, none[1] = {0};
  ingot_tensor tn = tensor_of(&n, 0, 64, 0, none), tx = tensor_of(x, 1, 8, 1, six), ty = tensor_of(y, 1, 8, 1, two);
  const ingot_tensor *ins[2], *outs[1];
  size_t i;
  ins[0] = &tn, ins[1] = &tx, outs[0] = &ty;
  OK(ingot_compile(c, g, NULL, &e));
  for (i = 0; i < 3; ++i) {
    n = bad[i];
    FAILS(INGOT_INVALID_ARGUMENT, "negative", ingot_run(e, ins, 2, outs, 1, NULL));
  }
  n = 4;
  OK(ingot_run(e, ins, 2, outs, 1, NULL));
  CHECK(y[0] == 5 && y[1] == 6);
  ingot_executable_release(e);
  ingot_graph_release(g);
}

static void options_are_checked(void) {
  ingot_context_options o = INGOT_CONTEXT_OPTIONS_INIT;
  struct {
    ingot_context_options known;
    uint64_t later;
  } newer;
  ingot_compile_options k = INGOT_COMPILE_OPTIONS_INIT;
  ingot_context* made = NULL;
  ingot_executable* e = NULL;
  ingot_ext unknown = {sizeof(ingot_ext), NULL, 42};
  ingot_graph* g = parse("ingot 1.0\ngraph @g(%x: f32[N]) -> (f32[N]) {\n  %0 = exp %x\n  return %0\n}\n");
  o.struct_size = 3;
  FAILS(INGOT_INVALID_ARGUMENT, "struct_size", ingot_context_create(&o, &made));
  o.struct_size = sizeof o, o.next = &unknown;
  FAILS(INGOT_UNIMPLEMENTED, "42", ingot_context_create(&o, &made));
  o.next = NULL, o.cache_dir = "relative/dir";
  FAILS(INGOT_FAILED_PRECONDITION, "relative/dir", ingot_context_create(&o, &made));
  o.cache_dir = ""; /* no absolute path either, and not "unset" */
  FAILS(INGOT_FAILED_PRECONDITION, "cache_dir", ingot_context_create(&o, &made));
  o.cache_dir = "/dev/null"; /* not a directory */
  FAILS(INGOT_FAILED_PRECONDITION, "/dev/null", ingot_context_create(&o, &made));
  o.cache_dir = NULL, o.no_disk_cache = 1, o.module_dir = "here";
  FAILS(INGOT_INVALID_ARGUMENT, "here", ingot_context_create(&o, &made));
  memset(&newer, 0, sizeof newer);
  newer.known.struct_size = sizeof newer, newer.known.no_disk_cache = 1;
  OK(ingot_context_create(&newer.known, &made)); /* a newer caller that sets nothing new */
  ingot_context_release(made);
  newer.later = 1;
  FAILS(INGOT_UNIMPLEMENTED, "does not know", ingot_context_create(&newer.known, &made));
  o.module_dir = NULL, o.struct_size = offsetof(ingot_context_options, memory_cache_bytes); /* an older caller */
  OK(ingot_context_create(&o, &made));
  ingot_context_release(made);
  k.backend = 9;
  FAILS(INGOT_INVALID_ARGUMENT, "backend", ingot_compile(c, g, &k, &e));
  k.backend = INGOT_BACKEND_CPU, k.target = "pdp-11";
  FAILS(INGOT_INVALID_ARGUMENT, "pdp-11", ingot_compile(c, g, &k, &e));
  k.target = "sm_90";
  OK(ingot_compile(c, g, &k, &e)); /* a plan may be made for another machine */
  FAILS(INGOT_FAILED_PRECONDITION, "sm_90", ingot_executable_prepare(e, NULL, 0, NULL, NULL));
  ingot_executable_release(e);
  ingot_graph_release(g);
}

/* Whatever is passed in, messages are UTF-8 without control characters, whole under strlen. */
static void check_message(int line, ingot_status* status) {
  const char* text;
  size_t length, i;
  ingot_status_message(status, &text, &length);
  if (!status || strlen(text) != length) fprintf(stderr, "%s:%d: a message\n", __FILE__, line), failed_here = 1;
  for (i = 0; i < length; ++i)
    if ((unsigned char)text[i] >= 0x7f || ((unsigned char)text[i] < 0x20 && text[i] != '\n'))
      fprintf(stderr, "%s:%d: byte %02x in \"%s\"\n", __FILE__, line, (unsigned char)text[i], text), failed_here = 1;
  ingot_status_release(status);
}
#define ASCII(call) check_message(__LINE__, call)

static void messages_are_text_whatever_they_repeat(void) {
  static const char bad[] = "a\xff\x01\xc3";
  static const char nul[] = {'n', 0, 'n'};
  ingot_graph* g = NULL;
  ingot_executable* e = NULL;
  ingot_context* made = NULL;
  ingot_context_options o = INGOT_CONTEXT_OPTIONS_INIT;
  ingot_compile_options k = INGOT_COMPILE_OPTIONS_INIT;
  ingot_buffer* b = NULL;
  ingot_dim d, n;
  ingot_value x, v;
  ingot_attr a;
  const char* const list[] = {bad};
  OK(ingot_graph_create(c, NULL, 0, &g));
  OK(ingot_graph_dim_symbol(g, "N", 1, 0, 10, &n));
  OK(ingot_graph_input(g, nul, 3, INGOT_F32, &n, 1, &x)); /* a NUL is a character like any other */
  memset(&a, 0, sizeof a);
  a.name = "approximate", a.name_length = INGOT_NUL, a.kind = INGOT_ATTR_STRING;
  a.value.string = bad, a.count = INGOT_NUL;
  FAILS(INGOT_INVALID_ARGUMENT, "UTF-8", ingot_graph_op(g, INGOT_OP_GELU, &x, 1, &a, 1, &v, 1));
  a.value.string = nul, a.count = 3;
  ASCII(ingot_graph_op(g, INGOT_OP_GELU, &x, 1, &a, 1, &v, 1));
  a.kind = INGOT_ATTR_STRINGS, a.value.strings = list, a.count = 1;
  FAILS(INGOT_INVALID_ARGUMENT, "UTF-8", ingot_graph_op(g, INGOT_OP_GELU, &x, 1, &a, 1, &v, 1));
  a.kind = INGOT_ATTR_I64, a.count = 0, a.name = nul, a.name_length = 3;
  ASCII(ingot_graph_op(g, INGOT_OP_GELU, &x, 1, &a, 1, &v, 1));
  a.name = bad, a.name_length = INGOT_NUL;
  ASCII(ingot_graph_op(g, INGOT_OP_GELU, &x, 1, &a, 1, &v, 1));
  ASCII(ingot_graph_input(g, nul, 3, INGOT_F32, &n, 1, &v)); /* taken */
  ASCII(ingot_graph_input(g, bad, INGOT_NUL, INGOT_F32, &n, 1, &v));
  OK(ingot_graph_dim_symbol(g, nul, 3, 5, 10, &d));
  ASCII(ingot_graph_dim_symbol(g, nul, 3, 0, 4, &d)); /* no such extent */
  ASCII(ingot_graph_find_value(g, "\x01", 1, &v));
  OK(ingot_graph_output(g, nul, 3, x));
  ASCII(ingot_graph_output(g, nul, 3, x));
  ASCII(ingot_graph_finish(g)); /* the symbol with a NUL is bound by nothing */
  ingot_graph_release(g);
  g = parse("ingot 1.0\ngraph @g(%x: f32[N]) -> (f32[N]) {\n  %0 = exp %x\n  return %0\n}\n");
  k.target = bad;
  ASCII(ingot_compile(c, g, &k, &e));
  OK(ingot_compile(c, g, NULL, &e));
  ASCII(ingot_executable_describe(e, bad, INGOT_NUL, &b));
  ASCII(ingot_executable_describe(e, nul, 3, &b));
  ASCII(ingot_context_cache(c, bad, INGOT_NUL, &b));
  o.cache_dir = bad;
  ASCII(ingot_context_create(&o, &made));
  o.cache_dir = NULL, o.no_disk_cache = 1, o.module_dir = bad;
  ASCII(ingot_context_create(&o, &made));
  ingot_executable_release(e);
  ingot_graph_release(g);
  g = NULL;
  ASCII(ingot_graph_parse(c, bad, INGOT_NUL, &g));
  ASCII(ingot_graph_parse(c, nul, 3, &g));
}

/* What an op or an input was given that cannot be read at all is told by name like what does not suit it. */
static void what_cannot_be_read_is_told_by_name(void) {
  ingot_graph* g = NULL;
  ingot_dim n, gone[2];
  ingot_value x, v;
  ingot_attr a;
  OK(ingot_graph_create(c, NULL, 0, &g));
  OK(ingot_graph_dim_symbol(g, "N", 1, 0, 10, &n));
  OK(ingot_graph_input(g, "x", 1, INGOT_F32, &n, 1, &x));
  gone[0] = n, gone[1] = 99;
  FAILS(INGOT_INVALID_ARGUMENT, "input y: unknown dtype 0", ingot_graph_input(g, "y", 1, 0, &n, 1, &v));
  FAILS(INGOT_INVALID_ARGUMENT, "input y: rank 17", ingot_graph_input(g, "y", 1, INGOT_F32, gone, 17, &v));
  FAILS(INGOT_INVALID_ARGUMENT, "input y: shape is NULL", ingot_graph_input(g, "y", 1, INGOT_F32, NULL, 1, &v));
  FAILS(INGOT_INVALID_ARGUMENT, "input y: shape[1] is no dim", ingot_graph_input(g, "y", 1, INGOT_F32, gone, 2, &v));
  FAILS(INGOT_INVALID_ARGUMENT, "softmax: attrs is NULL", ingot_graph_op(g, INGOT_OP_SOFTMAX, &x, 1, NULL, 1, &v, 1));
  memset(&a, 0, sizeof a);
  a.name = "shape", a.name_length = INGOT_NUL;
#define UNREADABLE(said)                                               \
  FAILS(INGOT_INVALID_ARGUMENT, "broadcast: attribute 0 (shape)" said, \
        ingot_graph_op(g, INGOT_OP_BROADCAST, &x, 1, &a, 1, &v, 1))
  a.kind = 99;
  UNREADABLE(": unknown attribute kind 99");
  a.kind = INGOT_ATTR_DTYPE, a.value.i64 = -7;
  UNREADABLE(": unknown dtype -7");
  a.kind = INGOT_ATTR_DIM;
  UNREADABLE(": no dim of this graph");
  a.kind = INGOT_ATTR_I64, a.count = 3;
  UNREADABLE(": its count is 3");
  a.value.dims = NULL;
  a.kind = INGOT_ATTR_DIMS;
  UNREADABLE(" is NULL but its count is 3");
  a.kind = INGOT_ATTR_I64S;
  UNREADABLE(": its list is NULL but its count is 3");
  a.kind = INGOT_ATTR_STRING;
  UNREADABLE(" is NULL but its length is 3");
  a.kind = INGOT_ATTR_DIMS, a.value.dims = gone, a.count = 2;
  UNREADABLE("[1] is no dim of this graph");
  a.zero = 1;
  UNREADABLE(": its reserved fields are not zero");
#undef UNREADABLE
  ingot_graph_release(g);
}

/* An extent of 0 excuses no overflow of the others, wherever it stands, for constants and for tensors of a run. */
static void empty_tensors_of_huge_extents_are_refused_alike(void) {
  static const int64_t orders[3][3] = {
      {0, INT64_MAX / 2, INT64_MAX / 2}, {INT64_MAX / 2, 0, INT64_MAX / 2}, {INT64_MAX / 2, INT64_MAX / 2, 0}};
  static const char said[] = "size overflows 63 bits, its extent of 0 counted as 1";
  ingot_graph *g = parse("ingot 1.0\ngraph @g(%x: f32[A, B, C]) -> (f32[A, B, C]) {\n  %0 = exp %x\n  return %0\n}\n"),
              *built = NULL;
  ingot_executable* e = NULL;
  int64_t shape[3];
  ingot_tensor t = tensor_of(NULL, 2, 32, 3, shape);
  const ingot_tensor* both[1];
  ingot_value v;
  int i;
  both[0] = &t;
  OK(ingot_compile(c, g, NULL, &e));
  OK(ingot_graph_create(c, NULL, 0, &built));
  for (i = 0; i < 3; ++i) {
    memcpy(shape, orders[i], sizeof shape);
    FAILS(INGOT_INVALID_ARGUMENT, said, ingot_run(e, both, 1, both, 1, NULL));
    FAILS(INGOT_INVALID_ARGUMENT, said, ingot_graph_constant(built, &t, 0, NULL, NULL, &v));
  }
  shape[0] = 1 << 20, shape[1] = 0, shape[2] = 1 << 20; /* and what fits is empty */
  OK(ingot_run(e, both, 1, both, 1, NULL));
  OK(ingot_graph_constant(built, &t, 0, NULL, NULL, &v));
  t.dtype.lanes = 4;
  FAILS(INGOT_INVALID_ARGUMENT, "4 lanes", ingot_graph_constant(built, &t, 0, NULL, NULL, &v));
  ingot_executable_release(e);
  ingot_graph_release(g);
  ingot_graph_release(built);
}

int main(void) {
  ingot_context_options o = INGOT_CONTEXT_OPTIONS_INIT;
  o.no_disk_cache = 1;
  OK(ingot_context_create(&o, &c));
  CASE(every_entry_refuses_null);
  CASE(the_builder_names_what_is_wrong);
  CASE(what_cannot_be_read_is_told_by_name);
  CASE(text_errors_say_where);
  CASE(hostile_text_is_refused);
  CASE(runs_refuse_tensors_that_do_not_fit);
  CASE(dim_inputs_are_extents);
  CASE(options_are_checked);
  CASE(messages_are_text_whatever_they_repeat);
  CASE(empty_tensors_of_huge_extents_are_refused_alike);
  ingot_context_release(c);
  return summary();
}
