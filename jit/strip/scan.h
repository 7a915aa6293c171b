// The driver's half of a scan: what a sweep wrote becomes, in place, the scanned values (NUMERICS.md, "Scan").
#pragma once

#include <cstdint>

#include "loop/kernel.h"

namespace ingot::jit {

// Between two pieces of one row. Values are bits of the node's type, zero-extended.
struct ScanState {
  uint64_t carry;   // of the tiles before in this chunk
  uint64_t offset;  // of the chunks before
  uint64_t last;    // exclusive: the result for the element that comes next
  int64_t k;        // elements so far
};

// Before the first element of a row.
void scan_begin(const loop::Node& scan, ScanState& state);

// The next `count` elements of the row, consecutive at `items`, which need no alignment; in a reverse scan the last of
// them comes first. All pieces of a row but its last are whole tiles of 16 elements.
void scan_items(const loop::Node& scan, ScanState& state, char* items, int64_t count);

}  // namespace ingot::jit
