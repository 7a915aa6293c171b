#include "random_launch.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <thread>

#include "base/error.h"
#include "ir/scalar.h"
#include "loop/expr.h"
#include "loop/rules.h"
#include "oracle.h"

namespace ingot::test {

using jit::ViewArg;
using loop::AxisSet;
using loop::Builder;
using loop::DType;
using loop::NodeId;
using loop::Prim;
using loop::Val;
using loop::ViewKind;

namespace {

class Maker {
 public:
  Maker(uint32_t seed, Shape shape, int64_t elements)
      : random_(seed),
        shape_(shape == Shape::long_rows ? Shape::folds : shape),
        long_rows_(shape == Shape::long_rows),
        elements_(elements) {}

  Bound run() {
    const auto cols = static_cast<uint8_t>(shape_ == Shape::pointwise ? 0 : 1 + (chance(4) ? below(2) : 0));
    const auto rows = static_cast<uint8_t>(shape_ == Shape::pointwise   ? below(6)
                                           : shape_ == Shape::row_lanes ? 1 + below(3)
                                           : long_rows_                 ? below(3)
                                                                        : below(4));
    Builder b(rows, cols);
    builder_ = &b;
    rows_ = (AxisSet{1} << rows) - 1;
    all_ = (AxisSet{1} << (rows + cols)) - 1;
    if (long_rows_) long_extents(rows, cols);
    else extents(rows + cols);
    expression();
    Bound bound;
    bound.program.kernel = b.finish();
    bound.program.kernel.row_lanes = shape_ == Shape::row_lanes;
    loop::verify(bound.program.kernel);
    bound.program.schedule = loop::schedule(bound.program.kernel);
    bound.sizes = sizes_;
    place(bound);
    return bound;
  }

 private:
  size_t below(size_t n) { return random_() % n; }
  bool chance(size_t one_in) { return below(one_in) == 0; }

  void extents(size_t axes) {
    static constexpr int64_t choice[] = {1, 2, 3, 5, 16, 17, 63, 64, 65, 100, 256, 257, 1023, 1024, 1025, 3000};
    int64_t left = elements_;
    sizes_.assign(axes, 1);
    std::vector<size_t> order(axes);
    std::iota(order.begin(), order.end(), size_t{0});
    std::shuffle(order.begin(), order.end(), random_);
    for (const size_t a : order) {
      int64_t e;
      do e = choice[below(std::size(choice))];
      while (e > left);
      sizes_[a] = chance(25) ? 0 : e;
      left /= std::max<int64_t>(e, 1);
    }
  }

  // Few rows, each of more than a chunk.
  void long_extents(size_t rows, size_t cols) {
    static constexpr int64_t choice[] = {65537, 66560, 70001, 131072, 131073, 140000};
    for (size_t a = 0; a < rows; ++a) sizes_.push_back(static_cast<int64_t>(1 + below(2)));
    int64_t lanes = choice[below(std::size(choice))];
    for (size_t a = 1; a < cols; ++a) {
      sizes_.push_back(below(2) ? 300 : 2);
      lanes = (lanes + sizes_.back() - 1) / sizes_.back();
    }
    sizes_.push_back(lanes);
  }

  // Pools of values by type.
  std::vector<Val>& pool(DType t) { return pools_[static_cast<size_t>(t)]; }
  Val pick(DType t) {
    auto& p = pool(t);
    if (p.empty()) p.push_back(literal(t));
    // Recent values more often: deep rather than wide.
    const size_t n = p.size();
    return p[chance(2) ? below(n) : n - 1 - below(std::min<size_t>(n, 3))];
  }
  Val literal(DType t) {
    if (loop::is_narrow(t)) return {*builder_, builder_->literal(t, below(128))};
    if (t == DType::boolean) return {*builder_, builder_->literal(t, below(2))};
    if (t == DType::f32 || t == DType::f64) return loop::literal(*builder_, t, static_cast<double>(below(9)) / 4 - 1);
    return loop::literal(*builder_, t, static_cast<int64_t>(below(200)) - 100);
  }

  AxisSet some_axes() { return chance(3) ? static_cast<AxisSet>(random_()) & all_ : all_; }

  void boxes(loop::View& v) {
    for (size_t a = 0; a < sizes_extents(); ++a) {
      if (!(v.axes >> a & 1) || !chance(3)) continue;
      const uint16_t lo = builder_->add_size_slot(), hi = builder_->add_size_slot();
      sizes_.push_back(static_cast<int64_t>(below(static_cast<size_t>(sizes_[a]) + 3)) - 2);
      sizes_.push_back(chance(2) ? sizes_[a] + 1 : static_cast<int64_t>(below(static_cast<size_t>(sizes_[a]) + 3)));
      v.boxes.push_back({static_cast<uint8_t>(a), lo, hi});
    }
  }
  size_t sizes_extents() const { return static_cast<size_t>(std::popcount(all_)); }

  void load(DType storage, AxisSet axes) {
    loop::View v{.kind = ViewKind::load,
                 .storage = storage,
                 .tensor = builder_->add_tensor(),
                 .axes = axes,
                 .boxes = {},
                 .fill = 0};
    if (chance(4)) boxes(v);
    if (!v.boxes.empty()) v.fill = storage == DType::boolean ? below(2) : random_() & 0xFF;
    const Val loaded{*builder_, builder_->load(builder_->add_view(v))};
    pool(storage).push_back(loaded);
    if (loop::is_narrow(storage)) pool(DType::f32).push_back(loaded.to(DType::f32));
  }

  void memoryless() {
    const AxisSet axes = some_axes();
    if (chance(2)) {
      const loop::View v{
          .kind = ViewKind::iota, .storage = DType::i64, .tensor = 0, .axes = axes, .boxes = {}, .fill = 0};
      pool(DType::i64).push_back({*builder_, builder_->load(builder_->add_view(v))});
      return;
    }
    loop::View v{
        .kind = ViewKind::inside, .storage = DType::boolean, .tensor = 0, .axes = axes, .boxes = {}, .fill = 0};
    boxes(v);
    v.axes = 0;
    for (const loop::Box& box : v.boxes) v.axes |= AxisSet{1} << box.axis;
    if (v.boxes.empty()) return;
    pool(DType::boolean).push_back({*builder_, builder_->load(builder_->add_view(v))});
  }

  static bool is_float(DType t) { return t == DType::f32 || t == DType::f64; }

  bool has_fold(Val v) {
    for (size_t i = has_fold_.size(); i < builder_->node_count(); ++i) {
      const loop::Node& n = builder_->node(static_cast<NodeId>(i));
      bool has = loop::ends_sweep(n.op);
      for (const NodeId a : n.arg) has = has || (a != loop::no_node && has_fold_[a]);
      has_fold_.push_back(has);
    }
    return has_fold_[v.id()];
  }

  Val grow(DType t) {
    const Val x = pick(t), y = pick(t), z = pick(t);
    const auto un = [&](std::initializer_list<Prim> ops) { return x.un(ops.begin()[below(ops.size())]); };
    const auto bin = [&](std::initializer_list<Prim> ops) { return x.bin(ops.begin()[below(ops.size())], y); };
    if (t == DType::boolean) {
      const DType of = some_type();
      switch (below(3)) {
        case 0: return bin({Prim::and_, Prim::or_, Prim::xor_});
        case 1: return x.un(Prim::not_);
        default: {
          const Prim ops[] = {Prim::eq, Prim::ne, Prim::lt, Prim::le};
          return pick(of).bin(ops[below(4)], pick(of));
        }
      }
    }
    switch (below(8)) {
      case 0: return select(pick(DType::boolean), x, y);
      case 1: return rare(pick(DType::boolean), x, has_fold(y) ? literal(t) : y);  // no fold for a slow arm alone
      case 2: {
        DType from = some_type();
        while (from == t) from = some_type();
        return pick(from).to(t);
      }
      case 3:
        if (t == DType::f32) return pick(DType::i32).cast_bits(t);
        if (t == DType::i32) return pick(DType::f32).cast_bits(t);
        if (t == DType::i64) return pick(DType::f64).cast_bits(t);
        return x;
      case 4:
        if (is_float(t))
          return un({Prim::neg, Prim::abs, Prim::sqrt, Prim::floor, Prim::ceil, Prim::trunc, Prim::round});
        return un({Prim::neg, Prim::abs, Prim::not_, Prim::popcount, Prim::clz, Prim::ctz});
      case 5:
        if (is_float(t)) return chance(3) ? scale2(x, pick(DType::i32)) : fma(x, y, z);
        return bin({Prim::shl, Prim::shr, Prim::rem, Prim::div, Prim::and_, Prim::or_, Prim::xor_});
      case 6:
        if (is_float(t)) return bin({Prim::copysign, Prim::div, Prim::min, Prim::max});
        return bin({Prim::min, Prim::max});
      default: return bin({Prim::add, Prim::sub, Prim::mul});
    }
  }

  DType some_type() {
    static constexpr DType often[] = {DType::f32, DType::f32, DType::f32, DType::f64,
                                      DType::i32, DType::i64, DType::u8,  DType::boolean};
    static constexpr DType seldom[] = {DType::i8, DType::i16, DType::u16, DType::u32, DType::u64};
    return chance(8) ? seldom[below(std::size(seldom))] : often[below(std::size(often))];
  }
  static constexpr DType narrow_types[] = {DType::f16, DType::bf16, DType::f8e4m3, DType::f8e5m2};
  DType some_storage() { return chance(8) ? narrow_types[below(std::size(narrow_types))] : some_type(); }

  // What a graph's ops on f16 are: rounded and widened again; now and then the bits are moved in between.
  void round() {
    const DType t = narrow_types[below(std::size(narrow_types))];
    Val v = pick(DType::f32).to(t);
    switch (below(5)) {
      case 0: v = v.un(Prim::neg); break;
      case 1: v = abs(v); break;
      case 2: v = copysign(v, pick(t)); break;
      case 3: v = select(pick(DType::boolean), v, pick(t)); break;
      default: break;
    }
    pool(t).push_back(v);
    pool(DType::f32).push_back(v.to(DType::f32));
  }

  void expression() {
    const size_t loads = 1 + below(5);
    for (size_t i = 0; i < loads; ++i) load(some_storage(), some_axes());
    if (shape_ != Shape::pointwise) load(DType::f32, all_);
    if (chance(3)) memoryless();
    if (chance(5) && !sizes_.empty())
      pool(DType::i64).push_back({*builder_, builder_->size(static_cast<uint16_t>(below(sizes_.size())))});
    const size_t ops = below(30);
    for (size_t i = 0; i < ops; ++i) {
      const DType t = some_type();
      pool(t).push_back(grow(t));
      if (chance(6)) round();
      if (folds() && i % 7 == 6) fold();
      if (shape_ == Shape::folds && chance(long_rows_ ? 60 : 12)) scan();
    }
    if (folds()) fold();
    if (shape_ == Shape::dot) dots();
    if (shape_ == Shape::row_lanes) only_rows({});
    const size_t stores = 1 + below(3);
    for (size_t i = 0; i < stores; ++i) {
      const DType t = some_storage();
      put(t, loop::is_narrow(t) && chance(2) ? pick(DType::f32).to(t) : pick(t));
    }
    // Something that the folds reach.
    if (folded_ != loop::no_node) put(builder_->type(folded_), {*builder_, folded_});
    else put(DType::f32, pick(DType::f32));
  }

  // Levels grow where a fold's argument holds another fold.
  void fold() {
    DType t = chance(2) ? DType::f32 : some_type();
    if (t == DType::boolean && shape_ == Shape::row_lanes) t = DType::u8;
    Val x = pick(t);
    if (folded_ != loop::no_node && chance(2)) {
      const Val last{*builder_, folded_};
      if (t != DType::boolean) x = x - last.to(t);
    }
    if (level_ > 3) return;
    ++level_;
    Prim op = Prim::fold_max;
    if (t == DType::boolean) op = chance(2) ? Prim::fold_min : Prim::fold_max;
    else if (const size_t which = below(5); which < 3) op = which == 2 ? Prim::fold_prod : Prim::fold_sum;
    else if (which == 3) op = Prim::fold_min;
    // A fold of what has no cols is a fold all the same: n equal elements.
    const Val r = x.un(op);
    folded_ = r.id();
    pool(t).push_back(r);
  }

  void scan() {
    const DType t = chance(2) ? DType::f32 : some_type();
    if (t == DType::boolean || level_ > 2) return;  // one is left for a fold
    ++level_;
    const Prim ops[] = {Prim::scan_sum, Prim::scan_sum, Prim::scan_prod, Prim::scan_min, Prim::scan_max};
    pool(t).push_back({*builder_, builder_->scan(ops[below(std::size(ops))], pick(t).id(), below(4))});
  }

  void dots() {
    const size_t count = 1 + below(2);
    std::vector<Val> made;
    for (size_t i = 0; i < count; ++i) {
      const DType t = chance(3) ? some_type() : DType::f32;
      if (t == DType::boolean) continue;
      made.push_back(pick(t).bin(Prim::fold_dot, pick(t)));
    }
    if (made.empty()) made.push_back(pick(DType::f32).bin(Prim::fold_dot, pick(DType::f32)));
    folded_ = made.back().id();
    only_rows(made);
  }

  bool folds() const { return shape_ == Shape::folds || shape_ == Shape::row_lanes; }

  // What is stored has no cols: nothing is stored along them in mode row, and a fold of a dot would be of a second
  // level.
  void only_rows(const std::vector<Val>& made) {
    for (auto& p : pools_) std::erase_if(p, [&](const Val& v) { return (builder_->node(v.id()).axes & ~rows_) != 0; });
    for (const Val& v : made) pool(v.type()).push_back(v);
    const size_t ops = below(8);
    for (size_t i = 0; i < ops; ++i) {
      const DType t = some_type();
      pool(t).push_back(grow(t));
    }
  }

  void put(DType storage, Val value) {
    const AxisSet cols = builder_->node(value.id()).axes & ~rows_;
    const bool along = cols != 0 || (shape_ == Shape::folds && chance(5));
    const loop::View v{.kind = ViewKind::store,
                       .storage = storage,
                       .tensor = builder_->add_tensor(),
                       .axes = along ? all_ : rows_,
                       .boxes = {},
                       .fill = 0};
    builder_->store(builder_->add_view(v), value.id());
  }

  // Strides of a view of its own memory, and the range of bytes it reaches.
  void place(Bound& bound) {
    const loop::Kernel& k = bound.program.kernel;
    bound.args.resize(k.views.size());
    bound.memory.resize(k.views.size());
    bound.copies.resize(k.views.size());
    bound.in_place.resize(k.views.size());
    for (size_t v = 0; v < k.views.size(); ++v) {
      bound.in_place[v] = v;
      const loop::View& view = k.views[v];
      ViewArg& arg = bound.args[v];
      if (view.kind == ViewKind::inside) continue;
      strides(k, view, arg);
      if (view.kind == ViewKind::iota) {
        arg.value = static_cast<int64_t>(below(1000)) - 500;
        continue;
      }
      if (view.kind == ViewKind::store && chance(4) && share(bound, v)) continue;
      reach(bound, v);
    }
    bound.expected = bound.args;
    for (size_t v = 0; v < k.views.size(); ++v) {
      if (k.views[v].kind != ViewKind::store) continue;
      const Guarded& from = bound.memory[bound.in_place[v]];
      bound.copies[v] = Guarded(from.size(), true, 0);
      if (from.size()) std::memcpy(bound.copies[v].data(), from.data(), from.size());
      bound.expected[v].base = reinterpret_cast<char*>(
          reinterpret_cast<uintptr_t>(bound.copies[v].data()) +
          (reinterpret_cast<uintptr_t>(bound.args[v].base) - reinterpret_cast<uintptr_t>(from.data())));
    }
  }

  void strides(const loop::Kernel& k, const loop::View& view, ViewArg& arg) {
    const bool store = view.kind == ViewKind::store;
    std::vector<size_t> order;
    for (size_t a = k.axis_count(); a-- > 0;)
      if (view.axes >> a & 1) order.push_back(a);
    if (chance(3)) std::shuffle(order.begin(), order.end(), random_);
    const bool gaps = chance(3);
    int64_t stride = view.kind == ViewKind::iota ? 1 : static_cast<int64_t>(ir::item_size(view.storage));
    if (view.kind == ViewKind::iota && chance(3)) stride = -3;
    for (const size_t a : order) {
      if (gaps && chance(2)) stride *= 1 + static_cast<int64_t>(below(3));
      arg.stride[a] = stride;
      if (!store && chance(10)) arg.stride[a] = 0;
      else if (chance(8)) arg.stride[a] = -stride;
      stride *= std::max<int64_t>(1, sizes_[a]);
      if (gaps && chance(3))
        stride += static_cast<int64_t>(ir::item_size(view.storage)) * static_cast<int64_t>(1 + below(3));
    }
  }

  // Puts a store in place of a load with the same axes.
  bool share(Bound& bound, size_t store) {
    const loop::Kernel& k = bound.program.kernel;
    for (size_t v = 0; v < store; ++v) {
      const loop::View& load = k.views[v];
      if (load.kind != ViewKind::load || load.storage != k.views[store].storage || load.axes != k.views[store].axes)
        continue;
      if (!load.boxes.empty() || bound.in_place[v] != v) continue;
      const auto& stride = bound.args[v].stride;
      bool taken = false;
      for (size_t a = 0; a < k.axis_count(); ++a) taken |= stride[a] == 0 && (load.axes >> a & 1) && sizes_[a] > 1;
      for (const size_t other : bound.in_place) taken |= other == v && &other != &bound.in_place[v];
      if (taken) continue;
      bound.args[store] = bound.args[v];
      bound.in_place[store] = v;
      return true;
    }
    return false;
  }

  void reach(Bound& bound, size_t v) {
    const loop::Kernel& k = bound.program.kernel;
    const loop::View& view = k.views[v];
    int64_t low = 0, high = 0;
    bool empty = false;
    for (size_t a = 0; a < k.axis_count(); ++a) {
      if (!(view.axes >> a & 1)) continue;
      int64_t lo = 0, hi = sizes_[a];
      for (const loop::Box& box : view.boxes)
        if (box.axis == a) {
          lo = std::max(lo, sizes_[box.lo]);
          hi = std::min(hi, sizes_[box.hi]);
        }
      if (lo >= hi) {
        empty = true;
        continue;
      }
      const int64_t s = bound.args[v].stride[a];
      low += std::min(s * lo, s * (hi - 1));
      high += std::max(s * lo, s * (hi - 1));
    }
    const size_t size = empty ? 0 : static_cast<size_t>(high - low) + ir::item_size(view.storage);
    bound.memory[v] = Guarded(size, chance(2), chance(2) ? 0 : below(64));
    char* const data = bound.memory[v].data();
    bytes(data, size, view.storage);
    bound.args[v].base = reinterpret_cast<char*>(reinterpret_cast<uintptr_t>(data) - static_cast<uintptr_t>(low));
  }

  // Ordinary numbers mostly; now and then any bits at all.
  void bytes(char* p, size_t size, DType t) {
    const bool wild = chance(4);
    const size_t item = ir::item_size(t);
    for (size_t i = 0; i + item <= size; i += item) {
      uint64_t bits = random_() | static_cast<uint64_t>(random_()) << 32;
      if (!wild || !chance(3)) {
        const double x = (static_cast<double>(below(2001)) - 1000) / 64;
        if (t == DType::f32) bits = std::bit_cast<uint32_t>(static_cast<float>(x));
        if (t == DType::f64) bits = std::bit_cast<uint64_t>(x);
        if (t == DType::f16 || t == DType::bf16) bits = ir::float_bits(t, x);
      }
      std::memcpy(p + i, &bits, item);
    }
  }

  Random random_;
  const Shape shape_;
  const bool long_rows_;
  const int64_t elements_;
  Builder* builder_ = nullptr;
  AxisSet rows_ = 0, all_ = 0;
  std::vector<int64_t> sizes_;
  std::vector<Val> pools_[16];
  std::vector<bool> has_fold_;  // per node made so far
  NodeId folded_ = loop::no_node;
  int level_ = 0;
};

}  // namespace

Bound random_launch(uint32_t seed, Shape shape, int64_t elements) { return Maker(seed, shape, elements).run(); }

std::string difference(Bound& bound, const jit::Body& body, uint32_t seed) {
  jit::Launch launch;
  return difference(bound, body, seed, launch);
}

std::string difference(Bound& bound, const jit::Body& body, uint32_t seed, jit::Launch& launch) {
  const loop::Kernel& kernel = bound.program.kernel;
  oracle(kernel, bound.sizes.data(), bound.expected.data());
  launch.prepare(bound.program, bound.sizes.data(), bound.args.data());
  bool apart = true;
  for (size_t v = 0; v < bound.in_place.size(); ++v) apart &= bound.in_place[v] == v;
  launch.allow_stream(apart);
  launch.allow_twice(apart && seed % 2 == 0);
  std::vector<int64_t> chunks(static_cast<size_t>(launch.chunks()));
  std::iota(chunks.begin(), chunks.end(), int64_t{0});
  Random random(seed);
  std::shuffle(chunks.begin(), chunks.end(), random);

  const size_t bytes = (launch.scratch_bytes(body) + 63) / 64 * 64;
  const size_t threads = std::min<size_t>(chunks.size(), chunks.size() > 1 ? 3 : 1);
  const Guarded shared(launch.shared_bytes(), true, 0);
  std::memset(shared.data(), 0xC9, shared.size());
  launch.begin(shared.data());
  for (unsigned phase = 0; phase < launch.phases(); ++phase) {
    const auto work = [&](size_t first) {
      const Guarded scratch(bytes, true, 0);
      std::memset(scratch.data(), 0xC9, bytes);
      jit::Fault fault;
      for (size_t c = first; c < chunks.size(); c += threads)
        launch.run_chunk(body, phase, chunks[c], scratch.data(), shared.data(), fault);
    };
    std::vector<std::thread> others;
    for (size_t t = 1; t < threads; ++t) others.emplace_back(work, t);
    if (threads > 0) work(0);
    for (std::thread& t : others) t.join();
  }

  for (size_t v = 0; v < kernel.views.size(); ++v) {
    if (kernel.views[v].kind != ViewKind::store) continue;
    const Guarded& got = bound.memory[bound.in_place[v]];
    const Guarded& want = bound.copies[v];
    for (size_t i = 0; i < want.size(); ++i)
      if (got.data()[i] != want.data()[i]) {
        std::string sizes;
        for (const int64_t s : bound.sizes) sizes += cat(" ", s);
        std::string strides;
        for (size_t a = 0; a < kernel.axis_count(); ++a) strides += cat(" ", bound.args[v].stride[a]);
        return cat("view ", v, " differs at byte ", i, " of ", want.size(), "\nsizes", sizes, "\nstrides", strides,
                   "\n", to_text(kernel), to_text(kernel, bound.program.schedule));
      }
  }
  return {};
}

}  // namespace ingot::test
