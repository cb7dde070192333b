#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Take away what the kernel's source needs, one thing at a time: it says what is missing, and why.

    take_away --watch PROGRAM --etwd PROGRAM --etw PROGRAM [--every N]

Everything is taken away from this test's own programs alone: by other users, capabilities and
namespaces, and by files mounted over the kernel's. Each case says which sentence comes and what
still works: events of the other classes, by watch_kernel; what `etwd --probe` and `etw doctor`
tell. With --every only each N-th tracepoint is taken away.
Exit status: 0; 1 with the cases that are wrong; 77 with the reason why it cannot run.
"""

import argparse
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile

SKIPPED = 77
SECONDS = 600
TRIES = 20  # until a soft interrupt comes to this test's processes
TYPES = "/sys/kernel/btf/vmlinux"
PROCESSES_THREADS_IMAGES = "7"
# What nothing can be recorded without: how it is taken away, a part of the sentence.
REFUSED = (
    ("another user", ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"],
     "CAP_BPF is missing: an etwd that root started has it"),
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
# Classes by what watch_kernel prints of them.
EVENTS = {"processes": ("03.3",), "images": ("14.3",), "switches": ("05.36",),
          "ready": ("05.50",), "samples": ("0f.46",), "calls": ("0f.51", "0f.52"),
          "interrupts": ("0f.67", "0f.50"), "deferred": ("0f.66", "0f.68", "0f.69"),
          "priorities": ("05.48",), "transfers": ("01.10", "01.11"),
          "network": ("06.10", "08.10")}
ALL_MASKS = "210507,6286,40"
FREQUENT = ("switches", "ready", "samples", "calls", "interrupts", "deferred", "priorities",
            "transfers", "network")
# What programs attach to and the types do not have any more: the lines that the probe says, and the
# classes that do not come. All others come.
TRACEPOINTS = {
    "task_newtask": (("missing", "processes and threads: the kernel has no tracepoint"), EVENTS),
    "sched_process_exec": (("missing", "processes and threads: the kernel has no"), EVENTS),
    "sched_process_exit": (("missing", "processes and threads: the kernel has no"), EVENTS),
    "task_rename": (("less", "processes and threads: the kernel has no tracepoint task_rename"),
                    ()),
    "bpf_iter_task": (("missing", "samples: the kernel's BPF cannot walk"), FREQUENT),
    "module_load": (("less", "images: the kernel has no tracepoint module_load"), ()),
    "module_free": (("less", "images: the kernel has no tracepoint module_load"), ()),
    "sys_enter": (("missing", "images: the kernel has no tracepoint sys_enter"),
                  ("images", "calls")),
    "sys_exit": (("missing", "system calls: the kernel has no tracepoint sys_exit"),
                 ("calls", "network")),
    "sched_switch": (("missing", "context switches: the kernel has no tracepoint sched_switch"),
                     ("switches", "priorities")),
    "sched_waking": (("missing", "ready threads: the kernel has no tracepoint sched_waking"),
                     ("ready",)),
    "sched_wakeup_new": (("less", "ready threads: the kernel has no tracepoint sched_wakeup_new"),
                         ()),
    "sched_pi_setprio": (("less", "thread priorities: the kernel has no tracepoint sched_pi"), ()),
    "softirq_raise": (("less", "one process tree alone: the kernel has no tracepoint softirq"),
                      ()),
    "workqueue_queue_work": (("less", "one process tree alone: the kernel has no tracepoint"), ()),
    "workqueue_execute_start": (("less", "one process tree alone: the kernel has no"), ()),
    "workqueue_execute_end": (("less", "one process tree alone: the kernel has no"), ()),
    "cpu_idle": (("missing", "power: the kernel has no tracepoint cpu_idle"), ()),
    "cpu_frequency": (("less", "power: the kernel has no tracepoint cpu_frequency"), ()),
    "page_fault_user": (("less", "page faults: the kernel has no tracepoint page_fault_user"), ()),
    "page_fault_kernel": (("less", "page faults: the kernel has no tracepoint page_fault_"), ()),
    "mm_filemap_add_to_page_cache": (("less", "page faults: the kernel has no tracepoint mm_"), ()),
    "sched_prepare_exec": (("less", "memory and views of files: the kernel has no"), ()),
    "signal_generate": (("less", "page faults: the kernel has no tracepoint signal_generate"), ()),
    "block_rq_issue": (("missing", "disk transfers: the kernel has no tracepoint block_rq_issue"),
                       ("transfers",)),
    "block_rq_complete": (("missing", "disk transfers: the kernel has no tracepoint block_rq"),
                          ("transfers",)),
    "block_rq_insert": (("less", "disk transfers: the kernel has no tracepoint block_rq_in"), ()),
    "block_rq_merge": (("less", "disk transfers: the kernel has no tracepoint block_rq_in"), ()),
    "block_rq_requeue": (("less", "disk transfers: the kernel has no tracepoint block_rq_in"), ()),
    "block_getrq": (("less", "disk transfers: the kernel has no tracepoint block_getrq"), ()),
    "block_bio_queue": (("less", "disk transfers: the kernel has no tracepoint block_bio"), ()),
    "block_bio_complete": (("less", "disk transfers: the kernel has no tracepoint block_bio"), ()),
    "block_split": (("missing", "split disk transfers: the kernel has no tracepoint block_split"),
                    ()),
    "inet_sock_set_state": (("missing", "network: the kernel has no tracepoint inet_sock_set"),
                            ("network",)),
    "tcp_destroy_sock": (("missing", "network: the kernel has no tracepoint inet_sock_set"),
                         ("network",)),
    "sock_send_length": (("less", "network: the kernel has no tracepoint sock_send_length"), ()),
    "sock_recv_length": (("less", "network: the kernel has no tracepoint sock_send_length"), ()),
    "tcp_retransmit_skb": (("less", "network: the kernel has no tracepoint tcp_retransmit_skb"),
                           ()),
    "tcp_retransmit_synack": (("less", "network: the kernel has no tracepoint tcp_retransmit_syn"),
                              ()),
    "io_uring_submit_req": (("less", "files: the kernel has no tracepoint io_uring_submit_req"),
                            ()),
    "io_uring_complete": (("less", "files: the kernel has no tracepoint io_uring_submit_req"), ()),
    "io_uring_submit_sqe": (("less", "files: the kernel has no tracepoint io_uring_submit_req"),
                            ()),
    "writeback_dirty_folio": (("less", "files: the kernel has no tracepoint writeback_dirty"), ()),
    "ext4_evict_inode": (("less", "names of files: the kernel has no tracepoint ext4_evict"), ()),
    "mm_filemap_delete_from_page_cache": (("less", "names of files: the kernel has no tracepoint"),
                                          ()),
    "bpf_iter_task_file": (("less", "network: the kernel's BPF cannot walk over open files"), ()),
}
for end in ("entry", "exit"):
    TRACEPOINTS[f"irq_handler_{end}"] = (
        ("missing", "interrupts: the kernel has no tracepoint irq_handler_entry"), ("interrupts",))
    TRACEPOINTS[f"softirq_{end}"] = (
        ("missing", "deferred calls: the kernel has no tracepoint softirq_entry"), ("deferred",))
    TRACEPOINTS[f"hrtimer_expire_{end}"] = (
        ("less", "ready threads: the kernel has no tracepoint hrtimer_expire_entry"), ())
    for vector in ("local_timer", "reschedule", "call_function", "call_function_single",
                   "irq_work"):
        TRACEPOINTS[f"{vector}_{end}"] = (("less", "interrupts: the kernel has no tracepoint"), ())
# Devices alone may have nothing to say.
UNSURE = {"local_timer_entry": ("interrupts",), "local_timer_exit": ("interrupts",)}
PROGRAMS = pathlib.Path(__file__).resolve().parents[3] / "src/source/kernel/bpf"
COVERED = ["unshare", "--mount", "sh", "-c",
           'mount --bind "$TYPES" /sys/kernel/btf/vmlinux && exec "$@"', "sh"]


def send_something():
    """A datagram to itself."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.bind(("127.0.0.1", 0))
        one.sendto(b"something", one.getsockname())


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
        self.unsure = set()  # classes whose events this machine may not have

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

    def write_safely(self):
        """To the disk, where the folder is on one."""
        with open(self.folder / "written", "wb") as file:
            file.write(bytes(1 << 16))
            file.flush()
            os.fsync(file.fileno())

    def see_disk(self):
        """Whether transfers come at all: the folder may be on no disk."""
        _, text = self.watch_some([])
        if not any(f"\t{kind}\t" in text for kind in EVENTS["transfers"]):
            self.unsure.add("transfers")

    def watch_some(self, prefix):
        """(exit status, what is printed) of watch_kernel with all classes, while something runs"""
        # Frequent events of this test's processes alone: all the machine's are too many to print.
        with subprocess.Popen([*prefix, self.programs["watch"], ALL_MASKS, "0", "",
                               str(os.getpid())], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace",
                              env=self.environment) as watch:
            text = watch.stdout.readline()
            if text == "ready\n":
                send_something()
                # Timers come due meanwhile, and ticks of processors.
                subprocess.run(["sh", "-c", "nice sleep 0.05; i=0; while [ $i -lt 50000 ]; "
                                "do i=$((i + 1)); done; sleep 0.05"], check=False)
                self.write_safely()
            watch.stdin.close()
            text += watch.stdout.read()
            return watch.wait(timeout=SECONDS), text

    def check_tracepoint(self, types, tracepoint):
        (state, sentence), lost = TRACEPOINTS[tracepoint]
        name = tracepoint if tracepoint.startswith("bpf_") else f"btf_trace_{tracepoint}"
        name = f"\0{name}\0".encode()
        if name not in types:
            return
        # As long as before, so that all ids stay what the kernel has.
        (self.folder / "types").write_bytes(types.replace(name, name[:-2] + b"_\0"))
        _, text = self.run(COVERED, "etwd", "--probe")
        self.hold(any(line.startswith(f"{state}\t") and sentence in line
                      for line in text.splitlines()), f"no {tracepoint}: etwd --probe", text)
        if lost == EVENTS:
            status, text = self.watch_some(COVERED)
            self.hold(status in (SKIPPED, 1) and tracepoint in text,
                      f"no {tracepoint}: watch_kernel", text)
            return
        seen, unsure = set(), self.unsure | set(UNSURE.get(tracepoint, ()))
        for _ in range(TRIES):
            status, text = self.watch_some(COVERED)
            seen |= {name for name, kinds in EVENTS.items()
                     if any(f"\t{kind}\t" in text for kind in kinds)}
            if status or seen >= set(EVENTS) - set(lost) - unsure:
                break
        self.hold(status == 0 and seen - unsure == set(EVENTS) - set(lost) - unsure,
                  f"no {tracepoint}: watch_kernel ends with {status} and has {sorted(seen)}", text)

    def check_all_named(self):
        """Each tracepoint that a program attaches to has its row above."""
        used = set()
        for path in PROGRAMS.glob("*.bpf.c"):
            text = path.read_text(encoding="utf-8")
            used |= set(re.findall(r'SEC\("tp_btf/(\w+)"\)', text))
            for vector in re.findall(r"^VECTOR\(\w+, (\w+)\)", text, re.M):
                used |= {f"{vector}_entry", f"{vector}_exit"}
        self.hold(used and used <= set(TRACEPOINTS), "tracepoints without a row",
                  "\n".join(sorted(used - set(TRACEPOINTS))))


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
    parser.add_argument("--every", type=int, default=1)
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
        cases.check_all_named()
        cases.see_disk()
        for tracepoint in list(TRACEPOINTS)[::arguments.every]:
            cases.check_tracepoint(types, tracepoint)
        check_container(cases)
    print("\n".join(cases.problems))
    print(f"{cases.count} held, {len(cases.problems)} wrong")
    return int(bool(cases.problems))


if __name__ == "__main__":
    sys.exit(main())
