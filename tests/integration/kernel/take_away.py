#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Take away what the kernel's source needs, one thing at a time: it says what is missing, and why.

    take_away --watch PROGRAM --etwd PROGRAM --etw PROGRAM

Everything is taken away from this test's own programs alone: by other users, capabilities and
namespaces, and by files mounted over the kernel's. Each case says which sentence comes and what
still works: events of the other classes, by watch_kernel; what `etwd --probe` and `etw doctor`
tell.
Exit status: 0; 1 with the cases that are wrong; 77 with the reason why it cannot run.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
SECONDS = 600
TYPES = "/sys/kernel/btf/vmlinux"
PROCESSES_THREADS_IMAGES = "7"
# What nothing can be recorded without: how it is taken away, a part of the sentence.
REFUSED = (
    ("another user", ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"],
     "CAP_BPF is missing: `sudo etwd --system`"),
    ("no CAP_BPF", ["setpriv", "--bounding-set=-bpf,-sys_admin"], "CAP_BPF is missing"),
    ("no CAP_PERFMON", ["setpriv", "--bounding-set=-perfmon,-sys_admin"],
     "CAP_PERFMON is missing"),
    ("a pid namespace", ["unshare", "--pid", "--fork", "--mount-proc"],
     "run etwd outside of the container"),
    ("another clock", ["unshare", "--time", "--monotonic", "100000", "--fork"],
     "time namespace whose clock differs"),
    ("no procfs", ["unshare", "--mount", "sh", "-c",
                   'mount -t tmpfs none /proc && exec "$@"', "sh"],
     "sudo mount -t proc proc /proc"),
    ("no types", ["unshare", "--mount", "sh", "-c",
                  'mount -t tmpfs none /sys/kernel/btf && exec "$@"', "sh"],
     "CONFIG_DEBUG_INFO_BTF"),
    ("damaged types", ["unshare", "--mount", "sh", "-c",
                       'mount --bind "$EMPTY" /sys/kernel/btf/vmlinux && exec "$@"', "sh"],
     "damaged or covered by a mount"),
)
# A tracepoint that the types do not have any more: which class is refused, and which has less.
TRACEPOINTS = (
    ("sys_enter", "images: the kernel tells of no system calls"),
    ("sys_exit", "system calls: the kernel tells of no system calls"),
    ("sched_switch", "context switches: the kernel has no tracepoint sched_switch"),
    ("sched_pi_setprio", "thread priorities: the kernel has no tracepoint sched_pi_setprio"),
    ("sched_waking", "ready threads: the kernel has no tracepoint sched_waking"),
    ("sched_wakeup_new", "ready threads: the kernel has no tracepoint sched_wakeup"),
    ("irq_handler_entry", "interrupts: the kernel has no tracepoint irq_handler_entry"),
    ("local_timer_entry", "interrupts: the kernel tells of interrupts with a handler"),
    ("softirq_exit", "deferred calls: the kernel has no tracepoint softirq_entry or"),
    ("cpu_idle", "power: the kernel has no tracepoint cpu_idle"),
    ("cpu_frequency", "power: the kernel has no tracepoint cpu_frequency"),
)
# What one process tree alone needs, too: without it what its own threads do is recorded.
OWNERS = ("workqueue_queue_work", "workqueue_execute_start", "softirq_raise", "softirq_exit",
          "call_function_entry")
LESS = ("sched_pi_setprio", "sched_wakeup_new", "local_timer_entry", "cpu_frequency")
COVERED = ["unshare", "--mount", "sh", "-c",
           'mount --bind "$TYPES" /sys/kernel/btf/vmlinux && exec "$@"', "sh"]


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


class Cases:
    """Runs programs under conditions, and collects what is wrong."""

    def __init__(self, arguments, folder):
        self.folder = folder
        self.programs = {}
        # Where other users reach them.
        for name in ("watch", "etwd", "etw"):
            self.programs[name] = shutil.copy(getattr(arguments, name), folder)
        self.environment = dict(os.environ, ETW_RUNTIME_DIR=str(folder / "run"),
                                ETW_ETWD=self.programs["etwd"], EMPTY=str(folder / "empty"),
                                TYPES=str(folder / "types"))
        (folder / "empty").touch()
        (folder / "run").mkdir()
        folder.chmod(0o755)
        self.count = 0
        self.problems = []

    def run(self, prefix, *command):
        """(exit status, everything that was printed)"""
        program = self.programs[command[0]]
        done = subprocess.run([*prefix, program, *command[1:]], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace", env=self.environment, timeout=SECONDS,
                              check=False)
        return done.returncode, done.stdout

    def hold(self, condition, what, text):
        self.count += 1
        if not condition:
            self.problems.append(f"{what}:\n" + "\n".join(
                f"    {line}" for line in text.splitlines()[-12:]))

    def check_refused(self, name, prefix, sentence):
        status, text = self.run(prefix, "watch", PROCESSES_THREADS_IMAGES)
        self.hold(status in (SKIPPED, 1) and sentence in text, f"{name}: watch_kernel", text)
        status, text = self.run(prefix, "etwd", "--probe")
        # The leak sanitizer wants /proc, and ends a program before what it printed is out.
        if "LeakSanitizer has encountered" not in text:
            self.hold(status == 1 and sentence in text and "context switches" not in text,
                      f"{name}: etwd --probe", text)
        if name != "no procfs":  # which the doctor's host needs, too
            _, text = self.run(prefix, "etw", "doctor")
            self.hold(sentence in text, f"{name}: etw doctor", text)

    def check_less(self):
        """Without CAP_SYS_PTRACE the source works, and the probe says what it does not see."""
        prefix = ["setpriv", "--bounding-set=-sys_ptrace"]
        status, text = self.run(prefix, "watch", PROCESSES_THREADS_IMAGES)
        self.hold(status == 0 and "\t03.3\t" in text, "no CAP_SYS_PTRACE: watch_kernel", text)
        status, text = self.run(prefix, "etwd", "--probe")
        self.hold("without CAP_SYS_PTRACE the images" in text and "ok\timages" in text,
                  "no CAP_SYS_PTRACE: etwd --probe", text)
        # A time namespace with the kernel's own clock is none to tell of.
        status, text = self.run(["unshare", "--time", "--fork"], "watch",
                                PROCESSES_THREADS_IMAGES)
        self.hold(status == 0, "a time namespace: watch_kernel", text)

    def hide(self, types, tracepoint):
        """Types without a tracepoint; False: there is none."""
        name = f"\0btf_trace_{tracepoint}\0".encode()
        if name not in types:
            return False
        # As long as before, so that all ids stay what the kernel has.
        (self.folder / "types").write_bytes(types.replace(name, name[:-2] + b"_\0"))
        return True

    def check_owners(self, types, tracepoint):
        if not self.hide(types, tracepoint):
            return
        status, text = self.run(COVERED, "watch", "1,204", "0", "0", str(os.getpid()))
        self.hold(status == 0 and "end\t" in text, f"no {tracepoint}: watch_kernel of a tree", text)

    def check_tracepoint(self, types, tracepoint, sentence):
        if not self.hide(types, tracepoint):
            return
        state = "less" if tracepoint in LESS else "missing"
        _, text = self.run(COVERED, "etwd", "--probe")
        self.hold(any(line.startswith(f"{state}\t") and sentence in line
                      for line in text.splitlines()), f"no {tracepoint}: etwd --probe", text)
        status, text = self.run(COVERED, "watch", PROCESSES_THREADS_IMAGES)
        self.hold(status == 0 and "\t03.3\t" in text, f"no {tracepoint}: watch_kernel", text)
        has_images = "\t14.3\t" in text
        self.hold(has_images == (tracepoint != "sys_enter" and tracepoint != "sys_exit"),
                  f"no {tracepoint}: images of watch_kernel", text)


def check_container(cases):
    """The host outside tells a container's processes by the ids that they have outside."""
    with subprocess.Popen([cases.programs["watch"], "3"], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True) as watch:
        first = watch.stdout.readline()
        inside = subprocess.Popen(["unshare", "--pid", "--fork", "--mount-proc", "sh", "-c",
                                   "echo $$; exec sleep 600"], stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, text=True)
        id_inside = inside.stdout.readline().strip()
        children = pathlib.Path(f"/proc/{inside.pid}/task/{inside.pid}/children").read_text()
        outer = children.split()[0]
        os.kill(int(outer), 9)
        inside.wait(timeout=SECONDS)
        inside.stdout.close()
        watch.stdin.close()
        lines = [line.rstrip("\n").split("\t") for line in watch.stdout]
        watch.wait(timeout=SECONDS)
    lines.sort(key=lambda words: int(words[0]) if words[0].isdigit() else 0)
    events = [(words[2], words[6], words[-3]) for words in lines
              if len(words) > 10 and words[2] in ("03.1", "03.2") and words[5] == outer]
    cases.hold(first == "ready\n" and id_inside == "1" and outer != "1" and
               [kind for kind, _, _ in events][-1:] == ["03.2"] and
               all(parent == str(inside.pid) for _, parent, _ in events[:1]),
               f"a container: {outer} is {id_inside} inside of {inside.pid}", repr(events))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("watch", "etwd", "etw"):
        parser.add_argument(f"--{name}", required=True)
    arguments = parser.parse_args()
    if os.geteuid() != 0:
        skip("needs root")
    for program in ("setpriv", "unshare"):
        if not shutil.which(program):
            skip(f"there is no {program}")
    done = subprocess.run([arguments.watch, "1"], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, check=False, timeout=SECONDS)
    if done.returncode == SKIPPED:
        skip(done.stderr.strip())
    if subprocess.run(["unshare", "--mount", "mount", "-t", "tmpfs", "none", "/mnt"],
                      capture_output=True, check=False).returncode:
        skip("nothing can be mounted here")
    with tempfile.TemporaryDirectory() as folder:
        cases = Cases(arguments, pathlib.Path(folder))
        for case in REFUSED:
            cases.check_refused(*case)
        cases.check_less()
        types = pathlib.Path(TYPES).read_bytes()
        for case in TRACEPOINTS:
            cases.check_tracepoint(types, *case)
        for tracepoint in OWNERS:
            cases.check_owners(types, tracepoint)
        check_container(cases)
    print("\n".join(cases.problems))
    print(f"{cases.count} held, {len(cases.problems)} wrong")
    return int(bool(cases.problems))


if __name__ == "__main__":
    sys.exit(main())
