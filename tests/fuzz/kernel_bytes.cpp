// Kernel bytes as a cache or a host may hand them over: decode() refuses them, or what it returns encodes to the very
// same bytes and everything downstream can rely on it.
#include <cstdlib>
#include <vector>

#include "base/error.h"
#include "loop/schedule.h"

using namespace ingot;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  loop::Kernel kernel;
  try {
    kernel = loop::decode(data, size);
  } catch (const Error& e) {
    if (e.code() != Code::invalid_argument) std::abort();
    return 0;
  }
  // Nothing may throw from here on: an exception that leaves this function is a finding.
  if (loop::encode(kernel) != std::vector<uint8_t>(data, data + size)) std::abort();
  const loop::Schedule schedule = loop::schedule(kernel);
  if (loop::to_text(kernel).empty() || loop::to_text(kernel, schedule).empty()) std::abort();
  return 0;
}
