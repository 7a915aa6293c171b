#!/usr/bin/env bash
# demo.sh [BUILD_DIR]: runs what is built; everything it writes goes to BUILD_DIR/demo.
set -eu
cd "$(dirname "$0")/.."
build=${1:-build}
out=$build/demo
mkdir -p "$out"
# Its own kernel cache, so that a first call here is a first call.
export INGOT_CACHE_DIR="$PWD/$out/graph-cache"
case $out in /*) INGOT_CACHE_DIR=$out/graph-cache ;; esac

printf 'Photographs (%s)\n\n' "$out/coffee.ppm, $out/chelsea.ppm"
"$build/examples/photo" "$out" examples/photo/photos/coffee.ppm examples/photo/photos/chelsea.ppm

run() {
  local name=$1
  shift
  printf '\n%s\n' "$name"
  "$build/tools/ingot" run "examples/graphs/$name.ingot" --random 1 "$@"
}
printf '\nGraphs on made-up inputs (ingot run examples/graphs/NAME.ingot --random 1 ...)\n'
run softmax --shape B=64 --shape N=1000
run layer_norm --shape B=64 --shape N=768
run bias_gelu --shape B=64 --shape N=3072
run black_scholes --shape N=100000 --range spot=50:150 --range strike=50:150 --range years=0.1:2 \
  --input rate=0.03 --input volatility=0.2
run adamw --shape N=100000 --range v=0:1 --input lr=0.001 --input correction1=0.1 --input correction2=0.001
run logsumexp --shape B=64 --shape N=1000

"$build/tools/ingot" explain examples/graphs/layer_norm.ingot --shape B=64 --shape N=768 -o "$out/layer_norm.html"
printf '\nHow layer_norm is fused: %s\n' "$out/layer_norm.html"
