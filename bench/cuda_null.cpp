// A CUDA driver that does nothing, at once: what a run takes against it is Ingot's own time.
#include <cstddef>

#include "device/driver.h"

namespace {

// Somewhere that is not null, for handles and addresses.
char somewhere[4096];

template <class T>
int give(T* to, T value) {
  *to = value;
  return 0;
}
template <class H>
int give_handle(H* to) {
  *to = reinterpret_cast<H>(somewhere);
  return 0;
}

}  // namespace

#define ENTRY extern "C" __attribute__((visibility("default"))) int
using Handle = void*;
using Address = unsigned long long;

ENTRY cuInit(unsigned) { return 0; }
ENTRY cuDriverGetVersion(int* version) { return give(version, 13000); }
ENTRY cuGetErrorName(int, const char** text) { return give(text, "none"); }
ENTRY cuGetErrorString(int, const char** text) { return give(text, "none"); }
ENTRY cuDeviceGetCount(int* count) { return give(count, 1); }
ENTRY cuDeviceGet(int* device, int) { return give(device, 0); }
ENTRY cuDeviceGetName(char* name, int, int) { return give(name, '\0'); }
ENTRY cuDeviceGetAttribute(int* value, int attribute, int) {
  // Compute capability 9.0, 132 multiprocessors, memory pools.
  return give(value, attribute == 75 ? 9 : attribute == 16 ? 132 : attribute == 115 ? 1 : 0);
}
ENTRY cuDevicePrimaryCtxRetain(Handle* context, int) { return give_handle(context); }
ENTRY cuDevicePrimaryCtxRelease_v2(int) { return 0; }
ENTRY cuCtxGetCurrent(Handle* context) { return give_handle(context); }
ENTRY cuCtxPushCurrent_v2(Handle) { return 0; }
ENTRY cuCtxPopCurrent_v2(Handle* context) { return give_handle(context); }
ENTRY cuCtxGetDevice(int* device) { return give(device, 0); }
ENTRY cuCtxGetId(Handle, unsigned long long* id) { return give(id, 1ull); }
ENTRY cuModuleLoadData(Handle* module, const void*) { return give_handle(module); }
ENTRY cuModuleUnload(Handle) { return 0; }
ENTRY cuModuleGetFunction(Handle* function, Handle, const char*) { return give_handle(function); }
ENTRY cuLaunchKernel(Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Handle, void**,
                     void**) {
  return 0;
}
ENTRY cuMemAlloc_v2(Address* at, size_t) { return give_handle(at); }
ENTRY cuMemFree_v2(Address) { return 0; }
ENTRY cuMemPoolCreate(Handle* pool, const void*) { return give_handle(pool); }
ENTRY cuMemPoolDestroy(Handle) { return 0; }
ENTRY cuMemPoolSetAttribute(Handle, int, void*) { return 0; }
ENTRY cuMemPoolTrimTo(Handle, size_t) { return 0; }
ENTRY cuMemAllocFromPoolAsync(Address* at, size_t, Handle, Handle) { return give_handle(at); }
ENTRY cuMemFreeAsync(Address, Handle) { return 0; }
ENTRY cuMemcpyHtoDAsync_v2(Address, const void*, size_t, Handle) { return 0; }
ENTRY cuMemcpyDtoHAsync_v2(void*, Address, size_t, Handle) { return 0; }
ENTRY cuMemsetD8Async(Address, unsigned char, size_t, Handle) { return 0; }
ENTRY cuPointerGetAttribute(void* value, int attribute, Address) {
  return give(static_cast<int*>(value), attribute == 2 ? 2 : 0);
}
ENTRY cuStreamCreate(Handle* stream, unsigned) { return give_handle(stream); }
ENTRY cuStreamDestroy_v2(Handle) { return 0; }
ENTRY cuStreamSynchronize(Handle) { return 0; }
ENTRY cuStreamGetCtx(Handle, Handle* context) { return give_handle(context); }
ENTRY cuStreamIsCapturing(Handle, int* status) { return give(status, 0); }
ENTRY cuThreadExchangeStreamCaptureMode(int* mode) { return give(mode, 0); }

// Whatever Ingot calls is there: an entry that is not fails the build.
#define HAS(name, parameters) static_assert(&::name != nullptr);
INGOT_CUDA_ENTRIES(HAS, HAS)
