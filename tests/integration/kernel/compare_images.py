#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Hold the kernel source's images against what processes say of themselves.

    compare_images --watch PROGRAM --images PROGRAM [--rounds N]

map_images loads and unloads libraries, forks and execs, and prints its mappings as it goes. At the
time of each snapshot the images of that process (loads and DCStarts less unloads) must be exactly
the ELF objects in the snapshot that have code: the same paths, and the same first addresses; each
image ends behind the object's last piece. Every load of a file with a build id is followed by the
identity that `readelf -n` shows. The kernel itself is an image of process 0 at both rundowns,
where /proc/kallsyms has its code, with the identity of /sys/kernel/notes. Exit status: 0; 1 with
the differences; 77 with the reason why it cannot run.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

SKIPPED = 77
FLAGS = "7"
LIBRARIES = ("libz.so.1", "libexpat.so.1", "libelf.so.1", "libcmocka.so.0")
LOAD, UNLOAD, DC_START, DC_END, IDENTITY = "03.10", "14.2", "14.3", "14.4", "id.36"
MAP = re.compile(r"^([0-9a-f]+)-([0-9a-f]+) (\S+) ([0-9a-f]+) \S+ \d+ +(/.*|\[vdso\])$")


def read_snapshots(text):
    """[(pid, time, {(path, base): end})] of the objects with code."""
    snapshots = []
    for block in text.split("snapshot ")[1:]:
        lines = block.splitlines()
        pid, time_ns = (int(word) for word in lines[0].split())
        objects = []
        for line in lines[1:]:
            match = MAP.match(line)
            if not match:
                continue
            start, end, access, offset, path = match.groups()
            start, end, offset = int(start, 16), int(end, 16), int(offset, 16)
            last = objects[-1] if objects else None
            if not last or last["path"] != path or offset == 0 and last["code"]:
                last = {"path": path, "base": start, "code": False}
                objects.append(last)
            last["end"] = end
            last["code"] |= "x" in access
        snapshots.append((pid, time_ns, {(part["path"], part["base"]): part["end"]
                                         for part in objects if part["code"]}))
    return snapshots


def read_events(lines):
    """Image events in the order of time: (time, kind, pid, base, size, path)."""
    events = []
    for line in lines:
        words = line.rstrip("\n").split("\t")
        if len(words) >= 9 and words[2] in (LOAD, UNLOAD, DC_START):
            events.append((int(words[0]), words[2], int(words[5]), int(words[6], 16),
                           int(words[7], 16), words[8]))
    return sorted(events, key=lambda event: event[0])


def read_identities(lines, pids):
    """path -> identities of its loads by these processes; elsewhere it may be another file."""
    identities = {}
    for line in lines:
        words = line.rstrip("\n").split("\t")
        if len(words) >= 8 and words[2] == IDENTITY and int(words[4]) in pids:
            identities.setdefault(words[7], set()).add(words[6])
    return identities


def replay(events, snapshots):
    """Differences between what the events say and the snapshots."""
    problems = []
    held = 0
    for pid, time_ns, expected in snapshots:
        images = {}
        for when, kind, owner, base, size, path in events:
            if when > time_ns:
                break
            if owner != pid:
                continue
            if kind == UNLOAD:
                if images.pop((path, base), None) is None:
                    problems.append(f"{path} of {pid} unloads and was not loaded")
            elif (path, base) in images:
                problems.append(f"{path} of {pid} loads twice")
            else:
                images[path, base] = base + size
        for key in sorted(set(images) ^ set(expected)):
            where = "only the source" if key in images else "only the process"
            problems.append(f"{where} has {key[0]} at {key[1]:x} in {pid} at {time_ns}")
        for key in set(images) & set(expected):
            held += 1
            if images[key] < expected[key]:
                problems.append(f"{key[0]} ends at {images[key]:x}, "
                                f"its pieces at {expected[key]:x}")
    return problems, held


def check_identities(identities):
    problems = []
    held = 0
    if len(identities.get("[vdso]", {1})) != 1:
        problems.append(f"the vDSO is of several builds: {sorted(identities['[vdso]'])}")
    for path, ids in identities.items():
        if not any(name in path for name in LIBRARIES):
            continue
        output = subprocess.run(["readelf", "-n", path], capture_output=True, text=True).stdout
        match = re.search(r"Build ID: ([0-9a-f]{32})", output)
        if match:
            held += 1
            if ids != {match[1]}:
                problems.append(f"{path} is {match[1]}, and the source says {sorted(ids)}")
    return problems, held


def read_kernel():
    """(start, end) of the kernel's code; None where the kernel does not show it."""
    marks = {}
    with open("/proc/kallsyms") as symbols:
        for line in symbols:
            words = line.split()
            if words[2] in ("_stext", "_etext") and len(words) == 3:
                marks[words[2]] = int(words[0], 16)
    return (marks["_stext"], marks["_etext"]) if marks.get("_stext") else None


def check_kernel(lines):
    kernel = read_kernel()
    if not kernel:
        print("the kernel hides its addresses: its own images are not held")
        return []
    problems = []
    events = [line.rstrip("\n").split("\t") for line in lines]
    for kind in (DC_START, DC_END):
        found = [(int(words[6], 16), int(words[6], 16) + int(words[7], 16)) for words in events
                 if len(words) >= 9 and words[2] == kind and words[5] == "0"]
        if kernel not in found:
            problems.append(f"{kind} of the kernel is not at {kernel[0]:x}-{kernel[1]:x}")
        for (_, end), (start, _) in zip(found, found[1:]):
            if start < end:
                problems.append(f"{kind} of the kernel's images overlap at {start:x}")
    identities = [words[6] for words in events if len(words) >= 8 and words[2] == IDENTITY
                  and int(words[5], 16) == kernel[0]]
    notes = pathlib.Path("/sys/kernel/notes").read_bytes()
    at = notes.find(b"\x03\0\0\0GNU\0")
    expected = notes[at + 8:at + 24].hex() if at >= 0 else None
    if expected and set(identities) != {expected}:
        problems.append(f"the kernel is {expected}, and the source says {identities}")
    return problems


def wait_ready(watch, watch_out):
    deadline = time.monotonic() + 600
    while os.fstat(watch_out.fileno()).st_size == 0:
        if watch.poll() is not None:
            reason = watch.stderr.read().strip()
            print(f"skipped: {reason}")
            sys.exit(SKIPPED if watch.returncode == SKIPPED else 1)
        if time.monotonic() > deadline:
            raise SystemExit("watch_kernel did not start")
        time.sleep(0.01)


def can_load(program, library):
    return subprocess.run([program, "1", library], capture_output=True).returncode == 0


def run(arguments):
    libraries = [name for name in LIBRARIES if can_load(arguments.images, name)]
    watch_out = tempfile.TemporaryFile("w+")
    with subprocess.Popen([arguments.watch, FLAGS], stdin=subprocess.PIPE, stdout=watch_out,
                          stderr=subprocess.PIPE, text=True) as watch:
        wait_ready(watch, watch_out)
        text = subprocess.run([arguments.images, str(arguments.rounds), *libraries], check=True,
                              timeout=1500, capture_output=True, text=True).stdout
        watch.stdin.close()
        if watch.wait(timeout=1500):
            print(watch.stderr.read())
            return 1
    watch_out.seek(0)
    lines = watch_out.readlines()
    snapshots = read_snapshots(text)
    problems, held = replay(read_events(lines), snapshots)
    more, identities = check_identities(
        read_identities(lines, {pid for pid, _, _ in snapshots}))
    problems += more + check_kernel(lines)
    for problem in problems[:20]:
        print(problem)
    summary = lines[-1].split("\t")
    print(f"{len(snapshots)} snapshots with {held} images of {len(libraries)} libraries and "
          f"others, {identities} identities; {len(problems)} differences, lost {summary[3]} + "
          f"{summary[4]}")
    return int(bool(problems) or held == 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--watch", required=True)
    parser.add_argument("--images", required=True)
    parser.add_argument("--rounds", type=int, default=20)
    if os.geteuid() != 0:
        print("skipped: needs root")
        sys.exit(SKIPPED)
    if not pathlib.Path("/proc/self/maps").exists():
        print("skipped: needs procfs")
        sys.exit(SKIPPED)
    sys.exit(run(parser.parse_args()))


if __name__ == "__main__":
    main()
