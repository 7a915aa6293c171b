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
