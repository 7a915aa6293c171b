#include "jit/image/artifact.h"

#include <bit>
#include <cstring>

#include "base/bytes.h"
#include "base/hash.h"
#include "jit/backend.h"

namespace ingot::jit {

namespace {
constexpr char magic[8] = {'I', 'N', 'G', 'O', 'T', 'A', 'R', 'T'};
constexpr size_t checksum_at = 16;
constexpr size_t content_at = 24;
constexpr size_t least_item = 4 + 8;  // of an entry: an empty name and an offset

template <class... Args>
[[noreturn]] void bad(const Args&... why) {
  fail(Code::invalid_argument, "artifact: ", why...);
}

uint64_t checksum(std::span<const uint8_t> bytes) {
  return hash64(bytes.data() + content_at, bytes.size() - content_at);
}

// A count that the bytes left could hold: a hostile one must not make the reader reserve memory.
uint32_t count(ByteReader& in, const char* what) {
  const auto n = in.get<uint32_t>();
  if (n > in.left() / least_item) bad(n, " ", what, " in ", in.left(), " bytes");
  return n;
}
}  // namespace

std::vector<uint8_t> encode_artifact(const Artifact& artifact) {
  ByteWriter out;
  out.put_bytes({reinterpret_cast<const uint8_t*>(magic), sizeof magic});
  out.put(module_stamp.artifact_format);
  out.put(module_stamp.frame);
  out.put(uint64_t{0});
  out.put_string(artifact.target);
  out.put(artifact.alignment);
  out.put(static_cast<uint32_t>(artifact.entries.size()));
  for (const ArtifactEntry& e : artifact.entries) {
    out.put_string(e.name);
    out.put(e.offset);
  }
  out.put(static_cast<uint32_t>(artifact.symbols.size()));
  for (const ArtifactSymbol& s : artifact.symbols) {
    out.put_string(s.name);
    out.put(s.offset);
    out.put(s.size);
  }
  out.put(uint64_t{artifact.image.size()});
  out.align(image_alignment);
  out.put_bytes(artifact.image);
  seal_artifact(out.bytes());
  return std::move(out.bytes());
}

void seal_artifact(std::span<uint8_t> bytes) {
  const uint64_t sum = checksum(bytes);
  std::memcpy(bytes.data() + checksum_at, &sum, sizeof sum);
}

Artifact decode_artifact(std::span<const uint8_t> bytes) {
  if (bytes.size() < content_at) bad(bytes.size(), " bytes, fewer than its header has");
  ByteReader in(bytes);
  if (std::memcmp(in.take(sizeof magic).data(), magic, sizeof magic) != 0) bad("no magic");
  if (const auto v = in.get<uint32_t>(); v != module_stamp.artifact_format) bad("format ", v);
  if (const auto v = in.get<uint32_t>(); v != module_stamp.frame) bad("frame version ", v);
  if (in.get<uint64_t>() != checksum(bytes)) bad("its checksum is wrong");

  Artifact a;
  a.target = in.get_string();
  a.alignment = in.get<uint32_t>();
  if (!std::has_single_bit(a.alignment) || a.alignment > 4096) bad("alignment ", a.alignment);
  for (uint32_t n = count(in, "entries"); n > 0; --n) {
    const std::string_view name = in.get_string();
    a.entries.push_back({std::string(name), in.get<uint64_t>()});
  }
  for (uint32_t n = count(in, "symbols"); n > 0; --n) {
    const std::string_view name = in.get_string();
    const auto offset = in.get<uint64_t>();
    a.symbols.push_back({std::string(name), offset, in.get<uint64_t>()});
  }
  const auto size = in.get<uint64_t>();
  for (const uint8_t pad : in.take((image_alignment - in.position() % image_alignment) % image_alignment))
    if (pad != 0) bad("padding that is not zero");
  if (size == 0 || size != in.left()) bad("an image of ", size, " bytes, and ", in.left(), " are left");
  const auto image = in.take(size);
  a.image.assign(image.begin(), image.end());
  for (const ArtifactEntry& e : a.entries)
    if (e.offset >= size) bad("entry ", e.name, " lies outside the image");
  for (const ArtifactSymbol& s : a.symbols)
    if (s.offset > size || s.size > size - s.offset) bad("symbol ", s.name, " lies outside the image");
  return a;
}

}  // namespace ingot::jit
