// The C interface for C++17 and later: handles that release themselves, and failures as exceptions.
//
// Header only and inline: it adds nothing to the library's ABI. It wraps what most hosts use; for the rest get() gives
// the C handle. Everything is in namespace ingot_cpp; see ingot.h for what each call does, who owns what, and which
// calls may run on which thread.
#ifndef INGOT_INGOT_HPP
#define INGOT_INGOT_HPP

#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "ingot/ingot.h"

namespace ingot_cpp {

// What a failed call throws.
class Error : public std::runtime_error {
 public:
  Error(ingot_code code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ingot_code code() const noexcept { return code_; }

 private:
  ingot_code code_;
};

// Releases the status; throws it if it is one.
inline void check(ingot_status* status) {
  if (!status) return;
  const char* text = "";
  ingot_status_message(status, &text, nullptr);
  const Error error(ingot_status_code(status), text);
  ingot_status_release(status);
  throw error;
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
    ingot_stats s{};
    s.struct_size = sizeof s;
    check(ingot_context_stats(get(), &s));
    return s;
  }

 private:
  static ingot_context* make(const ingot_context_options* options) {
    ingot_context* c = nullptr;
    check(ingot_context_create(options, &c));
    return c;
  }
};

// The element type of a C++ type: dtype_of<float>::value and ::dlpack().
template <class T>
struct dtype_of;
#define INGOT_CPP_DTYPE(type, number, code)                                                                   \
  template <>                                                                                                 \
  struct dtype_of<type> {                                                                                     \
    static constexpr ingot_dtype value = number;                                                              \
    static constexpr ingot_dlpack_type dlpack() { return {code, static_cast<uint8_t>(8 * sizeof(type)), 1}; } \
  };
INGOT_CPP_DTYPE(bool, INGOT_BOOL, 6)
INGOT_CPP_DTYPE(int8_t, INGOT_I8, 0)
INGOT_CPP_DTYPE(int16_t, INGOT_I16, 0)
INGOT_CPP_DTYPE(int32_t, INGOT_I32, 0)
INGOT_CPP_DTYPE(int64_t, INGOT_I64, 0)
INGOT_CPP_DTYPE(uint8_t, INGOT_U8, 1)
INGOT_CPP_DTYPE(uint16_t, INGOT_U16, 1)
INGOT_CPP_DTYPE(uint32_t, INGOT_U32, 1)
INGOT_CPP_DTYPE(uint64_t, INGOT_U64, 1)
INGOT_CPP_DTYPE(float, INGOT_F32, 2)
INGOT_CPP_DTYPE(double, INGOT_F64, 2)
#undef INGOT_CPP_DTYPE

// A view of the host's memory that ingot_run takes; owns its shape, borrows the data. Strides in items; none: compact.
class Tensor {
 public:
  template <class T>
  Tensor(T* data, std::vector<int64_t> shape, std::vector<int64_t> strides = {})
      : shape_(std::move(shape)), strides_(std::move(strides)) {
    using Item = std::remove_const_t<T>;
    if (!strides_.empty() && strides_.size() != shape_.size())
      throw Error(INGOT_INVALID_ARGUMENT, "as many strides as extents are needed, or none");
    tensor_ = {const_cast<Item*>(data),
               {1, 0},
               static_cast<int32_t>(shape_.size()),
               dtype_of<Item>::dlpack(),
               nullptr,
               nullptr,
               0};
  }
  // The pointers are set at each call, so that copies and moves of a Tensor stay right.
  const ingot_tensor* get() const noexcept {
    tensor_.shape = shape_.data();
    tensor_.strides = strides_.empty() ? nullptr : strides_.data();
    return &tensor_;
  }

 private:
  mutable std::vector<int64_t> shape_, strides_;
  mutable ingot_tensor tensor_;
};

// An attribute for Graph::op; lists and strings are borrowed until the call returns. Lists are written with their type,
// {"axes", std::vector<int64_t>{0}}, and dtypes as Attr::dtype("to", INGOT_F64): both would be taken for integers
// otherwise.
struct Attr : ingot_attr {
  Attr(const char* name, int64_t v) : Attr(name, Kind{INGOT_ATTR_I64}) { value.i64 = v; }
  Attr(const char* name, int v) : Attr(name, int64_t{v}) {}
  Attr(const char* name, double v) : Attr(name, Kind{INGOT_ATTR_F64}) { value.f64 = v; }
  Attr(const char* name, bool v) : Attr(name, Kind{INGOT_ATTR_BOOL}) { value.i64 = v; }
  Attr(const char* name, const char* v) : Attr(name, Kind{INGOT_ATTR_STRING}) {
    value.string = v;
    count = INGOT_NUL;
  }
  Attr(const char* name, const std::vector<int64_t>& v) : Attr(name, Kind{INGOT_ATTR_I64S}) {
    value.i64s = v.data();
    count = v.size();
  }
  Attr(const char* name, const std::vector<ingot_dim>& v) : Attr(name, Kind{INGOT_ATTR_DIMS}) {
    value.dims = v.data();
    count = v.size();
  }
  static Attr dtype(const char* name, ingot_dtype v) {
    Attr a(name, Kind{INGOT_ATTR_DTYPE});
    a.value.i64 = v;
    return a;
  }

 private:
  struct Kind {
    ingot_attr_kind kind;
  };
  Attr(const char* name, Kind kind) : ingot_attr{} {
    this->name = name;
    name_length = INGOT_NUL;
    this->kind = kind.kind;
  }
};

class Graph : public GraphHandle {
 public:
  explicit Graph(const Context& context, std::string_view name = "main") : GraphHandle(make(context, name)) {}
  static Graph parse(const Context& context, std::string_view text) {
    ingot_graph* g = nullptr;
    check(ingot_graph_parse(context.get(), text.data(), text.size(), &g));
    return Graph(g);
  }
  ingot_dim symbol(std::string_view name, int64_t lo = 0, int64_t hi = INT64_MAX) {
    ingot_dim d;
    check(ingot_graph_dim_symbol(get(), name.data(), name.size(), lo, hi, &d));
    return d;
  }
  ingot_dim dim(int64_t constant) {
    ingot_dim d;
    check(ingot_graph_dim_expr(get(), INGOT_DIM_CONSTANT, constant, nullptr, 0, &d));
    return d;
  }
  ingot_dim dim(ingot_dim_kind kind, std::initializer_list<ingot_dim> operands) {
    ingot_dim d;
    check(ingot_graph_dim_expr(get(), kind, 0, operands.begin(), operands.size(), &d));
    return d;
  }
  ingot_value input(std::string_view name, ingot_dtype dtype, const std::vector<ingot_dim>& shape) {
    ingot_value v;
    check(ingot_graph_input(get(), name.data(), name.size(), dtype, shape.data(), shape.size(), &v));
    return v;
  }
  template <class T>
  ingot_value scalar(T number) {
    ingot_value v;
    const Tensor t(&number, {});
    check(ingot_graph_constant(get(), t.get(), 0, nullptr, nullptr, &v));
    return v;
  }
  ingot_value op(ingot_op code, std::initializer_list<ingot_value> operands, std::initializer_list<Attr> attrs = {}) {
    const std::vector<ingot_attr> plain(attrs.begin(), attrs.end());
    ingot_value v;
    check(ingot_graph_op(get(), code, operands.begin(), operands.size(), plain.data(), plain.size(), &v, 1));
    return v;
  }
  void output(ingot_value v, std::string_view name = "") {
    check(ingot_graph_output(get(), name.data(), name.size(), v));
  }
  void finish() { check(ingot_graph_finish(get())); }
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
};

class Executable : public ExecutableHandle {
 public:
  Executable(const Context& context, const Graph& graph, const ingot_compile_options* options = nullptr)
      : ExecutableHandle(make(context, graph, options)) {}
  void prepare() const { check(ingot_executable_prepare(get(), nullptr, 0, nullptr, nullptr)); }
  void run(std::initializer_list<const Tensor*> inputs, std::initializer_list<const Tensor*> outputs,
           const ingot_run_options* options = nullptr) const {
    const auto in = pointers(inputs), out = pointers(outputs);
    check(ingot_run(get(), in.data(), in.size(), out.data(), out.size(), options));
  }
  std::vector<int64_t> output_shape(std::initializer_list<const Tensor*> inputs, size_t index) const {
    const auto in = pointers(inputs);
    std::vector<int64_t> dims(16);  // no tensor has a higher rank
    size_t rank = 0;
    check(ingot_executable_output_shape(get(), in.data(), in.size(), index, dims.data(), dims.size(), &rank));
    dims.resize(rank);
    return dims;
  }
  std::string describe(std::string_view what) const {
    ingot_buffer* b = nullptr;
    check(ingot_executable_describe(get(), what.data(), what.size(), &b));
    return take(b);
  }

 private:
  static std::vector<const ingot_tensor*> pointers(std::initializer_list<const Tensor*> list) {
    std::vector<const ingot_tensor*> out;
    for (const Tensor* t : list) out.push_back(t ? t->get() : nullptr);
    return out;
  }
  static ingot_executable* make(const Context& context, const Graph& graph, const ingot_compile_options* options) {
    ingot_executable* e = nullptr;
    check(ingot_compile(context.get(), graph.get(), options, &e));
    return e;
  }
};

}  // namespace ingot_cpp

#endif
