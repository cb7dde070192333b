#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Hold events of disks against ftrace's, the disks' own counts and what the programs did.

    compare_disk --etw PROGRAM [--modules FOLDER]

On disks of the test's own (a loop device with ext4, and a zram, which has no requests, where the
machine has it) two processes read and write at once, on a machine that is busy. Both ways, as
sets: every transfer that ftrace saw end, with place and bytes, and every flush. Sums: bytes by
/sys/block/*/stat, and those that a process read by its /proc/PID/io. No transfer is another
process's, each has the name of its file, each end its beginning, and parts of cut bios follow
one another on the disk.
Where there is no loop device, modules of the kernel are loaded that are below FOLDER, and stay.
Exit status: 0; 1 with the differences; 77 with the reason why it cannot run.
"""

import argparse
import collections
import contextlib
import ctypes
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile

from kernel_checks import SKIPPED, until_whole

READ_BY_END = 256 << 10
TRACING = pathlib.Path("/sys/kernel/tracing")
ZRAM = pathlib.Path("/sys/class/zram-control")
EVENTS = ("block_rq_complete", "block_bio_queue", "block_split")
MODULES = ("drivers/block/loop", "lib/crc16", "crypto/crc32c_generic", "fs/mbcache",
           "fs/jbd2/jbd2", "fs/ext4/ext4", "mm/zsmalloc", "crypto/lzo", "crypto/lzo-rle",
           "drivers/block/zram/zram")
LOAD_CALLS = {"x86_64": 313, "aarch64": 273}  # finit_module
SECTOR = 512
SECONDS = 300
LINE = re.compile(r"^.{16,}?-\d+\s+\[\d+\]\s+\S+\s+[\d.]+: (?P<event>\w+): "
                  r"(?P<major>\d+),(?P<minor>\d+) (?P<how>\w+) (?:\d+ )?(?:\([^)]*\) )?"
                  r"(?P<sector>\d+) [+/] (?P<count>\d+)")
WORDS = {"Read": "R", "Write": "W", "FlushBuffers": "F",
         "ReadInit": "R", "WriteInit": "W", "FlushInit": "F"}
SPIN = "import os\nparent = {parent}\nwhile os.getppid() == parent:\n    sum(range(10000))\n"


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def run(*words):
    return subprocess.run(words, capture_output=True, text=True, timeout=SECONDS, check=False)


def load_modules(folder):
    """Those of the kernel that runs, as far as there are files of them."""
    library, release = ctypes.CDLL(None), platform.release()
    for name in MODULES if platform.machine() in LOAD_CALLS else ():
        for path in pathlib.Path(folder).glob(f"*/lib/modules/{release}/kernel/{name}.ko"):
            with open(path, "rb") as file:
                library.syscall(LOAD_CALLS[platform.machine()], file.fileno(), b"", 0)


@contextlib.contextmanager
def loop_disk(folder):
    """(device, mount point)"""
    image, point = f"{folder}/image", f"{folder}/mount"
    with open(image, "wb") as file:
        file.truncate(96 << 20)
    os.mkdir(point)
    made = run("losetup", "--find", "--show", image)
    if made.returncode:
        skip(f"no loop device: {made.stderr.strip()}")
    device = made.stdout.strip()
    try:
        formatted = run("mkfs.ext4", "-q", "-b", "4096", "-E",
                        "lazy_itable_init=0,lazy_journal_init=0", device)
        if formatted.returncode:
            skip(f"mkfs.ext4: {formatted.stderr.strip()}")
        # What the kernel would read by itself, at any time.
        mounted = run("mount", "-o", "noatime,noinit_itable,no_prefetch_block_bitmaps", device,
                      point)
        if mounted.returncode:
            skip(f"mount: {mounted.stderr.strip()}")
        try:
            run("sync", "--file-system", point)
            yield device, point
        finally:
            run("umount", point)
    finally:
        run("losetup", "--detach", device)


@contextlib.contextmanager
def bare_disk():
    """A device, or None."""
    try:
        number = (ZRAM / "hot_add").read_text().strip()
    except OSError:
        yield None
        return
    try:
        pathlib.Path(f"/sys/block/zram{number}/disksize").write_text("16M")
        yield f"/dev/zram{number}"
    finally:
        (ZRAM / "hot_remove").write_text(number)


@contextlib.contextmanager
def ftrace(numbers):
    """The folder of an instance that records the events of disks with these device numbers."""
    if not (TRACING / "instances").is_dir():
        skip("tracefs is not mounted at /sys/kernel/tracing")
    instance = TRACING / "instances" / f"etw-disk-{os.getpid()}"
    try:
        instance.mkdir()
    except OSError as error:
        skip(f"no instance of ftrace: {error}")
    try:
        (instance / "buffer_size_kb").write_text("8192")
        for event in EVENTS:
            folder = instance / "events/block" / event
            (folder / "filter").write_text(" || ".join(f"dev == {number}" for number in numbers))
            (folder / "enable").write_text("1")
        yield instance
    finally:
        (instance / "events/enable").write_text("0")
        instance.rmdir()


def number_of(device):
    """As events have it: no disk of memory or of a file is one of PhyDisk's."""
    status = os.stat(device).st_rdev
    return os.major(status) << 20 | os.minor(status)


def stat_of(device):
    """(bytes read, bytes written, flushes)"""
    words = pathlib.Path(f"/sys/block/{os.path.basename(device)}/stat").read_text().split()
    return int(words[2]) * SECTOR, int(words[6]) * SECTOR, int(words[15]) if len(words) > 15 else 0


def operation_of(how):
    """R, W, F or another letter: the first is of a flush before it where there are more."""
    if how.startswith("FF"):
        return "F"
    return how[1] if how[0] == "F" and len(how) > 1 else how[0]


class Seen:
    """What ftrace saw, by device number."""

    def __init__(self, text):
        self.ends = collections.defaultdict(collections.Counter)  # (operation, place, bytes)
        self.bios = collections.defaultdict(collections.Counter)
        self.splits = collections.Counter()
        for line in text.splitlines():
            match = LINE.match(line)
            if match:
                self.take(match["event"], int(match["major"]) << 20 | int(match["minor"]),
                          operation_of(match["how"]),
                          (int(match["sector"]) * SECTOR, int(match["count"]) * SECTOR))

    def take(self, event, number, operation, place):
        if event == "block_split":
            self.splits[number] += 1
        elif operation == "F":
            if event == "block_rq_complete":
                self.ends[number]["F", 0, 0] += 1
        elif operation in "RW" and place[1]:
            if event == "block_rq_complete":
                self.ends[number][operation, *place] += 1
            elif event == "block_bio_queue":
                self.bios[number][operation, *place] += 1


class Transfer:
    """An end, with the beginning that it has."""

    def __init__(self, event, begin):
        fields = event["fields"]
        self.operation = WORDS[event["opcode_name"]]
        self.number = fields["DiskNumber"]
        self.place = fields.get("ByteOffset", 0)
        self.count = fields.get("TransferSize", 0)
        self.file = int(fields.get("FileObject", "0"), 16)
        self.irp = fields["Irp"]
        self.thread = fields["IssuingThreadId"]
        self.took = fields["HighResResponseTime"]
        self.time = int(event["raw_time"])
        self.begin = begin

    def key(self):
        return self.operation, self.place, self.count

    def begin_time(self):
        return int(self.begin[1]["raw_time"]) if self.begin else self.time

    def __str__(self):
        return f"{self.operation} {self.place} + {self.count} by {self.thread}"


class Trace:
    """What the recording has of these devices."""

    def __init__(self, etw, path, environment, numbers):
        self.transfers = collections.defaultdict(list)
        self.names = {}
        self.parts = []  # [whole, [transfer]]
        self.wrong = []
        self.numbers = numbers
        self.open = {}
        self.cut = {}  # Irp of a part: the list that it is to be put in
        dump = subprocess.run([etw, "dump", "--json", str(path)], env=environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=SECONDS,
                              check=True)
        for line in dump.stdout.splitlines():
            if '"DiskIo"' in line or '"SplitIo"' in line or '"FileIo"' in line:
                self.take(json.loads(line))

    def take(self, event):
        fields, name = event["fields"], event["opcode_name"]
        if event["task_name"] == "FileIo":
            if name in ("Name", "FileCreate"):
                self.names[int(fields["FileObject"], 16)] = fields["FileName"]
        elif event["task_name"] == "SplitIo":
            self.take_part(fields["ParentIrp"], fields["ChildIrp"])
        elif name.endswith("Init"):
            if event["tid"] != fields["IssuingThreadId"]:
                self.wrong.append(f"a {name} of {fields['IssuingThreadId']} is {event['tid']}'s")
            self.open[fields["Irp"]] = (WORDS[name], event)
        else:
            self.take_end(Transfer(event, self.open.pop(fields["Irp"], None)))

    def take_part(self, whole, child):
        if not self.parts or self.parts[-1][0] != whole:
            self.parts.append([whole, []])
        self.cut[child] = self.parts[-1][1]

    def take_end(self, transfer):
        if transfer.number not in self.numbers:
            self.cut.pop(transfer.irp, None)
            return
        self.transfers[transfer.number].append(transfer)
        if transfer.irp in self.cut:
            self.cut.pop(transfer.irp).append(transfer)
        if not transfer.begin:
            self.wrong.append(f"no beginning: {transfer}")
            return
        operation, event = transfer.begin
        if operation != transfer.operation:
            self.wrong.append(f"begins as {operation}: {transfer}")
        if event["fields"]["IssuingThreadId"] != transfer.thread:
            self.wrong.append(f"{event['fields']['IssuingThreadId']} began {transfer}")
        if transfer.took < transfer.time - int(event["raw_time"]):
            self.wrong.append(f"took {transfer.took}, less than from its beginning: {transfer}")


def compare_sets(what, ours, theirs):
    """Both ways."""
    wrong = []
    for key, count in (ours - theirs).items():
        wrong.append(f"{what}: {count} times {key} that the kernel does not tell")
    for key, count in (theirs - ours).items():
        wrong.append(f"{what}: {count} times {key} is missing")
    return wrong


def compare_sums(what, transfers, before, after):
    sums = collections.Counter()
    for transfer in transfers:
        sums[transfer.operation] += transfer.count or 1
    wanted = dict(zip("RWF", (now - then for then, now in zip(before, after))))
    return [f"{what}: {sums[word]} of {word}, the disk counts {wanted[word]}"
            for word in "RWF" if sums[word] != wanted[word]]


def owner_of(done, place):
    """(worker, file) to which a byte of the disk belongs, and where it is in the file."""
    for name, worker in done.items():
        for file, extents in worker["files"].items():
            for logical, physical, count in extents:
                if physical <= place < physical + count:
                    return name, file, logical + place - physical
    return None


def compare_owners(trace, transfers, done):
    """Who asked for what is of a worker's files, and the names of these."""
    wrong, small, bytes_of = [], collections.Counter(), collections.Counter()
    pids = {worker["pid"]: name for name, worker in done.items()}
    for transfer in transfers:
        owner = owner_of(done, transfer.place) if transfer.count else None
        asker = pids.get(transfer.thread)
        if not owner:
            continue
        name, file, logical = owner
        bytes_of[owner[:2] + (transfer.operation,)] += transfer.count
        named = trace.names.get(transfer.file, "")
        if asker != name and (asker or file != "late"):
            wrong.append(f"of {name}.{file}: {transfer}")
        if transfer.file and not named.endswith(f"/mount/{name}.{file}"):
            wrong.append(f"of {name}.{file}, but named {named!r}: {transfer}")
        if not transfer.file and file != "direct":
            wrong.append(f"of {name}.{file}, without a file: {transfer}")
        if file == "direct" and not transfer.file and transfer.count == 4096:
            small[name, transfer.operation, logical] += 1
    for name, worker in done.items():
        for operation in "RW":
            for place in worker["places"]:
                if small[name, operation, place] != 1:
                    wrong.append(f"{name}.direct: {small[name, operation, place]} transfers "
                                 f"{operation} of byte {place}, not 1")
        for file, operation, least in (("cached", "W", 3 << 20), ("cached", "R", 3 << 20),
                                       ("direct", "R", 2 << 20), ("late", "W", 1 << 20)):
            if bytes_of[name, file, operation] < least:
                wrong.append(f"{name}.{file}: {bytes_of[name, file, operation]} bytes of "
                             f"{operation}, not {least}")
    return wrong


def compare_bare(transfers, done):
    wrong = []
    wanted = collections.Counter()
    for worker in done.values():
        for place in worker["bare"]:
            wanted.update({("R", place, 4096, worker["pid"]): 1,
                           ("W", place, 4096, worker["pid"]): 1})
    ours = collections.Counter((*transfer.key(), transfer.thread) for transfer in transfers)
    for key in wanted - ours:
        wrong.append(f"of the disk without requests, {key} is missing")
    return wrong


def compare_reads(sums, done):
    """What a process read of all disks, by its own account; its end may read of its program."""
    return [f"{name} read {sums[worker['pid']]} bytes by events, {worker['read_bytes']} by "
            "/proc/PID/io" for name, worker in done.items()
            if not 0 <= sums[worker["pid"]] - worker["read_bytes"] <= READ_BY_END]


def check_parts(trace, splits):
    wrong, count = [], 0
    for whole, parts in trace.parts:
        parts = sorted(parts, key=lambda part: part.begin_time())
        count += len(parts)
        for before, after in zip(parts, parts[1:]):
            # An address is another bio's when all parts of the one before have ended.
            if before.place + before.count != after.place and before.time > after.begin_time():
                wrong.append(f"parts of {whole}: {before}, {after}")
    if count < splits + bool(splits):
        wrong.append(f"{count} parts of cut bios, which were cut {splits} times")
    return wrong


def all_reads(etw, path, environment):
    sums = collections.Counter()
    dump = subprocess.run([etw, "dump", "--json", "--event", "DiskIo/Read", str(path)], text=True,
                          env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          timeout=SECONDS, check=True)
    for line in dump.stdout.splitlines():
        fields = json.loads(line)["fields"]
        sums[fields["IssuingThreadId"]] += fields["TransferSize"]
    return sums


def record(etw, folder, environment, work, options=()):
    """(what the work printed, events lost)"""
    words = [etw, "record", "--force", "--quiet", "-o", f"{folder}/disk.etl", "--kernel",
             "process+thread+disk_io+disk_io_init+split_io", *options, "--", *work]
    made = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=SECONDS,
                          check=False)
    text = made.stdout + made.stderr
    if made.returncode or "not collected" in text:
        skip(f"the kernel cannot be recorded: {text.strip()[-300:]}")
    lost = re.search(r"lost: (\d+) events", text)
    return json.loads(made.stdout.splitlines()[0]), int(lost[1]) if lost else 0


def check_stack(event, stack, frames, counts):
    """Of who asked; an end has that of its beginning."""
    name, irp = event["opcode_name"], event["fields"]["Irp"]
    taken = [value for key, value in stack.items() if key.startswith("Stack")]
    counts["stack of Init" if name.endswith("Init") else "stack"] += 1
    if stack["StackThread"] != event["fields"]["IssuingThreadId"]:
        return [f"alone: the stack of a {name} of {event['fields']['IssuingThreadId']} is "
                f"{stack['StackThread']}'s"]
    if name.endswith("Init"):
        frames[irp] = taken
    elif frames.pop(irp, None) != taken:
        return [f"alone: {name} has another stack than its beginning"]
    return []


def check_alone(etw, folder, environment, point):
    """One worker's transfers alone, each beginning with its stack, which its end has, too."""
    done, lost = record(etw, folder, environment, [
        sys.executable, str(pathlib.Path(__file__).with_name("use_disk.py")), "--worker", "c",
        point], ("--only-command", "--stacks", ",".join(f"Disk{name}{when}" for name in (
            "Read", "Write", "Flush") for when in ("", "Init"))))
    dump = subprocess.run([etw, "dump", "--json", f"{folder}/disk.etl"], env=environment, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=SECONDS,
                          check=True)
    wrong, last, counts, frames = [], None, collections.Counter(), {}
    for line in dump.stdout.splitlines():
        if '"DiskIo"' not in line and '"StackWalk"' not in line:
            continue
        event = json.loads(line)
        if event["task_name"] == "StackWalk":
            if last and int(last["raw_time"]) == event["fields"]["EventTimeStamp"]:
                wrong += check_stack(last, event["fields"], frames, counts)
            last = None
            continue
        counts[event["opcode_name"]] += 1
        last = event
        if event["fields"]["IssuingThreadId"] != done["pid"]:
            wrong.append(f"alone: {event['opcode_name']} by {event['fields']['IssuingThreadId']}")
    begun = sum(counts[word] for word in ("ReadInit", "WriteInit", "FlushInit"))
    ended = sum(counts[word] for word in ("Read", "Write", "FlushBuffers"))
    if (counts["stack of Init"], counts["stack"]) != (begun, ended):
        wrong.append(f"alone: {counts['stack of Init']} stacks of {begun} beginnings, "
                     f"{counts['stack']} of {ended} ends")
    for word, least in (("Read", 33), ("Write", 33)):
        if counts[word] < least:
            wrong.append(f"alone: {counts[word]} of {word}, not {least}")
    return wrong, lost


def compare(etw, folder):
    """(problems, lost, summary)"""
    with contextlib.ExitStack() as stack:
        device, point = stack.enter_context(loop_disk(folder))
        bare = stack.enter_context(bare_disk())
        disks = [device] + ([bare] if bare else [])
        numbers = [number_of(disk) for disk in disks]
        environment = dict(os.environ, ETW_RUNTIME_DIR=f"{folder}/run")
        os.mkdir(environment["ETW_RUNTIME_DIR"], 0o700)
        for _ in range(2):
            spin = subprocess.Popen([sys.executable, "-c", SPIN.format(parent=os.getpid())])
            stack.callback(spin.wait)
            stack.callback(spin.kill)
        instance = stack.enter_context(ftrace(numbers))
        before = [stat_of(disk) for disk in disks]
        done, lost = record(etw, folder, environment, [
            sys.executable, str(pathlib.Path(__file__).with_name("use_disk.py")), point]
            + disks[1:])
        after = [stat_of(disk) for disk in disks]
        seen = Seen((instance / "trace").read_text())
        lost += sum(int(line.split()[1]) for cpu in (instance / "per_cpu").iterdir()
                    for line in (cpu / "stats").read_text().splitlines()
                    if line.startswith("overrun:"))
        trace = Trace(etw, f"{folder}/disk.etl", environment, numbers)
        sums = all_reads(etw, f"{folder}/disk.etl", environment)
        wrong, lost_alone = check_alone(etw, folder, environment, point)
    lost += lost_alone
    wrong += trace.wrong
    transfers = trace.transfers[numbers[0]]
    wrong += compare_sets("ends", collections.Counter(item.key() for item in transfers),
                          seen.ends[numbers[0]])
    wrong += compare_sums(device, transfers, before[0], after[0])
    wrong += compare_owners(trace, transfers, done)
    wrong += compare_reads(sums, done)
    wrong += check_parts(trace, seen.splits[numbers[0]])
    if bare:
        others = trace.transfers[numbers[1]]
        wrong += compare_sets("bios", collections.Counter(
            item.key() for item in others if item.operation != "F"), seen.bios[numbers[1]])
        wrong += compare_bare(others, done)
    summary = (f"{len(transfers)} transfers of {os.path.basename(device)}, "
               f"{len(trace.transfers[numbers[1]]) if bare else 'none'} of a disk without requests"
               f", {sum(len(parts) for _, parts in trace.parts)} parts, {len(wrong)} problems")
    return wrong, lost, summary


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--etw", required=True)
    parser.add_argument("--modules")
    arguments = parser.parse_args()
    if os.geteuid():
        skip("it needs root")
    for program in ("losetup", "mkfs.ext4", "mount"):
        if not shutil.which(program):
            skip(f"there is no {program}")

    if arguments.modules and not os.path.exists("/dev/loop-control"):
        load_modules(arguments.modules)
    # In memory: what the loop device's own worker does there is no transfer.
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None

    def once():
        with tempfile.TemporaryDirectory(dir=memory) as folder:
            return compare(arguments.etw, folder)

    sys.exit(until_whole(once))


if __name__ == "__main__":
    main()
