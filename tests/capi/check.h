/* The few lines of test framework that a C99 host's test needs: CASE, CHECK and a summary in doctest's form. */
#ifndef INGOT_TESTS_CHECK_H
#define INGOT_TESTS_CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ingot/ingot.h"

static int cases, failed_cases, failed_here;

#define CHECK(condition)                                                     \
  do {                                                                       \
    if (!(condition)) {                                                      \
      fprintf(stderr, "%s:%d: CHECK(%s)\n", __FILE__, __LINE__, #condition); \
      failed_here = 1;                                                       \
    }                                                                        \
  } while (0)

/* Succeeds; prints the message otherwise. */
#define OK(call)                                                                                        \
  do {                                                                                                  \
    ingot_status* status_ = (call);                                                                     \
    const char* text_;                                                                                  \
    ingot_status_message(status_, &text_, NULL);                                                        \
    if (status_) fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, text_), failed_here = 1; \
    ingot_status_release(status_);                                                                      \
  } while (0)

/* Fails with this code and a message that has `part` in it. */
#define FAILS(expected, part, call)                                                                               \
  do {                                                                                                            \
    ingot_status* status_ = (call);                                                                               \
    const char* text_;                                                                                            \
    ingot_status_message(status_, &text_, NULL);                                                                  \
    if (ingot_status_code(status_) != (expected) || !strstr(text_, part))                                         \
      fprintf(stderr, "%s:%d: %s: code %d, \"%s\"\n", __FILE__, __LINE__, #call, (int)ingot_status_code(status_), \
              text_),                                                                                             \
          failed_here = 1;                                                                                        \
    ingot_status_release(status_);                                                                                \
  } while (0)

static void run_case(const char* name, void (*body)(void)) {
  failed_here = 0;
  body();
  ++cases;
  if (failed_here) {
    ++failed_cases;
    fprintf(stderr, "FAILED: %s\n", name);
  }
}
#define CASE(function) run_case(#function, function)

static int summary(void) {
  printf("[doctest] test cases: %d | %d passed | %d failed | 0 skipped\n", cases, cases - failed_cases, failed_cases);
  return failed_cases != 0;
}

/* A tensor over compact memory. */
static inline ingot_tensor tensor_of(void* data, uint8_t code, uint8_t bits, int32_t rank, int64_t* shape) {
  ingot_tensor t = {NULL, {1, 0}, 0, {0, 0, 1}, NULL, NULL, 0};
  t.data = data;
  t.ndim = rank;
  t.dtype.code = code;
  t.dtype.bits = bits;
  t.shape = shape;
  return t;
}

#endif
