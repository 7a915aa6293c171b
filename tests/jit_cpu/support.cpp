#include "support.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "base/error.h"

namespace ingot::jit {

std::vector<std::string> native_targets() {
  const char* only = std::getenv("INGOT_TEST_TARGETS");
  std::vector<std::string> out;
  for (const std::string& t : all_targets)
    if (can_run(host_target(), t) && (!only || t == only)) out.push_back(t);
  return out;
}

loop::View load_view(DType storage, uint16_t tensor, loop::AxisSet axes) {
  loop::View v;
  v.kind = loop::ViewKind::load;
  v.storage = storage;
  v.tensor = tensor;
  v.axes = axes;
  return v;
}

loop::View store_view(DType storage, uint16_t tensor, loop::AxisSet axes) {
  loop::View v = load_view(storage, tensor, axes);
  v.kind = loop::ViewKind::store;
  return v;
}

uint64_t get_item(const void* base, DType t, size_t index) {
  uint64_t bits = 0;
  const size_t size = ir::item_size(t);
  std::memcpy(&bits, static_cast<const char*>(base) + index * size, size);
  return bits;
}

void put_item(void* base, DType t, size_t index, uint64_t bits) {
  const size_t size = ir::item_size(t);
  std::memcpy(static_cast<char*>(base) + index * size, &bits, size);
}

namespace {
template <class F, class U>
void add_floats(std::vector<uint64_t>& out) {
  using L = std::numeric_limits<F>;
  const F corners[] = {F(0),
                       F(1),
                       F(1.5),
                       F(2),
                       F(0.5),
                       F(2.5),
                       F(3.5),
                       F(1) + L::epsilon(),
                       F(1) - L::epsilon() / 2,
                       L::min(),
                       L::denorm_min(),
                       L::min() - L::denorm_min(),
                       L::max(),
                       L::infinity(),
                       F(127),
                       F(127.5),
                       F(128),
                       F(255),
                       F(255.5),
                       F(256),
                       F(32767),
                       F(32768),
                       F(65535),
                       F(65536),
                       F(2147483648.0),
                       F(2147483647.0),
                       F(4294967296.0),
                       F(4294967295.0),
                       F(9223372036854775808.0),
                       F(9223371487098961920.0),
                       F(18446744073709551616.0),
                       F(18446742974197923840.0),
                       F(9007199254740993.0),
                       F(1e30),
                       F(1e-30),
                       F(3),
                       F(7),
                       F(10)};
  for (const F c : corners) {
    out.push_back(std::bit_cast<U>(c));
    out.push_back(std::bit_cast<U>(-c));
  }
  const U nan = std::bit_cast<U>(L::quiet_NaN());
  out.insert(out.end(), {nan, static_cast<U>(nan | 1), static_cast<U>(nan | U{1} << (sizeof(U) * 8 - 1))});
}

void add_ints(std::vector<uint64_t>& out, unsigned width) {
  const uint64_t mask = width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
  for (unsigned bit = 0; bit < width; ++bit)
    for (const int64_t d : {-1, 0, 1}) {
      out.push_back(((uint64_t{1} << bit) + static_cast<uint64_t>(d)) & mask);
      out.push_back((~(uint64_t{1} << bit) + static_cast<uint64_t>(d)) & mask);
    }
}
}  // namespace

std::vector<uint64_t> samples(DType t, size_t count, uint32_t seed) {
  std::vector<uint64_t> out;
  const unsigned width = static_cast<unsigned>(8 * ir::item_size(t));
  if (t == DType::f32) add_floats<float, uint32_t>(out);
  else if (t == DType::f64) add_floats<double, uint64_t>(out);
  else if (t == DType::boolean) out = {0, 1};
  else add_ints(out, width);
  std::mt19937_64 random(seed);
  while (out.size() < count) {
    uint64_t v = random();
    // Random bits are mostly far apart; half of the floats get exponents that meet.
    if (t == DType::f64 && (v & 1)) v = (v & 0x800FFFFFFFFFFFFF) | (uint64_t{1000 + random() % 50} << 52);
    if (t == DType::f32) v = (v & 1) ? (v & 0x807FFFFF) | ((110 + random() % 40) << 23) : v & 0xFFFFFFFF;
    if (t == DType::boolean) v &= 1;
    out.push_back(width == 64 ? v : v & ((uint64_t{1} << width) - 1));
  }
  // Arguments of one primitive are drawn with different seeds; the order must differ too for corners to meet.
  std::shuffle(out.begin(), out.end(), random);
  out.resize(count);
  return out;
}

}  // namespace ingot::jit
