#include "ingot/ingot.h"

namespace {
constexpr ingot_proc_table table = {
    sizeof(ingot_proc_table),
#define INGOT_ENTRY(minor, ret, name, params) name,
#include "ingot/entries.def"
#undef INGOT_ENTRY
};
}  // namespace

extern "C" const ingot_proc_table* ingot_get_proc_table(int32_t major) {
  return major == INGOT_VERSION_MAJOR ? &table : nullptr;
}
