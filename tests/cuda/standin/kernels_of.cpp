#include "kernels_of.h"

#include <algorithm>
#include <cctype>

namespace standin {

namespace {

bool word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// Words and single signs, without comments and what is in quotes.
std::vector<std::string> tokens(const std::string& text) {
  std::vector<std::string> out;
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (text.compare(i, 2, "//") == 0) {
      i = std::min(text.find('\n', i), text.size());
    } else if (text.compare(i, 2, "/*") == 0) {
      const size_t end = text.find("*/", i + 2);
      i = end == std::string::npos ? text.size() : end + 2;
    } else if (c == '"' || c == '\'') {
      size_t end = i + 1;
      while (end < text.size() && text[end] != c) end += text[end] == '\\' ? 2 : 1;
      out.push_back(text.substr(i, end + 1 - i));
      i = end + 1;
    } else if (word(c)) {
      size_t end = i;
      while (end < text.size() && word(text[end])) ++end;
      out.push_back(text.substr(i, end - i));
      i = end;
    } else {
      if (!std::isspace(static_cast<unsigned char>(c))) out.emplace_back(1, c);
      ++i;
    }
  }
  return out;
}

// Past the parenthesis that closes the one at i.
size_t past(const std::vector<std::string>& t, size_t i) {
  int depth = 0;
  for (; i < t.size(); ++i) {
    if (t[i] == "(") ++depth;
    if (t[i] == ")" && --depth == 0) return i + 1;
  }
  return i;
}

bool takes_arguments(const std::string& t) {
  return t == "__launch_bounds__" || t == "__attribute__" || t == "__align__";
}

}  // namespace

std::vector<KernelText> kernels_of(const std::string& text) {
  const std::vector<std::string> t = tokens(text);
  std::vector<KernelText> out;
  std::vector<std::string> scopes;  // of each brace that is open: a namespace's name, or nothing
  for (size_t i = 0; i < t.size(); ++i) {
    if (t[i] == "{") scopes.push_back(i > 1 && t[i - 2] == "namespace" ? t[i - 1] + "::" : "");
    if (t[i] == "}" && !scopes.empty()) scopes.pop_back();
    if (t[i] != "__global__") continue;
    KernelText kernel{"", "", "0"};
    for (const std::string& s : scopes) kernel.scope += s;
    size_t j = i + 1;
    while (j + 1 < t.size() && !(t[j + 1] == "(" && !takes_arguments(t[j]))) {
      if (!takes_arguments(t[j])) {
        ++j;
        continue;
      }
      const size_t end = past(t, j + 1);
      if (t[j] == "__launch_bounds__") {
        kernel.bounds.clear();
        int depth = 0;
        for (size_t k = j + 2; k + 1 < end && (depth > 0 || t[k] != ","); ++k) {
          depth += t[k] == "(" ? 1 : t[k] == ")" ? -1 : 0;
          kernel.bounds += t[k] + " ";
        }
      }
      j = end;
    }
    if (j + 1 >= t.size()) break;
    kernel.name = t[j];
    const size_t end = past(t, j + 1);
    if (end < t.size() && t[end] == "{") out.push_back(kernel);
    i = j;
  }
  return out;
}

std::vector<std::string> dynamic_shared_of(const std::string& text) {
  const std::vector<std::string> t = tokens(text);
  std::vector<std::string> out;
  for (size_t i = 0; i + 1 < t.size(); ++i) {
    if (t[i] != "extern" || t[i + 1] != "__shared__") continue;
    size_t j = i + 2;
    while (j + 1 < t.size() && t[j + 1] != "[") j = takes_arguments(t[j]) ? past(t, j + 1) : j + 1;
    if (j + 1 < t.size()) out.push_back(t[j]);
  }
  return out;
}

}  // namespace standin
