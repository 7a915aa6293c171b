"""Kernels shared between processes through a real Redis: the second process compiles nothing, and what somebody else
wrote into the server is not run."""

import hashlib
import hmac
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

EXAMPLE = os.environ["INGOT_REDIS_EXAMPLE"]
SECRET = b"0123456789abcdef-a-secret-longer-than-a-block-of-sixty-four-bytes-of-sha256"


class Redis:
    """A server of its own, and the few commands that the tests send it themselves."""

    def __init__(self, folder):
        self.path = os.path.join(folder, "socket")
        command = ["redis-server", "--port", "0", "--unixsocket", self.path, "--save", "", "--dir", folder]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        limit = time.monotonic() + 30
        while True:
            try:
                self.socket = socket.socket(socket.AF_UNIX)
                self.socket.connect(self.path)
                break
            except OSError:
                self.socket.close()
                if self.process.poll() is not None or time.monotonic() > limit:
                    raise
                time.sleep(0.02)
        self.replies = self.socket.makefile("rb")

    def call(self, *words):
        words = [w if isinstance(w, bytes) else w.encode() for w in words]
        self.socket.sendall(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in words))
        return self.reply()

    def reply(self):
        line = self.replies.readline()[:-2]
        kind, rest = line[:1], line[1:]
        if kind == b"*":
            return [self.reply() for _ in range(int(rest))]
        if kind == b"$":
            return self.replies.read(int(rest) + 2)[:-2] if int(rest) >= 0 else None
        return rest

    def values(self):
        return {key: self.call("GET", key) for key in sorted(self.call("KEYS", "*"))}

    def stop(self):
        self.replies.close()
        self.socket.close()
        self.process.kill()
        self.process.wait()


class SharedKernels(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="ingot-redis-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.redis = Redis(self.folder)
        self.addCleanup(self.redis.stop)

    def run_example(self, cache, secret=SECRET):
        secret_file = os.path.join(self.folder, "secret")
        with open(secret_file, "wb") as file:
            file.write(secret)
        clean = {k: v for k, v in os.environ.items() if not k.startswith("INGOT_")}
        done = subprocess.run(
            [EXAMPLE, self.redis.path, secret_file, os.path.join(self.folder, cache)],
            capture_output=True, check=False, text=True, timeout=60, env=clean,
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return dict(word.split("=") for word in done.stdout.split())

    def cold(self):
        first = self.run_example("first")
        self.assertGreater(int(first["kernels"]), 0)
        self.assertEqual(first["compiles"], first["kernels"])
        return first

    def same_numbers(self, a, b):
        self.assertEqual((a["sum"], a["best"]), (b["sum"], b["best"]))

    def test_the_second_process_compiles_nothing(self):
        first = self.cold()
        second = self.run_example("second")
        self.assertEqual(
            (second["compiles"], second["hits"], second["compiler_loaded"], second["rejected"]),
            ("0", first["kernels"], "0", "0"),
        )
        self.same_numbers(first, second)
        # What came from the server went into the directory, which is asked first: no server is needed any more.
        self.redis.stop()
        third = self.run_example("second")
        self.assertEqual((third["compiles"], third["hits"]), ("0", first["kernels"]))
        self.same_numbers(first, third)

    def test_every_value_carries_its_code(self):
        first = self.cold()
        values = self.redis.values()
        self.assertEqual(len(values), int(first["kernels"]))
        for key, value in values.items():
            self.assertEqual(value[:32], hmac.digest(SECRET, key + value[32:], hashlib.sha256))
            self.assertEqual(value[32:40], b"INGOTART")
            self.assertGreater(int(self.redis.call("TTL", key)), 3600)

    def test_values_that_do_not_verify_are_compiled_anew_and_replaced(self):
        first = self.cold()
        values = self.redis.values()
        for number, damage in enumerate([
            lambda key, value: value[:-1] + bytes([value[-1] ^ 1]),
            lambda key, value: bytes([value[0] ^ 1]) + value[1:],
            lambda key, value: value[: len(value) // 2],
            lambda key, value: b"",
            lambda key, value: value[32:],
            lambda key, value: hmac.digest(b"another secret of some length", key + value[32:], "sha256") + value[32:],
            lambda key, value: hmac.digest(SECRET, b"0" * 32 + value[32:], "sha256") + value[32:],
        ]):
            with self.subTest(number):
                for key, value in values.items():
                    self.redis.call("SET", key, damage(key, value))
                again = self.run_example(f"damaged{number}")
                self.assertEqual((again["compiles"], again["rejected"]), (first["kernels"],) * 2)
                self.same_numbers(first, again)
                self.assertEqual(self.redis.values(), values)

    def test_another_secret_shares_nothing(self):
        first = self.cold()
        other = self.run_example("other", b"f" * 64)
        self.assertEqual(other["compiles"], first["kernels"])
        self.same_numbers(first, other)

    def test_a_value_of_another_type_is_a_miss(self):
        first = self.cold()
        for key in self.redis.values():
            self.redis.call("DEL", key)
            self.redis.call("LPUSH", key, "x")
        self.same_numbers(first, self.run_example("list"))

    def test_a_server_that_is_gone_or_hangs_is_a_miss(self):
        first = self.cold()
        os.kill(self.redis.process.pid, signal.SIGSTOP)
        self.same_numbers(first, self.run_example("hangs"))  # which has a time limit
        os.kill(self.redis.process.pid, signal.SIGCONT)
        self.redis.stop()
        self.same_numbers(first, self.run_example("gone"))


def main():
    why = ""
    if not EXAMPLE:
        why = "hiredis was not there when this was configured"
    elif not shutil.which("redis-server"):
        why = "no redis-server on the path"
    if why:
        print(f"SKIP: redis: {why}; ./do setup installs both on Debian")
        return 0
    if os.environ["INGOT_COMPILER"] != "1":
        print("SKIP: engine-compiler: built without LLVM")
        return 0
    result = unittest.main(exit=False, verbosity=2).result
    bad = len(result.failures) + len(result.errors)
    print(f"[doctest] test cases: {result.testsRun} | {result.testsRun - bad} passed | {bad} failed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
