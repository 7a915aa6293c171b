// Facts about dims, and what they change in the rows that exist.
#include <algorithm>
#include <numeric>
#include <tuple>

#include "ir/dim_algebra.h"
#include "ir/dim_consistency.h"

namespace ingot::ir {

namespace {
constexpr size_t searched_pairs = 256;  // symbolic divisibility facts that simplification looks at
constexpr size_t searched_facts = 64;   // newest facts compared with a new one; a fact recorded twice does no harm
constexpr int64_t rebuild_cost = 256;   // a row rebuilt, in rows visited

DimTable::Fact stated(DimFact fact, DimId a, DimId b, FactCause cause) {
  return {fact, {a, b}, cause.op, !cause.op.empty(), std::string(cause.why)};
}
}  // namespace

bool DimTable::is_recorded(DimFact fact, std::span<const DimId> dims) const {
  const size_t from = facts_.size() > searched_facts ? facts_.size() - searched_facts : 0;
  return std::any_of(facts_.begin() + static_cast<std::ptrdiff_t>(from), facts_.end(),
                     [&](const Fact& f) { return f.fact == fact && std::ranges::equal(f.dims, dims); });
}

bool DimTable::known_multiple(DimId a, DimId b) const {
  const auto end = divisible_.begin() + static_cast<std::ptrdiff_t>(std::min(divisible_.size(), searched_pairs));
  return std::any_of(divisible_.begin(), end, [&](const Divisible& p) { return p.a == a && p.b == b; });
}

void DimTable::assume(DimFact fact, std::span<const DimId> dims, FactCause cause) {
  check_ids(dims);
  if (fact != DimFact::divisible && fact != DimFact::equal) {
    fail(Code::invalid_argument, "no fact has the number ", static_cast<int32_t>(fact));
  }
  if (fact == DimFact::divisible && dims.size() != 2) {
    fail(Code::invalid_argument, "the fact `divisible` takes 2 dims, not ", dims.size());
  }
  if (dims.size() < 2) fail(Code::invalid_argument, "the fact `equal` takes 2 dims or more");
  const std::vector<DimId> all(dims.begin(), dims.end());
  const Mark before = mark();
  try {
    assume_known(fact, all, cause);
  } catch (...) {  // the third may contradict after the second was taken in, or memory run out on the way
    rollback(before);
    throw;
  }
  late_ = late_ || (used_ && cause.op.empty());
}

void DimTable::assume_known(DimFact fact, std::span<const DimId> dims, FactCause cause) {
  if (fact == DimFact::divisible) return assume_divisible(simplified(dims[0]), simplified(dims[1]), cause);
  for (size_t i = 1; i < dims.size(); ++i) assume_equal(simplified(dims[0]), simplified(dims[i]), cause);
}

void DimTable::assume_nonnegative(DimId d, FactCause cause) {
  check_ids({&d, 1});
  const Mark before = mark();
  const Bounds b = bounds(d);
  if (b.lo >= 0) return;
  if (b.hi < 0) fail(Code::invalid_argument, "extent ", to_string(d), " is negative");
  try {
    const DimId zero_or_more[] = {constant(0), d};
    assume_equal(expr(DimKind::max, zero_or_more), d, cause);
  } catch (...) {
    rollback(before);
    throw;
  }
  late_ = late_ || (used_ && cause.op.empty());
}

// d >= 0 of c*S + k, with S a symbol and c > 0, is a lower bound of S. False if d is nothing like that.
bool DimTable::learn_nonnegative(DimId d) {
  const Poly p = DimAlgebra::poly_of(*this, d);
  const int64_t k = p.constant_term();
  if (p.terms.size() != 2 || k >= 0 || k == INT64_MIN) return false;
  const int64_t c = p.terms[0].coef;
  const DimId s = p.terms[0].atoms[0];
  if (c <= 0 || p.terms[0].atoms.size() != 1 || kind(s) != DimKind::symbol) return false;
  const int64_t lo = -k / c + (-k % c != 0);
  if (lo > meta_[s].bounds.hi) throw Contradiction(cat("extent ", to_string(d), " is always negative"));
  meta_[s].bounds.lo = std::max(meta_[s].bounds.lo, lo);
  refresh(s, s);
  return true;
}

void DimTable::assume_divisible(DimId a, DimId b, FactCause cause) {
  const DimId given[] = {a, b};
  const DimId ca = canonical(a), cb = canonical(b);
  const bool learns = refresh_budget_ > 0;
  const auto record = [&] {
    // One that changes canonical forms is recorded even if it is there already: rollback() goes by their number.
    if (learns || !is_recorded(DimFact::divisible, given)) facts_.push_back(stated(DimFact::divisible, a, b, cause));
  };
  const auto contradiction = [&] { throw Contradiction(cat(to_string(a), " cannot be divisible by ", to_string(b))); };
  const auto by = as_constant(b);
  if (!by) {
    check_dividend(ca, cb);
    // A multiple of every coefficient of b: 2*B does not divide 1.
    const Poly divisor = DimAlgebra::poly_of(*this, cb);
    const int64_t k = divisor.constant_term(), g = std::gcd(content(divisor), k == INT64_MIN ? 1 : k);
    const Bounds range = bounds(b);
    const auto value = as_constant(a);
    if (range.lo == 0 && range.hi == 0) contradiction();
    if (value && *value != 0 && (*value % g != 0 || range.lo > (*value < -INT64_MAX ? INT64_MAX : std::abs(*value))))
      contradiction();
    if (known_multiple(ca, cb)) return;
    record();
    if (!learns) return;
    divisible_.push_back({ca, cb});
    refresh(ca, ca);
    return;
  }
  if (*by == 0 || *by == INT64_MIN) contradiction();
  int64_t c = *by < 0 ? -*by : *by;
  if (const auto value = as_constant(a); value && *value % c != 0) contradiction();
  if (const Bounds range = bounds(a); range.lo > 0 && range.hi / c < (range.lo - 1) / c + 1) contradiction();
  if (known_divisible(a, c)) return;
  const DimId remainder[] = {ca, constant(c)};
  if (const auto left = as_constant(expr(DimKind::mod, remainder)); left && *left != 0) contradiction();
  record();
  if (!learns) return;
  const DimId root = learn_multiple(ca, c);
  refresh(root, root);
}

// Returns the row that now carries the knowledge: g*p is divisible by c just where p is by c / gcd(g, c).
DimId DimTable::learn_multiple(DimId d, int64_t c) {
  Poly p = DimAlgebra::poly_of(*this, d);
  const int64_t k = p.constant_term();
  const int64_t g = std::gcd(content(p), k == INT64_MIN ? 1 : k);
  if (g == 0) return d;
  for (Term& t : p.terms) t.coef /= g;
  c /= std::gcd(g, c);
  const DimId root = DimAlgebra(*this).from_poly(std::move(p));
  int64_t& known = multiples_.try_emplace(root, 1).first->second;
  int64_t both;
  known = __builtin_mul_overflow(known / std::gcd(known, c), c, &both) ? c : both;
  return root;
}

void DimTable::assume_equal(DimId a, DimId b, FactCause cause) {
  if (kind(a) == DimKind::mod && is_constant(b, 0)) return assume_divisible(operands(a)[0], operands(a)[1], cause);
  const DimId given[] = {a, b};
  if (known_equal(a, b)) return;
  const auto record = [&] {
    if (!is_recorded(DimFact::equal, given)) facts_.push_back(stated(DimFact::equal, a, b, cause));
  };
  const auto contradiction = [&] {
    const auto side = [&](DimId d) {
      const std::string written = to_string(d), known = to_string(canonical(d));
      return written == known ? written : cat(written, " (", known, ")");
    };
    throw Contradiction(cat(side(a), " == ", side(b), " contradicts what is known of them"));
  };
  const Bounds range_a = bounds(a), range_b = bounds(b);
  if (std::max(range_a.lo, range_b.lo) > std::min(range_a.hi, range_b.hi)) contradiction();
  Poly difference = DimAlgebra::poly_of(*this, canonical(a));
  if (!add_scaled(difference, DimAlgebra::poly_of(*this, canonical(b)), -1)) return record();
  const int64_t g = content(difference);
  if (g == 0 || difference.constant_term() % g != 0) contradiction();
  const Bounds range = DimAlgebra::bounds(*this, difference);
  if (range.lo > 0 || range.hi < 0) contradiction();
  for (Term& t : difference.terms) t.coef /= g;

  // x == d * (x / d) says that d divides x.
  for (const Term& t : difference.terms) {
    for (const DimId atom : t.atoms) {
      if (kind(atom) != DimKind::floor_div) continue;
      const DimId x = operands(atom)[0], d = operands(atom)[1];
      const std::optional<Poly> rounded = multiply(DimAlgebra::poly_of(*this, d), Poly::of_atom(atom));
      Poly plus = difference, minus = difference;
      if (!rounded || !add_scaled(plus, *rounded, 1) || !add_scaled(minus, *rounded, -1)) continue;
      const Poly dividend = DimAlgebra::poly_of(*this, x);
      if ((add_scaled(plus, dividend, -1) && plus.is_zero()) || (add_scaled(minus, dividend, 1) && minus.is_zero()))
        return assume_divisible(x, d, cause);
    }
  }

  // max(0, d) == d says d >= 0.
  for (const auto& [m, d] : {std::pair(canonical(a), canonical(b)), std::pair(canonical(b), canonical(a))}) {
    if (kind(m) != DimKind::max || operands(m).size() != 2 || refresh_budget_ <= 0) continue;
    const std::vector<DimId> parts(operands(m).begin(), operands(m).end());
    const bool clipped = (is_constant(parts[0], 0) && parts[1] == d) || (is_constant(parts[1], 0) && parts[0] == d);
    if (!clipped) continue;
    facts_.push_back(stated(DimFact::equal, a, b, cause));  // first, since rollback() goes by their number
    if (learn_nonnegative(d)) return;
    facts_.pop_back();
  }

  // Solve for one term with coefficient 1 or -1 that does not occur in the rest: best a symbol, then another atom, then
  // a product; best where the rest has no negative part, then the last in name order, so that the choice does not
  // depend on ids.
  struct Choice {
    int rank;
    bool positive;
    std::string text;
    size_t index;
  };
  std::optional<Choice> best;
  for (size_t i = 0; i < difference.terms.size(); ++i) {
    const Term& t = difference.terms[i];
    if (t.atoms.empty() || (t.coef != 1 && t.coef != -1)) continue;
    bool inside = false, positive = true, plain = true;
    std::vector<DimId> reached;  // every row that the rest is made of
    for (size_t j = 0; j < difference.terms.size(); ++j) {
      if (j == i) continue;
      positive = positive && (difference.terms[j].coef < 0) == (t.coef > 0);
      reached.insert(reached.end(), difference.terms[j].atoms.begin(), difference.terms[j].atoms.end());
    }
    for (const DimId d : reached) plain = plain && kind(d) == DimKind::symbol;
    if (t.atoms.size() == 1 && !plain) {
      std::vector<bool> seen(rows_.size(), false);
      for (size_t at = 0; at < reached.size(); ++at) {
        for (const DimId op : operands(reached[at])) {
          if (seen[op]) continue;
          seen[op] = true;
          reached.push_back(op);
        }
      }
    }
    if (t.atoms.size() == 1) inside = std::ranges::find(reached, t.atoms[0]) != reached.end();
    if (inside || (t.atoms.size() > 1 && !plain)) continue;
    const bool is_symbol = t.atoms.size() == 1 && kind(t.atoms[0]) == DimKind::symbol;
    std::string text;
    for (const DimId d : t.atoms) text += to_string(d) + ' ';
    Choice choice{is_symbol ? 2 : t.atoms.size() == 1 ? 1 : 0, positive, std::move(text), i};
    if (!best || std::tie(choice.rank, choice.positive, choice.text) > std::tie(best->rank, best->positive, best->text))
      best = std::move(choice);
  }
  if (!best || refresh_budget_ <= 0) return record();

  const Term solved = difference.terms[best->index];
  Poly rest;
  difference.terms.erase(difference.terms.begin() + static_cast<std::ptrdiff_t>(best->index));
  if (!add_scaled(rest, difference, solved.coef == 1 ? -1 : 1)) return record();
  const DimId target = DimAlgebra(*this).from_poly(std::move(rest));
  DimId root = solved.atoms[0];
  if (solved.atoms.size() > 1) root = intern(DimKind::mul, 0, solved.atoms);
  const Bounds mine = bounds(root), theirs = bounds(target);
  const Bounds common{std::max(mine.lo, theirs.lo), std::min(mine.hi, theirs.hi)};
  if (common.lo > common.hi) contradiction();
  facts_.push_back(stated(DimFact::equal, a, b, cause));  // even a second time: rollback() goes by their number
  product_rules_ = product_rules_ || solved.atoms.size() > 1;
  if (kind(target) != DimKind::constant) meta_[target].bounds = common;
  refresh(root, target);
}

// Makes `canon` the canonical form of `root` and rebuilds what depends on either, in id order: operands come before
// the rows that use them. Returns false once the budget is used up; nothing depends on its success but precision.
bool DimTable::refresh(DimId root, DimId canon) {
  const size_t count = rows_.size();
  ++lessons_;
  meta_[root].canon = canon;
  std::vector<bool> dirty(count, false);
  dirty[root] = dirty[canon] = true;
  if (kind(root) == DimKind::mul) {  // and what has the same factors with another coefficient
    const std::vector<Term> product = DimAlgebra::poly_of(*this, root).terms;
    for (DimId d = 0; d < count; ++d) {
      if (kind(d) != DimKind::mul || operands(d).size() > product[0].atoms.size() + 1) continue;
      const std::vector<Term> terms = DimAlgebra::poly_of(*this, d).terms;
      if (terms.size() == 1 && terms[0].atoms == product[0].atoms) dirty[d] = true;
    }
  }
  for (DimId d = 0; d < count; ++d) {
    const std::span<const DimId> ops = operands(d);
    if (!dirty[d] && std::ranges::none_of(ops, [&](DimId op) { return dirty[op]; })) continue;
    dirty[d] = true;
    // A broadcast known to be one of its operands may by now be another one, which it has to be whatever came first.
    const bool again = rows_[d].kind == DimKind::bcast && d != root;
    if ((meta_[d].canon != d && !again) || ops.empty()) continue;
    refresh_budget_ -= rebuild_cost;
    if (refresh_budget_ <= 0) break;
    const Bounds fresh = bounds_of_row(d);
    meta_[d].bounds = {std::max(fresh.lo, meta_[d].bounds.lo), std::min(fresh.hi, meta_[d].bounds.hi)};
    std::vector<DimId> now(ops.size());
    std::ranges::transform(ops, now.begin(), [&](DimId op) { return canonical(op); });
    try {
      const DimId built = DimAlgebra(*this).build(rows_[d].kind, now);
      if (built != d) meta_[d].canon = built;
    } catch (const Error&) {
      // Known now to fail in every run: evaluate() reports it there.
    }
  }
  // Forms that were canonical may have moved on; a cycle cannot arise from equal steps towards simpler forms, but a
  // bound costs nothing.
  for (DimId d = 0; d < rows_.size(); ++d)
    for (int step = 0; step < 64 && meta_[meta_[d].canon].canon != meta_[d].canon; ++step)
      meta_[d].canon = meta_[meta_[d].canon].canon;
  for (Divisible& p : divisible_) p = {canonical(p.a), canonical(p.b)};
  std::vector<std::pair<DimId, int64_t>> moved;
  for (const auto& [d, by] : multiples_)
    if (canonical(d) != d) moved.emplace_back(canonical(d), by);
  for (const auto& [d, by] : moved) learn_multiple(d, by);
  refresh_budget_ -= static_cast<int64_t>(count);
  return refresh_budget_ > 0;
}

}  // namespace ingot::ir
