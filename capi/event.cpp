// What goes on in the background.
#include "engine/event.h"
#include "capi/handles.h"

using namespace ingot;

namespace {

const engine::Event& event_of(const ingot_event* event) { return *capi::need(event, "event").event; }
engine::Event& event_of(ingot_event* event) { return *capi::need(event, "event").event; }

}  // namespace

extern "C" {

ingot_status* ingot_executable_prepare(ingot_executable* executable, const ingot_tensor* const* inputs, size_t n_inputs,
                                       const ingot_prepare_options* options, ingot_event** event) {
  return capi::guarded([&] {
    engine::Executable& e = *capi::need(executable, "executable").executable;
    capi::options(options);
    const auto examples = capi::tensors(inputs, n_inputs, "inputs");
    if (!examples.empty()) static_cast<void>(e.executor().scratch_size(examples, 1));
    const runtime::Tensor* const first = runtime::on_a_device(examples);
    const int device = first ? first->device.id : -1;
    if (!event) {
      e.prepare(nullptr, device);
      return;
    }
    auto handle = std::make_unique<ingot_event>();
    handle->event = e.prepare_async(device);
    *event = handle.release();
  });
}

void ingot_event_retain(ingot_event* event) {
  if (event) event->retain();
}

void ingot_event_release(ingot_event* event) {
  if (event && event->release()) delete event;
}

ingot_code ingot_event_poll(const ingot_event* event) {
  if (!event) return INGOT_INVALID_ARGUMENT;
  return static_cast<ingot_code>(event->event->poll());
}

ingot_status* ingot_event_wait(const ingot_event* event, int64_t timeout_ns) {
  return capi::guarded([&] {
    const auto result = event_of(event).wait(std::chrono::nanoseconds(timeout_ns));
    if (!result) fail(Code::not_ready, "it goes on");
    if (result->code != Code::ok) fail(result->code, result->message);
  });
}

ingot_status* ingot_event_on_done(ingot_event* event, ingot_done done, void* user, ingot_destroy destroy) {
  capi::Owed owed(user, destroy);
  return capi::guarded([&] {
    engine::Event& e = event_of(event);
    if (!done) fail(Code::invalid_argument, "done is NULL");
    e.on_done([done, held = owed.share()](const engine::Event::Result& r) {
      const runtime::HostFpEnv env;
      done(held.get(), static_cast<ingot_code>(r.code));
    });
  });
}

ingot_status* ingot_event_cancel(ingot_event* event) {
  return capi::guarded([&] { event_of(event).cancel(); });
}

}  // extern "C"
