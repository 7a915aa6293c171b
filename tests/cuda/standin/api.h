// The part of the CUDA driver's C interface that the stand-in has, as its documentation states it, and what the
// stand-in adds to it.
#pragma once

#include <cstddef>

#define STANDIN_API extern "C" __attribute__((visibility("default")))

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = struct StandinContext*;
using CUmodule = struct StandinModule*;
using CUfunction = struct StandinFunction*;
using CUstream = struct StandinStream*;
using CUevent = struct StandinEvent*;
using CUgraph = struct StandinGraph*;
using CUgraphExec = struct StandinGraphExec*;
using CUmemoryPool = struct StandinPool*;
using CUhostFn = void (*)(void* user);

enum : CUresult {
  CUDA_SUCCESS = 0,
  CUDA_ERROR_INVALID_VALUE = 1,
  CUDA_ERROR_OUT_OF_MEMORY = 2,
  CUDA_ERROR_NOT_INITIALIZED = 3,
  CUDA_ERROR_NO_DEVICE = 100,
  CUDA_ERROR_INVALID_DEVICE = 101,
  CUDA_ERROR_INVALID_IMAGE = 200,
  CUDA_ERROR_INVALID_CONTEXT = 201,
  CUDA_ERROR_NO_BINARY_FOR_GPU = 209,
  CUDA_ERROR_INVALID_HANDLE = 400,
  CUDA_ERROR_NOT_FOUND = 500,
  CUDA_ERROR_NOT_READY = 600,
  CUDA_ERROR_ILLEGAL_ADDRESS = 700,
  CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES = 701,
  CUDA_ERROR_ASSERT = 710,
  CUDA_ERROR_MISALIGNED_ADDRESS = 716,
  CUDA_ERROR_LAUNCH_FAILED = 719,
  CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED = 900,
  CUDA_ERROR_STREAM_CAPTURE_INVALIDATED = 901,
  CUDA_ERROR_STREAM_CAPTURE_MERGE = 902,
  CUDA_ERROR_STREAM_CAPTURE_UNMATCHED = 903,
  CUDA_ERROR_STREAM_CAPTURE_UNJOINED = 904,
  CUDA_ERROR_STREAM_CAPTURE_IMPLICIT = 906,
  CUDA_ERROR_CAPTURED_EVENT = 907,
  CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD = 908,
};

// Of CUDA 11.2 and later.
struct CUmemPoolProps {
  int allocation_type, handle_types, location_type, location_id;
  void* security;
  unsigned char reserved[64];
};

STANDIN_API CUresult cuInit(unsigned flags);
STANDIN_API CUresult cuDriverGetVersion(int* version);
STANDIN_API CUresult cuGetErrorName(CUresult code, const char** name);
STANDIN_API CUresult cuGetErrorString(CUresult code, const char** text);
STANDIN_API CUresult cuDeviceGetCount(int* count);
STANDIN_API CUresult cuDeviceGet(CUdevice* device, int ordinal);
STANDIN_API CUresult cuDeviceGetName(char* name, int size, CUdevice device);
STANDIN_API CUresult cuDeviceGetAttribute(int* value, int attribute, CUdevice device);
STANDIN_API CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice device);

STANDIN_API CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device);
STANDIN_API CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device);
STANDIN_API CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active);
STANDIN_API CUresult cuCtxCreate_v2(CUcontext* context, unsigned flags, CUdevice device);
STANDIN_API CUresult cuCtxDestroy_v2(CUcontext context);
STANDIN_API CUresult cuCtxGetCurrent(CUcontext* context);
STANDIN_API CUresult cuCtxSetCurrent(CUcontext context);
STANDIN_API CUresult cuCtxPushCurrent_v2(CUcontext context);
STANDIN_API CUresult cuCtxPopCurrent_v2(CUcontext* context);
STANDIN_API CUresult cuCtxGetDevice(CUdevice* device);
STANDIN_API CUresult cuCtxGetId(CUcontext context, unsigned long long* id);
STANDIN_API CUresult cuCtxSynchronize();

STANDIN_API CUresult cuModuleLoadData(CUmodule* module, const void* image);
STANDIN_API CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned count, int* options,
                                        void** values);
STANDIN_API CUresult cuModuleUnload(CUmodule module);
STANDIN_API CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name);
STANDIN_API CUresult cuFuncGetAttribute(int* value, int attribute, CUfunction function);
STANDIN_API CUresult cuFuncSetAttribute(CUfunction function, int attribute, int value);
STANDIN_API CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function, int threads,
                                                                 size_t dynamic_shared);
STANDIN_API CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                    unsigned block_x, unsigned block_y, unsigned block_z, unsigned dynamic_shared,
                                    CUstream stream, void** parameters, void** extra);
STANDIN_API CUresult cuLaunchHostFunc(CUstream stream, CUhostFn fn, void* user);

STANDIN_API CUresult cuMemAlloc_v2(CUdeviceptr* pointer, size_t bytes);
STANDIN_API CUresult cuMemFree_v2(CUdeviceptr pointer);
STANDIN_API CUresult cuMemAllocAsync(CUdeviceptr* pointer, size_t bytes, CUstream stream);
STANDIN_API CUresult cuMemFreeAsync(CUdeviceptr pointer, CUstream stream);
STANDIN_API CUresult cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* props);
STANDIN_API CUresult cuMemPoolDestroy(CUmemoryPool pool);
STANDIN_API CUresult cuMemPoolSetAttribute(CUmemoryPool pool, int attribute, void* value);
STANDIN_API CUresult cuMemPoolGetAttribute(CUmemoryPool pool, int attribute, void* value);
STANDIN_API CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t keep);
STANDIN_API CUresult cuMemAllocFromPoolAsync(CUdeviceptr* pointer, size_t bytes, CUmemoryPool pool, CUstream stream);
STANDIN_API CUresult cuMemAllocHost_v2(void** pointer, size_t bytes);
STANDIN_API CUresult cuMemFreeHost(void* pointer);
STANDIN_API CUresult cuMemGetInfo_v2(size_t* free, size_t* total);
STANDIN_API CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, size_t bytes);
STANDIN_API CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, size_t bytes);
STANDIN_API CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes);
STANDIN_API CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, size_t bytes, CUstream stream);
STANDIN_API CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, size_t bytes, CUstream stream);
STANDIN_API CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream);
STANDIN_API CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream);
STANDIN_API CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t count);
STANDIN_API CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream);
STANDIN_API CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, CUstream stream);
STANDIN_API CUresult cuPointerGetAttribute(void* value, int attribute, CUdeviceptr pointer);
STANDIN_API CUresult cuPointerGetAttributes(unsigned count, int* attributes, void** values, CUdeviceptr pointer);

STANDIN_API CUresult cuStreamCreate(CUstream* stream, unsigned flags);
STANDIN_API CUresult cuStreamDestroy_v2(CUstream stream);
STANDIN_API CUresult cuStreamSynchronize(CUstream stream);
STANDIN_API CUresult cuStreamQuery(CUstream stream);
STANDIN_API CUresult cuStreamGetCtx(CUstream stream, CUcontext* context);
STANDIN_API CUresult cuThreadExchangeStreamCaptureMode(int* mode);
STANDIN_API CUresult cuStreamIsCapturing(CUstream stream, int* status);
STANDIN_API CUresult cuStreamBeginCapture_v2(CUstream stream, int mode);
STANDIN_API CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph);
STANDIN_API CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags);
STANDIN_API CUresult cuGraphInstantiateWithFlags(CUgraphExec* exec, CUgraph graph, unsigned long long flags);
STANDIN_API CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream);
STANDIN_API CUresult cuGraphDestroy(CUgraph graph);
STANDIN_API CUresult cuGraphExecDestroy(CUgraphExec exec);
STANDIN_API CUresult cuEventCreate(CUevent* event, unsigned flags);
STANDIN_API CUresult cuEventDestroy_v2(CUevent event);
STANDIN_API CUresult cuEventRecord(CUevent event, CUstream stream);
STANDIN_API CUresult cuEventQuery(CUevent event);
STANDIN_API CUresult cuEventSynchronize(CUevent event);
STANDIN_API CUresult cuEventElapsedTime(float* ms, CUevent start, CUevent end);

// What the first error in a kernel or in a stream's work was: kernel, block, thread, address, kind. Empty without one.
STANDIN_API const char* standin_report();
// Forgets everything: contexts, memory, handles, errors, counts, planned failures. No handle of before is valid.
STANDIN_API void standin_reset();
// The nth call from now on of an entry returns the code. Unknown names and code 0 are ignored.
STANDIN_API void standin_fail(const char* entry, unsigned nth, int code);
// Calls of an entry so far.
STANDIN_API unsigned long long standin_calls(const char* entry);
// Device memory and handles that are not given back: allocations, modules, streams, events, contexts, graphs.
STANDIN_API unsigned long long standin_held();
