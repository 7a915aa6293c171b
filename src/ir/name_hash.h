// Maps and sets by name that are searched with a string_view: looking up and erasing allocate nothing.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace ingot::ir {

struct NameHash {
  using is_transparent = void;
  size_t operator()(std::string_view name) const noexcept { return std::hash<std::string_view>{}(name); }
};

template <class T>
using NameMap = std::unordered_map<std::string, T, NameHash, std::equal_to<>>;
using NameSet = std::unordered_set<std::string, NameHash, std::equal_to<>>;

// Room for `more` elements, so that appending them cannot throw; grows by halves as appending would.
template <class T>
void reserve_more(std::vector<T>& v, size_t more) {
  if (v.capacity() - v.size() < more) v.reserve(std::max(v.size() + more, v.capacity() + v.capacity() / 2));
}

}  // namespace ingot::ir
