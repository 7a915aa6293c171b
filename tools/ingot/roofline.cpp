#include "roofline.h"

namespace ingot::tool {

using nlohmann::json;

double Work::intensity() const { return traffic.total() > 0 ? ops() / static_cast<double>(traffic.total()) : 0; }

Work step_work(const json& step, const Symbols& symbols) {
  Work out;
  out.traffic = Plan::step_traffic(step, symbols);
  for (const json& f : step["float_ops"]) {
    auto count = f["count"].get<double>();
    for (const int64_t extent : evaluate_shape(f["extents"].get<std::string>(), symbols))
      count *= static_cast<double>(extent);
    (f["dtype"] == "f64" ? out.f64_ops : out.f32_ops) += count;
  }
  return out;
}

std::optional<Bound> bound(const Work& work, const json& device) {
  const auto rate = [&](const char* key) { return device[key].get<double>(); };
  const double bytes = rate("bytes_per_s"), f32 = rate("f32_per_s"), f64 = rate("f64_per_s");
  if (bytes == 0 || (work.f32_ops > 0 && f32 == 0) || (work.f64_ops > 0 && f64 == 0)) return std::nullopt;
  const double memory = static_cast<double>(work.traffic.total()) / bytes;
  double arithmetic = 0;
  if (work.f32_ops > 0) arithmetic += work.f32_ops / f32;
  if (work.f64_ops > 0) arithmetic += work.f64_ops / f64;
  return Bound{std::max(memory, arithmetic), memory >= arithmetic};
}

const json* device_of(const json& report) {
  if (report["device"].is_null()) return nullptr;
  for (const json& d : report["devices"])
    if (d["ordinal"] == report["device"]) return &d;
  return nullptr;
}

}  // namespace ingot::tool
