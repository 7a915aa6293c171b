#include "on_device.h"

namespace ingot::oracle {

OnDevice::OnDevice(HostTensor& host, const device::Device& device, const device::Scope& scope)
    : host_(host), driver_(device.driver()), memory_(device, scope, host.memory().size()), tensor_(*host.tensor()) {
  driver_.must(driver_.cuMemcpyHtoDAsync_v2(memory_.at(), host.memory().data(), host.memory().size(), nullptr),
               "copying a tensor");
  tensor_.data = reinterpret_cast<void*>(memory_.at() + host.lead());
  tensor_.device = {runtime::device_cuda, device.ordinal()};
}

void OnDevice::fetch() {
  driver_.must(driver_.cuMemcpyDtoHAsync_v2(host_.memory().data(), memory_.at(), host_.memory().size(), nullptr),
               "copying a tensor");
  driver_.must(driver_.cuStreamSynchronize(nullptr), "copying a tensor");
}

}  // namespace ingot::oracle
