#include "samples.h"

#include "loop/rules.h"

namespace ingot::loop::samples {

Val load(Builder& b, DType storage, AxisSet axes, std::vector<Box> boxes, uint64_t fill) {
  const uint16_t view = b.add_view({.kind = ViewKind::load,
                                    .storage = storage,
                                    .tensor = b.add_tensor(),
                                    .axes = axes,
                                    .boxes = std::move(boxes),
                                    .fill = fill});
  const Val v{b, b.load(view)};
  return is_narrow(storage) ? v.to(DType::f32) : v;
}

void store(Builder& b, DType storage, AxisSet axes, Val value) {
  const uint16_t view =
      b.add_view({.kind = ViewKind::store, .storage = storage, .tensor = b.add_tensor(), .axes = axes, .boxes = {}});
  b.store(view, is_narrow(storage) ? value.to(storage).id() : value.id());
}

Val fake_exp(Val x) {
  const Val n = round(x * 1.4426950408889634);
  const Val r = fma(n, -0.6931471805599453, x);
  Val p = fma(r, 1.0 / 24, 1.0 / 6);
  p = fma(p, r, 0.5);
  p = fma(p, r, 1.0);
  p = fma(p, r, 1.0);
  return scale2(p, n.to(DType::i32));
}

Kernel axpy() {
  Builder b(1, 0);
  const Val x = load(b, DType::f32, 1), y = load(b, DType::f32, 1), z = load(b, DType::f32, 1);
  store(b, DType::f32, 1, 2.0 * x + 3.0 * y - z * z);
  return b.finish();
}

Kernel softmax() {
  Builder b(1, 1);
  const Val x = load(b, DType::f16, 3);
  const Val e = fake_exp(x - x.un(Prim::fold_max));
  store(b, DType::f16, 3, e / e.un(Prim::fold_sum));
  return b.finish();
}

Kernel layer_norm() {
  Builder b(1, 1);
  const Val x = load(b, DType::f32, 3);
  const Val n = Val(b, b.size(1)).to(DType::f32);
  const Val d = x - x.un(Prim::fold_sum) / n;
  const Val variance = (d * d).un(Prim::fold_sum) / n;
  const Val scale = load(b, DType::f32, 2), bias = load(b, DType::f32, 2);
  store(b, DType::f32, 3, d / sqrt(variance + 1e-5) * scale + bias);
  return b.finish();
}

Kernel concat_pad() {
  Builder b(1, 0);
  const uint16_t split = b.add_size_slot(), from = b.add_size_slot(), to = b.add_size_slot(), zero = b.add_size_slot();
  const Val x = load(b, DType::f32, 1, {{0, zero, split}});
  const Val y = load(b, DType::f32, 1, {{0, split, 0}});
  const Val z = load(b, DType::f32, 1, {{0, from, to}}, 0x7FC00001);
  const Val in_x{b,
                 b.load(b.add_view(
                     {.kind = ViewKind::inside, .storage = DType::boolean, .axes = 1, .boxes = {{0, zero, split}}}))};
  const Val i{b, b.load(b.add_view({.kind = ViewKind::iota, .storage = DType::i64, .axes = 1, .boxes = {}}))};
  store(b, DType::f32, 1, select(in_x, x, y) + z);
  store(b, DType::i64, 1, i);
  return b.finish();
}

Kernel matmul() {
  Builder b(2, 1);
  const Val x = load(b, DType::f32, 0b101), y = load(b, DType::f32, 0b110), bias = load(b, DType::f32, 0b010);
  store(b, DType::f32, 0b011, vmax(x.bin(Prim::fold_dot, y) + bias, 0.0));
  return b.finish();
}

Kernel dot() {
  Builder b(0, 1);
  const Val x = load(b, DType::f64, 1), y = load(b, DType::f64, 1);
  store(b, DType::f64, 0, x.bin(Prim::fold_dot, y));
  return b.finish();
}

Kernel column_sum() {
  Builder b(1, 1);
  const Val x = load(b, DType::bf16, 3);
  const Val n = Val(b, b.size(1)).to(DType::f32);
  store(b, DType::bf16, 1, x.un(Prim::fold_sum) / n);
  return b.finish();
}

Kernel spread() {
  Builder b(1, 1);
  const Val most = load(b, DType::i32, 3).un(Prim::fold_max);
  store(b, DType::i32, 3, most);
  store(b, DType::i32, 1, most + 1);
  return b.finish();
}

Kernel integers() {
  Builder b(2, 0);
  const Val x = load(b, DType::i8, 3), y = load(b, DType::u64, 2), p = load(b, DType::boolean, 1);
  const Val w = x.to(DType::i32);
  const Val mixed = (w % -7 + (w << 3) / w.un(Prim::popcount)) ^ ~w;
  store(b, DType::i32, 3, select(p, mixed, w.lit(std::numeric_limits<int32_t>::min())));
  store(b, DType::u64, 3, (y >> 60) * y.bits(~uint64_t{0}) + (abs(w) | w.lit(1)).to(DType::u64));
  store(b, DType::boolean, 3, lt(w, 5) & !p);
  store(b, DType::f64, 3, y.cast_bits(DType::f64));
  return b.finish();
}

Kernel scalars() {
  Builder b(0, 0);
  const Val x = load(b, DType::f32, 0);
  store(b, DType::f32, 0, -(x + x.bits(0x80000000)));
  return b.finish();
}

Kernel scans() {
  Builder b(1, 1);
  const Val x = load(b, DType::f32, 3);
  const Val up{b, b.scan(Prim::scan_sum, (x * x).id(), 0)};
  const Val most{b, b.scan(Prim::scan_max, (up - x).id(), scan_exclusive)};
  store(b, DType::f32, 3, most + up);
  return b.finish();
}

Kernel two_way_scans() {
  Builder b(1, 1);
  const Val x = load(b, DType::f32, 3);
  const Val up{b, b.scan(Prim::scan_sum, (x * x).id(), 0)};
  const Val most{b, b.scan(Prim::scan_max, (up - x).id(), scan_exclusive)};
  store(b, DType::f32, 3, most + up);
  store(b, DType::f32, 3, {b, b.scan(Prim::scan_prod, x.id(), scan_reverse)});
  return b.finish();
}

Kernel gather() {
  Builder b(2, 0);
  const Val index = load(b, DType::i64, 1), extent{b, b.size(b.add_size_slot())};
  const auto offset = [&](AxisSet axes) {
    return Val(b, b.load(b.add_view({.kind = ViewKind::iota, .storage = DType::i64, .axes = axes, .boxes = {}})));
  };
  const Val counted = select(lt(index, 0), index + extent, index);
  const NodeId ok = b.check(0, b.literal(DType::boolean, 1), counted.id(), extent.id());
  const uint16_t table =
      b.add_view({.kind = ViewKind::load, .storage = DType::f16, .tensor = b.add_tensor(), .boxes = {}});
  const Val stride = offset(0), along = offset(2);
  store(b, DType::f16, 3, {b, b.fetch(table, ok, (along + counted * stride).id())});
  return b.finish();
}

std::vector<Sample> all() {
  return {{"axpy", axpy()},         {"softmax", softmax()}, {"layer_norm", layer_norm()}, {"concat_pad", concat_pad()},
          {"matmul", matmul()},     {"dot", dot()},         {"column_sum", column_sum()}, {"spread", spread()},
          {"integers", integers()}, {"scalars", scalars()}, {"scans", scans()},           {"gather", gather()}};
}

}  // namespace ingot::loop::samples
