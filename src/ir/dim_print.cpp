// Dims as text. Operands are ordered by what they print as, not by id, so that a text parses back to the same text.
#include <algorithm>

#include "ir/dim_algebra.h"
#include "ir/utf8.h"

namespace ingot::ir {

namespace {

// Recursion is bounded by max_dim_depth.
class DimPrinter {
 public:
  explicit DimPrinter(const DimTable& t) : t_(t) {}

  std::string print(DimId d) const { return print(DimAlgebra::poly_of(t_, d)); }

 private:
  std::string print(const Poly& p) const {
    if (p.terms.empty()) return "0";
    struct Part {
      bool constant, negative;
      std::string text;
    };
    std::vector<Part> parts;
    for (const Term& t : p.terms) parts.push_back({t.atoms.empty(), t.coef < 0, term(t)});
    // The constant stands last, negative terms after positive ones: a leading minus is rare that way.
    std::ranges::sort(parts, [](const Part& a, const Part& b) {
      return std::tie(a.constant, a.negative, a.text) < std::tie(b.constant, b.negative, b.text);
    });
    std::string out;
    for (const Part& part : parts) {
      // The least integer has no positive counterpart to subtract.
      const bool least = part.text.starts_with("-");
      if (part.negative && !least) out += '-';
      else if (!out.empty()) out += '+';
      out += part.text;
    }
    return out;
  }

  // Without its sign, except for the coefficient INT64_MIN.
  std::string term(const Term& t) const {
    std::string coef = t.coef == INT64_MIN ? std::to_string(t.coef) : std::to_string(t.coef < 0 ? -t.coef : t.coef);
    if (t.atoms.empty()) return coef;
    if (t.atoms.size() == 1 && t.coef == 1) return atom(t.atoms[0]);
    std::vector<std::string> factors;
    for (const DimId d : t.atoms) factors.push_back(factor(d));
    std::ranges::sort(factors);
    std::string out = coef == "1" ? "" : coef;
    for (const std::string& f : factors) {
      if (!out.empty()) out += '*';
      out += f;
    }
    return out;
  }

  // What may stand as a factor or after '/' without parentheses.
  bool closed(DimId d) const {
    switch (t_.kind(d)) {
      case DimKind::symbol:
      case DimKind::ceil_div:
      case DimKind::min:
      case DimKind::max:
      case DimKind::bcast: return true;
      case DimKind::constant: return t_.as_constant(d) >= 0;
      case DimKind::floor_div: return rounds_up(d);
      default: return false;
    }
  }
  std::string factor(DimId d) const { return closed(d) ? print_atom(d) : '(' + print_atom(d) + ')'; }
  std::string print_atom(DimId d) const { return is_atom(d) ? atom(d) : print(d); }
  bool is_atom(DimId d) const {
    const std::vector<Term> terms = DimAlgebra::poly_of(t_, d).terms;
    return terms.size() == 1 && terms[0].coef == 1 && terms[0].atoms.size() == 1;
  }

  // The dividend: a product needs no parentheses, since '*' and '/' associate to the left.
  std::string dividend(DimId d) const {
    const Poly p = DimAlgebra::poly_of(t_, d);
    const bool product = p.terms.size() == 1 && p.terms[0].coef > 0 && t_.kind(d) != DimKind::add;
    return product ? print(p) : '(' + print(p) + ')';
  }

  // floor((x + c-1) / c) with constant c reads better as what it was made from.
  bool rounds_up(DimId d) const {
    if (t_.kind(d) != DimKind::floor_div || t_.kind(t_.operands(d)[1]) != DimKind::constant) return false;
    const int64_t by = *t_.as_constant(t_.operands(d)[1]);
    return by > 1 && DimAlgebra::poly_of(t_, t_.operands(d)[0]).constant_term() == by - 1;
  }

  std::string atom(DimId d) const {
    const std::span<const DimId> ops = t_.operands(d);
    switch (t_.kind(d)) {
      case DimKind::symbol: return name_or_quoted(t_.symbol_name(d));
      case DimKind::constant: return std::to_string(*t_.as_constant(d));
      case DimKind::floor_div:
        if (rounds_up(d)) {
          Poly p = DimAlgebra::poly_of(t_, ops[0]);
          drop_constant(p);
          return "ceil_div(" + print(p) + ", " + print(ops[1]) + ')';
        }
        return dividend(ops[0]) + '/' + factor(ops[1]);
      case DimKind::mod: return dividend(ops[0]) + '%' + factor(ops[1]);
      case DimKind::ceil_div: return "ceil_div(" + print(ops[0]) + ", " + print(ops[1]) + ')';
      case DimKind::min: return call("min", ops);
      case DimKind::max: return call("max", ops);
      case DimKind::bcast: return call("bcast", ops);
      case DimKind::add:
        return joined(ops, '+', [&](DimId op) {
          return DimAlgebra::poly_of(t_, op).terms.size() == 1 && t_.kind(op) != DimKind::add && print(op)[0] != '-'
                     ? print(op)
                     : '(' + print(op) + ')';
        });
      case DimKind::mul: return joined(ops, '*', [&](DimId op) { return factor(op); });
      default: return {};
    }
  }

  std::string call(const char* function, std::span<const DimId> ops) const {
    std::string out = joined(ops, ',', [&](DimId op) { return print(op); });
    return std::string(function) + '(' + out + ')';
  }

  template <class F>
  std::string joined(std::span<const DimId> ops, char separator, F print_one) const {
    std::vector<std::string> parts;
    for (const DimId op : ops) parts.push_back(print_one(op));
    std::ranges::sort(parts);
    std::string out;
    for (const std::string& part : parts) {
      if (!out.empty()) out += separator;
      if (!out.empty() && separator == ',') out += ' ';
      out += part;
    }
    return out;
  }

  const DimTable& t_;
};

}  // namespace

std::string DimTable::to_string(DimId d) const {
  if (!valid(d)) return "no_dim";
  return DimPrinter(*this).print(d);
}

}  // namespace ingot::ir
