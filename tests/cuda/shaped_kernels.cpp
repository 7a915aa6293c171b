#include "run_test.h"

namespace ingot {

namespace {

using loop::Builder;
using loop::DType;
using loop::Prim;
using loop::Val;
namespace samples = loop::samples;

Val fold(Val x, Prim op) { return x.un(op); }

// Two levels of folds and a store along the row, whose middle value is dear enough to be kept.
loop::Kernel softmax(DType type) {
  Builder b(1, 1);
  const Val x = samples::load(b, type, 3);
  const Val e = samples::fake_exp(x - fold(x, Prim::fold_max));
  samples::store(b, type, 3, e / fold(e, Prim::fold_sum));
  return b.finish();
}

// Several folds of one level, of types of several sizes.
loop::Kernel statistics(bool row_lanes) {
  Builder b(1, 1);
  const Val x = samples::load(b, DType::f32, 3), y = samples::load(b, DType::i16, 3);
  samples::store(b, DType::f32, 1, fold(x, Prim::fold_sum));
  samples::store(b, DType::f64, 1, fold(x.to(DType::f64) * 1.5, Prim::fold_sum));
  samples::store(b, DType::f32, 1, fold(x, Prim::fold_max));
  samples::store(b, DType::i16, 1, fold(y, Prim::fold_sum) + fold(y, Prim::fold_min));
  loop::Kernel k = b.finish();
  k.row_lanes = row_lanes;
  return k;
}

// Sum of squares of the distances from the mean.
loop::Kernel deviation(bool row_lanes) {
  Builder b(1, 1);
  const Val x = samples::load(b, DType::f32, 3);
  const Val d = x - fold(x, Prim::fold_sum) * 0.001;
  samples::store(b, DType::f32, 1, fold(d * d, Prim::fold_sum));
  loop::Kernel k = b.finish();
  k.row_lanes = row_lanes;
  return k;
}

loop::Kernel product(DType memory, DType type, bool turned) {
  Builder b(3, 1);
  const Val x = samples::load(b, memory, 0b1011).to(type), y = samples::load(b, memory, 0b1101).to(type);
  const Val dot = turned ? y.bin(Prim::fold_dot, x) : x.bin(Prim::fold_dot, y);
  samples::store(b, type, 7, dot + samples::load(b, type, 4));
  return b.finish();
}

// A matrix, a row and a column vector and a number, of several item sizes, and a place in the row.
loop::Kernel broadcast() {
  Builder b(2, 0);
  const Val x = samples::load(b, DType::f32, 3), row = samples::load(b, DType::f16, 2).to(DType::f32);
  const Val column = samples::load(b, DType::f32, 1), number = samples::load(b, DType::f32, 0);
  const loop::View along{
      .kind = loop::ViewKind::iota, .storage = DType::i64, .tensor = 0, .axes = 2, .boxes = {}, .fill = 0};
  const Val place{b, b.load(b.add_view(along))};
  samples::store(b, DType::f32, 3, x * row + column);
  samples::store(b, DType::u8, 3, lt(x, number).to(DType::u8) + place.to(DType::u8));
  return b.finish();
}

// Compact tensors of several item sizes.
loop::Kernel mixed() {
  Builder b(1, 0);
  const Val x = samples::load(b, DType::f16, 1).to(DType::f32);
  samples::store(b, DType::f64, 1, (x * x).to(DType::f64) + samples::load(b, DType::f64, 1));
  samples::store(b, DType::u8, 1, samples::load(b, DType::u8, 1) + x.to(DType::u8));
  return b.finish();
}

// Scans both ways, beside a fold of one of them.
loop::Kernel scans(uint64_t first, uint64_t second, bool folded) {
  Builder b(1, 1);
  const Val x = samples::load(b, DType::f32, 3);
  const Val up{b, b.scan(Prim::scan_sum, x.id(), first)};
  const Val down{b, b.scan(Prim::scan_max, (up * 0.5).id(), second)};
  samples::store(b, DType::f32, 3, up - down);
  if (folded) samples::store(b, DType::f32, 1, fold(up, Prim::fold_sum));
  return b.finish();
}

}  // namespace

std::vector<Shaped> shaped_kernels() {
  const std::vector<std::vector<int64_t>> rows = {{9, 0},    {9, 1},    {17, 63},  {3, 64},    {3, 65},   {9, 1023},
                                                  {9, 1024}, {9, 1025}, {2, 3583}, {2, 3585},  {2, 7168}, {2, 7169},
                                                  {1, 8192}, {1, 8193}, {2, 9217}, {1, 16385}, {1, 70001}};
  const std::vector<std::vector<int64_t>> columns = {{1, 1},     {31, 64},   {32, 65},   {33, 1023}, {64, 1024},
                                                     {65, 1025}, {5, 2049},  {33, 3000}, {1, 9000},  {40, 0},
                                                     {130, 100}, {3, 16384}, {2, 17000}};
  const std::vector<std::vector<int64_t>> products = {{1, 15, 64, 5},   {1, 16, 16, 1},    {2, 64, 64, 16},
                                                      {1, 65, 63, 17},  {1, 17, 129, 255}, {3, 16, 65, 256},
                                                      {1, 20, 30, 257}, {1, 33, 16, 513},  {1, 64, 64, 0}};
  const std::vector<std::vector<int64_t>> scanned = {{300, 1},  {3, 15},  {3, 16},   {3, 17},   {40, 255},
                                                     {5, 256},  {5, 257}, {2, 4095}, {2, 4096}, {2, 4097},
                                                     {1, 8193}, {2, 0},   {1, 20000}};
  return {{"softmax f32", softmax(DType::f32), rows},
          {"softmax f64", softmax(DType::f64), rows},
          {"statistics of rows", statistics(false), rows},
          {"deviation of rows", deviation(false), rows},
          {"statistics of columns", statistics(true), columns},
          {"deviation of columns", deviation(true), columns},
          {"product f32", product(DType::f32, DType::f32, false), products},
          {"product f64", product(DType::f64, DType::f64, true), products},
          {"product f16", product(DType::f16, DType::f32, false), products},
          {"broadcast", broadcast(), {{1, 1}, {3, 8}, {5, 64}, {3, 65}, {20, 200}, {2, 4096}}},
          {"mixed items", mixed(), {{1}, {7}, {8}, {9}, {1000}, {4097}}},
          {"scans up", scans(0, loop::scan_exclusive, false), scanned},
          {"scans down", scans(loop::scan_reverse, loop::scan_reverse | loop::scan_exclusive, false), scanned},
          {"scans both ways", scans(0, loop::scan_reverse, true), scanned}};
}

}  // namespace ingot
