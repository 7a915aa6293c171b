#include "ir/dim_consistency.h"

#include <algorithm>

namespace ingot::ir {

namespace {

constexpr size_t most_facts = 256;  // more are left to the runs
constexpr int most_rounds = 4;

// Copies expressions of one table into another.
class Importer {
 public:
  Importer(const DimTable& from, DimTable& to) : from_(from), to_(to), copies_(from.size(), no_dim) {}

  DimId operator()(DimId root) {
    // Operands come before what is made of them.
    std::vector<DimId> needed{root};
    for (size_t i = 0; i < needed.size(); ++i)
      for (const DimId op : from_.operands(needed[i]))
        if (copies_[op] == no_dim) needed.push_back(op);
    std::ranges::sort(needed);
    for (const DimId d : needed)
      if (copies_[d] == no_dim) copies_[d] = copy(d);
    return copies_[root];
  }

 private:
  DimId copy(DimId d) {
    switch (from_.kind(d)) {
      case DimKind::constant: return to_.constant(*from_.as_constant(d));
      case DimKind::symbol: {
        const Bounds declared = from_.declared_bounds(d);
        return to_.symbol(from_.symbol_name(d), declared.lo, declared.hi);
      }
      default: break;
    }
    std::vector<DimId> operands;
    for (const DimId op : from_.operands(d)) operands.push_back(copies_[op]);
    return to_.expr(from_.kind(d), operands);
  }

  const DimTable& from_;
  DimTable& to_;
  std::vector<DimId> copies_;
};

// "A = 3, B = 2*N": what the symbols are known to be.
std::string solved(const DimTable& dims) {
  std::string out;
  for (const DimId s : dims.symbols())
    if (dims.canonical(s) != s) out += cat(dims.symbol_name(s), " = ", dims.to_string(dims.canonical(s)), ", ");
  return out;
}

// The facts of `dims` again, after what `known` has found out about its symbols.
DimTable restated(const DimTable& dims, const DimTable& known) {
  DimTable out;
  Importer from_known(known, out), from_dims(dims, out);
  const auto assume = [&](Importer& from, DimFact fact, std::span<const DimId> given) {
    std::vector<DimId> operands;
    for (const DimId d : given) operands.push_back(from(d));
    out.assume(fact, operands);
  };
  for (const DimId s : known.symbols()) {
    const DimId both[] = {s, known.canonical(s)};
    if (both[0] != both[1]) assume(from_known, DimFact::equal, both);
  }
  for (const DimTable::Fact& f : dims.facts())
    if (!f.derived) assume(from_dims, f.fact, f.dims);
  return out;
}

}  // namespace

void check_facts_together(const DimTable& dims) {
  const auto stated = std::ranges::count_if(dims.facts(), [](const DimTable::Fact& f) { return !f.derived; });
  if (stated == 0 || static_cast<size_t>(stated) > most_facts) return;
  try {
    DimTable known = restated(dims, DimTable());
    for (int round = 1; round < most_rounds; ++round) {
      DimTable next = restated(dims, known);
      if (solved(next) == solved(known)) return;
      known = std::move(next);
    }
  } catch (const Contradiction& e) {
    fail(Code::invalid_argument, "the facts contradict each other: ", e.message());
  } catch (const Error&) {
    // Stated in another order an expression passed a limit: the runs have to find out.
  }
}

}  // namespace ingot::ir
