// Values of a random graph in the making, and sizes for them.
#pragma once

#include <algorithm>
#include <vector>

#include "ir/graph.h"
#include "random.h"

namespace ingot::oracle {

using Shape = std::vector<int64_t>;
inline constexpr size_t assignments = 3;

// A value in the making with its extents under each assignment of sizes.
struct Known {
  ir::ValueId id;
  ir::DType type;
  std::vector<ir::DimId> dims;
  std::vector<Shape> shapes;
};

inline int64_t random_size(Random& r, int64_t most) {
  static constexpr int64_t sizes[] = {1,  1,  2,  3,  4,  5,  7,  8,   8,   12,  15,   16,
                                      16, 17, 24, 31, 33, 64, 65, 100, 129, 257, 1027, 1500};
  for (;;) {
    const int64_t n = r.chance(2) ? 0 : r.pick(sizes);
    if (n <= most) return n;
  }
}

inline bool broadcasts(const Known& a, const Known& b) {
  for (size_t i = 0; i < assignments; ++i)
    for (size_t d = 0; d < std::min(a.dims.size(), b.dims.size()); ++d) {
      const int64_t x = a.shapes[i][a.dims.size() - 1 - d], y = b.shapes[i][b.dims.size() - 1 - d];
      if (x != y && x != 1 && y != 1) return false;
    }
  return true;
}

inline constexpr ir::OpCode float_ops[] = {
    ir::OpCode::op_neg,       ir::OpCode::op_abs,        ir::OpCode::op_sqrt,        ir::OpCode::op_floor,
    ir::OpCode::op_ceil,      ir::OpCode::op_round,      ir::OpCode::op_relu,        ir::OpCode::op_rsqrt,
    ir::OpCode::op_exp,       ir::OpCode::op_log,        ir::OpCode::op_tanh,        ir::OpCode::op_erf,
    ir::OpCode::op_sigmoid,   ir::OpCode::op_silu,       ir::OpCode::op_gelu,        ir::OpCode::op_sign,
    ir::OpCode::op_trunc,     ir::OpCode::op_reciprocal, ir::OpCode::op_square,      ir::OpCode::op_softsign,
    ir::OpCode::op_hardswish, ir::OpCode::op_exp2,       ir::OpCode::op_expm1,       ir::OpCode::op_log2,
    ir::OpCode::op_log1p,     ir::OpCode::op_sin,        ir::OpCode::op_cos,         ir::OpCode::op_atan,
    ir::OpCode::op_cbrt,      ir::OpCode::op_softplus,   ir::OpCode::op_elu,         ir::OpCode::op_selu,
    ir::OpCode::op_mish,      ir::OpCode::op_erfinv,     ir::OpCode::op_log_sigmoid, ir::OpCode::op_lgamma,
    ir::OpCode::op_frexp};

// Ops by what they take.
inline constexpr ir::OpCode float_pairs[] = {ir::OpCode::op_mod, ir::OpCode::op_rem, ir::OpCode::op_floor_div,
                                             ir::OpCode::op_copysign};
inline constexpr ir::OpCode int_pairs[] = {ir::OpCode::op_mod,         ir::OpCode::op_rem,
                                           ir::OpCode::op_floor_div,   ir::OpCode::op_shift_left,
                                           ir::OpCode::op_shift_right, ir::OpCode::op_shift_right_logical,
                                           ir::OpCode::op_rotate_left};
inline constexpr ir::OpCode scan_ops[] = {ir::OpCode::op_cumsum, ir::OpCode::op_cumsum, ir::OpCode::op_cumprod,
                                          ir::OpCode::op_cummax, ir::OpCode::op_cummin};
inline constexpr ir::OpCode comparisons[] = {ir::OpCode::op_eq, ir::OpCode::op_ne, ir::OpCode::op_lt,
                                             ir::OpCode::op_le, ir::OpCode::op_gt, ir::OpCode::op_ge};

}  // namespace ingot::oracle
