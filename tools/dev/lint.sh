#!/usr/bin/env bash
# lint.sh [--fix] [FILE...]: all checks on the whole tree, or formatting and clang-tidy on the named files only.
# --fix rewrites the formatting. Warnings are errors.
set -eu
. tools/dev/common.sh
fix=''
if [ "${1:-}" = --fix ]; then fix=1; shift; fi

setup_for build lint
configure build
# clang-tidy reads headers that the build generates.
ninja -C build >build/lint-build.log || { tail -n 30 build/lint-build.log >&2; die 'lint: the build fails'; }

rc=0
check() {  # check NAME COMMAND...
  local name=$1
  shift
  say "lint: $name"
  "$@" || { rc=1; say "lint: $name: FAILED"; }
}

# A released header is never edited, not for its formatting either.
sources() { git ls-files -co --exclude-standard -- '*.h' '*.hpp' '*.c' '*.cpp' ':!tests/abi/*'; }
if [ $# -gt 0 ]; then list=$(printf '%s\n' "$@"); else list=$(sources); fi

format() { printf '%s\n' "$list" | xargs clang-format-19 "$@"; }
if [ -n "$fix" ]; then check 'formatting (rewriting)' format -i
else check formatting format --dry-run -Werror
fi

if [ $# = 0 ]; then
  check layering python3 tools/dev/check_layering.py
  check text python3 tools/dev/check_text.py
fi

check clang-tidy python3 tools/dev/tidy.py build "$@"

[ "$rc" = 0 ] && say 'lint: clean'
exit "$rc"
