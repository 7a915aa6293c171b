// The artifact: a kernel's machine code as position-independent bytes, with what the loader must know of it.
//
// Format 1, little-endian; a string is a u32 length and its characters:
//   offset 0   8 bytes   magic "INGOTART"
//          8   u32       format (ModuleStamp::artifact_format)
//         12   u32       frame version (jit/frame.h)
//         16   u64       XXH3-64 of everything from offset 24 on
//         24   string    target: the ISA level that the code needs, "x86-64-v3"
//              u32       alignment of the image: a power of two, at most 4096
//              u32       number of entries, then for each: string name, u64 offset in the image
//              u32       number of symbols, then for each: string name, u64 offset, u64 size (for profilers)
//              u64       size of the image, at least 1
//              zeros up to a multiple of 64 from offset 0, then the image, which ends the bytes
// Entries are "sweep0", "sweep1", ... and "row" if the kernel has row stores.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ingot::jit {

inline constexpr size_t image_alignment = 64;

struct ArtifactEntry {
  std::string name;
  uint64_t offset;
};
struct ArtifactSymbol {
  std::string name;
  uint64_t offset;
  uint64_t size;
};

struct Artifact {
  std::string target;
  uint32_t alignment = image_alignment;
  std::vector<ArtifactEntry> entries;
  std::vector<ArtifactSymbol> symbols;
  std::vector<uint8_t> image;
};

std::vector<uint8_t> encode_artifact(const Artifact& artifact);

// Throws invalid_argument if the bytes are not an artifact of this format and frame version, are damaged, or hold an
// offset outside the image. The code itself is trusted: whoever may write it may run it (SECURITY.md).
Artifact decode_artifact(std::span<const uint8_t> bytes);

// Writes the checksum that the bytes should have into them; at least 24 bytes. For tests and the fuzzer.
void seal_artifact(std::span<uint8_t> bytes);

}  // namespace ingot::jit
