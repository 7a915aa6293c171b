#include "driver.h"

using standin::driver;

CUresult cuEventCreate(CUevent* event, unsigned flags) {
  STANDIN_ENTRY(cuEventCreate);
  STANDIN_CONTEXT(context);
  if (!event || flags > 7) return CUDA_ERROR_INVALID_VALUE;
  auto made = std::make_shared<StandinEvent>();
  made->context = context;
  made->timed = (flags & 2) == 0;
  *event = made.get();
  driver().events.emplace(made.get(), made);
  return CUDA_SUCCESS;
}

CUresult cuEventDestroy_v2(CUevent event) {
  STANDIN_ENTRY(cuEventDestroy_v2);
  if (driver().events.erase(event) == 0) return CUDA_ERROR_INVALID_HANDLE;
  return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent event, CUstream stream) {
  STANDIN_ENTRY(cuEventRecord);
  CUresult code = CUDA_SUCCESS;
  const auto s = standin::resolve(stream, code);
  if (!s) return code;
  const auto e = standin::find(driver().events, event);
  if (!e || e->context != s->context) return CUDA_ERROR_INVALID_HANDLE;
  if (standin::capturing(*s)) {
    if (s->capture->invalid) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    e->capture = s->capture;
    e->captured_in = s.get();
    return CUDA_SUCCESS;
  }
  e->capture = nullptr;
  code = standin::enqueue(*s, [e] {
    e->ms = standin::now_ms();
    return CUDA_SUCCESS;
  });
  if (code) return code;
  e->place = {s, s->last};
  e->asked = false;
  return CUDA_SUCCESS;
}

CUresult cuEventQuery(CUevent event) {
  STANDIN_ENTRY(cuEventQuery);
  const auto e = standin::find(driver().events, event);
  if (!e) return CUDA_ERROR_INVALID_HANDLE;
  if (e->context->sticky) return e->context->sticky;
  if (e->capture) return CUDA_ERROR_CAPTURED_EVENT;
  if (const CUresult refused = standin::refuse_in_capture()) return refused;
  if (!e->place.stream) return CUDA_SUCCESS;
  if (e->place.stream->done < e->place.seq && !e->asked) {
    e->asked = true;
    return CUDA_ERROR_NOT_READY;
  }
  standin::run_until(*e->place.stream, e->place.seq);
  return e->context->sticky;
}

CUresult cuEventSynchronize(CUevent event) {
  STANDIN_ENTRY(cuEventSynchronize);
  const auto e = standin::find(driver().events, event);
  if (!e) return CUDA_ERROR_INVALID_HANDLE;
  if (e->context->sticky) return e->context->sticky;
  if (e->capture) return CUDA_ERROR_CAPTURED_EVENT;
  if (const CUresult refused = standin::refuse_in_capture()) return refused;
  if (e->place.stream) standin::run_until(*e->place.stream, e->place.seq);
  return e->context->sticky;
}

CUresult cuEventElapsedTime(float* ms, CUevent start, CUevent end) {
  STANDIN_ENTRY(cuEventElapsedTime);
  const auto from = standin::find(driver().events, start), to = standin::find(driver().events, end);
  if (!ms) return CUDA_ERROR_INVALID_VALUE;
  if (!from || !to || !from->timed || !to->timed || !from->place.stream || !to->place.stream)
    return CUDA_ERROR_INVALID_HANDLE;
  if (from->context->sticky) return from->context->sticky;
  for (const auto& e : {from, to})
    if (e->place.stream->done < e->place.seq) return CUDA_ERROR_NOT_READY;
  *ms = static_cast<float>(to->ms - from->ms);
  return CUDA_SUCCESS;
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned) {
  STANDIN_ENTRY(cuStreamWaitEvent);
  CUresult code = CUDA_SUCCESS;
  const auto s = standin::resolve(stream, code);
  if (!s) return code;
  const auto e = standin::find(driver().events, event);
  if (!e) return CUDA_ERROR_INVALID_HANDLE;
  if (e->capture) {
    // The stream joins the capture that the event belongs to; the one that began it is joined by the event's stream.
    if (s->capture && s->capture != e->capture) return CUDA_ERROR_STREAM_CAPTURE_MERGE;
    if (s->legacy) return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    s->capture = e->capture;
    if (s.get() == e->capture->origin) e->captured_in->joined = true;
    return CUDA_SUCCESS;
  }
  if (standin::capturing(*s)) {
    if (!e->place.stream || e->place.stream->done >= e->place.seq) return CUDA_SUCCESS;
    s->capture->invalid = true;
    return 905;  // work outside the capture
  }
  if (!e->place.stream) return CUDA_SUCCESS;
  return standin::enqueue(*s, [] { return CUDA_SUCCESS; }, {e->place});
}
