// Build-ids, of files and of what is loaded.
#include "jit/image/build_id.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <unistd.h>

#include <cstring>

#include "base/error.h"
#include "jit/image/module.h"

namespace ingot::jit {

namespace {

// Far above what a linker writes; a hostile header must not make the reader allocate.
constexpr uint64_t most_headers = 4096;
constexpr uint64_t most_notes = 1 << 20;

// The hex digits of the build-id among the notes, or nothing.
std::string id_in_notes(const uint8_t* notes, size_t size, size_t alignment) {
  const auto padded = [&](uint64_t n) { return (n + alignment - 1) / alignment * alignment; };
  while (size >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) head;
    std::memcpy(&head, notes, sizeof head);
    const uint64_t name_at = sizeof head, id_at = name_at + padded(head.n_namesz);
    const uint64_t end = id_at + padded(head.n_descsz);
    if (end > size) break;
    if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 && std::memcmp(notes + name_at, "GNU", 4) == 0) {
      std::string hex;
      for (uint64_t i = 0; i < head.n_descsz; ++i) {
        constexpr char digits[] = "0123456789abcdef";
        hex += digits[notes[id_at + i] >> 4];
        hex += digits[notes[id_at + i] & 15];
      }
      return hex;
    }
    notes += end;
    size -= end;
  }
  return {};
}

class File {
 public:
  explicit File(const std::string& path) : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~File() {
    if (fd_ >= 0) close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  bool read(uint64_t at, void* to, size_t size) const {
    return fd_ >= 0 && pread(fd_, to, size, static_cast<off_t>(at)) == static_cast<ssize_t>(size);
  }

 private:
  const int fd_;
};

}  // namespace

std::string module_build_id(const std::string& path) {
  const File file(path);
  ElfW(Ehdr) head;
  if (!file.read(0, &head, sizeof head)) fail(Code::unavailable, "cannot read ", path);
  if (std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
      head.e_phentsize != sizeof(ElfW(Phdr)) || head.e_phnum > most_headers)
    fail(Code::unavailable, path, " is no 64-bit ELF file");
  std::vector<ElfW(Phdr)> segments(head.e_phnum);
  if (!file.read(head.e_phoff, segments.data(), segments.size() * sizeof segments[0]))
    fail(Code::unavailable, path, " is truncated");
  for (const auto& segment : segments) {
    if (segment.p_type != PT_NOTE || segment.p_filesz > most_notes) continue;
    std::vector<uint8_t> notes(segment.p_filesz);
    if (!file.read(segment.p_offset, notes.data(), notes.size())) fail(Code::unavailable, path, " is truncated");
    std::string id = id_in_notes(notes.data(), notes.size(), segment.p_align == 8 ? 8 : 4);
    if (!id.empty()) return id;
  }
  fail(Code::unavailable, path, " has no GNU build-id");
}

std::string loaded_build_id(const void* address) {
  struct Search {
    uintptr_t address;
    std::string id;
  } search{reinterpret_cast<uintptr_t>(address), {}};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* user) {
        auto& s = *static_cast<Search*>(user);
        bool inside = false;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& p = info->dlpi_phdr[i];
          const uintptr_t begin = info->dlpi_addr + p.p_vaddr;
          if (p.p_type == PT_LOAD && s.address - begin < p.p_memsz) inside = true;
        }
        if (!inside) return 0;
        for (int i = 0; i < info->dlpi_phnum && s.id.empty(); ++i) {
          const auto& p = info->dlpi_phdr[i];
          if (p.p_type == PT_NOTE)
            s.id = id_in_notes(reinterpret_cast<const uint8_t*>(info->dlpi_addr + p.p_vaddr), p.p_memsz,
                               p.p_align == 8 ? 8 : 4);
        }
        return 1;
      },
      &search);
  return search.id;
}

}  // namespace ingot::jit
