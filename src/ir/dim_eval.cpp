// Bounds of dims, their values in a run, and the checks on those.
#include <algorithm>
#include <numeric>

#include "ir/dim_algebra.h"

namespace ingot::ir {

namespace {
constexpr int64_t unset = INT64_MIN;

Int128 wide_quotient(Int128 a, Int128 b) { return a / b - ((a % b != 0) && ((a < 0) != (b < 0))); }

// "4 to 8", "at least 4": a side that no one gave is left out.
std::string bounds_text(int64_t lo, int64_t hi) {
  if (lo == hi) return cat(lo);
  if (hi == max_extent) return cat("at least ", lo);
  return lo == 0 ? cat("at most ", hi) : cat(lo, " to ", hi);
}
}  // namespace

Int128 quotient(DimKind kind, int64_t a, int64_t b) {
  const Int128 q = wide_quotient(a, b), r = a - q * b;
  return kind == DimKind::mod ? r : kind == DimKind::floor_div ? q : q + (r != 0);
}

int64_t saturate(Int128 v) { return v > INT64_MAX ? INT64_MAX : v < INT64_MIN ? INT64_MIN : static_cast<int64_t>(v); }

Bounds interval_sum(Bounds a, Bounds b) {
  return {saturate(static_cast<Int128>(a.lo) + b.lo), saturate(static_cast<Int128>(a.hi) + b.hi)};
}

Bounds interval_product(Bounds a, Bounds b) {
  const auto [lo, hi] =
      std::minmax({saturate(static_cast<Int128>(a.lo) * b.lo), saturate(static_cast<Int128>(a.lo) * b.hi),
                   saturate(static_cast<Int128>(a.hi) * b.lo), saturate(static_cast<Int128>(a.hi) * b.hi)});
  return {lo, hi};
}

Bounds interval_quotient(Bounds a, Bounds b, bool up) {
  // A divisor of 0 never evaluates, so a divisor of either sign is all that has to be widened.
  if (b.lo == 0) b.lo = 1;
  if (b.hi == 0) b.hi = -1;
  if (b.lo > b.hi || (b.lo < 0 && b.hi > 0)) return {INT64_MIN, INT64_MAX};
  const auto div = [up](int64_t x, int64_t y) {
    return saturate(up ? -wide_quotient(-static_cast<Int128>(x), y) : wide_quotient(x, y));
  };
  const auto [lo, hi] = std::minmax({div(a.lo, b.lo), div(a.lo, b.hi), div(a.hi, b.lo), div(a.hi, b.hi)});
  return {lo, hi};
}

Bounds DimAlgebra::bounds(const DimTable& t, const Poly& p) {
  // Sums are clipped once at the end: clipping in between would forget a negative part of a large sum.
  Int128 lo = 0, hi = 0;
  for (const Term& term : p.terms) {
    Bounds b{1, 1};
    for (const DimId atom : term.atoms) b = interval_product(b, t.bounds(atom));
    b = interval_product(b, {term.coef, term.coef});
    lo += b.lo, hi += b.hi;
  }
  return {saturate(lo), saturate(hi)};
}

Bounds DimTable::bounds_of_row(DimId d) const {
  const std::span<const DimId> ops = operands(d);
  switch (rows_[d].kind) {
    case DimKind::constant: return {rows_[d].value, rows_[d].value};
    case DimKind::symbol: return meta_[d].bounds;
    case DimKind::add: {
      Bounds sum{0, 0};
      if (rows_[d].value == 0) return DimAlgebra::bounds(*this, DimAlgebra::poly_of(*this, d));
      for (const DimId op : ops) sum = interval_sum(sum, bounds(op));
      return sum;
    }
    case DimKind::mul: {
      Bounds product{1, 1};
      for (const DimId op : ops) product = interval_product(product, bounds(op));
      return product;
    }
    case DimKind::floor_div: return interval_quotient(bounds(ops[0]), bounds(ops[1]), false);
    case DimKind::ceil_div: return interval_quotient(bounds(ops[0]), bounds(ops[1]), true);
    case DimKind::mod: {
      const Bounds a = bounds(ops[0]), b = bounds(ops[1]);
      if (b.lo < 0) return {INT64_MIN, INT64_MAX};
      const int64_t top = std::max<int64_t>(b.hi, 1) - 1;
      return {0, a.lo >= 0 ? std::min(top, a.hi) : top};
    }
    case DimKind::min:
    case DimKind::max: {
      Bounds all = bounds(ops[0]);
      for (const DimId op : ops.subspan(1)) {
        const Bounds b = bounds(op);
        if (rows_[d].kind == DimKind::min) all = {std::min(all.lo, b.lo), std::min(all.hi, b.hi)};
        else all = {std::max(all.lo, b.lo), std::max(all.hi, b.hi)};
      }
      return all;
    }
    default: {  // bcast: one of the operands, and that one where it cannot be 1
      Bounds all = bounds(ops[0]), meet{INT64_MIN, INT64_MAX};
      for (const DimId op : ops) {
        const Bounds b = bounds(op);
        all = {std::min(all.lo, b.lo), std::max(all.hi, b.hi)};
        if (b.lo > 1 || b.hi < 1) meet = {std::max(meet.lo, b.lo), std::min(meet.hi, b.hi)};
      }
      return {std::max(all.lo, meet.lo), std::min(all.hi, meet.hi)};
    }
  }
}

void DimTable::evaluate(std::span<int64_t> values) const {
  if (values.size() != rows_.size()) bug("evaluate() got ", values.size(), " values for ", rows_.size(), " dims");
  const auto overflow = [&](DimId d) { fail(Code::invalid_argument, "dim ", to_string(d), " overflows"); };
  for (DimId d = 0; d < rows_.size(); ++d) {
    const Row& row = rows_[d];
    if (row.kind == DimKind::symbol) continue;
    values[d] = unset;
    if (row.kind == DimKind::constant) {
      values[d] = row.value;
      continue;
    }
    const std::span<const DimId> ops = operands(d);
    if (row.kind == DimKind::add) {
      // In 128 bits, and a term that is only part of sums may pass 64: A*C - B*C is in range more often than A*C.
      Int128 sum = 0;
      bool known = true;
      for (const DimId op : ops) {
        Int128 term = values[op];
        if (term == unset && rows_[op].kind == DimKind::mul) {
          term = 1;
          for (const DimId factor : operands(op)) {
            known = known && values[factor] != unset;
            if (known && __builtin_mul_overflow(term, static_cast<Int128>(values[factor]), &term)) overflow(d);
          }
        }
        known = known && term != unset;
        if (known && __builtin_add_overflow(sum, term, &sum)) overflow(d);
      }
      if (!known) continue;
      if (sum > INT64_MAX || sum <= INT64_MIN) overflow(d);
      values[d] = static_cast<int64_t>(sum);
      continue;
    }
    if (std::ranges::any_of(ops, [&](DimId op) { return values[op] == unset; })) continue;
    const int64_t a = values[ops[0]];
    switch (row.kind) {
      case DimKind::mul: {
        int64_t product = 1;
        bool over = false;
        for (const DimId op : ops) over = __builtin_mul_overflow(product, values[op], &product) || over;
        if (std::ranges::any_of(ops, [&](DimId op) { return values[op] == 0; })) product = 0, over = false;
        over = over || product == unset;
        if (over && row.hi == 1) overflow(d);
        values[d] = over ? unset : product;
        break;
      }
      case DimKind::floor_div:
      case DimKind::ceil_div:
      case DimKind::mod: {
        const int64_t b = values[ops[1]];
        if (b == 0) fail(Code::invalid_argument, "dim ", to_string(d), " divides by 0: ", to_string(ops[1]), " is 0");
        const Int128 q = quotient(row.kind, a, b);
        if (q > INT64_MAX || q <= INT64_MIN) overflow(d);
        values[d] = static_cast<int64_t>(q);
        break;
      }
      case DimKind::min:
      case DimKind::max:
        values[d] = a;
        for (const DimId op : ops)
          values[d] = row.kind == DimKind::min ? std::min(values[d], values[op]) : std::max(values[d], values[op]);
        break;
      default: {
        DimId from = no_dim;
        values[d] = 1;
        for (const DimId op : ops) {
          if (values[op] == 1) continue;
          if (from != no_dim && values[d] != values[op]) {
            const auto by = broadcast_by_.find(d);
            const std::string needed_by = by == broadcast_by_.end() ? "" : cat(by->second, ": ");
            fail(Code::invalid_argument, needed_by, "extents do not broadcast: ", named(from, values), " and ",
                 named(op, values));
          }
          values[d] = values[op];
          from = op;
        }
      }
    }
  }
}

std::string DimTable::named(DimId d, std::span<const int64_t> values) const {
  if (kind(d) == DimKind::constant) return to_string(d);
  return cat(to_string(d), " = ", values[d]);
}

void DimTable::check(std::span<const int64_t> values) const {
  if (values.size() != rows_.size()) bug("check() got ", values.size(), " values for ", rows_.size(), " dims");
  for (const DimId d : symbols_) {
    if (values[d] == unset) continue;
    if (values[d] < rows_[d].value || values[d] > rows_[d].hi) {
      fail(Code::invalid_argument, "symbol ", symbol_name(d), " is ", values[d], " here, but is declared to be ",
           bounds_text(rows_[d].value, rows_[d].hi));
    }
  }
  for (const Fact& fact : facts_) {
    const DimId first = fact.dims[0];
    if (std::ranges::any_of(fact.dims, [&](DimId d) { return values[d] == unset; })) continue;
    const auto broken = [&](const auto&... what) {
      fail(Code::invalid_argument, fact.op, fact.op.empty() ? "" : ": ", what...);
    };
    const auto about = [&] { return fact.why.empty() ? "" : cat(" (", fact.why, ")"); };
    for (const DimId other : std::span(fact.dims).subspan(1)) {
      if (fact.fact == DimFact::equal && values[first] != values[other]) {
        // max(0, d) == d is how d >= 0 is kept.
        if (!fact.why.empty() && kind(first) == DimKind::max && values[first] == 0 && values[other] < 0)
          broken(fact.why, " is ", named(other, values), ", which is negative");
        broken(to_string(first), " == ", to_string(other), " does not hold: ", named(first, values), " and ",
               named(other, values), about());
      }
      if (fact.fact == DimFact::divisible && (values[other] == 0 || values[first] % values[other] != 0))
        broken(named(first, values), ", not divisible by ", named(other, values), about());
    }
  }
}

}  // namespace ingot::ir
