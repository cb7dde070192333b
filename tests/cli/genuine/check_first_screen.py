#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The first screen of `etw FILE` answers a new user's questions: check_first_screen.py ETW.

Of one genuine trace of each folder, on a terminal of 80 by 24 and on a wide one, through nothing
but what is seen before a key is pressed: which machine, what happened, which processes ran with
which command lines, what was lost, what did not decode and why. The answers are held against the
independent readers' facts of the trace and against `etw dump --json`, not against the page itself.
Exit status: 0 all answered, 1 not, 77 without the traces.
"""

import collections
import fcntl
import json
import os
import pathlib
import pty
import re
import struct
import subprocess
import sys
import termios
import time

SKIPPED = 77
HERE = pathlib.Path(__file__).resolve()
# Per folder: a trace, how its first screen calls the machine, and a process that it must show.
TRACES = {
    "classic-32bit/process_data_64_v2.etl": ("Windows 7", "notepad.exe"),
    "kernel-autologger/ShutdownPerfDiagLogger.etl": ("Windows 10 1903", "Explorer.EXE"),
    "merged-perfview/net.4.5.2.x86.etl": ("BRIANROB-W8, Windows 8 Pro", "Test.x86.exe"),
    "misc/powershell.etl": ("Windows 11", None),
    "tracelogging/WindowsUpdate.20251008.140245.443.8.etl": ("Windows 11 23H2", None),
    "vs-diaghub/diaghub.etl": ("Windows 10 Enterprise", None),
    "vs-diaghub/diaghub.kernel.1.etl": ("liha-test, Windows 10", "devenv.exe"),
    "win7-manifest/HTTP_Server.etl": ("Windows", None),
}
PROCESS_CLASS = "3d6fa8d0-fe05-11d0-9dda-00c04fd7ba7c"


def screen(etw, folder, path, columns, rows):
    """What a terminal of this size shows of `etw PATH`, before anybody presses a key."""
    pid, terminal = pty.fork()
    if not pid:
        environment = {name: text for name, text in os.environ.items()
                       if name not in ("COLUMNS", "LINES", "PAGER")}
        environment.update(ETW_PAGER="", TERM="dumb", LC_ALL="C.UTF-8",
                           ETW_PROVIDERS_DIR="/nonexistent")
        while struct.unpack("HHHH", fcntl.ioctl(1, termios.TIOCGWINSZ, b"\0" * 8))[0] != rows:
            time.sleep(0.01)    # until the parent has said how large the terminal is
        os.chdir(folder)
        os.execve(etw, ["etw", str(path)], environment)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    output = b""
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:     # the other end is closed
            break
        if not part:
            break
        output += part
    os.close(terminal)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    # The pager keeps the last line for itself.
    return status, output.decode("utf-8", "replace").replace("\r\n", "\n").split("\n")[:rows - 1]


def fact(lines, label):
    """The text behind a label, with the lines that go on with it."""
    found, taking = [], False
    for line in lines:
        if line[:10].strip():
            taking = line[:10].strip() == label
        elif not line.strip():
            taking = False
        if taking:
            found.append(line[10:])
    return " ".join(found)


def table(lines, title):
    """(the title's line, the rows' lines below the names of the columns)"""
    for number, line in enumerate(lines):
        if line.startswith(title):
            rows = []
            for row in lines[number + 2:]:
                if not row.strip() or row.startswith("  ... and"):
                    break
                rows.append(row)
            return line, rows
    return "", []


class Trace:
    """What others know of a trace."""

    def __init__(self, etw, path):
        self.kinds = collections.Counter()
        self.undecoded = collections.Counter()
        self.commands = collections.defaultdict(set)    # by pid: ids are used again
        self.events = self.complete = 0
        process = subprocess.Popen([etw, "dump", "--json", str(path)], stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, text=True)
        for line in process.stdout:
            self.take(json.loads(line))
        process.wait()

    def take(self, event):
        self.events += 1
        is_complete = event["status"] == "complete"
        self.complete += is_complete
        names = (event.get("event_name"), event.get("task_name"), event.get("opcode_name"))
        self.kinds[(event["guid"], *(names if any(names) else
                                     (event.get("id"), event["opcode"])))] += 1
        if not is_complete:
            self.undecoded[event.get("provider") or event["guid"]] += 1
        fields = event.get("fields") or {}
        if event["guid"] == PROCESS_CLASS and fields.get("CommandLine"):
            self.commands[fields.get("ProcessId")].add(fields["CommandLine"])


def program_of(command):
    """The name of the program that a command line begins with."""
    words = re.match(r'"([^"]*)"|(\S*)', command)
    return re.split(r"[\\/]", words.group(1) or words.group(2) or "")[-1].lower()


def check(lines, columns, facts, known, expected, complain):
    machine, program = expected
    for line in lines:
        if len(line) > columns:
            complain(f"a line is wider than the terminal: {line}")
    # Which machine, and when.
    if not fact(lines, "Machine").startswith(machine):
        complain(f"Machine: {fact(lines, 'Machine')!r}, expected {machine}")
    if not re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7}Z for ", fact(lines, "Recorded")):
        complain(f"Recorded: {fact(lines, 'Recorded')!r}")
    # What happened.
    title, rows = table(lines, "What happened")
    if not title or not rows:
        complain("nothing happened")
    counts = [int(row.split()[0].replace(",", "")) for row in rows]
    most = [count for _, count in known.kinds.most_common(len(counts))]
    if counts != most:
        complain(f"the commonest events: {counts}, expected {most}")
    # Who ran.
    title, rows = table(lines, "Processes (")
    if not rows:
        complain("no processes")
    if known.commands and "started" not in title:
        complain(f"no count of those that started: {title}")
    if program and not any(program.lower() in row.lower() for row in rows):
        complain(f"{program} is not among the processes")
    if not known.commands and not program and "command line" not in title and \
            "does not tell" not in title and "started" not in title:
        complain(f"it does not say that the trace has no names: {title}")
    check_commands(lines, rows, known, complain)
    # What was lost.
    lost = re.match(r"([\d,]+) events?, ([\d,]+) buffers?", fact(lines, "Lost"))
    if not lost:
        complain(f"Lost: {fact(lines, 'Lost')!r}")
    elif int(lost.group(1).replace(",", "")) != facts["EventsLost"]:
        complain(f"Lost: {lost.group(1)} events, expected {facts['lost']}")
    # What did not decode, and why.
    share = re.search(r"\(([\d,]+) of ([\d,]+)\)", fact(lines, "Decoded"))
    if not share or [int(part.replace(",", "")) for part in share.groups()] != \
            [known.complete, known.events]:
        complain(f"Decoded: {fact(lines, 'Decoded')!r}, expected {known.complete}")
    reasons = fact(lines, "Undecoded")
    if known.undecoded:
        provider = known.undecoded.most_common(1)[0][0].strip("{}")
        if provider not in reasons.replace(" ", "") and provider not in reasons and \
                not re.search("carr(y|ies) ", fact(lines, "Decoded")):
            complain(f"Undecoded: {reasons!r}, without {provider}")
        if reasons and not re.search(r": \w+ ", reasons):
            complain(f"Undecoded: {reasons!r} gives no reason")


def check_commands(lines, rows, known, complain):
    """Each process that is shown and whose command line the trace has is shown with it."""
    head = next((line for line in lines if re.search(r"\bpid\b", line)), "")
    if known.commands and rows and "command line" not in head:
        complain("the trace has command lines, and the table has none")
        return
    for row in rows:
        pid = re.match(r"\s+(?:[\d.,]+ (?:d|h|min|s|ms|us|ns)\s+(?:\d+ \w+\s+)?|0 s\s+)?"
                       r"[\d,]+\s+(\d+)", row)
        commands = pid and known.commands.get(int(pid.group(1)))
        if not commands:
            continue
        shown = row[head.index("command line"):].strip().lower()
        core = re.sub(r'^"?(?:\.\.\.[\\/])?', "", shown).removesuffix("...").strip('" ')
        if not any(core in command.lower() or program_of(command).startswith(core) or
                   core.startswith(program_of(command)) for command in commands):
            complain(f"process {pid.group(1)}: {shown!r}, expected one of {commands!r}")


def main():
    etw = os.path.abspath(sys.argv[1])
    data = pathlib.Path(os.environ.get("ETW_TEST_DATA",
                                       HERE.parents[3].parent / "shared" / "data"))
    if not data.is_dir():
        print(f"SKIP: no genuine traces in {data} (ETW_TEST_DATA)")
        return SKIPPED
    facts = {entry["file"]: entry["hdr"]
             for entry in json.loads((data / "facts.json").read_text(encoding="utf-8"))}
    problems = []
    for name, expected in TRACES.items():
        known = Trace(etw, data / name)
        for columns, rows in ((80, 24), (200, 60)):
            status, lines = screen(etw, data, name, columns, rows)

            def complain(text, where=f"{name} at {columns}x{rows}"):
                problems.append(f"{where}: {text}")

            if status:
                complain(f"exit status {status}")
            before = len(problems)
            check(lines, columns, facts[name], known, expected, complain)
            if len(problems) > before:
                problems.append("\n".join(lines))
    print("\n".join(problems))
    print(f"{len(TRACES)} first screens of two sizes: {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
