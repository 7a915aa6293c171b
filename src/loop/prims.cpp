#include <algorithm>
#include <string_view>

#include "loop/kernel.h"

namespace ingot::loop {

namespace {
// The names of the text form are those of prims.def less the underscore that keeps `and_` off C++'s keywords, and with
// a dot for the one in `fold_sum`.
struct Table {
  char names[256][16] = {};
  PrimInfo rows[256] = {};

  constexpr void row(uint8_t number, std::string_view name, uint8_t arity, PrimClass cls) {
    if (name.back() == '_') name.remove_suffix(1);
    for (size_t i = 0; i < name.size(); ++i) names[number][i] = name[i] == '_' ? '.' : name[i];
    rows[number] = {names[number], arity, cls};
  }
  constexpr Table() {
#define PRIM(name, number, arity, cls) row(number, #name, arity, PrimClass::cls);
#include "loop/prims.def"
#undef PRIM
  }
};
constexpr Table table;
}  // namespace

const PrimInfo* prim_info(Prim p) noexcept {
  const PrimInfo& row = table.rows[static_cast<uint8_t>(p)];
  return row.name ? &row : nullptr;
}

std::vector<uint8_t> levels(const Kernel& kernel) {
  std::vector<uint8_t> level(kernel.nodes.size(), 0);
  for (size_t i = 0; i < kernel.nodes.size(); ++i) {
    uint8_t most = 0;
    for (const NodeId a : kernel.nodes[i].arg)
      if (a != no_node) most = std::max(most, level[a]);
    level[i] = static_cast<uint8_t>(most + ends_sweep(kernel.nodes[i].op));
  }
  return level;
}

}  // namespace ingot::loop
