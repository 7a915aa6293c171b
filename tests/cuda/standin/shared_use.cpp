#include "shared_use.h"

#include <cctype>
#include <map>
#include <set>
#include <sstream>

namespace standin {

namespace {

bool of_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '$'; }

std::vector<std::string> names_in(const std::string& line) {
  std::vector<std::string> out;
  for (size_t i = 0; i < line.size();) {
    size_t end = i;
    while (end < line.size() && of_name(line[end])) ++end;
    if (end > i) out.push_back(line.substr(i, end - i));
    i = end + 1;
  }
  return out;
}

struct Program {
  std::map<std::string, std::set<std::string>> named;  // by a function, in its instructions
  std::map<std::string, unsigned long> shared;         // size of each shared object
};

// A function is what stands between its label and its .size; a shared object has a label in a section .tbss.
Program read(const std::string& assembly) {
  Program out;
  std::istringstream lines(assembly);
  std::string line, function;
  std::map<std::string, unsigned long> sizes;
  std::set<std::string> functions;
  bool shared = false;
  while (std::getline(lines, line)) {
    if (line.starts_with("\t.section\t")) {
      shared = line.starts_with("\t.section\t.tbss");
    } else if (line == "\t.text" || line == "\t.data" || line == "\t.bss") {
      shared = false;
    } else if (line.starts_with("\t.type\t")) {
      const std::vector<std::string> words = names_in(line.substr(7));
      if (words.size() > 1 && words[1] == "function") functions.insert(words[0]);
    } else if (line.starts_with("\t.size\t")) {
      const size_t comma = line.find(", ");
      const std::string name = line.substr(7, comma - 7);
      if (name == function) function.clear();
      sizes[name] = std::strtoul(line.c_str() + comma + 2, nullptr, 10);
    } else if (!line.empty() && line[0] != '\t' && line.ends_with(":")) {
      const std::string name = line.substr(0, line.size() - 1);
      if (functions.contains(name)) function = name;
      else if (shared) out.shared[name] = sizes[name];
    } else if (!function.empty()) {
      for (std::string& name : names_in(line)) out.named[function].insert(std::move(name));
    }
  }
  return out;
}

unsigned long bytes_of(const Program& program, const std::string& kernel) {
  std::set<std::string> seen;
  std::vector<std::string> open{kernel};
  unsigned long sum = 0;
  while (!open.empty()) {
    const std::string name = std::move(open.back());
    open.pop_back();
    if (!seen.insert(name).second) continue;
    const auto object = program.shared.find(name);
    if (object != program.shared.end()) sum += object->second;
    const auto function = program.named.find(name);
    if (function != program.named.end()) open.insert(open.end(), function->second.begin(), function->second.end());
  }
  return sum;
}

}  // namespace

std::string shared_uses(const std::string& assembly, const std::vector<std::string>& kernels) {
  const Program program = read(assembly);
  std::string out = "\t.section\t.rodata\n\t.align 8\n";
  for (const std::string& k : kernels) {
    const std::string name = "standin_static_" + k;
    out += "\t.globl " + name + "\n\t.hidden " + name + "\n\t.type " + name + ",@object\n\t.size " + name + ", 8\n" +
           name + ":\n\t.quad " + std::to_string(bytes_of(program, k)) + "\n";
  }
  return out;
}

}  // namespace standin
