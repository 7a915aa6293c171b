// CUDA C++ to a cubin through NVRTC, reached by dlopen: `INGOT_NVRTC` if set, else the usual sonames, else the usual
// places of the toolkit. Nothing is loaded before the first call.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ingot::jit {

// The file that would be opened as NVRTC, found without loading it; empty where there is none, or only the loader
// knows.
std::string find_nvrtc(const std::string& library);

struct NvrtcInfo {
  std::string path;
  int major = 0, minor = 0;
};
// Of the library that compile_cubin() uses, which is loaded for it. Throws unavailable as that does.
NvrtcInfo nvrtc_info(const std::string& library);

// `target` is "sm_90" and the like; `library` a path to libnvrtc.so or empty. Throws unavailable, listing every place
// tried, where there is no NVRTC; invalid_argument for a target that it does not know; internal with the compiler's log
// where the text does not compile.
// On a stack of 8 MiB, since NVRTC needs much and the caller's may be small: that of a thread for it, all signals
// blocked, or, without `own_thread`, another on the caller's thread.
std::vector<uint8_t> compile_cubin(const std::string& text, const std::string& target, const std::string& library,
                                   bool own_thread = false);

}  // namespace ingot::jit
