// Results that the standard fixes: infinities, zeros and their signs, NaN, and what is exact.
#include "math/f64_check.h"

using namespace ingot::test;

TEST_CASE("f64 special results") {
  check_points("exp", {{0, 1},
                       {-0.0, 1},
                       {inf, inf},
                       {-inf, 0},
                       {qnan, qnan},
                       {-qnan, qnan},
                       {710, inf},
                       {max, inf},
                       {-max, 0},
                       {-745, denormal},
                       {-745.2, 0}});
  check_points(
      "log", {{1, 0}, {0, -inf}, {-0.0, -inf}, {inf, inf}, {-1, qnan}, {-denormal, qnan}, {-inf, qnan}, {qnan, qnan}});
  check_points(
      "rsqrt",
      {{0, inf}, {-0.0, -inf}, {inf, 0}, {-1, qnan}, {-inf, qnan}, {qnan, qnan}, {4, 0.5}, {0x1p-1074, 0x1p537}});
  check_points("tanh", {{0, 0},
                        {-0.0, -0.0},
                        {inf, 1},
                        {-inf, -1},
                        {qnan, qnan},
                        {denormal, denormal},
                        {-denormal, -denormal},
                        {20, 1},
                        {-max, -1}});
  check_points("erf",
               {{0, 0}, {-0.0, -0.0}, {inf, 1}, {-inf, -1}, {qnan, qnan}, {denormal, denormal}, {6, 1}, {-max, -1}});
  check_points("sigmoid",
               {{0, 0.5}, {-0.0, 0.5}, {inf, 1}, {-inf, 0}, {qnan, qnan}, {40, 1}, {max, 1}, {-max, 0}, {-746, 0}});
  // The far negative tails are limits: -0, at -inf too.
  for (const char* name : {"silu", "gelu_erf", "gelu_tanh"})
    check_points(name, {{0, 0},
                        {-0.0, -0.0},
                        {inf, inf},
                        {-inf, -0.0},
                        {qnan, qnan},
                        {max, max},
                        {-max, -0.0},
                        {50, 50},
                        {-1000, -0.0},
                        {0x1p-1022, 0x1p-1023}});
}

TEST_CASE("f64 special results of the exponentials and logarithms") {
  check_points("exp2", {{0, 1},
                        {-0.0, 1},
                        {inf, inf},
                        {-inf, 0},
                        {qnan, qnan},
                        {-qnan, qnan},
                        {3, 8},
                        {-1, 0.5},
                        {1023, 0x1p1023},
                        {1024, inf},
                        {-1022, min_normal},
                        {-1074, denormal},
                        {-1075, 0},
                        {max, inf},
                        {-max, 0}});
  check_points("expm1", {{0, 0},
                         {-0.0, -0.0},
                         {inf, inf},
                         {-inf, -1},
                         {qnan, qnan},
                         {-qnan, qnan},
                         {denormal, denormal},
                         {-denormal, -denormal},
                         {710, inf},
                         {-40, -1},
                         {max, inf},
                         {-max, -1}});
  check_points("exp10", {{0, 1},
                         {-0.0, 1},
                         {inf, inf},
                         {-inf, 0},
                         {qnan, qnan},
                         {1, 10},
                         {2, 100},
                         {22, 1e22},
                         {309, inf},
                         {-324, 0},
                         {max, inf},
                         {-max, 0}});
  check_points("log2", {{1, 0},
                        {0, -inf},
                        {-0.0, -inf},
                        {inf, inf},
                        {-1, qnan},
                        {-denormal, qnan},
                        {-inf, qnan},
                        {qnan, qnan},
                        {8, 3},
                        {denormal, -1074},
                        {min_normal, -1022},
                        {0x1p1023, 1023}});
  check_points("log10", {{1, 0},
                         {0, -inf},
                         {-0.0, -inf},
                         {inf, inf},
                         {-1, qnan},
                         {-denormal, qnan},
                         {-inf, qnan},
                         {qnan, qnan},
                         {10, 1},
                         {1000, 3},
                         {1e22, 22}});
  check_points("log1p", {{0, 0},
                         {-0.0, -0.0},
                         {-1, -inf},
                         {-2, qnan},
                         {-inf, qnan},
                         {inf, inf},
                         {qnan, qnan},
                         {denormal, denormal},
                         {-denormal, -denormal}});
}

TEST_CASE("f64 special results of the circular functions and their inverses") {
  constexpr double half_pi = 0x1.921fb54442d18p0;
  check_points(
      "sin",
      {{0, 0}, {-0.0, -0.0}, {inf, qnan}, {-inf, qnan}, {qnan, qnan}, {denormal, denormal}, {-denormal, -denormal}});
  check_points("cos", {{0, 1}, {-0.0, 1}, {inf, qnan}, {-inf, qnan}, {qnan, qnan}, {denormal, 1}});
  check_points(
      "tan",
      {{0, 0}, {-0.0, -0.0}, {inf, qnan}, {-inf, qnan}, {qnan, qnan}, {denormal, denormal}, {-denormal, -denormal}});
  check_points("sinpi", {{0, 0},
                         {-0.0, -0.0},
                         {inf, qnan},
                         {-inf, qnan},
                         {qnan, qnan},
                         {1, 0},
                         {-1, -0.0},
                         {2, 0},
                         {-2, -0.0},
                         {0.5, 1},
                         {-0.5, -1},
                         {1.5, -1},
                         {-1.5, 1},
                         {0x1p52 + 1, 0},
                         {-max, -0.0}});
  check_points("cospi", {{0, 1},
                         {-0.0, 1},
                         {inf, qnan},
                         {-inf, qnan},
                         {qnan, qnan},
                         {1, -1},
                         {-1, -1},
                         {2, 1},
                         {0.5, 0},
                         {-0.5, 0},
                         {1.5, 0},
                         {-1.5, 0},
                         {0x1p52 + 1, -1},
                         {max, 1}});
  check_points("asin", {{0, 0},
                        {-0.0, -0.0},
                        {1, half_pi},
                        {-1, -half_pi},
                        {1.0000000000000002, qnan},
                        {-2, qnan},
                        {inf, qnan},
                        {-inf, qnan},
                        {qnan, qnan},
                        {denormal, denormal},
                        {-denormal, -denormal}});
  check_points("acos", {{1, 0},
                        {0, half_pi},
                        {-0.0, half_pi},
                        {-1, 2 * half_pi},
                        {1.0000000000000002, qnan},
                        {-2, qnan},
                        {inf, qnan},
                        {-inf, qnan},
                        {qnan, qnan}});
  check_points("atan", {{0, 0},
                        {-0.0, -0.0},
                        {inf, half_pi},
                        {-inf, -half_pi},
                        {max, half_pi},
                        {qnan, qnan},
                        {denormal, denormal},
                        {-denormal, -denormal}});
}

TEST_CASE("f64 special results of the hyperbolic functions, cbrt and erfc") {
  check_points("sinh", {{0, 0},
                        {-0.0, -0.0},
                        {inf, inf},
                        {-inf, -inf},
                        {711, inf},
                        {-max, -inf},
                        {qnan, qnan},
                        {denormal, denormal},
                        {-denormal, -denormal}});
  check_points("cosh",
               {{0, 1}, {-0.0, 1}, {inf, inf}, {-inf, inf}, {711, inf}, {-max, inf}, {qnan, qnan}, {denormal, 1}});
  check_points(
      "asinh",
      {{0, 0}, {-0.0, -0.0}, {inf, inf}, {-inf, -inf}, {qnan, qnan}, {denormal, denormal}, {-denormal, -denormal}});
  check_points(
      "acosh",
      {{1, 0}, {0.9999999999999999, qnan}, {0, qnan}, {-1, qnan}, {-3, qnan}, {-inf, qnan}, {inf, inf}, {qnan, qnan}});
  check_points("atanh", {{0, 0},
                         {-0.0, -0.0},
                         {1, inf},
                         {-1, -inf},
                         {1.0000000000000002, qnan},
                         {-2, qnan},
                         {inf, qnan},
                         {-inf, qnan},
                         {qnan, qnan},
                         {denormal, denormal},
                         {-denormal, -denormal}});
  check_points("cbrt", {{0, 0},
                        {-0.0, -0.0},
                        {inf, inf},
                        {-inf, -inf},
                        {qnan, qnan},
                        {8, 2},
                        {-27, -3},
                        {0x1p-1074, 0x1p-358},
                        {-0x1p1023, -0x1p341}});
  check_points("erfc", {{0, 1}, {-0.0, 1}, {inf, 0}, {-inf, 2}, {qnan, qnan}, {28, 0}, {max, 0}, {-7, 2}, {-max, 2}});
}

TEST_CASE("f64 special results of softplus, log_sigmoid, elu, selu and mish") {
  check_points("softplus", {{inf, inf}, {-inf, 0}, {qnan, qnan}, {-qnan, qnan}, {max, max}, {-max, 0}, {50, 50}});
  check_points("log_sigmoid",
               {{inf, -0.0}, {-inf, -inf}, {qnan, qnan}, {-qnan, qnan}, {max, -0.0}, {-max, -max}, {-50, -50}});
  for (const char* name : {"elu", "selu"})
    check_points(name, {{0, 0}, {-0.0, -0.0}, {inf, inf}, {qnan, qnan}, {-qnan, qnan}});
  check_points("elu", {{-inf, -1.0 / 3}, {-max, -1.0 / 3}, {max, max}, {denormal, denormal}});
  check_points("selu", {{-inf, -0x1.c212cc640f031p0}, {max, inf}, {-denormal, -2 * denormal}});
  check_points("mish", {{0, 0}, {-0.0, -0.0}, {inf, inf}, {-inf, -0.0}, {qnan, qnan}, {max, max}, {-max, -0.0}});
}

TEST_CASE("f64 special results of erfinv, lgamma and digamma") {
  check_points("erfinv", {{0, 0},
                          {-0.0, -0.0},
                          {1, inf},
                          {-1, -inf},
                          {1.0000000000000002, qnan},
                          {-2, qnan},
                          {inf, qnan},
                          {-inf, qnan},
                          {qnan, qnan},
                          {-qnan, qnan}});
  check_points("lgamma", {{1, 0},
                          {2, 0},
                          {0, inf},
                          {-0.0, inf},
                          {inf, inf},
                          {-inf, inf},
                          {-1, inf},
                          {-20, inf},
                          {-max, inf},
                          {max, inf},
                          {qnan, qnan},
                          {-qnan, qnan}});
  check_points("digamma", {{0, -inf},
                           {-0.0, inf},
                           {inf, inf},
                           {-inf, qnan},
                           {-1, qnan},
                           {-20, qnan},
                           {-max, qnan},
                           {denormal, -inf},
                           {-denormal, inf},
                           {qnan, qnan},
                           {-qnan, qnan}});
}

TEST_CASE("f64 pow follows Annex F") {
  const PairPoint cases[] = {
      {0, -1, inf},
      {-0.0, -1, -inf},
      {0, -3, inf},
      {-0.0, -3, -inf},
      {0, -2, inf},
      {-0.0, -2, inf},
      {-0.0, -2.5, inf},
      {0, -inf, inf},
      {-0.0, -inf, inf},
      {0, 3, 0},
      {-0.0, 3, -0.0},
      {-0.0, 2, 0},
      {-0.0, 0.5, 0},
      {-0.0, inf, 0},
      {-1, inf, 1},
      {-1, -inf, 1},
      {1, qnan, 1},
      {1, inf, 1},
      {qnan, 0, 1},
      {qnan, -0.0, 1},
      {inf, 0, 1},
      {-inf, -0.0, 1},
      {0, 0, 1},
      {-2, 0.5, qnan},
      {-denormal, 1.5, qnan},
      {-max, -0.1, qnan},
      {0.5, -inf, inf},
      {-0.5, -inf, inf},
      {2, -inf, 0},
      {-2, -inf, 0},
      {0.5, inf, 0},
      {-0.5, inf, 0},
      {2, inf, inf},
      {-2, inf, inf},
      {-inf, -1, -0.0},
      {-inf, -2, 0},
      {-inf, -2.5, 0},
      {-inf, 3, -inf},
      {-inf, 2, inf},
      {-inf, 2.5, inf},
      {-inf, inf, inf},
      {-inf, -inf, 0},
      {inf, -1, 0},
      {inf, 0.1, inf},
      {qnan, 1, qnan},
      {2, qnan, qnan},
      {qnan, qnan, qnan},
      {-1, qnan, qnan},
      {0, qnan, qnan},
      {inf, qnan, qnan},
      {qnan, inf, qnan},
      {-2, 3, -8},
      {-2, 2, 4},
      {-1, 0x1p53, 1},
      {-1, 0x1p53 - 1, -1},
      {-1, max, 1},
      {-2, 1024, inf},
      {-2, 1025, -inf},
      {-2, -1075, -0.0},
      {-2, -1074, denormal},
      {2, -1074, denormal},
      {-8, -357, -0x1p-1071},
  };
  check_pairs("pow", cases);
}

TEST_CASE("f64 logaddexp where one power counts alone") {
  const PairPoint cases[] = {{-inf, 5, 5},       {-0.0, -inf, 0},   {-inf, -inf, -inf}, {inf, inf, inf},
                             {inf, -inf, inf},   {-inf, inf, inf},  {max, 1, max},      {max, -max, max},
                             {-max, -max, -max}, {inf, qnan, qnan}, {qnan, -inf, qnan}, {0, -746, 0},
                             {0, -745, denormal}};
  check_pairs("logaddexp", cases);
}

TEST_CASE("f64 atan2 and hypot follow Annex F") {
  constexpr double half_pi = 0x1.921fb54442d18p0, pi = 2 * half_pi, q1 = half_pi / 2, q3 = 0x1.2d97c7f3321d2p1;
  std::vector<PairPoint> cases = {
      {qnan, 1, qnan}, {1, qnan, qnan}, {qnan, inf, qnan}, {inf, qnan, qnan}, {0, qnan, qnan}};
  const PairPoint upper[] = {{0, -0.0, pi},
                             {0, 0, 0},
                             {0, -1, pi},
                             {0, 1, 0},
                             {0, -inf, pi},
                             {0, inf, 0},
                             {1, 0, half_pi},
                             {1, -0.0, half_pi},
                             {1, -inf, pi},
                             {1, inf, 0},
                             {inf, 1, half_pi},
                             {inf, -1, half_pi},
                             {inf, -inf, q3},
                             {inf, inf, q1},
                             {1, 1, q1},
                             {1, -1, q3},
                             {denormal, denormal, q1},
                             {max, max, q1},
                             {max, -max, q3},
                             {denormal, max, 0},
                             {denormal, -max, pi},
                             {max, denormal, half_pi},
                             {denormal, 1, denormal},
                             {0x1.8p-600, 0x1p400, 0x1.8p-1000},
                             {0x1.8p-500, 0x1p520, 0x1.8p-1020}};
  for (const PairPoint& p : upper) cases.push_back(p), cases.push_back({-p.x, p.y, -p.want});
  check_pairs("atan2", cases);
  const PairPoint lengths[] = {{0, 0, 0},
                               {-0.0, 0, 0},
                               {-0.0, -0.0, 0},
                               {3, 4, 5},
                               {-3, 4, 5},
                               {5, -12, 13},
                               {0, -7, 7},
                               {inf, 1, inf},
                               {1, -inf, inf},
                               {-inf, qnan, inf},
                               {qnan, inf, inf},
                               {inf, inf, inf},
                               {qnan, 1, qnan},
                               {1, qnan, qnan},
                               {denormal, 0, denormal},
                               {3 * denormal, 4 * denormal, 5 * denormal},
                               {max, max, inf},
                               {0x1.8p1022, 0x1p1023, 0x1.4p1023},
                               {0x1p1023, denormal, 0x1p1023}};
  check_pairs("hypot", lengths);
}
