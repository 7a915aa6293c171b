#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "compile.h"
#include "nvrtc_api.h"

struct StandinProgram {
  std::string text, name;
  standin::Compiled compiled;
};

namespace {

enum : nvrtcResult {
  success = 0,
  invalid_input = 3,
  invalid_program = 4,
  invalid_option = 5,
  compilation_failed = 6,
  internal_error = 11,
};

const int all_archs[] = {75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121};

bool known_arch(int arch) { return std::find(std::begin(all_archs), std::end(all_archs), arch) != std::end(all_archs); }

// The value of "--name=value", or of "-short=value"; the next word where the option stands alone.
bool value_of(const std::vector<std::string>& words, size_t& i, std::initializer_list<const char*> names,
              std::string& out) {
  for (const std::string name : names) {
    if (words[i].starts_with(name + "=")) {
      out = words[i].substr(name.size() + 1);
      return true;
    }
    if (words[i] == name && i + 1 < words.size()) {
      out = words[++i];
      return true;
    }
  }
  return false;
}

int target_of(const std::string& value) {
  if (!value.starts_with("sm_")) return 0;
  const size_t digits = value.find_first_not_of("0123456789", 3);
  const std::string rest = digits == std::string::npos ? "" : value.substr(digits);
  const int arch = std::atoi(value.c_str() + 3);
  return known_arch(arch) && (rest.empty() || ((rest == "a" || rest == "f") && arch >= 90)) ? arch : 0;
}

bool yes(const std::string& value, bool& out) {
  if (value != "true" && value != "false") return false;
  out = value == "true";
  return true;
}

// --fmad, and what changes nothing here as long as it is true or false.
bool flag(const std::vector<std::string>& words, size_t& i, bool& contract) {
  std::string value;
  bool ignored = false;
  if (value_of(words, i, {"--fmad", "-fmad"}, value)) return yes(value, contract);
  return value_of(words, i, {"--ftz", "-ftz", "--prec-div", "-prec-div", "--prec-sqrt", "-prec-sqrt"}, value) &&
         yes(value, ignored);
}

// Options that say nothing of the result.
bool without_meaning(const std::vector<std::string>& words, size_t& i) {
  std::string value;
  for (const char* word :
       {"-lineinfo", "--generate-line-info", "-default-device", "--device-as-default-execution-space", "-w",
        "--disable-warnings", "--restrict", "-restrict"})
    if (words[i] == word) return true;
  return value_of(words, i, {"--maxrregcount", "-maxrregcount", "--split-compile", "--ptxas-options", "-Xptxas"},
                  value);
}

nvrtcResult read_options(const std::vector<std::string>& words, standin::CompileOptions& out, std::string& log) {
  out.target = 75;
  for (size_t i = 0; i < words.size(); ++i) {
    std::string value;
    if (value_of(words, i, {"--gpu-architecture", "-arch"}, value)) {
      out.target = static_cast<unsigned>(target_of(value));
      if (out.target == 0) {
        log = "nvrtc: error: invalid value for --gpu-architecture (-arch)\n";
        return invalid_option;
      }
    } else if (value_of(words, i, {"--std", "-std"}, value)) {
      out.standard = value;
    } else if (words[i].starts_with("-D") && words[i].size() > 2) {
      out.defines.push_back(words[i]);
    } else if (value_of(words, i, {"--define-macro"}, value)) {
      out.defines.push_back("-D" + value);
    } else if (!flag(words, i, out.contract) && !without_meaning(words, i)) {
      log = "nvrtc: error: unrecognized option " + words[i] + " found\n";
      return invalid_option;
    }
  }
  return success;
}

}  // namespace

namespace {

// NVIDIA's compiler recurses deeply.
[[gnu::noinline]] void use_stack() {
  volatile char deep[1 << 20];
  for (size_t i = 0; i < sizeof deep; i += 4096) deep[sizeof deep - 1 - i] = 1;
}

}  // namespace

nvrtcResult nvrtcVersion(int* major, int* minor) {
  if (!major || !minor) return invalid_input;
  const char* chosen = std::getenv("STANDIN_NVRTC_VERSION");
  const int version = chosen ? std::atoi(chosen) : 13000;
  *major = version / 1000;
  *minor = version % 1000 / 10;
  return success;
}

const char* nvrtcGetErrorString(nvrtcResult result) {
  switch (result) {
    case success: return "NVRTC_SUCCESS";
    case 1: return "NVRTC_ERROR_OUT_OF_MEMORY";
    case 2: return "NVRTC_ERROR_PROGRAM_CREATION_FAILURE";
    case invalid_input: return "NVRTC_ERROR_INVALID_INPUT";
    case invalid_program: return "NVRTC_ERROR_INVALID_PROGRAM";
    case invalid_option: return "NVRTC_ERROR_INVALID_OPTION";
    case compilation_failed: return "NVRTC_ERROR_COMPILATION";
    case internal_error: return "NVRTC_ERROR_INTERNAL_ERROR";
    default: return "NVRTC_ERROR unknown";
  }
}

nvrtcResult nvrtcGetNumSupportedArchs(int* count) {
  if (!count) return invalid_input;
  *count = static_cast<int>(std::size(all_archs));
  return success;
}

nvrtcResult nvrtcGetSupportedArchs(int* archs) {
  if (!archs) return invalid_input;
  std::copy(std::begin(all_archs), std::end(all_archs), archs);
  return success;
}

nvrtcResult nvrtcCreateProgram(nvrtcProgram* program, const char* text, const char* name, int headers,
                               const char* const*, const char* const*) {
  if (!program || !text || headers != 0) return invalid_input;
  *program = std::make_unique<StandinProgram>(StandinProgram{text, name ? name : "default_program", {}}).release();
  return success;
}

nvrtcResult nvrtcDestroyProgram(nvrtcProgram* program) {
  if (!program || !*program) return invalid_program;
  const std::unique_ptr<StandinProgram> gone(*program);
  *program = nullptr;
  return success;
}

nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int count, const char* const* options) {
  if (!program) return invalid_program;
  use_stack();
  try {
    const std::vector<std::string> words(options, options + count);
    standin::CompileOptions read;
    program->compiled = {};
    if (const nvrtcResult refused = read_options(words, read, program->compiled.log)) return refused;
    program->compiled = standin::compile(program->text, program->name, read);
    return program->compiled.cubin.empty() ? compilation_failed : success;
  } catch (const std::exception& e) {
    program->compiled.log = e.what();
    return internal_error;
  }
}

nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, size_t* bytes) {
  if (!program) return invalid_program;
  *bytes = program->compiled.log.size() + 1;
  return success;
}

nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char* log) {
  if (!program) return invalid_program;
  std::memcpy(log, program->compiled.log.c_str(), program->compiled.log.size() + 1);
  return success;
}

nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, size_t* bytes) {
  if (!program) return invalid_program;
  *bytes = program->compiled.cubin.size();
  return success;
}

nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char* cubin) {
  if (!program || program->compiled.cubin.empty()) return invalid_program;
  std::memcpy(cubin, program->compiled.cubin.data(), program->compiled.cubin.size());
  return success;
}
