#include "engine/cache_report.h"

#include <nlohmann/json.hpp>

#include "engine/kernels.h"
#include "jit/image/isa.h"

namespace ingot::engine {

namespace {

using nlohmann::json;

json items(const std::vector<cache::VerifyReport::Item>& list) {
  json out = json::array();
  for (const auto& i : list) out.push_back({{"name", i.name}, {"reason", i.reason}});
  return out;
}

}  // namespace

std::string cache_report(Context& context, std::string_view command) {
  cache::DiskCache* disk = context.disk();
  json out = {{"schema", 1}};
  out["directory"] = disk ? json(disk->path()) : json(nullptr);
  if (command == "list") {
    out["entries"] = json::array();
    uint64_t bytes = 0;
    if (disk)
      for (const cache::DiskEntry& e : disk->list()) {
        json one = {{"name", e.name}, {"bytes", e.bytes}, {"used", e.used}};
        if (!e.fault.empty()) one["fault"] = e.fault;
        bytes += e.bytes;
        out["entries"].push_back(std::move(one));
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
    out["packs"] = json::array();
    for (const auto& pack : context.kernels().packs()) {
      json one = {{"path", pack->path()}, {"entries", pack->size()}, {"maker", pack->maker()}};
      if (!pack->fault().empty()) one["fault"] = pack->fault();
      out["packs"].push_back(std::move(one));
    }
    out["writable"] = disk && disk->writable();
    out["threads"] = context.parallel() ? context.parallel()->width() : 1;
  } else {
    fail(Code::invalid_argument, "\"", command, "\" is none of list, verify, clear, info");
  }
  return out.dump(1);
}

}  // namespace ingot::engine
