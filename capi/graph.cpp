#include "capi/handles.h"
#include "ir/counted.h"
#include "ir/dim_consistency.h"
#include "ir/text.h"
#include "ir/utf8.h"

using namespace ingot;

namespace {

ir::Graph& building(ingot_graph* graph) { return *capi::need(graph, "graph").graph; }

std::vector<ir::DimId> dims(const ir::Graph& g, const ingot_dim* p, size_t n, const char* name) {
  const auto given = capi::list(p, n, name);
  for (size_t i = 0; i < n; ++i)
    if (!g.dims().valid(given[i])) fail(Code::invalid_argument, name, "[", i, "] is no dim of this graph");
  return {given.begin(), given.end()};
}

ir::DType dtype_of(int64_t number) {
  const auto t = static_cast<ir::DType>(number);
  if (number <= 0 || number > 255 || ir::item_size(t) == 0) fail(Code::invalid_argument, "unknown dtype ", number);
  return t;
}

// Whatever `read` refuses, told with whose it was.
template <class Read>
auto told_of(const std::string& whose, Read read) {
  try {
    return read();
  } catch (const Error& e) {
    fail(e.code(), whose, ": ", e.message());
  }
}

ir::NamedAttr convert(const ir::Graph& g, const ingot_attr& a, size_t index) {
  ir::NamedAttr out;
  out.name = capi::name_text(a.name, a.name_length, "an attribute's name");
  const std::string whose = cat("attribute ", index, " (", out.name, ")");
  const auto bad = [&](const auto&... why) { fail(Code::invalid_argument, whose, ": ", why...); };
  if (a.zero != 0 || a.reserved != 0) bad("its reserved fields are not zero");
  const bool single = a.kind == INGOT_ATTR_I64 || a.kind == INGOT_ATTR_F64 || a.kind == INGOT_ATTR_BOOL ||
                      a.kind == INGOT_ATTR_DTYPE || a.kind == INGOT_ATTR_DIM;
  if (single && a.count != 0) bad("its count is ", a.count, ", expected 0 of a single value");
  const auto many = [&](const auto* p) {
    if (!p && a.count > 0) bad("its list is NULL but its count is ", a.count);
    return std::span(p, a.count);
  };
  out.value.kind = static_cast<ir::AttrKind>(a.kind);
  switch (a.kind) {
    case INGOT_ATTR_I64: out.value.i = a.value.i64; break;
    case INGOT_ATTR_BOOL: out.value.i = a.value.i64 != 0; break;
    case INGOT_ATTR_DTYPE:
      out.value.i = told_of(whose, [&] { return static_cast<int64_t>(dtype_of(a.value.i64)); });
      break;
    case INGOT_ATTR_DIM:
      if (a.value.i64 < 0 || a.value.i64 > UINT32_MAX || !g.dims().valid(static_cast<ir::DimId>(a.value.i64)))
        bad("no dim of this graph");
      out.value.i = a.value.i64;
      break;
    case INGOT_ATTR_F64: out.value.f = a.value.f64; break;
    case INGOT_ATTR_STRING: out.value.s = capi::name_text(a.value.string, a.count, whose.c_str()); break;
    case INGOT_ATTR_I64S:
      for (const int64_t v : many(a.value.i64s)) out.value.ints.push_back(v);
      break;
    case INGOT_ATTR_BOOLS:
      for (const int32_t v : many(a.value.i32s)) out.value.ints.push_back(v != 0);
      break;
    case INGOT_ATTR_DTYPES:
      for (const int32_t v : many(a.value.i32s))
        out.value.ints.push_back(told_of(whose, [&] { return static_cast<int64_t>(dtype_of(v)); }));
      break;
    case INGOT_ATTR_DIMS:
      for (const ir::DimId d : dims(g, a.value.dims, a.count, whose.c_str())) out.value.ints.push_back(d);
      break;
    case INGOT_ATTR_F64S:
      for (const double v : many(a.value.f64s)) out.value.floats.push_back(v);
      break;
    case INGOT_ATTR_STRINGS:
      for (const char* v : many(a.value.strings))
        out.value.strings.emplace_back(capi::name_text(v, INGOT_NUL, whose.c_str()));
      break;
    default: bad("unknown attribute kind ", a.kind);
  }
  return out;
}

// The compact row-major bytes of a host tensor that need not be compact.
std::vector<uint8_t> compact_bytes(const ingot_tensor& t, size_t item, size_t bytes) {
  std::vector<uint8_t> out(bytes);
  const auto* base = static_cast<const uint8_t*>(t.data) + t.byte_offset;
  std::vector<int64_t> index(static_cast<size_t>(t.ndim), 0);
  for (size_t at = 0; at < bytes; at += item) {
    int64_t offset = 0;
    for (size_t d = 0; d < index.size(); ++d) offset += index[d] * t.strides[d];
    std::memcpy(out.data() + at, base + offset * static_cast<int64_t>(item), item);
    for (size_t d = index.size(); d-- > 0;) {
      if (++index[d] < t.shape[d]) break;
      index[d] = 0;
    }
  }
  return out;
}

ir::ValueId constant(ir::Graph& g, const ingot_tensor& t, uint64_t flags, capi::Owed& owed) {
  if (flags != 0) fail(Code::unimplemented, "unknown constant flags ", flags, ", expected 0");
  if (t.device.type != runtime::device_cpu)
    fail(Code::invalid_argument, "constant: device type ", t.device.type, ", expected 1 (CPU)");
  const ir::DType type = runtime::from_dlpack({t.dtype.code, t.dtype.bits, t.dtype.lanes});
  if (type == ir::DType::invalid)
    fail(Code::invalid_argument, "constant: unknown dtype: DLPack's code ", unsigned{t.dtype.code}, " of ",
         unsigned{t.dtype.bits}, " bits and ", t.dtype.lanes, t.dtype.lanes == 1 ? " lane" : " lanes");
  if (t.ndim < 0 || t.ndim > static_cast<int32_t>(ir::max_rank))
    fail(Code::invalid_argument, "constant: rank ", t.ndim, ", expected 0 to ", ir::max_rank);
  if (t.ndim > 0 && !t.shape) fail(Code::invalid_argument, "constant: shape is NULL");
  const size_t item = ir::item_size(type);
  int64_t bytes = static_cast<int64_t>(item);
  std::vector<ir::DimId> shape;
  bool compact = true, empty = false, fits = true;
  for (int32_t d = t.ndim; d-- > 0;) {
    if (t.shape[d] < 0) fail(Code::invalid_argument, "constant: extent ", t.shape[d], " of dim ", d, " is negative");
    if (fits && t.strides && t.shape[d] > 1) compact = compact && t.strides[d] * static_cast<int64_t>(item) == bytes;
    empty = empty || t.shape[d] == 0;
    // Zero extents count as 1, as in every shape of a graph.
    fits = fits && (t.shape[d] <= 1 || !__builtin_mul_overflow(bytes, t.shape[d], &bytes));
  }
  if (!fits)
    fail(Code::invalid_argument, "constant: its size overflows 63 bits", empty ? ", its extent of 0 counted as 1" : "");
  if (empty) bytes = 0;
  if (bytes > 0 && !t.data) fail(Code::invalid_argument, "constant: data is NULL but its size is not zero");
  for (int32_t d = 0; d < t.ndim; ++d) shape.push_back(g.dims().constant(t.shape[d]));
  const auto size = static_cast<size_t>(bytes);
  if (owed && (compact || bytes == 0))
    return g.constant(type, std::move(shape),
                      {owed.share(), static_cast<const uint8_t*>(t.data) + t.byte_offset, size});
  auto copy = std::make_shared<std::vector<uint8_t>>();
  if (size > 0 && (compact || !t.strides)) {
    const auto* p = static_cast<const uint8_t*>(t.data) + t.byte_offset;
    copy->assign(p, p + size);
  } else if (size > 0) {
    *copy = compact_bytes(t, item, size);
  }
  const uint8_t* data = copy->data();
  return g.constant(type, std::move(shape), {std::move(copy), data, size});
}

void check_open(const ir::Graph& g) {
  if (g.sealed()) fail(Code::failed_precondition, "the graph \"", g.name(), "\" is finished");
}

}  // namespace

extern "C" {

ingot_status* ingot_graph_create(ingot_context* context, const char* name, size_t name_length, ingot_graph** graph) {
  return capi::guarded([&] {
    capi::need(graph, "graph");
    auto handle = std::make_unique<ingot_graph>();
    handle->context = capi::need(context, "context").context;
    const std::string_view given = capi::name_text(name, name_length, "name");
    handle->graph = given.empty() ? std::make_shared<ir::Graph>() : std::make_shared<ir::Graph>(std::string(given));
    *graph = handle.release();
  });
}

ingot_status* ingot_graph_parse(ingot_context* context, const char* text, size_t length, ingot_graph** graph) {
  return capi::guarded([&] {
    capi::need(graph, "graph");
    auto handle = std::make_unique<ingot_graph>();
    handle->context = capi::need(context, "context").context;
    capi::need(text, "text");
    const Span span(handle->context->trace(), "parse");
    handle->graph = std::make_shared<ir::Graph>(ir::parse(capi::text(text, length, "text")));
    *graph = handle.release();
  });
}

ingot_status* ingot_graph_print(const ingot_graph* graph, ingot_buffer** text) {
  return capi::guarded([&] {
    capi::need(text, "text");
    auto buffer = std::make_unique<ingot_buffer>();
    buffer->bytes = ir::print(*capi::need(graph, "graph").graph);
    *text = buffer.release();
  });
}

void ingot_graph_retain(ingot_graph* graph) {
  if (graph) graph->retain();
}

void ingot_graph_release(ingot_graph* graph) {
  if (graph && graph->release()) delete graph;
}

ingot_status* ingot_graph_set_flags(ingot_graph* graph, uint32_t flags) {
  return capi::guarded([&] {
    ir::Graph& g = building(graph);
    check_open(g);
    if (flags & ~uint32_t{INGOT_GRAPH_RELAXED_PRECISION | INGOT_GRAPH_RELAXED_CONTRACTIONS})
      fail(Code::invalid_argument, "unknown graph flags ", flags, ", known are 1 and 2");
    g.set_flags(flags);
  });
}

ingot_status* ingot_graph_dim_symbol(ingot_graph* graph, const char* name, size_t name_length, int64_t lo, int64_t hi,
                                     ingot_dim* dim) {
  return capi::guarded([&] {
    ir::Graph& g = building(graph);
    capi::need(dim, "dim");
    check_open(g);
    *dim = g.dims().symbol(capi::name_text(name, name_length, "name"), lo, hi);
  });
}

ingot_status* ingot_graph_dim_expr(ingot_graph* graph, ingot_dim_kind kind, int64_t constant, const ingot_dim* operands,
                                   size_t count, ingot_dim* dim) {
  return capi::guarded([&] {
    ir::Graph& g = building(graph);
    capi::need(dim, "dim");
    check_open(g);
    const std::vector<ir::DimId> parts = dims(g, operands, count, "operands");
    if (kind == INGOT_DIM_CONSTANT) {
      if (count != 0) fail(Code::invalid_argument, "a constant dim takes no operands");
      *dim = g.dims().constant(constant);
    } else {
      *dim = g.dims().expr(static_cast<ir::DimKind>(kind), parts);
    }
  });
}

ingot_status* ingot_graph_assume(ingot_graph* graph, ingot_fact fact, const ingot_dim* p, size_t count) {
  return capi::guarded([&] {
    ir::Graph& g = building(graph);
    check_open(g);
    if (fact != INGOT_FACT_EQUAL && fact != INGOT_FACT_DIVISIBLE) fail(Code::invalid_argument, "unknown fact ", fact);
    g.dims().assume(static_cast<ir::DimFact>(fact), dims(g, p, count, "dims"));
  });
}

ingot_status* ingot_graph_input(ingot_graph* graph, const char* name, size_t name_length, ingot_dtype dtype,
                                const ingot_dim* shape, size_t rank, ingot_value* value) {
  return capi::guarded([&] {
    ir::Graph& g = building(graph);
    capi::need(value, "value");
    const std::string_view given = capi::name_text(name, name_length, "name");
    std::vector<ir::DimId> extents;
    const ir::DType type = told_of(cat("input ", ir::name_or_quoted(ir::shortened(given))), [&] {
      if (rank > ir::max_rank) fail(Code::invalid_argument, "rank ", rank, ", at most ", ir::max_rank);
      extents = dims(g, shape, rank, "shape");
      return dtype_of(dtype);
    });
    *value = g.input(given, type, std::move(extents));
  });
}

ingot_status* ingot_graph_dim_input(ingot_graph* graph, const char* name, size_t name_length, ingot_dim symbol,
                                    ingot_value* value) {
  return capi::guarded([&] {
    ir::Graph& g = building(graph);
    capi::need(value, "value");
    *value = g.dim_input(capi::name_text(name, name_length, "name"), dims(g, &symbol, 1, "symbol")[0]);
  });
}

ingot_status* ingot_graph_constant(ingot_graph* graph, const ingot_tensor* data, uint64_t flags, ingot_destroy destroy,
                                   void* user, ingot_value* value) {
  capi::Owed owed(user, destroy);
  return capi::guarded([&] {
    ir::Graph& g = building(graph);
    capi::need(value, "value");
    *value = constant(g, capi::need(data, "data"), flags, owed);
  });
}

ingot_status* ingot_graph_op(ingot_graph* graph, ingot_op op, const ingot_value* operands, size_t n_operands,
                             const ingot_attr* attrs, size_t n_attrs, ingot_value* results, size_t n_results) {
  return capi::guarded([&] {
    ir::Graph& g = building(graph);
    const auto code = static_cast<ir::OpCode>(op);
    const ir::OpInfo* info = ir::op_info(code);
    if (!info) fail(Code::invalid_argument, "unknown op ", op);
    // Counts first: an array is read only as far as the op can take it.
    if (n_operands > info->max_operands)
      fail(Code::invalid_argument, info->name, ": takes at most ", ir::counted(info->max_operands, "operand"), ", ",
           n_operands, " given");
    if (n_attrs > info->attrs.size())
      fail(Code::invalid_argument, info->name, ": has ", ir::counted(info->attrs.size(), "attribute"), ", ", n_attrs,
           " given");
    const auto in = capi::list(operands, n_operands, "operands");
    for (size_t i = 0; i < in.size(); ++i)
      if (in[i] >= g.value_count())
        fail(Code::invalid_argument, info->name, ": operand ", i, " is no value of this graph");
    if (n_results == 0) fail(Code::invalid_argument, info->name, ": n_results is 0, no op has so few");
    capi::need(results, "results");
    std::vector<ir::NamedAttr> named;
    told_of(std::string(info->name), [&] {
      const auto given = capi::list(attrs, n_attrs, "attrs");
      for (size_t i = 0; i < given.size(); ++i) named.push_back(convert(g, given[i], i));
    });
    const ir::ValueId first = g.op(code, in, named, n_results);
    for (size_t i = 0; i < n_results; ++i) results[i] = first + static_cast<ir::ValueId>(i);
  });
}

ingot_status* ingot_graph_output(ingot_graph* graph, const char* name, size_t name_length, ingot_value value) {
  return capi::guarded([&] {
    ir::Graph& g = building(graph);
    if (value >= g.value_count()) fail(Code::invalid_argument, "value ", value, " is none of this graph");
    g.output(capi::name_text(name, name_length, "name"), value);
  });
}

ingot_status* ingot_graph_finish(ingot_graph* graph) {
  return capi::guarded([&] {
    ir::Graph& g = building(graph);
    ir::check_facts_together(g.dims());
    g.seal();
  });
}

ingot_status* ingot_graph_find_value(const ingot_graph* graph, const char* name, size_t name_length,
                                     ingot_value* value) {
  return capi::guarded([&] {
    const ir::Graph& g = *capi::need(graph, "graph").graph;
    capi::need(value, "value");
    const std::string_view wanted = capi::name_text(name, name_length, "name");
    const ir::ValueId v = g.find_value(wanted);
    if (v == ir::no_value) fail(Code::not_found, "no value is named %", wanted);
    *value = v;
  });
}

}  // extern "C"
