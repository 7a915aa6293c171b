// Graph text as a host or a file may hand it over: parse() refuses it with an Error, or what it returns prints to a
// text that reads back and prints the same.
#include <cstdint>
#include <cstdlib>

#include "base/error.h"
#include "ir/text.h"

using namespace ingot;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string printed;
  try {
    printed = ir::print(ir::parse({reinterpret_cast<const char*>(data), size}));
  } catch (const Error& e) {
    if (e.code() != Code::invalid_argument && e.code() != Code::unimplemented) std::abort();
    return 0;
  }
  // Nothing may throw from here on: an exception that leaves this function is a finding.
  if (ir::print(ir::parse(printed)) != printed) std::abort();
  return 0;
}
