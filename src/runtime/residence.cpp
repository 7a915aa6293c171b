#include "runtime/residence.h"

#include <exception>

#include "base/error.h"
#include "runtime/workspace.h"

namespace ingot::runtime {

namespace {

// A stream that neither waits for the default one nor lets it wait.
class OwnStream {
 public:
  explicit OwnStream(const device::Driver& driver) : driver_(driver) {
    constexpr unsigned non_blocking = 1;
    driver_.must(driver_.cuStreamCreate(&handle_, non_blocking), "making a stream");
  }
  ~OwnStream() { driver_.cuStreamDestroy_v2(handle_); }
  OwnStream(const OwnStream&) = delete;
  OwnStream& operator=(const OwnStream&) = delete;
  device::StreamHandle handle() const { return handle_; }

 private:
  const device::Driver& driver_;
  device::StreamHandle handle_ = nullptr;
};

}  // namespace

const Residence* Executor::find_residence(const device::Scope& scope) const noexcept {
  const Residence* r = residences_.load(std::memory_order_acquire);
  while (r && r->id != scope.id()) r = r->older.get();
  return r;
}

const Residence& Executor::residence(const DeviceCode& code, const device::Scope& scope,
                                     const RunOptions& options) const {
  if (const Residence* known = find_residence(scope)) return *known;
  if (code.device.driver().is_captured(options.stream))
    fail(Code::not_ready,
         "the stream is being captured, and nothing has been loaded into its context yet: run or "
         "prepare once before");
  settle(code, scope);
  return *find_residence(scope);
}

void Executor::settle(const DeviceCode& code, const device::Scope& scope) const {
  const std::lock_guard lock(settling_);
  if (find_residence(scope)) return;
  auto fresh = std::make_unique<Residence>();
  fresh->id = scope.id();
  const device::Driver& driver = code.device.driver();
  for (const device::Kernel* k : code.of_step) fresh->functions.push_back(k->load(scope));
  fresh->copier = code.copier.load(scope);
  size_t bytes = device_aligned(fault_bytes * plan_.steps.size());
  std::vector<size_t> at, sizes;
  for (const ConstantSpec& c : plan_.constants) {
    size_t size = ir::item_size(c.dtype);
    for (const ir::DimId d : c.shape) size *= static_cast<size_t>(plan_.dims.as_constant(d).value());
    at.push_back(bytes);
    sizes.push_back(size);
    bytes += device_aligned(size);
  }
  fresh->block = std::make_unique<device::Memory>(code.device, scope, std::max<size_t>(bytes, 1));
  // On a stream that waits for no other, and is waited for: what is published here is there for every stream.
  const OwnStream stream(driver);
  driver.must(driver.cuMemsetD8Async(fresh->block->at(), 0, fault_bytes * plan_.steps.size(), stream.handle()),
              "clearing memory");
  for (size_t i = 0; i < at.size(); ++i) {
    fresh->constants.push_back(fresh->block->at() + at[i]);
    if (sizes[i] > 0)
      driver.must(driver.cuMemcpyHtoDAsync_v2(fresh->constants[i], plan_.constants[i].data, sizes[i], stream.handle()),
                  "copying a constant");
  }
  driver.must(driver.cuStreamSynchronize(stream.handle()), "copying constants");
  fresh->older.reset(residences_.load(std::memory_order_relaxed));
  residences_.store(fresh.release(), std::memory_order_release);
}

void Executor::take_faults(const device::Driver& driver, const device::Scope& scope,
                           device::StreamHandle stream) const {
  bool any = false;
  for (const StepSpec& s : plan_.steps) any = any || !s.checks.empty();
  if (!any) return;
  const Residence* const r = find_residence(scope);
  if (!r) return;
  std::vector<jit::Fault> faults(plan_.steps.size());
  driver.must(driver.cuMemcpyDtoHAsync_v2(faults.data(), r->block->at(), fault_bytes * faults.size(), stream),
              "reading faults");
  driver.must(driver.cuStreamSynchronize(stream), "reading faults");
  // The message first: where there is no memory for it, the fault stays to be told.
  std::exception_ptr first;
  for (size_t s = 0; s < faults.size() && !first; ++s) {
    if (faults[s].check == 0) continue;
    try {
      fail_for(faults[s], plan_.steps[s]);
    } catch (const Error&) {
      first = std::current_exception();
    }
  }
  if (!first) return;
  for (size_t s = 0; s < faults.size(); ++s)
    if (faults[s].check != 0)
      driver.must(driver.cuMemsetD8Async(r->block->at() + s * fault_bytes, 0, fault_bytes, stream), "clearing faults");
  driver.must(driver.cuStreamSynchronize(stream), "clearing faults");
  std::rethrow_exception(first);
}

}  // namespace ingot::runtime
