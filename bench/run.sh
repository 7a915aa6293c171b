#!/usr/bin/env bash
# Builds and runs the figures of docs/benchmarks.md. Called by ./do bench after a build.
set -eu
cd "$(dirname "$0")/.."
programs='figures latency threads sizes columns indexed scans cold_start functions'
for program in $programs; do ninja -C build "bench/$program" >/dev/null; done
mkdir -p build/bench
for program in $programs; do
  build/bench/$program --json build/bench/$program.json
  echo
done
for graph in softmax layer_norm bias_gelu black_scholes; do
  case $graph in
    softmax | layer_norm) shape="--shape B=4096 --shape N=1024" ;;
    bias_gelu) shape="--shape B=2048 --shape N=3072" ;;
    black_scholes) shape="--shape N=4194304" ;;
  esac
  echo "ingot bench examples/graphs/$graph.ingot $shape"
  # shellcheck disable=SC2086 -- the shapes are words
  build/tools/ingot bench "examples/graphs/$graph.ingot" $shape
done

# What rounding every op of f16 and bf16 costs: the least of the times is what docs/benchmarks.md has.
chain() {  # chain DTYPE FLAGS
  printf 'ingot 1.0\ngraph @chain(%%x: %s[N], %%y: %s[N]) -> (%s[N])%s {\n  %%0 = add %%x, %%y\n' "$1" "$1" "$1" "$2"
  for i in 1 3 5; do printf '  %%%d = mul %%%d, %%x\n  %%%d = add %%%d, %%y\n' $i $((i - 1)) $((i + 1)) $i; done
  printf '  %%7 = mul %%6, %%x\n  return %%7\n}\n'
}
for dtype in bf16 f16; do
  for flags in '' ' flags(relaxed_precision)'; do
    echo "a chain of 8 ops on 4096 $dtype$flags"
    chain "$dtype" "$flags" >build/bench/chain.ingot
    build/tools/ingot bench build/bench/chain.ingot --shape N=4096
  done
done

# 4M f32 in rows of any length: a row added, a column multiplied in, a transpose, a reduction of each row.
rows() {  # rows SHAPE SHAPE STATEMENT
  printf 'ingot 1.0\ngraph @rows(%%x: f32[B, N], %%y: f32[%s]) -> (f32[%s]) {\n  %%0 = %s\n  return %%0\n}\n' \
    "$1" "$2" "$3" >build/bench/rows.ingot
}
row_times() {  # row_times WHAT LENGTH...
  local what=$1 n
  shift
  for n; do
    echo "$what, rows of $n"
    build/tools/ingot bench build/bench/rows.ingot --shape "B=$((4194304 / n))" --shape "N=$n" |
      grep -E 'warm call|unfused call|memcpy  '
  done
}
rows N 'B, N' 'add %x, %y' && row_times 'x[B, N] + b[N]' 16 63 64 65 72 100 129 257 600 1000 1025
rows 'B, 1' 'B, N' 'mul %x, %y' && row_times 'x[B, N] * c[B, 1]' 16 63 64 65 129 257
rows '' 'N, B' 'transpose %x {perm = [1, 0]}' && row_times transpose 63 64 65 129 257
rows '' B 'reduce_sum %x {axes = [1]}' && row_times 'reduce_sum of each row' 8 32 64 1024
rows '' 'B, N' 'softmax %x' && row_times 'softmax of each row' 8 32 64 1024
rows '' 'B, N' 'softmax %x {axis = 0}' && row_times 'softmax over the first dim' 4096
rows N 'B, N' 'layer_norm %x, %y' && row_times 'layer norm of each row' 8 32 64 1024
