// A store kept by the host: two callbacks over a database, a key-value server, a shared file.
#pragma once

#include <atomic>
#include <functional>

#include "base/log.h"
#include "cache/store.h"

namespace ingot::cache {

// `key` is the key's hash as 32 lower-case hex digits. The value is a whole entry as in format.h, full key and checksum
// included, so what the host mixes up or damages is a miss. Either function may be empty; both are called on any thread
// with no lock held, several at once, and may call back into Ingot. One that throws has missed, or not stored.
struct HostCallbacks {
  std::function<std::optional<Blob>(std::string_view key)> get;
  std::function<void(std::string_view key, std::span<const uint8_t> value)> put;
};

class HostStore final : public Store {
 public:
  explicit HostStore(HostCallbacks callbacks, Log log = {});

  std::optional<Blob> get(const Key& key, Miss* why = nullptr) override;
  void put(const Key& key, std::span<const uint8_t> blob) override;
  bool writable() const noexcept override { return static_cast<bool>(callbacks_.put); }
  std::string_view name() const noexcept override { return "host"; }

 private:
  std::optional<Blob> ask(const Key& key, Miss& miss);
  void callback_threw(const char* which, const char* what);

  const HostCallbacks callbacks_;
  const Log log_;
  std::atomic<bool> warned_{false};
};

}  // namespace ingot::cache
