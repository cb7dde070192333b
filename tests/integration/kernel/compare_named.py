#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Hold events of the kernel's manifest providers against the classic ones of the same work.

    compare_named --etw PROGRAM

One session records the NT Kernel Logger's classes; an ordinary session within it records
Microsoft-Windows-Kernel-Process, -File, -Network and -Disk; on a machine that is busy. Of what a
worker does (processes, threads, images, files, a connection, transfers of a disk) both say the
same, as sets. Each event decodes by the table of known providers alone; a keyword brings its
events and no others. What Microsoft-Windows-Kernel-Memory says of a process that holds much memory
is what the classic events and /proc say.
Exit status: 0; 1 with the differences; 77 with the reason why it cannot run.
"""

import argparse
import collections
import contextlib
import json
import mmap
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import threading

from kernel_checks import SKIPPED, until_whole

SECONDS = 300
SPIN = "import os\nparent = {parent}\nwhile os.getppid() == parent:\n    sum(range(10000))\n"
CLASSES = ("process+thread+loader+process_counters+disk_io+disk_file_io+file_io+file_io_init"
           "+network")
BUFFERS = ("--buffer-size", "256", "--buffers", "32")
PREFIX = "Microsoft-Windows-Kernel-"
PROVIDERS = ("Process", "File", "Network", "Disk")
TRANSFERS = 8
CHILDREN = 5
PORTS = ("size", "daddr", "saddr", "dport", "sport")
OPERATIONS = {"Create": "Create", "Cleanup": "Cleanup", "Close": "Close", "Read": "Read",
              "Write": "Write", "Flush": "Flush", "SetInfo": "SetInformation",
              "QueryInfo": "QueryInformation", "DirEnum": "DirEnum", "DeletePath": "DeletePath",
              "RenamePath": "RenamePath"}
THREAD = re.compile(r'"(?:FileIo|Microsoft-Windows-Kernel-File)".*"(?:TTID|IssuingThreadId)":(\d+)')
HOLD = """import os, time
held = bytearray(40 << 20)
for at in range(0, len(held), 4096):
    held[at] = 1
pages = open("/proc/self/statm").read().split()[1]
time.sleep(2)
print(os.getpid(), pages, flush=True)
"""
NEARLY = 200  # pages that the process may have got meanwhile
DETAILS = ("ByteOffset", "IOSize", "InfoClass")


def work(folder):
    """What the worker does; prints its process id."""
    for _ in range(CHILDREN):
        subprocess.run(["/bin/true"], check=True)
    thread = threading.Thread(target=sum, args=(range(1000),))
    thread.start()
    thread.join()
    with socket.create_server(("127.0.0.1", 0)) as server, \
            socket.create_connection(server.getsockname()) as client:
        accepted, _ = server.accept()
        with accepted:
            client.sendall(b"x" * 3000)
            accepted.recv(4000)
    path = f"{folder}/worked"
    file = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_DIRECT", 0), 0o600)
    pages = mmap.mmap(-1, 65536)
    with contextlib.suppress(OSError):  # a file system without O_DIRECT
        for _ in range(TRANSFERS):
            os.writev(file, [pages])
    os.fsync(file)
    os.close(file)
    os.rename(path, f"{path}.2")
    os.unlink(f"{path}.2")
    print(os.getpid(), flush=True)


def run(words, environment, **options):
    return subprocess.run(words, env=environment, capture_output=True, text=True, timeout=SECONDS,
                          check=False, **options)


def read(etw, path, environment, tids=None):
    """Events; of files, only what these threads do."""
    with subprocess.Popen([etw, "dump", "--json", str(path)], env=environment, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as dump:
        for line in dump.stdout:
            thread = THREAD.search(line)
            if tids is None or not thread or int(thread[1]) in tids:
                yield json.loads(line)


def lost_in(text):
    return sum(int(count) for count in re.findall(r"lost: (\d+) events", text))


class Facts:
    """What a trace says of the worker, as a set with counts for each class."""

    def __init__(self):
        self.sets = collections.defaultdict(collections.Counter)
        self.pids, self.tids = set(), set()

    def add(self, what, *key):
        self.sets[what][tuple(int(value, 16) if str(value).startswith("0x") else value
                              for value in key)] += 1

    def follow(self, pid, parent):
        if parent in self.pids:
            self.pids.add(pid)

    def take_program(self, what, fields, names):
        pid, parent, session, name = (fields[name] for name in names[:4])
        if what == "start":
            self.follow(pid, parent)
        if pid in self.pids:
            self.add(f"process {what}", pid, parent, session, name)


class Classic(Facts):
    """The NT Kernel Logger's."""

    def take(self, event):
        fields, name, opcode = event["fields"], event["provider"], event.get("opcode_name")
        if name == "Process" and opcode in ("Start", "End"):
            self.take_program("start" if opcode == "Start" else "stop", fields,
                              ("ProcessId", "ParentId", "SessionId", "ImageFileName"))
        elif name == "Thread" and opcode in ("Start", "End") and fields["ProcessId"] in self.pids:
            self.tids.add(fields["TThreadId"])
            self.add(f"thread {opcode}", fields["TThreadId"], fields["UserStackBase"],
                     fields["Win32StartAddr"])
        elif name == "Image" and event["opcode"] in (2, 10) and fields["ProcessId"] in self.pids:
            # No sizes: of what was mapped before, the sessions know different pieces.
            self.add(f"image {'Load' if event['opcode'] == 10 else 'Unload'}", fields["ProcessId"],
                     fields["ImageBase"], fields["FileName"])
        elif name == "DiskIo" and fields.get("IssuingThreadId") in self.tids:
            self.add("disk", event["opcode"], fields["DiskNumber"], fields.get("TransferSize"),
                     fields.get("ByteOffset"))
        elif name in ("TcpIp", "UdpIp") and fields.get("PID") in self.pids:
            self.add("network", event["opcode"] + (32 if name == "UdpIp" else 0),
                     *(fields[port] for port in PORTS))
        elif name == "FileIo" and fields.get("TTID") in self.tids:
            self.take_file(OPERATIONS.get(opcode), fields)

    def take_file(self, operation, fields):
        if operation:
            same = {"ByteOffset": "Offset", "IOSize": "IoSize"}
            self.add(f"file {operation}", fields["TTID"], *(
                fields.get(same.get(name, name)) for name in DETAILS))


class Named(Facts):
    """The manifest providers'."""

    def __init__(self):
        super().__init__()
        self.wrong, self.counts = [], collections.Counter()
        self.names = set()

    def take(self, event):
        if not event["provider"].startswith(PREFIX):
            return
        provider, fields = event["provider"][len(PREFIX):], event["fields"]
        if event["schema"] != "known" or event["status"] != "complete":
            self.wrong.append(f"{provider} {event['id']}: {event['schema']}, {event['status']}")
        self.counts[provider, event["id"]] += 1
        getattr(self, f"take_{provider.lower()}")(event["id"], event, fields)

    def take_process(self, number, _, fields):
        if number in (1, 2):
            self.take_life(number, fields)
        elif number in (3, 4) and fields["ProcessID"] in self.pids:
            self.tids.add(fields["ThreadID"])
            self.add(f"thread {'Start' if number == 3 else 'End'}", fields["ThreadID"],
                     fields["UserStackBase"], fields["Win32StartAddr"])
        elif number in (5, 6) and fields["ProcessID"] in self.pids:
            self.add(f"image {'Load' if number == 5 else 'Unload'}", fields["ProcessID"],
                     fields["ImageBase"], fields["ImageName"])

    def take_life(self, number, fields):
        if number == 1:
            self.take_program("start", fields, ("ProcessID", "ParentProcessID", "SessionID",
                                                "ImageName"))
        elif fields["ProcessID"] in self.pids:
            self.add("process stop", fields["ProcessID"], fields["ImageName"])
            if not fields["CreateTime"] < fields["ExitTime"]:
                self.wrong.append(f"process {fields['ProcessID']} ended before it began")

    def take_disk(self, number, event, fields):
        if event.get("header_tid", event.get("tid")) in self.tids:
            self.add("disk", number, fields["DiskNumber"], fields.get("TransferSize"),
                     fields.get("ByteOffset"))

    def take_network(self, number, _, fields):
        if fields.get("PID") in self.pids:
            self.add("network", number, *(fields[port] for port in PORTS))

    def take_file(self, number, event, fields):
        if number == 10:
            self.names.add(fields["FileName"])
        if fields.get("IssuingThreadId") in self.tids:
            operation = event["task_name"]
            self.add(f"file {operation}", fields["IssuingThreadId"],
                     *(fields.get(name) for name in DETAILS))


def differences(classic, named):
    wrong = list(named.wrong)
    # The classic end has more: what both say is compared.
    ends = classic.sets.pop("process stop", collections.Counter())
    for (pid, _, _, name), count in ends.items():
        classic.sets["process stop"][pid, name] += count
    for what in sorted({*classic.sets, *named.sets}):
        if what.startswith("file ") and what[5:] not in OPERATIONS.values():
            continue
        for key, count in (classic.sets[what] - named.sets[what]).items():
            wrong.append(f"{what} {key}: {count} more among the classic ones")
        for key, count in (named.sets[what] - classic.sets[what]).items():
            wrong.append(f"{what} {key}: {count} more among the named ones")
    for what, least in (("process start", CHILDREN), ("process stop", CHILDREN),
                        ("thread Start", CHILDREN + 1), ("image Load", CHILDREN),
                        ("network", 4), ("file Write", TRANSFERS)):
        if sum(named.sets[what].values()) < least:
            wrong.append(f"{what}: {sum(named.sets[what].values())}, not {least} at least")
    return wrong


def check_wishes(etw, folder, environment):
    """A keyword alone."""
    path, wrong = f"{folder}/wishes.etl", []
    made = run([etw, "record", "--force", "--quiet", "-o", path, "--provider",
                f"{PREFIX}Process:info:0x20", "--", "/bin/true"], environment)
    ids = collections.Counter(event["id"] for event in read(etw, path, environment)
                              if event["provider"] == f"{PREFIX}Process")
    if made.returncode or not ids or set(ids) - {3, 4}:
        wrong.append(f"threads alone: {dict(ids)}, {made.stderr[-300:]}")
    return wrong


def held_pages(etw, path, environment, pid):
    """What each event of working sets says of the process; what is wrong with how they decode."""
    pages, wrong = [], []
    for event in read(etw, path, environment):
        is_named = event["provider"] == f"{PREFIX}Memory"
        if is_named and (event["schema"] != "known" or event["status"] != "complete"):
            wrong.append(f"Memory {event['id']}: {event['schema']}, {event['status']}")
        if is_named or event["provider"] == "PageFault":
            for entry in event["fields"].get("WSCommitInfo", event["fields"].get("WsEntry", ())):
                if entry.get("ProcessID", entry.get("ProcessId")) == pid:
                    pages.append(int(str(entry["WorkingSetPageCount"]), 0))
    return pages, wrong


def check_memory(etw, folder, environment):
    """Of memory both take samples, each at moments of its own: a process that keeps still."""
    classic, named = f"{folder}/sizes.etl", f"{folder}/named_sizes.etl"
    made = run([etw, "record", "--force", "--quiet", "-o", classic, "--kernel",
                "meminfo,meminfo_ws", "--", etw, "record", "--force", "--quiet", "-o", named,
                "--provider", f"{PREFIX}Memory", "--", sys.executable, "-c", HOLD], environment)
    if made.returncode:
        return [f"memory: {made.stderr[-300:]}"]
    pid, held = map(int, made.stdout.split()[:2])
    problems = []
    for path in (classic, named):
        pages, wrong = held_pages(etw, path, environment, pid)
        problems += wrong
        # The first may come while it grows, the last while it ends.
        if abs(max(pages, default=0) - held) > NEARLY:
            problems.append(f"{path}: process {pid} holds {held} pages, and has {pages}")
    return problems


def compare(etw, folder):
    """(problems, lost, summary)"""
    environment = dict(os.environ, ETW_RUNTIME_DIR=f"{folder}/run")
    os.makedirs(environment["ETW_RUNTIME_DIR"], 0o700, exist_ok=True)
    with contextlib.ExitStack() as stack:
        for _ in range(2):
            spin = subprocess.Popen([sys.executable, "-c", SPIN.format(parent=os.getpid())])
            stack.callback(spin.wait)
            stack.callback(spin.kill)
        providers = [word for name in PROVIDERS for word in ("--provider", PREFIX + name)]
        made = run([etw, "record", "--force", "--quiet", "-o", f"{folder}/classic.etl", "--kernel",
                    CLASSES, *BUFFERS, "--", etw, "record", "--force", "--quiet", "-o",
                    f"{folder}/named.etl", *BUFFERS, *providers, "--", sys.executable,
                    os.path.abspath(__file__), "--work", folder], environment)
        text = made.stdout + made.stderr
        if made.returncode or "not collected" in text:
            print(f"skipped: the kernel cannot be recorded: {text.strip()[-300:]}")
            sys.exit(SKIPPED)
        worker = int(made.stdout.splitlines()[0])
        both = Classic(), Named()
        for facts, name in zip(both, ("classic", "named")):
            facts.pids.add(worker)
            for event in read(etw, f"{folder}/{name}.etl", environment, facts.tids):
                facts.take(event)
        wrong = differences(*both) + check_wishes(etw, folder, environment)
        wrong += check_memory(etw, folder, environment)
        count = sum(sum(found.values()) for found in both[1].sets.values())
        return wrong, lost_in(text), f"{count} facts in both, {len(wrong)} wrong"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--etw")
    parser.add_argument("--work")
    options = parser.parse_args()
    if options.work:
        work(options.work)
        return 0
    if os.geteuid():
        print("skipped: only root records the kernel")
        return SKIPPED
    # Not in memory: transfers of a disk are wanted, where the folder is on one.
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        return until_whole(compare, str(pathlib.Path(options.etw).resolve()), folder)


if __name__ == "__main__":
    sys.exit(main())
