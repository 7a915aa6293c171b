#!/usr/bin/env bash
# peers.sh FOLDER: makes a virtual environment with the peers, from the package index that pip is set up for. Each is
# installed by itself, so that one that cannot be had costs only itself. A finished folder is left as it is.
set -u
folder=$1
[ -e "$folder/finished" ] && exit 0
say() { printf 'bench peers: %s\n' "$*" >&2; }

python3 -m venv "$folder" || exit 1
install() { "$folder/bin/pip" install --quiet --disable-pip-version-check "$@" >&2; }

say 'numpy, which the suite itself needs'
install 'numpy>=2,<3' || exit 1
for peer in numexpr 'numba>=0.68' 'jax>=0.10,<0.11' 'drjit>=1.5,<2' 'mlx[cpu]'; do
  say "$peer"
  install "$peer" || say "$peer: not installed"
done

# torch is linked with 3 GB of CUDA libraries that a CPU does not need: stubs stand for them.
say 'torch'
if install --no-deps torch==2.13.0 &&
   install filelock typing-extensions sympy networkx jinja2 fsspec 'setuptools>=77,<81'; then
  "$folder/bin/python" "$(dirname "$0")/torch_stubs.py" "$folder/stubs" || say 'torch: no stubs'
else
  say 'torch: not installed'
fi
touch "$folder/finished"
