// Artifact bytes to a callable body.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "jit/image/artifact.h"
#include "jit/image/isa.h"
#include "jit/program.h"

namespace ingot::jit {

// A body that is machine code, with what a profiler or debugger asks of it.
class CompiledBody : public Body {
 public:
  virtual size_t sweeps() const noexcept = 0;
  virtual const uint8_t* code() const noexcept = 0;  // symbols are offsets from here
  virtual size_t code_size() const noexcept = 0;
  virtual std::span<const ArtifactSymbol> symbols() const noexcept = 0;
};

// Verifies, copies and maps an artifact; the code is unmapped with the last reference. Throws invalid_argument for
// bytes that are no artifact (a cache treats that as a miss), failed_precondition for code that a processor of level
// `host` cannot run, unavailable if the system allows no executable memory.
std::shared_ptr<const CompiledBody> load(std::span<const uint8_t> bytes, std::string_view host = host_target());

// Several at once into one mapping, which goes with the last of them: a mapping of its own costs a kernel more than
// reading it does. Null in the place of what load() would refuse; throws only what it throws for the system's reasons.
std::vector<std::shared_ptr<const CompiledBody>> load_batch(std::span<const std::span<const uint8_t>> artifacts,
                                                            std::string_view host = host_target());

}  // namespace ingot::jit
