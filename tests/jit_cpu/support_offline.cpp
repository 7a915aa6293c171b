// The support of the tests where the compiler module cannot run: artifacts recorded by the tests' own run on the build
// machine stand in for it. Linked in place of the module by the AArch64 build of the tests (run_aarch64.py).
//
// Random kernels are not the same on two architectures (the order in which arguments are evaluated), so with
// INGOT_TEST_LIST set a kernel without an artifact is left as NAME.kernel to be compiled.
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "base/error.h"
#include "base/hash.h"
#include "support.h"

namespace ingot::jit {

const Module& test_module() { bug("there is no compiler module on this machine"); }

std::vector<uint8_t> compile(const loop::Kernel& kernel, const std::string& target) {
  const char* recorded = std::getenv("INGOT_TEST_ARTIFACTS");
  if (!recorded) bug("INGOT_TEST_ARTIFACTS is not set");
  const std::vector<uint8_t> key = loop::encode(kernel);
  const std::string path = cat(recorded, "/", hash128(key).hex());
  std::ifstream in(path, std::ios::binary);
  if (!in && std::getenv("INGOT_TEST_LIST")) {
    std::ofstream(path + ".kernel", std::ios::binary)
        .write(reinterpret_cast<const char*>(key.data()), static_cast<std::streamsize>(key.size()));
    throw NotRecorded();
  }
  if (!in) bug("no recorded artifact ", path);
  const std::vector<uint8_t> bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (decode_artifact(bytes).target != target) bug(path, " is not for ", target);
  return bytes;
}

}  // namespace ingot::jit
