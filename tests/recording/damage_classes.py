#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Damage recordings of every class of the kernel's events, and have them decoded.

    damage_classes.py ETW [SEED]

`etw record` records all classes with stacks; some buffers of the file are kept. Of each damaged
copy `etw dump --json` and `etw stacks --json` end by themselves, with the status of a file that was
read or of one that is damaged; each line is JSON; and the events of all buffers that were not
damaged are there, with the same time and the same fields. The seed is printed.

Exit status: 0 all hold, 1 a problem, 77 with the reason when the kernel cannot be recorded.
"""

import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

SKIPPED = 77
SECONDS = 600
KINDS = ("process,thread,loader,cswitch,dispatcher,profile,syscall,interrupt,dpc,priority,"
         "perf_counter")
STACKS = "Profile,CSwitch,ReadyThread,SyscallEnter,SyscallExit"
BUFFER_BYTES = 16 * 1024
KEPT_BUFFERS = 48
COPIES = 60
HEADER_BYTES = 0x48         # of a buffer
STATUS_READ = {0, 3}        # 3: the file is damaged


def record(etw, folder):
    """The bytes of a recording, cut to some of its buffers; None with a reason printed."""
    path = folder / "whole.etl"
    environment = dict(os.environ, ETW_RUNTIME_DIR=str(folder / "run"), ETWD_IDLE_MS="200")
    command = [etw, "record", "--quiet", "--kernel", KINDS, "--stacks", STACKS, "--buffer-size",
               str(BUFFER_BYTES // 1024), "-o", str(path), "--", "sh", "-c",
               "for i in 1 2 3 4 5; do ls -l / > /dev/null; done"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False,
                          timeout=SECONDS)
    if not path.exists() or done.returncode:
        print(f"skipped: {done.stderr.strip()}")
        return None
    return path.read_bytes()


def cut(whole, chance):
    """The header's buffer and some others, in their order, the last ones among them."""
    count = len(whole) // BUFFER_BYTES
    chosen = set(chance.sample(range(1, count), min(KEPT_BUFFERS, count - 1)))
    chosen |= {0, *range(max(1, count - 8), count)}
    return b"".join(whole[at * BUFFER_BYTES:(at + 1) * BUFFER_BYTES] for at in sorted(chosen))


def damage(data, chance):
    """(a damaged copy, the buffers that are not what they were, what was done)."""
    damaged = bytearray(data)
    buffers = len(data) // BUFFER_BYTES
    target = chance.randrange(1, buffers)
    start = target * BUFFER_BYTES
    # Events more often than headers of buffers.
    first = start + (HEADER_BYTES if chance.random() < 0.9 else 0)
    kind = chance.choice(("bits", "word", "run", "size", "cut"))
    if kind == "cut":
        end = chance.randrange(first, start + BUFFER_BYTES)
        return bytes(damaged[:end]), set(range(target, buffers)), f"cut at {end}"
    at = chance.randrange(first, start + BUFFER_BYTES - 64)
    if kind == "bits":
        for _ in range(chance.randrange(1, 16)):
            damaged[chance.randrange(first, start + BUFFER_BYTES)] ^= 1 << chance.randrange(8)
    elif kind == "word":
        damaged[at:at + 4] = chance.choice((b"\0" * 4, b"\xff" * 4, b"\0\0\0\x80"))
    elif kind == "run":
        damaged[at:at + 64] = chance.randbytes(64)
    else:
        # The size of the first event, where its header is one of the kernel's.
        place = start + HEADER_BYTES + 4
        damaged[place:place + 2] = chance.randrange(0, 65536).to_bytes(2, "little")
    return bytes(damaged), {target}, f"{kind} in buffer {target}"


def run(command):
    """(status, output); a status below 0 is a signal, None a time out."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace",
                              check=False, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return None, ""
    if done.returncode not in STATUS_READ:
        print(done.stderr[-2000:])
    return done.returncode, done.stdout


def read_events(etw, path):
    """({(buffer, place): (time, fields)}, problem)."""
    status, output = run([etw, "dump", "--json", str(path)])
    if status not in STATUS_READ:
        return {}, f"etw dump: status {status}"
    found = {}
    for line in output.splitlines():
        try:
            event = json.loads(line)
        except ValueError as error:
            return {}, f"no JSON ({error}): {line[:200]}"
        if not event.get("synthesised"):
            buffer, place = map(int, event["address"].split(":"))
            found[buffer, place] = event["raw_time"], event.get("fields")
    return found, None


def check_copy(etw, path, wanted, changed):
    """Problems of one damaged copy."""
    found, problem = read_events(etw, path)
    if problem:
        yield problem
        return
    for place, event in wanted.items():
        if place[0] not in changed and found.get(place) != event:
            yield f"the event at {place} is {found.get(place)}, was {event}"
            break
    status, output = run([etw, "stacks", "--json", str(path)])
    if status not in STATUS_READ | {1}:     # 1: there are no stacks
        yield f"etw stacks: status {status}"
    elif status != 1:
        json.loads(output)


def main():
    """See the module's text."""
    etw, *rest = sys.argv[1:]
    if os.geteuid() != 0:
        print("skipped: the kernel's events need root")
        return SKIPPED
    seed = int(rest[0]) if rest else random.randrange(1 << 32)
    print(f"seed {seed}")
    chance = random.Random(seed)
    bad = 0
    with tempfile.TemporaryDirectory(prefix="etw-damage-") as name:
        folder = pathlib.Path(name)
        whole = record(etw, folder)
        if whole is None:
            return SKIPPED
        data = cut(whole, chance)
        path = folder / "copy.etl"
        path.write_bytes(data)
        wanted, problem = read_events(etw, path)
        if problem or not wanted:
            print(f"undamaged: {problem}, {len(wanted)} events")
            return 1
        for number in range(COPIES):
            damaged, changed, what = damage(data, chance)
            path.write_bytes(damaged)
            for problem in check_copy(etw, path, wanted, changed):
                print(f"copy {number}, {what}: {problem}")
                bad += 1
    print(f"{COPIES} damaged copies of {len(wanted)} events, {bad} problems")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
