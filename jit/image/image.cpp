#include "jit/image/image.h"

#include <algorithm>

#include "base/error.h"
#include "jit/image/mapping.h"

// Clang's function sanitizer would read a signature before the code, which generated code has not.
#if defined(__clang__)
#define INGOT_NO_SIGNATURE [[clang::no_sanitize("function")]]
#else
#define INGOT_NO_SIGNATURE
#endif

namespace ingot::jit {

namespace {

class Image final : public CompiledBody {
 public:
  // The artifact's image lies in the mapping from `offset` on.
  Image(std::shared_ptr<const CodeMapping> mapping, size_t offset, Artifact artifact)
      : mapping_(std::move(mapping)),
        code_(mapping_->data() + offset, artifact.image.size()),
        symbols_(std::move(artifact.symbols)) {
    for (const ArtifactEntry& e : artifact.entries) {
      const auto function = reinterpret_cast<Function>(const_cast<uint8_t*>(code_.data()) + e.offset);
      if (e.name == "row") {
        row_ = function;
      } else if (e.name == cat("sweep", sweeps_.size())) {
        sweeps_.push_back(function);
      } else {
        fail(Code::invalid_argument, "artifact: entry ", e.name, " is unknown or out of order");
      }
    }
    if (sweeps_.empty()) fail(Code::invalid_argument, "artifact: no sweep");
  }

  INGOT_NO_SIGNATURE void sweep(unsigned index, const Frame& frame) const noexcept override {
    if (index < sweeps_.size()) sweeps_[index](&frame);
  }
  INGOT_NO_SIGNATURE void row(const Frame& frame) const noexcept override {
    if (row_) row_(&frame);
  }
  bool compiled() const noexcept override { return true; }
  size_t sweeps() const noexcept override { return sweeps_.size(); }
  const uint8_t* code() const noexcept override { return code_.data(); }
  size_t code_size() const noexcept override { return code_.size(); }
  std::span<const ArtifactSymbol> symbols() const noexcept override { return symbols_; }

 private:
  using Function = void (*)(const Frame*);
  std::shared_ptr<const CodeMapping> mapping_;
  std::span<const uint8_t> code_;
  std::vector<ArtifactSymbol> symbols_;
  std::vector<Function> sweeps_;
  Function row_ = nullptr;
};

Artifact decode_for(std::span<const uint8_t> bytes, std::string_view host) {
  Artifact artifact = decode_artifact(bytes);
  if (!can_run(host, artifact.target))
    fail(Code::failed_precondition, "code for ", artifact.target, " on a processor of level ",
         host.empty() ? "none" : host);
  return artifact;
}

}  // namespace

std::shared_ptr<const CompiledBody> load(std::span<const uint8_t> bytes, std::string_view host) {
  Artifact artifact = decode_for(bytes, host);
  auto mapping = std::make_shared<const CodeMapping>(artifact.image);
  return std::make_shared<const Image>(std::move(mapping), 0, std::move(artifact));
}

std::vector<std::shared_ptr<const CompiledBody>> load_batch(std::span<const std::span<const uint8_t>> artifacts,
                                                            std::string_view host) {
  struct Part {
    size_t index, offset;
    Artifact artifact;
  };
  std::vector<Part> parts;
  std::vector<uint8_t> code;
  for (size_t i = 0; i < artifacts.size(); ++i) {
    try {
      Artifact artifact = decode_for(artifacts[i], host);
      const size_t offset = (code.size() + artifact.alignment - 1) / artifact.alignment * artifact.alignment;
      code.resize(offset);
      code.insert(code.end(), artifact.image.begin(), artifact.image.end());
      parts.push_back({i, offset, std::move(artifact)});
    } catch (const Error&) {
      // Its place stays null; whoever loads it alone learns why.
    }
  }
  std::vector<std::shared_ptr<const CompiledBody>> bodies(artifacts.size());
  if (parts.empty()) return bodies;
  const auto mapping = std::make_shared<const CodeMapping>(code);
  for (Part& part : parts) {
    try {
      bodies[part.index] = std::make_shared<const Image>(mapping, part.offset, std::move(part.artifact));
    } catch (const Error&) {
      // As above: its entries are not a kernel's.
    }
  }
  return bodies;
}

}  // namespace ingot::jit
