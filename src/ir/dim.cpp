#include "ir/dim.h"

#include <algorithm>

#include "base/hash.h"
#include "ir/dim_algebra.h"

namespace ingot::ir {

namespace {

constexpr size_t max_symbol_name = 1024;  // expressions repeat names: longer ones would make messages unbounded

uint64_t hash_row(DimKind kind, int64_t value, std::span<const DimId> operands) {
  const uint64_t seed = static_cast<uint64_t>(kind) ^ static_cast<uint64_t>(value) * 0x9e3779b97f4a7c15u;
  return hash64(operands.data(), operands.size_bytes(), seed);
}

}  // namespace

DimId DimTable::find(DimKind kind, int64_t value, std::span<const DimId> ops) const {
  if (buckets_.empty()) return no_dim;
  for (DimId d = buckets_[hash_row(kind, value, ops) & (buckets_.size() - 1)]; d != no_dim; d = meta_[d].next)
    if (rows_[d].kind == kind && rows_[d].value == value && std::ranges::equal(operands(d), ops)) return d;
  return no_dim;
}

void DimTable::index_row(DimId d) {
  DimId& head = buckets_[hash_row(rows_[d].kind, rows_[d].value, operands(d)) & (buckets_.size() - 1)];
  meta_[d].next = head;
  head = d;
}

DimId DimTable::intern(DimKind kind, int64_t value, std::span<const DimId> ops) {
  if (const DimId known = find(kind, value, ops); known != no_dim) return known;

  const bool nests = kind != DimKind::constant && ((kind != DimKind::add && kind != DimKind::mul) || value == 1);
  size_t size = 1, depth = 0;
  for (const DimId d : ops) {
    size += meta_[d].size;
    depth = std::max<size_t>(depth, meta_[d].depth);
  }
  depth += nests;
  if (depth > max_dim_depth) fail(Code::invalid_argument, "dim expression nested deeper than ", max_dim_depth);
  if (size > max_dim_size) fail(Code::invalid_argument, "dim expression of more than ", max_dim_size, " parts");
  if (rows_.size() >= no_dim - 1) fail(Code::invalid_argument, "too many dims");

  const auto d = static_cast<DimId>(rows_.size());
  // `ops` may lie in pool_ itself, which is about to grow.
  const std::vector<DimId> copy(ops.begin(), ops.end());
  std::vector<DimId> wider;
  if (rows_.size() >= buckets_.size()) wider.assign(std::max<size_t>(64, buckets_.size() * 2), no_dim);
  reserve_more(rows_, 1);
  reserve_more(pool_, copy.size());
  reserve_more(meta_, 1);
  rows_.push_back({kind, value, 0, static_cast<uint32_t>(pool_.size()), static_cast<uint32_t>(copy.size())});
  pool_.insert(pool_.end(), copy.begin(), copy.end());
  meta_.push_back({d, no_dim, {}, static_cast<uint32_t>(size), static_cast<uint32_t>(depth)});
  try {
    meta_[d].bounds = bounds_of_row(d);
  } catch (...) {
    rows_.pop_back();
    pool_.resize(pool_.size() - copy.size());
    meta_.pop_back();
    throw;
  }
  if (!wider.empty()) {
    buckets_.swap(wider);
    for (DimId old = 0; old < d; ++old)
      if (rows_[old].kind != DimKind::symbol) index_row(old);
  }
  index_row(d);
  return d;
}

DimId DimTable::constant(int64_t v) { return intern(DimKind::constant, v, {}); }

DimId DimTable::symbol(std::string_view name, int64_t lo, int64_t hi) {
  if (name.empty()) fail(Code::invalid_argument, "a symbol needs a name");
  if (name.size() > max_symbol_name) {
    fail(Code::invalid_argument, "a symbol's name has ", name.size(), " bytes, at most ", max_symbol_name,
         " are allowed");
  }
  if (lo < 0) fail(Code::invalid_argument, "symbol ", name, ": lower bound ", lo, " is negative");
  if (lo > hi) fail(Code::invalid_argument, "symbol ", name, ": lower bound ", lo, " is above upper bound ", hi);

  settle();
  const auto at = by_name_.find(name);
  if (at == by_name_.end()) {
    const auto d = static_cast<DimId>(rows_.size());
    reserve_more(rows_, 1);
    reserve_more(meta_, 1);
    reserve_more(symbols_, 1);
    names_.reserve(names_.size() + name.size());
    by_name_.emplace(name, d);
    rows_.push_back(
        {DimKind::symbol, lo, hi, static_cast<uint32_t>(names_.size()), static_cast<uint32_t>(name.size())});
    meta_.push_back({d, no_dim, {lo, hi}, 1, 0});
    names_.append(name);
    symbols_.push_back(d);
    return d;
  }
  const DimId d = at->second;
  const Bounds old = bounds(d);
  if (std::max(lo, old.lo) > std::min(hi, old.hi)) {
    fail(Code::invalid_argument, "symbol ", name, ": bounds [", lo, ", ", hi, "] contradict the known [", old.lo, ", ",
         old.hi, "]");
  }
  if (lo > rows_[d].value || hi < rows_[d].hi) {
    const Mark before = mark();
    try {
      narrowed_.push_back({d, {rows_[d].value, rows_[d].hi}});
      rows_[d].value = std::max(rows_[d].value, lo);
      rows_[d].hi = std::min(rows_[d].hi, hi);
      meta_[d].bounds = {std::max(meta_[d].bounds.lo, lo), std::min(meta_[d].bounds.hi, hi)};
      refresh(d, meta_[d].canon);
    } catch (...) {
      rollback(before);
      throw;
    }
    late_ = late_ || used_;
  }
  return d;
}

void DimTable::check_ids(std::span<const DimId> dims) const {
  for (const DimId d : dims)
    if (!valid(d)) fail(Code::invalid_argument, "no dim has the id ", d);
}

// The one value that means "unset" while dims are evaluated, so that no quotient of it would be computed and no fact
// about it checked.
void DimTable::check_dividend(DimId dividend, DimId by) const {
  if (is_constant(dividend, INT64_MIN) && !as_constant(by))
    fail(Code::invalid_argument, "-9223372036854775808 divided by ", to_string(by), " is out of range");
}

DimId DimTable::expr(DimKind kind, std::span<const DimId> ops) {
  check_ids(ops);
  switch (kind) {
    case DimKind::constant:
    case DimKind::symbol: fail(Code::invalid_argument, "constants and symbols are no dim expressions");
    case DimKind::sub:
    case DimKind::floor_div:
    case DimKind::ceil_div:
    case DimKind::mod:
      if (ops.size() != 2) fail(Code::invalid_argument, "this dim expression takes 2 operands, not ", ops.size());
      break;
    case DimKind::add:
    case DimKind::mul:
    case DimKind::min:
    case DimKind::max:
    case DimKind::bcast:
      if (ops.empty()) fail(Code::invalid_argument, "a dim expression needs operands");
      break;
    default: fail(Code::invalid_argument, "no dim expression has the number ", static_cast<int32_t>(kind));
  }
  settle();
  std::vector<DimId> canonical_ops(ops.size());
  std::ranges::transform(ops, canonical_ops.begin(), [&](DimId d) { return canonical(d); });
  if (kind == DimKind::floor_div || kind == DimKind::ceil_div || kind == DimKind::mod)
    check_dividend(canonical_ops[0], canonical_ops[1]);
  const DimId d = DimAlgebra(*this).build(kind, canonical_ops);
  return canonical(d);
}

DimId DimTable::product(std::span<const DimId> dims) { return dims.empty() ? constant(1) : expr(DimKind::mul, dims); }

DimId DimTable::broadcast(DimId a, DimId b) {
  if (a == b && valid(a)) return a;
  return expr2(DimKind::bcast, a, b);
}

DimId DimTable::broadcast(DimId a, DimId b, std::string_view op) {
  const auto before = static_cast<DimId>(rows_.size());
  const DimId result = broadcast(a, b);
  const auto note = [&](DimId d) {
    if (rows_[d].kind == DimKind::bcast) broadcast_by_.try_emplace(d, op);
  };
  for (DimId d = before; d < rows_.size(); ++d) note(d);
  note(result);  // a declared type may have made it before
  return result;
}

std::optional<int64_t> DimTable::as_constant(DimId d) const {
  const Row& row = rows_[canonical(d)];
  if (row.kind == DimKind::constant) return row.value;
  return std::nullopt;
}

std::span<const DimId> DimTable::operands(DimId d) const {
  if (rows_[d].kind == DimKind::symbol) return {};
  return {pool_.data() + rows_[d].first, rows_[d].count};
}

std::string_view DimTable::symbol_name(DimId d) const {
  return std::string_view(names_).substr(rows_[d].first, rows_[d].count);
}

Bounds DimTable::bounds(DimId d) const {
  const Bounds own = meta_[d].bounds, other = meta_[canonical(d)].bounds;
  return {std::max(own.lo, other.lo), std::min(own.hi, other.hi)};
}

bool DimTable::known_equal(DimId a, DimId b) const { return canonical(a) == canonical(b); }

bool DimTable::known_divisible(DimId a, int64_t by) const { return DimAlgebra::divisible(*this, canonical(a), by); }

std::optional<DimId> DimTable::exact_quotient(DimId a, DimId b) {
  settle();
  const DimId ca = canonical(a), cb = canonical(b);
  if (const auto by = as_constant(b)) {
    if (!DimAlgebra::divisible(*this, ca, *by)) return {};
    return floor_div(ca, cb);
  }
  if (!DimAlgebra::never_zero(*this, cb)) return {};
  if (known_multiple(ca, cb)) return floor_div(ca, cb);
  if (auto q = divide(DimAlgebra::poly_of(*this, ca), DimAlgebra::poly_of(*this, cb)))
    return DimAlgebra(*this).from_poly(std::move(*q));
  return {};
}

void DimTable::rollback(const Mark& mark) noexcept {
  const bool learned =
      facts_.size() > mark.facts || narrowed_.size() > mark.narrowed || lessons_ != mark.lessons || unsettled_;
  for (size_t d = rows_.size(); d-- > mark.rows;) {
    const Row& row = rows_[d];
    if (row.kind == DimKind::symbol) {
      if (const auto at = by_name_.find(symbol_name(static_cast<DimId>(d))); at != by_name_.end()) by_name_.erase(at);
    } else {
      buckets_[hash_row(row.kind, row.value, operands(static_cast<DimId>(d))) & (buckets_.size() - 1)] = meta_[d].next;
    }
  }
  for (; narrowed_.size() > mark.narrowed; narrowed_.pop_back()) {
    const auto& [d, old] = narrowed_.back();
    rows_[d].value = old.lo;
    rows_[d].hi = old.hi;
  }
  broadcast_by_.erase(broadcast_by_.lower_bound(static_cast<DimId>(mark.rows)), broadcast_by_.end());
  rows_.resize(mark.rows);
  meta_.resize(mark.rows);
  pool_.resize(mark.pool);
  names_.resize(mark.names);
  symbols_.resize(mark.symbols);
  facts_.resize(mark.facts);
  if (!learned) return;

  // What was derived may rest on what is forgotten: it is derived again from the facts that stay.
  forget_facts();
  try {
    apply_facts();
  } catch (const std::exception&) {
    // No memory: unsettled for now.
  }
}

// All that facts have taught, leaving what is right without them; bounds of expressions are to be derived again.
void DimTable::forget_facts() noexcept {
  ++lessons_;
  unsettled_ = true;
  multiples_.clear();
  divisible_.clear();
  product_rules_ = false;
  for (DimId d = 0; d < rows_.size(); ++d) {
    meta_[d].canon = d;
    meta_[d].bounds = {INT64_MIN, INT64_MAX};
    if (rows_[d].kind == DimKind::symbol) meta_[d].bounds = {rows_[d].value, rows_[d].hi};
    if (rows_[d].kind == DimKind::constant) meta_[d].bounds = {rows_[d].value, rows_[d].value};
  }
}

void DimTable::derive_bounds() {
  for (DimId d = 0; d < rows_.size(); ++d) meta_[d].bounds = bounds_of_row(d);
}

// After forget_facts().
void DimTable::apply_facts() {
  std::vector<Fact> kept;
  kept.swap(facts_);
  unsettled_ = false;
  try {
    facts_.reserve(kept.size());
    derive_bounds();
    for (const Fact& fact : kept) {
      const size_t before = facts_.size();
      try {
        assume_known(fact.fact, fact.dims, fact.derived ? FactCause{fact.op, fact.why} : FactCause());
      } catch (const Error&) {
        facts_.resize(before);  // taken in before, so not contradictory in itself: check() will judge it
      }
      if (facts_.size() == before) facts_.push_back(fact);
    }
  } catch (...) {
    facts_.swap(kept);
    forget_facts();
    throw;
  }
}

void DimTable::restate() {
  std::vector<Fact> kept;
  kept.swap(facts_);
  forget_facts();
  unsettled_ = false;
  derive_bounds();
  const auto count = static_cast<DimId>(rows_.size());
  for (DimId d = 0; d < count; ++d) {  // under all bounds
    if (rows_[d].kind == DimKind::symbol || rows_[d].kind == DimKind::constant) continue;
    std::vector<DimId> ops(operands(d).begin(), operands(d).end());
    for (DimId& op : ops) op = canonical(op);
    try {
      meta_[d].canon = canonical(DimAlgebra(*this).build(rows_[d].kind, ops));
    } catch (const Error&) {
      // Fails in every run, where evaluate() reports it.
    }
  }
  for (const Fact& fact : kept) {
    if (fact.derived) continue;
    std::vector<DimId> dims = fact.dims;
    for (DimId& d : dims) d = canonical(d);
    assume(fact.fact, dims);
  }
  used_ = late_ = false;
}

void DimTable::adopt_facts() {
  for (Fact& fact : facts_) fact.derived = false;
  used_ = late_ = false;
}

}  // namespace ingot::ir
