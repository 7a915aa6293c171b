#pragma once

namespace standin {

// CUDA C++'s own names, for the host's compiler.
const char* prelude();

}  // namespace standin
