// A tensor of the tests in the memory of a CUDA device: all the bytes around it, too, so that what a kernel writes
// beside it is seen.
#pragma once

#include "device/device.h"
#include "host.h"

namespace ingot::oracle {

class OnDevice {
 public:
  // Copies the host tensor, which has to outlive it, to the device, in whose context (Scope) all of this happens.
  OnDevice(HostTensor& host, const device::Device& device, const device::Scope& scope);
  const runtime::Tensor* tensor() const { return &tensor_; }
  // Copies back what lies there now.
  void fetch();

 private:
  HostTensor& host_;
  const device::Driver& driver_;
  device::Memory memory_;
  runtime::Tensor tensor_;
};

}  // namespace ingot::oracle
