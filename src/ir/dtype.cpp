#include "ir/dtype.h"

#include "base/error.h"

namespace ingot::ir {

namespace {
struct Row {
  DType type;
  std::string_view name;
};
constexpr Row rows[] = {
    {DType::boolean, "bool"}, {DType::i8, "i8"},         {DType::i16, "i16"},       {DType::i32, "i32"},
    {DType::i64, "i64"},      {DType::u8, "u8"},         {DType::u16, "u16"},       {DType::u32, "u32"},
    {DType::u64, "u64"},      {DType::f16, "f16"},       {DType::bf16, "bf16"},     {DType::f32, "f32"},
    {DType::f64, "f64"},      {DType::f8e4m3, "f8e4m3"}, {DType::f8e5m2, "f8e5m2"}, {DType::c64, "c64"},
    {DType::c128, "c128"},
};
constexpr Row elsewhere[] = {
    {DType::boolean, "boolean"},    {DType::i8, "int8"},       {DType::i16, "int16"},
    {DType::i32, "int32"},          {DType::i64, "int64"},     {DType::u8, "uint8"},
    {DType::u16, "uint16"},         {DType::u32, "uint32"},    {DType::u64, "uint64"},
    {DType::f16, "float16"},        {DType::f16, "half"},      {DType::f16, "fp16"},
    {DType::bf16, "bfloat16"},      {DType::f32, "float32"},   {DType::f32, "float"},
    {DType::f32, "single"},         {DType::f32, "fp32"},      {DType::f64, "float64"},
    {DType::f64, "double"},         {DType::f64, "fp64"},      {DType::f8e4m3, "float8_e4m3fn"},
    {DType::f8e5m2, "float8_e5m2"}, {DType::c64, "complex64"}, {DType::c128, "complex128"},
};
const Row* find(DType t) {
  for (const Row& row : rows)
    if (row.type == t) return &row;
  return nullptr;
}
}  // namespace

std::string_view name(DType t) noexcept {
  const Row* row = find(t);
  return row ? row->name : "invalid";
}

DType parse_dtype(std::string_view text) noexcept {
  for (const Row& row : rows)
    if (row.name == text) return row.type;
  return DType::invalid;
}

std::string dtype_hint(std::string_view text) {
  for (const Row& row : elsewhere)
    if (row.name == text) return cat(", did you mean ", name(row.type), "?");
  return {};
}

bool is_float(DType t) noexcept {
  return t == DType::f16 || t == DType::bf16 || t == DType::f32 || t == DType::f64 || t == DType::f8e4m3 ||
         t == DType::f8e5m2;
}
bool is_signed(DType t) noexcept { return t >= DType::i8 && t <= DType::i64; }
bool is_unsigned(DType t) noexcept { return t >= DType::u8 && t <= DType::u64; }
bool is_integer(DType t) noexcept { return t >= DType::i8 && t <= DType::u64; }

}  // namespace ingot::ir
