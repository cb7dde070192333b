# SPDX-License-Identifier: MIT
"""What tests of the live kernel have in common: comparisons, the watcher, repeating."""

import subprocess
import sys
import tempfile

SKIPPED = 77
SECONDS = 1500
TRIES = 5


class Checks:
    """Collects what does not hold."""

    def __init__(self):
        self.wrong = []
        self.count = 0

    def within(self, what, value, least, most):
        """That a number is in a range."""
        self.count += 1
        if not least <= value <= most:
            self.wrong.append(f"{what} is {value}, not {least} to {most}")

    def equal(self, what, value, wanted):
        """That two are the same."""
        self.count += 1
        if value != wanted:
            self.wrong.append(f"{what} is {value!r}, not {wanted!r}")

    def finish(self):
        """Ends the program with what does not hold."""
        for sentence in self.wrong:
            print(sentence)
        print(f"{self.count} comparisons, {len(self.wrong)} wrong")
        sys.exit(1 if self.wrong else 0)


def watch_during(program, flags, work):
    """(what work() returned, the watcher's lines as words); ends where nobody can watch."""
    with tempfile.TemporaryFile("w+") as output, \
            subprocess.Popen([program, flags], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True) as watch:
        if watch.stdout.readline() != "ready\n":
            reason = watch.stderr.read().strip()
            print(f"{'skipped' if watch.wait() == SKIPPED else 'watch_kernel failed'}: {reason}")
            sys.exit(SKIPPED if watch.returncode == SKIPPED else 1)
        done = work()
        watch.stdin.close()
        output.writelines(watch.stdout)
        if watch.wait(timeout=SECONDS):
            sys.exit(watch.stderr.read())
        output.seek(0)
        return done, [line.rstrip("\n").split("\t") for line in output]


def until_whole(run, *arguments):
    """Runs (problems, lost, summary) until nothing was lost; the exit status."""
    for _ in range(TRIES):
        problems, lost, summary = run(*arguments)
        if not lost:
            break
        print(f"{lost} lost, once more")
    else:
        print("skipped: this machine is too slow to compare without loss")
        return SKIPPED
    print(summary)
    print("\n".join(problems[:20]))
    return int(bool(problems))
