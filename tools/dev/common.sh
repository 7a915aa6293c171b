# Sourced by the verbs of ./do, which run in the repository's root.

say() { printf './do: %s\n' "$*"; }
die() { printf './do: %s\n' "$*" >&2; exit 1; }

# setup_for GROUP...: installs what the groups of setup.sh miss. Costs milliseconds once done.
setup_for() { bash tools/dev/setup.sh "$@"; }

# configure DIR [MESON OPTION...]: makes the build folder once; CC and CXX stay the caller's where they are set.
configure() {
  local dir=$1
  shift
  [ -e "$dir/build.ninja" ] && return
  local launcher=''
  if command -v ccache >/dev/null; then launcher='ccache '; fi
  if [ "${CI:-}" = true ]; then set -- -Dwerror=true "$@"; fi
  # A folder left by a configuration that failed half-way is started anew.
  rm -rf "$dir"
  CC="$launcher${CC:-gcc}" CXX="$launcher${CXX:-g++}" meson setup "$dir" "$@"
}

# NVRTC and cuobjdump from PyPI are reached by their full paths, since nothing lists .venv to the dynamic linker.
use_local_nvrtc() {
  local lib tool
  for lib in .venv/lib/python3*/site-packages/nvidia/*/lib/libnvrtc.so.*; do
    if [ -e "$lib" ] && [ -z "${INGOT_NVRTC:-}" ]; then export INGOT_NVRTC="$PWD/$lib"; fi
  done
  for tool in .venv/lib/python3*/site-packages/nvidia/*/bin/cuobjdump; do
    if [ -x "$tool" ] && [ -z "${INGOT_CUOBJDUMP:-}" ]; then export INGOT_CUOBJDUMP="$PWD/$tool"; fi
  done
}
