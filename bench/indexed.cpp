// Embedding lookups, table[index, :], beside a loop of memcpy written by hand: rows in and out of cache.
//
// usage: indexed [--json FILE]
#include <cstring>

#include "measure.h"

using namespace bench;

namespace {

constexpr char text[] = R"(ingot 1.0
graph @embedding(%table: f32[V, D], %index: i64[N]) -> (f32[N, D]) {
  %0 = gather %table, %index {axis = 0}
  return %0
}
)";

void compare(ingot_executable* e, int64_t vocabulary, int64_t width, int64_t lookups, Json& json) {
  Array table(vocabulary * width), mine(lookups * width), by_hand(lookups * width);
  std::vector<int64_t> index(static_cast<size_t>(lookups));
  for (size_t i = 0; i < index.size(); ++i) index[i] = static_cast<int64_t>(i * 0x9e3779b97f4a7c15u >> 20) % vocabulary;
  int64_t rows[] = {vocabulary, width}, results[] = {lookups, width};
  ingot_tensor t = table.tensor, out = mine.tensor;
  t.ndim = out.ndim = 2;
  t.shape = rows;
  out.shape = results;
  const ingot_tensor i = {index.data(), {1, 0}, 1, {0, 64, 1}, &lookups, nullptr, 0};
  const ingot_tensor *in[] = {&t, &i}, *outs[] = {&out};
  const auto bytes = static_cast<size_t>(width) * 4;
  const auto copy = [&] {
    for (int64_t k = 0; k < lookups; ++k)
      std::memcpy(by_hand.data + k * width, table.data + index[static_cast<size_t>(k)] * width, bytes);
  };
  const int calls = static_cast<int>(std::max<int64_t>(1, (int64_t{1} << 21) / (lookups * width)));
  const auto s = alternate({[&] { check(ingot_run(e, in, 2, outs, 1, nullptr)); }, copy}, 31, calls);
  if (std::memcmp(mine.data, by_hand.data, static_cast<size_t>(lookups) * bytes) != 0) {
    std::fprintf(stderr, "indexed: the results differ\n");
    std::exit(1);
  }
  char name[80];
  std::snprintf(name, sizeof name, "%lld rows of %lld from %lld", static_cast<long long>(lookups),
                static_cast<long long>(width), static_cast<long long>(vocabulary));
  json.add((std::string(name) + " ingot").c_str(), s[0]);
  json.add((std::string(name) + " memcpy").c_str(), s[1]);
  const double each = 1e9 / static_cast<double>(lookups * width);
  std::printf("%-32s ingot %.3f ns an element, memcpy %.3f: %.2f times its time\n", name, median(s[0]) * each,
              median(s[1]) * each, median(s[0]) / median(s[1]));
}

}  // namespace

int main(int argc, char** argv) {
  pin();
  Json json;
  ingot_context* c = context();
  ingot_executable* e = compile(c, text);
  for (const int64_t width : {64, 256, 1024}) {
    compare(e, 512, width, 65536 / width, json);
    compare(e, (int64_t{1} << 26) / width, width, (int64_t{1} << 23) / width, json);
  }
  ingot_executable_release(e);
  ingot_context_release(c);
  json.write(json_path(argc, argv));
  return 0;
}
