// Counts of calls, planned failures, the report, the fork.
#include <pthread.h>

#include <cstdlib>

#include "arena.h"
#include "driver.h"

namespace standin {

namespace {

struct Calls {
  unsigned long long made = 0;
  std::map<unsigned long long, CUresult> planned;  // by the number of the call
};

struct Ledger {
  std::map<std::string, Calls> entries;
  std::string environment;  // what of STANDIN_FAIL is planned
};

// Nothing here is destroyed at the process's end: hosts call the driver from destructors of their own.
Ledger& ledger() {
  static Ledger& one = *std::make_unique<Ledger>().release();
  return one;
}

std::atomic<bool> is_child{false};

void plan(const std::string& entry, unsigned long long nth, CUresult code) {
  Calls& calls = ledger().entries[entry];
  if (nth > 0 && code != 0) calls.planned[calls.made + nth] = code;
}

// STANDIN_FAIL="cuMemAlloc_v2:3=2,cuLaunchKernel:1=700"; once for each text found there.
void read_environment() {
  const char* text = std::getenv("STANDIN_FAIL");
  const std::string all = text ? text : "";
  if (all == ledger().environment) return;
  ledger().environment = all;
  for (size_t at = 0; at < all.size();) {
    const size_t end = std::min(all.find(',', at), all.size());
    const size_t colon = all.find(':', at), equals = all.find('=', at);
    if (colon < equals && equals < end)
      plan(all.substr(at, colon - at), std::strtoull(all.c_str() + colon + 1, nullptr, 10),
           std::atoi(all.c_str() + equals + 1));
    at = end + 1;
  }
}

}  // namespace

Driver& driver() {
  static Driver& one = *std::make_unique<Driver>().release();
  return one;
}

int64_t setting(const char* name, int64_t absent) {
  const char* text = std::getenv(name);
  return text && *text ? std::strtoll(text, nullptr, 10) : absent;
}

bool forked() {
  static const int watched = pthread_atfork(nullptr, nullptr, [] { is_child = true; });
  return watched == 0 && is_child;
}

Entry::Entry(const char* name, bool before_init) : name_(name), before_init_(before_init) {}

CUresult Entry::enter() {
  read_environment();
  Calls& calls = ledger().entries[name_];
  ++calls.made;
  const auto at = calls.planned.find(calls.made);
  if (at != calls.planned.end()) {
    const CUresult code = at->second;
    calls.planned.erase(at);
    return code;
  }
  return driver().initialised || before_init_ ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
}

void forget_calls() { ledger() = {}; }

void report(const std::string& text) {
  if (driver().report.empty()) driver().report = text;
}

}  // namespace standin

const char* standin_report() {
  static thread_local std::string copy;
  const std::lock_guard<std::mutex> lock(standin::driver().mutex);
  copy = standin::driver().report;
  return copy.c_str();
}

void standin_fail(const char* entry, unsigned nth, int code) {
  const std::lock_guard<std::mutex> lock(standin::driver().mutex);
  standin::plan(entry, nth, code);
}

unsigned long long standin_calls(const char* entry) {
  const std::lock_guard<std::mutex> lock(standin::driver().mutex);
  return standin::ledger().entries[entry].made;
}

void standin_reset() {
  standin::Driver& d = standin::driver();
  const std::lock_guard<std::mutex> lock(d.mutex);
  d.captures.clear();
  d.execs.clear();
  d.pools.clear();
  d.graphs.clear();
  d.events.clear();
  d.functions.clear();
  d.modules.clear();
  d.streams.clear();
  d.contexts.clear();
  d.primaries.clear();
  d.initialised = false;
  d.report.clear();
  standin::forget_calls();
  standin::forget_contexts_of_thread();
  standin::arena().forget_all();
}

unsigned long long standin_held() {
  standin::Driver& d = standin::driver();
  const std::lock_guard<std::mutex> lock(d.mutex);
  return d.contexts.size() + d.modules.size() + d.streams.size() + d.events.size() + d.graphs.size() + d.execs.size() +
         d.pools.size() + standin::arena().held();
}
