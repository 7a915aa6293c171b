// References for pow: exact by MPFR, a double filter, and the inputs that matter.
#pragma once

#include <mpfr.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace ingot::test {

// x^y correctly rounded to the precision of `result`; every special case of Annex F.
void pow_exact(mpfr_t result, float x, float y);

// Every pair of special and boundary values: zeros, denormals, one, integers odd and even, infinities, NaN, both signs.
std::vector<std::pair<float, float>> pow_special_pairs();

// A pair whose power is finite and not zero, spread over all of them: y = e / log2 |x| for a uniform exponent e.
// `state` is a xorshift generator's.
std::pair<float, float> pow_random_pair(uint64_t& state);

}  // namespace ingot::test
