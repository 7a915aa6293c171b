#include "engine/cache_report.h"

#include <nlohmann/json.hpp>

#include "engine/kernels.h"
#include "jit/image/isa.h"

namespace ingot::engine {

namespace {

using nlohmann::json;

// Field by field, as describe.cpp says.
json items(const std::vector<cache::VerifyReport::Item>& list) {
  json out = json::array();
  for (const auto& i : list) {
    json& one = out.emplace_back(json::object());
    one["name"] = i.name;
    one["reason"] = i.reason;
  }
  return out;
}

}  // namespace

std::string cache_report(Context& context, std::string_view command) {
  cache::DiskCache* disk = context.disk();
  json out = json::object();
  out["schema"] = 1;
  out["directory"] = nullptr;
  if (disk) out["directory"] = disk->path();
  if (command == "list") {
    out["entries"] = json::array();
    uint64_t bytes = 0;
    if (disk)
      for (const cache::DiskEntry& e : disk->list()) {
        json& one = out["entries"].emplace_back(json::object());
        one["name"] = e.name;
        one["bytes"] = e.bytes;
        one["used"] = e.used;
        if (!e.fault.empty()) one["fault"] = e.fault;
        bytes += e.bytes;
      }
    out["bytes"] = bytes;
  } else if (command == "verify") {
    const cache::VerifyReport r = disk ? disk->verify() : cache::VerifyReport{};
    out["good"] = r.good;
    out["removed"] = items(r.removed);
    out["unreadable"] = items(r.unreadable);
  } else if (command == "clear") {
    out["removed"] = disk ? disk->clear() : 0;
  } else if (command == "info") {
    out["target"] = jit::host_target();
    out["module"] = context.kernels().module_path();
    out["module_id"] = context.kernels().module_id();
    out["module_error"] = context.kernels().module_error();
    out["writable"] = disk && disk->writable();
    out["threads"] = context.parallel() ? context.parallel()->width() : 1;
  } else {
    fail(Code::invalid_argument, "\"", command, "\" is none of list, verify, clear, info");
  }
  return out.dump(1);
}

}  // namespace ingot::engine
