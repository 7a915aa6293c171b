#include <algorithm>
#include <cstring>

#include "driver.h"
#include "exec.h"

using standin::Dim;
using standin::driver;
using standin::KernelInfo;
using standin::Launch;
using standin::setting;

namespace {

constexpr unsigned registers = standin::made_up_registers;

unsigned most_threads(const StandinFunction& f) { return f.info->bounds ? std::min(f.info->bounds, 1024u) : 1024u; }

unsigned most_parameters() { return setting("STANDIN_DRIVER_VERSION", 13000) < 12010 ? 4096 : 32764; }

CUresult refuse_shape(const StandinFunction& f, const Dim& grid, const Dim& block, uint64_t dynamic_shared) {
  if (grid.count() == 0 || block.count() == 0) return CUDA_ERROR_INVALID_VALUE;
  if (grid.x > 2147483647u || grid.y > 65535 || grid.z > 65535) return CUDA_ERROR_INVALID_VALUE;
  if (block.x > 1024 || block.y > 1024 || block.z > 64 || block.count() > 1024) return CUDA_ERROR_INVALID_VALUE;
  if (block.count() > most_threads(f)) return CUDA_ERROR_INVALID_VALUE;
  if (f.static_shared > 48 * 1024 || dynamic_shared > f.most_dynamic) return CUDA_ERROR_INVALID_VALUE;
  if (f.parameter_bytes > most_parameters()) return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}

// Null, one pointer for each, or one buffer with all.
CUresult take_parameters(Launch& launch, void** each, void** extra) {
  const KernelInfo& info = *launch.function->info;
  launch.parameters.resize(launch.function->parameter_bytes);
  if (each && extra) return CUDA_ERROR_INVALID_VALUE;
  if (extra) {
    const void* buffer = nullptr;
    size_t bytes = 0;
    for (; *extra; extra += 2) {
      if (*extra == reinterpret_cast<void*>(1)) buffer = extra[1];
      else if (*extra == reinterpret_cast<void*>(2)) bytes = *static_cast<size_t*>(extra[1]);
      else return CUDA_ERROR_INVALID_VALUE;
    }
    if (!buffer || bytes < launch.parameters.size()) return CUDA_ERROR_INVALID_VALUE;
    std::memcpy(launch.parameters.data(), buffer, launch.parameters.size());
    return CUDA_SUCCESS;
  }
  if (info.parameters > 0 && !each) return CUDA_ERROR_INVALID_VALUE;
  size_t at = 0;
  for (unsigned i = 0; i < info.parameters; ++i) {
    at = (at + info.align[i] - 1) / info.align[i] * info.align[i];
    if (!each[i]) return CUDA_ERROR_INVALID_VALUE;
    std::memcpy(launch.parameters.data() + at, each[i], info.size[i]);
    at += info.size[i];
  }
  return CUDA_SUCCESS;
}

}  // namespace

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                        unsigned block_y, unsigned block_z, unsigned dynamic_shared, CUstream stream, void** parameters,
                        void** extra) {
  STANDIN_ENTRY(cuLaunchKernel);
  CUresult code = CUDA_SUCCESS;
  const auto s = standin::resolve(stream, code);
  if (!s) return code;
  const auto f = standin::find(driver().functions, function);
  if (!f) return CUDA_ERROR_INVALID_HANDLE;
  if (f->module->context != s->context) return CUDA_ERROR_INVALID_HANDLE;
  auto launch = std::make_shared<Launch>();
  launch->function = f.get();
  launch->grid = {grid_x, grid_y, grid_z};
  launch->block = {block_x, block_y, block_z};
  launch->dynamic_shared = dynamic_shared;
  if (const CUresult refused = refuse_shape(*f, launch->grid, launch->block, dynamic_shared)) return refused;
  if (const CUresult refused = take_parameters(*launch, parameters, extra)) return refused;
  return standin::enqueue(*s, [launch, f, context = s->context] {
    if (!standin::find(driver().functions, f.get())) {
      standin::report("kernel " + f->name + ": its module was unloaded before its turn in the stream came");
      return static_cast<CUresult>(CUDA_ERROR_ILLEGAL_ADDRESS);
    }
    return standin::execute(*launch, *context);
  });
}

CUresult cuFuncGetAttribute(int* value, int attribute, CUfunction function) {
  STANDIN_ENTRY(cuFuncGetAttribute);
  const auto f = standin::find(driver().functions, function);
  if (!value) return CUDA_ERROR_INVALID_VALUE;
  if (!f) return CUDA_ERROR_INVALID_HANDLE;
  switch (attribute) {
    case 0: *value = static_cast<int>(most_threads(*f)); return CUDA_SUCCESS;
    case 1: *value = static_cast<int>(f->static_shared); return CUDA_SUCCESS;
    case 2:
    case 3:
    case 7: *value = 0; return CUDA_SUCCESS;
    case 4: *value = static_cast<int>(registers); return CUDA_SUCCESS;
    case 5:
    case 6: *value = static_cast<int>(f->module->cubin.target); return CUDA_SUCCESS;
    case 8: *value = static_cast<int>(f->most_dynamic); return CUDA_SUCCESS;
    case 9: *value = -1; return CUDA_SUCCESS;
    default: return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult cuFuncSetAttribute(CUfunction function, int attribute, int value) {
  STANDIN_ENTRY(cuFuncSetAttribute);
  const auto f = standin::find(driver().functions, function);
  if (!f) return CUDA_ERROR_INVALID_HANDLE;
  if (attribute == 9) return CUDA_SUCCESS;
  const unsigned most = setting("STANDIN_SM", 90) >= 90 ? 227 * 1024 : 99 * 1024;
  if (attribute != 8 || value < 0 || static_cast<unsigned>(value) + f->static_shared > most)
    return CUDA_ERROR_INVALID_VALUE;
  f->most_dynamic = static_cast<uint64_t>(value);
  return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function, int threads,
                                                     size_t dynamic_shared) {
  STANDIN_ENTRY(cuOccupancyMaxActiveBlocksPerMultiprocessor);
  const auto f = standin::find(driver().functions, function);
  if (!blocks || threads <= 0) return CUDA_ERROR_INVALID_VALUE;
  if (!f) return CUDA_ERROR_INVALID_HANDLE;
  const auto rounded = (static_cast<unsigned>(threads) + 31) / 32 * 32;
  const uint64_t shared = f->static_shared + dynamic_shared + 1024;
  const uint64_t by_shared = 228 * 1024 / shared, by_registers = 65536 / (rounded * registers);
  *blocks = rounded > most_threads(*f)
                ? 0
                : static_cast<int>(std::min({uint64_t{32}, uint64_t{2048 / rounded}, by_shared, by_registers}));
  return CUDA_SUCCESS;
}
