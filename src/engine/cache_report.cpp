#include "engine/cache_report.h"

#include "engine/json_writer.h"
#include "engine/kernels.h"
#include "jit/image/isa.h"

namespace ingot::engine {

namespace {

void write_items(JsonWriter& out, const char* key, const std::vector<cache::VerifyReport::Item>& list) {
  out.begin_array(key);
  for (const auto& i : list) {
    out.begin_object();
    out.field("name", i.name);
    out.field("reason", i.reason);
    out.end();
  }
  out.end();
}

void write_list(JsonWriter& out, cache::DiskCache* disk) {
  uint64_t bytes = 0;
  out.begin_array("entries");
  if (disk) {
    for (const cache::DiskEntry& e : disk->list()) {
      out.begin_object();
      out.field("name", e.name);
      out.field("bytes", e.bytes);
      out.field("used", e.used);
      if (!e.fault.empty()) out.field("fault", e.fault);
      out.end();
      bytes += e.bytes;
    }
  }
  out.end();
  out.field("bytes", bytes);
}

}  // namespace

std::string cache_report(Context& context, std::string_view command) {
  cache::DiskCache* disk = context.disk();
  JsonWriter out;
  out.begin_object();
  out.field("schema", 1);
  if (disk) out.field("directory", disk->path());
  else out.null("directory");
  if (command == "list") {
    write_list(out, disk);
  } else if (command == "verify") {
    const cache::VerifyReport r = disk ? disk->verify() : cache::VerifyReport{};
    out.field("good", r.good);
    write_items(out, "removed", r.removed);
    write_items(out, "unreadable", r.unreadable);
  } else if (command == "clear") {
    out.field("removed", disk ? disk->clear() : 0);
  } else if (command == "info") {
    out.field("target", jit::host_target());
    out.field("module", context.kernels().module_path());
    out.field("module_id", context.kernels().module_id());
    out.field("module_error", context.kernels().module_error());
    out.begin_array("packs");
    for (const auto& pack : context.kernels().packs()) {
      out.begin_object();
      out.field("path", pack->path());
      out.field("entries", pack->size());
      out.field("maker", pack->maker());
      if (!pack->fault().empty()) out.field("fault", pack->fault());
      out.end();
    }
    out.end();
    out.field("writable", disk && disk->writable());
    out.field("threads", context.parallel() ? context.parallel()->width() : 1);
  } else {
    fail(Code::invalid_argument, "\"", command, "\" is none of list, verify, clear, info");
  }
  out.end();
  return out.take();
}

}  // namespace ingot::engine
