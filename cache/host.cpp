#include "cache/host.h"

#include "cache/format.h"

namespace ingot::cache {

HostStore::HostStore(HostCallbacks callbacks, Log log) : callbacks_(std::move(callbacks)), log_(std::move(log)) {}

void HostStore::callback_threw(const char* which, const char* what) {
  if (!warned_.exchange(true)) log_.write(LogLevel::warning, "host cache: the ", which, " callback failed: ", what);
}

std::optional<Blob> HostStore::ask(const Key& key, Miss& miss) {
  if (!callbacks_.get) {
    miss.reason = MissReason::disabled;
    return std::nullopt;
  }
  try {
    return callbacks_.get(key.hash.hex());
  } catch (const std::exception& e) {
    miss = {MissReason::io, cat("the host's get callback failed: ", e.what()), {}};
    callback_threw("get", e.what());
    return std::nullopt;
  }
}

std::optional<Blob> HostStore::get(const Key& key, Miss* why) {
  Miss miss;
  std::optional<Blob> blob;
  if (auto bytes = ask(key, miss)) {
    const char* fault = nullptr;
    if (auto entry = decode_entry(std::move(*bytes), fault)) {
      blob = blob_under(key, std::move(*entry), miss);
    } else {
      miss = {MissReason::content, fault, {}};
    }
  }
  if (!blob && why) *why = std::move(miss);
  return blob;
}

void HostStore::put(const Key& key, std::span<const uint8_t> blob) {
  if (!callbacks_.put) return;
  const Blob entry = encode_entry({key.bytes, blob});
  try {
    callbacks_.put(key.hash.hex(), entry);
  } catch (const std::exception& e) {
    callback_threw("put", e.what());
  }
}

}  // namespace ingot::cache
