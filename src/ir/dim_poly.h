// Polynomials over dim ids with integer coefficients: the arithmetic behind canonical dims. Knows nothing of facts.
#pragma once

#include <optional>
#include <vector>

#include "ir/dim.h"

namespace ingot::ir {

// Beyond these a sum or product is no longer expanded.
inline constexpr size_t max_terms = 64;
inline constexpr size_t max_degree = 32;

struct Term {
  int64_t coef;
  std::vector<DimId> atoms;  // sorted, repeated for powers; none for the constant term
};

// Sum of terms with distinct atoms, no zero coefficient, in descending graded lexicographic order (so the constant term
// is last): an order that multiplication keeps, which division needs.
struct Poly {
  std::vector<Term> terms;

  bool is_zero() const { return terms.empty(); }
  std::optional<int64_t> as_constant() const;
  int64_t constant_term() const;
  static Poly of(int64_t constant);
  static Poly of_atom(DimId atom, int64_t coef = 1);
};

// -1, 0, 1 as a stands before, at or after b in a Poly.
int compare(const std::vector<DimId>& a, const std::vector<DimId>& b);

// Each returns false or nothing, its arguments unchanged, if a coefficient overflows or a limit is passed.
bool add_scaled(Poly& into, const Poly& p, int64_t k);  // into += k * p
std::optional<Poly> multiply(const Poly& a, const Poly& b);
// a / b where it is a polynomial with integer coefficients; b is not zero.
std::optional<Poly> divide(const Poly& a, const Poly& b);

// The greatest common divisor of the coefficients, the constant term left out; 0 if there are none.
int64_t content(const Poly& p);
void drop_constant(Poly& p);
// Adds to the constant term; false on overflow.
bool add_constant(Poly& p, int64_t k);

int64_t floor_quotient(int64_t a, int64_t b);   // b > 0
int64_t floor_remainder(int64_t a, int64_t b);  // b > 0

}  // namespace ingot::ir
