// Whole files; "-" is stdin or stdout. So is a path of the file that stdout goes to
// ("/dev/stdout"): opened by its name, it would be truncated and written over.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace ingot::tool {

std::string read_file(const std::string& path);
// The pieces one after the other. The file appears as it is written: a pipe may be named.
void write_file(const std::string& path, std::initializer_list<std::string_view> pieces);
bool is_stdout(const std::string& path);
// What messages call it.
std::string shown(const std::string& path, bool input);

}  // namespace ingot::tool
