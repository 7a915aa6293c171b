// What the reader of cubins makes of files that no compiler wrote. Against those of NVRTC: resources_test.cpp.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "jit/cuda/cubin.h"

#include <doctest/doctest.h>
#include <elf.h>

#include <cstring>

#include "base/error.h"

using namespace ingot;
using namespace ingot::jit;

namespace {

struct Section {
  std::string name;
  std::string bytes;
  uint32_t type = SHT_PROGBITS, info = 0, link = 0;
  uint64_t size = 0;  // where the file holds nothing of it
};

std::string plain(auto value) { return {reinterpret_cast<const char*>(&value), sizeof value}; }

// Section 0 is empty, as in every ELF file; the last one holds the names.
std::vector<uint8_t> elf(std::vector<Section> sections) {
  sections.insert(sections.begin(), Section{"", "", SHT_NULL});
  sections.push_back({".shstrtab", "", SHT_STRTAB});
  std::string names, body(sizeof(Elf64_Ehdr), '\0');
  std::vector<Elf64_Shdr> headers;
  for (const Section& s : sections) {
    Elf64_Shdr h{};
    h.sh_name = static_cast<Elf64_Word>(names.size());
    names += s.name + '\0';
    h.sh_type = s.type;
    h.sh_info = s.info;
    h.sh_link = s.link;
    headers.push_back(h);
  }
  sections.back().bytes = names;
  for (size_t i = 0; i < sections.size(); ++i) {
    headers[i].sh_offset = body.size();
    headers[i].sh_size = sections[i].bytes.empty() ? sections[i].size : sections[i].bytes.size();
    body += sections[i].bytes;
  }
  Elf64_Ehdr head{};
  std::memcpy(head.e_ident, ELFMAG, SELFMAG);
  head.e_ident[EI_CLASS] = ELFCLASS64;
  head.e_ident[EI_DATA] = ELFDATA2LSB;
  head.e_machine = 190;
  head.e_shoff = body.size();
  head.e_shentsize = sizeof(Elf64_Shdr);
  head.e_shnum = static_cast<Elf64_Half>(sections.size());
  head.e_shstrndx = static_cast<Elf64_Half>(sections.size() - 1);
  for (const Elf64_Shdr& h : headers) body += plain(h);
  std::memcpy(body.data(), &head, sizeof head);
  return {body.begin(), body.end()};
}

// Two kernels: registers in .nv.info and in the section's own header; shared memory of one.
std::vector<uint8_t> sample() {
  Elf64_Sym symbol{};
  symbol.st_name = 1;
  const std::string info = plain(uint32_t{0x00082f04}) + plain(uint32_t{1}) + plain(uint32_t{52}) +  // registers
                           plain(uint32_t{0x00010103}) +                                             // no value
                           plain(uint32_t{0x00041104}) + plain(uint32_t{9});                         // another kind
  return elf({{"", "", SHT_NULL},
              {".strtab", std::string("\0first\0", 7), SHT_STRTAB},
              {".symtab", plain(Elf64_Sym{}) + plain(symbol), SHT_SYMTAB, 0, 2},
              {".nv.info", info, SHT_LOPROC, 0, 3},
              {".text.first", "code"},
              {".text.second", "code", SHT_PROGBITS, 40u << 24 | 7},
              {".nv.shared.first", "", SHT_NOBITS, 0, 0, 41224},
              {".nv.shared.reserved.0", "", SHT_NOBITS}});
}

}  // namespace

TEST_CASE("registers and shared memory of each kernel") {
  const CubinResources r = read_cubin(sample());
  REQUIRE(r.entries.size() == 2);
  CHECK(r.entries[0].name == "first");
  CHECK((r.entries[0].registers == 52 && r.entries[0].shared_bytes == 41224));
  CHECK(r.entries[1].name == "second");
  CHECK((r.entries[1].registers == 40 && r.entries[1].shared_bytes == 0));
  CHECK(r.reserved_counted);
}

TEST_CASE("a damaged cubin is refused, whatever is wrong with it") {
  const std::vector<uint8_t> whole = sample();
  const auto refused_or_read = [](const std::vector<uint8_t>& bytes) {
    try {
      read_cubin(bytes);
      return false;
    } catch (const Error& e) {
      CHECK(e.code() == Code::invalid_argument);
      return true;
    }
  };
  // The section headers stand last, so that no shorter file is whole.
  for (size_t n = 0; n < whole.size(); ++n) {
    CAPTURE(n);
    CHECK(refused_or_read({whole.begin(), whole.begin() + static_cast<ptrdiff_t>(n)}));
  }
  size_t refused = 0;
  for (size_t at = 0; at < whole.size(); ++at)
    for (const int value : {0x00, 0x01, 0x7f, 0x80, 0xff}) {
      std::vector<uint8_t> changed = whole;
      changed[at] = static_cast<uint8_t>(value);
      refused += refused_or_read(changed);
    }
  CHECK(refused > 500);
}
