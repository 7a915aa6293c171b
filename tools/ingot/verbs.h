// One function a verb. Each writes its data to stdout and throws ToolError; the value is the exit code.
#pragma once

#include <string>
#include <vector>

#include "feed.h"
#include "session.h"

namespace ingot::tool {

struct RunArgs {
  std::string graph, stats;
  EngineOptions engine;
  FeedOptions feed;
  std::vector<std::string> outputs;  // NAME=FILE
};
int run_verb(const RunArgs& args);

struct CompileArgs {
  std::string graph, emit = "kernel", output = "-";
  EngineOptions engine;
  int kernel = -1;  // all
};
int compile_verb(const CompileArgs& args);

struct ExplainArgs {
  std::string graph, output = "-";
  EngineOptions engine;
  std::vector<std::string> shapes;
  bool json = false;
};
int explain_verb(const ExplainArgs& args);

struct BenchArgs {
  std::string graph, probe;
  EngineOptions engine;
  FeedOptions feed;
  std::vector<std::string> tiny;
  int samples = 15;
  bool json = false;
};
int bench_verb(const BenchArgs& args);

int ops_verb(bool json);

struct CacheArgs {
  std::string command, output;
  EngineOptions engine;
  std::vector<std::string> graphs, targets;
  bool json = false;
};
int cache_verb(const CacheArgs& args);

int doctor_verb(const EngineOptions& engine);

}  // namespace ingot::tool
