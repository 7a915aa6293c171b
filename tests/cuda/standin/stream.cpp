#include <algorithm>
#include <chrono>

#include "arena.h"
#include "driver.h"

using standin::arena;
using standin::driver;

namespace standin {

namespace {

constexpr uintptr_t legacy_handle = 1, per_thread_handle = 2;

// Work of a stream that is over needs nothing kept.
void forget_finished(StandinContext& context) {
  std::erase_if(context.streams, [](const auto& s) { return s->queue.empty() && s.use_count() == 1; });
}

}  // namespace

double now_ms() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::shared_ptr<StandinStream> make_stream(StandinContext* context, bool legacy, bool blocking) {
  auto out = std::make_shared<StandinStream>();
  out->context = context;
  out->legacy = legacy;
  out->blocking = blocking;
  context->streams.push_back(out);
  return out;
}

std::shared_ptr<StandinStream> resolve(CUstream handle, CUresult& code) {
  code = CUDA_SUCCESS;
  const auto value = reinterpret_cast<uintptr_t>(handle);
  std::shared_ptr<StandinStream> out;
  if (value <= per_thread_handle) {
    StandinContext* const context = current_context();
    if (!context) {
      code = CUDA_ERROR_INVALID_CONTEXT;
      return nullptr;
    }
    if (value <= legacy_handle) {
      out = context->legacy;
    } else {
      auto& mine = context->per_thread[std::this_thread::get_id()];
      if (!mine) mine = make_stream(context, false, true);
      out = mine;
    }
  } else {
    out = find(driver().streams, handle);
    if (!out) {
      code = CUDA_ERROR_INVALID_HANDLE;
      return nullptr;
    }
  }
  code = out->context->sticky;
  return code ? nullptr : out;
}

// Queues it. The legacy stream waits for all that block, and they for it.
CUresult enqueue(StandinStream& stream, Work work, std::vector<Place> after) {
  if (capturing(stream)) return record_in_capture(stream, std::move(work));
  if (const CUresult implicit = implicit_capture(stream)) return implicit;
  StandinContext& context = *stream.context;
  if (stream.legacy) {
    for (const auto& s : context.streams)
      if (s.get() != &stream && s->blocking && s->done < s->last) after.push_back({s, s->last});
    forget_finished(context);
  } else if (stream.blocking && context.legacy->done < context.legacy->last) {
    after.push_back({context.legacy, context.legacy->last});
  }
  stream.queue.push_back({std::move(work), std::move(after), ++stream.last});
  return CUDA_SUCCESS;
}

// Runs what is queued up to and with number `seq`, and what that waits for. The lock is held, but while the host's own
// function runs; who comes meanwhile waits.
void run_until(StandinStream& stream, uint64_t seq) {
  const std::shared_ptr<StandinStream> held = stream.shared_from_this();
  while (stream.done < seq) {
    if (stream.running) {
      if (stream.runner == std::this_thread::get_id()) return;
      driver().turned.wait(driver().mutex);
      continue;
    }
    if (stream.queue.empty()) return;
    Op op = std::move(stream.queue.front());
    stream.queue.pop_front();
    stream.running = true;
    stream.runner = std::this_thread::get_id();
    ++driver().depth;
    for (const Place& p : op.after) run_until(*p.stream, p.seq);
    StandinContext& context = *stream.context;
    if (!context.sticky) {
      const CUresult code = op.run();
      if (code) context.sticky = code;
    }
    if (--driver().depth == 0 && (op.seq == seq || stream.queue.empty() || context.sticky)) arena().close();
    stream.done = op.seq;
    stream.running = false;
    driver().turned.notify_all();
  }
}

void run_all(StandinContext& context) {
  const auto streams = context.streams;
  for (const auto& s : streams) run_until(*s, s->last);
}

}  // namespace standin

CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
  STANDIN_ENTRY(cuStreamCreate);
  STANDIN_CONTEXT(context);
  if (!stream || flags > 1) return CUDA_ERROR_INVALID_VALUE;
  auto made = standin::make_stream(context, false, flags == 0);
  *stream = made.get();
  driver().streams.emplace(made.get(), made);
  return CUDA_SUCCESS;
}

// Its work still runs when something waits for it.
CUresult cuStreamDestroy_v2(CUstream stream) {
  STANDIN_ENTRY(cuStreamDestroy_v2);
  const auto held = standin::find(driver().streams, stream);
  if (!held) return CUDA_ERROR_INVALID_HANDLE;
  if (held->capture) held->capture->invalid = true;
  driver().streams.erase(stream);
  return held->context->sticky;
}

CUresult cuStreamSynchronize(CUstream stream) {
  STANDIN_ENTRY(cuStreamSynchronize);
  CUresult code = CUDA_SUCCESS;
  const auto s = standin::resolve(stream, code);
  if (!s) return code;
  if (const CUresult refused = standin::refuse_on_captured(*s)) return refused;
  if (s->legacy) {
    // Like a piece of work there: after all that block.
    standin::enqueue(*s, [] { return CUDA_SUCCESS; });
  }
  standin::run_until(*s, s->last);
  return s->context->sticky;
}

// Not ready once, so that who asks learns to wait; then the work's turn comes.
CUresult cuStreamQuery(CUstream stream) {
  STANDIN_ENTRY(cuStreamQuery);
  CUresult code = CUDA_SUCCESS;
  const auto s = standin::resolve(stream, code);
  if (!s) return code;
  if (const CUresult refused = standin::refuse_on_captured(*s)) return refused;
  if (s->done < s->last && s->asked != s->last) {
    s->asked = s->last;
    return CUDA_ERROR_NOT_READY;
  }
  standin::run_until(*s, s->last);
  return s->context->sticky;
}

CUresult cuStreamGetCtx(CUstream stream, CUcontext* context) {
  STANDIN_ENTRY(cuStreamGetCtx);
  CUresult code = CUDA_SUCCESS;
  const auto s = standin::resolve(stream, code);
  if (!s) return code;
  if (!context) return CUDA_ERROR_INVALID_VALUE;
  *context = s->context;
  return CUDA_SUCCESS;
}

// The host's own function, without the lock: it may take any of the host's, but may not call the driver.
CUresult cuLaunchHostFunc(CUstream stream, CUhostFn fn, void* user) {
  STANDIN_ENTRY(cuLaunchHostFunc);
  CUresult code = CUDA_SUCCESS;
  const auto s = standin::resolve(stream, code);
  if (!s) return code;
  if (!fn) return CUDA_ERROR_INVALID_VALUE;
  return standin::enqueue(*s, [fn, user] {
    arena().close();
    driver().mutex.unlock();
    fn(user);
    driver().mutex.lock();
    return CUDA_SUCCESS;
  });
}
