// The command line: flags in, a verb called, an exit code out. Messages go to stderr, data to stdout.
#include <CLI/CLI.hpp>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>

#include "error.h"
#include "verbs.h"

namespace ingot::tool {

namespace {

// CLI11 reads -1 as 2^64-1, and what is too large as that, too.
std::string whole_number(const std::string& text) {
  uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc{} && stop == end ? "" : text + " is no whole number from 0 to 2^64-1";
}

// One value a flag, so that a list does not swallow what follows it.
CLI::Option* repeat(CLI::App* verb, const std::string& flag, std::vector<std::string>& list, const std::string& help) {
  return verb->add_option(flag, list, help + " (may be repeated)")->allow_extra_args(false);
}

void graph_option(CLI::App* verb, std::string& graph) {
  verb->add_option("GRAPH", graph, "graph in the text form, - for stdin")->required();
}

void backend_option(CLI::App* verb, EngineOptions& engine) {
  verb->add_option("--backend", engine.backend, "auto, cpu, interp or cuda")
      ->check(CLI::IsMember({"auto", "cpu", "interp", "cuda"}))
      ->capture_default_str();
}

void engine_options(CLI::App* verb, EngineOptions& engine) {
  backend_option(verb, engine);
  verb->add_option("--threads", engine.threads, "threads to run on; 0: as many as the machine gives");
  verb->add_flag_callback("--no-fuse", [&engine] { engine.fuse = false; }, "a kernel for every op");
}

bool cpu_target(const std::string& name) {
  return name == "x86-64-v2" || name == "x86-64-v3" || name == "x86-64-v4" || name == "aarch64";
}

// What is no target at all is bad usage; which GPUs there are, the library knows.
std::string check_target(const std::string& name) {
  return name.starts_with("sm_") || cpu_target(name)
             ? ""
             : name + " is none of x86-64-v2, x86-64-v3, x86-64-v4, aarch64, sm_NN";
}

void target_option(CLI::App* verb, EngineOptions& engine) {
  verb->add_option("--target", engine.target, "x86-64-v2, x86-64-v3, x86-64-v4, aarch64, sm_NN; default: this machine")
      ->check(check_target);
}

void targets_option(CLI::App* verb, std::vector<std::string>& targets) {
  repeat(verb, "--target", targets,
         "x86-64-v2, x86-64-v3, x86-64-v4, aarch64 or, for the CUDA backend, sm_NN; default: this machine")
      ->check(check_target);
}

void pack_option(CLI::App* verb, EngineOptions& engine) {
  repeat(verb, "--pack", engine.packs, "a file of `cache pack`, trusted: its code is executed");
}

void cache_option(CLI::App* verb, EngineOptions& engine) {
  // An unset variable of a script must not mean the user's own cache.
  verb->add_option("--dir", engine.cache_dir, "the cache directory; else INGOT_CACHE_DIR, else the user's")
      ->check([](const std::string& dir) { return dir.empty() ? std::string("the directory is empty") : ""; });
}

void feed_options(CLI::App* verb, FeedOptions& feed) {
  repeat(verb, "--input", feed.inputs, "NAME=FILE.npy, or NAME=NUMBER for a scalar; a position is a name too");
  verb->add_option("--random", feed.random,
                   "seed with which the inputs not named are filled: floats in [-1, 1), signed integers -8 to 8, "
                   "unsigned 0 to 16")
      ->check(whole_number);
  repeat(verb, "--shape", feed.shapes, "SYMBOL=NUMBER: an extent of the inputs not named");
  repeat(verb, "--range", feed.ranges, "NAME=LOW:HIGH: the values of a random input, of integers both included");
}

// CLI11 says of a word that is no verb only that a verb is missing.
void refuse_unknown_verb(const CLI::App& app, int argc, char** argv) {
  const CLI::App* at = &app;
  for (int i = 1; i < argc && argv[i][0] != '-'; ++i) {
    if (at->get_require_subcommand_min() == 0) return;
    const auto parsed = at->get_subcommands();
    if (parsed.empty()) fail(exit_usage, "no verb ", argv[i], "; --help lists them");
    at = parsed.front();
  }
}

int dispatch(int argc, char** argv) {
  CLI::App app("Ingot's command-line tool: runs, compiles and explains graphs.", "ingot");
  app.require_subcommand(1);
  app.footer("Exit codes: 0 done, 1 failed, 2 usage, 3 bad input, 4 unsupported.");
  app.set_version_flag("--version",
                       cat("ingot ", INGOT_VERSION_MAJOR, ".", INGOT_VERSION_MINOR, ".", INGOT_VERSION_PATCH));

  RunArgs run;
  CLI::App* run_app = app.add_subcommand("run", "run a graph on arrays; without --output print one line an output");
  graph_option(run_app, run.graph);
  feed_options(run_app, run.feed);
  repeat(run_app, "--output", run.outputs, "NAME=FILE.npy; a position is a name too, - is stdout");
  engine_options(run_app, run.engine);
  pack_option(run_app, run.engine);
  run_app->add_option("--stats", run.stats, "write counters as JSON to this file, - for stdout");

  CompileArgs compile;
  CLI::App* compile_app = app.add_subcommand("compile", "write what a graph becomes");
  graph_option(compile_app, compile.graph);
  target_option(compile_app, compile.engine);
  compile_app->add_option("--emit", compile.emit, "kernel, llvm, asm, cuda, cubin or artifact")
      ->check(CLI::IsMember({"kernel", "llvm", "asm", "cuda", "cubin", "artifact"}))
      ->capture_default_str();
  compile_app->add_option("--kernel", compile.kernel, "the number of one kernel; default: all")
      ->check(CLI::NonNegativeNumber);
  compile_app->add_flag_callback("--no-fuse", [&compile] { compile.engine.fuse = false; }, "a kernel for every op");
  compile_app->add_option("-o,--output", compile.output, "the file to write")->capture_default_str();

  ExplainArgs explain;
  CLI::App* explain_app = app.add_subcommand("explain", "write an HTML page on how a graph is fused");
  graph_option(explain_app, explain.graph);
  repeat(explain_app, "--shape", explain.shapes, "SYMBOL=NUMBER: sizes for which bytes moved are shown");
  backend_option(explain_app, explain.engine);
  target_option(explain_app, explain.engine);
  explain_app->add_flag("--json", explain.json, "the figures as JSON");
  explain_app->add_option("-o,--output", explain.output, "the page to write")->capture_default_str();

  BenchArgs bench;
  CLI::App* bench_app = app.add_subcommand("bench", "time compiling and running a graph");
  graph_option(bench_app, bench.graph);
  feed_options(bench_app, bench.feed);
  repeat(bench_app, "--tiny", bench.tiny, "SYMBOL=NUMBER: the sizes for the cost of a call; default: small ones");
  bench_app->add_option("--samples", bench.samples, "samples of each figure")
      ->check(CLI::Range(3, 1000))
      ->capture_default_str();
  backend_option(bench_app, bench.engine);
  bench.engine.threads = 1;
  bench_app->add_option("--threads", bench.engine.threads, "threads; 1 pins to one CPU")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  bench_app->add_flag("--json", bench.json, "raw samples as JSON");
  bench_app->add_option("--probe", bench.probe)->group("");

  bool ops_json = false;
  CLI::App* ops_app = app.add_subcommand("ops", "list the ops");
  ops_app->add_flag("--json", ops_json, "the whole table as JSON");

  CacheArgs cache;
  CLI::App* cache_app = app.add_subcommand("cache", "look at, check, fill or empty the disk cache");
  cache_app->require_subcommand(1);
  for (const auto& [name, help] :
       {std::pair{"list", "the entries"}, std::pair{"verify", "check every entry, remove damaged ones"},
        std::pair{"warm", "compile graphs into the cache"}, std::pair{"clear", "remove every entry"},
        std::pair{"pack", "write the code of graphs to one file, to ship with a program"}}) {
    CLI::App* sub = cache_app->add_subcommand(name, help);
    cache_option(sub, cache.engine);
    const std::string_view word = name;
    if (word == "warm" || word == "pack") {
      sub->add_option("GRAPH", cache.graphs, "graphs in the text form")->required();
      targets_option(sub, cache.targets);
      if (word == "pack") sub->add_option("-o,--output", cache.output, "the file to write, - for stdout")->required();
    } else {
      sub->add_flag("--json", cache.json, "the report as JSON");
    }
  }

  EngineOptions doctor;
  CLI::App* doctor_app = app.add_subcommand("doctor", "check that everything Ingot needs is there and works");
  cache_option(doctor_app, doctor);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    // --help and --version come this way too, with exit code 0.
    if (e.get_exit_code() != 0) refuse_unknown_verb(app, argc, argv);
    return app.exit(e) == 0 ? exit_done : exit_usage;
  }
  if (*run_app) return run_verb(run);
  if (*compile_app) return compile_verb(compile);
  if (*explain_app) return explain_verb(explain);
  if (*bench_app) return bench_verb(bench);
  if (*ops_app) return ops_verb(ops_json);
  if (*doctor_app) return doctor_verb(doctor);
  cache.command = cache_app->get_subcommands().front()->get_name();
  return cache_verb(cache);
}

}  // namespace

}  // namespace ingot::tool

int main(int argc, char** argv) {
  using namespace ingot::tool;
  try {
    const int code = dispatch(argc, argv);
    // What was printed line by line may fail only now.
    if (std::fflush(stdout) == 0 && !std::ferror(stdout)) return code;
    std::fprintf(stderr, "ingot: <stdout>: %s\n", std::strerror(errno));
  } catch (const ToolError& e) {
    std::fprintf(stderr, "ingot: %s\n", e.what());
    return e.exit;
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "ingot: out of memory\n");
  } catch (const std::exception& e) {
    std::fprintf(stderr, "ingot: %s\n", e.what());
  }
  return exit_failed;
}
