// A pack as a damaged or foreign file may hold it: either it has a fault and serves nothing, or what it serves under a
// key is what stands in the file under that key. Stated sizes and checksums are put right first, or nothing behind them
// would be reached.
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "cache/pack.h"

using namespace ingot;
using namespace ingot::cache;

namespace {

constexpr size_t checksum_at = 16, covered_from = 32, count_at = 40, index_at = 48 + pack_maker_size, place_size = 32;

uint64_t word(const Blob& bytes, size_t at) {
  uint64_t v;
  std::memcpy(&v, &bytes[at], sizeof v);
  return v;
}
void seal(Blob& bytes, size_t at, size_t covered, size_t end) {
  const Hash128 sum = hash128(std::span(bytes).subspan(covered, end - covered));
  std::memcpy(&bytes[at], &sum.low, 8);
  std::memcpy(&bytes[at + 8], &sum.high, 8);
}

// An index entry whose entry lies within the file.
struct Place {
  Hash128 hash;
  size_t offset, size;
};
std::vector<Place> places(const Blob& bytes) {
  std::vector<Place> out;
  const uint64_t count = std::min<uint64_t>(word(bytes, count_at), (bytes.size() - index_at) / place_size);
  for (size_t at = index_at; at < index_at + count * place_size; at += place_size) {
    const uint64_t offset = word(bytes, at + 16), size = word(bytes, at + 24);
    if (offset > bytes.size() || size > bytes.size() - offset || size < entry_header_size) continue;
    out.push_back({{word(bytes, at), word(bytes, at + 8)}, offset, size});
  }
  return out;
}

// The file size, the checksums of the entries and of the index.
void repair(Blob& bytes) {
  const uint64_t size = bytes.size();
  std::memcpy(&bytes[covered_from], &size, sizeof size);
  for (const Place& p : places(bytes))
    if (p.offset >= index_at) seal(bytes, p.offset + checksum_at, p.offset + covered_from, p.offset + p.size);
  const uint64_t count = std::min<uint64_t>(word(bytes, count_at), (size - index_at) / place_size);
  seal(bytes, checksum_at, covered_from, index_at + count * place_size);
}

// The key and the blob of a whole entry.
struct Stored {
  Hash128 hash;
  Blob key, blob;
};
std::vector<Stored> entries(const Blob& bytes) {
  std::vector<Stored> out;
  for (const Place& p : places(bytes)) {
    const auto begin = bytes.begin() + static_cast<ptrdiff_t>(p.offset);
    const char* fault = nullptr;
    const auto entry = decode_entry({begin, begin + static_cast<ptrdiff_t>(p.size)}, fault);
    if (!entry) continue;
    const EntryParts& parts = entry->parts;
    out.push_back({p.hash, {parts.key.begin(), parts.key.end()}, {parts.blob.begin(), parts.blob.end()}});
  }
  return out;
}

// A file that is reached by its path alone, as packs are.
class File {
 public:
  explicit File(const Blob& bytes) : fd_(memfd_create("pack", MFD_CLOEXEC)) {
    if (fd_ < 0 || fchmod(fd_, 0600) != 0 ||
        write(fd_, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()))
      std::abort();
  }
  ~File() { close(fd_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

 private:
  int fd_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Blob bytes(data, data + size);
  if (bytes.size() >= index_at) repair(bytes);
  const File file(bytes);
  const auto pack = Pack::open(file.path());
  const std::vector<Stored> known = bytes.size() >= index_at ? entries(bytes) : std::vector<Stored>();
  const bool usable = pack->fault().empty();
  if (!usable && pack->size() != 0) std::abort();
  if (pack->maker().size() > pack_maker_size) std::abort();
  for (const Stored& s : known) {
    const auto expect = [&](const Key& key) {
      Miss why;
      const auto got = pack->get(key, &why);
      // Of several entries of one key any may be the one.
      const auto is = [&](const Stored& o) { return o.hash == key.hash && o.key == key.bytes; };
      const bool there = usable && std::ranges::any_of(known, is);
      if (got.has_value() != there) std::abort();
      if (got && std::ranges::none_of(known, [&](const Stored& o) { return is(o) && o.blob == *got; })) std::abort();
    };
    expect({s.key, s.hash});
    Blob longer = s.key;
    longer.push_back(0);
    expect({longer, s.hash});
    expect({s.key, {~s.hash.low, s.hash.high}});
  }
  return 0;
}
