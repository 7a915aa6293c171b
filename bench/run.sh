#!/usr/bin/env bash
# Builds and runs the figures of docs/benchmarks.md. Called by ./do bench after a build.
set -eu
cd "$(dirname "$0")/.."
ninja -C build bench/figures bench/cold_start >/dev/null
mkdir -p build/bench
build/bench/figures --json build/bench/figures.json
echo
build/bench/cold_start --json build/bench/cold_start.json
for graph in softmax layer_norm bias_gelu black_scholes; do
  case $graph in
    softmax | layer_norm) shape="--shape B=4096 --shape N=1024" ;;
    bias_gelu) shape="--shape B=2048 --shape N=3072" ;;
    black_scholes) shape="--shape N=4194304" ;;
  esac
  echo
  echo "ingot bench examples/graphs/$graph.ingot $shape"
  # shellcheck disable=SC2086 -- the shapes are words
  build/tools/ingot bench "examples/graphs/$graph.ingot" $shape
done
