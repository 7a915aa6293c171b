// Symbolic dims: constants, named symbols with bounds, and expressions of them, interned in one table per graph, in a
// canonical form that makes known equalities visible: 2*B + B and 3*B are one DimId.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "ir/name_hash.h"

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

// Whose need a fact is, for the message of a run in which it does not hold.
struct FactCause {
  std::string_view op = {};   // of static storage
  std::string_view why = {};  // what of the op it is about: extents of operands, an attribute
};

// Limits of one expression, so that printing and evaluating stay bounded whatever a host builds.
inline constexpr size_t max_dim_depth = 100;     // nested divisions, minima, ...; the text form's parser allows more
inline constexpr size_t max_dim_size = 1 << 16;  // operations and operands when written out

// Not thread-safe while it grows; const members are free-threaded. Copyable: ids stay valid in the copy. A member that
// throws changes nothing but rows that nobody uses, also where it is memory that has run out.
//
// An expression is kept as a polynomial with integer coefficients over atoms (symbols, quotients, remainders, minima,
// maxima, broadcasts), with facts applied, so equal polynomials are one id. Beyond 64 terms, or where coefficients
// would overflow, a sum or product is kept as it was given: still right, only less is known about it.
class DimTable {
 public:
  DimId constant(int64_t v);
  // The same name gives the same symbol; bounds intersect. Throws invalid_argument for an empty name, lo > hi, lo < 0,
  // or an empty intersection.
  DimId symbol(std::string_view name, int64_t lo = 0, int64_t hi = max_extent);
  // Simplifies; throws invalid_argument for a wrong operand count, an unknown kind or id, constant overflow, a constant
  // division by zero, an expression over the limits, or a broadcast known to fail.
  DimId expr(DimKind kind, std::span<const DimId> operands);
  DimId add(DimId a, DimId b) { return expr2(DimKind::add, a, b); }
  DimId sub(DimId a, DimId b) { return expr2(DimKind::sub, a, b); }
  DimId mul(DimId a, DimId b) { return expr2(DimKind::mul, a, b); }
  DimId floor_div(DimId a, DimId b) { return expr2(DimKind::floor_div, a, b); }
  DimId ceil_div(DimId a, DimId b) { return expr2(DimKind::ceil_div, a, b); }
  DimId product(std::span<const DimId> dims);  // 1 for none
  // The result extent of broadcasting a against b: one of them where that is known, else a `bcast` expression. Throws
  // invalid_argument when it is known to fail. Of B and 4 it is 4, and a row bcast(4, B) stays in the table so that
  // evaluate() refuses a B other than 1 and 4.
  DimId broadcast(DimId a, DimId b);

  // The same for an op, by whose name (of static storage) evaluate() tells that the extents do not broadcast.
  DimId broadcast(DimId a, DimId b, std::string_view op);

  // Records a fact; throws invalid_argument if it contradicts what is known (B is 3 and 4). check() tests it on every
  // run, so whatever is derived from it holds. Without an op the host states it. The text form leaves out what ops
  // need, since reading them finds it again.
  void assume(DimFact fact, std::span<const DimId> dims, FactCause cause = {});
  // As the fact max(0, d) == d.
  void assume_nonnegative(DimId d, FactCause cause = {});
  // Derived facts count as stated from here on: for a graph in which their ops may no longer be.
  void adopt_facts();
  // Facts and bounds stated after an op has read the table (`used` since then): what is there may be less simple than
  // what the same statements make of it in a text, where they come first.
  void set_used() { used_ = true; }
  bool has_late_facts() const { return late_; }
  // Ids stay valid; everything is derived again from the stated bounds and facts, in that order.
  void restate();

  bool valid(DimId d) const { return d < rows_.size(); }
  std::optional<int64_t> as_constant(DimId d) const;
  bool is_constant(DimId d, int64_t v) const { return as_constant(d) == v; }
  DimKind kind(DimId d) const { return rows_[d].kind; }
  std::span<const DimId> operands(DimId d) const;
  std::string_view symbol_name(DimId d) const;                                     // kind symbol only
  Bounds declared_bounds(DimId d) const { return {rows_[d].value, rows_[d].hi}; }  // kind symbol only
  Bounds bounds(DimId d) const;  // by interval arithmetic over symbol bounds and facts
  // True only where it follows from the canonical form and the facts.
  bool known_equal(DimId a, DimId b) const;
  bool known_divisible(DimId a, int64_t by) const;
  // The simplest expression known to be equal under the facts; d itself if there is none.
  DimId canonical(DimId d) const { return meta_[d].canon; }
  // The same for expressions; a symbol stays itself. What a text of d reads as.
  DimId simplified(DimId d) const { return kind(d) == DimKind::symbol ? d : canonical(d); }
  // a / b where the division is known to be exact and b not to be 0.
  std::optional<DimId> exact_quotient(DimId a, DimId b);

  size_t size() const { return rows_.size(); }
  // Symbols in order of their first use.
  std::span<const DimId> symbols() const { return symbols_; }

  struct Fact {
    DimFact fact;
    std::vector<DimId> dims;
    std::string_view op = {};  // whose need it is
    bool derived = false;      // `op` is part of the graph, and finds it again
    std::string why = {};      // FactCause::why
  };
  std::span<const Fact> facts() const { return facts_; }

  // Fills `values` (size() entries, those of symbols already set, unset ones INT64_MIN) in id order. An expression over
  // an unset symbol stays unset. Throws invalid_argument on overflow, division by zero or a failed broadcast,
  // out_of_range never.
  void evaluate(std::span<int64_t> values) const;
  // Checks bounds of symbols and facts against evaluated values; throws invalid_argument naming the symbol or fact.
  void check(std::span<const int64_t> values) const;

  // "B", "3", "2*B+1", "ceil_div(B, 4)": parses back by the text form's dim grammar. Independent of the order in which
  // ids were made.
  std::string to_string(DimId d) const;
  // The same with its value, "N = 5"; "2" for a constant.
  std::string named(DimId d, std::span<const int64_t> values) const;

  // Undo for a caller that fails in the middle: everything since the mark is forgotten, ids made since are invalid.
  // Cheap unless facts or narrower bounds came in since.
  struct Mark {
    size_t rows, pool, names, symbols, facts, narrowed;
    uint64_t lessons;
  };
  Mark mark() {
    settle();
    return {rows_.size(), pool_.size(), names_.size(), symbols_.size(), facts_.size(), narrowed_.size(), lessons_};
  }
  // Where memory runs out while the facts that stay are applied anew, they are only recorded: all is right, less is
  // known, and the next member that adds anything applies them.
  void rollback(const Mark& mark) noexcept;
  void settle() {
    if (unsettled_) apply_facts();
  }

 private:
  friend class DimAlgebra;  // dim_algebra.h: how expressions are simplified

  DimId expr2(DimKind kind, DimId a, DimId b) {
    const DimId both[] = {a, b};
    return expr(kind, both);
  }
  DimId intern(DimKind kind, int64_t value, std::span<const DimId> operands);
  DimId find(DimKind kind, int64_t value, std::span<const DimId> operands) const;  // no_dim if there is none
  void index_row(DimId d);
  Bounds bounds_of_row(DimId d) const;
  void check_ids(std::span<const DimId> dims) const;
  void check_dividend(DimId dividend, DimId by) const;
  void assume_known(DimFact fact, std::span<const DimId> dims, FactCause cause);
  void assume_equal(DimId a, DimId b, FactCause cause);
  void assume_divisible(DimId a, DimId b, FactCause cause);
  bool learn_nonnegative(DimId d);
  void forget_facts() noexcept;
  void derive_bounds();
  void apply_facts();
  DimId learn_multiple(DimId d, int64_t by);
  bool known_multiple(DimId a, DimId b) const;  // of canonical ids
  bool is_recorded(DimFact fact, std::span<const DimId> dims) const;
  bool refresh(DimId root, DimId canon);

  struct Row {
    DimKind kind;
    int64_t value;          // constant: itself; symbol: lo; add and mul: 1 if kept as given, not as a polynomial
    int64_t hi;             // symbol: hi; mul: 1 if it is an expression of its own, not only a term of sums
    uint32_t first, count;  // operands in pool_, or characters in names_
  };
  struct Meta {
    DimId canon;    // an equal row under the facts, itself canonical
    DimId next;     // of the same hash bucket, always an older row: rollback() pops
    Bounds bounds;  // derived ones; may be narrower than a symbol's declared ones
    uint32_t size;  // nodes when written out, for max_dim_size
    uint32_t depth;
  };
  struct Divisible {
    DimId a, b;  // canonical
  };
  std::vector<Row> rows_;
  std::vector<DimId> pool_;
  std::vector<DimId> symbols_;
  std::string names_;
  std::vector<Fact> facts_;
  std::map<DimId, std::string_view> broadcast_by_;  // by row: the first op that needs it
  std::vector<Meta> meta_;
  std::vector<DimId> buckets_;  // newest row of each hash bucket
  NameMap<DimId> by_name_;
  std::unordered_map<DimId, int64_t> multiples_;    // canonical id -> a known divisor above 1
  std::vector<Divisible> divisible_;                // by something that is not a constant
  std::vector<std::pair<DimId, Bounds>> narrowed_;  // symbols and the declared bounds they had before
  uint64_t lessons_ = 0;                            // how often facts have changed canonical forms or bounds
  bool unsettled_ = false;
  bool used_ = false, late_ = false;
  bool product_rules_ = false;  // a product has another canonical form
  // Work left for applying new facts to old rows. When hostile input has used it up, facts are still recorded and
  // checked, only no longer used to simplify.
  int64_t refresh_budget_ = int64_t{1} << 25;
};

}  // namespace ingot::ir
