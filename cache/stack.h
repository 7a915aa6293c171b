// Several stores asked in order, nearest first.
#pragma once

#include <memory>

#include "cache/store.h"

namespace ingot::cache {

// Thread-safe as its stores are; the list is fixed at construction.
class Stack {
 public:
  explicit Stack(std::vector<std::shared_ptr<Store>> stores) : stores_(std::move(stores)) {}

  // The first hit, and in `level` its place in the list; the writable stores before it get a copy. On a miss, `why` is
  // the most telling one: the first that is not plain absence, else absence; `disabled` if there are no stores.
  std::optional<Blob> get(const Key& key, Miss* why = nullptr, size_t* level = nullptr);
  // Into every writable store.
  void put(const Key& key, std::span<const uint8_t> blob);

  const std::vector<std::shared_ptr<Store>>& stores() const noexcept { return stores_; }

 private:
  const std::vector<std::shared_ptr<Store>> stores_;
};

}  // namespace ingot::cache
