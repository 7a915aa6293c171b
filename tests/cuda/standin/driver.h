// What the stand-in's entry points share.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "api.h"
#include "cubin.h"
#include "table.h"

struct StandinFunction;

namespace standin {

struct Capture;

// A place in a stream: the work up to and with number `seq`.
struct Place {
  std::shared_ptr<StandinStream> stream;
  uint64_t seq = 0;
};

// A piece of work. It returns an error that every later call of the context will return, too.
using Work = std::function<CUresult()>;

struct Op {
  Work run;
  std::vector<Place> after;
  uint64_t seq = 0;
};

}  // namespace standin

struct StandinStream : std::enable_shared_from_this<StandinStream> {
  StandinContext* context = nullptr;
  bool legacy = false, blocking = true;
  uint64_t last = 0, done = 0;  // numbers of the work queued and over
  uint64_t asked = 0;           // a query has said "not ready" of the work up to here
  std::deque<standin::Op> queue;
  bool running = false;
  std::thread::id runner;
  std::shared_ptr<standin::Capture> capture;
  bool joined = true;  // in a capture: what it has recorded, the stream that began it waits for
};

struct StandinContext {
  CUdevice device = 0;
  unsigned long long id = 0;
  bool primary = false;
  unsigned holders = 0;
  CUresult sticky = CUDA_SUCCESS;
  std::shared_ptr<StandinStream> legacy;
  std::map<std::thread::id, std::shared_ptr<StandinStream>> per_thread;
  std::vector<std::shared_ptr<StandinStream>> streams;  // destroyed ones, too, until their work is over
};

struct StandinFunction {
  std::string name;
  StandinModule* module = nullptr;
  const standin::KernelInfo* info = nullptr;
  uint64_t static_shared = 0;
  uint64_t most_dynamic = 0;
  size_t parameter_bytes = 0;
};

struct StandinEvent {
  StandinContext* context = nullptr;
  standin::Place place;
  bool timed = true;
  bool asked = false;  // a query has said "not ready" of this record
  double ms = 0;       // when the record's turn came
  std::shared_ptr<standin::Capture> capture;
  StandinStream* captured_in = nullptr;
};

namespace standin {

// A device's shared object in this process.
struct Module {
  StandinContext* context = nullptr;
  Cubin cubin;
  void* handle = nullptr;
  int file = -1;
  char* base = nullptr;
  std::map<std::string, std::unique_ptr<StandinFunction>> functions;
  ~Module();
};

struct Graph {
  std::vector<Work> nodes;
};

// Between cuStreamBeginCapture and cuStreamEndCapture.
struct Capture {
  StandinStream* origin = nullptr;
  int mode = 0;
  std::thread::id thread;
  bool invalid = false;
  Graph graph;
};

}  // namespace standin

struct StandinPool {
  CUdevice device = 0;
  uint64_t threshold = 0;  // bytes it may keep
};

struct StandinModule : standin::Module {};
struct StandinGraph : standin::Graph {};
struct StandinGraphExec : standin::Graph {
  StandinContext* context = nullptr;
};

namespace standin {

struct Driver {
  std::mutex mutex;
  std::condition_variable_any turned;
  bool initialised = false;
  unsigned depth = 0;  // of work that runs because other work waits for it
  std::vector<StandinContext*> primaries;
  std::unordered_map<const void*, std::shared_ptr<StandinContext>> contexts;
  std::unordered_map<const void*, std::shared_ptr<StandinStream>> streams;
  std::unordered_map<const void*, std::shared_ptr<StandinEvent>> events;
  std::unordered_map<const void*, std::shared_ptr<StandinModule>> modules;
  std::unordered_map<const void*, std::shared_ptr<StandinFunction>> functions;
  std::unordered_map<const void*, std::shared_ptr<StandinGraph>> graphs;
  std::unordered_map<const void*, std::shared_ptr<StandinGraphExec>> execs;
  std::unordered_map<const void*, std::shared_ptr<StandinPool>> pools;
  std::vector<std::shared_ptr<Capture>> captures;
  unsigned long long next_id = 1;
  std::string report;
};

Driver& driver();

template <class T>
std::shared_ptr<T> find(const std::unordered_map<const void*, std::shared_ptr<T>>& all, const void* handle) {
  const auto at = all.find(handle);
  return at == all.end() ? nullptr : at->second;
}

// The value of an environment variable, read at each call.
int64_t setting(const char* name, int64_t absent);

// One entry point: how often it was called and when it shall fail.
class Entry {
 public:
  explicit Entry(const char* name, bool before_init = false);
  CUresult enter();

 private:
  const char* const name_;
  const bool before_init_;
};
void forget_calls();
bool forked();

// Every entry begins with this: the lock, the count, a planned failure.
#define STANDIN_ENTRY(name, ...)                                      \
  static ::standin::Entry entry_(#name __VA_OPT__(, ) __VA_ARGS__);   \
  if (::standin::forked()) return CUDA_ERROR_NOT_INITIALIZED;         \
  const std::lock_guard<std::mutex> lock_(::standin::driver().mutex); \
  if (const CUresult refused_ = entry_.enter()) return refused_

// And most go on with this: a current context without an error of before.
#define STANDIN_CONTEXT(context)                                \
  StandinContext* const context = ::standin::current_context(); \
  if (!context) return CUDA_ERROR_INVALID_CONTEXT;              \
  if (context->sticky) return context->sticky

StandinContext* current_context();
void forget_contexts_of_thread();

// streams
std::shared_ptr<StandinStream> resolve(CUstream handle, CUresult& code);
std::shared_ptr<StandinStream> make_stream(StandinContext* context, bool legacy, bool blocking);
CUresult enqueue(StandinStream& stream, Work work, std::vector<Place> after = {});
void run_until(StandinStream& stream, uint64_t seq);
void run_all(StandinContext& context);
// Memory of a device in the order of a stream.
CUresult allocate_in(StandinStream& stream, CUdevice device, size_t bytes, CUdeviceptr* pointer);
double now_ms();

// capture
bool capturing(const StandinStream& stream);
// What may not happen during a capture that the calling thread must heed, by its mode and the capture's; the capture is
// invalid from then on.
CUresult refuse_in_capture();
CUresult refuse_on_captured(StandinStream& stream);
CUresult record_in_capture(StandinStream& stream, Work work);
// The capture that an operation of the legacy stream would have to wait for; null: none.
Capture* meets_capture(const StandinStream& stream);
CUresult implicit_capture(const StandinStream& stream);

// The first one stays.
void report(const std::string& text);

}  // namespace standin
