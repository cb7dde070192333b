#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""etw doctor and etw record where the kernel hides its addresses: both settings, and what follows.

    check_hidden.py ETW ETWD

The settings and /proc/kallsyms are covered by files of this test's own, for its programs alone; in
a machine of scripts/prove_kernels, which nobody else uses, they are changed and set back.
Exit status: 0 as it should be, 1 not, 77 skipped: the kernel cannot be recorded here, or nothing
can be mounted.
"""

import contextlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SKIPPED = 77
SECONDS = 1500
SETTINGS = pathlib.Path("/proc/sys/kernel")
NAMES = ("kptr_restrict", "perf_event_paranoid")
OWN_MACHINE = os.environ.get("ETW_TEST_CPUS") == "yes"
# Of doctor: kptr_restrict, perf_event_paranoid, a part of the row, its state.
ROWS = ((0, -1, "every host sees", "ok"), (0, 1, "every host sees", "ok"),
        (0, 2, "a host with CAP_SYSLOG", "ok"), (1, 2, "a host with CAP_SYSLOG", "ok"),
        (1, 3, "a host with CAP_SYSLOG", "ok"), (2, 2, "nobody sees", "note"))
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
WORK = ("i=0; while [ $i -lt 50 ]; do dd if=/dev/zero of=/dev/null bs=64k count=500; "
        "i=$((i+1)); done")


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


class Machine:
    """One with other settings, as this test's programs see it."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        (self.folder / "run").mkdir(mode=0o700)
        self.environment = dict(os.environ, ETW_RUNTIME_DIR=str(self.folder / "run"),
                                ETWD_IDLE_MS="200")

    @contextlib.contextmanager
    def settings(self, restricted, paranoid):
        """The words in front of a command that sees them."""
        values = dict(zip(NAMES, (restricted, paranoid)))
        if OWN_MACHINE:
            before = {name: (SETTINGS / name).read_text(encoding="ascii") for name in NAMES}
            try:
                for name, value in values.items():
                    (SETTINGS / name).write_text(f"{value}\n", encoding="ascii")
                yield []
            finally:
                for name, value in before.items():
                    (SETTINGS / name).write_text(value, encoding="ascii")
            return
        mounts = []
        for name, value in values.items():
            (self.folder / name).write_text(f"{value}\n", encoding="ascii")
            mounts += [str(self.folder / name), str(SETTINGS / name)]
        if restricted >= 2:
            symbols = pathlib.Path("/proc/kallsyms").read_text(encoding="ascii")
            (self.folder / "kallsyms").write_text(
                re.sub(r"^[0-9a-f]+", lambda match: "0" * len(match[0]), symbols, flags=re.M),
                encoding="ascii")
            mounts += [str(self.folder / "kallsyms"), "/proc/kallsyms"]
        script = "".join(f"mount --bind '{own}' '{at}' && "
                         for own, at in zip(mounts[::2], mounts[1::2]))
        yield ["unshare", "--mount", "sh", "-c", script + 'exec "$@"', "sh"]

    def run(self, *command):
        done = subprocess.run(command, cwd=self.folder, env=self.environment, timeout=SECONDS,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
        return done.returncode, done.stdout


def check_doctor(machine, etw, wrong):
    for restricted, paranoid, sentence, state in ROWS:
        with machine.settings(restricted, paranoid) as prefix:
            for user in ([], NOBODY):
                _, text = machine.run(*prefix, *user, etw, "doctor")
                rows = [line for line in text.splitlines() if " symbols " in line]
                perf = [line for line in text.splitlines() if " perf " in line]
                who = "another user" if user else "root"
                if not (len(rows) == 1 and rows[0].startswith(state) and sentence in rows[0] and
                        f"kptr_restrict is {restricted}" in rows[0]):
                    wrong.append(f"{restricted}, {paranoid}, {who}: {rows}")
                if not (len(perf) == 1 and f"perf_event_paranoid is {paranoid}," in perf[0]):
                    wrong.append(f"{restricted}, {paranoid}, {who}: {perf}")
                if user and "CAP_BPF is missing" not in text:
                    wrong.append(f"{restricted}, {paranoid}, {who}: {text}")


def check_record(machine, etw, wrong):
    """Nothing is named of the kernel, its addresses are there, and the recorder says why."""
    with machine.settings(2, 2) as prefix:
        status, text = machine.run(*prefix, etw, "record", "-o", "hidden.etl", "--", "sh", "-c",
                                   f"({WORK}) 2>/dev/null")
        if status or "sudo sysctl kernel.kptr_restrict=1" not in text:
            wrong.append(f"etw record ends with {status}: {text}")
        _, stacks = machine.run(*prefix, etw, "stacks", "hidden.etl")
    if not re.search(r"\[kernel\]!0xffff", stacks):
        wrong.append(f"no address of the kernel: {stacks}")
    named = re.findall(r"\[kernel\]!(?!0x)\S+", stacks)
    if named:
        wrong.append(f"the kernel's code has names: {named[:5]}")


def check_capability(machine, etwd, wrong):
    """The kernel itself hides them from a host without CAP_SYSLOG."""
    restricted, paranoid = (int((SETTINGS / name).read_text(encoding="ascii")) for name in NAMES)
    _, text = machine.run("setpriv", "--bounding-set=-syslog", etwd, "--probe")
    is_hidden = "less\tstacks\tstacks: the kernel hides the addresses" in text
    if is_hidden != (restricted >= 1 or paranoid > 1):
        wrong.append(f"without CAP_SYSLOG, at {restricted} and {paranoid}: {text}")


def main():
    etw, etwd = (os.path.abspath(path) for path in sys.argv[1:3])
    if os.geteuid() != 0:
        skip("needs root")
    if subprocess.run(["unshare", "--mount", "mount", "-t", "tmpfs", "none", "/mnt"],
                      capture_output=True, check=False).returncode:
        skip("nothing can be mounted here")
    probe = subprocess.run([etwd, "--probe"], capture_output=True, text=True, check=False).stdout
    if "ok\tsamples" not in probe and "less\tsamples" not in probe:
        skip("the kernel's samples cannot be recorded here")
    wrong = []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        machine = Machine(folder)
        # Another user reaches the programs, not this test's files.
        for program in (etw, etwd):
            if not os.stat(program).st_mode & 1:
                skip(f"{program} is not for everybody")
        check_doctor(machine, etw, wrong)
        check_capability(machine, etwd, wrong)
        check_record(machine, etw, wrong)
    print("\n".join(wrong) or "as it should be")
    sys.exit(int(bool(wrong)))


if __name__ == "__main__":
    main()
