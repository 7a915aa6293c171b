#include "session.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "array.h"
#include "error.h"
#include "extents.h"
#include "files.h"

namespace ingot::tool {

namespace {

void to_stderr(void*, ingot_log_level, const char* text, size_t length) {
  std::fprintf(stderr, "ingot: %.*s\n", static_cast<int>(length), text);
}

std::string take(ingot_buffer* raw) {
  const std::unique_ptr<ingot_buffer, Release> buffer(raw);
  const char* data = nullptr;
  size_t size = 0;
  ingot_buffer_data(buffer.get(), &data, &size);
  return {data, size};
}

// The inputs of "graph @f(%x: f32[B], %n: dim B) -> ..." one after the other: what stands behind each colon.
std::vector<std::string> input_types(const std::string& source) {
  std::vector<std::string> out;
  size_t at = source.find("graph @");
  bool in_quotes = false, in_type = false;
  int depth = 0;
  for (; at < source.size(); ++at) {
    const char c = source[at];
    const bool ends = !in_quotes && depth == 1 && (c == ',' || c == ')');
    if (in_type && !ends) out.back() += c;
    if (in_quotes && c == '\\') {
      if (in_type) out.back() += source[at + 1];
      ++at;
    } else if (c == '"') {
      in_quotes = !in_quotes;
    } else if (in_quotes) {
      continue;
    } else if (c == '(' || c == '[') {
      ++depth;
    } else if (c == ')' || c == ']') {
      if (--depth == 0) break;
    } else if (c == ':' && depth == 1) {
      out.emplace_back();
      in_type = true;
    } else if (c == ',' && depth == 1) {
      in_type = false;
    }
  }
  return out;
}

std::vector<Io> io_of(const ingot_executable* executable, bool output) {
  size_t inputs = 0, outputs = 0;
  check(ingot_executable_io_count(executable, &inputs, &outputs));
  std::vector<Io> out;
  for (size_t i = 0; i < (output ? outputs : inputs); ++i) {
    ingot_io_info info = INGOT_IO_INFO_INIT;
    check(ingot_executable_io_info(executable, output, i, &info));
    out.push_back({info.name, info.dtype, info.shape_text, ""});
  }
  return out;
}

}  // namespace

Context make_context(const EngineOptions& options) {
  ingot_context_options o = INGOT_CONTEXT_OPTIONS_INIT;
  // The library takes absolute paths only; one on the command line is meant from here.
  std::string cache_dir = options.cache_dir;
  if (!cache_dir.empty()) cache_dir = std::filesystem::absolute(cache_dir).string();
  if (!cache_dir.empty()) o.cache_dir = cache_dir.c_str();
  std::vector<std::string> packs;
  for (const std::string& pack : options.packs) packs.push_back(std::filesystem::absolute(pack).string());
  std::vector<const char*> pack_names;
  for (const std::string& pack : packs) pack_names.push_back(pack.c_str());
  o.packs = pack_names.data();
  o.n_packs = pack_names.size();
  o.trust_host_cache = !packs.empty();
  o.no_disk_cache = !options.disk_cache;
  o.num_threads = options.threads;
  if (!std::getenv("INGOT_LOG")) o.log = to_stderr;
  ingot_context* context = nullptr;
  check(ingot_context_create(&o, &context));
  return Context(context);
}

Graph parse_graph(ingot_context* context, const std::string& text, const std::string& path) {
  ingot_graph* graph = nullptr;
  check(ingot_graph_parse(context, text.data(), text.size(), &graph), shown(path, true) + ":");
  return Graph(graph);
}

Graph load_graph(ingot_context* context, const std::string& path) {
  return parse_graph(context, read_file(path), path);
}

Executable compile_graph(ingot_context* context, const ingot_graph* graph, const EngineOptions& options) {
  ingot_compile_options o = INGOT_COMPILE_OPTIONS_INIT;
  o.no_fusion = !options.fuse;
  if (!options.target.empty()) o.target = options.target.c_str();
  if (options.backend == "auto") o.backend = INGOT_BACKEND_AUTO;
  else if (options.backend == "cpu") o.backend = INGOT_BACKEND_CPU;
  else if (options.backend == "interp") o.backend = INGOT_BACKEND_INTERPRETER;
  else if (options.backend == "cuda") o.backend = INGOT_BACKEND_CUDA;
  else fail(exit_unsupported, "backend ", options.backend, ", expected auto, cpu, interp or cuda");
  ingot_executable* executable = nullptr;
  check(ingot_compile(context, graph, &o, &executable));
  return Executable(executable);
}

std::string describe(const ingot_executable* executable, const std::string& what) {
  ingot_buffer* out = nullptr;
  check(ingot_executable_describe(executable, what.data(), what.size(), &out));
  return take(out);
}

std::string pack_of(const std::vector<Executable>& executables, const std::vector<std::string>& targets) {
  std::vector<ingot_executable*> handles;
  for (const Executable& e : executables) handles.push_back(e.get());
  std::vector<const char*> names;
  for (const std::string& target : targets) names.push_back(target.c_str());
  ingot_buffer* out = nullptr;
  check(ingot_executable_pack(handles.data(), handles.size(), names.data(), names.size(), &out));
  return take(out);
}

std::string cache_command(ingot_context* context, const std::string& command) {
  ingot_buffer* out = nullptr;
  check(ingot_context_cache(context, command.data(), command.size(), &out));
  return take(out);
}

ingot_stats stats_of(const ingot_context* context) {
  ingot_stats out = INGOT_STATS_INIT;
  check(ingot_context_stats(context, &out));
  return out;
}

std::vector<Io> inputs_of(const ingot_executable* executable) {
  std::vector<Io> out = io_of(executable, false);
  // The interface shows a dim input as an i64 scalar; which symbol it binds stands in the text form.
  const std::vector<std::string> types = input_types(describe(executable, "source"));
  for (size_t i = 0; i < out.size() && i < types.size(); ++i)
    if (types[i].starts_with(" dim ")) out[i].symbol = plain_symbol(std::string_view(types[i]).substr(5));
  return out;
}

std::vector<Io> outputs_of(const ingot_executable* executable) { return io_of(executable, true); }

}  // namespace ingot::tool
