#!/usr/bin/env python3
"""Runs the tests of the CPU backend on emulated AArch64: run_aarch64.py NATIVE_TEST [AARCH64_TEST [QEMU]]

The native tests compile every kernel they use for AArch64 as well and record the artifacts; the same tests, built for
AArch64, list the random kernels that they need besides, load the artifacts, and check what they compute.
"""
import os
import subprocess
import sys
import tempfile


def main():
    native, *rest = sys.argv[1:]
    if len(rest) < 2:
        missing = "no aarch64-linux-gnu-g++" if not rest else "no qemu-aarch64"
        print(f"SKIP: jit_cpu aarch64: {missing}")
        return 77
    cross, qemu = rest
    with tempfile.TemporaryDirectory(prefix="ingot-aarch64-") as directory:
        # The lowest level is enough: what is recorded does not depend on it.
        env = dict(os.environ, INGOT_TEST_ARTIFACTS=directory)
        subprocess.run([native, "-tce=random*"], env=dict(env, INGOT_TEST_TARGETS="x86-64-v2"), check=True)
        subprocess.run([qemu, cross, "-tc=random*"], env=dict(env, INGOT_TEST_LIST="1"), check=True)
        subprocess.run([native, "-ns", "-tc=record*"], env=env, check=True)
        print(len(os.listdir(directory)), "files", flush=True)
        return subprocess.run([qemu, cross], env=env).returncode


if __name__ == "__main__":
    sys.exit(main())
