// The C++ face on a device.
#include "ingot/ingot.hpp"

#include "fixture.h"

using namespace launch;
using ingot_cpp::cuda;
using ingot_cpp::Tensor;

namespace {

ingot_compile_options for_cuda() {
  ingot_compile_options o = INGOT_COMPILE_OPTIONS_INIT;
  o.backend = INGOT_BACKEND_CUDA;
  return o;
}

}  // namespace

TEST_CASE_FIXTURE(Device, "C++: tensors in a device's memory, of types with and without a C++ type") {
  const ingot_cpp::Context context;
  const ingot_compile_options options = for_cuda();
  const ingot_cpp::Executable e(context, ingot_cpp::Graph::parse(context, axpb), &options);
  Array<float> x({1, 2, 3, 4}, {4}), y(poison, {4});
  const auto* const from = reinterpret_cast<const float*>(x.at());
  auto* const to = reinterpret_cast<float*>(y.at());
  const Tensor in = Tensor(from, {4}).on(cuda()), out = Tensor(to, {4}).on(cuda(0));
  CHECK((in.device().type == 2 && in.device().id == 0 && in.is_const() && !out.is_const()));
  const Stream stream;
  ingot_run_options run = INGOT_RUN_OPTIONS_INIT;
  run.stream = stream.get();
  e.run({in}, {out}, &run);
  context.sync(cuda(), stream.get());
  CHECK(y.get() == std::vector<float>{3, 5, 7, 9});
  // Views keep where they lie when they are copied, moved and assigned; the original stays as it was.
  const Tensor here(from, {2}, {2});
  Tensor there = here.on(cuda());
  CHECK((here.device().type == 1 && there.device().type == 2));
  Tensor copy = there;
  const Tensor moved = std::move(copy);
  there = moved;
  CHECK((there.device().type == 2 && there.get()->shape == there.shape().data()));
  e.run({there}, {Tensor(INGOT_F32, to, {2}).on(cuda())});
  context.sync(cuda());
  CHECK(y.get() == std::vector<float>{3, 7, 7, 9});
}

TEST_CASE_FIXTURE(Device, "C++: what is wrong with a device's tensor is thrown") {
  const ingot_cpp::Context context;
  const ingot_compile_options options = for_cuda();
  const ingot_cpp::Executable e(context, ingot_cpp::Graph::parse(context, axpb), &options);
  Array<float> x({1, 2, 3, 4}, {4});
  auto* const data = reinterpret_cast<float*>(x.at());
  const auto code = [](const auto& call) {
    try {
      call();
      return ingot_code{INGOT_OK};
    } catch (const ingot_cpp::Error& error) {
      return error.code();
    }
  };
  const Tensor t = Tensor(data, {4}).on(cuda());
  CHECK(code([&] { e.run({Tensor(data, {4})}, {t}); }) ==
        INGOT_INVALID_ARGUMENT);  // device memory, said to be the host's
  CHECK(code([&] { e.run({t}, {t.on(cuda(1))}); }) == INGOT_INVALID_ARGUMENT);
  CHECK(code([&] { e.run({t}, {Tensor(static_cast<const float*>(data), {4}).on(cuda())}); }) == INGOT_INVALID_ARGUMENT);
  CHECK(code([&] { context.sync(cuda(7)); }) == INGOT_INVALID_ARGUMENT);
}
