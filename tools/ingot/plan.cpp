#include "plan.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "array.h"
#include "error.h"

namespace ingot::tool {

Plan::Plan(const ingot_executable* executable)
    : json_(nlohmann::json::parse(describe(executable, "json"))), inputs_(inputs_of(executable)), outputs_(outputs_of(executable)) {}

std::string Plan::tensor_name(const nlohmann::json& tensor) const {
  const std::string kind = tensor["kind"];
  const size_t index = tensor["index"];
  if (kind == "input" && index < inputs_.size()) return "input " + inputs_[index].label(index);
  if (kind == "output" && index < outputs_.size()) return "output " + outputs_[index].label(index);
  if (kind == "buffer" && index < json_["buffers"].size()) return json_["buffers"][index]["value"].get<std::string>();
  return cat(kind, ' ', index);
}

uint64_t Plan::tensor_bytes(const nlohmann::json& tensor, const Symbols& symbols) {
  const std::vector<int64_t> shape = evaluate_shape(tensor["extents"].get<std::string>(), symbols);
  const std::string type = tensor["dtype"];
  for (ingot_dtype t = INGOT_BOOL; t <= INGOT_F8E5M2; ++t)
    if (dtype(t).name == type) return static_cast<uint64_t>(byte_size(dtype(t), shape, "a tensor"));
  fail(exit_failed, "the library names a dtype that this tool does not know: ", type);
}

Traffic Plan::step_traffic(const nlohmann::json& step, const Symbols& symbols) {
  Traffic out;
  for (const auto& t : step["tensors"]) (t["store"].get<bool>() ? out.written : out.read) += tensor_bytes(t, symbols);
  return out;
}

Traffic Plan::traffic(const Symbols& symbols) const {
  Traffic out;
  for (const auto& step : steps()) {
    const Traffic one = step_traffic(step, symbols);
    out.read += one.read;
    out.written += one.written;
  }
  return out;
}

std::vector<std::string> Plan::symbols() const {
  std::vector<std::string> out;
  const auto add = [&](const std::string& s) {
    if (std::ranges::find(out, s) == out.end()) out.push_back(s);
  };
  for (const Io& io : inputs_) {
    if (!io.symbol.empty()) add(io.symbol);
    visit_symbols(io.shape, add);
  }
  return out;
}

std::string bytes_text(double bytes) {
  static constexpr std::array units{"B", "KiB", "MiB", "GiB", "TiB"};
  size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < units.size(); ++unit) bytes /= 1024;
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), unit == 0 || bytes >= 100 ? "%.0f %s" : "%.1f %s", bytes, units[unit]);
  return text.data();
}

}  // namespace ingot::tool
