// Copies and fills, at once or in a stream.
#include <cstring>

#include "arena.h"
#include "driver.h"

using standin::arena;
using standin::driver;
using standin::Work;

namespace {

// Where the host finds [p, p + bytes); null for device memory that is not one live allocation there.
char* place(CUdeviceptr p, size_t bytes) {
  if (!arena().has(p)) return reinterpret_cast<char*>(p);
  return arena().range(p, bytes) ? arena().host(p) : nullptr;
}

bool on_device(CUdeviceptr p) { return arena().has(p); }

bool pinned(CUdeviceptr p) {
  for (const auto& [start, bytes] : arena().pinned)
    if (p >= reinterpret_cast<uint64_t>(start) && p < reinterpret_cast<uint64_t>(start) + bytes) return true;
  return false;
}

// A range of device memory that no allocation of any time holds whole. What is freed or not there yet is found when
// the work's turn comes.
bool never(CUdeviceptr p, size_t bytes) {
  if (!on_device(p)) return p < 65536;
  const standin::Allocation* const a = arena().find(p);
  return !a || !a->reserved || p < a->base || bytes > a->bytes || p - a->base > a->bytes - bytes;
}

CUresult lost(const char* what) {
  standin::report(std::string(what) + ": device memory that is freed or not allocated when the stream comes to it");
  return CUDA_ERROR_ILLEGAL_ADDRESS;
}

Work copy_work(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return [=] {
    char* const target = place(to, bytes);
    const char* const source = place(from, bytes);
    if (!target || !source) return lost("copy");
    std::memmove(target, source, bytes);
    return static_cast<CUresult>(CUDA_SUCCESS);
  };
}

// From memory that the driver does not know, the bytes are taken before the call returns; to such memory, they are
// there when it returns. So does the real driver.
CUresult copy_in(const std::shared_ptr<StandinStream>& s, CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  if (bytes == 0) return CUDA_SUCCESS;
  if (never(to, bytes) || never(from, bytes)) return CUDA_ERROR_INVALID_VALUE;
  if (!s->capture && !on_device(from) && !pinned(from)) {
    const char* const first = reinterpret_cast<const char*>(from);
    return standin::enqueue(*s, [to, staged = std::make_shared<std::vector<char>>(first, first + bytes)] {
      return copy_work(to, reinterpret_cast<CUdeviceptr>(staged->data()), staged->size())();
    });
  }
  if (const CUresult refused = standin::enqueue(*s, copy_work(to, from, bytes))) return refused;
  if (s->capture || on_device(to) || pinned(to)) return CUDA_SUCCESS;
  standin::run_until(*s, s->last);
  return s->context->sticky;
}

CUresult fill_in(StandinStream& s, CUdeviceptr to, uint32_t value, size_t width, size_t count) {
  if (count == 0) return CUDA_SUCCESS;
  if (never(to, width * count) || !on_device(to) || to % width) return CUDA_ERROR_INVALID_VALUE;
  return standin::enqueue(s, [=] {
    char* const target = place(to, width * count);
    if (!target) return lost("fill");
    for (size_t i = 0; i < count; ++i) std::memcpy(target + i * width, &value, width);
    return static_cast<CUresult>(CUDA_SUCCESS);
  });
}

enum class Side { host, device, any };

bool fits(CUdeviceptr p, Side side) { return side == Side::any || on_device(p) == (side == Side::device); }

CUresult copy_async(CUdeviceptr to, Side to_side, CUdeviceptr from, Side from_side, size_t bytes, CUstream stream) {
  CUresult code = CUDA_SUCCESS;
  const auto s = standin::resolve(stream, code);
  if (!s) return code;
  if (!fits(to, to_side) || !fits(from, from_side)) return CUDA_ERROR_INVALID_VALUE;
  return copy_in(s, to, from, bytes);
}

CUresult copy_now(CUdeviceptr to, Side to_side, CUdeviceptr from, Side from_side, size_t bytes) {
  STANDIN_CONTEXT(context);
  if (const CUresult refused = standin::refuse_in_capture()) return refused;
  if (!fits(to, to_side) || !fits(from, from_side)) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult refused = copy_in(context->legacy, to, from, bytes)) return refused;
  standin::run_until(*context->legacy, context->legacy->last);
  return context->sticky;
}

CUdeviceptr address(const void* p) { return reinterpret_cast<CUdeviceptr>(p); }

}  // namespace

CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, size_t bytes) {
  STANDIN_ENTRY(cuMemcpyHtoD_v2);
  return copy_now(to, Side::device, address(from), Side::host, bytes);
}

CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, size_t bytes) {
  STANDIN_ENTRY(cuMemcpyDtoH_v2);
  return copy_now(address(to), Side::host, from, Side::device, bytes);
}

CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  STANDIN_ENTRY(cuMemcpyDtoD_v2);
  return copy_now(to, Side::device, from, Side::device, bytes);
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, size_t bytes, CUstream stream) {
  STANDIN_ENTRY(cuMemcpyHtoDAsync_v2);
  return copy_async(to, Side::device, address(from), Side::host, bytes, stream);
}

CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, size_t bytes, CUstream stream) {
  STANDIN_ENTRY(cuMemcpyDtoHAsync_v2);
  return copy_async(address(to), Side::host, from, Side::device, bytes, stream);
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  STANDIN_ENTRY(cuMemcpyDtoDAsync_v2);
  return copy_async(to, Side::device, from, Side::device, bytes, stream);
}

CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  STANDIN_ENTRY(cuMemcpyAsync);
  return copy_async(to, Side::any, from, Side::any, bytes, stream);
}

CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t count) {
  STANDIN_ENTRY(cuMemsetD8_v2);
  STANDIN_CONTEXT(context);
  if (const CUresult refused = standin::refuse_in_capture()) return refused;
  if (const CUresult refused = fill_in(*context->legacy, to, value, 1, count)) return refused;
  standin::run_until(*context->legacy, context->legacy->last);
  return context->sticky;
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream) {
  STANDIN_ENTRY(cuMemsetD8Async);
  CUresult code = CUDA_SUCCESS;
  const auto s = standin::resolve(stream, code);
  return s ? fill_in(*s, to, value, 1, count) : code;
}

CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, CUstream stream) {
  STANDIN_ENTRY(cuMemsetD32Async);
  CUresult code = CUDA_SUCCESS;
  const auto s = standin::resolve(stream, code);
  return s ? fill_in(*s, to, value, 4, count) : code;
}
