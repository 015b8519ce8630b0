# SPDX-License-Identifier: LGPL-2.1-or-later
"""The GPU labelers under compute-sanitizer's four tools: no error is allowed.

    test_sanitizer.py PATH/TO/planted PATH/TO/TESTS [--tool NAME ...] [--filter GTEST_FILTER] [--jobs N]

First each tool has to report the bug that was planted for it, and nothing in a program without: a tool that
did not run, or that cannot look into this GPU, finds nothing either. Needs a GPU and compute-sanitizer, and
exits with 77 where one is missing.
"""

import argparse
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys

SKIPPED = 77
PLANTED = {
    "memcheck": "out-of-bounds",
    "racecheck": "race",
    "initcheck": "uninitialised",
    "synccheck": "divergent-barrier",
}
SUMMARY = re.compile(r"ERROR SUMMARY: (\d+) error|RACECHECK SUMMARY: (\d+) hazard")
UNSUPPORTED = "Device not supported"


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def find_sanitizer():
    path = os.environ.get("PATH", "") + os.pathsep + "/usr/local/cuda/bin"
    return shutil.which("compute-sanitizer", path=path) or skip("compute-sanitizer is not on PATH")


def count_errors(sanitizer, tool, command, seconds, shard=0, n_shards=1):
    """Errors that the tool reports (None: it did not come to its summary), the exit status, and the output."""
    variables = {"CUDACCL_TEST_BACKEND": "cuda",
                 "GTEST_TOTAL_SHARDS": str(n_shards), "GTEST_SHARD_INDEX": str(shard)}
    done = subprocess.run([sanitizer, "--tool", tool, *command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", timeout=seconds,
                          env=os.environ | variables)
    counts = [int(number) for match in SUMMARY.findall(done.stdout) for number in match if number]
    return (sum(counts) if counts else None), done.returncode, done.stdout


def check_tool(sanitizer, tool, planted):
    """Whether the tool distinguishes a program with its bug from one without."""
    for bug, is_clean in (PLANTED[tool], False), ("none", True):
        errors, _, output = count_errors(sanitizer, tool, [planted, bug], seconds=120)
        if UNSUPPORTED in output:
            skip(f"compute-sanitizer does not support this GPU here: {UNSUPPORTED}")
        if errors is None or (errors == 0) != is_clean:
            print(output)
            print(f"FAILED: {tool} reports {errors} errors in the program with bug {bug}")
            return False
        print(f"{tool}: {errors} errors with bug {bug}", flush=True)
    return True


def count_tests(command):
    listed = subprocess.run([*command, "--gtest_list_tests"], capture_output=True, text=True, timeout=120,
                            env=os.environ | {"CUDACCL_TEST_BACKEND": "cuda"})
    return sum(line.startswith(" ") for line in listed.stdout.splitlines())


def count_clean(sanitizer, tool, command, shard, n_shards):
    """How many tests of a shard pass, all without a report of the tool; 0 if there is one."""
    errors, status, output = count_errors(sanitizer, tool, command, 3600, shard, n_shards)
    passed = re.search(r"\[  PASSED  \] (\d+) test", output)
    if errors != 0 or status != 0 or not passed or "[  SKIPPED ]" in output:
        print("\n".join(output.splitlines()[:400]))
        print(f"FAILED: {tool} reports {errors} errors in the labelers, exit status {status}, or a test was skipped",
              flush=True)
        return 0
    return int(passed[1])


def check_labelers(sanitizer, tool, command, n_jobs):
    n_tests = count_tests(command)
    n_shards = max(1, min(n_jobs, n_tests))
    with concurrent.futures.ThreadPoolExecutor(n_shards) as pool:
        clean = [pool.submit(count_clean, sanitizer, tool, command, shard, n_shards)
                 for shard in range(n_shards)]
    n_clean = sum(count.result() for count in clean)
    print(f"{tool}: {n_clean} of {n_tests} tests clean", flush=True)
    return n_clean == n_tests > 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("planted")
    parser.add_argument("tests")
    parser.add_argument("--tool", action="append", choices=list(PLANTED))
    parser.add_argument("--filter", default="*", help="which tests, as --gtest_filter")
    parser.add_argument("--jobs", type=int, default=min(os.cpu_count() or 1, 16),
                        help="how many processes share the tests, each with a CUDA context of its own")
    arguments = parser.parse_args()
    sanitizer = find_sanitizer()
    probe = subprocess.run([arguments.planted, "none"], capture_output=True, text=True, timeout=120)
    if probe.returncode == SKIPPED:
        skip(probe.stdout.removeprefix("skipped: ").strip())
    tests = [arguments.tests, f"--gtest_filter={arguments.filter}"]
    failed = [tool for tool in arguments.tool or PLANTED
              if not (check_tool(sanitizer, tool, arguments.planted)
                      and check_labelers(sanitizer, tool, tests, arguments.jobs))]
    if failed:
        sys.exit("not clean: " + ", ".join(failed))


if __name__ == "__main__":
    main()
