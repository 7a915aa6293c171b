#pragma once

#include <string>
#include <vector>

namespace standin {

struct Compiled {
  std::vector<char> cubin;  // empty when the text does not compile
  std::string log;
};

struct CompileOptions {
  unsigned target = 0;
  bool contract = true;  // --fmad
  std::string standard = "c++17";
  std::vector<std::string> defines;
};

// The text with the host's compiler, every access of it a call.
Compiled compile(const std::string& text, const std::string& name, const CompileOptions& options);

}  // namespace standin
