#include "cache/stack.h"

namespace ingot::cache {

namespace {

int telling(MissReason reason) {
  if (reason == MissReason::disabled) return 0;
  return reason == MissReason::absent ? 1 : 2;
}

}  // namespace

std::optional<Blob> Stack::get(const Key& key, Miss* why, size_t* level) {
  Miss best;
  best.reason = MissReason::disabled;
  for (size_t i = 0; i < stores_.size(); ++i) {
    Miss miss;
    if (auto blob = stores_[i]->get(key, &miss)) {
      for (size_t j = 0; j < i; ++j) {
        if (stores_[j]->writable()) stores_[j]->put(key, *blob);
      }
      if (level) *level = i;
      return blob;
    }
    if (telling(miss.reason) > telling(best.reason)) best = std::move(miss);
  }
  if (why) *why = std::move(best);
  return std::nullopt;
}

void Stack::put(const Key& key, std::span<const uint8_t> blob) {
  for (const auto& store : stores_) {
    if (store->writable()) store->put(key, blob);
  }
}

}  // namespace ingot::cache
