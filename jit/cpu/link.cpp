#include "jit/cpu/link.h"

#include <algorithm>
#include <cstring>

#include <llvm/ExecutionEngine/JITLink/JITLink.h>
#include <llvm/ExecutionEngine/JITLink/JITLinkMemoryManager.h>
#include <llvm/ExecutionEngine/JITLink/aarch64.h>
#include <llvm/ExecutionEngine/JITLink/x86_64.h>
#include <llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h>
#include <llvm/Support/SmallVectorMemoryBuffer.h>

#include "base/error.h"
#include "jit/cpu/llvm_compat.h"

namespace ingot::jit {

namespace {
namespace jl = llvm::jitlink;
namespace orc = llvm::orc;

// The image is laid out as if it began here. Any aligned address would do: fixups are differences.
constexpr uint64_t image_base = 0x100000000;

struct Capture {
  std::vector<uint8_t> bytes;
  std::vector<ArtifactSymbol> symbols;
};

llvm::Error refuse(const std::string& why) {
  return llvm::make_error<llvm::StringError>(why, llvm::inconvertibleErrorCode());
}

class ImageAlloc final : public jl::JITLinkMemoryManager::InFlightAlloc {
 public:
  void abandon(OnAbandonedFunction done) override { done(llvm::Error::success()); }
  void finalize(OnFinalizedFunction done) override {
    done(jl::JITLinkMemoryManager::FinalizedAlloc(orc::ExecutorAddr(image_base)));
  }
};

class ImageMemory final : public jl::JITLinkMemoryManager {
 public:
  explicit ImageMemory(Capture& capture) : capture_(capture) {}

  void allocate(const jl::JITLinkDylib*, jl::LinkGraph& graph, OnAllocatedFunction done) override {
    if (!capture_.bytes.empty()) return done(refuse("a second object in one image"));
    jl::BasicLayout layout(graph);
    size_t size = 0;
    for (auto& [group, segment] : layout.segments()) {
      if (static_cast<unsigned>(group.getMemProt()) & static_cast<unsigned>(orc::MemProt::Write))
        return done(refuse("a writable section in " + graph.getName()));
      segment.Addr = orc::ExecutorAddr(image_base + place(size, segment.ContentSize, segment.Alignment.value()));
    }
    capture_.bytes.assign(size, 0);
    for (auto& [group, segment] : layout.segments())
      segment.WorkingMem = reinterpret_cast<char*>(capture_.bytes.data()) + (segment.Addr.getValue() - image_base);
    if (llvm::Error error = layout.apply()) return done(std::move(error));
    done(std::make_unique<ImageAlloc>());
  }

  void deallocate(std::vector<FinalizedAlloc> allocs, OnDeallocatedFunction done) override {
    for (FinalizedAlloc& a : allocs) a.release();
    done(llvm::Error::success());
  }
  using JITLinkMemoryManager::allocate;
  using JITLinkMemoryManager::deallocate;

 private:
  // Segments start at multiples of the image's alignment, so that none shares a cache line with another.
  static size_t place(size_t& size, size_t content, uint64_t alignment) {
    const size_t to = std::max<size_t>(alignment, image_alignment);
    const size_t at = (size + to - 1) / to * to;
    size = at + content;
    return at;
  }
  Capture& capture_;
};

bool pc_relative(bool x86, jl::Edge::Kind kind) {
  if (x86) {
    return kind == jl::x86_64::Delta32 || kind == jl::x86_64::Delta64 || kind == jl::x86_64::PCRel32 ||
           kind == jl::x86_64::BranchPCRel32;
  }
  return kind == jl::aarch64::Delta32 || kind == jl::aarch64::Delta64 || kind == jl::aarch64::Branch26PCRel ||
         kind == jl::aarch64::CondBranch19PCRel || kind == jl::aarch64::TestAndBranch14PCRel ||
         kind == jl::aarch64::LDRLiteral19 || kind == jl::aarch64::ADRLiteral21;
}

std::string name_of(const jl::Symbol& symbol) {
  return symbol.hasName() ? compat::name(symbol) : std::string("(unnamed)");
}

llvm::Error check(bool x86, jl::LinkGraph& graph) {
  for (jl::Symbol* s : graph.external_symbols()) return refuse("undefined symbol " + name_of(*s));
  for (jl::Block* block : graph.blocks())
    for (const jl::Edge& edge : block->edges())
      if (edge.isRelocation() && (!pc_relative(x86, edge.getKind()) || edge.getTarget().isAbsolute()))
        return refuse(std::string("relocation ") + graph.getEdgeKindName(edge.getKind()) + " against " +
                      name_of(edge.getTarget()));
  return llvm::Error::success();
}

class Inspector final : public orc::ObjectLinkingLayer::Plugin {
 public:
  Inspector(bool x86, Capture& capture) : x86_(x86), capture_(capture) {}

  void modifyPassConfig(orc::MaterializationResponsibility&, jl::LinkGraph&, jl::PassConfiguration& config) override {
    // After pruning, since that is when tables of absolute pointers would have been made.
    config.PostPrunePasses.emplace_back([x86 = x86_](jl::LinkGraph& graph) { return check(x86, graph); });
    config.PostFixupPasses.emplace_back([&capture = capture_](jl::LinkGraph& graph) {
      for (jl::Symbol* s : graph.defined_symbols()) {
        if (!s->hasName() || !s->isCallable()) continue;
        capture.symbols.push_back({name_of(*s), s->getAddress().getValue() - image_base, s->getSize()});
      }
      return llvm::Error::success();
    });
  }
  llvm::Error notifyFailed(orc::MaterializationResponsibility&) override { return llvm::Error::success(); }
  llvm::Error notifyRemovingResources(orc::JITDylib&, orc::ResourceKey) override { return llvm::Error::success(); }
  void notifyTransferringResources(orc::JITDylib&, orc::ResourceKey, orc::ResourceKey) override {}

 private:
  const bool x86_;
  Capture& capture_;
};

// Ends the session on every path: its destructor insists on it.
class Session {
 public:
  explicit Session(const Target& target) : session_(compat::executor(llvm::Triple(target.triple))) {
    session_.setErrorReporter([this](llvm::Error error) {
      if (!report_.empty()) report_ += "; ";
      report_ += llvm::toString(std::move(error));
    });
  }
  ~Session() { llvm::cantFail(session_.endSession()); }
  orc::ExecutionSession& operator*() { return session_; }
  orc::ExecutionSession* operator->() { return &session_; }
  const std::string& report() const { return report_; }

 private:
  orc::ExecutionSession session_;
  std::string report_;
};

}  // namespace

void link_image(const Target& target, llvm::SmallVector<char, 0> object, const std::vector<std::string>& names,
                Artifact& artifact) {
  Capture capture;
  {
    ImageMemory memory(capture);
    Session session(target);
    orc::ObjectLinkingLayer layer(*session, memory);
    layer.addPlugin(std::make_shared<Inspector>(target.x86, capture));
    orc::JITDylib& dylib = session->createBareJITDylib("kernel");
    const auto failed = [&](llvm::Error error) {
      // The lookup's own error only says that symbols failed to materialise; the reporter has the reason.
      const std::string lookup = llvm::toString(std::move(error));
      fail(Code::internal, "linking a kernel: ", session.report().empty() ? lookup : session.report());
    };
    auto buffer = std::make_unique<llvm::SmallVectorMemoryBuffer>(std::move(object), "kernel",
                                                                  /*RequiresNullTerminator=*/false);
    if (llvm::Error error = layer.add(dylib, std::move(buffer))) failed(std::move(error));
    orc::SymbolLookupSet wanted;
    for (const std::string& name : names) wanted.add(session->intern(name));
    if (names.empty()) bug("an image without functions");
    auto found = session->lookup({{&dylib, orc::JITDylibLookupFlags::MatchAllSymbols}}, std::move(wanted));
    if (!found) failed(found.takeError());
    for (const std::string& name : names)
      artifact.entries.push_back({name, (*found)[session->intern(name)].getAddress().getValue() - image_base});
  }
  std::ranges::sort(capture.symbols, {}, &ArtifactSymbol::offset);
  artifact.image = std::move(capture.bytes);
  artifact.symbols = std::move(capture.symbols);
}

}  // namespace ingot::jit
