// Whether what is stated of dims can be true at all, whatever order it was stated in.
#pragma once

#include "ir/dim.h"

namespace ingot::ir {

// Thrown by DimTable::assume() where a fact cannot hold together with what is known, as apart from one that is
// ill-formed or over a limit.
class Contradiction : public Error {
 public:
  explicit Contradiction(std::string message) : Error(Code::invalid_argument, std::move(message)) {}
};

// assume() compares a new fact with what it knows by then: of A % 2 == 0, A == B, B == 3 it finds nothing wrong. This
// states all facts again after what followed from them (B is 3, so A is). Throws invalid_argument for those that
// contradict each other. Not complete: what it misses is refused by every run. Costs as much as the facts did, and
// nothing where there are none; derived ones, which ops find for themselves, are left out.
void check_facts_together(const DimTable& dims);

}  // namespace ingot::ir
