// Registers stand in the section .nv.info, as attributes of the kernels' symbols, and up to sm_89 also in the top byte
// of a text section's sh_info; static shared memory is the size of .nv.shared.NAME.
#include "jit/cuda/cubin.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/error.h"

namespace ingot::jit {

namespace {

constexpr uint16_t nvidia_machine = 190;
// Attributes of .nv.info: a byte of format, one of kind, two of size; the size is the value where the format has none.
constexpr uint8_t sized_value = 4, register_count = 0x2f;
constexpr uint32_t most_registers = 255;
constexpr std::string_view text_prefix = ".text.", shared_prefix = ".nv.shared.", reserved_prefix = "reserved.";

class Reader {
 public:
  explicit Reader(std::span<const uint8_t> bytes) : bytes_(bytes) {
    const auto head = at<Elf64_Ehdr>(0);
    if (std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
        head.e_ident[EI_DATA] != ELFDATA2LSB || head.e_machine != nvidia_machine)
      fail(Code::invalid_argument, "no cubin: not a 64-bit ELF file of NVIDIA's");
    if (head.e_shentsize != sizeof(Elf64_Shdr)) damaged("its section headers");
    for (size_t i = 0; i < head.e_shnum; ++i)
      sections_.push_back(
          at<Elf64_Shdr>(part(head.e_shoff, head.e_shnum * sizeof(Elf64_Shdr)) + i * sizeof(Elf64_Shdr)));
    names_ = strings(head.e_shstrndx);
  }

  CubinResources run() {
    CubinResources out;
    for (const Elf64_Shdr& s : sections_)
      if (const std::string_view name = string(names_, s.sh_name); name.starts_with(text_prefix))
        out.entries.push_back({std::string(name.substr(text_prefix.size())), s.sh_info >> 24, 0});
    for (const Elf64_Shdr& s : sections_) {
      std::string_view name = string(names_, s.sh_name);
      if (name == ".nv.info") read_info(s, out);
      if (!name.starts_with(shared_prefix)) continue;
      name.remove_prefix(shared_prefix.size());
      if (name.starts_with(reserved_prefix)) out.reserved_counted = true;
      else if (CubinEntry* e = find(out, name)) e->shared_bytes = number(s.sh_size, UINT32_MAX);
    }
    for (const CubinEntry& e : out.entries)
      if (e.registers > most_registers) damaged("its count of registers");
    return out;
  }

 private:
  [[noreturn]] static void damaged(const char* what) {
    fail(Code::invalid_argument, "a damaged cubin: ", what, " cannot be");
  }

  static CubinEntry* find(CubinResources& all, std::string_view name) {
    const auto found =
        std::find_if(all.entries.begin(), all.entries.end(), [&](const auto& e) { return e.name == name; });
    return found == all.entries.end() ? nullptr : &*found;
  }

  static uint32_t number(uint64_t n, uint64_t most) {
    if (n > most) damaged("a size");
    return static_cast<uint32_t>(n);
  }

  // Where a part begins that lies in the file.
  size_t part(uint64_t offset, uint64_t size) const {
    if (offset > bytes_.size() || size > bytes_.size() - offset) damaged("where a part lies");
    return static_cast<size_t>(offset);
  }

  template <class T>
  T at(uint64_t offset) const {
    T out;
    std::memcpy(&out, bytes_.data() + part(offset, sizeof out), sizeof out);
    return out;
  }

  std::span<const uint8_t> contents(size_t section) const {
    if (section >= sections_.size()) damaged("a section's number");
    const Elf64_Shdr& s = sections_[section];
    return bytes_.subspan(part(s.sh_offset, s.sh_size), static_cast<size_t>(s.sh_size));
  }

  std::string_view strings(size_t section) const {
    const std::span<const uint8_t> bytes = contents(section);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  static std::string_view string(std::string_view table, size_t offset) {
    const size_t end = offset < table.size() ? table.find('\0', offset) : std::string_view::npos;
    if (end == std::string_view::npos) damaged("a name");
    return table.substr(offset, end - offset);
  }

  // The name of a symbol of the table that section `table` is.
  std::string_view symbol(size_t table, uint32_t index) const {
    const std::span<const uint8_t> symbols = contents(table);
    if (index >= symbols.size() / sizeof(Elf64_Sym)) damaged("a symbol's number");
    Elf64_Sym s;
    std::memcpy(&s, symbols.data() + index * sizeof s, sizeof s);
    return string(strings(sections_[table].sh_link), s.st_name);
  }

  void read_info(const Elf64_Shdr& section, CubinResources& out) const {
    std::span<const uint8_t> info = bytes_.subspan(part(section.sh_offset, section.sh_size), section.sh_size);
    while (!info.empty()) {
      if (info.size() < 4) damaged("an attribute");
      uint16_t size = 0;
      std::memcpy(&size, info.data() + 2, sizeof size);
      const uint8_t format = info[0], kind = info[1];
      info = info.subspan(4);
      if (format != sized_value) continue;
      if (size > info.size()) damaged("an attribute's size");
      if (uint32_t value[2]; kind == register_count && size == sizeof value) {
        std::memcpy(value, info.data(), sizeof value);
        if (CubinEntry* e = find(out, symbol(section.sh_link, value[0]))) e->registers = value[1];
      }
      info = info.subspan(size);
    }
  }

  const std::span<const uint8_t> bytes_;
  std::vector<Elf64_Shdr> sections_;
  std::string_view names_;
};

}  // namespace

CubinResources read_cubin(std::span<const uint8_t> cubin) { return Reader(cubin).run(); }

}  // namespace ingot::jit
