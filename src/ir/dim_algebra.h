// How dim expressions are brought to canonical form. Works on a DimTable that it may add rows to.
#pragma once

#include "ir/dim_poly.h"

namespace ingot::ir {

class DimAlgebra {
 public:
  explicit DimAlgebra(DimTable& table) : t_(table) {}

  // The canonical row of an expression over canonical operands; throws as DimTable::expr does.
  DimId build(DimKind kind, std::span<const DimId> operands);
  DimId from_poly(Poly p);
  static Poly poly_of(const DimTable& table, DimId canonical);
  // True if it follows from coefficients and facts; `depth` bounds the search through nested quotients.
  static bool divisible(const DimTable& table, DimId canonical, int64_t by, int depth = 3);
  static bool never_zero(const DimTable& table, DimId canonical);
  // Bounds of a polynomial by interval arithmetic.
  static Bounds bounds(const DimTable& table, const Poly& p);

 private:
  Poly poly(DimId d) const { return poly_of(t_, d); }
  DimId build2(DimKind kind, DimId a, DimId b) {
    const DimId both[] = {a, b};
    return build(kind, both);
  }
  DimId sum(std::span<const DimId> operands);
  DimId product(std::span<const DimId> operands);
  DimId as_given(DimKind kind, std::span<const DimId> operands);
  DimId intern_term(const Term& t, bool own);
  // One rewriting of a term by the facts, or nothing.
  std::optional<Poly> rewrite(const Term& t);

  // Of two constants, a constant.
  std::optional<DimId> divide_constants(DimKind kind, DimId a, DimId b);
  DimId floor_div(DimId a, DimId b);
  DimId floor_div(Poly p, int64_t by);
  DimId ceil_div(DimId a, DimId b);
  DimId mod(DimId a, DimId b);
  DimId mod(const Poly& p, int64_t by);
  // m / by as a term, where the facts on m's atoms make it exact.
  std::optional<Poly> split(const Term& t, int64_t by);
  // a <= b follows from bounds, or from those of the operands of a minimum or maximum down to `depth`.
  bool never_above(DimId a, DimId b, int depth) const;
  DimId least_or_greatest(DimKind kind, std::span<const DimId> operands);
  DimId broadcast(std::span<const DimId> operands);
  std::vector<DimId> flatten(DimKind kind, std::span<const DimId> operands) const;

  DimTable& t_;
};

// Saturating interval arithmetic, shared with the bounds of rows.
__extension__ using Int128 = __int128;
int64_t saturate(Int128 v);
Bounds interval_sum(Bounds a, Bounds b);
Bounds interval_product(Bounds a, Bounds b);
Bounds interval_quotient(Bounds a, Bounds b, bool up);
// floor_div, ceil_div or mod of numbers, b not 0; in 128 bits, since INT64_MIN / -1 does not fit.
Int128 quotient(DimKind kind, int64_t a, int64_t b);

}  // namespace ingot::ir
