#include "base/loaded_path.h"

#include <dlfcn.h>
#include <link.h>

namespace ingot {

std::string loaded_path(void* handle) {
  link_map* map = nullptr;
  return dlinfo(handle, RTLD_DI_LINKMAP, static_cast<void*>(&map)) == 0 ? map->l_name : "";
}

}  // namespace ingot
