// Quotients, remainders, minima, maxima and broadcasts of dims.
#include <algorithm>
#include <numeric>

#include "ir/dim_algebra.h"

namespace ingot::ir {

std::optional<Poly> DimAlgebra::split(const Term& t, int64_t by) {
  if (t.coef == INT64_MIN) return {};
  int64_t g = std::gcd(t.coef, by), rest = by / g;
  Poly q;
  q.terms.push_back({t.coef / g, {}});
  if (rest == 1) {
    q.terms[0].atoms = t.atoms;
    return q;
  }
  if (t_.multiples_.empty()) return {};
  for (const DimId atom : t.atoms) {
    Poly factor = Poly::of_atom(atom);
    const auto known = t_.multiples_.find(atom);
    if (divisible(t_, atom, rest)) {
      g = rest;
    } else {
      g = known == t_.multiples_.end() ? 1 : std::gcd(rest, known->second);
    }
    if (g > 1) {
      // (x / a) / g joins to x / (a * g), like any nested quotient; a plain atom becomes the quotient's dividend.
      if (t_.kind(atom) == DimKind::floor_div) {
        factor = poly(floor_div(std::move(factor), g));
      } else {
        const DimId parts[] = {atom, t_.constant(g)};
        factor = Poly::of_atom(t_.intern(DimKind::floor_div, 0, parts));
      }
      rest /= g;
    }
    std::optional<Poly> next = multiply(q, factor);
    if (!next) return {};
    q = std::move(*next);
  }
  if (rest != 1) return {};
  return q;
}

DimId DimAlgebra::floor_div(Poly p, int64_t by) {
  Poly whole;  // the exact part, added to the quotient of the rest
  const auto finish = [&](DimId quotient) {
    Poly q = poly(quotient);
    if (add_scaled(q, whole, 1)) return from_poly(std::move(q));
    return build2(DimKind::add, quotient, from_poly(whole));
  };
  for (;;) {
    if (by == 1) return finish(from_poly(std::move(p)));
    int64_t constant = p.constant_term();
    Poly rest;
    for (const Term& t : p.terms) {
      if (t.atoms.empty()) continue;
      // c*m = by * (c / by) * m + (c % by) * m; a single atom is split only if its own quotient does not reproduce it.
      Poly exact, left;
      const bool plain = t.coef == 1 && t.atoms.size() == 1;
      if (const std::optional<Poly> q = plain ? std::nullopt : split(t, by)) {
        exact = *q;
      } else if (plain && p.terms.size() > 1 && divisible(t_, t.atoms[0], by)) {
        const DimId parts[] = {t.atoms[0], t_.constant(by)};
        exact = t_.kind(t.atoms[0]) == DimKind::floor_div ? poly(floor_div(Poly::of_atom(t.atoms[0]), by))
                                                          : Poly::of_atom(t_.intern(DimKind::floor_div, 0, parts));
      } else {
        if (t.coef / by != 0) exact.terms.push_back({t.coef / by, t.atoms});
        if (t.coef % by != 0) left.terms.push_back({t.coef % by, t.atoms});
      }
      Poly next = whole;
      if (!add_scaled(next, exact, 1) || !add_scaled(rest, left, 1))
        fail(Code::invalid_argument, "dim expression too large");
      whole = std::move(next);
    }
    if (rest.is_zero()) return finish(t_.constant(floor_quotient(constant, by)));

    // floor((g*r + k) / (g*b)) = floor((r + floor(k / g)) / b)
    const int64_t g = std::gcd(content(rest), by);
    for (Term& t : rest.terms) t.coef /= g;
    constant = floor_quotient(constant, g);
    by /= g;
    if (!add_constant(whole, floor_quotient(constant, by))) fail(Code::invalid_argument, "overflow in a constant dim");
    constant = floor_remainder(constant, by);
    if (by == 1) return finish(from_poly(std::move(rest)));

    // floor((floor(x / a) + k) / b) = floor((x + a*k) / (a*b))
    if (rest.terms.size() == 1 && rest.terms[0].coef == 1 && rest.terms[0].atoms.size() == 1) {
      const DimId atom = rest.terms[0].atoms[0];
      if (t_.kind(atom) == DimKind::floor_div) {
        const auto inner = t_.as_constant(t_.operands(atom)[1]);
        int64_t product, shift;
        Poly x = poly(t_.operands(atom)[0]);
        if (inner && *inner > 0 && !__builtin_mul_overflow(*inner, by, &product) &&
            !__builtin_mul_overflow(*inner, constant, &shift) && add_constant(x, shift)) {
          p = std::move(x);
          by = product;
          continue;
        }
      }
    }
    if (!add_constant(rest, constant)) fail(Code::invalid_argument, "dim expression too large");
    const Bounds range = bounds(t_, rest);
    if (floor_quotient(range.lo, by) == floor_quotient(range.hi, by))
      return finish(t_.constant(floor_quotient(range.lo, by)));
    const DimId parts[] = {from_poly(std::move(rest)), t_.constant(by)};
    return finish(t_.intern(DimKind::floor_div, 0, parts));
  }
}

std::optional<DimId> DimAlgebra::divide_constants(DimKind kind, DimId a, DimId b) {
  const auto x = t_.as_constant(a), by = t_.as_constant(b);
  if (by == 0) fail(Code::invalid_argument, "dim expression divides by 0");
  if (!x || !by) return {};
  const Int128 q = quotient(kind, *x, *by);
  if (q > INT64_MAX) fail(Code::invalid_argument, "overflow in a constant dim");
  return t_.constant(static_cast<int64_t>(q));
}

DimId DimAlgebra::floor_div(DimId a, DimId b) {
  if (const auto whole = divide_constants(DimKind::floor_div, a, b)) return *whole;
  if (const auto by = t_.as_constant(b)) {
    if (*by > 0) return floor_div(poly(a), *by);
    Poly negated;
    if (*by != INT64_MIN && add_scaled(negated, poly(a), -1)) return floor_div(std::move(negated), -*by);
  } else if (never_zero(t_, b)) {
    if (std::optional<Poly> q = divide(poly(a), poly(b))) return from_poly(std::move(*q));
  }
  const DimId parts[] = {a, b};
  return t_.intern(DimKind::floor_div, 0, parts);
}

DimId DimAlgebra::ceil_div(DimId a, DimId b) {
  if (const auto whole = divide_constants(DimKind::ceil_div, a, b)) return *whole;
  if (const auto by = t_.as_constant(b)) {
    const Bounds range = interval_quotient(t_.bounds(a), t_.bounds(b), true);
    if (range.lo == range.hi) return t_.constant(range.lo);
    // As floor((a + b-1) / b), unless b is so large that the sum could overflow where the quotient does not.
    constexpr int64_t moderate = int64_t{1} << 31;
    Poly p = poly(a), negated;
    if (*by > 0 && *by <= moderate && add_constant(p, *by - 1)) return floor_div(std::move(p), *by);
    if (*by < 0 && *by >= -moderate && add_scaled(negated, p, -1) && add_constant(negated, -*by - 1))
      return floor_div(std::move(negated), -*by);
  } else if (never_zero(t_, b)) {
    if (std::optional<Poly> q = divide(poly(a), poly(b))) return from_poly(std::move(*q));
    if (t_.known_multiple(a, b)) return floor_div(a, b);
  }
  const DimId parts[] = {a, b};
  return t_.intern(DimKind::ceil_div, 0, parts);
}

DimId DimAlgebra::mod(const Poly& p, int64_t by) {
  int64_t constant = floor_remainder(p.constant_term(), by);
  Poly rest;
  for (const Term& t : p.terms) {
    if (t.atoms.empty() || split(t, by)) continue;
    rest.terms.push_back({floor_remainder(t.coef, by), t.atoms});
  }
  if (rest.is_zero()) return t_.constant(constant);
  // (g*r + k) mod (g*b) = g * ((r + floor(k / g)) mod b) + k mod g
  const int64_t g = std::gcd(content(rest), by);
  for (Term& t : rest.terms) t.coef /= g;
  by /= g;
  const int64_t low = floor_remainder(constant, g);
  constant = floor_quotient(constant, g);
  const auto finish = [&](const Poly& q) {
    Poly result;
    if (!add_scaled(result, q, g) || !add_constant(result, low))
      fail(Code::invalid_argument, "dim expression too large");
    return from_poly(std::move(result));
  };
  if (by == 1) return finish({});
  if (!add_constant(rest, constant)) fail(Code::invalid_argument, "dim expression too large");
  const Bounds range = bounds(t_, rest);
  const int64_t turns = floor_quotient(range.lo, by);
  if (int64_t shift; turns == floor_quotient(range.hi, by) && !__builtin_mul_overflow(turns, -by, &shift)) {
    if (add_constant(rest, shift)) return finish(rest);
  }
  const DimId parts[] = {from_poly(std::move(rest)), t_.constant(by)};
  return finish(Poly::of_atom(t_.intern(DimKind::mod, 0, parts)));
}

DimId DimAlgebra::mod(DimId a, DimId b) {
  if (const auto whole = divide_constants(DimKind::mod, a, b)) return *whole;
  if (const auto by = t_.as_constant(b)) {
    if (*by > 0) return divisible(t_, a, *by) ? t_.constant(0) : mod(poly(a), *by);
    Poly negated;  // a mod -b = -(-a mod b)
    if (*by != INT64_MIN && add_scaled(negated, poly(a), -1))
      return build2(DimKind::mul, t_.constant(-1), mod(negated, -*by));
  } else if (never_zero(t_, b) && (t_.known_multiple(a, b) || divide(poly(a), poly(b)))) {
    return t_.constant(0);
  }
  const DimId parts[] = {a, b};
  return t_.intern(DimKind::mod, 0, parts);
}

std::vector<DimId> DimAlgebra::flatten(DimKind kind, std::span<const DimId> operands) const {
  std::vector<DimId> parts;
  for (const DimId d : operands) {
    if (t_.kind(d) == kind) {
      const std::span<const DimId> inner = t_.operands(d);
      parts.insert(parts.end(), inner.begin(), inner.end());
    } else {
      parts.push_back(d);
    }
  }
  for (DimId& d : parts) d = t_.canonical(d);
  std::ranges::sort(parts);
  parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
  return parts;
}

bool DimAlgebra::never_above(DimId a, DimId b, int depth) const {
  if (a == b || t_.bounds(a).hi <= t_.bounds(b).lo) return true;
  Poly difference = poly(a);
  if (add_scaled(difference, poly(b), -1) && bounds(t_, difference).hi <= 0) return true;
  if (depth == 0) return false;
  const auto below_b = [&](DimId x) { return never_above(x, b, depth - 1); };
  const auto above_a = [&](DimId x) { return never_above(a, x, depth - 1); };
  switch (t_.kind(a)) {
    case DimKind::max:
      if (std::ranges::all_of(t_.operands(a), below_b)) return true;
      break;
    case DimKind::min:
      if (std::ranges::any_of(t_.operands(a), below_b)) return true;
      break;
    default: break;
  }
  switch (t_.kind(b)) {
    case DimKind::max: return std::ranges::any_of(t_.operands(b), above_a);
    case DimKind::min: return std::ranges::all_of(t_.operands(b), above_a);
    default: return false;
  }
}

DimId DimAlgebra::least_or_greatest(DimKind kind, std::span<const DimId> operands) {
  constexpr size_t compared = 16;  // pairs are compared up to here, to stay linear beyond
  constexpr int nested = 4;        // levels of minima and maxima looked through
  std::vector<DimId> parts = flatten(kind, operands);
  const auto decided = [&](DimId a, DimId b) {  // a never decides, because of b
    return kind == DimKind::min ? never_above(b, a, nested) : never_above(a, b, nested);
  };
  if (parts.size() <= compared) {
    for (size_t i = 0; i < parts.size();) {
      bool drop = false;
      for (size_t j = 0; j < parts.size() && !drop; ++j) drop = j != i && decided(parts[i], parts[j]);
      if (drop) parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(i));
      else ++i;
    }
  }
  return parts.size() == 1 ? parts[0] : t_.intern(kind, 0, parts);
}

DimId DimAlgebra::broadcast(std::span<const DimId> operands) {
  std::vector<DimId> parts = flatten(DimKind::bcast, operands);
  std::erase_if(parts, [&](DimId d) { return t_.is_constant(d, 1); });
  if (parts.empty()) return t_.constant(1);
  // Those that cannot be 1 must all be equal, and the result is theirs.
  std::vector<DimId> wide;
  Bounds meet{INT64_MIN, INT64_MAX};
  for (const DimId d : parts) {
    const Bounds b = t_.bounds(d);
    if (b.lo <= 1 && b.hi >= 1) continue;
    if (std::max(meet.lo, b.lo) > std::min(meet.hi, b.hi)) {
      fail(Code::invalid_argument, "extents ", t_.to_string(wide[0]), " and ", t_.to_string(d), " do not broadcast");
    }
    meet = {std::max(meet.lo, b.lo), std::min(meet.hi, b.hi)};
    wide.push_back(d);
  }
  if (parts.size() == 1) return parts[0];
  // Made even where the result is known: evaluate() checks the operands by this row.
  const DimId checked = t_.intern(DimKind::bcast, 0, parts);
  if (wide.empty()) return checked;
  for (const DimId d : wide)
    if (t_.as_constant(d)) return d;
  // By what it prints as, not by id: the choice must not depend on the order in which symbols came.
  return *std::ranges::min_element(wide, {}, [&](DimId d) { return t_.to_string(d); });
}

}  // namespace ingot::ir
