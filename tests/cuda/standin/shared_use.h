#pragma once

#include <string>
#include <vector>

namespace standin {

// Assembly that says for each kernel how many bytes of static shared memory it and what it calls name: a constant
// standin_static_NAME. `assembly` is the compiler's.
std::string shared_uses(const std::string& assembly, const std::vector<std::string>& kernels);

}  // namespace standin
