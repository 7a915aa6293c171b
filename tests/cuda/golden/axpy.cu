struct Args {
  i64 size[1];
  struct {
    char* base;
    i64 value;
    i64 stride[1];
  } view[4];
  char* scratch;
};

// One thread computes one element.
extern "C" __global__ void __launch_bounds__(256) ingot_kernel(const Args a) {
  const i64 total = a.size[0];
  for (i64 r = blockIdx.x * 256ll + threadIdx.x; r < total; r += gridDim.x * 256ll) {
    const i64 i0 = r;
    const float n0 = 0x1p+1f;
    const float n1 = at<float>(a.view[0].base + i0 * a.view[0].stride[0]);
    const float n2 = n0 * n1;
    const float n3 = 0x1.8p+1f;
    const float n4 = at<float>(a.view[1].base + i0 * a.view[1].stride[0]);
    const float n5 = n3 * n4;
    const float n6 = n2 + n5;
    const float n7 = at<float>(a.view[2].base + i0 * a.view[2].stride[0]);
    const float n8 = n7 * n7;
    const float n9 = n6 - n8;
    const float n10 = canon(n9);
    *reinterpret_cast<float*>(a.view[3].base + i0 * a.view[3].stride[0]) = n10;
  }
}

template <class T, int count>
struct __align__(sizeof(T) * count < 16 ? sizeof(T) * count : 16) Pack {
  T item[count];
};
// Compact views over the same rows: 4 items a thread, 16-byte accesses.
extern "C" __global__ void __launch_bounds__(256) ingot_kernel_linear(const Args a) {
  const i64 total = a.size[0], packs = total / 4;
  for (i64 r = blockIdx.x * 256ll + threadIdx.x; r < packs + total % 4; r += gridDim.x * 256ll) {
    const bool whole = r < packs;
    const i64 first = whole ? r * 4 : packs * 4 + (r - packs);
    Pack<float, 4> p0;
    if (whole) p0 = at<Pack<float, 4>>(a.view[0].base + first * sizeof(float));
    else p0.item[0] = at<float>(a.view[0].base + first * sizeof(float));
    Pack<float, 4> p1;
    if (whole) p1 = at<Pack<float, 4>>(a.view[1].base + first * sizeof(float));
    else p1.item[0] = at<float>(a.view[1].base + first * sizeof(float));
    Pack<float, 4> p2;
    if (whole) p2 = at<Pack<float, 4>>(a.view[2].base + first * sizeof(float));
    else p2.item[0] = at<float>(a.view[2].base + first * sizeof(float));
    Pack<float, 4> p3;
    #pragma unroll
    for (int e = 0; e < 4; ++e) {
      if (!whole && e > 0) break;
      const float n0 = 0x1p+1f;
      const float n1 = p0.item[e];
      const float n2 = n0 * n1;
      const float n3 = 0x1.8p+1f;
      const float n4 = p1.item[e];
      const float n5 = n3 * n4;
      const float n6 = n2 + n5;
      const float n7 = p2.item[e];
      const float n8 = n7 * n7;
      const float n9 = n6 - n8;
      const float n10 = canon(n9);
      p3.item[e] = n10;
    }
    if (whole) *reinterpret_cast<Pack<float, 4>*>(a.view[3].base + first * sizeof(float)) = p3;
    else *reinterpret_cast<float*>(a.view[3].base + first * sizeof(float)) = p3.item[0];
  }
}
