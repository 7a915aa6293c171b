// The support of the tests that needs the compiler module.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>

#include "base/error.h"
#include "base/hash.h"
#include "support.h"

namespace ingot::jit {

const Module& test_module() {
  // Kept past exit(), which a test calls while threads of its own are in here: a static handle's destructor would take
  // the module from under them.
  static const std::shared_ptr<const Module>* const module = [] {
    const std::string path = find_module(INGOT_TEST_MODULE_DIR);
    return std::make_unique<std::shared_ptr<const Module>>(Module::open(path, module_build_id(path))).release();
  }();
  return **module;
}

namespace {
// With INGOT_TEST_ARTIFACTS set, every kernel is compiled for AArch64 too and left there for support_offline.cpp.
void record(const std::vector<uint8_t>& kernel) {
  const char* directory = std::getenv("INGOT_TEST_ARTIFACTS");
  if (!directory) return;
  const std::vector<uint8_t> bytes = test_module().compile(kernel, "aarch64");
  std::ofstream out(cat(directory, "/", hash128(kernel).hex()), std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!out.flush()) bug("cannot record to ", directory);
}
}  // namespace

TEST_CASE("record what the AArch64 build of these tests has listed" * doctest::skip()) {
  const char* directory = std::getenv("INGOT_TEST_ARTIFACTS");
  REQUIRE(directory);
  bool found = false;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (entry.path().extension() != ".kernel") continue;
    std::ifstream in(entry.path(), std::ios::binary);
    record({std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()});
    found = true;
  }
  if (!found) bug("no kernels are listed in ", directory);
}

std::vector<uint8_t> compile(const loop::Kernel& kernel, const std::string& target) {
  const std::vector<uint8_t> bytes = test_module().compile(loop::encode(kernel), target);
  const Artifact artifact = decode_artifact(bytes);
  if (artifact.target != target) bug("an artifact for ", artifact.target, " in place of ", target);
  record(loop::encode(kernel));
  return bytes;
}

}  // namespace ingot::jit
