// Writes docs/ops.md from the op table. With --check it writes nothing and fails if the page is not what would be
// written.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string_view>

#include "ir/op_json.h"

int main(int argc, char** argv) {
  const bool check = argc == 3 && std::string_view(argv[1]) == "--check";
  if (argc != 2 && !check) {
    std::fprintf(stderr, "usage: %s [--check] PAGE\n", argv[0]);
    return 2;
  }
  const std::string page = ingot::ir::op_table_markdown();
  if (!check)
    return std::ofstream(argv[1], std::ios::binary).write(page.data(), static_cast<std::streamsize>(page.size())) ? 0
                                                                                                                  : 1;
  std::ifstream in(argv[2], std::ios::binary);
  if (std::string(std::istreambuf_iterator<char>(in), {}) == page) return 0;
  std::fprintf(stderr, "%s is stale: run this program with its path\n", argv[2]);
  return 1;
}
