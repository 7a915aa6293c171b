#include "cache/pack.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <tuple>

#include "base/bytes.h"
#include "cache/directory.h"

namespace ingot::cache {

namespace {

constexpr std::array<uint8_t, 8> magic = {'I', 'N', 'G', 'O', 'T', 'P', 'A', 'K'};
constexpr size_t covered_from = 32;
constexpr size_t index_at = 48 + pack_maker_size;
constexpr size_t place_size = 32;
// Far above what anyone packs; bounds the memory that a hostile or sparse file makes the reader take.
constexpr uint64_t most_entries = uint64_t{1} << 20;
constexpr uint64_t most_entry_bytes = uint64_t{256} << 20;

auto order(const Hash128& h) { return std::tuple(h.high, h.low); }

// A regular file that not everyone may write to; `size` is its size. Links are followed and owners not asked: the host
// said that it trusts the path. On failure invalid, with the reason in `fault`.
Fd open_pack(const std::string& path, uint64_t& size, std::string& fault) {
  // O_NONBLOCK: a pipe in its place must not block.
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat info;
  if (!fd || fstat(fd.get(), &info) != 0) {
    fault = cat("cannot be opened: ", errno_text(errno));
  } else if (!S_ISREG(info.st_mode)) {
    fault = "is not a regular file";
  } else if (info.st_mode & S_IWOTH) {
    fault = "is writable by everyone";
  } else {
    size = static_cast<uint64_t>(info.st_size);
    return fd;
  }
  return Fd();
}

}  // namespace

Blob encode_pack(std::vector<std::pair<Key, Blob>> entries, std::string_view maker) {
  std::ranges::stable_sort(entries, [](const auto& a, const auto& b) {
    return std::tie(a.first.hash.high, a.first.hash.low, a.first.bytes) <
           std::tie(b.first.hash.high, b.first.hash.low, b.first.bytes);
  });
  const auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
  const auto surplus = std::ranges::unique(entries, same);
  entries.erase(surplus.begin(), surplus.end());

  std::vector<Blob> encoded;
  for (const auto& [key, blob] : entries) encoded.push_back(encode_entry({key.bytes, blob}));
  uint64_t offset = index_at + entries.size() * place_size;
  ByteWriter index;
  for (size_t i = 0; i < entries.size(); ++i) {
    index.put(entries[i].first.hash.low);
    index.put(entries[i].first.hash.high);
    index.put(offset);
    index.put(uint64_t{encoded[i].size()});
    offset += encoded[i].size();
  }
  std::array<uint8_t, pack_maker_size> name{};
  std::ranges::copy(maker.substr(0, name.size()), name.begin());
  ByteWriter covered;
  covered.put(offset);
  covered.put(uint64_t{entries.size()});
  covered.put_bytes(name);
  covered.put_bytes(index.bytes());
  const Hash128 checksum = hash128(covered.bytes());

  ByteWriter out;
  out.put_bytes(magic);
  out.put(pack_format_version);
  out.put(uint32_t{0});
  out.put(checksum.low);
  out.put(checksum.high);
  out.put_bytes(covered.bytes());
  for (const Blob& entry : encoded) out.put_bytes(entry);
  return std::move(out.bytes());
}

std::shared_ptr<Pack> Pack::open(std::string path, Log log) {
  std::shared_ptr<Pack> pack(new Pack(std::move(path), std::move(log)));
  pack->fault_ = pack->read_index();
  if (!pack->fault_.empty()) {
    pack->index_.clear();
    pack->log_.write(LogLevel::warning, "pack '", pack->path_, "' is not used: it ", pack->fault_);
  }
  return pack;
}

std::string Pack::read_index() {
  uint64_t file_size = 0;
  std::string fault;
  const Fd fd = open_pack(path_, file_size, fault);
  if (!fd) return fault;
  std::array<uint8_t, index_at> head;
  if (file_size < head.size()) return "is shorter than a pack's header";
  if (const int error = read_exactly(fd.get(), head, 0)) return cat("cannot be read: ", errno_text(error));
  ByteReader r(head);
  if (!std::ranges::equal(r.take(magic.size()), magic)) return "is no pack";
  if (r.get<uint32_t>() != pack_format_version || r.get<uint32_t>() != 0) return "has another format version";
  Hash128 checksum;
  checksum.low = r.get<uint64_t>();
  checksum.high = r.get<uint64_t>();
  if (r.get<uint64_t>() != file_size) return "does not have the size that it states";
  const auto count = r.get<uint64_t>();
  // Before anything is allocated by it.
  if (count > most_entries || count > (file_size - index_at) / place_size)
    return "states more entries than it has room for";
  Blob covered(head.begin() + covered_from, head.end());
  covered.resize(covered.size() + count * place_size);
  const std::span<uint8_t> index = std::span(covered).subspan(index_at - covered_from);
  if (const int error = read_exactly(fd.get(), index, index_at)) return cat("cannot be read: ", errno_text(error));
  if (hash128(covered) != checksum) return "is damaged: the checksum of its index does not match";

  const auto* name = reinterpret_cast<const char*>(&head[48]);
  maker_.assign(name, strnlen(name, pack_maker_size));
  ByteReader places(index);
  uint64_t at = index_at + index.size();
  index_.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    Place place;
    place.hash.low = places.get<uint64_t>();
    place.hash.high = places.get<uint64_t>();
    place.offset = places.get<uint64_t>();
    place.size = places.get<uint64_t>();
    if (place.offset != at || place.size > std::min(file_size - at, most_entry_bytes))
      return "has an index that does not match its entries";
    if (!index_.empty() && order(place.hash) < order(index_.back().hash)) return "has an index out of order";
    at += place.size;
    index_.push_back(place);
  }
  return at == file_size ? "" : "has bytes after its entries";
}

std::optional<Blob> Pack::read_entry(const Place& place, const Key& key, Miss& miss) const {
  uint64_t size = 0;
  std::string fault;
  const Fd fd = open_pack(path_, size, fault);
  if (!fd) {
    miss = {MissReason::io, std::move(fault), {}};
    return std::nullopt;
  }
  const char* wrong = "shorter than when it was opened";
  if (place.offset > size || place.size > size - place.offset) {  // before memory is taken by it
    miss = {MissReason::content, wrong, {}};
    return std::nullopt;
  }
  Blob bytes(place.size);
  if (const int error = read_exactly(fd.get(), bytes, place.offset)) {
    miss = {MissReason::io, cat("cannot be read: ", errno_text(error)), {}};
    return std::nullopt;
  }
  auto entry = decode_entry(std::move(bytes), wrong);
  if (entry) return blob_under(key, std::move(*entry), miss);
  miss = {MissReason::content, wrong, {}};
  return std::nullopt;
}

std::optional<Blob> Pack::get(const Key& key, Miss* why) {
  Miss miss;
  auto place = std::ranges::lower_bound(index_, order(key.hash), {}, [](const Place& p) { return order(p.hash); });
  for (; place != index_.end() && place->hash == key.hash; ++place) {
    miss = {};
    if (auto blob = read_entry(*place, key, miss)) return blob;
    const bool faulty = miss.reason != MissReason::collision;
    if (faulty && !warned_.exchange(true))
      log_.write(LogLevel::warning, "pack '", path_, "': an entry is not used: ", miss.detail);
  }
  if (why) *why = std::move(miss);
  return std::nullopt;
}

}  // namespace ingot::cache
