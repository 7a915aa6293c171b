#include "runtime/tensor.h"

namespace ingot::runtime {

namespace {
// DLDataTypeCode: kDLInt 0, kDLUInt 1, kDLFloat 2, kDLBfloat 4, kDLComplex 5, kDLBool 6, kDLFloat8_e4m3fn 10,
// kDLFloat8_e5m2 12.
struct Row {
  ir::DType type;
  DataType dl;
};
constexpr Row rows[] = {
    {ir::DType::boolean, {6, 8, 1}}, {ir::DType::i8, {0, 8, 1}},      {ir::DType::i16, {0, 16, 1}},
    {ir::DType::i32, {0, 32, 1}},    {ir::DType::i64, {0, 64, 1}},    {ir::DType::u8, {1, 8, 1}},
    {ir::DType::u16, {1, 16, 1}},    {ir::DType::u32, {1, 32, 1}},    {ir::DType::u64, {1, 64, 1}},
    {ir::DType::f16, {2, 16, 1}},    {ir::DType::bf16, {4, 16, 1}},   {ir::DType::f32, {2, 32, 1}},
    {ir::DType::f64, {2, 64, 1}},    {ir::DType::f8e4m3, {10, 8, 1}}, {ir::DType::f8e5m2, {12, 8, 1}},
    {ir::DType::c64, {5, 64, 1}},    {ir::DType::c128, {5, 128, 1}},
};
}  // namespace

ir::DType from_dlpack(DataType t) noexcept {
  for (const Row& row : rows)
    if (row.dl.code == t.code && row.dl.bits == t.bits && row.dl.lanes == t.lanes) return row.type;
  return ir::DType::invalid;
}

DataType to_dlpack(ir::DType t) noexcept {
  for (const Row& row : rows)
    if (row.type == t) return row.dl;
  return {0, 0, 0};
}

}  // namespace ingot::runtime
