#include <iterator>

#include "arena.h"
#include "driver.h"

using standin::arena;
using standin::driver;
using standin::setting;

namespace standin {

namespace {

// The current contexts of a thread. Without a destructor: it may be asked when the thread's others have run.
class Stack {
 public:
  bool empty() const { return count_ == 0; }
  StandinContext* back() const { return at_[count_ - 1]; }
  void push_back(StandinContext* c) {
    if (count_ < std::size(at_)) at_[count_++] = c;
  }
  void pop_back() { --count_; }
  void clear() { count_ = 0; }

 private:
  StandinContext* at_[64];
  size_t count_;
};

Stack& stack() {
  static thread_local Stack one;
  return one;
}

StandinContext* make_context(CUdevice device, bool primary) {
  auto made = std::make_shared<StandinContext>();
  StandinContext* const out = made.get();
  out->device = device;
  out->id = driver().next_id++;
  out->primary = primary;
  out->legacy = make_stream(out, true, true);
  driver().contexts.emplace(out, std::move(made));
  return out;
}

template <class T>
void drop(std::unordered_map<const void*, std::shared_ptr<T>>& all, const StandinContext* context) {
  std::erase_if(all, [&](const auto& held) { return held.second->context == context; });
}

void destroy(StandinContext* context) {
  if (!context->sticky) run_all(*context);
  for (auto& s : context->streams) s->queue.clear();
  Driver& d = driver();
  std::erase_if(d.functions, [&](const auto& held) { return held.second->module->context == context; });
  drop(d.modules, context);
  drop(d.streams, context);
  drop(d.events, context);
  drop(d.execs, context);
  arena().release_all_of(context);
  std::erase_if(d.primaries, [&](const StandinContext* c) { return c == context; });
  d.contexts.erase(context);
}

StandinContext* primary_of(CUdevice device) {
  for (StandinContext* c : driver().primaries)
    if (c->device == device) return c;
  return nullptr;
}

bool is_device(CUdevice d) { return d >= 0 && d < setting("STANDIN_DEVICES", 1); }

}  // namespace

StandinContext* current_context() {
  return stack().empty() || !find(driver().contexts, stack().back()) ? nullptr : stack().back();
}

void forget_contexts_of_thread() { stack().clear(); }

}  // namespace standin

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  STANDIN_ENTRY(cuDevicePrimaryCtxRetain);
  if (!context) return CUDA_ERROR_INVALID_VALUE;
  if (!standin::is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  StandinContext* primary = standin::primary_of(device);
  if (!primary) {
    primary = standin::make_context(device, true);
    driver().primaries.push_back(primary);
  }
  ++primary->holders;
  *context = primary;
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  STANDIN_ENTRY(cuDevicePrimaryCtxRelease_v2);
  StandinContext* const primary = standin::primary_of(device);
  if (!primary) return standin::is_device(device) ? CUDA_ERROR_INVALID_CONTEXT : CUDA_ERROR_INVALID_DEVICE;
  if (--primary->holders == 0) standin::destroy(primary);
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
  STANDIN_ENTRY(cuDevicePrimaryCtxGetState);
  if (!flags || !active) return CUDA_ERROR_INVALID_VALUE;
  if (!standin::is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  *flags = 0;
  *active = standin::primary_of(device) ? 1 : 0;
  return CUDA_SUCCESS;
}

CUresult cuCtxCreate_v2(CUcontext* context, unsigned, CUdevice device) {
  STANDIN_ENTRY(cuCtxCreate_v2);
  if (!context) return CUDA_ERROR_INVALID_VALUE;
  if (!standin::is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  *context = standin::make_context(device, false);
  standin::stack().push_back(*context);
  return CUDA_SUCCESS;
}

CUresult cuCtxDestroy_v2(CUcontext context) {
  STANDIN_ENTRY(cuCtxDestroy_v2);
  if (!standin::find(driver().contexts, context) || context->primary) return CUDA_ERROR_INVALID_CONTEXT;
  standin::destroy(context);
  auto& stack = standin::stack();
  if (!stack.empty() && stack.back() == context) stack.pop_back();
  return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext* context) {
  STANDIN_ENTRY(cuCtxGetCurrent);
  if (!context) return CUDA_ERROR_INVALID_VALUE;
  *context = standin::current_context();
  return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context) {
  STANDIN_ENTRY(cuCtxSetCurrent);
  if (context && !standin::find(driver().contexts, context)) return CUDA_ERROR_INVALID_CONTEXT;
  auto& stack = standin::stack();
  if (!stack.empty()) stack.pop_back();
  if (context) stack.push_back(context);
  return CUDA_SUCCESS;
}

CUresult cuCtxPushCurrent_v2(CUcontext context) {
  STANDIN_ENTRY(cuCtxPushCurrent_v2);
  if (!standin::find(driver().contexts, context)) return CUDA_ERROR_INVALID_CONTEXT;
  standin::stack().push_back(context);
  return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent_v2(CUcontext* context) {
  STANDIN_ENTRY(cuCtxPopCurrent_v2);
  auto& stack = standin::stack();
  if (stack.empty()) return CUDA_ERROR_INVALID_CONTEXT;
  if (context) *context = stack.back();
  stack.pop_back();
  return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice* device) {
  STANDIN_ENTRY(cuCtxGetDevice);
  StandinContext* const context = standin::current_context();
  if (!device) return CUDA_ERROR_INVALID_VALUE;
  if (!context) return CUDA_ERROR_INVALID_CONTEXT;
  *device = context->device;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetId(CUcontext context, unsigned long long* id) {
  STANDIN_ENTRY(cuCtxGetId);
  if (!id) return CUDA_ERROR_INVALID_VALUE;
  if (!context) context = standin::current_context();
  if (!standin::find(driver().contexts, context)) return CUDA_ERROR_INVALID_CONTEXT;
  *id = context->id;
  return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize() {
  STANDIN_ENTRY(cuCtxSynchronize);
  STANDIN_CONTEXT(context);
  for (const auto& capture : driver().captures)
    if (capture->origin->context == context) {
      capture->invalid = true;
      return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
  if (const CUresult refused = standin::refuse_in_capture()) return refused;
  standin::run_all(*context);
  return context->sticky;
}
