// libingot as a plugin: opened and closed again and again, and twice in one process. Not linked to this program.
#include <dlfcn.h>
#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "ingot/ingot.h"

namespace {

// A copy of the library, opened for itself.
class Library {
 public:
  explicit Library(const std::string& path) : handle_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    const char* why = handle_ ? "" : dlerror();
    INFO(std::string(why));
    REQUIRE(handle_);
    const auto get = reinterpret_cast<decltype(&ingot_get_proc_table)>(dlsym(handle_, "ingot_get_proc_table"));
    REQUIRE((get != nullptr));
    table = get(INGOT_VERSION_MAJOR);
    REQUIRE(table);
  }
  ~Library() { CHECK(dlclose(handle_) == 0); }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  const ingot_proc_table* table;

 private:
  void* handle_;
};

bool ok(const ingot_proc_table& f, ingot_status* status) {
  const bool good = status == nullptr;
  f.ingot_status_release(status);
  return good;
}

constexpr char text[] =
    "ingot 1.0\ngraph @g(%x: f32[N]) -> (f32[N]) {\n  %0 = mul %x, 2.0\n  %1 = add %0, 1.0\n  return %1\n}\n";

// Compiles and runs; several tasks, so that the pool has threads.
bool works(const ingot_proc_table& f, ingot_context* context) {
  constexpr int64_t n = 200000;
  std::string in(n * sizeof(float), 0), out = in;
  auto* x = reinterpret_cast<float*>(in.data());
  for (int64_t i = 0; i < n; ++i) x[i] = static_cast<float>(i % 100);
  int64_t shape[] = {n};
  ingot_tensor a{x, {1, 0}, 1, {2, 32, 1}, shape, nullptr, 0}, b = a;
  b.data = out.data();
  const ingot_tensor *ins[] = {&a}, *outs[] = {&b};
  ingot_graph* graph = nullptr;
  ingot_executable* executable = nullptr;
  bool good = ok(f, f.ingot_graph_parse(context, text, INGOT_NUL, &graph)) &&
              ok(f, f.ingot_compile(context, graph, nullptr, &executable)) &&
              ok(f, f.ingot_run(executable, ins, 1, outs, 1, nullptr));
  const auto* y = reinterpret_cast<const float*>(out.data());
  for (int64_t i = 0; i < n; ++i) good = good && y[i] == 2 * static_cast<float>(i % 100) + 1;
  f.ingot_executable_release(executable);
  f.ingot_graph_release(graph);
  return good;
}

ingot_context* context_of(const ingot_proc_table& f) {
  ingot_context_options o = INGOT_CONTEXT_OPTIONS_INIT;
  o.no_disk_cache = 1;
  o.ignore_environment = 1;
  o.num_threads = 2;
  ingot_context* context = nullptr;
  REQUIRE(ok(f, f.ingot_context_create(&o, &context)));
  return context;
}

// Lines of /proc/self/maps that name a libingot.
size_t mapped() {
  size_t n = 0;
  std::FILE* maps = std::fopen("/proc/self/maps", "re");
  char line[4096];
  while (maps && std::fgets(line, sizeof line, maps)) n += std::string(line).find("libingot.so") != std::string::npos;
  if (maps) std::fclose(maps);
  return n;
}

size_t open_files() {
  size_t n = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) n += !entry.path().empty();
  return n;
}

}  // namespace

TEST_CASE("opened, used and closed 100 times") {
  size_t files = 0;
  for (int i = 0; i < 100; ++i) {
    {
      const Library library(LIBINGOT);
      ingot_context* context = context_of(*library.table);
      CHECK(works(*library.table, context));
      library.table->ingot_context_release(context);
    }
    // Unloaded for good (but under a sanitizer, which keeps everything), and nothing is left open. A fork finds no
    // handlers of code that is gone.
    if (i == 0) files = open_files();
    REQUIRE(open_files() == files);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    REQUIRE(mapped() == 0);
#endif
    if (i % 10 == 0) {
      const pid_t child = fork();
      if (child == 0) _exit(0);
      CHECK(child > 0);
    }
  }
}

TEST_CASE("two copies in one process share nothing") {
  std::string pattern = (std::filesystem::temp_directory_path() / "ingot-copy-XXXXXX").string();
  REQUIRE(mkdtemp(pattern.data()));
  const std::filesystem::path here = std::filesystem::path(LIBINGOT).parent_path(), there = pattern;
  std::filesystem::copy_file(LIBINGOT, there / "libingot.so");
  if (std::filesystem::exists(here / "libingot_cpu.so"))
    std::filesystem::create_symlink(here / "libingot_cpu.so", there / "libingot_cpu.so");
  {
    const Library one(LIBINGOT), other((there / "libingot.so").string());
    CHECK(one.table != other.table);
    ingot_context *a = context_of(*one.table), *b = context_of(*other.table);
    CHECK(works(*one.table, a));
    CHECK(works(*other.table, b));
    ingot_stats of_a = INGOT_STATS_INIT, of_b = INGOT_STATS_INIT;
    REQUIRE(ok(*one.table, one.table->ingot_context_stats(a, &of_a)));
    REQUIRE(ok(*other.table, other.table->ingot_context_stats(b, &of_b)));
    CHECK(of_a.runs == 1);
    CHECK(of_b.runs == 1);
    CHECK(of_a.compiles + of_a.interpreted == 1);
    CHECK(of_b.compiles + of_b.interpreted == 1);
    one.table->ingot_context_release(a);
    CHECK(works(*other.table, b));
    other.table->ingot_context_release(b);
  }
  std::filesystem::remove_all(there);
}
