// ingot ops: the op table.
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "error.h"
#include "files.h"
#include "verbs.h"

namespace ingot::tool {

int ops_verb(bool json) {
  ingot_buffer* raw = nullptr;
  check(ingot_ops_json(&raw));
  const std::unique_ptr<ingot_buffer, Release> buffer(raw);
  const char* data = nullptr;
  size_t size = 0;
  ingot_buffer_data(buffer.get(), &data, &size);
  if (json) {
    write_file("-", {{data, size}});
    return exit_done;
  }
  const nlohmann::json table = nlohmann::json::parse(data, data + size);
  size_t width = 0;
  for (const auto& op : table["ops"]) width = std::max(width, op["name"].get_ref<const std::string&>().size());
  std::string text;
  for (const auto& op : table["ops"]) {
    std::string name = op["name"], attributes;
    name.resize(width, ' ');
    for (const auto& a : op["attributes"]) attributes += (attributes.empty() ? " {" : ", ") + a["name"].get<std::string>();
    if (!attributes.empty()) attributes += "}";
    const int least = op["operands"][0], most = op["operands"][1];
    text += cat(name, "  ", op["class"].get<std::string>(), ", ", least == most ? cat(least) : cat(least, " to ", most),
                most == 1 ? " operand" : " operands", attributes, ": ", op["doc"].get<std::string>(), "\n");
  }
  write_file("-", {text});
  return exit_done;
}

}  // namespace ingot::tool
