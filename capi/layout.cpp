// The public types and numbers against the library's own. Nothing here exists at run time.
#include <cstddef>

#include "capi/handles.h"

using namespace ingot;

#define SAME_NUMBER(a, b) static_assert(static_cast<int64_t>(a) == static_cast<int64_t>(b))
SAME_NUMBER(INGOT_INVALID_ARGUMENT, Code::invalid_argument);
SAME_NUMBER(INGOT_OUT_OF_RANGE, Code::out_of_range);
SAME_NUMBER(INGOT_UNIMPLEMENTED, Code::unimplemented);
SAME_NUMBER(INGOT_FAILED_PRECONDITION, Code::failed_precondition);
SAME_NUMBER(INGOT_NOT_FOUND, Code::not_found);
SAME_NUMBER(INGOT_OUT_OF_MEMORY, Code::out_of_memory);
SAME_NUMBER(INGOT_UNAVAILABLE, Code::unavailable);
SAME_NUMBER(INGOT_CANCELLED, Code::cancelled);
SAME_NUMBER(INGOT_NOT_READY, Code::not_ready);
SAME_NUMBER(INGOT_IO_ERROR, Code::io_error);
SAME_NUMBER(INGOT_INTERNAL, Code::internal);
SAME_NUMBER(INGOT_BOOL, ir::DType::boolean);
SAME_NUMBER(INGOT_I64, ir::DType::i64);
SAME_NUMBER(INGOT_U64, ir::DType::u64);
SAME_NUMBER(INGOT_BF16, ir::DType::bf16);
SAME_NUMBER(INGOT_F32, ir::DType::f32);
SAME_NUMBER(INGOT_F64, ir::DType::f64);
SAME_NUMBER(INGOT_F8E5M2, ir::DType::f8e5m2);
SAME_NUMBER(INGOT_C128, ir::DType::c128);
SAME_NUMBER(INGOT_DIM_CONSTANT, ir::DimKind::constant);
SAME_NUMBER(INGOT_DIM_MOD, ir::DimKind::mod);
SAME_NUMBER(INGOT_DIM_BCAST, ir::DimKind::bcast);
SAME_NUMBER(INGOT_FACT_DIVISIBLE, ir::DimFact::divisible);
SAME_NUMBER(INGOT_ATTR_F64, ir::AttrKind::f64);
SAME_NUMBER(INGOT_ATTR_DIMS, ir::AttrKind::dims);
SAME_NUMBER(INGOT_LOG_ERROR, LogLevel::error);
SAME_NUMBER(INGOT_GRAPH_RELAXED_CONTRACTIONS, ir::relaxed_contractions);

// Every row of the op table has its constant in the header under the same number.
#define OP(name, number, cls, lo, hi, types, rule, attrs, doc, example) SAME_NUMBER(number, ir::OpCode::op_##name);
#include "ir/ops.def"
#undef OP

static_assert(sizeof(ingot_attr) == 48);
static_assert(sizeof(ingot_tensor) == sizeof(runtime::Tensor));
static_assert(offsetof(ingot_tensor, data) == offsetof(runtime::Tensor, data));
static_assert(offsetof(ingot_tensor, device) == offsetof(runtime::Tensor, device));
static_assert(offsetof(ingot_tensor, ndim) == offsetof(runtime::Tensor, ndim));
static_assert(offsetof(ingot_tensor, dtype) == offsetof(runtime::Tensor, dtype));
static_assert(offsetof(ingot_tensor, shape) == offsetof(runtime::Tensor, shape));
static_assert(offsetof(ingot_tensor, strides) == offsetof(runtime::Tensor, strides));
static_assert(offsetof(ingot_tensor, byte_offset) == offsetof(runtime::Tensor, byte_offset));
static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t));
