#include "runtime/fp_env.h"

namespace ingot::runtime {

constinit thread_local FpEnv* FpEnv::active = nullptr;

}  // namespace ingot::runtime
