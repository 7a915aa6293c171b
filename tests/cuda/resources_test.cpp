// What the kernels of the main kinds take on a device, read off their cubins by cuobjdump: nothing in local memory, and
// 16-byte accesses where the form is for them. INGOT_EXHAUSTIVE adds the other architectures.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <regex>

#include "base/error.h"
#include "jit/cuda/cubin.h"
#include "jit/cuda/emit.h"
#include "jit/cuda/nvrtc.h"
#include "run_test.h"

using namespace ingot;

namespace {

struct Tool {
  std::string path;  // empty where there is none
  Tool() {
    const char* given = std::getenv("INGOT_CUOBJDUMP");
    for (const std::string& p : {std::string(given ? given : ""), std::string("/usr/local/cuda/bin/cuobjdump"),
                                 std::string("/usr/bin/cuobjdump")})
      if (path.empty() && !p.empty() && access(p.c_str(), X_OK) == 0) path = p;
  }

  std::string run(const std::string& option, const std::vector<uint8_t>& cubin) const {
    const std::string file =
        (std::filesystem::temp_directory_path() / cat("ingot_resources_", getpid(), ".cubin")).string();
    std::ofstream(file, std::ios::binary)
        .write(reinterpret_cast<const char*>(cubin.data()), static_cast<std::streamsize>(cubin.size()));
    std::string text;
    const std::unique_ptr<FILE, int (*)(FILE*)> pipe(
        popen(cat("PATH=\"$(dirname ", path, "):$PATH\" ", path, " ", option, " ", file, " 2>&1").c_str(), "r"),
        pclose);
    REQUIRE(pipe);
    char buffer[4096];
    while (const size_t n = std::fread(buffer, 1, sizeof buffer, pipe.get())) text.append(buffer, n);
    std::filesystem::remove(file);
    return text;
  }
};

std::vector<std::string> targets() {
  std::vector<std::string> all{"sm_90"};
  if (std::getenv("INGOT_EXHAUSTIVE")) all.insert(all.end(), {"sm_75", "sm_80", "sm_86", "sm_100", "sm_120"});
  return all;
}

std::vector<uint8_t> compiled(const loop::Kernel& kernel, const std::string& target) {
  const char* given = std::getenv("INGOT_NVRTC");
  return jit::compile_cubin(jit::emit_cuda(kernel), target, given ? given : "");
}

// Whether the tools are there; says so where they are not.
bool available(const Tool& tool) {
  if (tool.path.empty()) {
    std::cout << "SKIP: cuobjdump: cuobjdump is not installed\n";
    return false;
  }
  try {
    const char* given = std::getenv("INGOT_NVRTC");
    jit::compile_cubin("", "sm_90", given ? given : "");
  } catch (const Error& e) {
    if (e.code() != Code::unavailable) throw;
    std::cout << "SKIP: nvrtc: NVRTC is not installed\n";
    return false;
  }
  return true;
}

}  // namespace

TEST_CASE("kernels of the main kinds use no local memory") {
  const Tool tool;
  if (!available(tool)) return;
  std::vector<Shaped> kernels = shaped_kernels();
  for (const ir::DType type : cuda_pointwise) kernels.push_back({"pointwise", pointwise(type), {}});
  for (const ir::DType type : {ir::DType::f32, ir::DType::f64})
    kernels.push_back({"full sum", whole_fold(loop::Prim::fold_sum, type), {}});
  const std::regex entry("Function (\\w+):\\s+REG:(\\d+) STACK:(\\d+) SHARED:(\\d+) LOCAL:(\\d+)");
  for (const std::string& target : targets()) {
    for (const Shaped& s : kernels) {
      const std::string text = tool.run("--dump-resource-usage", compiled(s.kernel, target));
      size_t entries = 0;
      for (std::sregex_iterator i(text.begin(), text.end(), entry), end; i != end; ++i, ++entries) {
        const std::smatch& m = *i;
        if (std::getenv("INGOT_PRINT"))
          std::cout << target << "  " << s.name << "  " << m[1] << "  registers " << m[2] << "  stack " << m[3]
                    << "  shared " << m[4] << "\n";
        INFO(target, ", ", std::string(s.name), ", ", m[0].str());
        CHECK(m[3] == "0");
        CHECK(m[5] == "0");
        CHECK(std::stoi(m[4]) <= 48 * 1024);
      }
      INFO(text);
      CHECK(entries > 0);
    }
  }
}

TEST_CASE("registers and shared memory are read from a cubin as cuobjdump does") {
  const Tool tool;
  if (!available(tool)) return;
  const std::regex entry("Function (\\w+):\\s+REG:(\\d+) STACK:\\d+ SHARED:(\\d+)");
  for (const std::string& target : targets())
    for (const Shaped& s : shaped_kernels()) {
      const std::vector<uint8_t> cubin = compiled(s.kernel, target);
      const jit::CubinResources ours = jit::read_cubin(cubin);
      const std::string text = tool.run("--dump-resource-usage", cubin);
      size_t entries = 0;
      for (std::sregex_iterator i(text.begin(), text.end(), entry), end; i != end; ++i, ++entries) {
        const std::smatch& m = *i;
        INFO(target, ", ", std::string(s.name), ", ", m[0].str());
        const auto found =
            std::find_if(ours.entries.begin(), ours.entries.end(), [&](const auto& e) { return e.name == m[1].str(); });
        REQUIRE(found != ours.entries.end());
        CHECK(found->registers == static_cast<uint32_t>(std::stoi(m[2])));
        CHECK(found->shared_bytes == static_cast<uint32_t>(std::stoi(m[3])));
      }
      CHECK(entries == ours.entries.size());
    }
}

TEST_CASE("the form for compact views makes 16-byte accesses") {
  const Tool tool;
  if (!available(tool)) return;
  for (const std::string& target : targets()) {
    for (const ir::DType type : cuda_pointwise) {
      const std::string text = tool.run("--dump-sass", compiled(pointwise(type), target));
      INFO(target, ", ", ir::name(type));
      if (text.find("nvdisasm") != std::string::npos) {
        std::cout << "SKIP: cuobjdump: nvdisasm is not there beside it\n";
        return;
      }
      CHECK(text.find("LDG.E.128") != std::string::npos);
      CHECK(text.find("STG.E.128") != std::string::npos);
    }
  }
}
