// Symbolic dims: constants, named symbols with bounds, and expressions of them, interned in one table per graph, in a
// canonical form that makes known equalities visible: 2*B + B and 3*B are one DimId.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace ingot::ir {

using DimId = uint32_t;
inline constexpr DimId no_dim = 0xffffffffu;
inline constexpr int64_t max_extent = INT64_MAX;

// Numbers are those of ingot_dim_kind in the public header: append-only, zero is invalid.
enum class DimKind : int32_t {
  constant = 1,
  symbol = 2,
  add = 3,        // any number of operands
  sub = 4,        // two
  mul = 5,        // any number
  floor_div = 6,  // two; the divisor is never 0 when evaluated, else INVALID_ARGUMENT
  ceil_div = 7,
  mod = 8,  // the divisor's sign, as floor_div
  min = 9,
  max = 10,
  bcast = 11,  // the NumPy broadcast of extents: equal ones, or all but some of them 1; otherwise INVALID_ARGUMENT
};

enum class DimFact : int32_t {
  equal = 1,      // all dims are equal
  divisible = 2,  // the first is divisible by the second
};

struct Bounds {
  int64_t lo, hi;  // inclusive
};

// Not thread-safe while it grows; const members are free-threaded. Copyable: ids stay valid in the copy.
class DimTable {
 public:
  DimId constant(int64_t v);
  // The same name gives the same symbol; bounds intersect. Throws invalid_argument for an empty name, lo > hi, lo < 0, or an empty
  // intersection.
  DimId symbol(std::string_view name, int64_t lo = 0, int64_t hi = max_extent);
  // Simplifies; throws invalid_argument for a wrong operand count, an unknown kind or id, or constant overflow.
  DimId expr(DimKind kind, std::span<const DimId> operands);
  DimId add(DimId a, DimId b) { return expr2(DimKind::add, a, b); }
  DimId sub(DimId a, DimId b) { return expr2(DimKind::sub, a, b); }
  DimId mul(DimId a, DimId b) { return expr2(DimKind::mul, a, b); }
  DimId floor_div(DimId a, DimId b) { return expr2(DimKind::floor_div, a, b); }
  DimId ceil_div(DimId a, DimId b) { return expr2(DimKind::ceil_div, a, b); }
  DimId product(std::span<const DimId> dims);  // 1 for none
  // The result extent of broadcasting a against b: one of them where that is known, else a `bcast` expression. Throws
  // invalid_argument when it is known to fail.
  DimId broadcast(DimId a, DimId b);

  // Records a fact; throws invalid_argument if it contradicts what is known (B is 3 and 4).
  void assume(DimFact fact, std::span<const DimId> dims);

  bool valid(DimId d) const { return d < rows_.size(); }
  std::optional<int64_t> as_constant(DimId d) const;
  bool is_constant(DimId d, int64_t v) const { return as_constant(d) == v; }
  DimKind kind(DimId d) const { return rows_[d].kind; }
  std::span<const DimId> operands(DimId d) const;
  std::string_view symbol_name(DimId d) const;  // kind symbol only
  Bounds bounds(DimId d) const;                 // by interval arithmetic over symbol bounds
  // True only where it follows from the canonical form and the facts.
  bool known_equal(DimId a, DimId b) const;
  bool known_divisible(DimId a, int64_t by) const;

  size_t size() const { return rows_.size(); }
  // Symbols in order of their first use.
  std::span<const DimId> symbols() const { return symbols_; }

  struct Fact {
    DimFact fact;
    std::vector<DimId> dims;
  };
  std::span<const Fact> facts() const { return facts_; }

  // Fills `values` (size() entries, those of symbols already set, unset ones INT64_MIN) in id order. An expression over
  // an unset symbol stays unset. Throws invalid_argument on overflow, division by zero or a failed broadcast, out_of_range never.
  void evaluate(std::span<int64_t> values) const;
  // Checks bounds of symbols and facts against evaluated values; throws invalid_argument naming the symbol or fact.
  void check(std::span<const int64_t> values) const;

  // "B", "3", "2*B+1", "ceil_div(B, 4)": parses back by the text form's dim grammar.
  std::string to_string(DimId d) const;

 private:
  DimId expr2(DimKind kind, DimId a, DimId b) {
    const DimId both[] = {a, b};
    return expr(kind, both);
  }
  struct Row {
    DimKind kind;
    int64_t value;          // constant: itself; symbol: lo
    int64_t hi;             // symbol: hi
    uint32_t first, count;  // operands in pool_, or characters in names_
  };
  std::vector<Row> rows_;
  std::vector<DimId> pool_;
  std::vector<DimId> symbols_;
  std::string names_;
  std::vector<Fact> facts_;
  // (the implementation adds its interning index and whatever the facts need)
};

}  // namespace ingot::ir
