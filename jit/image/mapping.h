// Executable memory: a private mapping that is written once, made read-execute, and never written again.
#pragma once

#include <cstdint>
#include <span>

namespace ingot::jit {

class CodeMapping {
 public:
  enum class How {
    any,       // mprotect, and where that is refused (SELinux, seccomp) the sealed file
    mprotect,  // an anonymous mapping, copied to and then made executable
    memfd,     // a sealed memory file mapped read-execute, so that no page is ever both
  };
  // Copies `code` to fresh pages. Throws unavailable if the system allows no executable memory, out_of_memory if there
  // is none.
  explicit CodeMapping(std::span<const uint8_t> code, How how = How::any);
  ~CodeMapping();
  CodeMapping(const CodeMapping&) = delete;
  CodeMapping& operator=(const CodeMapping&) = delete;

  const uint8_t* data() const { return data_; }  // page-aligned
  size_t size() const { return size_; }

 private:
  uint8_t* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace ingot::jit
