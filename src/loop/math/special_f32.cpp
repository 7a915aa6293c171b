#include "loop/math/f32.h"
#include "loop/math/f64.h"

namespace ingot::loop::math::f32 {

// Those of f64, rounded: their results near a root must be right to far more than the 24 bits that are left.
Val logaddexp(Val a, Val b) { return f64::logaddexp(a.to(DType::f64), b.to(DType::f64)).to(DType::f32); }
Val erfinv(Val x) { return f64::erfinv(x.to(DType::f64)).to(DType::f32); }
Val lgamma(Val x) { return f64::lgamma(x.to(DType::f64)).to(DType::f32); }
Val digamma(Val x) { return f64::digamma(x.to(DType::f64)).to(DType::f32); }

}  // namespace ingot::loop::math::f32
