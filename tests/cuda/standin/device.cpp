#include <algorithm>
#include <cstring>

#include "driver.h"

using standin::setting;

namespace {

struct Name {
  CUresult code;
  const char *name, *text;
};

const Name names[] = {
    {0, "CUDA_SUCCESS", "no error"},
    {1, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {3, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {4, "CUDA_ERROR_DEINITIALIZED", "driver shutting down"},
    {34, "CUDA_ERROR_STUB_LIBRARY", "CUDA driver is a stub library"},
    {46, "CUDA_ERROR_DEVICE_UNAVAILABLE", "CUDA-capable device(s) is/are busy or unavailable"},
    {100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {101, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {200, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {201, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {209, "CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image is available for execution on the device"},
    {214, "CUDA_ERROR_ECC_UNCORRECTABLE", "uncorrectable ECC error encountered"},
    {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION", "the provided PTX was compiled with an unsupported toolchain."},
    {304, "CUDA_ERROR_OPERATING_SYSTEM", "OS call failed or operation not supported on this OS"},
    {400, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {401, "CUDA_ERROR_ILLEGAL_STATE", "the operation cannot be performed in the present state"},
    {500, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {600, "CUDA_ERROR_NOT_READY", "device not ready"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch"},
    {702, "CUDA_ERROR_LAUNCH_TIMEOUT", "the launch timed out and was terminated"},
    {709, "CUDA_ERROR_CONTEXT_IS_DESTROYED", "context is destroyed"},
    {710, "CUDA_ERROR_ASSERT", "device-side assert triggered"},
    {716, "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"},
    {719, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {800, "CUDA_ERROR_NOT_PERMITTED", "operation not permitted"},
    {801, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    {802, "CUDA_ERROR_SYSTEM_NOT_READY", "system not yet initialized"},
    {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "system has unsupported display driver / cuda driver combination"},
    {900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "operation not permitted when stream is capturing"},
    {901, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", "operation failed due to a previous error during capture"},
    {902, "CUDA_ERROR_STREAM_CAPTURE_MERGE", "operation would result in a merge of separate capture sequences"},
    {903, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED", "capture was not ended in the same stream as it began"},
    {904, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED", "capturing stream has unjoined work"},
    {905, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION", "dependency created on uncaptured work in another stream"},
    {906, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT",
     "operation would make the legacy stream depend on a capturing blocking stream"},
    {907, "CUDA_ERROR_CAPTURED_EVENT", "operation not permitted on an event last recorded in a capturing stream"},
    {908, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD",
     "attempt to terminate a thread-local capture sequence from another thread"},
    {999, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

CUresult lookup(CUresult code, const char** out, const char* Name::* member) {
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  for (const Name& n : names)
    if (n.code == code) {
      *out = n.*member;
      return CUDA_SUCCESS;
    }
  *out = nullptr;
  return CUDA_ERROR_INVALID_VALUE;
}

int devices() { return static_cast<int>(setting("STANDIN_DEVICES", 1)); }
bool is_device(CUdevice d) { return d >= 0 && d < devices(); }

int attribute_value(int attribute) {
  const int sm = static_cast<int>(setting("STANDIN_SM", 90));
  switch (attribute) {
    case 1:
    case 2:
    case 3: return 1024;        // threads of a block, along x, along y
    case 4: return 64;          // along z
    case 5: return 2147483647;  // blocks along x
    case 6:
    case 7: return 65535;                                         // along y, z
    case 8: return 48 * 1024;                                     // shared memory of a block
    case 9: return 64 * 1024;                                     // constant memory
    case 10: return 32;                                           // lanes of a warp
    case 12: return 65536;                                        // registers of a block
    case 13: return 1500000;                                      // kHz
    case 16: return static_cast<int>(setting("STANDIN_SMS", 4));  // multiprocessors
    case 19:
    case 31:
    case 41:
    case 78:
    case 79:
    case 80:
    case 89:
    case 95: return 1;
    case 115: return static_cast<int>(standin::setting("STANDIN_POOLS", 1));            // memory pools
    case 87: return 2;                                                                  // f32 against f64
    case 36: return 2500000;                                                            // memory, kHz
    case 37: return 5120;                                                               // bits of its bus
    case 38: return 50 << 20;                                                           // L2
    case 39: return sm == 75 ? 1024 : sm == 86 || sm == 89 || sm >= 120 ? 1536 : 2048;  // threads of a multiprocessor
    case 40: return 2;                                                                  // copy engines
    case 75: return sm / 10;
    case 76: return sm % 10;
    case 81: return sm == 75 ? 64 * 1024 : sm >= 90 ? 228 * 1024 : 100 * 1024;  // shared memory of a multiprocessor
    case 82: return 65536;                                                      // registers of a multiprocessor
    case 97: return sm == 75 ? 64 * 1024 : sm >= 90 ? 227 * 1024 : 99 * 1024;   // shared memory of a block, on request
    case 106: return sm == 75 || sm == 86 ? 16 : sm == 89 || sm >= 120 ? 24 : 32;  // blocks of a multiprocessor
    case 111: return sm == 75 ? 0 : 1024;                                          // reserved of each block's
    default: return 0;
  }
}

}  // namespace

CUresult cuInit(unsigned flags) {
  STANDIN_ENTRY(cuInit, true);
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (devices() <= 0) return CUDA_ERROR_NO_DEVICE;
  standin::driver().initialised = true;
  return CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int* version) {
  STANDIN_ENTRY(cuDriverGetVersion, true);
  if (!version) return CUDA_ERROR_INVALID_VALUE;
  *version = static_cast<int>(setting("STANDIN_DRIVER_VERSION", 13000));
  return CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult code, const char** name) { return lookup(code, name, &Name::name); }
CUresult cuGetErrorString(CUresult code, const char** text) { return lookup(code, text, &Name::text); }

CUresult cuDeviceGetCount(int* count) {
  STANDIN_ENTRY(cuDeviceGetCount);
  if (!count) return CUDA_ERROR_INVALID_VALUE;
  *count = devices();
  return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  STANDIN_ENTRY(cuDeviceGet);
  if (!device) return CUDA_ERROR_INVALID_VALUE;
  if (!is_device(ordinal)) return CUDA_ERROR_INVALID_DEVICE;
  *device = ordinal;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char* name, int size, CUdevice device) {
  STANDIN_ENTRY(cuDeviceGetName);
  if (!name || size <= 0) return CUDA_ERROR_INVALID_VALUE;
  if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  const std::string text = "Stand-in device " + std::to_string(device);
  const size_t length = std::min(text.size(), static_cast<size_t>(size) - 1);
  std::memcpy(name, text.data(), length);
  name[length] = '\0';
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int* value, int attribute, CUdevice device) {
  STANDIN_ENTRY(cuDeviceGetAttribute);
  if (!value || attribute < 1 || attribute > 160) return CUDA_ERROR_INVALID_VALUE;
  if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  *value = attribute_value(attribute);
  return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice device) {
  STANDIN_ENTRY(cuDeviceTotalMem_v2);
  if (!bytes) return CUDA_ERROR_INVALID_VALUE;
  if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  *bytes = static_cast<size_t>(setting("STANDIN_MEMORY", int64_t{8} << 30));
  return CUDA_SUCCESS;
}
