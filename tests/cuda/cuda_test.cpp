// The generated text is pinned by goldens in golden/ (INGOT_WRITE_GOLDENS=1 rewrites them, to be read in the diff) and
// accepted by the real NVRTC: a kernel IR that only made sense on a CPU would show here.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "base/error.h"
#include "jit/cuda/copy.h"
#include "jit/cuda/cubin.h"
#include "jit/cuda/emit.h"
#include "jit/cuda/nodes.h"
#include "jit/cuda/nvrtc.h"
#include "samples.h"

using namespace ingot;

namespace {

// Before anything has loaded one.
const std::string found_at_start = jit::find_nvrtc("");

// A row softmax over f32, as the planner makes it.
loop::Kernel softmax() {
  using namespace loop;
  Builder b(1, 1);
  const Val x = samples::load(b, DType::f32, 3);
  const Val e = samples::fake_exp(x - Val(b, b.op(Prim::fold_max, x.id())));
  samples::store(b, DType::f32, 3, e / Val(b, b.op(Prim::fold_sum, e.id())));
  return b.finish();
}

loop::Kernel full_sum() {
  using namespace loop;
  Builder b(0, 1);
  samples::store(b, DType::f32, 0, samples::load(b, DType::f32, 1).un(Prim::fold_sum));
  return b.finish();
}

std::string read(const std::string& path) {
  std::ifstream f(path);
  std::ostringstream text;
  text << f.rdbuf();
  return text.str();
}

// The part that differs from kernel to kernel.
std::string body(const std::string& text) { return text.substr(text.find("struct Args {")); }

void against_golden(const char* name, const loop::Kernel& kernel) {
  const std::string path = std::string(INGOT_GOLDEN_DIR) + "/" + name + ".cu";
  const std::string text = body(jit::emit_cuda(kernel));
  if (std::getenv("INGOT_WRITE_GOLDENS")) std::ofstream(path) << text;
  CHECK(text == read(path));
}

}  // namespace

TEST_CASE("golden: a pointwise kernel with its 16-byte form") { against_golden("axpy", loop::samples::axpy()); }
TEST_CASE("golden: a stitched row reduction") { against_golden("softmax", softmax()); }
TEST_CASE("golden: f16 in memory, rounded by functions of the text's own") {
  against_golden("softmax_f16", loop::samples::softmax());
}
TEST_CASE("golden: concat, pad and iota") { against_golden("concat_pad", loop::samples::concat_pad()); }
TEST_CASE("golden: a gather with its check") { against_golden("gather", loop::samples::gather()); }
TEST_CASE("golden: scans") { against_golden("scans", loop::samples::scans()); }
TEST_CASE("golden: scans both ways") { against_golden("two_way_scans", loop::samples::two_way_scans()); }
TEST_CASE("golden: columns") { against_golden("column_sum", loop::samples::column_sum()); }
TEST_CASE("golden: a full sum, in parts") { against_golden("full_sum", full_sum()); }
TEST_CASE("golden: a matrix product with its epilogue") { against_golden("matmul", loop::samples::matmul()); }

TEST_CASE("the text holds no inline PTX, no float atomics and no toolkit header") {
  for (const auto& s : loop::samples::all()) {
    const std::string text = jit::emit_cuda(s.kernel);
    for (const char* word : {"asm(", "asm volatile", "atomicAdd", "#include"})
      CHECK(text.find(word) == std::string::npos);
  }
}

TEST_CASE("literals are exact") {
  using jit::cuda::literal;
  CHECK(literal(ir::DType::f32, 0x3dcccccd) == "0x1.99999ap-4f");
  CHECK(literal(ir::DType::f32, 0x80000000) == "-0x0p+0f");
  CHECK(literal(ir::DType::f32, 0x7fc00001) == "bits<float>(0x7fc00001u)");
  CHECK(literal(ir::DType::f64, 0x7ff0000000000000) == "bits<double>(0x7ff0000000000000ull)");
  CHECK(literal(ir::DType::i64, 0x8000000000000000) == "(i64)0x8000000000000000ull");
}

TEST_CASE("every sample compiles to a cubin for sm_90") {
  const char* given = std::getenv("INGOT_NVRTC");
  const std::string library = given ? given : "";
  std::vector<loop::samples::Sample> all = loop::samples::all();
  all.push_back({"softmax_f32", softmax()});
  all.push_back({"full_sum", full_sum()});
  all.push_back({"two_way_scans", loop::samples::two_way_scans()});
  for (const auto& s : all) {
    CAPTURE(s.name);
    try {
      const std::vector<uint8_t> cubin = jit::compile_cubin(jit::emit_cuda(s.kernel), "sm_90", library);
      REQUIRE(cubin.size() > 64);
      CHECK(std::memcmp(cubin.data(),
                        "\x7f"
                        "ELF",
                        4) == 0);
    } catch (const Error& e) {
      if (e.code() != Code::unavailable) throw;
      std::cout << "SKIP: nvrtc: NVRTC is not installed\n";
      return;
    }
  }
}

TEST_CASE("the text of copies compiles to a cubin with its entries, on the caller's thread or one of its own") {
  const char* given = std::getenv("INGOT_NVRTC");
  for (const bool own_thread : {false, true}) {
    try {
      const std::vector<uint8_t> cubin =
          jit::compile_cubin(jit::cuda::copy_text(), "sm_90", given ? given : "", own_thread);
      const jit::CubinResources read = jit::read_cubin(cubin);
      CHECK(read.entries.size() == jit::cuda::copy_entries().size());
    } catch (const Error& e) {
      if (e.code() != Code::unavailable) throw;
      std::cout << "SKIP: nvrtc: NVRTC is not installed\n";
      return;
    }
  }
}

TEST_CASE("axes of a copy that walk both places as one are merged") {
  jit::cuda::CopyArgs a;
  a.add_axis(2, 96, 48);
  a.add_axis(1, 7, 9);
  a.add_axis(3, 32, 16);
  a.add_axis(4, 4, 4);
  CHECK((a.rank == 2 && a.items == 24 && a.extent[0] == 6 && a.from_stride[0] == 32 && a.to_stride[0] == 16));
  CHECK((a.extent[1] == 4 && a.from_stride[1] == 4));
  CHECK(jit::cuda::plan_copy(a, 8, {4}).stages[0].entry == 3);
  a.add_axis(0, 1, 1);
  CHECK(jit::cuda::plan_copy(a, 4, {4}).count == 0);
}

TEST_CASE("the NVRTC that is found without loading it is the one that is loaded") {
  jit::NvrtcInfo loaded;
  try {
    loaded = jit::nvrtc_info("");
  } catch (const Error& e) {
    if (e.code() != Code::unavailable) throw;
    std::cout << "SKIP: nvrtc: NVRTC is not installed\n";
    return;
  }
  CHECK(loaded.major >= 11);
  REQUIRE(!found_at_start.empty());
  CHECK(std::filesystem::equivalent(found_at_start, loaded.path));
  CHECK(std::filesystem::equivalent(jit::find_nvrtc(""), loaded.path));
  CHECK(jit::find_nvrtc("/nowhere/libnvrtc.so").empty());
}

TEST_CASE("a missing library and an unknown target say so") {
  try {
    jit::compile_cubin("", "sm_90", "/nowhere/libnvrtc.so");
    FAIL("compiled");
  } catch (const Error& e) {
    CHECK(e.code() == Code::unavailable);
    CHECK(e.message().find("/nowhere/libnvrtc.so") != std::string::npos);
  }
  for (const char* target : {"sm_", "sm_9x", "x86-64-v3", "sm_90; rm", ""})
    CHECK_THROWS_AS(jit::compile_cubin("", target, ""), Error);
}
