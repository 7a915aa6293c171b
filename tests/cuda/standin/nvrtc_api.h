// The part of NVRTC's C interface that the stand-in has, as its documentation states it.
#pragma once

#include <cstddef>

#define STANDIN_API extern "C" __attribute__((visibility("default")))

using nvrtcProgram = struct StandinProgram*;
using nvrtcResult = int;

STANDIN_API nvrtcResult nvrtcVersion(int* major, int* minor);
STANDIN_API const char* nvrtcGetErrorString(nvrtcResult result);
STANDIN_API nvrtcResult nvrtcGetNumSupportedArchs(int* count);
STANDIN_API nvrtcResult nvrtcGetSupportedArchs(int* archs);
STANDIN_API nvrtcResult nvrtcCreateProgram(nvrtcProgram* program, const char* text, const char* name, int headers,
                                           const char* const* texts, const char* const* names);
STANDIN_API nvrtcResult nvrtcDestroyProgram(nvrtcProgram* program);
STANDIN_API nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int count, const char* const* options);
STANDIN_API nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, size_t* bytes);
STANDIN_API nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char* log);
STANDIN_API nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, size_t* bytes);
STANDIN_API nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char* cubin);
