#include "runtime/device_copy.h"

#include <algorithm>

#include "loop/builder.h"

namespace ingot::runtime {

loop::Kernel copy_kernel(uint32_t rank, size_t item) {
  const ir::DType type = item == 1   ? ir::DType::u8
                         : item == 2 ? ir::DType::u16
                         : item == 4 ? ir::DType::u32
                                     : ir::DType::u64;
  const auto rows = static_cast<uint8_t>(std::max<uint32_t>(rank, 1));
  loop::Builder b(rows, 0);
  const auto view = [&](loop::ViewKind kind) {
    return b.add_view({kind, type, b.add_tensor(), (loop::AxisSet{1} << rows) - 1, {}, 0});
  };
  const loop::NodeId value = b.load(view(loop::ViewKind::load));
  b.store(view(loop::ViewKind::store), value);
  return b.finish();
}

CopyLaunch::CopyLaunch(const Place& from, const Place& to) {
  sizes[0] = 1;
  std::copy_n(from.extent, from.rank, sizes);
  views[0].base = from.data;
  views[1].base = to.data;
  std::copy_n(from.stride, from.rank, views[0].stride);
  std::copy_n(to.stride, to.rank, views[1].stride);
}

}  // namespace ingot::runtime
