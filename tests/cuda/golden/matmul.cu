struct Args {
  i64 size[3];
  struct {
    char* base;
    i64 value;
    i64 stride[3];
  } view[4];
  char* scratch;
};

// One thread computes one element: chains of 256 fused multiply-adds, added left to right.
extern "C" __global__ void __launch_bounds__(256, 2) ingot_kernel(const Args a) {
  const i64 total = a.size[0] * a.size[1], n = a.size[2];
  for (i64 r = blockIdx.x * 256ll + threadIdx.x; r < total; r += gridDim.x * 256ll) {
    i64 rest_r = r;
    const i64 i1 = rest_r % a.size[1];
    rest_r /= a.size[1];
    const i64 i0 = rest_r;
    const float n3 = at<float>(a.view[2].base + i1 * a.view[2].stride[1]);
    const float n5 = 0x0p+0f;
    float n2 = -(float)0;
    for (i64 first = 0; first < n; first += 256) {
      float p = -(float)0;
      const i64 last = first + 256 < n ? first + 256 : n;
      for (i64 k = first; k < last; ++k) {
        const i64 i2 = k;
        const float n0 = at<float>(a.view[0].base + i0 * a.view[0].stride[0] + i2 * a.view[0].stride[2]);
        const float n1 = at<float>(a.view[1].base + i1 * a.view[1].stride[1] + i2 * a.view[1].stride[2]);
        p = __fmaf_rn(n0, n1, p);
      }
      n2 = n2 + p;
    }
    if (n == 0) n2 = 0;
    const float n4 = n2 + n3;
    const float n6 = fmax2(n4, n5);
    const float n7 = canon(n6);
    *reinterpret_cast<float*>(a.view[3].base + i0 * a.view[3].stride[0] + i1 * a.view[3].stride[1]) = n7;
  }
}

// One block computes a tile of 128 x 64 elements, a thread 8 x 4 of them.
extern "C" __global__ void __launch_bounds__(256, 2) ingot_kernel_tile(const Args a) {
  __align__(16) __shared__ float left[16][132], right[16][68];
  const i64 n = a.size[2], high = (a.size[0] + 127) / 128, wide = (a.size[1] + 63) / 64;
  const int row = threadIdx.x / 16 * 8, col = threadIdx.x % 16 * 4;
  for (i64 r = blockIdx.x; r < (i64)1 * high * wide; r += gridDim.x) {
    const i64 top = r / wide % high * 128, start = r % wide * 64, batch = r / wide / high;
    float sum[32], p[32];
    #pragma unroll
    for (int e = 0; e < 32; ++e) sum[e] = p[e] = -(float)0;
    for (i64 first = 0; first < n; first += 16) {
      // The arguments, read along the tile's side or along k, where neighbours in memory are.
      {
        const bool along = a.view[0].stride[0] < a.view[0].stride[2];
        #pragma unroll 4  // all of them at once take more registers than there are
        for (int e = 0; e < 8; ++e) {
          const int slot = threadIdx.x + 256 * e, side = along ? slot % 128 : slot / 16;
          const int d = along ? slot / 128 : slot % 16;
          const i64 i0 = top + side, k = first + d;
          float v = -0.0f;
          if (i0 < a.size[0] && k < n) {
            const i64 i2 = k;
            const float n0 = at<float>(a.view[0].base + i0 * a.view[0].stride[0] + i2 * a.view[0].stride[2]);
            v = n0;
          }
          left[d][side] = v;
        }
      }
      {
        const bool along = a.view[1].stride[1] < a.view[1].stride[2];
        #pragma unroll 2  // all of them at once take more registers than there are
        for (int e = 0; e < 4; ++e) {
          const int slot = threadIdx.x + 256 * e, side = along ? slot % 64 : slot / 16;
          const int d = along ? slot / 64 : slot % 16;
          const i64 i1 = start + side, k = first + d;
          float v = 0.0f;
          if (i1 < a.size[1] && k < n) {
            const i64 i2 = k;
            const float n1 = at<float>(a.view[1].base + i1 * a.view[1].stride[1] + i2 * a.view[1].stride[2]);
            v = n1;
          }
          right[d][side] = v;
        }
      }
      __syncthreads();
      #pragma unroll 4
      for (int d = 0; d < 16; ++d) {
        float x[8], y[4];
        #pragma unroll
        for (int e = 0; e < 8; ++e) x[e] = left[d][row + e];
        #pragma unroll
        for (int e = 0; e < 4; ++e) y[e] = right[d][col + e];
        #pragma unroll
        for (int e = 0; e < 32; ++e) p[e] = __fmaf_rn(x[e / 4], y[e % 4], p[e]);
      }
      if (first % 256 == 240 || first + 16 >= n) {
        #pragma unroll
        for (int e = 0; e < 32; ++e) sum[e] = sum[e] + p[e], p[e] = -(float)0;
      }
      __syncthreads();
    }
    // The elements.
    #pragma unroll
    for (int e = 0; e < 32; ++e) {
      const i64 i0 = top + row + e / 4, i1 = start + col + e % 4;
      if (i0 >= a.size[0] || i1 >= a.size[1]) continue;
      const float n2 = n == 0 ? (float)0 : sum[e];
      const float n3 = at<float>(a.view[2].base + i1 * a.view[2].stride[1]);
      const float n4 = n2 + n3;
      const float n5 = 0x0p+0f;
      const float n6 = fmax2(n4, n5);
      const float n7 = canon(n6);
      *reinterpret_cast<float*>(a.view[3].base + i0 * a.view[3].stride[0] + i1 * a.view[3].stride[1]) = n7;
    }
  }
}
