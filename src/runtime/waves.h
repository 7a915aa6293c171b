// Which steps of a plan may run at once: those of one wave need nothing of each other. Made with the executor, from the
// plan alone.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ingot::runtime {

struct ExecutorPlan;

// Lists one behind another.
struct Lists {
  std::vector<uint32_t> items;
  std::vector<uint32_t> begin{0};  // per list, and the end of the last one

  size_t size() const { return begin.size() - 1; }
  std::span<const uint32_t> operator[](size_t i) const {
    return {items.data() + begin[i], items.data() + begin[i + 1]};
  }
};

// An order of the steps, with the lifetimes of the buffers in it: one is born in the wave that stores it and dead after
// the last that reads it.
struct StepOrder {
  Lists waves;  // of steps, each in the order of the plan
  Lists born;   // of buffers, per wave
  Lists dying;
};

struct Waves {
  explicit Waves(const ExecutorPlan& plan);

  StepOrder in_turn;    // each step is a wave
  StepOrder together;   // each step is in the first wave where all that it needs has been made
  bool differ = false;  // whether some wave of `together` has more than one step

  // Whether, with the steps together, an output may take the memory of an input that the plan's order allows it:
  // whoever else reads the input does so in an earlier wave.
  bool may_overwrite(size_t output, size_t input) const noexcept;

 private:
  std::vector<uint32_t> wave_of_;           // per step, of `together`
  Lists readers_of_input_, stores_output_;  // steps
};

}  // namespace ingot::runtime
