#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Hold a recording of xperf's group Latency against perf's samples and ftrace's switches.

    compare_latency --etw PROGRAM --etwd PROGRAM [--seconds N] [--stacks-of OPTIONS]

What `xperf -on Latency -stackwalk Profile+CSwitch` records is recorded by `etw record` for N
seconds (10) while processes of known kinds keep the machine busy: loops of different weight, a
loop of calls of the system, two that wait for each other in turns, short-lived children. perf
samples, and ftrace records sched_switch, all the while. Then:

- For each process that has more than a tenth of the samples of either, the shares by our
  samples and by perf's differ by 5 points at most.
- For each that has more than a tenth of the processors' time by either's switches, the shares
  by ours and by ftrace's differ by 5 points at most. Where a recorder's own chain of switches
  is broken (who is switched out is not who was switched in: on some machines the kernel passes
  its tracepoints by) nobody's time is known until the next switch, and it is left out of both;
  how much is known is printed.
- Shares by samples and by switches differ by 5 points at most where less than 1 % of the time
  was stolen by a hypervisor. Steal is printed, by /proc/stat and by the trace.
- Every sample and every switch has a StackWalk event of its time, processor and thread, or is
  among those that the trace counts by reason, exactly: kind by kind, stacks and reasons are all
  events. Only as many as were lost may be missing.
- What of Latency is not collected yet is named, by the tool and in the trace.

With --stacks-of the recording has these options of `etw record` besides, such as "--unwind
dwarf", and what is held is that each event has its stack or a reason, and what the tools print.
Exit status: 0; 1 with the differences; 77 with the reason why it cannot run.
"""

import argparse
import bisect
import collections
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

from compare_processes import Recorder, skip
from perf_data import read_samples, start_perf, stop_perf

POINTS = 5
SHARE = 10  # per cent, from which on a process is looked at
STEAL_PERCENT = 1
PERIOD_NS = 1_000_000
LEAST = 1000  # samples, else the machine stood still
NS = 10**9
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
READY_SECONDS = 120
KINDS = {0x0F2E: "sample", 0x0524: "switch"}
REASONS = ("NotSwitchedOut", "IdleThread", "OtherProcesses", "NothingKept", "NoFrames",
           "NotCopied", "NotUnwound")
LINE = re.compile(r"^.{16,}?-\d+\s+\[(?P<cpu>\d+)\]\s+\S+\s+(?P<s>\d+)\.(?P<us>\d+): "
                  r"sched_switch: prev_comm=.* prev_pid=(?P<old>\d+) prev_prio=.* "
                  r"next_comm=.* next_pid=(?P<new>\d+) next_prio=")

ALIVE = "import os, time\nparent = {parent}\n"
LOOP = ALIVE + """
while os.getppid() == parent:
    for i in range(100000):
        pass
"""
CALLS = ALIVE + """
zero = os.open("/dev/zero", os.O_RDONLY)
while os.getppid() == parent:
    for i in range(1000):
        os.read(zero, 16384)
"""
# Works for a while, then waits for the other, which does the same.
TURNS = ALIVE + """
there, back = os.pipe(), os.pipe()
pid = os.fork()
read, write = (there[0], back[1]) if not pid else (back[0], there[1])
if pid:
    os.write(write, b"x")
parent = parent if pid else os.getppid()
os.close(there[1] if not pid else there[0])
os.close(back[0] if not pid else back[1])
while os.getppid() == parent and os.read(read, 1):
    for i in range(20000):
        pass
    try:
        os.write(write, b"x")
    except BrokenPipeError:
        break
"""
CHILDREN = ALIVE + """
while os.getppid() == parent:
    pid = os.fork()
    if not pid:
        for i in range(20000):
            pass
        os._exit(0)
    os.waitpid(pid, 0)
    time.sleep(0.02)
"""
# What is recorded meanwhile: it works a little, so that a recording of it alone has something.
COMMAND = """
import os, time
open("{folder}/runs", "w").close()
until = time.monotonic() + {seconds}
while time.monotonic() < until:
    if not os.fork():
        for i in range(100000):
            pass
        os._exit(0)
    os.wait()
    time.sleep(0.05)
open("{folder}/done", "w").close()
"""
# Program and nice value. They go before whatever else the machine has to do, so that each has a
# share worth comparing.
WORK = ((LOOP, -10), (LOOP, -8), (CALLS, -10), (TURNS, -10), (CHILDREN, -10))


def read_stat():
    """(steal, all) of the machine, in ticks."""
    words = pathlib.Path("/proc/stat").read_text().splitlines()[0].split()[1:9]
    return int(words[7]), sum(int(word) for word in words)


def go_before_others(nice):
    """Where sessions are scheduled as groups, the nice value of the group is what counts."""
    os.setsid()
    os.nice(nice)
    try:
        pathlib.Path("/proc/self/autogroup").write_text(str(nice))
    except OSError:
        pass  # they are not


def start_work():
    return [subprocess.Popen([sys.executable, "-c", program.format(parent=os.getpid())],
                             stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                             preexec_fn=lambda nice=nice: go_before_others(nice))
            for program, nice in WORK]


def count_perf(path, window):
    """Samples by process; 0: the idle threads."""
    return collections.Counter(pid for time_ns, pid in read_samples(path)
                               if window[0] <= time_ns <= window[1])


def read_ftrace(text):
    """{cpu: [(time, old, new)]}"""
    switches = collections.defaultdict(list)
    for line in text.splitlines():
        match = LINE.match(line)
        if match:
            switches[int(match["cpu"])].append((int(match["s"]) * NS + int(match["us"]) * 1000,
                                                int(match["old"]), int(match["new"])))
    return switches


class Trace:
    """What our recording has; times are CLOCK_MONOTONIC."""

    def __init__(self, etw, path, environment, realtime_ns):
        self.realtime_ns = realtime_ns
        self.samples = []  # (time, thread)
        self.switches = collections.defaultdict(list)
        self.groups = collections.defaultdict(list)  # thread: [(time, process)]
        self.events = {hook: collections.Counter() for hook in KINDS}
        self.walks = collections.Counter()
        self.account = {}
        self.times = {}
        dump = subprocess.Popen([etw, "dump", "--json", str(path)], env=environment,
                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        for line in dump.stdout:
            self.take(line)
        if dump.wait(timeout=900):
            sys.exit(f"etw dump ends with {dump.returncode}")

    def time_of(self, event):
        moment, fraction = event["time"].rstrip("Z").split(".")
        whole = datetime.datetime.fromisoformat(moment + "+00:00") - EPOCH
        return (whole.days * 86400 + whole.seconds) * NS + int(fraction) * 100 - self.realtime_ns

    def take(self, line):
        # Those that are not looked at are most, and parsing is what takes time.
        if '"StackWalk"' in line:
            event = json.loads(line)
            fields = event["fields"]
            self.walks[fields["EventTimeStamp"], event["cpu"], fields["StackThread"]] += 1
        elif '"SampleProf"' in line or '"CSwitch"' in line:
            self.take_event(json.loads(line))
        elif '"Libetw-Kernel"' in line:
            event = json.loads(line)
            if event["task_name"] == "StackAccount":
                self.account[int(event["fields"]["Hook"], 16)] = event["fields"]
            else:
                self.times[event["fields"]["AtEnd"]] = event["fields"]
        elif '"TThreadId"' in line:
            event = json.loads(line)
            if event["opcode_name"] in ("Start", "DCStart"):
                fields = event["fields"]
                self.groups[fields["TThreadId"]].append((self.time_of(event),
                                                         fields["ProcessId"]))

    def take_event(self, event):
        fields, time_ns = event["fields"], self.time_of(event)
        if event["opcode_name"] == "CSwitch":
            thread, hook = fields["NewThreadId"], 0x0524
            self.switches[event["cpu"]].append((time_ns, fields["OldThreadId"], thread))
        else:
            thread, hook = fields["ThreadId"], 0x0F2E
            self.samples.append((time_ns, thread))
        self.events[hook][int(event["raw_time"]), event["cpu"], thread] += 1

    def process_of(self, thread, time_ns):
        """The idle threads are 0."""
        lives = self.groups.get(thread)
        if not lives:
            return thread
        return lives[max(0, bisect.bisect_right(lives, (time_ns, 1 << 32)) - 1)][1]

    def count_samples(self, window):
        return collections.Counter(self.process_of(thread, time_ns)
                                   for time_ns, thread in self.samples
                                   if window[0] <= time_ns <= window[1])

    def steal(self):
        """Part of the time that was stolen, as the trace tells it; None: it does not."""
        if len(self.times) < 2:
            return None
        spent = {name: self.times[True][name] - self.times[False][name]
                 for name in self.times[True] if name.endswith("Ms")}
        return spent["StealMs"] / max(1, sum(spent.values()))


def known_times(switches, window):
    """{cpu: [(from, to, thread)]}: who had a processor; nobody between switches that do not fit."""
    known = {}
    for cpu, list_of_cpu in switches.items():
        stretches = known[cpu] = []
        for before, after in zip(list_of_cpu, list_of_cpu[1:]):
            begin, end = max(before[0], window[0]), min(after[0], window[1])
            if begin < end and before[2] == after[1]:
                stretches.append((begin, end, before[2]))
    return known


def common(one, other):
    """The stretches of one, cut to the times in which the other knows who had the processor."""
    result = []
    at = 0
    for begin, end, thread in one:
        while at < len(other) and other[at][1] <= begin:
            at += 1
        i = at
        while i < len(other) and other[i][0] < end:
            result.append((max(begin, other[i][0]), min(end, other[i][1]), thread))
            i += 1
    return result


def sum_times(ours, theirs, trace):
    """Processor time by process, of both, where both know it; how much that is together."""
    sums = (collections.Counter(), collections.Counter())
    for cpu in ours:
        pair = ours[cpu], theirs.get(cpu, [])
        for sum_of_one, one, other in zip(sums, pair, reversed(pair)):
            for begin, end, thread in common(one, other):
                sum_of_one[trace.process_of(thread, begin)] += end - begin
    return sums


def shares(counts):
    whole = max(1, sum(counts.values()))
    return collections.defaultdict(float, {pid: 100 * count / whole
                                           for pid, count in counts.items()})


def compare(what, names, one, other):
    """How many processes above a tenth differ."""
    wrong = 0
    one, other = shares(one), shares(other)
    for pid in sorted(set(one) | set(other), key=lambda pid: -one[pid]):
        if max(one[pid], other[pid]) <= SHARE:
            continue
        differs = abs(one[pid] - other[pid]) > POINTS
        wrong += differs
        print(f"{what}, process {pid}: {names[0]} {one[pid]:.1f} %, {names[1]} {other[pid]:.1f} %"
              + (" DIFFERS" if differs else ""))
    return wrong


def check_stacks(trace, lost):
    """Each event has a stack or a counted reason."""
    wrong = 0
    walks = trace.walks.copy()
    for hook, kind in KINDS.items():
        account = trace.account.get(hook)
        if not account:
            print(f"the trace does not account for the stacks of a {kind}")
            wrong += 1
            continue
        matched = sum((trace.events[hook] & walks).values())
        walks -= trace.events[hook]
        total = sum(trace.events[hook].values())
        counted = sum(account[reason] for reason in REASONS)
        named = ", ".join(f"{reason} {account[reason]}" for reason in REASONS if account[reason])
        print(f"{kind}: {total} events = {matched} with a stack + {counted} counted without"
              f"{' (' + named + ')' if named else ''}; the trace tells of {account['Stacks']} "
              f"stacks")
        missing = account["Stacks"] + counted - total
        if not 0 <= missing <= lost or not 0 <= account["Stacks"] - matched <= lost or \
                (not lost and matched + counted != total):
            print("stacks are missing without a reason")
            wrong += 1
    if walks:
        print(f"{sum(walks.values())} stacks belong to no sample and no switch")
        wrong += not lost
    return wrong


def record(arguments, folder, environment):
    """(what the tool said, ftrace's text, what ftrace lost, window, realtime offset, steal)."""
    recorder = Recorder(("sched/sched_switch",))
    work = []
    try:
        recorder.start()
        perf = start_perf(str(folder / "perf.data"), PERIOD_NS)
        work = start_work()
        with open(folder / "said", "w+", encoding="utf-8") as said:
            ours = subprocess.Popen(
                [arguments.etw, "record", "--kernel", "Latency", "--stacks", "Profile,CSwitch",
                 *arguments.stacks_of.split(), "-o", str(folder / "latency.etl"), "--",
                 sys.executable, "-c", COMMAND.format(seconds=arguments.seconds, folder=folder)],
                env=environment, stdin=subprocess.DEVNULL, stdout=said, stderr=said)
            await_file(folder / "runs", ours, said)
            begin_ns, before = time.monotonic_ns(), read_stat()
            await_file(folder / "done", ours, said)
            end_ns, after = time.monotonic_ns(), read_stat()
            # What is read next must not keep the machine busy.
            text, lost = recorder.stop()
            stop_perf(perf)
            status = ours.wait(timeout=900)
            said.seek(0)
            words = said.read()
    finally:
        for process in work:
            process.kill()
            process.wait()
        recorder.close()
    if status:
        print(words)
        sys.exit(1)
    offset = time.clock_gettime_ns(time.CLOCK_REALTIME) - time.monotonic_ns()
    steal = (after[0] - before[0]) / max(1, after[1] - before[1])
    return words, text, lost, (begin_ns, end_ns), offset, steal


def await_file(path, process, said):
    """Until the command that is recorded has made it; ends the test where nothing is recorded."""
    deadline = time.monotonic() + READY_SECONDS
    while not path.exists():
        if process.poll() is not None:
            said.seek(0)
            words = said.read()
            if path.name == "runs" and "kernel" in words:
                skip(f"no kernel events can be recorded here: {words.strip()}")
            print(words)
            sys.exit(1)
        if path.name == "runs" and time.monotonic() > deadline:
            process.terminate()
            sys.exit("the recording does not begin")
        time.sleep(0.01)


def lost_of(words):
    """Events that the recording lost, as its last lines say."""
    match = re.search(r"lost: ([\d,]+) events", words)
    return int(match[1].replace(",", "")) if match else 0


def check_named(words, trace_words):
    """All that the group asks for is collected: neither the report nor the trace names anything."""
    wrong = 0
    for where, text in (("the report", words), ("etw summary", trace_words)):
        for line in text.splitlines():
            if "not collected" in line:
                print(f"{where} says: {line}")
                wrong += 1
    return wrong


def judge(arguments, folder, environment, recorded):
    words, text, their_loss, window, offset, steal = recorded
    trace = Trace(arguments.etw, folder / "latency.etl", environment, offset)
    summary = subprocess.run([arguments.etw, "summary", "--no-pager",
                              str(folder / "latency.etl")], env=environment, timeout=900,
                             capture_output=True, text=True, check=True).stdout
    told = trace.steal()
    print(f"{100 * steal:.2f} % of the time was stolen, by /proc/stat; by the trace "
          f"{'nothing is told' if told is None else f'{100 * told:.2f} %'}")
    wrong = told is None
    wrong += check_steal(words, summary)
    lost = lost_of(words)
    wrong += check_named(words, summary)
    wrong += check_stacks(trace, lost)
    if arguments.stacks_of:
        return wrong
    ours, theirs = trace.count_samples(window), count_perf(folder / "perf.data", window)
    print(f"{sum(ours.values())} samples, by perf {sum(theirs.values())}; lost {lost}; ftrace lost "
          f"{their_loss}")
    if min(sum(ours.values()), sum(theirs.values())) < LEAST:
        skip("the machine stood still")
    wrong += compare("samples", ("ours", "perf's"), ours, theirs)
    known = known_times(trace.switches, window)
    times, their_times = sum_times(known, known_times(read_ftrace(text), window), trace)
    whole = (window[1] - window[0]) * len(trace.switches)
    alone = sum(end - begin for stretches in known.values() for begin, end, _ in stretches)
    print(f"switches: both know {100 * sum(times.values()) / max(1, whole):.1f} % of the time, we "
          f"alone {100 * alone / max(1, whole):.1f} %")
    wrong += compare("switches", ("ours", "ftrace's"), times, their_times)
    if steal * 100 >= STEAL_PERCENT:
        print("samples and switches are not compared: the hypervisor takes the processors away")
        return wrong
    return wrong + compare("samples and switches", ("samples", "switches"), ours, times)


def check_steal(words, summary):
    """The report and the summary print it."""
    missing = [where for where, text in (("the report", words), ("etw summary", summary))
               if not re.search(r"^Steal +[<\d.]+%? of the processors' time", text, re.MULTILINE)]
    for where in missing:
        print(f"{where} does not print steal")
    return len(missing)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--etw", required=True)
    parser.add_argument("--etwd", required=True)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--stacks-of", default="")
    arguments = parser.parse_args()
    if os.geteuid() != 0:
        skip("needs root")
    with tempfile.TemporaryDirectory(prefix="etw-latency-") as name:
        folder = pathlib.Path(name)
        (folder / "run").mkdir()
        environment = dict(os.environ, ETW_RUNTIME_DIR=str(folder / "run"), ETWD_IDLE_MS="200",
                           ETW_ETWD=arguments.etwd)
        recorded = record(arguments, folder, environment)
        sys.exit(int(judge(arguments, folder, environment, recorded) > 0))


if __name__ == "__main__":
    main()
