// What a fresh process pays for a kernel that is in the disk cache or in a pack already: for 1 kernel, for 64 of one
// graph, and with 10,000 foreign entries beside them. Prints us per kernel, and writes the raw samples.
//
// usage: cold_start [--json FILE]      `cold_start --child DIRECTORY PACK KERNELS` is the process that is measured
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "measure.h"

using namespace bench;

namespace {

[[noreturn]] void die(const char* what) {
  std::fprintf(stderr, "cold_start: %s\n", what);
  std::exit(1);
}

constexpr int processes = 21;
constexpr double limit_us = 200;

// As many kernels as asked for: extents of their own keep the outputs apart, the constants make each another one.
std::string graph_text(int kernels) {
  std::string in, out, body, results;
  for (int i = 0; i < kernels; ++i) {
    const std::string n = std::to_string(i), comma = i ? ", " : "";
    in += comma + "%x" + n + ": f32[N" + n + "]";
    out += comma + "f32[N" + n + "]";
    body += "  %a" + n + " = mul %x" + n + ", " + std::to_string(i + 2) + ".5\n  %b" + n + " = exp %a" + n + "\n  %y" +
            n + " = add %b" + n + ", %x" + n + "\n";
    results += comma + "%y" + n;
  }
  return "ingot 1.0\ngraph @many(" + in + ") -> (" + out + ") {\n" + body + "  return " + results + "\n}\n";
}

ingot_context* make_context(const char* directory, const char* pack) {
  ingot_context_options o = INGOT_CONTEXT_OPTIONS_INIT;
  o.cache_dir = *directory ? directory : nullptr;
  o.no_disk_cache = !*directory;
  o.ignore_environment = 1;
  if (*pack) {
    o.trust_host_cache = 1;
    o.packs = &pack;
    o.n_packs = 1;
  }
  ingot_context* c;
  check(ingot_context_create(&o, &c));
  return c;
}

// Prints the seconds from the planned graph to callable kernels, key and build-id included.
int child(const char* directory, const char* pack, int kernels) {
  ingot_context* c = make_context(directory, pack);
  ingot_executable* e = compile(c, graph_text(kernels));
  const double began = now();
  check(ingot_executable_prepare(e, nullptr, 0, nullptr, nullptr));
  const double took = now() - began;
  ingot_stats s = INGOT_STATS_INIT;
  check(ingot_context_stats(c, &s));
  if (s.compiles || s.compiler_loaded || s.disk_hits + s.pack_hits != static_cast<uint64_t>(kernels))
    die("the cache was not warm");
  std::printf("%.9f\n", took);
  ingot_executable_release(e);
  ingot_context_release(c);
  return 0;
}

std::vector<double> measure(const std::string& self, const std::string& directory, const std::string& pack,
                            int kernels) {
  std::vector<double> samples;
  for (int i = 0; i < processes; ++i) {
    const std::string command = self + " --child '" + directory + "' '" + pack + "' " + std::to_string(kernels);
    FILE* pipe = popen(command.c_str(), "r");
    double seconds = 0;
    if (!pipe || std::fscanf(pipe, "%lf", &seconds) != 1) die("the child process failed");
    pclose(pipe);
    samples.push_back(seconds / kernels);
  }
  std::sort(samples.begin(), samples.end());
  return samples;
}

// Copies of an entry under names that no key has.
void add_foreign(const std::filesystem::path& directory, int count) {
  std::string entry;
  for (const auto& file : std::filesystem::directory_iterator(directory))
    if (file.path().extension() == ".ing") {
      std::ifstream in(file.path(), std::ios::binary);
      entry.assign(std::istreambuf_iterator<char>(in), {});
    }
  for (int i = 0; i < count; ++i) {
    char name[40];
    std::snprintf(name, sizeof name, "%032x.ing", static_cast<unsigned>(i));
    const int fd = open((directory / name).c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, entry.data(), entry.size()) != static_cast<ssize_t>(entry.size()))
      die("cannot write foreign entries");
    close(fd);
  }
}

struct Folder {
  std::filesystem::path path;
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "ingot-bench-XXXXXX").string();
    if (!mkdtemp(name.data())) die("no temporary directory");
    path = name;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc == 5 && std::strcmp(argv[1], "--child") == 0) return child(argv[2], argv[3], std::atoi(argv[4]));
  const Folder folder;
  const std::string directory = folder.path / "cache", pack = folder.path / "kernels.pack";
  {
    ingot_context* c = make_context(directory.c_str(), "");
    ingot_executable* all[] = {compile(c, graph_text(64))};
    ingot_buffer* bytes;
    const char* data;
    size_t size;
    check(ingot_executable_pack(all, 1, nullptr, 0, &bytes));
    ingot_buffer_data(bytes, &data, &size);
    std::ofstream(pack, std::ios::binary).write(data, static_cast<std::streamsize>(size));
    ingot_buffer_release(bytes);
    ingot_executable_release(all[0]);
    ingot_context_release(c);
  }
  std::string json = "{\"schema\": 1";
  const auto show = [&](const char* name, const std::string& where, const std::string& from, int kernels) {
    const std::vector<double> s = measure(argv[0], where, from, kernels);
    std::printf("%-52s %6.1f us per kernel (%.1f to %.1f; goal %.0f)\n", name, s[s.size() / 2] * 1e6, s.front() * 1e6,
                s.back() * 1e6, limit_us);
    json += std::string(", \"") + name + "\": [";
    for (size_t i = 0; i < s.size(); ++i) json += (i ? ", " : "") + std::to_string(s[i] * 1e6);
    json += "]";
  };
  std::printf("a fresh process, nothing compiled, no compiler module loaded (median of %d processes):\n", processes);
  show("1 kernel from the directory", directory, "", 1);
  show("64 kernels of a graph from the directory", directory, "", 64);
  show("64 kernels of a graph from a pack", "", pack, 64);
  show("1 kernel from a pack", "", pack, 1);
  add_foreign(directory, 10000);
  show("1 kernel beside 10,000 foreign entries", directory, "", 1);
  show("64 kernels of a graph beside 10,000 foreign entries", directory, "", 64);
  if (argc == 3 && std::strcmp(argv[1], "--json") == 0) std::ofstream(argv[2]) << json << "}\n";
  return 0;
}
