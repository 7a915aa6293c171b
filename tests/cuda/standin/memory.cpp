// Allocations and what is known of a pointer.
#include <sys/mman.h>

#include "arena.h"
#include "driver.h"

using standin::Allocation;
using standin::arena;
using standin::driver;

CUresult cuMemAlloc_v2(CUdeviceptr* pointer, size_t bytes) {
  STANDIN_ENTRY(cuMemAlloc_v2);
  STANDIN_CONTEXT(context);
  if (!pointer || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult refused = standin::refuse_in_capture()) return refused;
  const uint64_t at = arena().allocate(bytes, context->device, context, true, false);
  if (!at) return CUDA_ERROR_OUT_OF_MEMORY;
  *pointer = at;
  return CUDA_SUCCESS;
}

// Waits for all work of the context, as the driver does.
CUresult cuMemFree_v2(CUdeviceptr pointer) {
  STANDIN_ENTRY(cuMemFree_v2);
  STANDIN_CONTEXT(context);
  if (pointer == 0) return CUDA_SUCCESS;
  if (const CUresult refused = standin::refuse_in_capture()) return refused;
  Allocation* const a = arena().find(pointer);
  if (!a || !a->reserved || a->base != pointer) return CUDA_ERROR_INVALID_VALUE;
  standin::run_all(*a->context);
  arena().release(*a);
  return context->sticky;
}

// The address at once; what it names is there when the stream has come to it.
CUresult standin::allocate_in(StandinStream& stream, CUdevice device, size_t bytes, CUdeviceptr* pointer) {
  if (!pointer || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  if (stream.capture && stream.capture->invalid) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  const uint64_t at = arena().allocate(bytes, device, stream.context, false, true);
  if (!at) return CUDA_ERROR_OUT_OF_MEMORY;
  const CUresult code = enqueue(stream, [at] {
    arena().find(at)->live = true;
    return CUDA_SUCCESS;
  });
  if (code) arena().release(*arena().find(at));
  else *pointer = at;
  return code;
}

CUresult cuMemAllocAsync(CUdeviceptr* pointer, size_t bytes, CUstream stream) {
  STANDIN_ENTRY(cuMemAllocAsync);
  CUresult code = CUDA_SUCCESS;
  const auto s = standin::resolve(stream, code);
  return s ? standin::allocate_in(*s, s->context->device, bytes, pointer) : code;
}

CUresult cuMemFreeAsync(CUdeviceptr pointer, CUstream stream) {
  STANDIN_ENTRY(cuMemFreeAsync);
  CUresult code = CUDA_SUCCESS;
  const auto s = standin::resolve(stream, code);
  if (!s) return code;
  const Allocation* const a = arena().find(pointer);
  if (!a || !a->reserved || a->base != pointer) return CUDA_ERROR_INVALID_VALUE;
  const bool kept = s->capture != nullptr;  // a graph's own memory has its address for as long as the graph
  return standin::enqueue(*s, [pointer, kept] {
    Allocation* const gone = arena().find(pointer);
    if (!gone->live) {
      standin::report("memory freed twice in a stream");
      return CUDA_ERROR_ILLEGAL_ADDRESS;
    }
    if (kept) gone->live = false;
    else arena().release(*gone);
    return CUDA_SUCCESS;
  });
}

CUresult cuMemAllocHost_v2(void** pointer, size_t bytes) {
  STANDIN_ENTRY(cuMemAllocHost_v2);
  STANDIN_CONTEXT(context);
  if (!pointer || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult refused = standin::refuse_in_capture()) return refused;
  void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
  arena().pinned[p] = bytes;
  *pointer = p;
  return CUDA_SUCCESS;
}

CUresult cuMemFreeHost(void* pointer) {
  STANDIN_ENTRY(cuMemFreeHost);
  STANDIN_CONTEXT(context);
  if (const CUresult refused = standin::refuse_in_capture()) return refused;
  const auto at = arena().pinned.find(pointer);
  if (at == arena().pinned.end()) return CUDA_ERROR_INVALID_VALUE;
  standin::run_all(*context);
  munmap(pointer, at->second);
  arena().pinned.erase(at);
  return context->sticky;
}

CUresult cuMemGetInfo_v2(size_t* free, size_t* total) {
  STANDIN_ENTRY(cuMemGetInfo_v2);
  STANDIN_CONTEXT(context);
  if (!free || !total) return CUDA_ERROR_INVALID_VALUE;
  *total = static_cast<size_t>(standin::setting("STANDIN_MEMORY", int64_t{8} << 30));
  *free = *total - arena().in_use(context->device);
  return CUDA_SUCCESS;
}

namespace {

struct Known {
  uint64_t start = 0;
  size_t bytes = 0;
  bool device = false;
  int ordinal = -2;  // CU_DEVICE_INVALID
  StandinContext* context = nullptr;
};

bool know(CUdeviceptr pointer, Known& out) {
  const Allocation* const a = arena().find(pointer);
  if (a && a->reserved && pointer >= a->base && pointer < a->base + a->bytes) {
    out = {a->base, a->bytes, true, a->device, a->context};
    return true;
  }
  for (const auto& [start, bytes] : arena().pinned) {
    const auto first = reinterpret_cast<uint64_t>(start);
    if (pointer < first || pointer >= first + bytes) continue;
    out = {first, bytes, false, 0, standin::current_context()};
    return true;
  }
  return false;
}

template <class T>
CUresult give(void* value, T what) {
  *static_cast<T*>(value) = what;
  return CUDA_SUCCESS;
}

CUresult answer(void* value, int attribute, CUdeviceptr pointer, const Known& k, bool known) {
  switch (attribute) {
    case 1: return give(value, static_cast<CUcontext>(k.context));
    case 2: return give(value, !known ? 0u : k.device ? 2u : 1u);
    case 3: return give(value, known ? pointer : CUdeviceptr{0});
    case 4: return give(value, known && !k.device ? reinterpret_cast<void*>(pointer) : nullptr);
    case 8: return give(value, 0u);
    case 9: return give(value, k.ordinal);
    case 11: return give(value, static_cast<CUdeviceptr>(k.start));
    case 12: return give(value, k.bytes);
    case 13: return give(value, known ? 1u : 0u);
    default: return CUDA_ERROR_INVALID_VALUE;
  }
}

}  // namespace

CUresult cuPointerGetAttribute(void* value, int attribute, CUdeviceptr pointer) {
  STANDIN_ENTRY(cuPointerGetAttribute);
  Known k;
  if (!value || !know(pointer, k)) return CUDA_ERROR_INVALID_VALUE;
  if (attribute == 4 && k.device) return CUDA_ERROR_INVALID_VALUE;
  return answer(value, attribute, pointer, k, true);
}

// Unlike the one above, it answers for memory nobody knows, too: with zeros.
CUresult cuPointerGetAttributes(unsigned count, int* attributes, void** values, CUdeviceptr pointer) {
  STANDIN_ENTRY(cuPointerGetAttributes);
  if (!attributes || !values) return CUDA_ERROR_INVALID_VALUE;
  Known k;
  const bool known = know(pointer, k);
  for (unsigned i = 0; i < count; ++i)
    if (const CUresult refused = answer(values[i], attributes[i], pointer, k, known)) return refused;
  return CUDA_SUCCESS;
}
