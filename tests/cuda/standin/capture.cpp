#include <algorithm>
#include <utility>

#include "driver.h"

using standin::driver;

namespace standin {

namespace {

enum Mode { global, thread_local_mode, relaxed };

thread_local int mode_of_thread = global;

}  // namespace

bool capturing(const StandinStream& stream) { return stream.capture != nullptr; }

CUresult refuse_in_capture() {
  if (mode_of_thread == relaxed) return CUDA_SUCCESS;
  CUresult code = CUDA_SUCCESS;
  for (const auto& c : driver().captures) {
    const bool own = c->mode != relaxed && c->thread == std::this_thread::get_id();
    if (!own && (c->mode != global || mode_of_thread != global)) continue;
    c->invalid = true;
    code = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  return code;
}

CUresult refuse_on_captured(StandinStream& stream) {
  if (!stream.capture) return refuse_in_capture();
  stream.capture->invalid = true;
  return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

CUresult record_in_capture(StandinStream& stream, Work work) {
  if (stream.capture->invalid) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  if (&stream != stream.capture->origin) stream.joined = false;
  stream.capture->graph.nodes.push_back(std::move(work));
  return CUDA_SUCCESS;
}

Capture* meets_capture(const StandinStream& stream) {
  if (!stream.legacy) return nullptr;
  for (const auto& c : driver().captures)
    if (c->origin->context == stream.context && c->origin->blocking) return c.get();
  return nullptr;
}

CUresult implicit_capture(const StandinStream& stream) {
  Capture* const met = meets_capture(stream);
  if (!met) return CUDA_SUCCESS;
  met->invalid = true;
  return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
}

}  // namespace standin

CUresult cuThreadExchangeStreamCaptureMode(int* mode) {
  STANDIN_ENTRY(cuThreadExchangeStreamCaptureMode);
  if (!mode || *mode < standin::global || *mode > standin::relaxed) return CUDA_ERROR_INVALID_VALUE;
  std::swap(*mode, standin::mode_of_thread);
  return CUDA_SUCCESS;
}

CUresult cuStreamIsCapturing(CUstream stream, int* status) {
  STANDIN_ENTRY(cuStreamIsCapturing);
  CUresult code = CUDA_SUCCESS;
  const auto s = standin::resolve(stream, code);
  if (!s) return code;
  if (!status) return CUDA_ERROR_INVALID_VALUE;
  if (standin::meets_capture(*s)) return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;  // asking invalidates nothing
  *status = !s->capture ? 0 : s->capture->invalid ? 2 : 1;
  return CUDA_SUCCESS;
}

CUresult cuStreamBeginCapture_v2(CUstream stream, int mode) {
  STANDIN_ENTRY(cuStreamBeginCapture_v2);
  CUresult code = CUDA_SUCCESS;
  const auto s = standin::resolve(stream, code);
  if (!s) return code;
  if (mode < 0 || mode > 2) return CUDA_ERROR_INVALID_VALUE;
  if (s->legacy) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  if (s->capture) return 401;  // illegal state
  auto capture = std::make_shared<standin::Capture>();
  capture->origin = s.get();
  capture->mode = mode;
  capture->thread = std::this_thread::get_id();
  s->capture = capture;
  driver().captures.push_back(std::move(capture));
  return CUDA_SUCCESS;
}

CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph) {
  STANDIN_ENTRY(cuStreamEndCapture);
  CUresult code = CUDA_SUCCESS;
  const auto s = standin::resolve(stream, code);
  if (!s) return code;
  if (!graph) return CUDA_ERROR_INVALID_VALUE;
  *graph = nullptr;
  const std::shared_ptr<standin::Capture> capture = s->capture;
  if (!capture) return 401;
  if (capture->origin != s.get()) return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
  if (capture->mode != 2 && capture->thread != std::this_thread::get_id())
    return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
  bool joined = true;
  for (const auto& other : s->context->streams) {
    if (other->capture != capture) continue;
    joined = joined && other->joined;
    other->joined = true;
    other->capture = nullptr;
  }
  for (const auto& [handle, event] : driver().events)
    if (event->capture == capture) event->capture = nullptr;
  std::erase(driver().captures, capture);
  if (capture->invalid) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  if (!joined) return CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
  auto made = std::make_shared<StandinGraph>();
  made->nodes = std::move(capture->graph.nodes);
  *graph = made.get();
  driver().graphs.emplace(made.get(), made);
  return CUDA_SUCCESS;
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec* exec, CUgraph graph, unsigned long long) {
  STANDIN_ENTRY(cuGraphInstantiateWithFlags);
  STANDIN_CONTEXT(context);
  const auto from = standin::find(driver().graphs, graph);
  if (!exec || !from) return CUDA_ERROR_INVALID_VALUE;
  auto made = std::make_shared<StandinGraphExec>();
  made->nodes = from->nodes;
  made->context = context;
  *exec = made.get();
  driver().execs.emplace(made.get(), made);
  return CUDA_SUCCESS;
}

CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream) {
  STANDIN_ENTRY(cuGraphLaunch);
  CUresult code = CUDA_SUCCESS;
  const auto s = standin::resolve(stream, code);
  if (!s) return code;
  const auto held = standin::find(driver().execs, exec);
  if (!held) return CUDA_ERROR_INVALID_VALUE;
  return standin::enqueue(*s, [held] {
    for (const standin::Work& node : held->nodes)
      if (const CUresult failed = node()) return failed;
    return static_cast<CUresult>(CUDA_SUCCESS);
  });
}

CUresult cuGraphDestroy(CUgraph graph) {
  STANDIN_ENTRY(cuGraphDestroy);
  return driver().graphs.erase(graph) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphExecDestroy(CUgraphExec exec) {
  STANDIN_ENTRY(cuGraphExecDestroy);
  return driver().execs.erase(exec) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
