// Patterns of elements through one op or a few, at one element, at sizes with tails and large, unfused, fused and
// compiled, and as constants.
#pragma once

#include <doctest/doctest.h>

#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "check.h"

namespace ingot::faults {

using namespace ingot::oracle;
using ir::Attr;
using ir::DimId;
using ir::DType;
using ir::NamedAttr;
using ir::OpCode;
using ir::ValueId;

inline constexpr float nan32 = std::numeric_limits<float>::quiet_NaN(), inf32 = std::numeric_limits<float>::infinity();
inline constexpr double nan64 = std::numeric_limits<double>::quiet_NaN(),
                        inf64 = std::numeric_limits<double>::infinity();
inline constexpr int64_t sizes[] = {1, 17, 1027, 70001};

inline NamedAttr axes(std::vector<int64_t> v) { return {"axes", Attr::of_ints(std::move(v))}; }

template <class T>
constexpr DType dtype_of = std::is_same_v<T, float>      ? DType::f32
                           : std::is_same_v<T, double>   ? DType::f64
                           : std::is_same_v<T, bool>     ? DType::boolean
                           : std::is_same_v<T, int8_t>   ? DType::i8
                           : std::is_same_v<T, int16_t>  ? DType::i16
                           : std::is_same_v<T, int32_t>  ? DType::i32
                           : std::is_same_v<T, int64_t>  ? DType::i64
                           : std::is_same_v<T, uint32_t> ? DType::u32
                           : std::is_same_v<T, uint64_t> ? DType::u64
                                                         : DType::u8;

template <class T>
uint64_t bits_of(T v) {
  if constexpr (std::is_same_v<T, bool>) return v;
  else return to_bits(v);
}

// The pattern repeated to n elements.
template <class T>
Array repeat(const std::vector<T>& pattern, int64_t n) {
  Array out{dtype_of<T>, {n}, {}};
  for (int64_t i = 0; i < n; ++i) out.bits.push_back(bits_of<T>(pattern[static_cast<size_t>(i) % pattern.size()]));
  return out;
}

inline ValueId constant_of(Net& net, const Array& a) {
  auto bytes = std::make_shared<std::vector<uint8_t>>();
  for (const uint64_t b : a.bits)
    for (size_t i = 0; i < ir::item_size(a.dtype); ++i) bytes->push_back(static_cast<uint8_t>(b >> 8 * i));
  std::vector<DimId> dims;
  for (const int64_t e : a.shape) dims.push_back(net.num(e));
  return net.g->constant(a.dtype, dims, {bytes, bytes->data(), bytes->size()});
}

// `build` makes the result of 1-d operands. Checks it over inputs at all sizes and over constants.
template <class R, class... Ts>
void expect(const std::function<ValueId(Net&, const std::vector<ValueId>&)>& build, const std::vector<R>& want,
            const std::vector<Ts>&... patterns) {
  Net net;
  const DimId n = net.sym("N");
  std::vector<ValueId> operands = {net.in("", dtype_of<Ts>, {n})...};
  net.out(build(net, operands));
  const auto g = net.done();
  for (const Way& way : all_ways()) {
    const auto e = compile(g, way);
    for (const int64_t size : sizes) {
      const std::string text = difference(repeat(want, size), run(*e, std::vector{repeat(patterns, size)...},
                                                                  Layout::compact, Layout::compact, way.threads)[0]);
      INFO(way.name, ", n = ", size, ": ", text);
      CHECK(text.empty());
    }
  }
  Net folded;
  const auto count = static_cast<int64_t>(want.size());
  folded.out(build(folded, {constant_of(folded, repeat(patterns, count))...}));
  const auto e = compile(folded.done(), main_ways()[1]);
  const std::string text = difference(repeat(want, count), run(*e, {})[0]);
  INFO("as constants: ", text);
  CHECK(text.empty());
}

inline auto op(OpCode code, std::vector<NamedAttr> attrs = {}) {
  return [=](Net& net, const std::vector<ValueId>& v) { return net.op(code, v, attrs); };
}
inline auto cast_to(DType t) { return op(OpCode::op_cast, {{"to", Attr::of_dtype(t)}}); }

// One run of a graph without symbols to bind but those of its inputs, in every way.
inline void expect_all(Net& net, const std::vector<Array>& inputs, const std::vector<Array>& want) {
  const auto g = net.done();
  for (const Way& way : all_ways()) {
    const std::vector<Array> got = run(*compile(g, way), inputs, Layout::compact, Layout::compact, way.threads);
    for (size_t i = 0; i < want.size(); ++i) {
      const std::string text = difference(want[i], got[i]);
      INFO(way.name, ", output ", i, ": ", text);
      CHECK(text.empty());
    }
  }
}

}  // namespace ingot::faults
