#!/usr/bin/env bash
# setup.sh [GROUP...]: installs the Debian packages of the groups (default: build test) that are not there yet.
set -eu
. tools/dev/common.sh

groups=${*:-build test}

# The one list of packages. build: what configuring and compiling everything needs, tests included.
packages_of() {
  case $1 in
    build)
      echo build-essential pkg-config meson ninja-build ccache python3
      echo libspdlog-dev libxxhash-dev libcli11-dev nlohmann-json3-dev doctest-dev libmpfr-dev
      echo cmake             # doctest-dev is found by its CMake file only; a test consumes find_package(ingot)
      echo python3-numpy     # tests make and read .npy files
      llvm_package
      echo libzstd-dev zlib1g-dev  # what LLVM's static archives link
      echo libhiredis-dev    # examples/redis_cache
      if [ "$(dpkg --print-architecture)" = amd64 ]; then
        echo qemu-user g++-aarch64-linux-gnu  # AArch64 images run in a small program under emulation
      fi ;;
    test) ;;  # Redis and NVRTC, below: both optional
    # Pinned. clang-tidy 22 leaves the standard library's headers alone, which makes it five times as fast as 19.
    lint) echo clang-format-19 clang-tidy-22 ;;
    fuzz) echo clang-19 libclang-rt-19-dev ;;
    cov) echo gcovr ;;
    *) die "setup: no group '$1' (build test lint fuzz cov)" ;;
  esac
}

installed() { [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }
available() { apt-cache policy "$1" 2>/dev/null | grep -q 'Candidate: [0-9]'; }

# One LLVM is enough: the newest supported one that is there, else the newest that can be had.
llvm_package() {
  local n
  for n in 22 21 20 19; do if installed llvm-$n-dev; then return; fi; done
  for n in 22 21 20 19; do if available llvm-$n-dev; then echo llvm-$n-dev; return; fi; done
}

missing() {
  local group package
  for group in $groups; do
    for package in $(packages_of "$group"); do
      if ! installed "$package"; then echo "$package"; fi
    done
  done
}

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"
  elif command -v sudo >/dev/null; then sudo "$@"
  else die "setup: neither root nor sudo here; install these yourself: $(missing | tr '\n' ' ')"
  fi
}

apt() {
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=600 -o Dpkg::Use-Pty=0 "$@"
}

install_packages() {
  # A fresh root's package lists are empty or partial (no security archive), and old lists name files that are gone.
  say "setup: reading Debian's package lists"
  apt update || say 'setup: some package lists could not be read; going on with the rest'
  local list
  list=$(missing | tr '\n' ' ')
  say "setup: installing $list"
  local log
  log=$(mktemp)
  # shellcheck disable=SC2086
  if ! apt install -y --no-install-recommends $list >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    rm -f "$log"
    die 'setup: the installation failed'
  fi
  rm -f "$log"
}

nvrtc_found() {
  ldconfig -p 2>/dev/null | grep -q 'libnvrtc\.so' && return
  compgen -G '/usr/local/cuda*/lib64/libnvrtc.so*' >/dev/null && return
  [ -n "${INGOT_NVRTC:-}" ] && return
  compgen -G '.venv/lib/python3*/site-packages/nvidia/*/lib/libnvrtc.so.*' >/dev/null
}

# NVRTC compiles generated CUDA without a GPU. It is optional: without it the tests that need it say so and are skipped.
install_nvrtc() {
  nvrtc_found && return
  say 'setup: fetching NVRTC from PyPI into .venv (no CUDA toolkit here)'
  if ! installed python3-venv; then apt install -y --no-install-recommends python3-venv >/dev/null 2>&1 || true; fi
  if ! { python3 -m venv .venv && .venv/bin/python -m pip install -q --disable-pip-version-check nvidia-cuda-nvrtc; } \
    >/dev/null 2>&1; then
    say 'SKIP: nvrtc: not to be had from PyPI here; tests that compile CUDA text are skipped'
  fi
}

cuobjdump_found() {
  [ -n "${INGOT_CUOBJDUMP:-}" ] && return
  compgen -G '/usr/local/cuda*/bin/cuobjdump' >/dev/null && return
  compgen -G '.venv/lib/python3*/site-packages/nvidia/*/bin/cuobjdump' >/dev/null
}

# What kernels take on a device is read off their cubins by cuobjdump, which takes nvdisasm for instructions.
install_cuobjdump() {
  cuobjdump_found && return
  say 'setup: fetching cuobjdump from PyPI into .venv'
  if ! installed python3-venv; then apt install -y --no-install-recommends python3-venv >/dev/null 2>&1 || true; fi
  if ! { python3 -m venv .venv && .venv/bin/python -m pip install -q --disable-pip-version-check \
    nvidia-cuda-cuobjdump nvidia-cuda-nvdisasm; } >/dev/null 2>&1; then
    say 'SKIP: cuobjdump: not to be had from PyPI here; what kernels take on a device is not looked at'
  fi
}

# One test starts a Redis server of its own on a socket of its own. The package may also start the system's, which fails
# in some containers; then that test says so and is skipped.
install_redis() {
  installed redis-server && return
  say 'setup: installing redis-server'
  if ! apt install -y --no-install-recommends redis-server >/dev/null 2>&1; then
    apt update >/dev/null 2>&1 || true
    apt install -y --no-install-recommends redis-server >/dev/null 2>&1 ||
      say 'SKIP: redis: redis-server cannot be installed here; the test that shares kernels through it is skipped'
  fi
}

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  say 'setup: not a Debian system: meson, ninja, a C++20 compiler, LLVM 19 to 22, spdlog, xxHash, doctest, CLI11,'
  say 'setup: nlohmann-json, MPFR, hiredis and a redis-server are taken as they are found'
  exit 0
fi

# A group's stamp holds this script's checksum; any later change of dpkg's database makes it stale.
stamp_dir=.setup
want=$(cksum tools/dev/setup.sh)
fresh() {
  local stamp=$stamp_dir/$1
  [ -e "$stamp" ] && [ "$(cat "$stamp")" = "$want" ] && ! [ /var/lib/dpkg/status -nt "$stamp" ]
}
stale=''
for group in $groups; do if ! fresh "$group"; then stale+=" $group"; fi; done
[ -n "$stale" ] || exit 0
groups=$stale

if [ -n "$(missing)" ]; then install_packages; fi
case " $groups " in *' test '*) install_redis; install_nvrtc; install_cuobjdump ;; esac
mkdir -p $stamp_dir
for group in $groups; do printf '%s\n' "$want" >"$stamp_dir/$group"; done
say "setup: everything is there for:$groups"
