// The C interface for C++17 and later: handles that release themselves, and failures as exceptions.
//
// Header only and inline: it adds nothing to the library's ABI. It wraps what most hosts use; for the rest get() gives
// the C handle. Everything is in namespace ingot_cpp; see ingot.h for what each call does, who owns what, and which
// calls may run on which thread.
#ifndef INGOT_INGOT_HPP
#define INGOT_INGOT_HPP

#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "ingot/ingot.h"
#include "ingot/tensor.hpp"

namespace ingot_cpp {

// Releases the status; throws it if it is one.
inline void check(ingot_status* status) {
  if (!status) return;
  const char* text = "";
  ingot_status_message(status, &text, nullptr);
  const std::unique_ptr<ingot_status, decltype(&ingot_status_release)> owned(status, ingot_status_release);
  throw Error(ingot_status_code(status), text);
}

// One counted reference to a handle.
template <class H, void (*Retain)(H*), void (*Release)(H*)>
class Handle {
 public:
  Handle() = default;
  explicit Handle(H* owned) : h_(owned) {}  // takes over the reference
  Handle(const Handle& o) : h_(o.h_) { Retain(h_); }
  Handle(Handle&& o) noexcept : h_(std::exchange(o.h_, nullptr)) {}
  Handle& operator=(Handle o) noexcept {
    std::swap(h_, o.h_);
    return *this;
  }
  ~Handle() { Release(h_); }
  H* get() const noexcept { return h_; }
  explicit operator bool() const noexcept { return h_ != nullptr; }

 private:
  H* h_ = nullptr;
};

using ContextHandle = Handle<ingot_context, ingot_context_retain, ingot_context_release>;
using GraphHandle = Handle<ingot_graph, ingot_graph_retain, ingot_graph_release>;
using ExecutableHandle = Handle<ingot_executable, ingot_executable_retain, ingot_executable_release>;
using EventHandle = Handle<ingot_event, ingot_event_retain, ingot_event_release>;

// The content of a buffer; releases it.
inline std::string take(ingot_buffer* buffer) {
  const char* data = nullptr;
  size_t size = 0;
  ingot_buffer_data(buffer, &data, &size);
  std::string out(data, size);
  ingot_buffer_release(buffer);
  return out;
}

class Context : public ContextHandle {
 public:
  explicit Context(const ingot_context_options* options = nullptr) : ContextHandle(make(options)) {}
  ingot_stats stats() const {
    ingot_stats s = INGOT_STATS_INIT;
    check(ingot_context_stats(get(), &s));
    return s;
  }
  // Waits for what runs have enqueued on a stream of the device, null being its default one; throws what became of it.
  void sync(ingot_device device, void* stream = nullptr) const {
    check(ingot_context_sync(get(), device.type, device.id, stream));
  }

 private:
  static ingot_context* make(const ingot_context_options* options) {
    ingot_context* c = nullptr;
    check(ingot_context_create(options, &c));
    return c;
  }
};

// --- graphs

// A value and a dim of one graph. Types of their own, so that neither is taken for a number or for the other.
struct Value {
  ingot_value id;
};
struct Dim {
  ingot_dim id;
};

// One extent of a shape: a Dim or a number. An ingot_dim is not taken, since it would be read as a number: Dim{id}.
class Extent {
 public:
  Extent(Dim dim) : number_(dim.id), is_dim_(true) {}  // NOLINT(google-explicit-constructor): {n, 4} is a shape
  template <class I, std::enable_if_t<std::is_integral_v<I> && !std::is_same_v<I, bool>, int> = 0>
  Extent(I number) : number_(static_cast<int64_t>(number)) {}  // NOLINT(google-explicit-constructor): likewise
  Extent(ingot_dim) = delete;

  bool is_dim() const noexcept { return is_dim_; }
  int64_t number() const noexcept { return number_; }  // the id of a dim

 private:
  int64_t number_;
  bool is_dim_ = false;
};

// An attribute for Graph::op. {"axis", 1}, {"epsilon", 1e-6}, {"keepdims", true}, {"approximate", "tanh"},
// {"to", INGOT_F64} (a variable: Attr::dtype("to", type)), and lists in braces or vectors: {"axes", {0, 1}},
// {"shape", {n, 4}}.
class Attr {
 public:
  // All but the list are templates, since braces take no part in deduction: {} and {0} can only be lists.
  template <class I, std::enable_if_t<std::is_integral_v<I> && !std::is_same_v<I, bool>, int> = 0>
  Attr(std::string_view name, I v) : Attr(name, INGOT_ATTR_I64, static_cast<int64_t>(v)) {}
  template <class B, std::enable_if_t<std::is_same_v<B, bool>, int> = 0>
  Attr(std::string_view name, B v) : Attr(name, INGOT_ATTR_BOOL, v) {}
  template <class F, std::enable_if_t<std::is_floating_point_v<F>, int> = 0>
  Attr(std::string_view name, F v) : Attr(name, INGOT_ATTR_F64, 0) {
    f64_ = static_cast<double>(v);
  }
  template <class S, std::enable_if_t<std::is_convertible_v<const S&, std::string_view>, int> = 0>
  Attr(std::string_view name, const S& v) : Attr(name, INGOT_ATTR_STRING, 0) {
    text_ = std::string_view(v);
  }
  template <class E, std::enable_if_t<std::is_same_v<E, decltype(INGOT_F64)>, int> = 0>
  Attr(std::string_view name, E v) : Attr(name, INGOT_ATTR_DTYPE, static_cast<int64_t>(v)) {}
  Attr(std::string_view name, std::vector<Extent> v) : Attr(name, INGOT_ATTR_I64S, 0) { list_ = std::move(v); }
  template <class E, std::enable_if_t<std::is_constructible_v<Extent, E> && !std::is_same_v<E, Extent>, int> = 0>
  Attr(std::string_view name, const std::vector<E>& v) : Attr(name, std::vector<Extent>(v.begin(), v.end())) {}
  template <class D, std::enable_if_t<std::is_same_v<D, Dim>, int> = 0>
  Attr(std::string_view name, D v) : Attr(name, INGOT_ATTR_DIM, static_cast<int64_t>(v.id)) {}
  static Attr dtype(std::string_view name, ingot_dtype v) { return Attr(name, INGOT_ATTR_DTYPE, v); }

 private:
  friend class Graph;
  Attr(std::string_view name, ingot_attr_kind kind, int64_t i64) : name_(name), kind_(kind), i64_(i64) {}

  std::string name_, text_;
  ingot_attr_kind kind_;
  int64_t i64_;
  double f64_ = 0;
  std::vector<Extent> list_;
};

class Graph : public GraphHandle {
 public:
  explicit Graph(const Context& context, std::string_view name = "main") : GraphHandle(make(context, name)) {}
  static Graph parse(const Context& context, std::string_view text) {
    ingot_graph* g = nullptr;
    check(ingot_graph_parse(context.get(), text.data(), text.size(), &g));
    return Graph(g);
  }

  Dim symbol(std::string_view name, int64_t lo = 0, int64_t hi = INT64_MAX) {
    Dim d{};
    check(ingot_graph_dim_symbol(get(), name.data(), name.size(), lo, hi, &d.id));
    return d;
  }
  // A number as a dim, for the C calls.
  Dim dim(int64_t constant) {
    Dim d{};
    check(ingot_graph_dim_expr(get(), INGOT_DIM_CONSTANT, constant, nullptr, 0, &d.id));
    return d;
  }
  // An expression: dim(INGOT_DIM_FLOOR_DIV, {n, 2}).
  Dim dim(ingot_dim_kind kind, const std::vector<Extent>& operands) {
    const std::vector<ingot_dim> ids = ids_of(operands);
    Dim d{};
    check(ingot_graph_dim_expr(get(), kind, 0, ids.data(), ids.size(), &d.id));
    return d;
  }
  // Facts that each run is checked against.
  void assume_equal(const std::vector<Extent>& dims) { assume(INGOT_FACT_EQUAL, dims); }
  void assume_divisible(Extent dim, Extent divisor) { assume(INGOT_FACT_DIVISIBLE, {dim, divisor}); }

  // input("x", INGOT_F32, {n, 4})
  Value input(std::string_view name, ingot_dtype dtype, const std::vector<Extent>& shape) {
    const std::vector<ingot_dim> ids = ids_of(shape);
    Value v{};
    check(ingot_graph_input(get(), name.data(), name.size(), dtype, ids.data(), ids.size(), &v.id));
    return v;
  }
  // The same with the dtype of a C++ type: input<float>("x", {n, 4}).
  template <class T>
  Value input(std::string_view name, const std::vector<Extent>& shape) {
    return input(name, dtype_of<T>::value, shape);
  }
  // An int64 scalar input whose value binds the symbol at each run.
  Value dim_input(std::string_view name, Dim symbol) {
    Value v{};
    check(ingot_graph_dim_input(get(), name.data(), name.size(), symbol.id, &v.id));
    return v;
  }

  // Constants copy their data. The dtype is that of the items: a vector<float> gives f32.
  Value constant(const Tensor& data) {
    Value v{};
    check(ingot_graph_constant(get(), data.get(), 0, nullptr, nullptr, &v.id));
    return v;
  }
  template <class C, class Item = detail::item_t<const C>>
  Value constant(const C& items) {
    return constant(Tensor(items));
  }
  template <class C, class Item = detail::item_t<const C>>
  Value constant(const C& items, std::vector<int64_t> shape) {
    return constant(Tensor(items, std::move(shape)));
  }
  template <class T>
  Value constant(std::initializer_list<T> items) {
    return constant(items, {static_cast<int64_t>(items.size())});
  }
  template <class T>
  Value constant(std::initializer_list<T> items, std::vector<int64_t> shape) {
    return constant(detail::Items<T>{items.begin(), items.size()}, std::move(shape));
  }
  Value constant(const std::vector<bool>& items) { return constant(items, {static_cast<int64_t>(items.size())}); }
  Value constant(const std::vector<bool>& items, std::vector<int64_t> shape) {
    const std::vector<uint8_t> bytes(items.begin(), items.end());
    const Tensor checked(bytes, std::move(shape));
    return constant(Tensor(INGOT_BOOL, bytes.data(), checked.shape()));
  }
  template <class T>
  Value scalar(T number) {
    return constant(Tensor(&number, {}));
  }

  // op(INGOT_OP_REDUCE_SUM, {x}, {{"axes", {0}}, {"keepdims", true}})
  Value op(ingot_op code, const std::vector<Value>& operands, const std::vector<Attr>& attrs = {}) {
    return op(code, operands, attrs, 1)[0];
  }
  // An op with as many results as are asked for: op(INGOT_OP_SPLIT, {x}, {{"axis", 0}, {"parts", 2}}, 2).
  std::vector<Value> op(ingot_op code, const std::vector<Value>& operands, const std::vector<Attr>& attrs,
                        size_t n_results) {
    std::vector<ingot_value> ids;
    for (const Value& v : operands) ids.push_back(v.id);
    std::vector<std::vector<int64_t>> numbers(attrs.size());
    std::vector<std::vector<ingot_dim>> dims(attrs.size());
    std::vector<ingot_attr> plain;
    for (size_t i = 0; i < attrs.size(); ++i) plain.push_back(convert(attrs[i], numbers[i], dims[i]));
    std::vector<ingot_value> results(n_results);
    check(ingot_graph_op(get(), code, ids.data(), ids.size(), plain.data(), plain.size(), results.data(), n_results));
    std::vector<Value> out;
    for (const ingot_value v : results) out.push_back({v});
    return out;
  }

  void output(Value v, std::string_view name = "") { check(ingot_graph_output(get(), name.data(), name.size(), v.id)); }
  void set_flags(uint32_t flags) { check(ingot_graph_set_flags(get(), flags)); }
  void finish() { check(ingot_graph_finish(get())); }
  // Throws NOT_FOUND if no value carries the name.
  Value find(std::string_view name) const {
    Value v{};
    check(ingot_graph_find_value(get(), name.data(), name.size(), &v.id));
    return v;
  }
  std::string print() const {
    ingot_buffer* b = nullptr;
    check(ingot_graph_print(get(), &b));
    return take(b);
  }

 private:
  explicit Graph(ingot_graph* owned) : GraphHandle(owned) {}
  static ingot_graph* make(const Context& context, std::string_view name) {
    ingot_graph* g = nullptr;
    check(ingot_graph_create(context.get(), name.data(), name.size(), &g));
    return g;
  }
  void assume(ingot_fact fact, const std::vector<Extent>& dims) {
    const std::vector<ingot_dim> ids = ids_of(dims);
    check(ingot_graph_assume(get(), fact, ids.data(), ids.size()));
  }
  std::vector<ingot_dim> ids_of(const std::vector<Extent>& extents) {
    std::vector<ingot_dim> ids;
    for (const Extent& e : extents) ids.push_back(e.is_dim() ? static_cast<ingot_dim>(e.number()) : dim(e.number()).id);
    return ids;
  }
  // Lists without a dim go as integers, which the library takes for dims where the op wants those.
  ingot_attr convert(const Attr& a, std::vector<int64_t>& numbers, std::vector<ingot_dim>& dims) {
    ingot_attr out{};
    out.name = a.name_.data();
    out.name_length = a.name_.size();
    out.kind = a.kind_;
    out.value.i64 = a.i64_;
    if (a.kind_ == INGOT_ATTR_F64) out.value.f64 = a.f64_;
    if (a.kind_ == INGOT_ATTR_STRING) {
      out.value.string = a.text_.data();
      out.count = a.text_.size();
    }
    if (a.kind_ != INGOT_ATTR_I64S) return out;
    out.count = a.list_.size();
    bool symbolic = false;
    for (const Extent& e : a.list_) symbolic = symbolic || e.is_dim();
    if (symbolic) {
      dims = ids_of(a.list_);
      out.kind = INGOT_ATTR_DIMS;
      out.value.dims = dims.data();
    } else {
      for (const Extent& e : a.list_) numbers.push_back(e.number());
      out.value.i64s = numbers.data();
    }
    return out;
  }
};

// --- executables

// An input or output of an executable.
struct IoInfo {
  std::string name;  // "" if it has none
  ingot_dtype dtype;
  std::vector<int64_t> extents;  // -1 where the extent is symbolic
  std::string shape_text;        // "[B, 2*N]"
};

// The end of a preparation in the background.
class Event : public EventHandle {
 public:
  explicit Event(ingot_event* owned) : EventHandle(owned) {}
  // INGOT_NOT_READY while it goes on, then its code.
  ingot_code poll() const noexcept { return ingot_event_poll(get()); }
  // False where it goes on after so many nanoseconds (negative: as long as it takes). Throws what the work failed with.
  bool wait(int64_t timeout_ns = -1) const {
    ingot_status* status = ingot_event_wait(get(), timeout_ns);
    if (ingot_status_code(status) == INGOT_NOT_READY) {
      ingot_status_release(status);
      return false;
    }
    check(status);
    return true;
  }
  void cancel() const { check(ingot_event_cancel(get())); }
};

class Executable : public ExecutableHandle {
 public:
  Executable(const Context& context, const Graph& graph, const ingot_compile_options* options = nullptr)
      : ExecutableHandle(make(context, graph, options)) {}
  void prepare() const { check(ingot_executable_prepare(get(), nullptr, 0, nullptr, nullptr)); }
  Event prepare_async() const {
    ingot_event* event = nullptr;
    check(ingot_executable_prepare(get(), nullptr, 0, nullptr, &event));
    return Event(event);
  }
  // The part of the graph from the feeds to the fetches (ingot_executable_subset).
  Executable subset(const std::vector<Value>& feeds, const std::vector<Value>& fetches) const {
    std::vector<ingot_value> from, to;
    for (const Value v : feeds) from.push_back(v.id);
    for (const Value v : fetches) to.push_back(v.id);
    ingot_executable* e = nullptr;
    check(ingot_executable_subset(get(), from.data(), from.size(), to.data(), to.size(), &e));
    return Executable(e);
  }
  std::vector<IoInfo> inputs() const { return infos(false); }
  std::vector<IoInfo> outputs() const { return infos(true); }
  // run({&x, &y}, {&z}); see Tensors for what else it takes.
  void run(const Tensors& inputs, const Tensors& outputs, const ingot_run_options* options = nullptr) const {
    check(ingot_run(get(), inputs.data(), inputs.size(), outputs.outputs(), outputs.size(), options));
  }
  std::vector<int64_t> output_shape(const Tensors& inputs, size_t index) const {
    std::vector<int64_t> dims(16);  // no tensor has a higher rank
    size_t rank = 0;
    check(ingot_executable_output_shape(get(), inputs.data(), inputs.size(), index, dims.data(), dims.size(), &rank));
    dims.resize(rank);
    return dims;
  }
  uint64_t scratch_size(const Tensors& inputs) const {
    uint64_t bytes = 0;
    check(ingot_executable_scratch_size(get(), inputs.data(), inputs.size(), &bytes));
    return bytes;
  }
  std::string describe(std::string_view what) const {
    ingot_buffer* b = nullptr;
    check(ingot_executable_describe(get(), what.data(), what.size(), &b));
    return take(b);
  }

 private:
  explicit Executable(ingot_executable* owned) : ExecutableHandle(owned) {}
  std::vector<IoInfo> infos(bool is_output) const {
    size_t count[2] = {0, 0};
    check(ingot_executable_io_count(get(), &count[0], &count[1]));
    std::vector<IoInfo> out;
    for (size_t i = 0; i < count[is_output]; ++i) {
      ingot_io_info info = INGOT_IO_INFO_INIT;
      check(ingot_executable_io_info(get(), is_output, i, &info));
      out.push_back({info.name, info.dtype, {info.extents, info.extents + info.rank}, info.shape_text});
    }
    return out;
  }
  static ingot_executable* make(const Context& context, const Graph& graph, const ingot_compile_options* options) {
    ingot_executable* e = nullptr;
    check(ingot_compile(context.get(), graph.get(), options, &e));
    return e;
  }
};

// An executable with tensors bound once (ingot_call_create): used by one thread at a time, copied for others.
class Call {
 public:
  explicit Call(const Executable& executable) { check(ingot_call_create(executable.get(), &call_)); }
  Call(const Call& o) { check(ingot_call_clone(o.call_, &call_)); }
  Call(Call&& o) noexcept : call_(std::exchange(o.call_, nullptr)) {}
  Call& operator=(Call o) noexcept {
    std::swap(call_, o.call_);
    return *this;
  }
  ~Call() { ingot_call_release(call_); }
  ingot_call* get() const noexcept { return call_; }

  // The tensors may go afterwards, their data may not. Without outputs these are compact, and their data is set later.
  void bind(const Tensors& inputs, const Tensors& outputs) {
    check(ingot_call_bind(call_, inputs.data(), inputs.size(), outputs.outputs(), outputs.size()));
  }
  void bind(const Tensors& inputs) { check(ingot_call_bind(call_, inputs.data(), inputs.size(), nullptr, 0)); }
  std::vector<int64_t> output_shape(size_t index) const {
    ingot_tensor t;
    check(ingot_call_output(call_, index, &t));
    return {t.shape, t.shape + t.ndim};
  }
  void set_input(size_t index, const void* data) {
    check(ingot_call_set_data(call_, 0, index, const_cast<void*>(data)));
  }
  void set_output(size_t index, void* data) { check(ingot_call_set_data(call_, 1, index, data)); }
  void run(const ingot_run_options* options = nullptr) { check(ingot_call_run(call_, options)); }

 private:
  ingot_call* call_ = nullptr;
};

}  // namespace ingot_cpp

#endif
