#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace standin {

// A symbol of a cubin's table.
struct Symbol {
  std::string name;
  uint64_t value, size;
  uint64_t offset;  // in the file, of what the file holds
  bool shared;      // lies in what __shared__ stands for: thread-local storage
};

// What the ELF file at p says of itself. No size comes with it, as in cuModuleLoadData: what is read is bounded by what
// its own header says.
struct Cubin {
  bool valid = false;
  unsigned target = 0;
  uint64_t bytes = 0;
  uint64_t shared_bytes = 0;  // of the thread-local segment
  std::vector<Symbol> symbols;

  // Bytes of static shared memory that a kernel names.
  uint64_t static_shared(const void* image, const std::string& kernel) const;
  const Symbol* find(const std::string& name) const;
};

Cubin read_cubin(const void* p);

// Makes a cubin of a shared object, and the other way round: the header's machine and flags.
void mark_cubin(std::vector<char>& elf, unsigned target);
void unmark_cubin(std::vector<char>& elf);

// Registers of a thread, of every kernel; there are none to count.
inline constexpr unsigned made_up_registers = 32;

// Adds the empty sections in which a cubin says what a kernel takes: .text.NAME with registers, .nv.shared.NAME.
struct Taken {
  std::string kernel;
  uint64_t shared_bytes;
};
void add_resources(std::vector<char>& elf, const std::vector<Taken>& kernels);

}  // namespace standin
