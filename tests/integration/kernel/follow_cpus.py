#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Processors that go and come: images and samples of them are recorded afterwards.

    follow_cpus --watch PROGRAM

The last processor is away when watch_kernel begins; it comes, goes, and comes back while it runs.
Each time it has come, programs are run on it until one of them has an Image load of that processor,
and there is a sample of it that is later; none may lose anything. Only where ETW_TEST_CPUS says
that processors may be taken away, as in the machines of scripts/prove_kernels.
Exit status: 0; 1 with the reason; 77 with the reason why it cannot run.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time

SKIPPED = 77
SECONDS = 600
FLAGS = "7,2"  # words of the group masks: processes, threads, images; samples
IMAGE_LOAD = "03.10"
SAMPLE = "0f.46"
CPUS = pathlib.Path("/sys/devices/system/cpu")


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def switch(cpu, is_on):
    (CPUS / f"cpu{cpu}/online").write_text(str(int(is_on)))


def read_lines(path):
    return [line.split("\t") for line in path.read_text(errors="replace").splitlines()]


def wait_for_start(watch, path):
    deadline = time.monotonic() + SECONDS
    while not path.stat().st_size:
        if watch.poll() is not None:
            reason = watch.stderr.read().strip()
            if watch.returncode == SKIPPED:
                skip(reason)
            sys.exit(f"watch_kernel failed: {reason}")
        if time.monotonic() > deadline:
            sys.exit("watch_kernel did not start")
        time.sleep(0.01)


def run_on(cpu):
    """The process id of a program that ran on this processor alone."""
    with subprocess.Popen(["/bin/true"],
                          preexec_fn=lambda: os.sched_setaffinity(0, {cpu})) as child:
        child.wait(timeout=SECONDS)
    return child.pid


def wait_for_events(cpu, path):
    """Runs programs there until one's images are seen, and a sample; returns how many it took."""
    begin_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    deadline = time.monotonic() + SECONDS
    made = set()
    while time.monotonic() < deadline:
        made.add(str(run_on(cpu)))
        time.sleep(0.1)
        there = [words for words in read_lines(path) if len(words) > 2 and words[1] == str(cpu)]
        if any(words[2] == IMAGE_LOAD and words[5] in made for words in there
               if len(words) > 8) and \
                any(words[2] == SAMPLE and int(words[0]) > begin_ns for words in there):
            return len(made)
    return None


def watch_cpu(cpu, arguments, path):
    with path.open("w") as output, \
            subprocess.Popen(["stdbuf", "-oL", arguments.watch, FLAGS], stdin=subprocess.PIPE,
                             stdout=output, stderr=subprocess.PIPE, text=True) as watch:
        wait_for_start(watch, path)
        for when in ("for the first time", "again"):
            switch(cpu, True)
            count = wait_for_events(cpu, path)
            if count is None:
                print(f"no images or no samples of processor {cpu}, which came {when}")
                return 1
            print(f"processor {cpu} came {when}: seen at program {count}")
            switch(cpu, False)
        watch.stdin.close()
        if watch.wait(timeout=SECONDS):
            print(watch.stderr.read())
            return 1
    end = read_lines(path)[-1]
    print(f"{end[1]} events, {end[2]} in disorder, lost {end[3]} + {end[4]}")
    return int(end[2:5] != ["0", "0", "0"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--watch", required=True)
    arguments = parser.parse_args()
    if "ETW_TEST_CPUS" not in os.environ:
        skip("takes processors away, where ETW_TEST_CPUS allows it")
    cpu = os.cpu_count() - 1
    if os.geteuid() != 0 or not (CPUS / f"cpu{cpu}/online").exists() or cpu < 1:
        skip("needs root and a processor that can be taken away")
    with tempfile.TemporaryDirectory() as folder:
        switch(cpu, False)
        try:
            return watch_cpu(cpu, arguments, pathlib.Path(folder, "events"))
        finally:
            switch(cpu, True)


if __name__ == "__main__":
    sys.exit(main())
