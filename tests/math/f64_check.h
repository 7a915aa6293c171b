// Checks of the f64 functions: by their bound in ULP, and of exact results.
#pragma once

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "math/f64_reference.h"

namespace ingot::test {

inline constexpr double inf = std::numeric_limits<double>::infinity();
inline constexpr double qnan = std::numeric_limits<double>::quiet_NaN();
inline constexpr double min_normal = 0x1p-1022;
inline constexpr double denormal = 0x1p-1074;
inline constexpr double max = std::numeric_limits<double>::max();

inline const F64Function& function(std::string_view name) {
  for (const F64Function& f : f64_functions())
    if (f.name == name) return f;
  FAIL("no function ", std::string(name));
  return f64_functions().front();
}

// Compiled once for all tests.
inline const F64Runner& runner(const F64Function& f) {
  static std::map<std::string_view, F64Runner> known;
  return known.try_emplace(f.name, f).first->second;
}

inline void check(const F64Function& f, std::span<const F64Input> inputs) {
  const std::vector<double> out = runner(f)(inputs);
  size_t shown = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const double error = ulp_error(f, inputs[i], out[i]);
    const bool good = error <= f.bound;
    if (good || ++shown > 5) continue;
    CAPTURE(f.name);
    CAPTURE(std::bit_cast<uint64_t>(inputs[i].x));
    CAPTURE(inputs[i].x);
    CAPTURE(inputs[i].y);
    CAPTURE(out[i]);
    CHECK(error <= f.bound);
  }
  CHECK(shown == 0);
}

struct Point {
  double x, want;
};

inline bool same(double a, double b) {
  return std::isnan(a) ? std::isnan(b) : std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
}

// Exact results, signs of zeros included; a NaN comes out canonical.
inline void check_points(std::string_view name, std::initializer_list<Point> points) {
  std::vector<F64Input> inputs;
  for (const Point& p : points) inputs.push_back({p.x, 0});
  const std::vector<double> out = runner(function(name))(inputs);
  size_t i = 0;
  for (const Point& p : points) {
    CAPTURE(p.x);
    CAPTURE(out[i]);
    CHECK(same(out[i], p.want));
    if (std::isnan(p.want)) CHECK(std::bit_cast<uint64_t>(out[i]) == 0x7ff8000000000000);
    ++i;
  }
}

struct PairPoint {
  double x, y, want;
};

inline void check_pairs(std::string_view name, std::span<const PairPoint> points) {
  std::vector<F64Input> inputs;
  for (const PairPoint& p : points) inputs.push_back({p.x, p.y});
  const std::vector<double> out = runner(function(name))(inputs);
  for (size_t i = 0; i < out.size(); ++i) {
    CAPTURE(points[i].x);
    CAPTURE(points[i].y);
    CAPTURE(out[i]);
    CHECK(same(out[i], points[i].want));
  }
}

}  // namespace ingot::test
