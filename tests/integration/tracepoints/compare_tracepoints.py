#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Hold tracepoints as providers against the kernel.

    compare_tracepoints --etw PROGRAM [--each]

1. `etw providers` lists every system that has a tracepoint which can be enabled, with all of them.
2. All systems are recorded for a moment under a small load, several at a time, with --each one by
   one: every event of them decodes.
3. A workload is recorded by etw and by an instance of ftrace that prints the fields of each record
   itself (option `fields`): the events of the workload's threads are the same, one by
   one and field by field; what is missing is not more than the loss that is told.
4. Where tracefs is not mounted the trace decodes the same.

Exit status: 0; 1 with the differences; 77 with the reason why it cannot run.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

SKIPPED = 77
TRACING = pathlib.Path("/sys/kernel/tracing")
PROVIDERS_AT_ONCE = 26  # a session takes 32
# What comes so often on a busy machine that all the others would wait for it; --each has them.
BUSY = ("exceptions", "filemap", "irq_vectors", "kmem", "lock", "rcu", "syscalls", "timer")
SAMPLE = ("sched", "signal", "task", "syscalls", "skb", "sock", "net", "tcp", "block")
KINDS_MIN = 50
BUFFER_KIB = 65536
WORKLOAD = r"""
import os, socket, subprocess, tempfile, threading, time
time.sleep(0.2)
with tempfile.TemporaryDirectory() as folder:
    for i in range(20):
        name = os.path.join(folder, "file %d" % i)
        with open(name, "wb") as file:
            file.write(b"x" * 5000 * i)
            os.fsync(file.fileno())
        os.rename(name, name + ".new")
        os.stat(name + ".new")
        os.unlink(name + ".new")
server = socket.create_server(("127.0.0.1", 0))
def serve():
    peer = server.accept()[0]
    while peer.recv(1000):
        pass
    peer.close()
thread = threading.Thread(target=serve)
thread.start()
client = socket.create_connection(server.getsockname())
for i in range(20):
    client.send(b"y" * 100)
client.close()
thread.join()
for i in range(5):
    subprocess.run(["/bin/true"], check=True)
os.kill(os.getpid(), 0)
time.sleep(0.2)
"""


def skip(reason):
    print(f"SKIP: {reason}")
    sys.exit(SKIPPED)


def run(*words, **options):
    return subprocess.run([str(word) for word in words], check=False, capture_output=True,
                          text=True, errors="replace", **options)


def systems_of_tracefs():
    """{system: sorted tracepoints that can be enabled}"""
    systems = {}
    for system in sorted(path for path in (TRACING / "events").iterdir() if path.is_dir()):
        names = sorted(path.name for path in system.iterdir() if (path / "enable").exists())
        if names:
            systems[system.name] = names
    return systems


class Checks:
    def __init__(self, etw, folder):
        self.etw = etw
        self.folder = pathlib.Path(folder)
        self.problems = []

    def complain(self, text):
        self.problems.append(text)

    def record(self, name, providers, command):
        """Return the file, recorded while the command runs."""
        file = self.folder / f"{name}.etl"
        words = [word for provider in providers for word in ("--provider", provider)]
        done = run(self.etw, "record", "--force", "--quiet", "-o", file, "--buffer-size", 256,
                   *words, "--", *command)
        if done.returncode or not file.exists():
            self.complain(f"{name}: etw record failed: {done.stderr[-600:]}")
            return None
        if "not all can be recorded" in done.stderr:
            self.complain(f"{name}: {done.stderr[:400]}")
        return file

    def check_list(self, systems):
        listed = {}
        done = run(self.etw, "providers", "--json", "linux:*")
        for line in done.stdout.splitlines():
            entry = json.loads(line)
            listed[entry["provider"].removeprefix("linux:")] = entry["event_count"]
        for system, names in systems.items():
            if listed.get(system) != len(names):
                self.complain(f"linux:{system} is listed with {listed.get(system)} events, "
                              f"tracefs has {len(names)}")
        for system in listed.keys() - systems.keys():
            self.complain(f"linux:{system} is listed, and tracefs has no such system")

    def check_decoded(self, name, file):
        """Return {provider: events}; all of them are to decode."""
        done = run(self.etw, "summary", "--json", file)
        summary = json.loads(done.stdout)
        counts = {}
        for provider in summary["providers"]:
            title = provider.get("provider") or provider["guid"]
            counts[title] = provider["count"]
            if provider.get("complete") != provider["count"]:
                self.complain(f"{name}: of {provider['count']} events of {title} only "
                              f"{provider.get('complete')} decode")
        return counts

    def check_batches(self, systems, at_once):
        names = sorted(system for system in systems if at_once == 1 or system not in BUSY)
        seen = collections.Counter()
        for first in range(0, len(names), at_once):
            batch = names[first:first + at_once]
            file = self.record(f"batch-{first}", [f"linux:{name}" for name in batch],
                               ["sh", "-c", "cat /etc/passwd > /dev/null; sleep 0.05"])
            if file:
                seen.update(self.check_decoded(f"batch of {batch[0]}", file))
                file.unlink()
        fired = [name for name in names if seen[f"linux:{name}"]]
        print(f"{len(fired)} of {len(names)} systems had events, "
              f"{sum(seen[f'linux:{name}'] for name in fired)} in all, and all of them decode")


class Instance:
    """An instance of ftrace that prints the fields of what the workload does."""

    def __init__(self, events):
        self.path = TRACING / "instances" / f"etw-test-{os.getpid()}"
        self.path.mkdir()
        self.write("trace_clock", "mono")
        self.write("buffer_size_kb", str(BUFFER_KIB))
        self.write("options/fields", "1")
        self.write("options/event-fork", "1")
        for event in events:
            self.write(f"events/{event}/enable", "1")

    def write(self, name, text):
        (self.path / name).write_text(text, encoding="ascii")

    def lines(self):
        self.write("tracing_on", "0")
        text = (self.path / "trace").read_text(encoding="utf-8", errors="replace")
        lost = sum(int(path.read_text().split("overrun:")[1].split()[0])
                   for path in self.path.glob("per_cpu/cpu*/stats"))
        return text.splitlines(), lost

    def close(self):
        self.path.rmdir()


LINE = re.compile(r"^.{16}\s*-(\d+)\s+\[\d+\] \S+\s+[\d.]+: (\w+): (.*)$")
EXIT_STATES = {16, 32}  # EXIT_DEAD, EXIT_ZOMBIE
NUMBER = re.compile(r"^0x([0-9a-f]+) \((-?\d+)\)$")


def fields_of(event):
    return [name for name in event["fields"] if not name.startswith("common_")]


def split_fields(names, text):
    """The values of a printed record, by name; None where it is not like that."""
    pattern = " ".join(re.escape(name) + "=(.*?)" for name in names) + "$"
    match = re.match(pattern, text)
    return dict(zip(names, match.groups())) if match else None


def printed_value(text):
    """What a printed field can be compared by: a number, text, or nothing."""
    match = NUMBER.match(text)
    if match:
        return int(match[1], 16)
    if not text or re.match(
            r"^\(0x|^0x|.*\+0x[0-9a-f]+/0x|.*\(-?\d+\)$|^ARRAY|^UNKNOWN|^<INVALID",
            text):
        return None
    return text


def number_of(value):
    if isinstance(value, dict):
        value = value.get("value", value)
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int):
        return value
    if isinstance(value, str) and re.fullmatch(r"0x[0-9a-fA-F]+|-?\d+", value):
        return int(value, 0)
    return None


def is_same(value, printed):
    """Whether etw's value is what the kernel printed."""
    if printed is None:
        return True
    if isinstance(printed, str):
        return str(value).strip() == printed.strip()
    number = number_of(value)
    if number is None:
        return not isinstance(value, (int, bool))  # named, or bytes
    return printed in {number & (1 << bits) - 1 for bits in (8, 16, 32, 64)} | {number}


def is_ending(name, value, printed):
    """Whether both say that a thread ends: each recorder reads how far it got itself."""
    return name == "prev_state" and {number_of(value), printed} <= EXIT_STATES


def compare_kind(kind, ours, theirs):
    """Return (events that both have, those that differ, how many each has).

    Times are not compared, as each recorder reads the clock itself; of one thread the order is.
    """
    both, wrong = 0, []
    for tid in ours.keys() | theirs.keys():
        mine, other = ours.get(tid, []), theirs.get(tid, [])
        if len(mine) != len(other):
            continue  # what was lost of them is not known
        for event, text in zip(mine, other):
            values = split_fields(fields_of(event), text)
            if values is None:
                continue
            both += 1
            for name, printed in values.items():
                value = event["fields"][name]
                if not (is_same(value, printed_value(printed)) or
                        is_ending(name, value, printed_value(printed))):
                    wrong.append(f"{kind} of {tid}: {name} is {event['fields'][name]!r}, the "
                                 f"kernel printed {printed!r}")
    count = sum(map(len, ours.values())), sum(map(len, theirs.values()))
    return both, wrong, count


def events_of(etw, file, root):
    """The events of the workload's threads from its exec on; threads by its forks."""
    tids, events, has_begun = {root}, [], False
    with subprocess.Popen([etw, "dump", "--json", "--full", "--provider", "linux:*", file],
                          stdout=subprocess.PIPE, text=True, errors="replace") as dump:
        for line in dump.stdout:
            match = re.search(r'"tid":(\d+)', line)
            if not match or int(match[1]) not in tids:
                continue
            event = json.loads(line)
            has_begun |= event["event_name"] == "sched_process_exec"
            if has_begun:
                events.append(event)
            if event["event_name"] == "sched_process_fork":
                tids.add(event["fields"]["child_pid"])
    return events, tids


def group(pairs):
    groups = collections.defaultdict(lambda: collections.defaultdict(list))
    for kind, tid, what in pairs:
        groups[kind][tid].append(what)
    return groups


def compare_values(checks, systems):
    chosen = [system for system in SAMPLE if system in systems]
    pid_file = checks.folder / "pid"
    instance = Instance(chosen)
    try:
        # The shell of the workload waits until ftrace follows it.
        script = (f"echo $$ > {pid_file}; echo $$ > {instance.path}/set_event_pid && "
                  f"exec {sys.executable} -c \"$1\"")
        file = checks.record("values", [f"linux:{system}" for system in chosen],
                             ["sh", "-c", script, "sh", WORKLOAD])
        lines, printed_lost = instance.lines()
    finally:
        instance.close()
    if not file:
        return None
    checks.check_decoded("values", file)
    root = int(pid_file.read_text(encoding="ascii"))
    events, tids = events_of(checks.etw, file, root)
    lost = json.loads(run(checks.etw, "summary", "--json", file).stdout)["files"][0]["header"][
        "events_lost"]
    theirs = []
    for line in lines:
        match = LINE.match(line)
        if match:
            theirs.append((match[2], int(match[1]), match[3]))
    # Both have all of it from its exec on.
    begin = next((i for i, (kind, tid, _) in enumerate(theirs)
                  if kind == "sched_process_exec" and tid == root), 0)
    compare_groups(checks,
                   group((event["event_name"], event["tid"], event) for event in events),
                   group(item for item in theirs[begin:] if item[1] in tids),
                   lost + printed_lost)
    return file


def compare_groups(checks, ours, theirs, lost):
    kinds, total, missing = 0, 0, 0
    for kind in sorted(ours.keys() | theirs.keys()):
        both, wrong, count = compare_kind(kind, ours.get(kind, {}), theirs.get(kind, {}))
        kinds += both > 0
        total += both
        if count[0] != count[1]:
            missing += abs(count[0] - count[1])
            print(f"{kind}: {count[0]} events, the kernel printed {count[1]}")
        for text in wrong[:3]:
            checks.complain(text)
    print(f"{total} events of {kinds} tracepoints are the same field by field; {lost} were lost")
    if missing > lost:
        checks.complain(f"{missing} events are with one of both alone, and {lost} were lost")
    if kinds < KINDS_MIN:
        checks.complain(f"only {kinds} tracepoints were compared")


def check_bare(checks, file):
    """Without tracefs and the rest of /sys the same is shown."""
    words = (checks.etw, "dump", "--provider", "linux:*", "--max", "20000", file)
    here = run(*words)
    there = run("unshare", "-m", "sh", "-c", 'mount -t tmpfs none /sys && exec "$@"', "sh", *words)
    if there.returncode:
        checks.complain(f"without tracefs the trace is not shown: {there.stderr[-300:]}")
    elif here.stdout != there.stdout or here.stdout.count("\n") < 100:
        checks.complain("without tracefs the trace is shown otherwise")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--etw", required=True)
    parser.add_argument("--each", action="store_true")
    arguments = parser.parse_args()
    if os.getuid() != 0:
        skip("tracepoints are recorded by root alone")
    if not (TRACING / "events" / "sched").exists():
        skip("tracefs is not mounted at /sys/kernel/tracing")
    if not (TRACING / "options" / "fields").exists():
        skip("ftrace has no option `fields` (Linux 5.18 has it)")
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="etw-tracepoints-") as folder:
        os.environ["ETW_RUNTIME_DIR"] = f"{folder}/run"
        checks = Checks(arguments.etw, folder)
        systems = systems_of_tracefs()
        checks.check_list(systems)
        file = compare_values(checks, systems)
        if file:
            check_bare(checks, file)
        checks.check_batches(systems, 1 if arguments.each else PROVIDERS_AT_ONCE)
    for problem in checks.problems[:30]:
        print(problem, file=sys.stderr)
    print(f"{len(checks.problems)} problems, {time.monotonic() - began:.1f} s", file=sys.stderr)
    return 1 if checks.problems else 0


if __name__ == "__main__":
    sys.exit(main())
