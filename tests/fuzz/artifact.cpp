// Artifact bytes as a damaged or foreign cache may hold them: refused, or every offset lies within the image. The
// checksum is put right first, or nothing behind it would be reached. The code is never run.
#include <cstdlib>
#include <vector>

#include "base/error.h"
#include "jit/image/image.h"

using namespace ingot;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<uint8_t> bytes(data, data + size);
  if (bytes.size() >= 24) jit::seal_artifact(bytes);
  try {
    const jit::Artifact a = jit::decode_artifact(bytes);
    for (const jit::ArtifactEntry& e : a.entries)
      if (e.offset >= a.image.size()) std::abort();
    for (const jit::ArtifactSymbol& s : a.symbols)
      if (s.offset > a.image.size() || s.size > a.image.size() - s.offset) std::abort();
    jit::load(bytes);
  } catch (const Error& e) {
    if (e.code() != Code::invalid_argument && e.code() != Code::failed_precondition) std::abort();
  }
  return 0;
}
