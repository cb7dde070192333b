#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Hold TcpIp's and UdpIp's events against what programs did, and against ftrace.

    compare_network --watch PROGRAM --traffic SCRIPT [--calls] [--alone]

make_traffic uses sockets in all ways while other programs send each other something all the time.
Each event of its processes is held against what their calls gave back, as sets in both directions:
the process, the bytes, both addresses and ports. No event of their ports may have another process.
Connections made and ended and segments that were sent again are held against ftrace's tracepoints;
each connection has one identity, and what an event tells of a failure its code.
--calls: the kernel's types are covered by ones without sock_send_length, as of a kernel before 6.5.
--alone: of the process tree of make_traffic alone.
Exit status: 0; 1 with the differences; 77 with the reason why it cannot run.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import time

from kernel_checks import SKIPPED, until_whole

FLAG = "10000"
TYPES = "/sys/kernel/btf/vmlinux"
LENGTHS = b"\0btf_trace_sock_send_length\0"
INSTANCE = pathlib.Path("/sys/kernel/tracing/instances/etw_network")
EVENTS = ("sock/inet_sock_set_state", "tcp/tcp_retransmit_skb")
KINDS = {10: "send", 11: "recv", 12: "connect", 13: "disconnect", 14: "retransmit", 15: "accept",
         17: "fail"}
STATE = re.compile(r"inet_sock_set_state: .*protocol=IPPROTO_TCP sport=(\d+) dport=(\d+) .*"
                   r"oldstate=TCP_(\w+) newstate=TCP_(\w+)")
RETRANSMIT = re.compile(r"tcp_retransmit_skb: .*?sport=(\d+) dport=(\d+) ")
NEVER_CONNECTED = ("SYN_SENT", "SYN_RECV", "LISTEN", "CLOSE", "NEW_SYN_RECV")
SECONDS = 600


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


class Ftrace:
    """The second source: an instance of its own."""

    def __init__(self):
        if not INSTANCE.parent.is_dir():
            skip("there is no tracefs")
        if INSTANCE.is_dir():
            INSTANCE.rmdir()
        INSTANCE.mkdir()

    def start(self):
        (INSTANCE / "buffer_size_kb").write_text("8192")
        for event in EVENTS:
            (INSTANCE / "events" / event / "enable").write_text("1")

    def stop(self):
        for event in EVENTS:
            (INSTANCE / "events" / event / "enable").write_text("0")
        return (INSTANCE / "trace").read_text(errors="replace").splitlines()

    def close(self):
        INSTANCE.rmdir()


def send_and_receive(protocol):
    """Two processes that send each other something all the time; their ids."""
    if protocol == socket.SOCK_DGRAM:
        ends = [socket.socket(socket.AF_INET, protocol) for _ in range(2)]
        for end in ends:
            end.bind(("127.0.0.1", 0))
        for end, other in zip(ends, reversed(ends)):
            end.connect(other.getsockname())
    else:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            one = socket.create_connection(listener.getsockname())
            ends = [one, listener.accept()[0]]
    pids = []
    for number, end in enumerate(ends):
        pid = os.fork()
        if not pid:
            try:
                if number:
                    end.send(b"x")
                while end.recv(1):
                    # Some thousand events a second, which one reader takes.
                    time.sleep(0.0002)
                    end.send(b"x")
            finally:
                os._exit(0)
        pids.append(pid)
    for end in ends:
        end.close()
    return pids


class Watch:
    """watch_kernel while something runs."""

    def __init__(self, program, types, pid):
        prefix = []
        environment = dict(os.environ)
        if types:
            prefix = ["unshare", "--mount", "sh", "-c",
                      'mount --bind "$TYPES" /sys/kernel/btf/vmlinux && exec "$@"', "sh"]
            environment["TYPES"] = str(types)
        self.output = tempfile.TemporaryFile("w+")
        arguments = ["0", "", str(pid)] if pid else []
        self.process = subprocess.Popen([*prefix, program, FLAG, *arguments],
                                        stdin=subprocess.PIPE, stdout=self.output,
                                        stderr=subprocess.PIPE, text=True, env=environment)
        while self.process.poll() is None and "ready" not in self.text():
            pass
        if self.process.poll() is not None:
            reason = self.process.stderr.read().strip()
            if self.process.returncode == SKIPPED:
                skip(reason)
            raise SystemExit(f"watch_kernel: {reason}")

    def text(self):
        return os.pread(self.output.fileno(), 6, 0).decode()

    def stop(self):
        """The lines as words."""
        self.process.stdin.close()
        reason = self.process.stderr.read()
        if self.process.wait(timeout=SECONDS):
            raise SystemExit(reason)
        self.output.seek(0)
        lines = [line.rstrip("\n").split("\t") for line in self.output]
        self.output.close()
        return lines


class Event:
    """A line of a TcpIp or UdpIp event."""

    def __init__(self, words):
        group, kind = words[2].split(".")
        kind = int(kind) - (16 if int(kind) >= 26 else 0)
        self.protocol = "udp" if group == "08" else "tcp"
        self.kind = KINDS[kind]
        self.connection, self.own, self.peer = "", ("", 0), ("", 0)
        if self.kind == "fail":
            self.pid, self.number = int(words[4]), int(words[6], 16)
            return
        self.connection, self.pid, self.number = words[5], int(words[6]), int(words[7])
        self.peer, self.own = (words[8], int(words[9])), (words[10], int(words[11]))
        self.options = [int(word) for word in words[13:]]

    def said(self):
        """As make_traffic says it."""
        return (self.protocol, self.kind, self.pid, self.number, *self.own, *self.peer)


def read_said(folder):
    said, pids = collections.Counter(), set()
    for path in folder.glob("said.*"):
        pids.add(int(path.name.split(".")[1]))
        for line in path.read_text(encoding="ascii").splitlines():
            said[tuple(json.loads(line))] += 1
    return said, pids


def differences(name, ours, theirs):
    for what, sign in ((ours - theirs, "only the events have"), (theirs - ours, "no event has")):
        for one, count in list(what.items())[:6]:
            yield f"{name}: {sign} {count} of {one}"


def compare_said(events, said, pids):
    ours = collections.Counter(event.said() for event in events
                               if event.pid in pids and event.kind != "retransmit")
    yield from differences("calls", ours, said)


def compare_owners(events, said, pids):
    """Of the ports that the programs had, an end is one process', or several that are known."""
    ends = {(line[0], line[5]) for line in said if line[5]}
    for event in events:
        if (event.protocol, event.own[1]) in ends and event.pid not in pids:
            yield f"process {event.pid} has {event.said()}"


def compare_ftrace(events, lines, said):
    ports = {line[5] for line in said if line[0] == "tcp" and line[5]}
    theirs = collections.defaultdict(collections.Counter)
    for line in lines:
        if match := STATE.search(line):
            own, peer, before, now = int(match[1]), int(match[2]), match[3], match[4]
            if now == "ESTABLISHED" and before == "SYN_SENT":
                theirs["connect"][own, peer] += 1
            elif now == "CLOSE" and before not in NEVER_CONNECTED:
                theirs["disconnect"][own, peer] += 1
        elif match := RETRANSMIT.search(line):
            theirs["retransmit"][int(match[1]), int(match[2])] += 1
    for kind in ("connect", "disconnect", "retransmit"):
        ours = collections.Counter((event.own[1], event.peer[1]) for event in events
                                   if event.kind == kind and event.own[1] in ports)
        known = collections.Counter({ends: count for ends, count in theirs[kind].items()
                                     if ends[0] in ports})
        yield from differences(f"ftrace's {kind}", ours, known)
        if not known:
            yield f"ftrace has no {kind}"


def compare_identities(events, pids):
    """A connection's events have one identity, and no other connection has it."""
    by_ends, by_identity = collections.defaultdict(set), collections.defaultdict(set)
    for event in events:
        if event.protocol == "tcp" and event.kind != "fail" and event.pid in pids:
            by_ends[event.own, event.peer].add(event.connection)
            by_identity[event.connection].add((event.own, event.peer))
    for ends, identities in by_ends.items():
        if len(identities) != 1:
            yield f"{ends} has the identities {sorted(identities)}"
    for identity, ends in by_identity.items():
        if len(ends) != 1:
            yield f"{identity} is {sorted(ends)}"


def compare_options(events, pids):
    for event in events:
        if event.pid in pids and event.kind in ("connect", "accept"):
            mss, _, _, scales, window, receive, send = event.options
            if not 0 < mss <= 65535 or not window or scales != bool(receive or send):
                yield f"{event.said()} has {event.options}"


def make_types(folder):
    """The kernel's, without the tracepoint; as long as before, so that all ids stay."""
    types = pathlib.Path(TYPES).read_bytes()
    if LENGTHS in types:
        types = types.replace(LENGTHS, LENGTHS[:-2] + b"_\0")
    path = folder / "types"
    path.write_bytes(types)
    return path


def run(arguments):
    """(problems, lost, summary)"""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        types = make_types(folder) if arguments.calls else None
        command = [sys.executable, arguments.traffic, name]
        command += ["--without-before"] if arguments.alone else []
        loads = [pid for protocol in (socket.SOCK_STREAM, socket.SOCK_DGRAM)
                 for pid in send_and_receive(protocol)]
        ftrace = Ftrace()
        try:
            with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  text=True) as traffic:
                traffic.stdout.readline()
                ftrace.start()
                watch = Watch(arguments.watch, types, traffic.pid if arguments.alone else 0)
                traffic.communicate(timeout=SECONDS)
                lines = ftrace.stop()
                watched = watch.stop()
        finally:
            for pid in loads:
                os.kill(pid, 9)
                os.waitpid(pid, 0)
            ftrace.close()
        said, pids = read_said(folder)
    if traffic.returncode:
        return [f"make_traffic ended with {traffic.returncode}"], 0, ""
    last = watched[-1]
    events = [Event(words) for words in watched if words[0].isdigit() and
              words[2][:3] in ("06.", "08.")]
    problems = [*compare_said(events, said, pids), *compare_owners(events, said, pids),
                *compare_ftrace(events, lines, said), *compare_identities(events, pids),
                *compare_options(events, pids)]
    if arguments.alone and any(event.pid in loads for event in events):
        problems.append("processes of another tree are told")
    if not arguments.alone and not any(event.pid in loads for event in events):
        problems.append("the load is not told")
    counts = collections.Counter((event.protocol, event.kind) for event in events
                                 if event.pid in pids)
    return problems, int(last[3]), (f"{sum(said.values())} of {len(pids)} processes, "
                                    f"{len(events)} events; " + ", ".join(
                                        f"{count} {protocol} {kind}" for (protocol, kind), count
                                        in sorted(counts.items())))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--watch", required=True)
    parser.add_argument("--traffic", required=True)
    parser.add_argument("--calls", action="store_true")
    parser.add_argument("--alone", action="store_true")
    arguments = parser.parse_args()
    if os.geteuid() != 0:
        skip("needs root")
    if arguments.calls and subprocess.run(
            ["unshare", "--mount", "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True,
            check=False).returncode:
        skip("nothing can be mounted here")
    return until_whole(run, arguments)


if __name__ == "__main__":
    sys.exit(main())
