#!/usr/bin/env bash
# The one door to building, running and checking Ingot. Every verb is a script of the same name in tools/dev.
set -eu
cd "$(dirname "$0")"

usage() {
  cat <<'TEXT'
usage: ./do VERB [ARGUMENT...]

  setup        install what is missing from Debian's packages (root or sudo); skips what is there
  build        set up if needed, configure and compile into build/ (arguments go to ninja)
  demo         build, then run the demonstration on photographs and example graphs
  test         build, then run every test (arguments go to 'meson test'); ends with 'N passed, N failed'
  bench        build, then print the benchmarks' ratios (arguments go to bench/run.sh); 'bench suite' compares with
               other engines and code by hand, 'bench --peers' installs those engines first (bench/suite/README.md)
  lint         formatting, clang-tidy, layering, file length and text rules
  sanitize     the tests under ASan and UBSan, then under TSan (or one: 'asan', 'tsan')
  variants     the tests of a build without LLVM
  fuzz         every libFuzzer target for FUZZ_SECONDS (60) each, and FUZZ_GRAPHS (2000) random graphs (or the named
               ones; 'graphs' names the last)
  mutants      show that each fault in tests/mutants turns its named test red (or the named ones)
  cov          line coverage of the tests
  exhaustive   the functions' error over all 2^32 float inputs, and process races at full size; takes long
  clean        remove every build folder
TEXT
}

[ $# -gt 0 ] || { usage; exit 0; }
verb=$1
shift
case $verb in
  setup | build | demo | test | bench | lint | sanitize | variants | fuzz | mutants | cov | exhaustive | clean)
    exec bash "tools/dev/$verb.sh" "$@" ;;
  help | -h | --help) usage ;;
  *) printf "./do: unknown verb '%s'\n\n" "$verb" >&2; usage >&2; exit 2 ;;
esac
