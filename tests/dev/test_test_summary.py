"""test_summary.py on made-up test logs."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools", "dev", "test_summary.py")
DOCTEST = "[doctest] test cases:  {} | {} passed | {} failed | 7 skipped\n"


def run(entries, skips="", rc=0, ci=False):
    """(exit code, last line) of the script for these log entries."""
    with tempfile.TemporaryDirectory() as folder:
        log, listed = os.path.join(folder, "testlog.json"), os.path.join(folder, "skips.txt")
        with open(log, "w", encoding="utf-8") as file:
            for entry in entries:
                file.write(json.dumps({"name": "t", "result": "OK", "stdout": "", **entry}) + "\n")
        with open(listed, "w", encoding="utf-8") as file:
            file.write(skips)
        env = {**os.environ, "CI": "true" if ci else ""}
        done = subprocess.run([sys.executable, SCRIPT, log, listed, str(rc)], env=env, check=False,
                              capture_output=True, text=True)
        return done.returncode, done.stdout.splitlines()[-1]


class TestSummary(unittest.TestCase):
    def test_counts_doctest_cases_and_plain_tests(self):
        entries = [{"stdout": DOCTEST.format(12, 12, 0)}, {"stdout": "anything"}]
        self.assertEqual(run(entries), (0, "13 passed, 0 failed"))

    def test_failures_count_and_set_the_exit_code(self):
        entries = [{"stdout": DOCTEST.format(12, 10, 2), "result": "FAIL"}, {"result": "TIMEOUT"}]
        self.assertEqual(run(entries, rc=2), (1, "10 passed, 3 failed"))

    def test_a_death_after_a_good_summary_is_a_failure(self):
        self.assertEqual(run([{"stdout": DOCTEST.format(3, 3, 0), "result": "FAIL"}], rc=1), (1, "3 passed, 1 failed"))

    def test_a_skipped_case_is_not_a_passed_one(self):
        entries = [{"stdout": "SKIP: avx512: no AVX-512 here\n" + DOCTEST.format(3, 3, 0)}]
        self.assertEqual(run(entries), (0, "2 passed, 0 failed, 1 skipped"))

    def test_ci_refuses_a_skip_that_is_not_listed(self):
        entries = [{"stdout": "SKIP: avx512: no AVX-512 here\n"}]
        self.assertEqual(run(entries, ci=True), (1, "0 passed, 1 failed, 1 skipped"))
        self.assertEqual(run(entries, "# why\navx512: not every machine has it\n", ci=True),
                         (0, "0 passed, 0 failed, 1 skipped"))

    def test_no_test_at_all_is_a_failure(self):
        self.assertEqual(run([]), (1, "0 passed, 1 failed"))

    def test_mesons_own_failure_is_never_lost(self):
        self.assertEqual(run([{}], rc=1), (1, "1 passed, 1 failed"))


if __name__ == "__main__":
    unittest.main()
