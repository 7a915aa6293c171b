// Every primitive with every type that it takes, on corner cases and random values: the compiled lanes against
// loop::eval, bit for bit (any NaN equals any other, except out of canon and what only moves bits).
#include <doctest/doctest.h>

#include "base/error.h"
#include "loop/eval.h"
#include "loop/rules.h"
#include "support.h"

namespace ingot::jit {
namespace {

constexpr DType value_types[] = {DType::boolean, DType::i8,     DType::i16,    DType::i32, DType::i64,
                                 DType::u8,      DType::u16,    DType::u32,    DType::u64, DType::f16,
                                 DType::bf16,    DType::f8e4m3, DType::f8e5m2, DType::f32, DType::f64};

struct Case {
  Prim op;
  DType type, a, b, c;
};

// All signatures that the IR allows, from its own table of rules.
std::vector<Case> all_cases() {
  std::vector<Case> out;
  for (int number = 0; number < 256; ++number) {
    const Prim op = static_cast<Prim>(number);
    const loop::PrimInfo* info = loop::prim_info(op);
    if (!info || info->arity == 0 || loop::ends_sweep(op) || info->cls == loop::PrimClass::index) continue;
    for (const DType type : value_types)
      for (const DType a : value_types)
        for (const DType b : value_types)
          for (const DType c : value_types) {
            if (info->arity < 2 && b != value_types[0]) continue;
            if (info->arity < 3 && c != value_types[0]) continue;
            const Case k{op, type, a, info->arity > 1 ? b : DType::invalid, info->arity > 2 ? c : DType::invalid};
            if (!loop::type_fault(op, type, k.a, k.b, k.c)) out.push_back(k);
          }
  }
  return out;
}

bool is_nan(DType t, uint64_t bits) {
  if (t == DType::f32) return (bits & 0x7FFFFFFF) > 0x7F800000;
  return t == DType::f64 && (bits & INT64_MAX) > 0x7FF0000000000000;
}

// A kernel of one primitive: loads, the primitive, a canon where the NaN would be seen, a store.
// With one row axis in lanes, without any as a scalar.
loop::Kernel kernel_of(const Case& c, uint8_t rows) {
  const loop::AxisSet axes = rows;
  Builder builder(rows, 0);
  const DType types[3] = {c.a, c.b, c.c};
  NodeId args[3] = {loop::no_node, loop::no_node, loop::no_node};
  for (size_t i = 0; i < 3 && types[i] != DType::invalid; ++i)
    args[i] = builder.load(builder.add_view(load_view(types[i], builder.add_tensor(), axes)));
  const NodeId value = c.op == Prim::convert       ? builder.convert(c.type, args[0])
                       : c.op == Prim::bitcast     ? builder.bitcast(c.type, args[0])
                       : c.op == Prim::number_bits ? builder.number_bits(args[0])
                                                   : builder.op(c.op, args[0], args[1], args[2]);
  builder.store(builder.add_view(store_view(c.type, builder.add_tensor(), axes)), value);
  return builder.finish();
}

std::string name_of(const Case& c) {
  std::string out = cat(loop::prim_info(c.op)->name, " ", ir::name(c.type), " (", ir::name(c.a));
  if (c.b != DType::invalid) out += cat(", ", ir::name(c.b));
  if (c.c != DType::invalid) out += cat(", ", ir::name(c.c));
  return out + ")";
}

constexpr size_t lanes = 16 * 120;

void run_case(const Case& c, const std::string& target, uint8_t rows) {
  const loop::Kernel kernel = kernel_of(c, rows);
  const auto body = load(compile(kernel, target));
  const DType types[3] = {c.a, c.b, c.c};
  std::vector<uint64_t> values[3];
  std::vector<std::vector<char>> tensors;
  std::vector<char*> pointers;
  for (uint32_t i = 0; i < 3 && types[i] != DType::invalid; ++i) {
    values[i] = samples(types[i], lanes, 17 * i + 1);
    // One byte off, so that no alignment can be relied on.
    tensors.emplace_back(lanes * 8 + 1);
    for (size_t l = 0; l < lanes; ++l) put_item(tensors.back().data() + 1, types[i], l, values[i][l]);
  }
  tensors.emplace_back(lanes * 8 + 1);
  for (auto& t : tensors) pointers.push_back(t.data() + 1);
  const int64_t sizes[] = {static_cast<int64_t>(lanes)};
  Frame frame{};
  frame.ptr = pointers.data();
  frame.size = sizes;
  frame.n = frame.valid = lanes;
  if (rows > 0) {
    body->sweep(0, frame);
  } else {
    const std::vector<char*> first = pointers;
    for (size_t l = 0; l < lanes; ++l) {
      body->row(frame);
      for (size_t i = 0; i < pointers.size(); ++i)
        pointers[i] += ir::item_size(i + 1 == pointers.size() ? c.type : types[i]);
    }
    pointers = first;
  }

  const DType from = c.op == Prim::select || c.op == Prim::rare ? c.b : c.a;
  size_t wrong = 0;
  for (size_t l = 0; l < lanes; ++l) {
    const auto arg = [&](size_t i) { return types[i] == DType::invalid ? 0 : values[i][l]; };
    const uint64_t want = loop::eval(c.op, c.type, from, arg(0), arg(1), arg(2));
    const uint64_t got = get_item(pointers.back(), c.type, l);
    if (got == want || (is_nan(c.type, got) && is_nan(c.type, want))) continue;
    if (++wrong > 3) break;
    FAIL_CHECK(std::string(target), rows ? " lanes " : " scalar ", name_of(c), " of ", std::hex, arg(0), " ", arg(1),
               " ", arg(2), ": ", got, ", not ", want);
  }
}

}  // namespace

TEST_CASE("every primitive of every type equals its scalar meaning") {
  const std::vector<Case> cases = all_cases();
  CHECK(cases.size() > 300);
  for (const std::string& target : native_targets())
    for (const Case& c : cases)
      for (const uint8_t rows : {1, 0}) run_case(c, target, rows);
}

TEST_CASE("every primitive of every type compiles for every target without undefined symbols or relocations") {
  if (host_target() == "aarch64") return;  // recorded artifacts are all there is
  for (const std::string& target : all_targets) {
    if (can_run(host_target(), target)) continue;  // the test above has compiled those
    for (const Case& c : all_cases()) {
      CAPTURE(target);
      CAPTURE(name_of(c));
      CHECK_NOTHROW(compile(kernel_of(c, 1), target));
      CHECK_NOTHROW(compile(kernel_of(c, 0), target));
    }
  }
}

}  // namespace ingot::jit
