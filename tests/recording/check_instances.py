#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Several hosts at once: the machine's, a user's, and those of containers.

    check_instances.py ETW WRITE_EVENTS

Runs in a mount namespace of its own, so that the machine's /run and /tmp are its own, too. A
program that registers with the machine's host and with its user's is recorded by both; another
user's by the machine's alone. A container with its own /run has a host of its own and is seen by
nobody outside; one that shares /run is recorded outside, under the process numbers that hold there.
Exit status: 0 all is so, 1 not, 77 no namespace can be made here.
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

PROVIDER = "2b7f4f6e-8f0c-4a5e-9d11-6f1f5c0a7e31"
USER, OTHER = 1234, 1235
COUNT = 20
EVENTS = COUNT + 2  # write_events also writes an event for its start and its end
PATIENCE_S = 300
HERE = pathlib.Path("/tmp")


def skip(why):
    print(f"SKIP: {why}")
    sys.exit(77)


def fail(why):
    print(f"FAILED: {why}")
    sys.exit(1)


def environment(uid):
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("ETW", "XDG"))}
    kept["HOME"] = "/root" if uid == 0 else str(HERE)
    if uid == USER:
        kept["XDG_RUNTIME_DIR"] = f"/run/user/{USER}"
    return kept


def as_user(uid, *words):
    return ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", *map(str, words)]


def wait_for(is_so, what):
    end = time.monotonic() + PATIENCE_S
    while not is_so():
        if time.monotonic() > end:
            fail(f"{what} did not come")
        time.sleep(0.05)


class Recording:
    """`etw record` of the provider, as a user, into a file, until it is ended."""

    def __init__(self, etw, uid, name):
        self.etw, self.uid, self.path = etw, uid, HERE / name
        self.process = subprocess.Popen(
            as_user(uid, etw, "record", "--provider", PROVIDER, "-o", self.path),
            env=environment(uid), stdout=subprocess.DEVNULL)
        wait_for(self.runs, f"session of {name}")

    def runs(self):
        if self.process.poll() is not None:
            fail(f"etw record of uid {self.uid} ended")
        listing = subprocess.run(as_user(self.uid, self.etw, "sessions", "--json"),
                                 env=environment(self.uid), capture_output=True, check=False)
        return any(json.loads(line)["file"] == str(self.path)
                   for line in listing.stdout.splitlines())

    def end(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait(PATIENCE_S)
        dump = subprocess.run([self.etw, "dump", "--json", self.path], capture_output=True,
                              check=True, env=environment(0))
        events = [json.loads(line) for line in dump.stdout.splitlines()]
        return [event for event in events
                if event["guid"] == PROVIDER]


def write(write_events, uid):
    done = subprocess.Popen(as_user(uid, write_events, COUNT), env=environment(uid),
                            stderr=subprocess.DEVNULL)
    if done.wait(PATIENCE_S):
        fail(f"write_events of uid {uid} ended with {done.returncode}")
    return done.pid


def pids(events):
    counts = {}
    for event in events:
        counts[event["pid"]] = counts.get(event["pid"], 0) + 1
    return counts


def expect(what, found, wanted):
    if found != wanted:
        fail(f"{what}: {found}, not {wanted}")
    print(f"{what}: {found}")


def two_hosts(etw, write_events):
    machine, own = Recording(etw, 0, "machine.etl"), Recording(etw, USER, "own.etl")
    first, second = write(write_events, USER), write(write_events, OTHER)
    expect("the user's host", pids(own.end()), {first: EVENTS})
    expect("the machine's host", pids(machine.end()), {first: EVENTS, second: EVENTS})


def containers(etw, write_events):
    outside = Recording(etw, 0, "outside.etl")
    closed = subprocess.run(
        ["unshare", "--mount", "--pid", "--fork", "--mount-proc", "sh", "-c",
         'mount -t tmpfs run /run && exec "$@"', "sh", etw, "record", "--provider", PROVIDER,
         "-o", HERE / "inside.etl", "--", write_events, str(COUNT)],
        env=environment(0), capture_output=True, check=False)
    if closed.returncode:
        fail(f"a container with its own /run: {closed.stderr.decode()}")
    inside = subprocess.run([etw, "dump", "--json", HERE / "inside.etl"], capture_output=True,
                            check=True, env=environment(0)).stdout.decode()
    expect("a container with its own /run records", inside.count(PROVIDER) >= EVENTS, True)
    shared = subprocess.Popen(["unshare", "--pid", "--fork", write_events, str(COUNT), "50"],
                              env=environment(0), stderr=subprocess.DEVNULL)
    children = pathlib.Path(f"/proc/{shared.pid}/task/{shared.pid}/children")
    wait_for(lambda: children.read_text(encoding="ascii").split(), "the container's process")
    child = int(children.read_text(encoding="ascii").split()[0])
    if shared.wait(PATIENCE_S):
        fail(f"write_events in a container ended with {shared.returncode}")
    expect("outside, of a container that shares /run", pids(outside.end()), {child: EVENTS})


def inside(etw, write_events):
    for folder, mode in (("/run", 0o755), ("/tmp", 0o1777)):
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"mode={mode:o}", "own", folder], check=True)
    os.makedirs(f"/run/user/{USER}")
    os.chown(f"/run/user/{USER}", USER, USER)
    os.chmod(f"/run/user/{USER}", 0o700)
    two_hosts(etw, write_events)
    containers(etw, write_events)
    subprocess.run([etw, "sessions"], env=environment(0), check=False)


def main():
    etw, write_events = (str(pathlib.Path(word).resolve()) for word in sys.argv[1:3])
    if sys.argv[3:] == ["--inside"]:
        inside(etw, write_events)
        return
    if os.geteuid() != 0:
        skip("only root may make namespaces and become other users")
    if subprocess.run(["unshare", "--mount", "--pid", "--fork", "mount", "-t", "tmpfs", "own",
                       "/mnt"], capture_output=True, check=False).returncode:
        skip("no file system can be mounted in a namespace")
    if subprocess.run(as_user(USER, etw, "--version"), capture_output=True,
                      check=False).returncode:
        skip("other users cannot reach the programs that were built")
    sys.exit(subprocess.run(["unshare", "--mount", "--propagation", "private", "--pid", "--fork",
                             "--mount-proc", "--kill-child", sys.executable, __file__, etw,
                             write_events, "--inside"], check=False).returncode)


if __name__ == "__main__":
    main()
