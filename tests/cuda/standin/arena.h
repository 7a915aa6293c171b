// Device memory: a range of addresses of its own, closed to the host but while kernels run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

struct StandinContext;

namespace standin {

struct Allocation {
  uint64_t base = 0;
  size_t bytes = 0;
  int device = 0;
  StandinContext* context = nullptr;
  bool live = false;
  bool reserved = false;  // memory is there, whether the stream has come to the allocation or not
  bool pooled = false;
};

// What is known of a byte that kernels touched: who wrote and who read it last.
struct Cell {
  uint64_t write, read;
};

class Arena {
 public:
  static constexpr uint64_t page = 4096;

  Arena();
  uint64_t base() const { return base_; }
  uint64_t size() const { return size_; }
  bool has(uint64_t address) const { return address - base_ < size_; }

  // 0 when there is no room under the limit of the device.
  uint64_t allocate(size_t bytes, int device, StandinContext* context, bool live, bool pooled);
  void release(Allocation& a);
  size_t in_use(int device) const;
  size_t held() const;

  // The allocation whose pages hold the address, live or not; null for none.
  Allocation* find(uint64_t address) {
    if (!has(address)) return nullptr;
    const uint32_t i = owner_[(address - base_) / page];
    return i ? &all_[i] : nullptr;
  }
  // The live allocation that holds [address, address + bytes) whole.
  Allocation* range(uint64_t address, size_t bytes);

  // Where the host can read and write what is at a device address.
  char* host(uint64_t address) const { return alias_ + (address - base_); }
  // One for each four bytes of the range, and one for each byte.
  Cell* words() const { return words_; }
  Cell* single() const { return single_; }

  // The device's view is open from the first kernel on until the work that was waited for is over.
  void open();
  void close();
  void release_all_of(const StandinContext* context);
  void forget_all();

  std::unordered_map<const void*, size_t> pinned;

 private:
  uint64_t base_ = 0, size_ = 0, top_ = 0;
  int file_ = -1;
  char* alias_ = nullptr;
  Cell* words_ = nullptr;
  Cell* single_ = nullptr;
  uint32_t* owner_ = nullptr;
  std::vector<Allocation> all_;
  std::unordered_map<int, size_t> in_use_;
  bool open_ = false;
};

Arena& arena();

}  // namespace standin
