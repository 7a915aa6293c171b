#include "random_kernel.h"

namespace ingot::loop::samples {

RandomKernel random_kernel(uint32_t seed, const RandomOptions& options) {
  std::mt19937 random(seed);
  const auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
  RandomKernel made{Builder(options.rows, options.cols), {}};
  Builder& b = made.builder;
  const AxisSet rows = (AxisSet{1} << options.rows) - 1;
  const AxisSet all = (AxisSet{1} << (options.rows + options.cols)) - 1;

  std::vector<Val> floats, ints;
  for (int i = 0; i < 3; ++i) floats.push_back(load(b, DType::f32, random() & all));
  for (int i = 0; i < 2; ++i) ints.push_back(load(b, DType::i32, random() & all));
  if (options.cols > 0) floats.push_back(load(b, DType::f32, all));
  floats.push_back(literal(b, DType::f32, 0.5));

  int folds = 0;
  for (int i = 0; i < options.ops; ++i) {
    const Val x = floats[below(floats.size())], y = floats[below(floats.size())], z = floats[below(floats.size())];
    const Val n = ints[below(ints.size())], m = ints[below(ints.size())];
    switch (below(18)) {
      case 0: floats.push_back(x + y); break;
      case 1: floats.push_back(x - y); break;
      case 2: floats.push_back(x * y); break;
      case 3: floats.push_back(x / y); break;
      case 4: floats.push_back(fma(x, y, z)); break;
      case 5: floats.push_back(vmin(x, y)); break;
      case 6: floats.push_back(-x); break;
      case 7: floats.push_back(abs(x)); break;
      case 8: floats.push_back(copysign(x, y)); break;
      case 9: floats.push_back(select(lt(x, y), y, z)); break;
      case 10: floats.push_back(x.un(Prim::canon)); break;
      case 11: floats.push_back(sqrt(x)); break;
      case 12: floats.push_back(rare(lt(z, 0.0), y, z)); break;  // z in the condition: its folds always run
      case 13: ints.push_back(x.cast_bits(DType::i32)); break;
      case 14: floats.push_back((n ^ m).cast_bits(DType::f32)); break;
      case 15: floats.push_back(fake_exp(x)); break;
      default:
        // Folds beyond a few levels are not what kernels look like, and levels are limited.
        if (options.cols == 0 || folds++ > 4) break;
        if (below(3)) floats.push_back(x.un(below(2) ? Prim::fold_sum : Prim::fold_max));
        else floats.push_back({b, b.scan(below(2) ? Prim::scan_sum : Prim::scan_max, x.id(), below(4))});
    }
    if (options.dead_nodes) {
      (void)floats.back().cast_bits(DType::i32);
      (void)copysign(z, floats.back() + 3.0);
    }
  }
  // A kernel with cols needs a fold that is reached.
  Val last = floats.back();
  if (options.cols > 0) last = last + (last * last).un(Prim::fold_sum);
  const auto put = [&](Val v) {
    const bool along_cols = b.node(v.id()).axes & ~rows || random() % 4 == 0;
    store(b, v.type(), along_cols ? all : rows, v);
    made.values.push_back(v.id());
  };
  put(last);
  for (int i = 0; i < 3; ++i) put(floats[floats.size() - 2 - below(4)]);
  put(ints.back());
  return made;
}

}  // namespace ingot::loop::samples
