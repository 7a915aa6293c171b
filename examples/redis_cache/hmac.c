#include "hmac.h"

#include <string.h>

enum { block_size = 64 };

typedef struct {
  uint32_t state[8];
  uint8_t block[block_size];
  uint64_t total;
} sha256;

static const uint32_t initial[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
static const uint32_t rounds[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate(uint32_t x, int n) { return x >> n | x << (32 - n); }

static void mix(sha256* s) {
  uint32_t w[64], v[8];
  for (int i = 0; i < 16; ++i) {
    const uint8_t* p = s->block + 4 * i;
    w[i] = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
  }
  for (int i = 16; i < 64; ++i) {
    const uint32_t a = w[i - 15], b = w[i - 2];
    w[i] = w[i - 16] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + w[i - 7] + (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
  }
  memcpy(v, s->state, sizeof v);
  for (int i = 0; i < 64; ++i) {
    const uint32_t choice = (v[4] & v[5]) ^ (~v[4] & v[6]), most = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
    const uint32_t t = v[7] + (rotate(v[4], 6) ^ rotate(v[4], 11) ^ rotate(v[4], 25)) + choice + rounds[i] + w[i];
    const uint32_t u = (rotate(v[0], 2) ^ rotate(v[0], 13) ^ rotate(v[0], 22)) + most;
    memmove(v + 1, v, 7 * sizeof *v);
    v[4] += t;
    v[0] = t + u;
  }
  for (int i = 0; i < 8; ++i) s->state[i] += v[i];
}

static void start(sha256* s) {
  memcpy(s->state, initial, sizeof initial);
  s->total = 0;
}

static void add(sha256* s, const void* data, size_t size) {
  const uint8_t* p = data;
  for (; size > 0; --size) {
    s->block[s->total++ % block_size] = *p++;
    if (s->total % block_size == 0) mix(s);
  }
}

static void finish(sha256* s, uint8_t out[hmac_size]) {
  const uint64_t bits = s->total * 8;
  const uint8_t one = 0x80, zero = 0;
  add(s, &one, 1);
  while (s->total % block_size != block_size - 8) add(s, &zero, 1);
  for (int i = 7; i >= 0; --i) {
    const uint8_t byte = (uint8_t)(bits >> 8 * i);
    add(s, &byte, 1);
  }
  for (int i = 0; i < hmac_size; ++i) out[i] = (uint8_t)(s->state[i / 4] >> (24 - 8 * (i % 4)));
}

void hmac_sha256(const void* key, size_t key_size, const void* a, size_t a_size, const void* b, size_t b_size,
                 uint8_t out[hmac_size]) {
  uint8_t inner[block_size] = {0}, outer[block_size];
  sha256 s;
  start(&s);
  if (key_size > block_size) {
    add(&s, key, key_size);
    finish(&s, inner);
    start(&s);
  } else if (key_size > 0) {
    memcpy(inner, key, key_size);
  }
  for (int i = 0; i < block_size; ++i) {
    outer[i] = inner[i] ^ 0x5c;
    inner[i] ^= 0x36;
  }
  add(&s, inner, sizeof inner);
  add(&s, a, a_size);
  add(&s, b, b_size);
  finish(&s, out);
  start(&s);
  add(&s, outer, sizeof outer);
  add(&s, out, hmac_size);
  finish(&s, out);
}

int hmac_equal(const uint8_t a[hmac_size], const uint8_t b[hmac_size]) {
  uint8_t differ = 0;
  for (int i = 0; i < hmac_size; ++i) differ |= a[i] ^ b[i];
  return differ == 0;
}
