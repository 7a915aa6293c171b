#include <limits>

#include "narrow.h"
#include "random.h"
#include "random_graph.h"

namespace ingot::oracle {

using ir::DType;

namespace {
uint64_t odd_bits(DType t) {
  switch (t) {
    case DType::f16: return 0xfc12;
    case DType::bf16: return 0xff81;
    case DType::f8e4m3: return 0xff;
    case DType::f8e5m2: return 0xfc;
    case DType::f32: return 0xffc12345;
    default: return 0xfff8000000012345;
  }
}
}  // namespace

Array random_array(uint64_t seed, DType dtype, std::vector<int64_t> shape) {
  Random r(seed);
  Array out{dtype, std::move(shape), {}};
  const size_t n = element_count(out.shape);
  const bool specials = r.chance(35);
  for (size_t i = 0; i < n; ++i) {
    if (dtype == DType::boolean) {
      out.bits.push_back(r.next() >> 20 & 1);
    } else if (ir::is_float(dtype)) {
      static constexpr double odd[] = {0.0,
                                       -0.0,
                                       1e30,
                                       -1e30,
                                       1e-40,
                                       std::numeric_limits<double>::infinity(),
                                       -std::numeric_limits<double>::infinity(),
                                       88.5,
                                       -104.0,
                                       1.0,
                                       2147483648.0,
                                       0.5,
                                       2.5};
      double v = static_cast<double>(r.between(-400000, 400000)) / 100000;
      if (specials && r.chance(4)) v = r.pick(odd);
      uint64_t bits = is_narrow(dtype)      ? narrow_bits(dtype, v)
                      : dtype == DType::f32 ? to_bits(static_cast<float>(v))
                                            : to_bits(v);
      // A NaN of another payload and sign shows who moves bits and who computes, an infinity who saturates.
      if (specials && r.chance(1)) bits = odd_bits(dtype);
      out.bits.push_back(bits);
    } else {
      const uint64_t all = ~uint64_t{0} >> (64 - 8 * ir::item_size(dtype));
      int64_t v = r.between(-20, 20);
      if (specials && r.chance(10)) v = static_cast<int64_t>(r.next());
      if (specials && r.chance(3)) v = static_cast<int64_t>(all / 2 + 1);  // the least value of a signed type
      out.bits.push_back(static_cast<uint64_t>(v) & all);
    }
  }
  return out;
}

}  // namespace ingot::oracle
