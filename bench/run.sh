#!/usr/bin/env bash
# Builds and runs the figures of docs/benchmarks.md. Called by ./do bench after a build.
set -eu
cd "$(dirname "$0")/.."
ninja -C build bench/figures bench/latency bench/sizes bench/cold_start >/dev/null
mkdir -p build/bench
for program in figures latency sizes cold_start; do
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
