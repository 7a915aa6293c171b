// The interpreter: a body that computes each node of a sweep by one table call per strip. It is the reference that
// emitted code is compared with, and what runs where there is no compiler.
#pragma once

#include <memory>

#include "jit/program.h"

namespace ingot::jit {

// The program is only read during the call. Throws std::bad_alloc.
std::shared_ptr<const Body> interpreter(const Program& program);

namespace interp {
struct Ops;
// The same with a given table (interp/ops.h), for tests that compare the tables.
std::shared_ptr<const Body> interpreter_with(const Program& program, const Ops& ops);
}  // namespace interp

}  // namespace ingot::jit
