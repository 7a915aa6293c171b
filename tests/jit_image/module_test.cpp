#include "jit/image/module.h"

#include <dlfcn.h>
#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "jit/image/build_id.h"

using namespace ingot;
using namespace ingot::jit;

namespace {

class Directory {
 public:
  Directory() {
    char name[] = "/tmp/ingot-module-XXXXXX";
    if (!mkdtemp(name)) bug("no temporary directory");
    path_ = name;
  }
  ~Directory() { std::filesystem::remove_all(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

template <class F>
Error error_of(F f) {
  try {
    f();
  } catch (const Error& e) {
    return e;
  }
  return {Code::ok, ""};
}

}  // namespace

TEST_CASE("a module that is not there is reported with every place tried") {
  const Directory empty;
  const Error e = error_of([&] { find_module(empty.path()); });
  CHECK(e.code() == Code::unavailable);
  CHECK(e.message().find(empty.path() + "/libingot_cpu.so") != std::string::npos);
  const Error everywhere = error_of([&] { find_module(""); });
  CHECK(everywhere.message().find(INGOT_TEST_MODULE_DIR) == std::string::npos);
}

TEST_CASE("the working directory is never looked through") {
  const Directory here;
  std::ofstream(here.path() + "/libingot_cpu.so") << "not a module";
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(here.path());
  CHECK(error_of([] { find_module("."); }).code() == Code::invalid_argument);
  CHECK(error_of([] { find_module("lib"); }).code() == Code::invalid_argument);
  CHECK(error_of([] { Module::open("libingot_cpu.so", ""); }).code() == Code::invalid_argument);
  CHECK(error_of([] { find_module(""); }).code() == Code::unavailable);
  std::filesystem::current_path(before);
}

TEST_CASE("files without a build-id are refused, whatever they hold") {
  const Directory d;
  const std::string path = d.path() + "/file";
  CHECK(error_of([&] { module_build_id(path); }).code() == Code::unavailable);
  for (const char* content :
       {"", "x", "\177ELF", "not an ELF file, but longer than the header of one, which has 64 bytes"}) {
    std::ofstream(path) << content;
    CHECK(error_of([&] { module_build_id(path); }).code() == Code::unavailable);
  }
  // Every prefix and every damaged header of a real one.
  std::ifstream self("/proc/self/exe", std::ios::binary);
  std::string head(4096, '\0');
  self.read(head.data(), 4096);
  for (size_t size = 0; size < head.size(); size += 7) {
    std::ofstream(path, std::ios::binary) << head.substr(0, size);
    error_of([&] { module_build_id(path); });
  }
  for (size_t at = 0; at < 64; ++at) {
    std::string bad = head;
    bad[at] = static_cast<char>(0xFF);
    std::ofstream(path, std::ios::binary) << bad;
    error_of([&] { module_build_id(path); });
  }
}

TEST_CASE("a file that is no module does not open") {
  const Directory d;
  const std::string path = d.path() + "/libingot_cpu.so";
  std::ofstream(path) << "not a module";
  CHECK(find_module(d.path()) == path);
  CHECK(error_of([&] { Module::open(path, "00"); }).code() == Code::unavailable);
}

TEST_CASE("the module's build-id is the same in the file and when loaded, and another one is refused") {
  if (!*INGOT_TEST_MODULE_DIR) return;  // built without LLVM
  const std::string path = find_module(INGOT_TEST_MODULE_DIR);
  const std::string id = module_build_id(path);
  CHECK(id.size() == 40);
  CHECK(id.find_first_not_of("0123456789abcdef") == std::string::npos);
  const Error e = error_of([&] { Module::open(path, std::string(40, '0')); });
  CHECK(e.code() == Code::unavailable);
  CHECK(e.message().find(id) != std::string::npos);

  const auto module = Module::open(path, id);
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD);
  REQUIRE(handle);
  CHECK(loaded_build_id(dlsym(handle, "ingot_cpu_module")) == id);
  dlclose(handle);

  const uint8_t junk[] = {1, 2, 3};
  CHECK(error_of([&] { module->compile(junk, "x86-64-v2"); }).code() == Code::invalid_argument);
  CHECK(error_of([&] { module->compile(junk, "pdp-11"); }).code() == Code::invalid_argument);
  CHECK(error_of([&] { module->compile({}, "x86-64-v2"); }).code() == Code::invalid_argument);
}
