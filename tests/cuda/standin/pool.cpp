// Memory pools: of a device, named by allocations in streams.
#include <cstring>

#include "arena.h"
#include "driver.h"

using standin::driver;

CUresult cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* props) {
  STANDIN_ENTRY(cuMemPoolCreate);
  if (!pool || !props) return CUDA_ERROR_INVALID_VALUE;
  // Pinned allocations on a device, nothing exported, the rest zeros.
  static const unsigned char zeros[sizeof props->reserved] = {};
  if (props->allocation_type != 1 || props->handle_types != 0 || props->location_type != 1 || props->security ||
      std::memcmp(props->reserved, zeros, sizeof zeros) != 0)
    return CUDA_ERROR_INVALID_VALUE;
  if (props->location_id < 0 || props->location_id >= standin::setting("STANDIN_DEVICES", 1))
    return CUDA_ERROR_INVALID_DEVICE;
  if (const CUresult refused = standin::refuse_in_capture()) return refused;
  auto made = std::make_shared<StandinPool>();
  made->device = props->location_id;
  *pool = made.get();
  driver().pools.emplace(made.get(), made);
  return CUDA_SUCCESS;
}

// What was allocated from it stays until it is freed.
CUresult cuMemPoolDestroy(CUmemoryPool pool) {
  STANDIN_ENTRY(cuMemPoolDestroy);
  if (const CUresult refused = standin::refuse_in_capture()) return refused;
  return driver().pools.erase(pool) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, int attribute, void* value) {
  STANDIN_ENTRY(cuMemPoolSetAttribute);
  const auto held = standin::find(driver().pools, pool);
  if (!held || !value || attribute < 1 || attribute > 8) return CUDA_ERROR_INVALID_VALUE;
  if (attribute == 4) std::memcpy(&held->threshold, value, sizeof held->threshold);
  return CUDA_SUCCESS;
}

CUresult cuMemPoolGetAttribute(CUmemoryPool pool, int attribute, void* value) {
  STANDIN_ENTRY(cuMemPoolGetAttribute);
  const auto held = standin::find(driver().pools, pool);
  if (!held || !value) return CUDA_ERROR_INVALID_VALUE;
  if (attribute != 4) return CUDA_ERROR_INVALID_VALUE;
  std::memcpy(value, &held->threshold, sizeof held->threshold);
  return CUDA_SUCCESS;
}

// Freed memory is never kept here.
CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t) {
  STANDIN_ENTRY(cuMemPoolTrimTo);
  if (const CUresult refused = standin::refuse_in_capture()) return refused;
  return standin::find(driver().pools, pool) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr* pointer, size_t bytes, CUmemoryPool pool, CUstream stream) {
  STANDIN_ENTRY(cuMemAllocFromPoolAsync);
  CUresult code = CUDA_SUCCESS;
  const auto s = standin::resolve(stream, code);
  if (!s) return code;
  const auto held = standin::find(driver().pools, pool);
  if (!held) return CUDA_ERROR_INVALID_VALUE;
  return standin::allocate_in(*s, held->device, bytes, pointer);
}
