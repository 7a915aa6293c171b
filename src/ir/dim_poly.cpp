#include "ir/dim_poly.h"

#include <algorithm>
#include <numeric>

namespace ingot::ir {

std::optional<int64_t> Poly::as_constant() const {
  if (terms.empty()) return 0;
  if (terms.size() == 1 && terms[0].atoms.empty()) return terms[0].coef;
  return std::nullopt;
}

int64_t Poly::constant_term() const { return !terms.empty() && terms.back().atoms.empty() ? terms.back().coef : 0; }

Poly Poly::of(int64_t constant) {
  Poly p;
  if (constant != 0) p.terms.push_back({constant, {}});
  return p;
}

Poly Poly::of_atom(DimId atom, int64_t coef) {
  Poly p;
  p.terms.push_back({coef, {atom}});
  return p;
}

int compare(const std::vector<DimId>& a, const std::vector<DimId>& b) {
  if (a.size() != b.size()) return a.size() > b.size() ? -1 : 1;
  const auto [x, y] = std::mismatch(a.begin(), a.end(), b.begin());
  return x == a.end() ? 0 : *x < *y ? -1 : 1;
}

bool add_scaled(Poly& into, const Poly& p, int64_t k) {
  Poly sum;
  sum.terms.reserve(into.terms.size() + p.terms.size());
  size_t i = 0, j = 0;
  while (i < into.terms.size() || j < p.terms.size()) {
    const int order = i == into.terms.size() ? 1
                      : j == p.terms.size()  ? -1
                                             : compare(into.terms[i].atoms, p.terms[j].atoms);
    if (order < 0) {
      sum.terms.push_back(into.terms[i++]);
      continue;
    }
    int64_t coef;
    if (__builtin_mul_overflow(p.terms[j].coef, k, &coef)) return false;
    if (order == 0 && __builtin_add_overflow(coef, into.terms[i++].coef, &coef)) return false;
    if (coef != 0) sum.terms.push_back({coef, p.terms[j].atoms});
    ++j;
  }
  if (sum.terms.size() > max_terms) return false;
  into = std::move(sum);
  return true;
}

std::optional<Poly> multiply(const Poly& a, const Poly& b) {
  Poly result;
  for (const Term& x : a.terms) {
    Poly row;  // x times b keeps b's order
    for (const Term& y : b.terms) {
      Term t;
      if (x.atoms.size() + y.atoms.size() > max_degree || __builtin_mul_overflow(x.coef, y.coef, &t.coef)) return {};
      std::merge(x.atoms.begin(), x.atoms.end(), y.atoms.begin(), y.atoms.end(), std::back_inserter(t.atoms));
      row.terms.push_back(std::move(t));
    }
    if (!add_scaled(result, row, 1)) return {};
  }
  return result;
}

std::optional<Poly> divide(const Poly& a, const Poly& b) {
  Poly rest = a, quotient;
  const Term& lead = b.terms.front();
  // Each step removes the leading term of `rest` and adds only lower ones; the bound covers quotients that never end up
  // exact but keep producing terms.
  for (size_t step = 0; !rest.is_zero(); ++step) {
    const Term& top = rest.terms.front();
    if (step > max_terms || top.coef == INT64_MIN || top.coef % lead.coef != 0) return {};
    if (!std::includes(top.atoms.begin(), top.atoms.end(), lead.atoms.begin(), lead.atoms.end())) return {};
    Poly q;
    q.terms.push_back({top.coef / lead.coef, {}});
    std::set_difference(top.atoms.begin(), top.atoms.end(), lead.atoms.begin(), lead.atoms.end(),
                        std::back_inserter(q.terms[0].atoms));
    const std::optional<Poly> part = multiply(q, b);
    if (!part || !add_scaled(rest, *part, -1) || !add_scaled(quotient, q, 1)) return {};
  }
  return quotient;
}

int64_t content(const Poly& p) {
  int64_t g = 0;
  for (const Term& t : p.terms)
    if (!t.atoms.empty()) g = std::gcd(g, t.coef == INT64_MIN ? 1 : t.coef);  // its absolute value does not exist
  return g;
}

void drop_constant(Poly& p) {
  if (p.constant_term() != 0) p.terms.pop_back();
}

bool add_constant(Poly& p, int64_t k) { return add_scaled(p, Poly::of(k), 1); }

int64_t floor_quotient(int64_t a, int64_t b) { return a / b - (a % b < 0); }
int64_t floor_remainder(int64_t a, int64_t b) { return a % b + (a % b < 0 ? b : 0); }

}  // namespace ingot::ir
