#include "jit/interp/interp.h"

#include <algorithm>
#include <cstring>

#include "jit/interp/compile.h"

namespace ingot::jit {

namespace interp {

namespace {

constexpr size_t align(size_t n) { return (n + 63) / 64 * 64; }

// Scratch of one call: an address per operand, the single items, the strips.
struct Layout {
  size_t singles, strips, total, pitch;
  explicit Layout(const Code& code) {
    singles = align(code.operands.size() * sizeof(char*));
    strips = singles + align(code.singles * sizeof(uint64_t));
    pitch = align(static_cast<size_t>(code.lanes) * code.strip_item);
    total = strips + code.strips * pitch;
  }
};

bool any(const char* bytes, int64_t n) {
  uint64_t set = 0;
  for (; n >= 8; n -= 8, bytes += 8) {
    uint64_t word;
    std::memcpy(&word, bytes, sizeof word);
    set |= word;
  }
  for (; n > 0; --n, ++bytes) set |= static_cast<unsigned char>(*bytes);
  return set != 0;
}

template <class T>
T item(const char* p, int64_t i) {
  T v;
  std::memcpy(&v, p + i * int64_t{sizeof v}, sizeof v);
  return v;
}

void check(const Step& s, char* const* at, int64_t n, int64_t counting, Fault* fault) {
  const auto lane = [&](unsigned operand, int64_t i) { return s.scalars >> operand & 1 ? 0 : i; };
  for (int64_t i = 0; i < n; ++i) {
    const bool when = at[s.a][lane(0, i)] != 0;
    const auto index = item<int64_t>(at[s.b], lane(1, i)), extent = item<int64_t>(at[s.c], lane(2, i));
    const bool inside = 0 <= index && index < extent;
    at[s.out][i] = when && inside;
    if (when && !inside && i < counting && fault->check == 0) *fault = {uint64_t{s.number} + 1, index, extent};
  }
}

template <class T>
void fetch_items(const Step& s, char* const* at, int64_t n, int64_t counting) {
  const bool boolean = s.storage == loop::DType::boolean;
  for (int64_t i = 0; i < n; ++i) {
    T v = 0;
    if (i < counting && at[s.a][s.scalars & 1 ? 0 : i] != 0)
      v = item<T>(at[s.c], item<int64_t>(at[s.b], s.scalars & 2 ? 0 : i));
    if (boolean) v = v != 0;
    std::memcpy(at[s.out] + i * int64_t{sizeof v}, &v, sizeof v);
  }
}

void fetch(const Step& s, char* const* at, int64_t n, int64_t counting) {
  switch (ir::item_size(s.storage)) {
    case 1: return fetch_items<uint8_t>(s, at, n, counting);
    case 2: return fetch_items<uint16_t>(s, at, n, counting);
    case 4: return fetch_items<uint32_t>(s, at, n, counting);
    default: return fetch_items<uint64_t>(s, at, n, counting);
  }
}

class Interpreter final : public Body {
 public:
  Interpreter(const Program& program, const Ops& ops)
      : row_mode_(program.schedule.mode == loop::LaneMode::row),
        folds_(static_cast<int64_t>(program.schedule.folds.size())) {
    for (unsigned s = 0; s < program.schedule.sweeps.size(); ++s)
      sweeps_.push_back(compile_sweep(program.kernel, program.schedule, s, ops));
    row_ = compile_row(program.kernel, program.schedule, ops);
    scratch_ = Layout(row_).total;
    for (const Code& code : sweeps_) scratch_ = std::max(scratch_, Layout(code).total);
  }

  bool compiled() const noexcept override { return false; }
  size_t scratch_bytes() const noexcept override { return scratch_; }

  void row(const Frame& frame) const noexcept override {
    for (int64_t r = 0; r <= frame.more_rows; ++r) {
      char** const at = resolve(row_, frame, r);
      run(row_.uniform, at, 1, 1, frame.fault);
      run(row_.stores, at, 1, 1, frame.fault);
    }
  }

  void sweep(unsigned index, const Frame& frame) const noexcept override {
    for (int64_t r = 0; r <= frame.more_rows; ++r) sweep_row(sweeps_[index], frame, r);
  }

 private:
  void sweep_row(const Code& code, const Frame& frame, int64_t r) const noexcept {
    char** const at = resolve(code, frame, r);
    run(code.uniform, at, 1, 1, frame.fault);
    for (int64_t lane = 0; lane < frame.n; lane += code.lanes) {
      const int64_t n = std::min(code.lanes, frame.n - lane);
      const int64_t valid = std::min(n, frame.valid - lane);
      run(code.per_lane, at, n, valid, frame.fault);
      if (!code.dots.empty()) {
        dots(code, frame, at, n, valid);
      } else if (!code.groups.empty()) {
        groups(code, frame, at, n, valid);
      } else {
        run(code.varying, at, n, valid, frame.fault);
        if (valid > 0)
          for (const FoldStep& f : code.folds) f.fn(n, valid, at[f.src], at[f.acc]);
      }
      run(code.stores, at, n, valid, frame.fault);
      for (size_t o = 0; o < code.operands.size(); ++o) at[o] += n * lane_bytes(code.operands[o]);
    }
  }

  // Strips hold one run of lanes; memory goes on.
  static int64_t lane_bytes(const Operand& o) { return o.per_lane && o.source != Source::strip ? o.item : 0; }

  int64_t slot(const Operand& o, int64_t r) const { return r * folds_ + int64_t{o.index}; }

  // The operands of row `r` of the call.
  char** resolve(const Code& code, const Frame& frame, int64_t r) const noexcept {
    const Layout layout(code);
    const auto in_row = [r](char* first, const int64_t* step, uint32_t i) {
      return r == 0 ? first : first + r * step[i];
    };
    char** const at = reinterpret_cast<char**>(frame.scratch);
    for (size_t i = 0; i < code.operands.size(); ++i) {
      const Operand& o = code.operands[i];
      switch (o.source) {
        // Only read.
        case Source::constant:
          at[i] = const_cast<char*>(reinterpret_cast<const char*>(&code.constants[o.index]));
          break;
        case Source::size: at[i] = const_cast<char*>(reinterpret_cast<const char*>(frame.size + o.index)); break;
        case Source::view: at[i] = in_row(frame.ptr[o.index], frame.row_step, o.index); break;
        case Source::hold: at[i] = in_row(frame.hold[o.index], frame.hold_step, o.index); break;
        case Source::value:
          at[i] =
              const_cast<char*>(frame.value) + slot(o, r) * (row_mode_ ? frame.acc_stride : int64_t{sizeof(uint64_t)});
          break;
        case Source::acc: at[i] = frame.acc + slot(o, r) * (row_mode_ ? frame.acc_stride : int64_t{acc_bytes}); break;
        case Source::single: at[i] = frame.scratch + layout.singles + o.index * sizeof(uint64_t); break;
        case Source::strip: at[i] = frame.scratch + layout.strips + o.index * layout.pitch; break;
      }
    }
    return at;
  }

  // `n` lanes, of which `valid` count.
  static void run(const std::vector<Step>& steps, char* const* at, int64_t n, int64_t valid, Fault* fault) noexcept {
    const auto address = [&](uint32_t o) { return o == ~uint32_t{0} ? nullptr : at[o]; };
    for (size_t i = 0; i < steps.size(); ++i) {
      const Step& s = steps[i];
      const int64_t lanes = s.single ? 1 : n, counting = s.single ? 1 : std::min(n, valid);
      switch (s.kind) {
        case StepKind::compute: s.fn(lanes, at[s.out], at[s.a], address(s.b), address(s.c), s.scalars); break;
        case StepKind::guard:
          if (!any(at[s.a], lanes)) i = s.out - 1;
          break;
        case StepKind::check: check(s, at, lanes, counting, fault); break;
        case StepKind::fetch: fetch(s, at, lanes, counting); break;
      }
    }
  }

  // One run of lanes over the up to eight k of the call, joined in the sum order. An absent one is an exact identity,
  // and so left out.
  static void groups(const Code& code, const Frame& frame, char** at, int64_t n, int64_t valid) noexcept {
    const auto k_step = [&](const Operand& o) { return o.source == Source::view ? frame.step[o.index] : 0; };
    for (int64_t k = 0; k < frame.k; ++k) {
      run(code.varying, at, n, valid, frame.fault);
      for (const GroupStep& g : code.groups)
        std::memcpy(at[g.kept[static_cast<size_t>(k)]], at[g.src], static_cast<size_t>(n) * g.item);
      for (size_t o = 0; o < code.operands.size(); ++o) at[o] += k_step(code.operands[o]);
    }
    for (size_t o = 0; o < code.operands.size(); ++o) at[o] -= frame.k * k_step(code.operands[o]);
    for (const GroupStep& g : code.groups) {
      for (const auto& [to, from] : loop::group_joins)
        if (from < frame.k) g.join(n, at[g.kept[to]], at[g.kept[to]], at[g.kept[from]], nullptr, 0);
      g.join(n, at[g.acc], at[g.acc], at[g.kept[0]], nullptr, 0);
    }
  }

  // One run of lanes over the call's k.
  static void dots(const Code& code, const Frame& frame, char** at, int64_t n, int64_t valid) noexcept {
    const auto k_step = [&](const Operand& o) { return o.source == Source::view ? frame.step[o.index] : 0; };
    bool chains = false;
    for (const DotStep& d : code.dots) {
      if (d.dot) {
        d.dot(n, frame.k, at[d.acc], at[d.a], k_step(code.operands[d.a]), at[d.b], k_step(code.operands[d.b]),
              d.scalars);
        continue;
      }
      chains = true;
      start(d.type, at[d.p], n);
    }
    if (!chains) return;
    for (int64_t k = 0; k < frame.k; ++k) {
      run(code.varying, at, n, valid, frame.fault);
      for (const DotStep& d : code.dots) d.chain(n, at[d.p], at[d.a], at[d.b], d.scalars);
      for (size_t o = 0; o < code.operands.size(); ++o) at[o] += k_step(code.operands[o]);
    }
    for (size_t o = 0; o < code.operands.size(); ++o) at[o] -= frame.k * k_step(code.operands[o]);
    for (const DotStep& d : code.dots) d.accumulate(n, at[d.acc], at[d.acc], at[d.p], nullptr, 0);
  }

  static void start(loop::DType type, char* p, int64_t n) noexcept {
    switch (type) {
      case loop::DType::f32:
        for (int64_t i = 0; i < n; ++i) reinterpret_cast<float*>(p)[i] = -0.0f;
        break;
      case loop::DType::f64:
        for (int64_t i = 0; i < n; ++i) reinterpret_cast<double*>(p)[i] = -0.0;
        break;
      default: std::memset(p, 0, static_cast<size_t>(n) * ir::item_size(type));
    }
  }

  const bool row_mode_;
  const int64_t folds_;
  std::vector<Code> sweeps_;
  Code row_;
  size_t scratch_ = 0;
};

}  // namespace

std::shared_ptr<const Body> interpreter_with(const Program& program, const Ops& ops) {
  return std::make_shared<const Interpreter>(program, ops);
}

}  // namespace interp

std::shared_ptr<const Body> interpreter(const Program& program) {
#if defined(INGOT_HAVE_AVX2)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return interp::interpreter_with(program, interp::ops_avx2());
#endif
  return interp::interpreter_with(program, interp::ops_baseline());
}

}  // namespace ingot::jit
