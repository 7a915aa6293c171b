// What an op accepts and returns: attributes brought to normal form, dtypes and shapes checked and inferred.
#pragma once

#include <span>
#include <vector>

#include "ir/graph.h"

namespace ingot::ir {

struct ResultType {
  DType dtype;
  std::vector<DimId> shape;
};

// One op about to be added. `dims` is the graph's table: rows may be added to it, facts are only collected, so that the
// caller can undo everything if a check fails.
struct Inference {
  const Graph& graph;
  DimTable& dims;
  const OpInfo& info;
  std::string_view asked_by;  // the op that the host wrote, named where a run does not fit
  std::span<const ValueId> operands;
  std::vector<Attr> attrs;  // one per AttrSpec

  enum class Need : uint8_t { equal, divisible, nonnegative };
  struct Fact {
    Need need;
    DimId a, b;
    std::string why;  // FactCause::why
  };
  std::vector<Fact> facts;  // what has to hold in every run and is not known to
  std::vector<ResultType> results;

  const Value& value(size_t operand) const { return graph.value(operands[operand]); }
  Attr& attr(std::string_view name) { return attrs[attr_index(info, name)]; }
  // "add: operand 1 (%y: f64[N])"
  std::string where(size_t operand) const;
  template <class... Args>
  [[noreturn]] void reject(const Args&... args) const {
    fail(Code::invalid_argument, info.name, ": ", args...);
  }
  // Both extents must be equal in every run: known, or a fact to be checked, or rejected with `what` and the operands x
  // and y they come from.
  void require_equal(DimId a, DimId b, std::string_view what, size_t x, size_t y);
  void require_extent(DimId d, std::string_view what);  // not negative
};

// Attributes by name to one per AttrSpec, defaults filled in; throws for unknown, missing and ill-typed ones.
std::vector<Attr> fill_attrs(DimTable& dims, const OpInfo& info, std::span<const NamedAttr> given);
// The default axes "all" until a rule knows the rank: an i64s with this in `i`.
inline constexpr int64_t every_axis = 1;

// Fills `results`, `facts`, and the normal form of `attrs`. Throws invalid_argument naming op, operand and what was
// expected.
void infer(Inference& op);

// Rules that need a file of their own (op_movement.cpp).
void infer_reshape(Inference& op);
void infer_slice(Inference& op);
void infer_pad(Inference& op);
void infer_concat(Inference& op);
void infer_broadcast(Inference& op);
void infer_transpose(Inference& op);
void infer_reverse(Inference& op);
void infer_dim(Inference& op);
void infer_iota(Inference& op);
// op_arrange.cpp
void infer_squeeze(Inference& op);
void infer_expand_dims(Inference& op);
void infer_stack(Inference& op);
void infer_split(Inference& op);
void infer_roll(Inference& op);
void infer_tile(Inference& op);
void infer_repeat(Inference& op);
void infer_diagonal(Inference& op);
void infer_tri(Inference& op);
void infer_eye(Inference& op);
// op_composite.cpp
void infer_count(Inference& op);
void infer_argument(Inference& op);
void infer_channel_norm(Inference& op);
void infer_batch_norm(Inference& op);
void infer_quantize(Inference& op);
void infer_dequantize(Inference& op);
void infer_rope(Inference& op);
// op_contraction.cpp
void infer_matmul(Inference& op);
void infer_dot_general(Inference& op);
void infer_attention(Inference& op);
// op_random.cpp
void infer_random(Inference& op);
void infer_bernoulli(Inference& op);
void infer_dropout(Inference& op);
// op_arrange.cpp
void infer_unpack_bits(Inference& op);
// op_indexed.cpp
void infer_cross_entropy(Inference& op);
void infer_gather(Inference& op);
void infer_take_along(Inference& op);
void infer_gather_nd(Inference& op);
void infer_one_hot(Inference& op);
void infer_scatter(Inference& op);
void infer_searchsorted(Inference& op);

bool has_indices(const OpInfo& info) noexcept;  // operand 1 holds integers that index operand 0

// Shared by the rules.
void check_set(const Inference& op, size_t operand);  // the row's dtypes
bool is_storage_only(DType type) noexcept;            // fp8, which nothing computes with
void check_computed(const Inference& op);             // operand 0 is no such type
DType made_dtype(Inference& op);                      // the attribute dtype of what ops without operands make; likewise
void check_same_dtype(const Inference& op, size_t operand, size_t model);
void infer_reduce(Inference& op);
std::vector<DimId> as_dims(const Attr& attr);
// A list attribute with an entry per dim of the operand; refused otherwise.
void check_count(const Inference& op, const Attr& attr, std::string_view name);
int64_t normal_axis(const Inference& op, int64_t axis, size_t rank, std::string_view attribute);
void normalise_axes(Inference& op, Attr& axes, size_t rank);
// Axis d of operand 0 has the one index that is needed of it in every run.
void require_some(Inference& op, size_t d, std::string_view needed);
// The extent that dims broadcast to; throws naming both operands' shapes.
DimId broadcast_extent(const Inference& op, DimId a, DimId b, size_t operand_a, size_t operand_b);
// Refuses constant extents below 0, ranks over max_rank, and sizes that overflow 63 bits of bytes; `what` begins the
// message.
void check_shape(const DimTable& dims, DType dtype, std::span<const DimId> shape, std::string_view what);

// "f32[B, 4]"
std::string type_text(const DimTable& dims, DType dtype, std::span<const DimId> shape);

// The dtype of a literal in the place of `operand`: bool for the condition of select, i64 for indices, `result` for the
// zero point of quantize (its attribute dtype; else not looked at), else that of the first operand that is none
// (`literal` tells which are). DType::invalid if there is no such operand.
DType literal_dtype(const Graph& graph, const OpInfo& info, std::span<const ValueId> operands,
                    const std::vector<bool>& literal, size_t operand, DType result);

}  // namespace ingot::ir
