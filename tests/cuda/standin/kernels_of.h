#pragma once

#include <string>
#include <vector>

namespace standin {

struct KernelText {
  std::string name;
  std::string scope;   // "outer::inner::", or nothing
  std::string bounds;  // the first argument of __launch_bounds__, or 0
};

// The kernels a CUDA text defines, found by its __global__.
std::vector<KernelText> kernels_of(const std::string& text);

// The names it declares as extern __shared__.
std::vector<std::string> dynamic_shared_of(const std::string& text);

}  // namespace standin
