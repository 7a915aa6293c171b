#include "ir/dim_algebra.h"

#include <algorithm>
#include <numeric>

namespace ingot::ir {

Poly DimAlgebra::poly_of(const DimTable& t, DimId d) {
  const auto term_of = [&](DimId row) -> Term {
    const DimTable::Row& r = t.rows_[row];
    if (r.kind == DimKind::constant) return {r.value, {}};
    if (r.kind != DimKind::mul || r.value == 1) return {1, {row}};
    const std::span<const DimId> ops = t.operands(row);
    const bool scaled = t.rows_[ops[0]].kind == DimKind::constant;
    return {scaled ? t.rows_[ops[0]].value : 1, {ops.begin() + scaled, ops.end()}};
  };
  Poly p;
  if (t.rows_[d].kind == DimKind::add && t.rows_[d].value == 0) {
    for (const DimId op : t.operands(d)) p.terms.push_back(term_of(op));
  } else if (Term term = term_of(d); term.coef != 0) {
    p.terms.push_back(std::move(term));
  }
  return p;
}

DimId DimAlgebra::intern_term(const Term& t, bool own) {
  if (t.atoms.empty()) return t_.constant(t.coef);
  if (t.coef == 1 && t.atoms.size() == 1) return t.atoms[0];
  std::vector<DimId> ops;
  if (t.coef != 1) ops.push_back(t_.constant(t.coef));
  ops.insert(ops.end(), t.atoms.begin(), t.atoms.end());
  const DimId d = t_.intern(DimKind::mul, 0, ops);
  if (own) t_.rows_[d].hi = 1;
  return d;
}

std::optional<Poly> DimAlgebra::rewrite(const Term& t) {
  const auto times = [](const Poly& p, int64_t coef, std::vector<DimId> atoms) {
    Poly factor;
    factor.terms.push_back({coef, std::move(atoms)});
    return multiply(p, factor);
  };
  if (t.atoms.size() == 1) {
    const DimId canon = t_.canonical(t.atoms[0]);
    if (canon != t.atoms[0]) return times(poly(canon), t.coef, {});
  } else if (t_.product_rules_ && !t.atoms.empty()) {
    const DimId row = t_.find(DimKind::mul, 0, t.atoms);
    if (row != no_dim && t_.canonical(row) != row) return times(poly(t_.canonical(row)), t.coef, {});
  }
  if (t_.multiples_.empty() && t_.divisible_.empty()) return {};

  // An exact quotient times its divisor is the dividend: 8 * (N / 8) = N where 8 divides N.
  for (size_t i = 0; i < t.atoms.size(); ++i) {
    if (t_.kind(t.atoms[i]) != DimKind::floor_div) continue;
    const DimId a = t_.operands(t.atoms[i])[0], b = t_.operands(t.atoms[i])[1];
    std::vector<DimId> others = t.atoms;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    if (const auto by = t_.as_constant(b)) {
      const int64_t g = t.coef == INT64_MIN ? 1 : std::gcd(t.coef, *by);
      if (g <= 1 || !divisible(t_, a, *by)) continue;
      return times(poly(floor_div(poly(a), *by / g)), t.coef / g, std::move(others));
    }
    const Poly divisor = poly(b);
    if (divisor.terms.size() != 1 || t.coef == INT64_MIN || t.coef % divisor.terms[0].coef != 0) continue;
    const std::vector<DimId>& factors = divisor.terms[0].atoms;
    if (!std::ranges::includes(others, factors) || !t_.known_multiple(a, b)) continue;
    std::vector<DimId> left;
    std::ranges::set_difference(others, factors, std::back_inserter(left));
    return times(poly(a), t.coef / divisor.terms[0].coef, std::move(left));
  }
  return {};
}

DimId DimAlgebra::from_poly(Poly p) {
  // Each rewriting brings a term nearer its canonical form; the bound is for facts that chase each other.
  for (size_t step = 0; step < 2 * max_terms; ++step) {
    bool changed = false;
    for (size_t i = 0; i < p.terms.size() && !changed; ++i) {
      const std::optional<Poly> better = rewrite(p.terms[i]);
      if (!better) continue;
      Poly next = p;
      next.terms.erase(next.terms.begin() + static_cast<std::ptrdiff_t>(i));
      if (!add_scaled(next, *better, 1)) continue;
      p = std::move(next);
      changed = true;
    }
    if (!changed) break;
  }
  if (p.is_zero()) return t_.constant(0);
  if (p.terms.size() == 1) return intern_term(p.terms[0], true);
  std::vector<DimId> ops;
  for (const Term& term : p.terms) ops.push_back(intern_term(term, false));
  return t_.intern(DimKind::add, 0, ops);
}

DimId DimAlgebra::as_given(DimKind kind, std::span<const DimId> operands) {
  if (std::ranges::all_of(operands, [&](DimId d) { return t_.kind(d) == DimKind::constant; }))
    fail(Code::invalid_argument, "overflow in a constant dim");
  std::vector<DimId> sorted(operands.begin(), operands.end());
  std::ranges::sort(sorted);
  return t_.intern(kind, 1, sorted);
}

DimId DimAlgebra::sum(std::span<const DimId> operands) {
  Poly p;
  for (const DimId d : operands)
    if (!add_scaled(p, poly(d), 1)) return as_given(DimKind::add, operands);
  return from_poly(std::move(p));
}

DimId DimAlgebra::product(std::span<const DimId> operands) {
  for (const DimId d : operands)
    if (t_.is_constant(d, 0)) return t_.constant(0);
  Poly p = Poly::of(1);
  for (const DimId d : operands) {
    std::optional<Poly> next = multiply(p, poly(d));
    if (!next) return as_given(DimKind::mul, operands);
    p = std::move(*next);
  }
  return from_poly(std::move(p));
}

DimId DimAlgebra::build(DimKind kind, std::span<const DimId> operands) {
  switch (kind) {
    case DimKind::add: return sum(operands);
    case DimKind::sub: {
      Poly p = poly(operands[0]);
      if (add_scaled(p, poly(operands[1]), -1)) return from_poly(std::move(p));
      const DimId parts[] = {operands[0], build2(DimKind::mul, t_.constant(-1), operands[1])};
      return as_given(DimKind::add, parts);
    }
    case DimKind::mul: return product(operands);
    case DimKind::floor_div: return floor_div(operands[0], operands[1]);
    case DimKind::ceil_div: return ceil_div(operands[0], operands[1]);
    case DimKind::mod: return mod(operands[0], operands[1]);
    case DimKind::min:
    case DimKind::max: return least_or_greatest(kind, operands);
    case DimKind::bcast: return broadcast(operands);
    default: bug("dim kind ", static_cast<int32_t>(kind), " is not built from operands");
  }
}

bool DimAlgebra::divisible(const DimTable& t, DimId d, int64_t by, int depth) {
  if (by == INT64_MIN || by == 0) return false;
  by = by < 0 ? -by : by;
  if (by == 1) return true;
  const auto multiple = [&](DimId row) {
    const auto at = row == no_dim ? t.multiples_.end() : t.multiples_.find(row);
    return at == t.multiples_.end() ? int64_t{1} : at->second;
  };
  if (multiple(d) % by == 0) return true;
  const Poly p = poly_of(t, d);
  for (const Term& term : p.terms) {
    if (term.coef == INT64_MIN) return false;
    int64_t rest = by / std::gcd(by, term.coef);
    // A fact on the whole product and facts on its factors say the same thing twice, so they are not combined.
    if (term.atoms.size() > 1 && multiple(t.find(DimKind::mul, 0, term.atoms)) % rest == 0) continue;
    for (const DimId atom : term.atoms) {
      if (rest == 1) break;
      rest /= std::gcd(rest, multiple(atom));
      if (rest == 1 || depth == 0 || t.kind(atom) != DimKind::floor_div) continue;
      int64_t whole;
      const auto inner = t.as_constant(t.operands(atom)[1]);
      if (!inner || __builtin_mul_overflow(*inner, rest, &whole)) continue;
      if (divisible(t, t.operands(atom)[0], whole, depth - 1)) rest = 1;
    }
    if (rest != 1) return false;
  }
  return true;
}

bool DimAlgebra::never_zero(const DimTable& t, DimId d) {
  const Bounds b = t.bounds(d);
  return b.lo > 0 || b.hi < 0;
}

}  // namespace ingot::ir
