// The part of expand() that is neither a single primitive nor a function of math/.
#pragma once

#include <optional>
#include <span>

#include "ir/op.h"
#include "loop/expr.h"

namespace ingot::loop {

// As expand(); nullopt for an op that is not of this file.
std::optional<Val> expand_arith(ir::OpCode code, std::span<const ir::Attr> attrs, std::span<const Val> args);

}  // namespace ingot::loop
