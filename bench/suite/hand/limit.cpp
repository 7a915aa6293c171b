// The memory limit: reads every byte of the inputs and writes every byte of the outputs, and nothing else.
#include <algorithm>
#include <utility>
#include <vector>

#include "hand.h"
#include "vec.h"

namespace {

constexpr int64_t line = 64;

struct Span {
  char* data;
  int64_t bytes;
};
using Spans = std::vector<Span>;

// What was read, kept from being optimised away.
struct Kept {
  __m256i bits[2] = {};
  void line_of(const char* p) {
    for (int i = 0; i < 2; ++i)
      bits[i] = _mm256_or_si256(bits[i], _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + 32 * i)));
  }
  ~Kept() {
    const __m256i all = _mm256_or_si256(bits[0], bits[1]);
    asm volatile("" ::"x"(all));
  }
};

template <bool stream>
void write_line(char* p) {
  for (int i = 0; i < 2; ++i) {
    if constexpr (stream) _mm256_stream_si256(reinterpret_cast<__m256i*>(p + 32 * i), _mm256_setzero_si256());
    else _mm256_storeu_si256(reinterpret_cast<__m256i*>(p + 32 * i), _mm256_setzero_si256());
  }
}

// `reads` and `writes` arrays of one length, a line of each in turn.
template <bool stream, int reads, int writes>
void together(const Spans& in, const Spans& out) {
  Kept kept;
  const char* from[reads];
  char* to[writes + 1];
  for (int k = 0; k < reads; ++k) from[k] = in[static_cast<size_t>(k)].data;
  for (int k = 0; k < writes; ++k) to[k] = out[static_cast<size_t>(k)].data;
  const int64_t bytes = in[0].bytes / line * line;
  for (int64_t i = 0; i < bytes; i += line) {
    for (int k = 0; k < reads; ++k) kept.line_of(from[k] + i);
    for (int k = 0; k < writes; ++k) write_line<stream>(to[k] + i);
  }
}

// Arrays of different lengths advance together, the longest by 4 KB at a time.
template <bool stream>
void apart(const Spans& in, const Spans& out) {
  int64_t longest = 0;
  for (const Spans* spans : {&in, &out})
    for (const Span& s : *spans) longest = std::max(longest, s.bytes);
  const int64_t steps = std::max<int64_t>(1, longest / 4096);
  Kept kept;
  std::vector<const char*> from;
  std::vector<char*> to;
  for (const Span& s : in) from.push_back(s.data);
  for (const Span& s : out) to.push_back(s.data);
  for (int64_t i = 1; i <= steps; ++i) {
    const auto end = [&](const Span& s) { return s.data + s.bytes / line * i / steps * line; };
    for (size_t k = 0; k < in.size(); ++k) {
      const char* const last = end(in[k]);
      for (; from[k] < last; from[k] += line) kept.line_of(from[k]);
    }
    for (size_t k = 0; k < out.size(); ++k) {
      char* const last = end(out[k]);
      for (; to[k] < last; to[k] += line) write_line<stream>(to[k]);
    }
  }
}

template <bool stream>
void sweep(const Spans& in, const Spans& out) {
  const bool equal = std::all_of(in.begin(), in.end(), [&](const Span& s) { return s.bytes == in[0].bytes; }) &&
                     std::all_of(out.begin(), out.end(), [&](const Span& s) { return s.bytes == in[0].bytes; });
  const auto shape = std::pair(in.size(), out.size());
  if (equal && shape == std::pair<size_t, size_t>(1, 0)) return together<stream, 1, 0>(in, out);
  if (equal && shape == std::pair<size_t, size_t>(1, 1)) return together<stream, 1, 1>(in, out);
  if (equal && shape == std::pair<size_t, size_t>(2, 0)) return together<stream, 2, 0>(in, out);
  if (equal && shape == std::pair<size_t, size_t>(2, 1)) return together<stream, 2, 1>(in, out);
  if (equal && shape == std::pair<size_t, size_t>(3, 1)) return together<stream, 3, 1>(in, out);
  if (equal && shape == std::pair<size_t, size_t>(3, 2)) return together<stream, 3, 2>(in, out);
  if (equal && shape == std::pair<size_t, size_t>(4, 3)) return together<stream, 4, 3>(in, out);
  apart<stream>(in, out);
}

// Arrays far shorter than the longest, biases and results of reductions: a moment before the others.
template <bool stream>
void limit_of(const Spans& all_in, const Spans& all_out) {
  int64_t longest = 0;
  for (const Spans* spans : {&all_in, &all_out})
    for (const Span& s : *spans) longest = std::max(longest, s.bytes);
  Spans in, out;
  Kept kept;
  for (const Span& s : all_in) {
    if (s.bytes * 16 > longest) in.push_back(s);
    else
      for (int64_t i = 0; i + line <= s.bytes; i += line) kept.line_of(s.data + i);
  }
  for (const Span& s : all_out) {
    if (s.bytes * 16 > longest) out.push_back(s);
    else
      for (int64_t i = 0; i + line <= s.bytes; i += line) write_line<false>(s.data + i);
  }
  sweep<stream>(in, out);
}

// extents: {groups, inputs of each, outputs of each, bytes of all inputs, then of all outputs}. Groups follow one after
// the other: array k of group g is number k * groups + g.
template <bool stream>
void limit(const Arrays& a) {
  const int64_t groups = a.extents[0], inputs = a.extents[1] * groups, outputs = a.extents[2] * groups;
  const int64_t* bytes = a.extents + 3;
  Spans in, out;
  for (int64_t g = 0; g < groups; ++g) {
    in.clear();
    out.clear();
    for (int64_t k = g; k < inputs; k += groups)
      in.push_back({static_cast<char*>(const_cast<void*>(a.in[k])), bytes[k]});
    for (int64_t k = g; k < outputs; k += groups) out.push_back({static_cast<char*>(a.out[k]), bytes[inputs + k]});
    limit_of<stream>(in, out);
  }
}

}  // namespace

HAND_ENTRY(memory_limit, limit)
