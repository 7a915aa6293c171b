#include "jit/image/image.h"

#include <algorithm>

#include "base/error.h"
#include "jit/image/mapping.h"

namespace ingot::jit {

namespace {

class Image final : public CompiledBody {
 public:
  explicit Image(Artifact artifact) : code_(artifact.image), symbols_(std::move(artifact.symbols)) {
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

  void sweep(unsigned index, const Frame& frame) const noexcept override {
    if (index < sweeps_.size()) sweeps_[index](&frame);
  }
  void row(const Frame& frame) const noexcept override {
    if (row_) row_(&frame);
  }
  bool compiled() const noexcept override { return true; }
  size_t sweeps() const noexcept override { return sweeps_.size(); }
  const uint8_t* code() const noexcept override { return code_.data(); }
  size_t code_size() const noexcept override { return code_.size(); }
  std::span<const ArtifactSymbol> symbols() const noexcept override { return symbols_; }

 private:
  using Function = void (*)(const Frame*);
  CodeMapping code_;
  std::vector<ArtifactSymbol> symbols_;
  std::vector<Function> sweeps_;
  Function row_ = nullptr;
};

}  // namespace

std::shared_ptr<const CompiledBody> load(std::span<const uint8_t> bytes, std::string_view host) {
  Artifact artifact = decode_artifact(bytes);
  if (!can_run(host, artifact.target))
    fail(Code::failed_precondition, "code for ", artifact.target, " on a processor of level ",
         host.empty() ? "none" : host);
  return std::make_shared<const Image>(std::move(artifact));
}

}  // namespace ingot::jit
