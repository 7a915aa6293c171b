// Op attributes. A row of the op table lists which an op takes (AttrSpec); an op that exists holds one value per spec,
// in that order, defaults filled in and normalised: axes are non-negative, those of a set sorted; the extents of a
// shape are all given (reshape's -1 solved); slice starts are where the walk begins, so that element i of a dim is read
// at starts + i * steps. Normal forms are fixed points: an op added again with its own attributes gets equal ones.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ir/dim.h"
#include "ir/dtype.h"

namespace ingot::ir {

// Numbers are those of ingot_attr_kind in the public header: append-only, zero is invalid.
enum class AttrKind : int32_t {
  i64 = 1,
  f64 = 2,
  string = 3,
  boolean = 4,
  dtype = 5,
  dim = 6,
  i64s = 7,
  f64s = 8,
  strings = 9,
  booleans = 10,
  dtypes = 11,
  dims = 12,
};
std::string_view name(AttrKind kind) noexcept;

struct Attr {
  AttrKind kind = AttrKind::i64;
  int64_t i = 0;  // i64; boolean 0 or 1; dtype's number; dim's id
  double f = 0;
  std::string s = {};
  std::vector<int64_t> ints = {};  // i64s, booleans, dtypes; dims as ids
  std::vector<double> floats = {};
  std::vector<std::string> strings = {};
  friend bool operator==(const Attr&, const Attr&) = default;

  static Attr of_int(int64_t v) { return {.kind = AttrKind::i64, .i = v}; }
  static Attr of_float(double v) { return {.kind = AttrKind::f64, .f = v}; }
  static Attr of_bool(bool v) { return {.kind = AttrKind::boolean, .i = v}; }
  static Attr of_string(std::string v) { return {.kind = AttrKind::string, .s = std::move(v)}; }
  static Attr of_dtype(DType v) { return {.kind = AttrKind::dtype, .i = static_cast<int64_t>(v)}; }
  static Attr of_ints(std::vector<int64_t> v) { return {.kind = AttrKind::i64s, .ints = std::move(v)}; }
  static Attr of_dims(const std::vector<DimId>& v) { return {.kind = AttrKind::dims, .ints = {v.begin(), v.end()}}; }
};

struct NamedAttr {
  std::string name;
  Attr value;
};

// What an op accepts under one name. An i64 list is accepted where dims are wanted, an i64 where a dim or an f64 is.
struct AttrSpec {
  std::string_view name;
  AttrKind kind;
  bool required;
  std::string_view fallback;  // the default in text form: "-1", "false", "1e-05", "\"none\""; "all" for axes of every
                              // dim, "all 1" for a list of ones, "[]" for no dims; empty if
                              // required
  std::string_view doc;
};

}  // namespace ingot::ir
