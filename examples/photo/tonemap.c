#include "tonemap.h"

#include <stdio.h>
#include <stdlib.h>

void check(ingot_status* status) {
  if (!status) return;
  const char* text;
  ingot_status_message(status, &text, NULL);
  fprintf(stderr, "photo: %s\n", text);
  ingot_status_release(status);
  exit(1);
}

static ingot_value op(ingot_graph* g, ingot_op code, const ingot_value* operands, size_t count, const ingot_attr* attrs,
                      size_t n_attrs) {
  ingot_value result;
  check(ingot_graph_op(g, code, operands, count, attrs, n_attrs, &result, 1));
  return result;
}

static ingot_value op1(ingot_graph* g, ingot_op code, ingot_value a) { return op(g, code, &a, 1, NULL, 0); }

static ingot_value op2(ingot_graph* g, ingot_op code, ingot_value a, ingot_value b) {
  const ingot_value operands[] = {a, b};
  return op(g, code, operands, 2, NULL, 0);
}

static ingot_value op3(ingot_graph* g, ingot_op code, ingot_value a, ingot_value b, ingot_value c) {
  const ingot_value operands[] = {a, b, c};
  return op(g, code, operands, 3, NULL, 0);
}

/* A tensor constant of `count` floats, a scalar for 0. The data is copied. */
static ingot_value floats(ingot_graph* g, float* data, int64_t count) {
  ingot_tensor t = {0};
  t.data = data;
  t.device.type = 1;
  t.ndim = count > 0;
  t.dtype.code = 2;
  t.dtype.bits = 32;
  t.dtype.lanes = 1;
  t.shape = &count;
  ingot_value v;
  check(ingot_graph_constant(g, &t, 0, NULL, NULL, &v));
  return v;
}

static ingot_value number(ingot_graph* g, float value) { return floats(g, &value, 0); }

static ingot_value cast(ingot_graph* g, ingot_value a, ingot_dtype type) {
  ingot_attr to = {.name = "to", .name_length = INGOT_NUL, .kind = INGOT_ATTR_DTYPE, .value = {.i64 = type}};
  return op(g, INGOT_OP_CAST, &a, 1, &to, 1);
}

static ingot_value clamp(ingot_graph* g, ingot_value a, float low, float high) {
  return op3(g, INGOT_OP_CLAMP, a, number(g, low), number(g, high));
}

/* IEC 61966-2-1: a short straight line near black, a power above. */
static ingot_value linear_of_srgb(ingot_graph* g, ingot_value s) {
  const ingot_value line = op2(g, INGOT_OP_DIV, s, number(g, 12.92f));
  const ingot_value base = op2(g, INGOT_OP_DIV, op2(g, INGOT_OP_ADD, s, number(g, 0.055f)), number(g, 1.055f));
  const ingot_value curve = op2(g, INGOT_OP_POW, base, number(g, 2.4f));
  return op3(g, INGOT_OP_SELECT, op2(g, INGOT_OP_LE, s, number(g, 0.04045f)), line, curve);
}

static ingot_value srgb_of_linear(ingot_graph* g, ingot_value x) {
  const ingot_value line = op2(g, INGOT_OP_MUL, x, number(g, 12.92f));
  const ingot_value power = op2(g, INGOT_OP_POW, x, number(g, 1.0f / 2.4f));
  const ingot_value curve = op2(g, INGOT_OP_SUB, op2(g, INGOT_OP_MUL, power, number(g, 1.055f)), number(g, 0.055f));
  return op3(g, INGOT_OP_SELECT, op2(g, INGOT_OP_LE, x, number(g, 0.0031308f)), line, curve);
}

/* Narkowicz's fit of the ACES film curve: x (2.51 x + 0.03) / (x (2.43 x + 0.59) + 0.14), within [0, 1]. */
static ingot_value filmic(ingot_graph* g, ingot_value x) {
  const ingot_value above =
      op2(g, INGOT_OP_MUL, x, op3(g, INGOT_OP_FMA, x, number(g, 2.51f), number(g, 0.03f)));
  const ingot_value slope = op3(g, INGOT_OP_FMA, x, number(g, 2.43f), number(g, 0.59f));
  const ingot_value below = op3(g, INGOT_OP_FMA, x, slope, number(g, 0.14f));
  return clamp(g, op2(g, INGOT_OP_DIV, above, below), 0.0f, 1.0f);
}

/* Away from the pixel's luma, or towards it. */
static ingot_value saturated(ingot_graph* g, ingot_value x, ingot_value saturation) {
  float rec709[] = {0.2126f, 0.7152f, 0.0722f};
  const ingot_value weighted = op2(g, INGOT_OP_MUL, x, floats(g, rec709, 3));
  const int64_t channels = 2;
  const ingot_attr attrs[] = {
      {.name = "axes", .name_length = INGOT_NUL, .kind = INGOT_ATTR_I64S, .value = {.i64s = &channels}, .count = 1},
      {.name = "keepdims", .name_length = INGOT_NUL, .kind = INGOT_ATTR_BOOL, .value = {.i64 = 1}}};
  const ingot_value luma = op(g, INGOT_OP_REDUCE_SUM, &weighted, 1, attrs, 2);
  return op3(g, INGOT_OP_FMA, op2(g, INGOT_OP_SUB, x, luma), saturation, luma);
}

/* From -1 to 1 along one axis, 0 in the middle: iota counts from one edge, its reverse from the other, and both know the size. */
static ingot_value centred(ingot_graph* g, const ingot_dim* shape, int64_t axis) {
  const ingot_attr attrs[] = {
      {.name = "shape", .name_length = INGOT_NUL, .kind = INGOT_ATTR_DIMS, .value = {.dims = shape}, .count = 3},
      {.name = "axis", .name_length = INGOT_NUL, .kind = INGOT_ATTR_I64, .value = {.i64 = axis}},
      {.name = "dtype", .name_length = INGOT_NUL, .kind = INGOT_ATTR_DTYPE, .value = {.i64 = INGOT_F32}}};
  const ingot_value i = op(g, INGOT_OP_IOTA, NULL, 0, attrs, 3);
  const ingot_attr axes = {
      .name = "axes", .name_length = INGOT_NUL, .kind = INGOT_ATTR_I64S, .value = {.i64s = &axis}, .count = 1};
  const ingot_value rest = op(g, INGOT_OP_REVERSE, &i, 1, &axes, 1);
  const ingot_value size = op2(g, INGOT_OP_ADD, op2(g, INGOT_OP_ADD, i, rest), number(g, 1.0f));
  return op2(g, INGOT_OP_DIV, op2(g, INGOT_OP_SUB, i, rest), size);
}

/* 1 in the middle, 1 - strength in the corners. */
static ingot_value vignette(ingot_graph* g, ingot_dim h, ingot_dim w, ingot_value strength) {
  ingot_dim one;
  check(ingot_graph_dim_expr(g, INGOT_DIM_CONSTANT, 1, NULL, 0, &one));
  const ingot_dim column[] = {h, one, one}, row[] = {one, w, one};
  const ingot_value y = centred(g, column, 0), x = centred(g, row, 1);
  const ingot_value squared = op2(g, INGOT_OP_ADD, op2(g, INGOT_OP_MUL, y, y), op2(g, INGOT_OP_MUL, x, x));
  const ingot_value fall = op2(g, INGOT_OP_MUL, op2(g, INGOT_OP_MUL, squared, number(g, 0.5f)), strength);
  return op2(g, INGOT_OP_SUB, number(g, 1.0f), fall);
}

ingot_graph* tonemap_build(ingot_context* context) {
  ingot_graph* g;
  check(ingot_graph_create(context, "tonemap", INGOT_NUL, &g));
  ingot_dim h, w, three;
  check(ingot_graph_dim_symbol(g, "H", INGOT_NUL, 1, INT64_MAX, &h));
  check(ingot_graph_dim_symbol(g, "W", INGOT_NUL, 1, INT64_MAX, &w));
  check(ingot_graph_dim_expr(g, INGOT_DIM_CONSTANT, 3, NULL, 0, &three));
  const ingot_dim picture[] = {h, w, three};
  ingot_value rgb, exposure, saturation, strength;
  check(ingot_graph_input(g, "rgb", INGOT_NUL, INGOT_U8, picture, 3, &rgb));
  check(ingot_graph_input(g, "exposure", INGOT_NUL, INGOT_F32, NULL, 0, &exposure));
  check(ingot_graph_input(g, "saturation", INGOT_NUL, INGOT_F32, NULL, 0, &saturation));
  check(ingot_graph_input(g, "vignette", INGOT_NUL, INGOT_F32, NULL, 0, &strength));

  ingot_value x = op2(g, INGOT_OP_DIV, cast(g, rgb, INGOT_F32), number(g, 255.0f));
  x = op2(g, INGOT_OP_MUL, linear_of_srgb(g, x), exposure);
  x = saturated(g, filmic(g, x), saturation);
  x = op2(g, INGOT_OP_MUL, x, vignette(g, h, w, strength));
  x = srgb_of_linear(g, clamp(g, x, 0.0f, 1.0f));
  x = op1(g, INGOT_OP_ROUND, op2(g, INGOT_OP_MUL, x, number(g, 255.0f)));
  check(ingot_graph_output(g, "mapped", INGOT_NUL, cast(g, clamp(g, x, 0.0f, 255.0f), INGOT_U8)));
  check(ingot_graph_finish(g));
  return g;
}
