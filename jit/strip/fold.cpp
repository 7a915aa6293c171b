#include "jit/strip/fold.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "jit/frame.h"
#include "loop/schedule.h"

namespace ingot::jit {

using loop::DType;
using loop::Prim;

namespace {

// Calls f with a value of the C++ type that a node of this type has; booleans are bytes.
template <class F>
auto with_type(DType type, F f) {
  switch (type) {
    case DType::i8: return f(int8_t{});
    case DType::i16: return f(int16_t{});
    case DType::i32: return f(int32_t{});
    case DType::i64: return f(int64_t{});
    case DType::u16: return f(uint16_t{});
    case DType::u32: return f(uint32_t{});
    case DType::u64: return f(uint64_t{});
    case DType::f32: return f(float{});
    case DType::f64: return f(double{});
    default: return f(uint8_t{});
  }
}

template <class T>
T identity(Prim fold, bool boolean) {
  using L = std::numeric_limits<T>;
  switch (fold) {
    case Prim::fold_prod: return T{1};
    case Prim::fold_min: return boolean ? T{1} : L::has_infinity ? L::infinity() : L::max();
    case Prim::fold_max: return boolean ? T{0} : L::has_infinity ? -L::infinity() : L::lowest();
    default: return std::is_floating_point_v<T> ? static_cast<T>(-0.0) : T{0};
  }
}

template <class T>
T join(Prim fold, T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    switch (fold) {
      case Prim::fold_prod: return a * b;
      case Prim::fold_min:
      case Prim::fold_max:
        if (a != a) return a;
        if (b != b) return b;
        // Equal values differ at most as zeros: max takes +0, min -0.
        if (a == b) return std::signbit(a) == (fold == Prim::fold_min) ? a : b;
        return (a < b) == (fold == Prim::fold_min) ? a : b;
      default: return a + b;
    }
  } else {
    using U = std::conditional_t<(sizeof(T) < 4), uint32_t, std::make_unsigned_t<T>>;  // wraps without promotion to int
    switch (fold) {
      case Prim::fold_prod: return static_cast<T>(static_cast<U>(a) * static_cast<U>(b));
      case Prim::fold_min: return a < b ? a : b;
      case Prim::fold_max: return a < b ? b : a;
      default: return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
    }
  }
}

template <class T>
struct Block {
  T item[8];
};
template <class T>
Block<T> read(const char* p) {
  Block<T> b;
  std::memcpy(&b, p, sizeof b);
  return b;
}
template <class T>
Block<T> join(Prim fold, const Block<T>& lower, const Block<T>& upper) {
  Block<T> r;
  for (int j = 0; j < 8; ++j) r.item[j] = join(fold, lower.item[j], upper.item[j]);
  return r;
}

}  // namespace

void fold_init(Prim fold, DType type, char* acc, int64_t items) {
  with_type(type, [&](auto t) {
    using T = decltype(t);
    const T id = identity<T>(fold, type == DType::boolean);
    T run[8];
    std::ranges::fill(run, id);
    for (; items >= 8; items -= 8, acc += sizeof run) std::memcpy(acc, run, sizeof run);
    std::memcpy(acc, run, static_cast<size_t>(items) * sizeof id);
  });
}

void fold_join(Prim fold, DType type, char* acc, const char* other) {
  with_type(type, [&](auto t) {
    using T = decltype(t);
    const Block<T> both = join(fold, read<T>(acc), read<T>(other));
    std::memcpy(acc, &both, sizeof both);
  });
}

unsigned tree_levels(int64_t n) { return static_cast<unsigned>(std::bit_width(static_cast<uint64_t>(n) / 1024)) + 1; }

unsigned tree_push(Prim fold, DType type, char* stack, unsigned depth, int64_t block, const char* acc) {
  return with_type(type, [&](auto t) {
    using T = decltype(t);
    Block<T> a = read<T>(acc);
    for (; block & 1; block >>= 1) {
      --depth;
      a = join(fold, read<T>(stack + depth * acc_bytes), a);
    }
    std::memcpy(stack + depth * acc_bytes, &a, sizeof a);
    return depth + 1;
  });
}

void tree_close(Prim fold, DType type, char* stack, unsigned depth) {
  with_type(type, [&](auto t) {
    using T = decltype(t);
    Block<T> a = read<T>(stack + --depth * acc_bytes);
    while (depth > 0) a = join(fold, read<T>(stack + --depth * acc_bytes), a);
    std::memcpy(stack, &a, sizeof a);
  });
}

namespace {
// Runs go sixteen items at a time, which compiles to vectors at any optimisation.
constexpr int64_t run_step = 16;

template <Prim fold, class T>
void join_run(char* to, const char* lower, const char* upper, int64_t lanes) {
  constexpr int64_t bytes = run_step * int64_t{sizeof(T)};
  for (int64_t i = 0; i < lanes; i += run_step, to += bytes, lower += bytes, upper += bytes) {
    T a[run_step], b[run_step];
    std::memcpy(a, lower, sizeof a);
    std::memcpy(b, upper, sizeof b);
    for (int j = 0; j < run_step; ++j) a[j] = join(fold, a[j], b[j]);
    std::memcpy(to, a, sizeof a);
  }
}

using JoinRun = void (*)(char* to, const char* lower, const char* upper, int64_t lanes);
JoinRun join_run_of(Prim fold, DType type) {
  return with_type(type, [&](auto t) -> JoinRun {
    using T = decltype(t);
    switch (fold) {
      case Prim::fold_prod: return join_run<Prim::fold_prod, T>;
      case Prim::fold_min: return join_run<Prim::fold_min, T>;
      case Prim::fold_max: return join_run<Prim::fold_max, T>;
      default: return join_run<Prim::fold_sum, T>;
    }
  });
}

void join_runs(JoinRun join, char* to, const char* lower, const char* upper, int64_t lanes, int64_t pitch) {
  for (int64_t j = 0; j < loop::group_items; ++j) join(to + j * pitch, lower + j * pitch, upper + j * pitch, lanes);
}
}  // namespace

unsigned lanes_push(Prim fold, DType type, char* stack, unsigned depth, int64_t block, const char* acc, int64_t lanes,
                    int64_t pitch) {
  const int64_t level = loop::group_items * pitch;
  if (!(block & 1)) {
    const auto bytes = static_cast<size_t>(lanes) * ir::item_size(type);
    for (int64_t j = 0; j < loop::group_items; ++j)
      std::memcpy(stack + depth * level + j * pitch, acc + j * pitch, bytes);
    return depth + 1;
  }
  const JoinRun join = join_run_of(fold, type);
  --depth;
  join_runs(join, stack + depth * level, stack + depth * level, acc, lanes, pitch);
  for (block >>= 1; block & 1; block >>= 1, --depth)
    join_runs(join, stack + (depth - 1) * level, stack + (depth - 1) * level, stack + depth * level, lanes, pitch);
  return depth + 1;
}

void lanes_close(Prim fold, DType type, char* stack, unsigned depth, int64_t lanes, int64_t pitch) {
  const int64_t level = loop::group_items * pitch;
  const JoinRun join = join_run_of(fold, type);
  for (--depth; depth > 0; --depth)
    join_runs(join, stack + (depth - 1) * level, stack + (depth - 1) * level, stack + depth * level, lanes, pitch);
}

void lanes_finish(Prim fold, DType type, char* acc, int64_t lanes, int64_t pitch, int64_t n) {
  if (n == 0 && fold == Prim::fold_sum) std::memset(acc, 0, static_cast<size_t>(pitch));
  if (n == 0) return;
  const JoinRun join = join_run_of(fold, type);
  for (const auto& [to, from] : loop::group_joins) join(acc + to * pitch, acc + to * pitch, acc + from * pitch, lanes);
}

void fold_init_rows(Prim fold, DType type, char* acc, size_t pitch, int64_t rows) {
  with_type(type, [&](auto t) {
    using T = decltype(t);
    Block<T> start;
    std::ranges::fill(start.item, identity<T>(fold, type == DType::boolean));
    for (; rows > 0; --rows, acc += pitch) std::memcpy(acc, &start, sizeof start);
  });
}

namespace {
// a = join(a, b) of four floats at once, and without a branch: which of two maxima is the greater is anybody's guess.
// By reference, since how vectors are passed depends on the processor that is compiled for.
template <Prim fold, class V>
void join_four(V& a, const V& b) {
  using Bits = decltype(a < b);
  if constexpr (fold == Prim::fold_sum) {
    a += b;
  } else if constexpr (fold == Prim::fold_prod) {
    a *= b;
  } else {
    const auto x = reinterpret_cast<Bits>(a), y = reinterpret_cast<Bits>(b);
    Bits result = y;
    const auto pick = [&](const Bits& where, const Bits& bits) { result = (bits & where) | (result & ~where); };
    if constexpr (fold == Prim::fold_max) pick(b < a, x);
    else pick(a < b, x);
    pick(a == b, fold == Prim::fold_max ? x & y : x | y);  // equal values differ at most as zeros
    pick(b != b, y);
    pick(a != a, x);
    a = reinterpret_cast<V>(result);
  }
}

// The joins of loop::group_joins, which halve the eight items three times.
template <Prim fold, class T>
T join_items(const char* acc) {
  if constexpr (std::is_floating_point_v<T>) {
    using V [[gnu::vector_size(4 * sizeof(T))]] = T;
    V lower, upper;
    std::memcpy(&lower, acc, sizeof lower);
    std::memcpy(&upper, acc + sizeof lower, sizeof upper);
    join_four<fold>(lower, upper);
    join_four<fold>(lower, V{lower[2], lower[3], lower[2], lower[3]});
    join_four<fold>(lower, V{lower[1], lower[1], lower[1], lower[1]});
    return lower[0];
  } else {
    Block<T> a = read<T>(acc);
    for (const auto& [to, from] : loop::group_joins) a.item[to] = join(fold, a.item[to], a.item[from]);
    return a.item[0];
  }
}

// Four rows of floats side by side: their halves joined, turned, and then one join for all four where each row alone
// needs one for itself.
template <Prim fold, class T>
void finish_four(const char* acc, size_t pitch, T* result) {
  using V [[gnu::vector_size(4 * sizeof(T))]] = T;
  V half[4];
  const auto load = [&](size_t row) {
    V upper;
    std::memcpy(&half[row], acc + row * pitch, sizeof upper);
    std::memcpy(&upper, acc + row * pitch + sizeof upper, sizeof upper);
    join_four<fold>(half[row], upper);
  };
  load(0), load(1), load(2), load(3);
  const V &a = half[0], &b = half[1], &c = half[2], &d = half[3];
  const V ab = __builtin_shufflevector(a, b, 0, 4, 1, 5), ab2 = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  const V cd = __builtin_shufflevector(c, d, 0, 4, 1, 5), cd2 = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  V first = __builtin_shufflevector(ab, cd, 0, 1, 4, 5), second = __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
  join_four<fold>(first, __builtin_shufflevector(ab2, cd2, 0, 1, 4, 5));
  join_four<fold>(second, __builtin_shufflevector(ab2, cd2, 2, 3, 6, 7));
  join_four<fold>(first, second);
  std::memcpy(result, &first, sizeof first);
}

template <Prim fold, class T>
void finish_rows(const char* acc, size_t pitch, char* value, size_t value_pitch, int64_t rows) {
  const auto put = [&](const T& result) {
    uint64_t bits = 0;
    std::memcpy(&bits, &result, sizeof result);
    std::memcpy(value, &bits, sizeof bits);
    value += value_pitch;
  };
  if constexpr (std::is_floating_point_v<T>) {
    for (; rows >= 4; rows -= 4, acc += 4 * pitch) {
      T results[4];
      finish_four<fold>(acc, pitch, results);
      put(results[0]), put(results[1]), put(results[2]), put(results[3]);
    }
  }
  for (; rows > 0; --rows, acc += pitch) put(join_items<fold, T>(acc));
}
}  // namespace

void fold_finish_rows(Prim fold, DType type, const char* acc, size_t pitch, int64_t n, char* value, size_t value_pitch,
                      int64_t rows) {
  if (n == 0 && fold == Prim::fold_sum) {
    const uint64_t zero = 0;
    for (; rows > 0; --rows, value += value_pitch) std::memcpy(value, &zero, sizeof zero);
    return;
  }
  with_type(type, [&](auto t) {
    using T = decltype(t);
    switch (fold) {
      case Prim::fold_prod: return finish_rows<Prim::fold_prod, T>(acc, pitch, value, value_pitch, rows);
      case Prim::fold_min: return finish_rows<Prim::fold_min, T>(acc, pitch, value, value_pitch, rows);
      case Prim::fold_max: return finish_rows<Prim::fold_max, T>(acc, pitch, value, value_pitch, rows);
      default: return finish_rows<Prim::fold_sum, T>(acc, pitch, value, value_pitch, rows);
    }
  });
}

}  // namespace ingot::jit
