/* A host whose processes share compiled kernels through Redis, on top of a cache directory of their own.
 *
 *   redis_cache SOCKET SECRET_FILE CACHE_DIR
 *
 * Runs a small graph and prints what that took. The second process anywhere, with an empty directory but the same
 * server and secret, compiles nothing. CACHE_DIR is absolute. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "redis_store.h"

static const char graph_text[] =
    "ingot 1.0\n"
    "graph @score(%x: f32[B, N], %bias: f32[N]) -> (p: f32[B, N], best: f32[B]) {\n"
    "  %0 = add %x, %bias\n"
    "  %1 = gelu %0\n"
    "  %p = softmax %1 {axis = 1}\n"
    "  %best = reduce_max %p {axes = [1]}\n"
    "  return %p, %best\n"
    "}\n";

enum { rows = 5, columns = 37 };

static void check(ingot_status* status) {
  if (!status) return;
  const char* text;
  ingot_status_message(status, &text, NULL);
  fprintf(stderr, "redis_cache: %s\n", text);
  exit(1);
}

static size_t read_secret(const char* path, char* secret, size_t capacity) {
  FILE* file = fopen(path, "rb");
  const size_t size = file ? fread(secret, 1, capacity, file) : 0;
  if (file) fclose(file);
  if (size < 16) {
    fprintf(stderr, "redis_cache: %s: a secret has 16 bytes at least\n", path);
    exit(1);
  }
  return size;
}

static ingot_tensor tensor(float* data, int32_t rank, int64_t* shape) {
  ingot_tensor t = {0};
  t.data = data;
  t.device.type = 1;
  t.ndim = rank;
  t.dtype.code = 2;
  t.dtype.bits = 32;
  t.dtype.lanes = 1;
  t.shape = shape;
  return t;
}

int main(int argc, char** argv) {
  if (argc != 4) {
    fprintf(stderr, "usage: redis_cache SOCKET SECRET_FILE CACHE_DIR\n");
    return 2;
  }
  char secret[1024];
  redis_store* store = redis_store_create(argv[1], secret, read_secret(argv[2], secret, sizeof secret));
  if (!store) return 1;

  ingot_context_options options = INGOT_CONTEXT_OPTIONS_INIT;
  options.cache_dir = argv[3];
  redis_store_install(store, &options);
  ingot_context* context;
  ingot_graph* graph;
  ingot_executable* executable;
  check(ingot_context_create(&options, &context));
  check(ingot_graph_parse(context, graph_text, INGOT_NUL, &graph));
  check(ingot_compile(context, graph, NULL, &executable));

  static float x[rows * columns], bias[columns], p[rows * columns], best[rows];
  for (int i = 0; i < rows * columns; ++i) x[i] = (float)(i * 7 % 31) / 8 - 1;
  for (int i = 0; i < columns; ++i) bias[i] = (float)(i % 5) / 4;
  int64_t shape[] = {rows, columns}, wide[] = {columns};
  const ingot_tensor ins[] = {tensor(x, 2, shape), tensor(bias, 1, wide)};
  const ingot_tensor outs[] = {tensor(p, 2, shape), tensor(best, 1, shape)};
  const ingot_tensor *in[] = {&ins[0], &ins[1]}, *out[] = {&outs[0], &outs[1]};
  check(ingot_run(executable, in, 2, out, 2, NULL));

  double sum = 0;
  for (int i = 0; i < rows * columns; ++i) sum += (double)p[i] * (i + 1);
  ingot_stats stats = INGOT_STATS_INIT;
  check(ingot_context_stats(context, &stats));
  printf("kernels=%" PRIu64 " compiles=%" PRIu64 " hits=%" PRIu64 " compiler_loaded=%" PRIu64
         " rejected=%lu sum=%a best=%a\n",
         stats.kernels, stats.compiles, stats.disk_hits, stats.compiler_loaded, redis_store_rejected(store), sum,
         (double)best[0]);
  ingot_executable_release(executable);
  ingot_graph_release(graph);
  ingot_context_release(context);
  return 0;
}
