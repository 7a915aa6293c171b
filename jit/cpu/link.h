// Object file to position-independent image, by ORC and JITLink with a memory manager that keeps the bytes.
#pragma once

#include <llvm/ADT/SmallVector.h>

#include "jit/cpu/target.h"
#include "jit/image/artifact.h"

namespace ingot::jit {

// Lays out .text and .rodata and applies their fixups. `names` are the functions to be found in it. Fills image,
// alignment, entries and symbols of the artifact. Throws internal, naming the symbol, if anything in the object would
// tie the image to an address: an undefined symbol, an absolute relocation, a writable section.
void link_image(const Target& target, llvm::SmallVector<char, 0> object, const std::vector<std::string>& names,
                Artifact& artifact);

}  // namespace ingot::jit
