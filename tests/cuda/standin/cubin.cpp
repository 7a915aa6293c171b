#include "cubin.h"

#include <elf.h>

#include <algorithm>
#include <cstring>

#include "table.h"

namespace standin {

const Symbol* Cubin::find(const std::string& name) const {
  for (const Symbol& s : symbols)
    if (s.name == name) return &s;
  return nullptr;
}

uint64_t Cubin::static_shared(const void* image, const std::string& kernel) const {
  const Symbol* const s = find("standin_static_" + kernel);
  uint64_t out = 0;
  if (s) std::memcpy(&out, static_cast<const char*>(image) + s->offset, sizeof out);
  return out;
}

Cubin read_cubin(const void* p) {
  Cubin out;
  const char* base = static_cast<const char*>(p);
  Elf64_Ehdr header;
  if (std::memcmp(base, ELFMAG, SELFMAG) != 0) return out;
  std::memcpy(&header, base, sizeof header);
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != cuda_machine || header.e_type != ET_DYN ||
      header.e_shentsize != sizeof(Elf64_Shdr) || header.e_phentsize != sizeof(Elf64_Phdr))
    return out;
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  std::memcpy(sections.data(), base + header.e_shoff, sections.size() * sizeof(Elf64_Shdr));
  out.target = header.e_flags;
  out.bytes = header.e_shoff + sections.size() * sizeof(Elf64_Shdr);
  for (const Elf64_Shdr& s : sections)
    if (s.sh_type != SHT_NOBITS) out.bytes = std::max(out.bytes, s.sh_offset + s.sh_size);
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    std::memcpy(&segment, base + header.e_phoff + i * sizeof segment, sizeof segment);
    if (segment.p_type == PT_TLS) out.shared_bytes = segment.p_memsz;
  }
  for (const Elf64_Shdr& s : sections) {
    if (s.sh_type != SHT_SYMTAB || s.sh_link >= sections.size()) continue;
    const char* names = base + sections[s.sh_link].sh_offset;
    for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= s.sh_size; at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      std::memcpy(&symbol, base + s.sh_offset + at, sizeof symbol);
      if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx >= sections.size()) continue;
      const unsigned type = ELF64_ST_TYPE(symbol.st_info);
      if (type != STT_OBJECT && type != STT_FUNC && type != STT_TLS) continue;
      const Elf64_Shdr& home = sections[symbol.st_shndx];
      out.symbols.push_back({names + symbol.st_name, symbol.st_value, symbol.st_size,
                             home.sh_offset + symbol.st_value - home.sh_addr, type == STT_TLS});
    }
  }
  out.valid = out.find("standin_table") != nullptr;
  return out;
}

namespace {

void set_header(std::vector<char>& elf, unsigned machine, unsigned flags) {
  Elf64_Ehdr header;
  std::memcpy(&header, elf.data(), sizeof header);
  header.e_machine = static_cast<Elf64_Half>(machine);
  header.e_flags = flags;
  std::memcpy(elf.data(), &header, sizeof header);
}

}  // namespace

void mark_cubin(std::vector<char>& elf, unsigned target) { set_header(elf, cuda_machine, target); }
void unmark_cubin(std::vector<char>& elf) { set_header(elf, host_machine, 0); }

void add_resources(std::vector<char>& elf, const std::vector<Taken>& kernels) {
  Elf64_Ehdr header;
  std::memcpy(&header, elf.data(), sizeof header);
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  std::memcpy(sections.data(), elf.data() + header.e_shoff, sections.size() * sizeof(Elf64_Shdr));
  const Elf64_Shdr old = sections[header.e_shstrndx];
  std::string names(elf.data() + old.sh_offset, old.sh_size);
  const auto add = [&](const std::string& name, Elf64_Word type, uint64_t size, Elf64_Word info) {
    Elf64_Shdr s{};
    s.sh_name = static_cast<Elf64_Word>(names.size());
    names += name + '\0';
    s.sh_type = type;
    s.sh_size = size;
    s.sh_info = info;
    sections.push_back(s);
  };
  for (const Taken& k : kernels) {
    add(".text." + k.kernel, SHT_PROGBITS, 0, made_up_registers << 24);
    if (k.shared_bytes > 0) add(".nv.shared." + k.kernel, SHT_NOBITS, k.shared_bytes, 0);
  }
  sections[header.e_shstrndx].sh_offset = elf.size();
  sections[header.e_shstrndx].sh_size = names.size();
  elf.insert(elf.end(), names.begin(), names.end());
  elf.resize((elf.size() + 7) / 8 * 8);
  header.e_shoff = elf.size();
  header.e_shnum = static_cast<Elf64_Half>(sections.size());
  const char* table = reinterpret_cast<const char*>(sections.data());
  elf.insert(elf.end(), table, table + sections.size() * sizeof(Elf64_Shdr));
  std::memcpy(elf.data(), &header, sizeof header);
}

}  // namespace standin
