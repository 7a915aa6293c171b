#include "feed.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "error.h"
#include "files.h"
#include "npy.h"

namespace ingot::tool {

namespace {

std::pair<std::string, std::string> key_value(const std::string& text, const char* flag, const char* form) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    fail(exit_usage, flag, " ", text, ": expected ", form);
  return {text.substr(0, equals), text.substr(equals + 1)};
}

Range parse_range(const std::string& text, const std::string& whole) {
  const size_t colon = text.find(':');
  Range r{};
  const auto number = [&](size_t begin, size_t end, double& v) {
    const auto [stop, error] = std::from_chars(text.data() + begin, text.data() + end, v);
    return error == std::errc{} && stop == text.data() + end;
  };
  if (colon == std::string::npos || !number(0, colon, r.low) || !number(colon + 1, text.size(), r.high))
    fail(exit_usage, "--range ", whole, ": expected NAME=LOW:HIGH with two numbers");
  if (!std::isfinite(r.low) || !std::isfinite(r.high))
    fail(exit_usage, "--range ", whole, ": LOW and HIGH of NAME=LOW:HIGH must be finite");
  if (r.low > r.high)
    fail(exit_usage, "--range ", whole, ": LOW (", text.substr(0, colon), ") is above HIGH (", text.substr(colon + 1),
         "); expected NAME=LOW:HIGH");
  return r;
}

}  // namespace

size_t find_io(const std::vector<Io>& ios, const std::string& key, const std::string& flag, const char* kind) {
  for (size_t i = 0; i < ios.size(); ++i)
    if (ios[i].name == key) return i;
  size_t position = 0;
  const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), position);
  if (error == std::errc{} && end == key.data() + key.size() && position < ios.size()) return position;
  std::string names;
  for (size_t i = 0; i < ios.size(); ++i) names += (i ? ", " : "") + ios[i].label(i);
  fail(exit_usage, flag, ": the graph has no ", kind, " ", key, "; it has ", names.empty() ? "none" : names);
}

Feed::Feed(const ingot_executable* executable, const FeedOptions& options)
    : inputs_(inputs_of(executable)), outputs_(outputs_of(executable)), in_(inputs_.size()) {
  Symbols known;
  for (const Io& io : inputs_) {
    visit_symbols(io.shape, [&](const std::string& s) { known.emplace(s, 0); });
    if (!io.symbol.empty()) known.emplace(io.symbol, 0);
  }
  for (const std::string& s : options.shapes) parse_binding(s, symbols_);
  check_known(symbols_, known);
  take_given(options);
  bind_given();
  fill_rest(options);
  make_outputs(executable);
}

void Feed::take_given(const FeedOptions& options) {
  for (const std::string& text : options.inputs) {
    const auto [key, value] = key_value(text, "--input", "NAME=FILE.npy or NAME=NUMBER");
    const size_t i = find_io(inputs_, key, "--input " + text, "input");
    const Io& io = inputs_[i];
    const std::string what = "input " + io.label(i);
    if (in_[i]) fail(exit_usage, what, " is given twice");
    const DType& type = dtype(io.dtype);
    if (is_number(value)) {
      if (io.shape != "[]") fail(exit_bad_input, what, ": ", value, " is a scalar, expected ", type.name, io.shape);
      Array scalar(io.dtype, {}, what);
      if (!parse_element(type, value, scalar.data()))
        fail(exit_bad_input, what, ": ", value, " is not a value of dtype ", type.name);
      in_[i] = std::move(scalar);
      continue;
    }
    Array array = read_npy(read_file(value), shown(value, true), io.dtype);
    const bool same_rank = array.shape().size() == split_shape(io.shape).size();
    if (array.type().number != io.dtype || !same_rank)
      fail(exit_bad_input, what, ": ", shown(value, true), " holds ", array.text(), ", expected ", type.name, io.shape);
    in_[i] = std::move(array);
  }
}

void Feed::bind(const std::string& symbol, int64_t value, const std::string& by) {
  const auto [at, added] = symbols_.emplace(symbol, value);
  if (!added && at->second != value)
    fail(exit_bad_input, by, " has ", symbol, " = ", value, ", but elsewhere ", symbol, " = ", at->second);
}

// What the arrays at hand say of the symbols, so that --shape need not repeat it.
void Feed::bind_given() {
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (!in_[i]) continue;
    const std::string by = "input " + inputs_[i].label(i);
    if (!inputs_[i].symbol.empty()) {
      int64_t value = 0;
      std::copy_n(in_[i]->data(), sizeof value, reinterpret_cast<uint8_t*>(&value));
      bind(inputs_[i].symbol, value, by);
    }
    const std::vector<std::string_view> extents = split_shape(inputs_[i].shape);
    for (size_t d = 0; d < extents.size(); ++d)
      if (const std::string symbol = plain_symbol(extents[d]); !symbol.empty()) bind(symbol, in_[i]->shape()[d], by);
  }
}

void Feed::fill_rest(const FeedOptions& options) {
  std::vector<std::optional<Range>> ranges(inputs_.size());
  for (const std::string& text : options.ranges) {
    const auto [key, value] = key_value(text, "--range", "NAME=LOW:HIGH");
    const size_t i = find_io(inputs_, key, "--range " + text, "input");
    if (ranges[i]) fail(exit_usage, "--range ", text, ": the range of ", inputs_[i].label(i), " is given twice");
    if (in_[i]) fail(exit_usage, "--range ", text, ": ", inputs_[i].label(i), " is given by --input, not random");
    ranges[i] = parse_range(value, text);
  }
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (in_[i]) continue;
    const Io& io = inputs_[i];
    const DType& type = dtype(io.dtype);
    const std::string what = "input " + io.label(i);
    if (!io.symbol.empty() && symbols_.contains(io.symbol)) {
      in_[i] = Array(io.dtype, {}, what);
      encode(type, static_cast<double>(symbols_.at(io.symbol)), in_[i]->data());
      continue;
    }
    if (!options.random)
      fail(exit_usage, what, " (", type.name, io.shape, ") is missing; give --input ", io.label(i),
           "=FILE.npy or --random SEED");
    if (!io.symbol.empty())
      fail(exit_usage, what, " binds ", io.symbol, ", which has no value; give it as --shape ", io.symbol, "=NUMBER");
    in_[i] = Array(io.dtype, evaluate_shape(io.shape, symbols_), what);
    fill_random(*in_[i], *options.random, static_cast<uint32_t>(i), ranges[i].value_or(default_range(type)));
  }
}

void Feed::make_outputs(const ingot_executable* executable) {
  tensors_.reserve(inputs_.size() + outputs_.size());
  for (auto& array : in_) {
    tensors_.push_back(array->tensor());
    in_pointers_.push_back(&tensors_.back());
  }
  out_.reserve(outputs_.size());
  for (size_t i = 0; i < outputs_.size(); ++i) {
    size_t rank = 0;
    check(ingot_executable_output_shape(executable, in_pointers_.data(), in_pointers_.size(), i, nullptr, 0, &rank));
    std::vector<int64_t> shape(rank);
    check(ingot_executable_output_shape(executable, in_pointers_.data(), in_pointers_.size(), i, shape.data(), rank,
                                        &rank));
    out_.emplace_back(outputs_[i].dtype, std::move(shape), "output " + outputs_[i].label(i));
    tensors_.push_back(out_.back().tensor());
    out_pointers_.push_back(&tensors_.back());
  }
}

void Feed::run(ingot_executable* executable, const ingot_run_options* options) {
  check(ingot_run(executable, in_pointers_.data(), in_pointers_.size(), out_pointers_.data(), out_pointers_.size(),
                  options));
}

}  // namespace ingot::tool
