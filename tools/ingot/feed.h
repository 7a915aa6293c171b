// The arrays of one run: inputs from files, numbers and --random, outputs of the shapes that follow.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "array.h"
#include "extents.h"
#include "random.h"
#include "session.h"

namespace ingot::tool {

struct FeedOptions {
  std::vector<std::string> inputs;  // NAME=FILE, POSITION=FILE or NAME=NUMBER
  std::optional<uint64_t> random;   // the seed with which inputs not named are filled
  std::vector<std::string> shapes;  // SYMBOL=NUMBER
  std::vector<std::string> ranges;  // NAME=LOW:HIGH
};

class Feed {
 public:
  Feed(const ingot_executable* executable, const FeedOptions& options);
  Feed(const Feed&) = delete;
  Feed& operator=(const Feed&) = delete;

  // Runs once. Outputs are overwritten.
  void run(ingot_executable* executable, const ingot_run_options* options = nullptr);
  const std::vector<Io>& inputs() const { return inputs_; }
  const std::vector<Io>& outputs() const { return outputs_; }
  const std::vector<std::optional<Array>>& arrays() const { return in_; }  // of all inputs
  std::vector<Array>& results() { return out_; }
  std::span<const ingot_tensor* const> input_tensors() const { return in_pointers_; }
  std::span<const ingot_tensor* const> output_tensors() const { return out_pointers_; }
  // Every symbol that the inputs bind.
  const Symbols& symbols() const { return symbols_; }

 private:
  void take_given(const FeedOptions& options);
  void bind_given();
  void fill_rest(const FeedOptions& options);
  void make_outputs(const ingot_executable* executable);
  size_t input_named(const std::string& key, const std::string& flag) const;
  void bind(const std::string& symbol, int64_t value, const std::string& by);

  std::vector<Io> inputs_, outputs_;
  std::vector<std::optional<Array>> in_;
  std::vector<Array> out_;
  std::vector<ingot_tensor> tensors_;
  std::vector<const ingot_tensor*> in_pointers_, out_pointers_;
  Symbols symbols_;
};

// The entry of `ios` by name or position; throws a usage error that lists what there is.
size_t find_io(const std::vector<Io>& ios, const std::string& key, const std::string& flag, const char* kind);

}  // namespace ingot::tool
