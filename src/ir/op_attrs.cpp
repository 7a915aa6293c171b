// Attributes by name to one value per AttrSpec.
#include <algorithm>
#include <charconv>
#include <cmath>

#include "ir/op_rules.h"
#include "ir/utf8.h"

namespace ingot::ir {

namespace {

std::string known_names(const OpInfo& info) {
  if (info.attrs.empty()) return "it takes none";
  std::string out = "it takes ";
  for (const AttrSpec& spec : info.attrs) {
    if (&spec != info.attrs.data()) out += ", ";
    out += spec.name;
  }
  return out;
}

// Brings a given value to the kind of the spec where that is a matter of course.
Attr convert(DimTable& dims, const OpInfo& info, const AttrSpec& spec, Attr v) {
  const auto check_dim = [&](int64_t id) {
    if (id < 0 || id >= no_dim || !dims.valid(static_cast<DimId>(id)))
      fail(Code::invalid_argument, info.name, ": attribute ", spec.name, ": no dim has the id ", id);
  };
  if (v.kind == AttrKind::i64s && spec.kind == AttrKind::dims) {
    for (int64_t& i : v.ints) i = dims.constant(i);
    v.kind = AttrKind::dims;
  } else if (v.kind == AttrKind::i64 && spec.kind == AttrKind::dim) {
    v.i = dims.constant(v.i);
    v.kind = AttrKind::dim;
  } else if (v.kind == AttrKind::i64 && spec.kind == AttrKind::f64) {
    v = Attr::of_float(static_cast<double>(v.i));
  }
  if (v.kind != spec.kind) {
    fail(Code::invalid_argument, info.name, ": attribute ", spec.name, " is of kind ", name(v.kind), ", expected ",
         name(spec.kind));
  }
  switch (spec.kind) {
    case AttrKind::dim:
      check_dim(v.i);
      v.i = dims.simplified(static_cast<DimId>(v.i));
      break;
    case AttrKind::dims:
      for (int64_t& i : v.ints) {
        check_dim(i);
        i = dims.simplified(static_cast<DimId>(i));
      }
      break;
    case AttrKind::boolean: v.i = v.i != 0; break;
    case AttrKind::f64:
      if (!std::isfinite(v.f))
        fail(Code::invalid_argument, info.name, ": attribute ", spec.name, " is ", v.f, ", expected a finite number");
      break;
    case AttrKind::dtype: {
      const auto type = static_cast<DType>(v.i);
      if (v.i <= 0 || v.i > 255 || item_size(type) == 0)
        fail(Code::invalid_argument, info.name, ": attribute ", spec.name, ": unknown dtype ", v.i);
      if (type == DType::c64 || type == DType::c128)
        fail(Code::unimplemented, info.name, ": attribute ", spec.name, ": complex dtypes are not implemented");
      break;
    }
    default: break;
  }
  return v;
}

Attr fallback(DimTable& dims, const AttrSpec& spec) {
  const std::string_view text = spec.fallback;
  const char* end = text.data() + text.size();
  switch (spec.kind) {
    case AttrKind::i64:
    case AttrKind::dim: {
      Attr v{.kind = spec.kind};
      std::from_chars(text.data(), end, v.i);
      if (spec.kind == AttrKind::dim) v.i = dims.constant(v.i);
      return v;
    }
    case AttrKind::f64: {
      Attr v = Attr::of_float(0);
      std::from_chars(text.data(), end, v.f);
      return v;
    }
    case AttrKind::boolean: return Attr::of_bool(text == "true");
    case AttrKind::string: return Attr::of_string(std::string(text.substr(1, text.size() - 2)));
    case AttrKind::dtype: return Attr::of_dtype(parse_dtype(text.substr(1, text.size() - 2)));
    case AttrKind::i64s: {  // "all", "all 1", "[]"
      Attr v = Attr::of_ints({});
      v.i = text == "[]" ? 0 : every_axis;
      return v;
    }
    case AttrKind::dims: return Attr::of_dims({});  // "[]"
    default: bug("attribute ", spec.name, " has a default of a kind without one");
  }
}

}  // namespace

std::vector<Attr> fill_attrs(DimTable& dims, const OpInfo& info, std::span<const NamedAttr> given) {
  std::vector<Attr> values(info.attrs.size());
  std::vector<bool> seen(info.attrs.size(), false);
  for (const NamedAttr& attr : given) {
    const auto spec = std::ranges::find(info.attrs, attr.name, &AttrSpec::name);
    if (attr.name.empty()) fail(Code::invalid_argument, info.name, ": an attribute has no name; ", known_names(info));
    if (spec == info.attrs.end()) {
      fail(Code::invalid_argument, info.name, ": unknown attribute ", shortened(attr.name), "; ", known_names(info));
    }
    const auto at = static_cast<size_t>(spec - info.attrs.begin());
    if (seen[at]) fail(Code::invalid_argument, info.name, ": attribute ", spec->name, " is given twice");
    seen[at] = true;
    values[at] = convert(dims, info, *spec, attr.value);
    if (values[at].kind == AttrKind::i64s) values[at].i = 0;
  }
  for (size_t i = 0; i < values.size(); ++i) {
    const AttrSpec& spec = info.attrs[i];
    if (seen[i]) continue;
    if (spec.required) {
      fail(Code::invalid_argument, info.name, ": attribute ", spec.name, " is missing, expected a ", name(spec.kind));
    }
    values[i] = fallback(dims, spec);
  }
  return values;
}

}  // namespace ingot::ir
