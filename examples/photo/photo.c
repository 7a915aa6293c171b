/* Tone-maps two photographs of different sizes with one compiled graph and shows what fusion and the caches did.
 *
 *   photo OUT_DIR FIRST.ppm SECOND.ppm
 *
 * Writes OUT_DIR/NAME.ppm for each; kernels are cached in OUT_DIR/cache, which is emptied first. */
#define _XOPEN_SOURCE 700

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ppm.h"
#include "tonemap.h"

enum { warm_calls = 21 };

static float exposure = 1.6f, saturation = 1.25f, vignette_strength = 0.55f;

static double milliseconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static ingot_context* context_with_cache(const char* out_dir) {
  /* The library takes no relative directory: its meaning would change with the working directory. */
  char* absolute = realpath(out_dir, NULL);
  if (!absolute) {
    perror(out_dir);
    exit(1);
  }
  char cache[4096];
  snprintf(cache, sizeof cache, "%s/cache", absolute);
  free(absolute);
  ingot_context_options options = INGOT_CONTEXT_OPTIONS_INIT;
  options.cache_dir = cache;
  ingot_context* context;
  check(ingot_context_create(&options, &context));
  return context;
}

static ingot_executable* compiled(ingot_context* context, const ingot_graph* graph, int fuse) {
  ingot_compile_options options = INGOT_COMPILE_OPTIONS_INIT;
  options.no_fusion = !fuse;
  ingot_executable* executable;
  check(ingot_compile(context, graph, &options, &executable));
  return executable;
}

static ingot_tensor tensor(void* data, int32_t ndim, int64_t* shape, uint8_t code, uint8_t bits) {
  ingot_tensor t = {0};
  t.data = data;
  t.device.type = 1;
  t.ndim = ndim;
  t.dtype.code = code;
  t.dtype.bits = bits;
  t.dtype.lanes = 1;
  t.shape = shape;
  return t;
}

/* One run: `out` has the size of `in`. */
static void map(ingot_executable* executable, const ppm* in, ppm* out) {
  int64_t shape[] = {in->height, in->width, 3};
  const ingot_tensor tensors[] = {tensor(in->rgb, 3, shape, 1, 8), tensor(&exposure, 0, NULL, 2, 32),
                                  tensor(&saturation, 0, NULL, 2, 32), tensor(&vignette_strength, 0, NULL, 2, 32)};
  const ingot_tensor* inputs[tonemap_inputs];
  for (int i = 0; i < tonemap_inputs; ++i) inputs[i] = &tensors[i];
  const ingot_tensor result = tensor(out->rgb, 3, shape, 1, 8);
  const ingot_tensor* outputs[] = {&result};
  check(ingot_run(executable, inputs, tonemap_inputs, outputs, 1, NULL));
}

static ingot_stats stats_of(const ingot_context* context) {
  ingot_stats stats = INGOT_STATS_INIT;
  check(ingot_context_stats(context, &stats));
  return stats;
}

static int by_value(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

/* The median time of a call whose code is there. */
static double warm_call(ingot_executable* executable, const ppm* in, ppm* out) {
  double times[warm_calls];
  for (int i = 0; i < warm_calls; ++i) {
    const double start = milliseconds();
    map(executable, in, out);
    times[i] = milliseconds() - start;
  }
  qsort(times, warm_calls, sizeof times[0], by_value);
  return times[warm_calls / 2];
}

/* What the child does: everything from nothing to the first picture, its kernels being on disk. */
static int fresh(const char* out_dir, const char* path) {
  ppm in, out;
  if (ppm_read(path, &in) != 0 || ppm_make(in.width, in.height, &out) != 0) return 1;
  const double start = milliseconds();
  ingot_context* context = context_with_cache(out_dir);
  ingot_graph* graph = tonemap_build(context);
  ingot_executable* executable = compiled(context, graph, 1);
  map(executable, &in, &out);
  const double time = milliseconds() - start;
  const ingot_stats stats = stats_of(context);
  printf("%f %" PRIu64 " %" PRIu64 "\n", time, stats.compiles, stats.compiler_loaded);
  ingot_executable_release(executable);
  ingot_graph_release(graph);
  ingot_context_release(context);
  ppm_free(&in);
  ppm_free(&out);
  return 0;
}

typedef struct fresh_result {
  double time;
  uint64_t compiles, compiler_loaded;
} fresh_result;

/* This program again, with --fresh; -1 if that fails. */
static int run_fresh(const char* out_dir, const char* path, fresh_result* result) {
  int ends[2];
  if (pipe(ends) != 0) return -1;
  fflush(NULL);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    close(ends[0]);
    close(ends[1]);
    execl("/proc/self/exe", "photo", "--fresh", out_dir, path, (char*)NULL);
    _exit(127);
  }
  close(ends[1]);
  FILE* from = child > 0 ? fdopen(ends[0], "r") : NULL;
  const int read = from ? fscanf(from, "%lf %" SCNu64 " %" SCNu64, &result->time, &result->compiles, &result->compiler_loaded) : 0;
  if (from) fclose(from);
  else close(ends[0]);
  int status = 1;
  if (child > 0) waitpid(child, &status, 0);
  return read == 3 && WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -1;
}

static int write_result(const char* out_dir, const char* path, const ppm* picture) {
  const char* slash = strrchr(path, '/');
  char out[4096];
  snprintf(out, sizeof out, "%s/%s", out_dir, slash ? slash + 1 : path);
  return ppm_write(out, picture);
}

static int fail(const char* what) {
  fprintf(stderr, "photo: %s\n", what);
  return 1;
}

static double megabytes(uint64_t bytes) { return (double)bytes / 1e6; }

static int demo(const char* out_dir, const char* first_path, const char* second_path) {
  ppm first, second, out1, out2, plain;
  if (ppm_read(first_path, &first) != 0 || ppm_read(second_path, &second) != 0) return 1;
  if (ppm_make(first.width, first.height, &out1) != 0 || ppm_make(second.width, second.height, &out2) != 0 ||
      ppm_make(first.width, first.height, &plain) != 0)
    return fail("out of memory");
  ingot_context* context = context_with_cache(out_dir);
  ingot_buffer* cleared;
  check(ingot_context_cache(context, "clear", INGOT_NUL, &cleared));
  ingot_buffer_release(cleared);

  const double start = milliseconds();
  ingot_graph* graph = tonemap_build(context);
  ingot_executable* fused = compiled(context, graph, 1);
  map(fused, &first, &out1);
  const double first_call = milliseconds() - start;
  const ingot_stats after_first = stats_of(context);

  map(fused, &second, &out2);
  const ingot_stats after_second = stats_of(context);
  if (after_second.compiles != after_first.compiles) return fail("the second photograph's size caused a compile");

  ingot_executable* unfused = compiled(context, graph, 0);
  const ingot_stats before_plain = stats_of(context);
  map(unfused, &first, &plain);
  const ingot_stats after_plain = stats_of(context);
  if (memcmp(out1.rgb, plain.rgb, ppm_size(&plain)) != 0) return fail("the fused and the unfused picture differ");
  if (write_result(out_dir, first_path, &out1) != 0 || write_result(out_dir, second_path, &out2) != 0) return 1;

  const double fused_call = warm_call(fused, &first, &out1), second_call = warm_call(fused, &second, &out2);
  const double unfused_call = warm_call(unfused, &first, &plain), unfused_second_call = warm_call(unfused, &second, &out2);
  fresh_result later;
  if (run_fresh(out_dir, first_path, &later) != 0) return fail("the fresh process failed");
  if (later.compiles != 0 || later.compiler_loaded != 0) return fail("the fresh process did not find its kernels on disk");

  printf("Tone mapping, H x W x 3 bytes in and out, one graph for every size\n\n");
  printf("  %-42s %10s %10s\n", "", "fused", "unfused");
  printf("  %-42s %10" PRIu64 " %10" PRIu64 "\n", "kernels", after_first.kernels, after_plain.kernels - after_second.kernels);
  printf("  %-42s %10" PRIu64 " %10" PRIu64 "\n", "launches a picture", after_first.launches, after_plain.launches - before_plain.launches);
  const uint64_t moved = after_first.bytes_read + after_first.bytes_written;
  const uint64_t moved_plain =
      after_plain.bytes_read + after_plain.bytes_written - before_plain.bytes_read - before_plain.bytes_written;
  char label[64];
  snprintf(label, sizeof label, "bytes moved, %d x %d", first.width, first.height);
  printf("  %-42s %7.1f MB %7.1f MB\n", label, megabytes(moved), megabytes(moved_plain));
  snprintf(label, sizeof label, "warm call, %d x %d", first.width, first.height);
  printf("  %-42s %7.2f ms %7.2f ms\n", label, fused_call, unfused_call);
  snprintf(label, sizeof label, "warm call, %d x %d", second.width, second.height);
  printf("  %-42s %7.2f ms %7.2f ms\n", label, second_call, unfused_second_call);
  printf("  %-42s %7.2f ms\n", "first call: build, plan, compile, run", first_call);
  printf("  %-42s %7.2f ms\n", "first call, fresh process, warm disk cache", later.time);
  printf("\n  The second size compiled nothing; the fresh process never loaded the compiler;\n"
         "  fused and unfused pictures are equal bit for bit.\n");

  ingot_executable_release(fused);
  ingot_executable_release(unfused);
  ingot_graph_release(graph);
  ingot_context_release(context);
  ppm_free(&first);
  ppm_free(&second);
  ppm_free(&out1);
  ppm_free(&out2);
  ppm_free(&plain);
  return 0;
}

int main(int argc, char** argv) {
  if (argc == 4 && strcmp(argv[1], "--fresh") == 0) return fresh(argv[2], argv[3]);
  if (argc == 4) return demo(argv[1], argv[2], argv[3]);
  fprintf(stderr, "usage: photo OUT_DIR FIRST.ppm SECOND.ppm\n");
  return 2;
}
