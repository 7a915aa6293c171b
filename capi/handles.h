// The objects behind the opaque handles, and the guard that keeps exceptions inside.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "engine/executable.h"
#include "ingot/ingot.h"
#include "ir/graph.h"
#include "runtime/fp_env.h"

struct ingot_status {
  ingot::Code code;
  std::string message;
};

struct ingot_buffer {
  std::string bytes;
};

namespace ingot::capi {

// A counted handle: starts with one reference.
class Counted {
 public:
  void retain() noexcept { count_.fetch_add(1, std::memory_order_relaxed); }
  // True when that was the last one.
  bool release() noexcept { return count_.fetch_sub(1, std::memory_order_acq_rel) == 1; }

 private:
  std::atomic<uint64_t> count_{1};
};

}  // namespace ingot::capi

struct ingot_context : ingot::capi::Counted {
  std::shared_ptr<ingot::engine::Context> context;
};

struct ingot_graph : ingot::capi::Counted {
  std::shared_ptr<ingot::engine::Context> context;
  std::shared_ptr<ingot::ir::Graph> graph;
};

struct ingot_executable : ingot::capi::Counted {
  std::shared_ptr<ingot::engine::Executable> executable;
  // What io_info lends out, made once at compile.
  struct Io {
    std::string name, shape_text;
    ingot_dtype dtype;
    std::vector<int64_t> extents;
  };
  std::vector<Io> inputs, outputs;
  ~ingot_executable() {
    if (executable) executable->detach();
  }
};

struct ingot_event : ingot::capi::Counted {
  std::shared_ptr<ingot::engine::Event> event;
};

namespace ingot::capi {

ingot_status* make_status(Code code, std::string_view message) noexcept;

// Runs `body`; what it throws becomes the status.
template <class Body>
ingot_status* guarded(Body&& body) noexcept {
  // The host's rounding mode, flushing and traps reach nothing of the library, parsing and compiling included.
  const runtime::FpEnv env;
  try {
    body();
    return nullptr;
  } catch (const Error& e) {
    return make_status(e.code(), e.message());
  } catch (const std::bad_alloc&) {
    return make_status(Code::out_of_memory, "out of memory");
  } catch (const std::exception& e) {
    return make_status(Code::internal, e.what());
  } catch (...) {
    return make_status(Code::internal, "an exception of unknown type");
  }
}

// A callback's `user`, to be destroyed exactly once, whatever fails: by the last copy of what share() returns, or by
// this if it never gets there. Holding it allocates nothing.
class Owed {
 public:
  Owed() = default;
  Owed(void* user, ingot_destroy destroy) noexcept : user_(user), destroy_(destroy) {}
  Owed(Owed&& other) noexcept : user_(other.user_), destroy_(std::exchange(other.destroy_, nullptr)) {}
  Owed& operator=(Owed&& other) noexcept {
    std::swap(user_, other.user_);
    std::swap(destroy_, other.destroy_);
    return *this;
  }
  ~Owed() { call(user_, destroy_); }

  explicit operator bool() const noexcept { return destroy_ != nullptr; }
  std::shared_ptr<void> share() {
    // The constructor calls the deleter itself if there is no memory for it.
    return {user_, [destroy = std::exchange(destroy_, nullptr)](void* user) { call(user, destroy); }};
  }

 private:
  static void call(void* user, ingot_destroy destroy) {
    if (!destroy) return;
    const runtime::HostFpEnv env;
    destroy(user);
  }
  void* user_ = nullptr;
  ingot_destroy destroy_ = nullptr;
};

// Both functions or neither.
runtime::Allocator allocator(ingot_allocate allocate, ingot_deallocate release, void* user);

// Checked and converted; NULL gives the defaults.
engine::RunOptions run_options(const ingot_run_options* options);

// The public tensor has the layout of runtime::Tensor (layout.cpp), so arrays of pointers to it are passed on as they
// are.
std::span<const runtime::Tensor* const> tensors(const ingot_tensor* const* p, size_t n, const char* name);

// --- checked arguments; each throws invalid_argument naming the parameter

template <class T>
T& need(T* p, const char* name) {
  if (!p) fail(Code::invalid_argument, name, " is NULL");
  return *p;
}

template <class T>
std::span<T> list(T* p, size_t n, const char* name) {
  if (!p && n > 0) fail(Code::invalid_argument, name, " is NULL but its count is ", n);
  return {p, n};
}

// NULL with length 0 or INGOT_NUL is "".
std::string_view text(const char* p, size_t length, const char* name);
// The same for names, which have to be UTF-8.
std::string_view name_text(const char* p, size_t length, const char* name);

// The option struct the caller gave, at the size this library knows: what an older one lacks is zero, and what a newer
// one adds has to be.
template <class T>
T options(const T* given) {
  T out{};
  out.struct_size = sizeof(T);
  if (!given) return out;
  if (given->struct_size < sizeof(size_t) + sizeof(void*))
    fail(Code::invalid_argument, "the options' struct_size is ", given->struct_size, "; use the INGOT_..._INIT macro");
  if (given->struct_size > 4096) fail(Code::invalid_argument, "the options' struct_size is ", given->struct_size);
  const size_t known = std::min(given->struct_size, sizeof(T));
  std::memcpy(&out, given, known);
  const auto* bytes = reinterpret_cast<const unsigned char*>(given);
  for (size_t i = known; i < given->struct_size; ++i)
    if (bytes[i] != 0)
      fail(Code::unimplemented, "the options have a field, at byte ", i, ", that this version does not know");
  if (out.next) fail(Code::unimplemented, "extension struct of kind ", out.next->kind, " is not known to this version");
  out.struct_size = sizeof(T);
  return out;
}

}  // namespace ingot::capi
