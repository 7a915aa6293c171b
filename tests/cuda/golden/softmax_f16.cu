struct Args {
  i64 size[2];
  struct {
    char* base;
    i64 value;
    i64 stride[2];
  } view[2];
  char* scratch;
};

// One block of 256 threads computes one row; values along the row are computed again in each sweep.
extern "C" __global__ void __launch_bounds__(256) ingot_kernel(const Args a) {
  const i64 n = a.size[1];
  for (i64 r = blockIdx.x; r < a.size[0]; r += gridDim.x) {
    const i64 i0 = r;
    const float n4 = 0x1.715476p+0f;
    const float n7 = -0x1.62e43p-1f;
    const float n9 = 0x1.555556p-5f;
    const float n10 = 0x1.555556p-3f;
    const float n12 = 0x1p-1f;
    const float n14 = 0x1p+0f;
    // Level 1.
    const auto f2 = [&](i64 k) {
      const i64 i1 = k;
      const u16 n0 = at<u16>(a.view[0].base + i0 * a.view[0].stride[0] + i1 * a.view[0].stride[1]);
      const float n1 = F16::widen(n0);
      return n1;
    };
    const float n2 = fold_free<float>(n, bits<float>(0xff800000u), [](float x, float y) { return fmax2(x, y); }, f2);
    // Level 2.
    const auto f19 = [&](i64 k) {
      const i64 i1 = k;
      const u16 n0 = at<u16>(a.view[0].base + i0 * a.view[0].stride[0] + i1 * a.view[0].stride[1]);
      const float n1 = F16::widen(n0);
      const float n3 = n1 - n2;
      const float n5 = n3 * n4;
      const float n6 = rintf(n5);
      const float n8 = __fmaf_rn(n6, n7, n3);
      const float n11 = __fmaf_rn(n8, n9, n10);
      const float n13 = __fmaf_rn(n11, n8, n12);
      const float n15 = __fmaf_rn(n13, n8, n14);
      const float n16 = __fmaf_rn(n15, n8, n14);
      const i32 n17 = to_int<i32, float>(n6, (i32)0x80000000ull, (i32)0x7fffffffull, -0x1p+31f, 0x1p+31f);
      const float n18 = scale2(n16, n17);
      return n18;
    };
    const float n19 = fold_ordered<float>(n, -0.0f, 0.0f, Add<float>(), f19);
    // Stores along the row.
    for (i64 k = threadIdx.x; k < n; k += 256) {
      const i64 i1 = k;
      const u16 n0 = at<u16>(a.view[0].base + i0 * a.view[0].stride[0] + i1 * a.view[0].stride[1]);
      const float n1 = F16::widen(n0);
      const float n3 = n1 - n2;
      const float n5 = n3 * n4;
      const float n6 = rintf(n5);
      const float n8 = __fmaf_rn(n6, n7, n3);
      const float n11 = __fmaf_rn(n8, n9, n10);
      const float n13 = __fmaf_rn(n11, n8, n12);
      const float n15 = __fmaf_rn(n13, n8, n14);
      const float n16 = __fmaf_rn(n15, n8, n14);
      const i32 n17 = to_int<i32, float>(n6, (i32)0x80000000ull, (i32)0x7fffffffull, -0x1p+31f, 0x1p+31f);
      const float n18 = scale2(n16, n17);
      const float n20 = n18 / n19;
      const u16 n21 = F16::narrow(n20);
      *reinterpret_cast<u16*>(a.view[1].base + i0 * a.view[1].stride[0] + i1 * a.view[1].stride[1]) = n21;
    }
  }
}
