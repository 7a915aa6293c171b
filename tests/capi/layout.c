/* The layout of every public struct, as numbers: what a client compiled today will rely on. Numbers here are changed by
 * adding to the end, never otherwise. */
#include "check.h"

static void structs_keep_their_offsets(void) {
#define AT(type, member, offset) CHECK(offsetof(type, member) == (offset))
  CHECK(sizeof(ingot_tensor) == 48);
  AT(ingot_tensor, data, 0);
  AT(ingot_tensor, device, 8);
  AT(ingot_tensor, ndim, 16);
  AT(ingot_tensor, dtype, 20);
  AT(ingot_tensor, shape, 24);
  AT(ingot_tensor, strides, 32);
  AT(ingot_tensor, byte_offset, 40);
  CHECK(sizeof(ingot_attr) == 48);
  AT(ingot_attr, name, 0);
  AT(ingot_attr, name_length, 8);
  AT(ingot_attr, kind, 16);
  AT(ingot_attr, zero, 20);
  AT(ingot_attr, value, 24);
  AT(ingot_attr, count, 32);
  AT(ingot_attr, reserved, 40);
  CHECK(sizeof(ingot_ext) == 24);
  AT(ingot_ext, next, 8);
  AT(ingot_ext, kind, 16);
  CHECK(sizeof(ingot_context_options) == 248);
  AT(ingot_context_options, next, 8);
  AT(ingot_context_options, cache_dir, 16);
  AT(ingot_context_options, no_disk_cache, 24);
  AT(ingot_context_options, no_threads, 28);
  AT(ingot_context_options, memory_cache_bytes, 32);
  AT(ingot_context_options, memory_cache_entries, 40);
  AT(ingot_context_options, disk_cache_bytes, 48);
  AT(ingot_context_options, module_dir, 56);
  AT(ingot_context_options, num_threads, 64);
  AT(ingot_context_options, ignore_environment, 68);
  AT(ingot_context_options, log, 72);
  AT(ingot_context_options, log_user, 80);
  AT(ingot_context_options, log_destroy, 88);
  AT(ingot_context_options, log_level, 96);
  AT(ingot_context_options, trust_host_cache, 100);
  AT(ingot_context_options, cache_get, 104);
  AT(ingot_context_options, cache_put, 112);
  AT(ingot_context_options, cache_user, 120);
  AT(ingot_context_options, cache_destroy, 128);
  AT(ingot_context_options, parallel_for, 136);
  AT(ingot_context_options, parallel_user, 144);
  AT(ingot_context_options, parallel_destroy, 152);
  AT(ingot_context_options, parallel_width, 160);
  AT(ingot_context_options, allocate, 168);
  AT(ingot_context_options, deallocate, 176);
  AT(ingot_context_options, allocator_user, 184);
  AT(ingot_context_options, allocator_destroy, 192);
  AT(ingot_context_options, packs, 200);
  AT(ingot_context_options, n_packs, 208);
  AT(ingot_context_options, alarm, 216);
  AT(ingot_context_options, alarm_user, 224);
  AT(ingot_context_options, alarm_destroy, 232);
  AT(ingot_context_options, alarm_cache_percent, 240);
  AT(ingot_context_options, alarm_queue, 244);
  CHECK(sizeof(ingot_prepare_options) == 16);
  CHECK(sizeof(ingot_compile_options) == 32);
  AT(ingot_compile_options, backend, 16);
  AT(ingot_compile_options, no_fusion, 20);
  AT(ingot_compile_options, target, 24);
  CHECK(sizeof(ingot_run_options) == 80);
  AT(ingot_run_options, cancel, 16);
  AT(ingot_run_options, scratch, 24);
  AT(ingot_run_options, scratch_bytes, 32);
  AT(ingot_run_options, serial, 40);
  AT(ingot_run_options, never_stall, 44);
  AT(ingot_run_options, allocate, 48);
  AT(ingot_run_options, deallocate, 56);
  AT(ingot_run_options, allocator_user, 64);
  AT(ingot_run_options, stream, 72);
  CHECK(sizeof(ingot_stats) == 27 * 8);
  AT(ingot_stats, graphs, 8);
  AT(ingot_stats, compiles, 24);
  AT(ingot_stats, runs, 72);
  AT(ingot_stats, compiler_loaded, 128);
  AT(ingot_stats, pack_hits, 136);
  AT(ingot_stats, missed_absent, 144);
  AT(ingot_stats, missed_disabled, 176);
  AT(ingot_stats, code_resident, 184);
  AT(ingot_stats, scratch_kept, 200);
  AT(ingot_stats, forks, 208);
  CHECK(sizeof(ingot_io_info) == 40);
  AT(ingot_io_info, name, 8);
  AT(ingot_io_info, dtype, 16);
  AT(ingot_io_info, rank, 20);
  AT(ingot_io_info, extents, 24);
  AT(ingot_io_info, shape_text, 32);
}

static void numbers_keep_their_values(void) {
  CHECK(INGOT_BOOL == 1 && INGOT_I64 == 5 && INGOT_U64 == 9 && INGOT_F16 == 10 && INGOT_F32 == 12 && INGOT_F64 == 13);
  CHECK(INGOT_OP_ADD == 1 && INGOT_OP_FMA == 13 && INGOT_OP_RELU == 29 && INGOT_OP_CAST == 52 &&
        INGOT_OP_REVERSE == 67);
  CHECK(INGOT_OP_REDUCE_ALL == 86 && INGOT_OP_MATMUL == 100 && INGOT_OP_RMS_NORM == 112);
  CHECK(INGOT_INVALID_ARGUMENT == 1 && INGOT_INTERNAL == 11 && INGOT_ATTR_DIMS == 12 && INGOT_DIM_BCAST == 11);
}

int main(void) {
  CASE(structs_keep_their_offsets);
  CASE(numbers_keep_their_values);
  return summary();
}
