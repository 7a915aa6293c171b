// What the library says of an executable (describe "json"), and the bytes its steps move for given sizes.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "extents.h"
#include "session.h"

namespace ingot::tool {

struct Traffic {
  uint64_t read = 0, written = 0;
  uint64_t total() const { return read + written; }
};

class Plan {
 public:
  explicit Plan(const ingot_executable* executable);

  const nlohmann::json& json() const { return json_; }
  const nlohmann::json& steps() const { return json_["steps"]; }
  // "input x", "buffer %3: f32[B, N]": what a tensor of a step is.
  std::string tensor_name(const nlohmann::json& tensor) const;
  static uint64_t tensor_bytes(const nlohmann::json& tensor, const Symbols& symbols);
  static Traffic step_traffic(const nlohmann::json& step, const Symbols& symbols);
  // Of all steps, each view of a tensor counted once a launch, as ingot_stats does.
  Traffic traffic(const Symbols& symbols) const;
  // The symbols that the inputs bind.
  std::vector<std::string> symbols() const;

 private:
  nlohmann::json json_;
  std::vector<Io> inputs_, outputs_;
};

// "1.5 MiB"
std::string bytes_text(double bytes);

}  // namespace ingot::tool
