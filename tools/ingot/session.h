// What every verb does with the library: a context by the command line's options, a graph from a file, an executable.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ingot/ingot.h"

namespace ingot::tool {

struct Release {
  void operator()(ingot_context* p) const { ingot_context_release(p); }
  void operator()(ingot_graph* p) const { ingot_graph_release(p); }
  void operator()(ingot_executable* p) const { ingot_executable_release(p); }
  void operator()(ingot_buffer* p) const { ingot_buffer_release(p); }
};
using Context = std::unique_ptr<ingot_context, Release>;
using Graph = std::unique_ptr<ingot_graph, Release>;
using Executable = std::unique_ptr<ingot_executable, Release>;

struct EngineOptions {
  std::string backend = "auto";  // auto, cpu, interp, cuda
  std::string target;            // empty: this machine's
  std::string cache_dir;         // empty: the library's default
  std::vector<std::string> packs;
  uint32_t threads = 0;  // 0: the library's default
  bool fuse = true;
  bool disk_cache = true;
};

// Warnings of the library go to stderr, unless INGOT_LOG asks for something else.
Context make_context(const EngineOptions& options);
// Errors in the text read FILE:line:column: message.
Graph load_graph(ingot_context* context, const std::string& path);
Graph parse_graph(ingot_context* context, const std::string& text, const std::string& path);
Executable compile_graph(ingot_context* context, const ingot_graph* graph, const EngineOptions& options);

std::string describe(const ingot_executable* executable, const std::string& what);
// The bytes of a pack, for this machine if there are no targets. Fills the cache, too.
std::string pack_of(const std::vector<Executable>& executables, const std::vector<std::string>& targets);
std::string cache_command(ingot_context* context, const std::string& command);
ingot_stats stats_of(const ingot_context* context);

struct Io {
  std::string name;
  ingot_dtype dtype;
  std::string shape;   // "[B, 2*N]"
  std::string symbol;  // of a dim input: the symbol that it binds; else empty
  std::string label(size_t index) const { return name.empty() ? std::to_string(index) : name; }
};
std::vector<Io> inputs_of(const ingot_executable* executable);
std::vector<Io> outputs_of(const ingot_executable* executable);

}  // namespace ingot::tool
