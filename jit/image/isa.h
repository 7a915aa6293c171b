// The ISA levels that artifacts are made for, and which of them this processor runs.
#pragma once

#include <span>
#include <string_view>

namespace ingot::jit {

// The highest level usable here: "x86-64-v4", "x86-64-v3", "x86-64-v2" or "aarch64"; empty where none is. "Usable"
// asks the processor (CPUID) and the system (XCR0): a host that hides AVX-512 must not get it. Found once; thread-safe.
std::string_view host_target() noexcept;

// Whether a processor of level `host` runs code of level `target`. False for names that are no level.
bool can_run(std::string_view host, std::string_view target) noexcept;

// The levels whose code a processor of level `target` runs, highest first, so itself first; empty if it is no level.
std::span<const std::string_view> targets_below(std::string_view target) noexcept;

}  // namespace ingot::jit
