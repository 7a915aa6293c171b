#include "summary.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "error.h"

namespace ingot::tool {

namespace {

constexpr size_t first_values = 4;

uint64_t fnv1a64(std::string_view bytes) {
  uint64_t hash = 0xCBF29CE484222325U;
  for (const char c : bytes) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001B3U;
  return hash;
}

}  // namespace

std::string summary(const std::string& name, const Array& array) {
  std::string out = name + ": " + array.text();
  const DType& type = array.type();
  const size_t size = type.size(), n = array.count();
  const uint8_t* data = array.data();
  if (n > 0) {
    size_t least = n, most = n, nans = 0;
    double low = 0, high = 0, sum = 0;
    for (size_t i = 0; i < n; ++i) {
      const double v = decode(type, data + i * size);
      if (std::isnan(v)) {
        ++nans;
        continue;
      }
      sum += v;
      if (least == n || v < low) low = v, least = i;
      if (most == n || v > high) high = v, most = i;
    }
    if (least < n)
      out += cat(" min ", element_text(type, data + least * size), " max ", element_text(type, data + most * size), " mean ",
                 sum / static_cast<double>(n - nans));
    if (nans > 0) out += cat(" nan ", nans);
    out += " [";
    for (size_t i = 0; i < std::min(n, first_values); ++i) out += (i ? ", " : "") + element_text(type, data + i * size);
    out += n > first_values ? ", ...]" : "]";
  }
  char hash[17];
  std::snprintf(hash, sizeof hash, "%016llx", static_cast<unsigned long long>(fnv1a64(array.view())));
  return out + " fnv1a64 " + hash;
}

}  // namespace ingot::tool
