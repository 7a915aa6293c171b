#include <cstring>
#include <unordered_map>

#include "base/bytes.h"
#include "pass/passes.h"
#include "pass/rebuild.h"

namespace ingot::pass {

namespace {

void put(ByteWriter& w, const ir::Attr& a) {
  w.put(static_cast<int32_t>(a.kind));
  w.put(a.i);
  uint64_t bits;
  std::memcpy(&bits, &a.f, sizeof bits);
  w.put(bits);
  w.put_string(a.s);
  w.put(static_cast<uint32_t>(a.ints.size()));
  for (const int64_t v : a.ints) w.put(v);
  w.put(static_cast<uint32_t>(a.floats.size()));
  for (const double v : a.floats) {
    std::memcpy(&bits, &v, sizeof bits);
    w.put(bits);
  }
  w.put(static_cast<uint32_t>(a.strings.size()));
  for (const std::string& s : a.strings) w.put_string(s);
}

std::string text_of(ByteWriter& w) { return {w.bytes().begin(), w.bytes().end()}; }

}  // namespace

ir::Graph common_subexpressions(const ir::Graph& graph) {
  Rebuild r(graph);
  std::unordered_map<std::string, ValueId> known;
  // Constants first: equal content is one value. Large ones are told apart by address, which costs no reading.
  for (ValueId v = 0; v < graph.value_count(); ++v) {
    const ir::Value& value = graph.value(v);
    if (value.kind != ir::ValueKind::constant) continue;
    const ir::Constant& c = graph.constant_data(v);
    if (c.size > 64) continue;
    ByteWriter w;
    w.put(uint8_t{0});
    w.put(static_cast<uint8_t>(value.dtype));
    w.put(static_cast<uint32_t>(value.shape.size()));
    for (const ir::DimId d : value.shape) w.put(d);
    w.put_bytes({c.data, c.size});
    const auto [at, fresh] = known.try_emplace(text_of(w), v);
    if (!fresh) r.set(v, r(at->second));
  }
  known.clear();
  for (uint32_t i = 0; i < graph.op_count(); ++i) {
    const ir::Op& op = graph.op(i);
    ByteWriter w;
    w.put(static_cast<uint32_t>(op.code));
    for (const ValueId v : op.operands) w.put(r(v));
    for (const ir::Attr& a : op.attrs) put(w, a);
    const auto [at, fresh] = known.try_emplace(text_of(w), i);
    if (fresh) {
      r.copy(op);
      continue;
    }
    const ir::Op& first = graph.op(at->second);
    for (size_t k = 0; k < op.results.size(); ++k) r.set(op.results[k], r(first.results[k]));
  }
  return r.finish();
}

}  // namespace ingot::pass
