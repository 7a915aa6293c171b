// Writes the bytes of the sample kernels, the seeds of the fuzz target kernel_bytes. With --check it writes nothing and
// fails if a seed is not what would be written.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>

#include "samples.h"

using namespace ingot::loop;

int main(int argc, char** argv) {
  const bool check = argc == 3 && std::string_view(argv[1]) == "--check";
  if (argc != 2 && !check) {
    std::fprintf(stderr, "usage: %s [--check] FOLDER\n", argv[0]);
    return 2;
  }
  int stale = 0;
  for (const auto& sample : samples::all()) {
    const std::filesystem::path path = std::filesystem::path(argv[argc - 1]) / sample.name;
    const std::vector<uint8_t> bytes = encode(sample.kernel);
    if (!check) {
      std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(bytes.data()),
                                                  static_cast<std::streamsize>(bytes.size()));
      continue;
    }
    std::ifstream in(path, std::ios::binary);
    const std::vector<char> seed{std::istreambuf_iterator<char>(in), {}};
    if (std::equal(seed.begin(), seed.end(), bytes.begin(), bytes.end(),
                   [](char a, uint8_t b) { return static_cast<uint8_t>(a) == b; }))
      continue;
    std::fprintf(stderr, "%s is stale: run this program with its folder\n", path.c_str());
    ++stale;
  }
  return stale == 0 ? 0 : 1;
}
