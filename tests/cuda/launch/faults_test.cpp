// What can go wrong with a driver, each as a status in the driver's own words: nothing is leaked, and other backends go
// on.
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "fixture.h"

using namespace launch;

namespace {

// The CPU is none the worse for it.
void cpu_goes_on(const Engine& engine) {
  std::vector<float> in{1, 2, 3, 4}, out = poison;
  std::vector<int64_t> shape{4};
  const ingot_tensor x = host(in, shape), y = host(out, shape);
  const Compiled e(engine, axpb, INGOT_BACKEND_AUTO);
  CHECK(e.run({&x}, {&y}).code == INGOT_OK);
  CHECK(out == std::vector<float>{3, 5, 7, 9});
}

Outcome run_on_host_memory(const Engine& engine, const char* target = nullptr) {
  std::vector<float> in{1, 2, 3, 4}, out = poison;
  std::vector<int64_t> shape{4};
  const ingot_tensor x = host(in, shape), y = host(out, shape);
  const Compiled e(engine, axpb, INGOT_BACKEND_CUDA, target);
  return e.run({&x}, {&y});
}

// A folder of its own that goes with it.
struct Folder {
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "ingot-launch-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()));
    path = name;
  }
  ~Folder() { std::filesystem::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::filesystem::path path;
};

}  // namespace

TEST_CASE("no driver, no device, and a driver that is too old are UNAVAILABLE") {
  standin_reset();
  {
    const Env none("INGOT_CUDA_DRIVER", "/nonexistent/libcuda.so.1");
    const Engine engine;
    const Outcome o = run_on_host_memory(engine);
    CHECK((o.code == INGOT_UNAVAILABLE && o.says("/nonexistent/libcuda.so.1") && o.says("tried")));
    CHECK(engine.sync().code == INGOT_UNAVAILABLE);
    cpu_goes_on(engine);
  }
  {
    const Env none("STANDIN_DEVICES", "0");
    const Engine engine;
    const Outcome o = run_on_host_memory(engine);
    CHECK((o.code == INGOT_UNAVAILABLE && o.says("device")));
    cpu_goes_on(engine);
  }
  {
    const Env old("STANDIN_DRIVER_VERSION", "11080");
    const Engine engine;
    const Outcome o = run_on_host_memory(engine);
    CHECK((o.code == INGOT_UNAVAILABLE && o.says("11.8") && o.says("12.0")));
    cpu_goes_on(engine);
  }
  standin_reset();
}

TEST_CASE_FIXTURE(Device, "NVRTC that is missing, and a kind of GPU that nobody knows") {
  {
    const Env none("INGOT_NVRTC", "/nonexistent/libnvrtc.so");
    const Engine engine;
    const Outcome o = run_on_host_memory(engine);
    CHECK((o.code == INGOT_UNAVAILABLE && o.says("/nonexistent/libnvrtc.so")));
    cpu_goes_on(engine);
  }
  const Engine engine;
  // The device is an sm_90.
  Outcome o = run_on_host_memory(engine, "sm_80");
  CHECK((o.code == INGOT_FAILED_PRECONDITION && o.says("sm_90") && o.says("sm_80")));
  o = run_on_host_memory(engine, "sm_90a");
  CHECK(o.code != INGOT_FAILED_PRECONDITION);
  const Env later("STANDIN_SM", "999");
  const Engine fresh;
  o = run_on_host_memory(fresh);
  CHECK(o.code != INGOT_OK);
  CHECK(o.says("sm_999"));
  cpu_goes_on(fresh);
}

TEST_CASE_FIXTURE(Device, "a cubin is found on disk, and what is damaged there is compiled anew") {
  const Folder folder;
  const auto compiles = [&] {
    const Engine engine(folder.path.string());
    CHECK(run_on_host_memory(engine).code == INGOT_OK);
    return engine.stats().compiles;
  };
  CHECK(compiles() == 1 + copier);
  const auto made = standin_calls("cuModuleLoadData");
  {
    // Found without NVRTC.
    const Env none("INGOT_NVRTC", "/nonexistent/libnvrtc.so");
    CHECK(compiles() == 0);
  }
  CHECK(standin_calls("cuModuleLoadData") == made + 1 + copier);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path)) {
    if (!entry.is_regular_file() || entry.file_size() < 1000) continue;
    std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(entry.file_size() / 2));
    file << "damaged";
  }
  CHECK(compiles() == 1 + copier);
  CHECK(compiles() == 0);
}

namespace {

// The entries of a cache by what the file system calls them: what replaces a file has its name, but not this.
std::set<ino_t> files_in(const Folder& folder) {
  std::set<ino_t> out;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path))
    if (struct stat s{}; entry.is_regular_file() && entry.file_size() > 1000 && stat(entry.path().c_str(), &s) == 0)
      out.insert(s.st_ino);
  return out;
}

}  // namespace

TEST_CASE_FIXTURE(Device, "a cached cubin that the driver refuses is compiled anew, once") {
  const Folder folder;
  const auto run = [&](uint64_t compiles) {
    const Engine engine(folder.path.string());
    const Outcome o = run_on_host_memory(engine);
    CHECK(engine.stats().compiles == compiles);
    return o;
  };
  CHECK(run(1 + copier).code == INGOT_OK);
  for (const int refusal : {200, 209, 222}) {
    const std::set<ino_t> old = files_in(folder);
    standin_fail("cuModuleLoadData", 1, refusal);
    CHECK(run(1).code == INGOT_OK);
    CHECK(files_in(folder) != old);  // what was made has replaced it
    CHECK(run(0).code == INGOT_OK);
  }
  // Once: what is refused anew is told.
  const auto before = standin_calls("cuModuleLoadData");
  standin_fail("cuModuleLoadData", 1, 209);
  standin_fail("cuModuleLoadData", 2, 209);
  const Outcome twice = run(1);
  CHECK((twice.code == INGOT_UNAVAILABLE && twice.says("CUDA_ERROR_NO_BINARY_FOR_GPU")));
  CHECK(standin_calls("cuModuleLoadData") == before + 2);
  {
    // What has just been compiled would be the same.
    const Engine engine;
    standin_fail("cuModuleLoadData", 1, 209);
    CHECK(run_on_host_memory(engine).code == INGOT_UNAVAILABLE);
    CHECK(engine.stats().compiles == 1 + copier);
  }
  standin_fail("cuModuleLoadData", 1, 2);
  CHECK(run(0).code == INGOT_OUT_OF_MEMORY);  // no fault of the cubin
}

TEST_CASE_FIXTURE(Device, "another build of NVRTC makes its own cubins") {
  const Folder folder;
  const auto compiles = [&] {
    const Engine engine(folder.path.string());
    CHECK(run_on_host_memory(engine).code == INGOT_OK);
    return engine.stats().compiles;
  };
  CHECK(compiles() == 1 + copier);
  CHECK(compiles() == 0);
  // The same library but for its build-id.
  std::ifstream from(std::getenv("INGOT_NVRTC"), std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(from), {}};
  const std::string note("\4\0\0\0\24\0\0\0\3\0\0\0GNU\0", 16);
  const size_t at = bytes.find(note);
  REQUIRE(at != std::string::npos);
  bytes[at + note.size()] ^= 1;
  const std::string copy = (folder.path / "libnvrtc_other.so").string();
  std::ofstream(copy, std::ios::binary) << bytes;
  {
    const Env other("INGOT_NVRTC", copy);
    CHECK(compiles() == 1 + copier);
    CHECK(compiles() == 0);
  }
  CHECK(compiles() == 0);
}

namespace {

// A pack of axpb and of a routine, for these targets, as a file.
std::string packed(const Folder& folder, const std::vector<const char*>& targets) {
  const Engine engine;
  const Compiled one(engine, axpb), two(engine, chained);
  ingot_executable* const all[] = {one.get(), two.get()};
  ingot_buffer* bytes = nullptr;
  ok(ingot_executable_pack(all, 2, targets.data(), targets.size(), &bytes));
  const char* data = nullptr;
  size_t size = 0;
  ingot_buffer_data(bytes, &data, &size);
  const std::string path = (folder.path / "app.pack").string();
  std::ofstream(path, std::ios::binary).write(data, static_cast<std::streamsize>(size));
  ingot_buffer_release(bytes);
  return path;
}

// Runs axpb in a context with the pack, and gives what it counted.
ingot_stats with_pack(const std::string& path, const char* target = nullptr) {
  ingot_context_options o = INGOT_CONTEXT_OPTIONS_INIT;
  o.no_disk_cache = 1;
  const char* const packs[] = {path.c_str()};
  o.packs = packs;
  o.n_packs = 1;
  o.trust_host_cache = 1;
  const Engine engine(o);
  const Outcome done = run_on_host_memory(engine, target);
  INFO(done.message);
  CHECK(done.code == INGOT_OK);
  return engine.stats();
}

}  // namespace

TEST_CASE_FIXTURE(Device, "packs hold cubins, which need no NVRTC") {
  const Folder folder;
  for (const auto& targets : {std::vector<const char*>{"sm_90"}, {"sm_80", "sm_90"}, {}}) {
    const std::string path = packed(folder, targets);
    const Env none("INGOT_NVRTC", "/nonexistent/libnvrtc.so");
    const ingot_stats s = with_pack(path);
    CHECK(s.pack_hits == 1 + copier);
    CHECK((s.compiles == 0 && s.disk_hits == 0));
  }
  // Of a later minor version, and one that says which it wants.
  {
    const std::string path = packed(folder, {"sm_80"});
    const Env later("STANDIN_SM", "86");
    CHECK(with_pack(path).pack_hits == 1 + copier);
    CHECK(with_pack(path, "sm_80").pack_hits == 1 + copier);
    CHECK(with_pack(packed(folder, {"sm_87"})).pack_hits == 0);
  }
  // Of another generation: compiled.
  CHECK(with_pack(packed(folder, {"sm_80"})).compiles == 1 + copier);
  // What the driver will not have is compiled in its place.
  const std::string path = packed(folder, {"sm_90"});
  standin_fail("cuModuleLoadData", 1, 209);
  const ingot_stats s = with_pack(path);
  CHECK((s.compiles == 1 && s.pack_hits == 1 + copier));
}

TEST_CASE_FIXTURE(Device, "a pack's targets are those of its executables") {
  const Engine engine;
  const Compiled e(engine, axpb), cpu(engine, axpb, INGOT_BACKEND_INTERPRETER);
  ingot_buffer* bytes = nullptr;
  const auto packing = [&](const Compiled& of, const char* target) {
    ingot_executable* const one = of.get();
    return Outcome(ingot_executable_pack(&one, 1, &target, 1, &bytes));
  };
  CHECK(packing(e, "x86-64-v3").says("sm_90"));
  CHECK(packing(e, "sm_x").code == INGOT_INVALID_ARGUMENT);
  CHECK(packing(cpu, "sm_90").says("INGOT_BACKEND_CUDA"));
  CHECK(bytes == nullptr);
}

TEST_CASE("whichever call of the driver fails, the run tells it and the next one is right") {
  // With how many of an entry's calls there are before the clean-up, whose failures nobody can be told.
  const struct {
    const char* name;
    unsigned calls;
  } entries[] = {{"cuInit", 1},
                 {"cuDeviceGetCount", 1},
                 {"cuDeviceGet", 1},
                 {"cuDeviceGetName", 1},
                 {"cuDeviceGetAttribute", 4},
                 {"cuMemPoolCreate", 1},
                 {"cuMemPoolSetAttribute", 1},
                 {"cuDevicePrimaryCtxRetain", 2},
                 {"cuCtxGetCurrent", 3},
                 {"cuCtxPushCurrent_v2", 2},
                 {"cuStreamIsCapturing", 3},
                 {"cuModuleLoadData", 1},
                 {"cuModuleGetFunction", 2},
                 {"cuMemAlloc_v2", 1},
                 {"cuStreamCreate", 1},
                 {"cuCtxGetId", 2},
                 {"cuMemAllocFromPoolAsync", 1},
                 {"cuMemsetD8Async", 2},
                 {"cuMemcpyHtoDAsync_v2", 1},
                 {"cuLaunchKernel", 1},
                 {"cuMemcpyDtoHAsync_v2", 2},
                 {"cuStreamSynchronize", 2}};
  for (const auto& entry : entries)
    for (unsigned nth = 1; nth <= entry.calls; ++nth) {
      INFO(std::string(entry.name), " fails at call ", nth);
      const Past past;
      const auto held = standin_held();
      {
        const Engine engine;
        const auto before = standin_calls(entry.name);
        standin_fail(entry.name, nth, CUDA_ERROR_OUT_OF_MEMORY);
        const Outcome o = run_on_host_memory(engine);
        REQUIRE(standin_calls(entry.name) >= before + nth);
        // That of cuCtxGetCurrent only means that there is no preference.
        if (std::string(entry.name) != "cuCtxGetCurrent" || nth > 1) {
          CHECK(o.code != INGOT_OK);
          CHECK(o.says("out of memory"));
        }
        const Outcome again = run_on_host_memory(engine);
        INFO(again.message);
        CHECK(again.code == INGOT_OK);
        cpu_goes_on(engine);
      }
      CHECK(standin_held() == held);
    }
}

TEST_CASE_FIXTURE(Past, "an error that the context keeps is FAILED_PRECONDITION, whoever's launch it was") {
  CUcontext own = nullptr;
  REQUIRE(cuCtxCreate_v2(&own, 0, 0) == 0);
  const Engine engine;
  {
    const Compiled e(engine, axpb);
    Array<float> x({1, 2, 3, 4}, {4}), y(poison, {4});
    REQUIRE(e.run({&x.tensor()}, {&y.tensor()}).code == INGOT_OK);
    REQUIRE(engine.sync().code == INGOT_OK);
    // The host frees what an enqueued run still needs: its fault, and the context's end.
    const Stream stream;
    CUdeviceptr gone = 0;
    REQUIRE(cuMemAllocAsync(&gone, 16, stream.get()) == 0);
    ingot_tensor bad = x.tensor();
    bad.data = reinterpret_cast<void*>(gone);
    REQUIRE(cuMemFreeAsync(gone, stream.get()) == 0);
    const Outcome enqueued = e.run_on(stream.get(), {&bad}, {&y.tensor()});
    const Outcome o = engine.sync(stream.get());
    CHECK((enqueued.code != INGOT_OK || o.code == INGOT_FAILED_PRECONDITION));
    if (enqueued.code == INGOT_OK) CHECK(o.says("CUDA_ERROR_ILLEGAL_ADDRESS (700)"));
    CHECK(e.run({&x.tensor()}, {&y.tensor()}).code == INGOT_FAILED_PRECONDITION);
    cpu_goes_on(engine);
  }
  cuCtxDestroy_v2(own);
}

TEST_CASE_FIXTURE(Device, "a forked child cannot use CUDA, and can use the CPU") {
  const Engine engine;
  REQUIRE(run_on_host_memory(engine).code == INGOT_OK);
  const pid_t child = fork();
  if (child == 0) {
    const bool refused =
        run_on_host_memory(engine).code == INGOT_FAILED_PRECONDITION && engine.sync().code == INGOT_FAILED_PRECONDITION;
    std::vector<float> in{1, 2, 3, 4}, out = poison;
    std::vector<int64_t> shape{4};
    const ingot_tensor x = host(in, shape), y = host(out, shape);
    bool right = false;
    {
      const Compiled e(engine, axpb, INGOT_BACKEND_INTERPRETER);
      right = e.run({&x}, {&y}).code == INGOT_OK && out == std::vector<float>{3, 5, 7, 9};
    }
    _exit(refused && right ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
  CHECK(run_on_host_memory(engine).code == INGOT_OK);
}

TEST_CASE_FIXTURE(Device, "a run that must not stall is NOT_READY until the background has compiled") {
  const Engine engine;
  const Compiled e(engine, axpb);
  Array<float> x({1, 2, 3, 4}, {4}), y(poison, {4});
  ingot_run_options o = INGOT_RUN_OPTIONS_INIT;
  o.never_stall = 1;
  CHECK(e.run({&x.tensor()}, {&y.tensor()}, &o).code == INGOT_NOT_READY);
  for (int n = 0; n < 1000; ++n) {
    const Outcome later = e.run({&x.tensor()}, {&y.tensor()}, &o);
    if (later.code == INGOT_OK) break;
    REQUIRE(later.code == INGOT_NOT_READY);
    usleep(10000);
  }
  REQUIRE(engine.sync().code == INGOT_OK);
  CHECK(y.get() == std::vector<float>{3, 5, 7, 9});
  uint32_t cancel = 1;
  o.cancel = &cancel;
  CHECK(e.run({&x.tensor()}, {&y.tensor()}, &o).code == INGOT_CANCELLED);
}

TEST_CASE_FIXTURE(Past, "everything is given back") {
  const Primary primary;  // which would take modules along, were it not held
  const auto held = standin_held();
  {
    const Engine engine;
    const Compiled e(engine, chained);
    for (const int64_t n : {2, 5, 3}) {
      Array<float> x(std::vector<float>(static_cast<size_t>(n * 4), 1), {n, 4});
      Array<float> y(std::vector<float>(static_cast<size_t>(n * 4), 0), {4, n});
      REQUIRE(e.run({&x.tensor()}, {&y.tensor()}).code == INGOT_OK);
      REQUIRE(engine.sync().code == INGOT_OK);
    }
  }
  CHECK(standin_held() == held);
  CHECK(std::string(standin_report()).empty());
}
