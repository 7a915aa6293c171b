// What composite ops mean, one function each, in files by kind; decompose.cpp calls them.
#pragma once

#include "pass/rebuild.h"

namespace ingot::pass {

// Appends the op's meaning over the new operands and returns the value of its result.
ValueId nextafter(Rebuild& r, const ir::Op& op);

}  // namespace ingot::pass
