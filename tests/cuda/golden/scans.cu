struct Args {
  i64 size[2];
  struct {
    char* base;
    i64 value;
    i64 stride[2];
  } view[2];
  char* scratch;
};

// One thread computes one row, element by element.
extern "C" __global__ void __launch_bounds__(256) ingot_kernel(const Args a) {
  const i64 n = a.size[1];
  for (i64 r = blockIdx.x * 256ll + threadIdx.x; r < a.size[0]; r += gridDim.x * 256ll) {
    const i64 i0 = r;
    auto s2 = make_scan<float>((float)-0.0f, (float)0, [](float x, float y) -> float { return x + y; });
    auto s4 = make_scan<float>(bits<float>(0xff800000u), bits<float>(0xff800000u), [](float x, float y) -> float { return fmax2(x, y); });
    for (i64 j = 0; j < n; ++j) {
      const i64 k = j;
      const i64 i1 = k;
      const float n0 = at<float>(a.view[0].base + i0 * a.view[0].stride[0] + i1 * a.view[0].stride[1]);
      const float n1 = n0 * n0;
      const float n2 = s2.inclusive(n1);
      const float n3 = n2 - n0;
      const float n4 = s4.exclusive(n3);
      const float n5 = n4 + n2;
      const float n6 = canon(n5);
      *reinterpret_cast<float*>(a.view[1].base + i0 * a.view[1].stride[0] + i1 * a.view[1].stride[1]) = n6;
    }
  }
}
