#include "compile.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "cubin.h"
#include "kernels_of.h"
#include "prelude.h"
#include "shared_use.h"
#include "table.h"

extern char** environ;

namespace standin {

namespace {

namespace fs = std::filesystem;

// A folder that goes with everything in it.
class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "standin-XXXXXX").string();
    if (!mkdtemp(name.data())) throw std::runtime_error("no folder " + name);
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string at(const char* name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

std::string read_all(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

void write_all(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary).write(text.data(), static_cast<std::streamsize>(text.size()));
}

// Runs a program of PATH; what it says goes to the log. 127 where it is not there.
int spawn(const std::vector<std::string>& words, const std::string& log) {
  std::vector<char*> argv;
  for (const std::string& w : words) argv.push_back(const_cast<char*>(w.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 1, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  posix_spawn_file_actions_adddup2(&files, 1, 2);
  pid_t child = 0;
  const int failed = posix_spawnp(&child, argv[0], &files, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (failed) return 127;
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 126;
}

// One jump for each call, through the table that the driver fills in. What the loader itself calls comes before that.
std::string jumps() {
  std::string out = "\t.text\n\t.globl __tsan_init\n\t.hidden __tsan_init\n__tsan_init:\n\tret\n";
  int at = 0;
  for (const char* name : {
#define STANDIN_NAME(name, answer) #name,
           STANDIN_CALLS(STANDIN_NAME)
#undef STANDIN_NAME
       }) {
    const std::string n = name;
    out += "\t.text\n\t.globl " + n + "\n\t.hidden " + n + "\n\t.type " + n + ",@function\n" + n +
           ":\n\tjmp *standin_table+" + std::to_string(8 * at++) + "(%rip)\n";
  }
  return out;
}

// Puts a gap behind each shared object and the dynamic ones at the end.
std::string with_shared(const std::string& assembly, const std::vector<std::string>& dynamic) {
  std::istringstream lines(assembly);
  std::string out, line;
  bool shared = false;
  while (std::getline(lines, line)) {
    out += line + '\n';
    if (line.starts_with("\t.section\t")) shared = line.starts_with("\t.section\t.tbss");
    else if (line == "\t.text" || line == "\t.data" || line == "\t.bss") shared = false;
    else if (shared && line.starts_with("\t.zero\t")) out += "\t.zero\t" + std::to_string(shared_gap) + '\n';
  }
  if (dynamic.empty()) return out;
  const std::string bytes = std::to_string(dynamic_shared_bytes);
  out += "\t.section\t.tbss.standin_dynamic,\"awT\",@nobits\n\t.align 1024\n";
  for (const std::string& name : dynamic)
    out += "\t.hidden " + name + "\n\t.globl " + name + "\n\t.type " + name + ",@object\n\t.size " + name + ", " +
           bytes + "\n" + name + ":\n";
  return out + "\t.zero\t" + bytes + "\n\t.zero\t" + std::to_string(shared_gap) + "\n";
}

std::string registrations(const std::vector<KernelText>& kernels) {
  std::string out;
  for (const KernelText& k : kernels)
    out += "extern \"C\" __attribute__((visibility(\"hidden\"), used)) const standin::Info standin_kernel_" + k.name +
           " = standin::Kernel<decltype(&" + k.scope + k.name + "), &" + k.scope + k.name + ">::info(" + k.bounds +
           ");\n";
  return out;
}

std::vector<std::string> names(const std::vector<KernelText>& kernels) {
  std::vector<std::string> out;
  for (const KernelText& k : kernels) out.push_back(k.name);
  return out;
}

std::vector<std::string> command(const CompileOptions& options) {
  const char* chosen = std::getenv("STANDIN_CXX");
  std::vector<std::string> out = {chosen ? chosen : "g++",
                                  "-x",
                                  "c++",
                                  "-std=" + options.standard,
                                  "-O1",
                                  "-w",
                                  "-S",
                                  "-fPIC",
                                  "-fsanitize=thread",
                                  "--param=tsan-instrument-func-entry-exit=0",
                                  "-fno-gnu-unique",
                                  "-fno-extern-tls-init",
                                  "-fno-exceptions",
                                  "-fno-rtti",
                                  "-fno-asynchronous-unwind-tables",
                                  "-fno-stack-protector",
                                  "-fno-threadsafe-statics",
                                  "-fvisibility=hidden",
                                  "-fno-strict-aliasing",
                                  "-fno-math-errno",
                                  "-fno-trapping-math",
                                  "-fno-fast-math",
                                  "-nostdinc",
                                  "-fcf-protection=none",
                                  "-fdiagnostics-color=never",
                                  options.contract ? "-ffp-contract=fast" : "-ffp-contract=off",
                                  "-fexpensive-optimizations"};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) out.emplace_back("-march=x86-64-v3");
  out.insert(out.end(), options.defines.begin(), options.defines.end());
  return out;
}

std::string cache_file(const std::string& everything) {
  const char* folder = std::getenv("STANDIN_CACHE");
  if (!folder || !*folder) return {};
  uint64_t a = 0xcbf29ce484222325u, b = 0x9e3779b97f4a7c15u;
  for (const char c : everything) {
    a = (a ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    b = (b ^ a) * 0xff51afd7ed558ccdu;
    b ^= b >> 29;
  }
  char name[48];
  std::snprintf(name, sizeof name, "%016" PRIx64 "%016" PRIx64 ".cubin", a, b);
  return (fs::path(folder) / name).string();
}

// Other processes see it whole or not at all.
void keep(const std::string& file, const std::vector<char>& cubin) {
  std::error_code ignored;
  fs::create_directories(fs::path(file).parent_path(), ignored);
  const std::string part =
      file + "." + std::to_string(getpid()) + "." + std::to_string(reinterpret_cast<uintptr_t>(&cubin));
  write_all(part, std::string(cubin.begin(), cubin.end()));
  fs::rename(part, file, ignored);
}

}  // namespace

Compiled compile(const std::string& text, const std::string& name, const CompileOptions& options) {
  std::vector<std::string> words = command(options);
  std::string everything = std::string(prelude()) + jumps() + "with resources" + std::to_string(options.target);
  for (const std::string& w : words) everything += '\0' + w;
  everything += '\0' + name + '\0' + text;
  const std::string cached = cache_file(everything);
  Compiled out;
  if (!cached.empty() && fs::exists(cached)) {
    const std::string bytes = read_all(cached);
    out.cubin.assign(bytes.begin(), bytes.end());
    return out;
  }
  const std::vector<KernelText> kernels = kernels_of(text);
  const Folder folder;
  const std::string log = folder.at("log"), source = folder.at("text.cu"), assembly = folder.at("text.s");
  write_all(source, std::string(prelude()) + "#line 1 \"" + name + "\"\n" + text + "\n#line 1 \"registrations\"\n" +
                        registrations(kernels));
  words.insert(words.end(), {"-o", assembly, source});
  int failed = spawn(words, log);
  if (failed == 0) {
    const std::string compiled = read_all(assembly);
    write_all(assembly,
              with_shared(compiled, dynamic_shared_of(text)) + jumps() + shared_uses(compiled, names(kernels)));
    failed = spawn({"as", "-o", folder.at("text.o"), assembly}, log);
  }
  if (failed == 0)
    failed = spawn({"ld", "-shared", "-Bsymbolic", "-z", "noexecstack", "-z", "now", "--hash-style=gnu", "-o",
                    folder.at("cubin"), folder.at("text.o")},
                   log);
  out.log = failed == 127 ? "the stand-in needs g++, as and ld on PATH" : read_all(log);
  if (failed != 0) return out;
  const std::string bytes = read_all(folder.at("cubin"));
  out.cubin.assign(bytes.begin(), bytes.end());
  mark_cubin(out.cubin, options.target);
  const Cubin read = read_cubin(out.cubin.data());
  for (const KernelText& k : kernels) {
    const uint64_t shared = read.static_shared(out.cubin.data(), k.name);
    if (shared <= 48 * 1024) continue;
    char bytes[32];
    std::snprintf(bytes, sizeof bytes, "0x%" PRIx64, shared);
    out.log +=
        "ptxas error   : Entry function '" + k.name + "' uses too much shared data (" + bytes + " bytes, 0xc000 max)\n";
    out.cubin.clear();
    return out;
  }
  std::vector<Taken> taken;
  for (const KernelText& k : kernels) taken.push_back({k.name, read.static_shared(out.cubin.data(), k.name)});
  add_resources(out.cubin, taken);
  if (!cached.empty()) keep(cached, out.cubin);
  return out;
}

}  // namespace standin
