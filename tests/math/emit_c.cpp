#include "math/emit_c.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "base/error.h"

namespace ingot::test {

using loop::DType;
using loop::Node;
using loop::Prim;

loop::Kernel function_kernel(DType type, size_t arity,
                             const std::function<loop::Val(std::span<const loop::Val>)>& expression) {
  loop::Builder b(1, 0);
  std::vector<loop::Val> args;
  for (size_t i = 0; i < arity; ++i) {
    const uint16_t tensor = b.add_tensor();
    const uint16_t view =
        b.add_view({.kind = loop::ViewKind::load, .storage = type, .tensor = tensor, .axes = 1, .boxes = {}});
    args.emplace_back(b, b.load(view));
  }
  const loop::Val result = expression(args);
  const uint16_t tensor = b.add_tensor();
  b.store(
      b.add_view({.kind = loop::ViewKind::store, .storage = result.type(), .tensor = tensor, .axes = 1, .boxes = {}}),
      result.id());
  return b.finish();
}

namespace {

// What the stores need, with or without the slow arms of `rare`.
std::vector<Node> needed_nodes(const loop::Kernel& kernel, bool slow_paths) {
  std::vector<bool> needed(kernel.nodes.size(), false);
  for (const loop::Store& s : kernel.stores) needed[s.value] = true;
  std::vector<Node> nodes;
  for (size_t i = kernel.nodes.size(); i-- > 0;) {
    const Node& n = kernel.nodes[i];
    if (!needed[i]) continue;
    for (size_t a = 0; a < n.arg.size(); ++a)
      if (n.arg[a] != loop::no_node && (slow_paths || n.op != Prim::rare || a != 2)) needed[n.arg[a]] = true;
    nodes.push_back(n);
  }
  return nodes;
}

size_t count(const std::vector<Node>& nodes) {
  return static_cast<size_t>(std::ranges::count_if(nodes, [](const Node& n) {
    return loop::prim_info(n.op)->arity > 0 && n.op != Prim::bitcast && n.op != Prim::number_bits &&
           n.op != Prim::number;
  }));
}

}  // namespace

size_t primitive_count(const loop::Kernel& kernel) { return count(needed_nodes(kernel, true)); }
size_t fast_primitive_count(const loop::Kernel& kernel) { return count(fast_nodes(kernel)); }
std::vector<Node> fast_nodes(const loop::Kernel& kernel) { return needed_nodes(kernel, false); }

namespace {

// Written out rather than taken from math.h, whose functions set errno, follow the rounding mode or differ on zeros.
// A comparison with a constant that is neither NaN nor zero needs no care (max_c, min_c); c comes first.
constexpr const char* prelude = R"(
typedef signed char i8; typedef short i16; typedef int i32; typedef long long i64; typedef unsigned char boolean;
typedef unsigned char u8; typedef unsigned short u16; typedef unsigned u32; typedef unsigned long long u64;
typedef float f32; typedef double f64;
#define FN static inline __attribute__((always_inline))
#define BITCAST(A, T) FN T A##_as_##T(A a) { T t; __builtin_memcpy(&t, &a, sizeof t); return t; }
BITCAST(f32, i32) BITCAST(f32, u32) BITCAST(i32, f32) BITCAST(u32, f32) BITCAST(i32, u32) BITCAST(u32, i32)
BITCAST(f64, i64) BITCAST(f64, u64) BITCAST(i64, f64) BITCAST(u64, f64) BITCAST(i64, u64) BITCAST(u64, i64)
#define FLOAT(T, I, U, W, S) \
  FN T T##_equal_max(T a, T b) { return I##_as_##T(T##_as_##I(a) & T##_as_##I(b)); } \
  FN T T##_equal_min(T a, T b) { return I##_as_##T(T##_as_##I(a) | T##_as_##I(b)); } \
  FN T T##_max(T a, T b) { return a != a ? a : b != b ? b : a == b ? T##_equal_max(a, b) : a < b ? b : a; } \
  FN T T##_min(T a, T b) { return a != a ? a : b != b ? b : a == b ? T##_equal_min(a, b) : a < b ? a : b; } \
  FN T T##_max_c(T c, T x) { return c > x ? c : x; } \
  FN T T##_min_c(T c, T x) { return c < x ? c : x; } \
  FN T T##_neg(T a) { return -a; } \
  FN T T##_abs(T a) { return __builtin_fabs##S(a); } \
  FN T T##_fma(T a, T b, T c) { return __builtin_fma##S(a, b, c); } \
  FN T T##_sqrt(T a) { return __builtin_sqrt##S(a); } \
  FN T T##_floor(T a) { return __builtin_floor##S(a); } \
  FN T T##_ceil(T a) { return __builtin_ceil##S(a); } \
  FN T T##_trunc(T a) { return __builtin_trunc##S(a); } \
  FN T T##_round(T a) { return __builtin_rint##S(a); } \
  FN T T##_copysign(T a, T b) { return __builtin_copysign##S(a, b); } \
  FN T T##_canon(T a) { return a != a ? __builtin_nan##S("") : a; } \
  FN i32 T##_to_i32(T a) { return a != a ? 0 : a >= (T)0x1p31 ? ~(1 << 31) : a < (T)-0x1p31 ? 1 << 31 : (i32)a; } \
  FN i64 T##_to_i64(T a) { return a != a ? 0 : a >= (T)0x1p63 ? ~(1LL << 63) : a < (T)-0x1p63 ? 1LL << 63 : (i64)a; }
FLOAT(f32, i32, u32, 32, f)
FLOAT(f64, i64, u64, 64, )
FN f32 f32_scale2(f32 a, i32 n) {
  n = n < -300 ? -300 : n > 300 ? 300 : n;
  return (f32)((f64)a * i64_as_f64((i64)(n + 1023) << 52));
}
FN f64 f64_scale2(f64 a, i32 n) { return __builtin_scalbn(a, n); }
#define INT(T, U, W) \
  FN T T##_add(T a, T b) { return (T)((U)a + (U)b); } \
  FN T T##_sub(T a, T b) { return (T)((U)a - (U)b); } \
  FN T T##_mul(T a, T b) { return (T)((U)a * (U)b); } \
  FN T T##_min(T a, T b) { return a < b ? a : b; } \
  FN T T##_max(T a, T b) { return a < b ? b : a; } \
  FN T T##_neg(T a) { return (T)(0 - (U)a); } \
  FN T T##_shl(T a, T n) { return (U)n >= W ? 0 : (T)((U)a << ((U)n & (W - 1))); } \
  FN T T##_popcount(T a) { return __builtin_popcountll((U)a); } \
  FN T T##_clz(T a) { return a ? __builtin_clzll((U)a) - (64 - W) : W; } \
  FN T T##_ctz(T a) { return a ? __builtin_ctzll((U)a) : W; }
INT(i32, u32, 32) INT(u32, u32, 32) INT(i64, u64, 64) INT(u64, u64, 64)
FN i32 i32_shr(i32 a, i32 n) { return a >> ((u32)n >= 32 ? 31 : n); }
FN i64 i64_shr(i64 a, i64 n) { return a >> ((u64)n >= 64 ? 63 : n); }
FN u32 u32_shr(u32 a, u32 n) { return n >= 32 ? 0 : a >> (n & 31); }
FN u64 u64_shr(u64 a, u64 n) { return n >= 64 ? 0 : a >> (n & 63); }
FN i32 i32_abs(i32 a) { return a < 0 ? i32_neg(a) : a; }
FN i64 i64_abs(i64 a) { return a < 0 ? i64_neg(a) : a; }
)";

std::string value(loop::NodeId id) { return cat("v", id); }

std::string literal(const Node& n) {
  char text[40];
  switch (n.type) {
    case DType::f32: std::snprintf(text, sizeof text, "u32_as_f32(0x%08xu)", static_cast<unsigned>(n.imm)); return text;
    case DType::f64:
      std::snprintf(text, sizeof text, "u64_as_f64(0x%016llxull)", static_cast<unsigned long long>(n.imm));
      return text;
    default:
      std::snprintf(text, sizeof text, "(%s)0x%llxull", std::string(ir::name(n.type)).c_str(),
                    static_cast<unsigned long long>(n.imm));
      return text;
  }
}

std::string type_name(DType t) { return t == DType::boolean ? "boolean" : std::string(ir::name(t)); }

// Neither NaN nor zero.
bool plain_constant(const Node& n) {
  if (n.op != Prim::literal) return false;
  const double v =
      n.type == DType::f32 ? double{std::bit_cast<float>(static_cast<uint32_t>(n.imm))} : std::bit_cast<double>(n.imm);
  return v < 0 || v > 0;
}

std::string expression(const loop::Kernel& k, const Node& n) {
  const Node* a = n.arg[0] == loop::no_node ? nullptr : &k.nodes[n.arg[0]];
  const std::string x = value(n.arg[0]), y = value(n.arg[1]), z = value(n.arg[2]);
  const std::string t = type_name(n.type);
  const bool is_float = ir::is_float(n.type);
  const auto infix = [&](const char* sign) { return cat(x, " ", sign, " ", y); };
  const auto call = [&](const char* name) {
    std::string text = cat(t, "_", name, "(", x);
    if (n.arg[1] != loop::no_node) text += ", " + y;
    if (n.arg[2] != loop::no_node) text += ", " + z;
    return text + ")";
  };
  switch (n.op) {
    case Prim::literal: return literal(n);
    case Prim::load: return cat("in", k.views[n.imm].tensor, "[i]");
    case Prim::add: return is_float ? infix("+") : call("add");
    case Prim::sub: return is_float ? infix("-") : call("sub");
    case Prim::mul: return is_float ? infix("*") : call("mul");
    case Prim::div:
      if (is_float) return infix("/");
      break;
    case Prim::min:
    case Prim::max: {
      const std::string name = n.op == Prim::min ? "min" : "max";
      if (is_float && plain_constant(k.nodes[n.arg[1]])) return cat(t, "_", name, "_c(", y, ", ", x, ")");
      if (is_float && plain_constant(*a)) return cat(t, "_", name, "_c(", x, ", ", y, ")");
      return call(name.c_str());
    }
    case Prim::neg: return call("neg");
    case Prim::abs: return call("abs");
    case Prim::fma: return call("fma");
    case Prim::sqrt: return call("sqrt");
    case Prim::floor: return call("floor");
    case Prim::ceil: return call("ceil");
    case Prim::trunc: return call("trunc");
    case Prim::round: return call("round");
    case Prim::copysign: return call("copysign");
    case Prim::scale2: return call("scale2");
    case Prim::canon: return call("canon");
    case Prim::and_: return infix("&");
    case Prim::or_: return infix("|");
    case Prim::xor_: return infix("^");
    case Prim::not_: return cat(n.type == DType::boolean ? "!" : "~", x);
    case Prim::shl: return call("shl");
    case Prim::shr: return call("shr");
    case Prim::popcount: return call("popcount");
    case Prim::clz: return call("clz");
    case Prim::ctz: return call("ctz");
    case Prim::eq: return infix("==");
    case Prim::ne: return infix("!=");
    case Prim::lt: return infix("<");
    case Prim::le: return infix("<=");
    case Prim::select: return cat(x, " ? ", y, " : ", z);
    case Prim::rare: return cat(x, " ? ", z, " : ", y);
    case Prim::convert:
      if (n.type == DType::boolean) return cat(x, " != 0");
      if (ir::is_float(a->type) && !is_float) return cat(type_name(a->type), "_to_", t, "(", x, ")");
      return cat("(", t, ")", x);
    case Prim::number: return x;
    case Prim::number_bits:
    case Prim::bitcast: return cat(type_name(a->type), "_as_", t, "(", x, ")");
    default: break;
  }
  bug("emit_c: no C for ", loop::prim_info(n.op)->name, " of ", t);
}

// A private folder that disappears with everything this file puts into it.
class ScratchFolder {
 public:
  ScratchFolder() {
    const char* base = std::getenv("TMPDIR");
    path_ = cat(base && *base ? base : "/tmp", "/ingot-math-XXXXXX");
    if (!mkdtemp(path_.data())) fail(Code::io_error, "cannot make a folder like ", path_);
  }
  ~ScratchFolder() {
    for (const char* name : names) unlink(file(name).c_str());
    rmdir(path_.c_str());
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  std::string file(const char* name) const { return cat(path_, "/", name); }

 private:
  static constexpr std::array<const char*, 3> names = {"kernel.c", "kernel.so", "errors"};
  std::string path_;
};

}  // namespace

std::string emit_c(const loop::Kernel& k) {
  if (k.rows != 1 || k.cols != 0 || k.stores.size() != 1) bug("emit_c takes one row axis and one store");
  std::string text = prelude;
  text += "void kernel(const void* const* in, void* out, long n) {\n";
  for (const loop::View& v : k.views) {
    const std::string t = type_name(v.storage);
    if (v.kind == loop::ViewKind::load && v.boxes.empty())
      append(text, cat("  const ", t, "* restrict in", v.tensor, " = in[", v.tensor, "];\n"));
    else if (v.kind == loop::ViewKind::store) append(text, cat("  ", t, "* restrict result = out;\n"));
    else bug("emit_c takes plain loads and stores");
  }
  text += "#pragma omp simd\n  for (long i = 0; i < n; ++i) {\n";
  for (size_t i = 0; i < k.nodes.size(); ++i)
    append(text, cat("    const ", type_name(k.nodes[i].type), " v", i, " = ", expression(k, k.nodes[i]), ";\n"));
  append(text, cat("    result[i] = v", k.stores[0].value, ";\n  }\n}\n"));
  return text;
}

void CompiledC::Close::operator()(void* handle) const noexcept { dlclose(handle); }

CompiledC::CompiledC(const std::string& text, const std::string& libraries) {
  const ScratchFolder folder;
  const std::string source = folder.file("kernel.c"), object = folder.file("kernel.so"), errors = folder.file("errors");
  std::ofstream(source) << text;
  std::string flags =
      "-O2 -fPIC -shared -ftree-vectorize -fopenmp-simd -ffp-contract=off -fno-math-errno "
      "-fno-trapping-math";
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) flags += " -mavx2 -mfma";
#endif
  const std::string command =
      cat(INGOT_TEST_CC, " ", flags, " -o ", object, " ", source, " ", libraries, " >", errors, " 2>&1");
  if (std::system(command.c_str()) != 0) {
    std::ifstream log(errors);
    fail(Code::unavailable, command, ": ", std::string(std::istreambuf_iterator<char>(log), {}));
  }
  library_.reset(dlopen(object.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (!library_) fail(Code::unavailable, dlerror());
}

void* CompiledC::symbol(const char* name) const {
  void* at = dlsym(library_.get(), name);
  if (!at) fail(Code::unavailable, "no symbol ", name);
  return at;
}

CompiledKernel::CompiledKernel(const loop::Kernel& kernel)
    : code_(emit_c(kernel), "-lm"), function_(reinterpret_cast<decltype(function_)>(code_.symbol("kernel"))) {}

void CompiledKernel::run(std::span<const void* const> in, void* out, size_t n) const {
  function_(in.data(), out, static_cast<long>(n));
}

}  // namespace ingot::test
