// A tensor as the host hands it in: the layout of DLPack's DLTensor (checked against the public header in capi).
#pragma once

#include <cstdint>
#include <span>

#include "ir/dtype.h"

namespace ingot::runtime {

struct Device {
  int32_t type;  // DLDeviceType
  int32_t id;
};
inline constexpr int32_t device_cpu = 1, device_cuda = 2, device_cuda_managed = 13;

struct DataType {
  uint8_t code;  // DLDataTypeCode
  uint8_t bits;
  uint16_t lanes;
};

struct Tensor {
  void* data;
  Device device;
  int32_t ndim;
  DataType dtype;
  int64_t* shape;
  int64_t* strides;  // in items; null: compact row-major
  uint64_t byte_offset;
};

// The first of the tensors that lies on a device; null if all are in host memory.
inline const Tensor* on_a_device(std::span<const Tensor* const> tensors) noexcept {
  for (const Tensor* t : tensors)
    if (t && t->device.type != device_cpu) return t;
  return nullptr;
}

// The dtype of a DLPack type, invalid if Ingot has none; and back.
ir::DType from_dlpack(DataType t) noexcept;
DataType to_dlpack(ir::DType t) noexcept;

}  // namespace ingot::runtime
