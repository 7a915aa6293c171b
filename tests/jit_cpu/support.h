// What the tests of the CPU backend share: kernels made for one purpose, the module, frames filled by hand.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "jit/frame.h"
#include "jit/image/image.h"
#include "jit/image/module.h"
#include "loop/builder.h"
#include "loop/schedule.h"

namespace ingot::jit {

using ir::DType;
using loop::Builder;
using loop::NodeId;
using loop::Prim;

// The module of this build tree.
const Module& test_module();

// Thrown in place of an artifact by the tests' AArch64 build while it only lists the kernels that it will need.
struct NotRecorded {};

// Compiles for `target` and checks the artifact's form.
std::vector<uint8_t> compile(const loop::Kernel& kernel, const std::string& target);

// The targets whose code runs on this machine, lowest first; INGOT_TEST_TARGETS picks one of them.
std::vector<std::string> native_targets();
inline const std::vector<std::string> all_targets = {"x86-64-v2", "x86-64-v3", "x86-64-v4", "aarch64"};

loop::View load_view(DType storage, uint16_t tensor, loop::AxisSet axes);
loop::View store_view(DType storage, uint16_t tensor, loop::AxisSet axes);

// One lane of a type as bits and back, in an array of items.
uint64_t get_item(const void* base, DType t, size_t index);
void put_item(void* base, DType t, size_t index, uint64_t bits);

// `count` values of a type: its corner cases first, then random bits.
std::vector<uint64_t> samples(DType t, size_t count, uint32_t seed);

}  // namespace ingot::jit
