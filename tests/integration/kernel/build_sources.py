#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What compare_compile.py records: compile some sources, and send some bytes over the loopback.

    build_sources.py FOLDER RESULT [DISK]

Compiles each *.c of FOLDER one after the other, then syncs the file system. Writes to RESULT, as
JSON, what the kernel counts of each compiler and its children when they have ended and before
anybody waited for them, what the two ends of a TCP and of a UDP connection sent and received
themselves, and what was read from the disk and written to it meanwhile.
"""

import json
import os
import pathlib
import socket
import sys

CHUNK = 65536
SECTOR = 512
STREAM_BYTES = 8 << 20
DATAGRAMS, DATAGRAM_BYTES = 500, 1000


def read_io(pid):
    lines = pathlib.Path(f"/proc/{pid}/io").read_text().splitlines()
    return {name: int(value) for name, value in (line.split(": ") for line in lines)}


def run_command(words):
    """What the kernel counts of the command with all that it waited for."""
    pid = os.fork()
    if not pid:
        os.execvp(words[0], words)
    # It stays until it is waited for, and with it the counts.
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    counts = read_io(pid)
    _, status, usage = os.wait4(pid, 0)
    counts.update(pid=pid, status=status, cpu_s=usage.ru_utime + usage.ru_stime)
    return counts


def serve(stream, datagrams, ready):
    """Receives all, and tells how much that was."""
    received = {"pid": os.getpid(), "stream": 0, "datagrams": 0}
    ready.send(b"r")
    connection, _ = stream.accept()
    while part := connection.recv(CHUNK):
        received["stream"] += len(part)
    connection.close()
    for _ in range(DATAGRAMS):
        received["datagrams"] += len(datagrams.recv(CHUNK))
        ready.send(b"d")
    ready.send(json.dumps(received).encode())


def send(stream_address, datagram_address, ready):
    """Sends each datagram when the one before has come: none is dropped."""
    sent = {"pid": os.getpid(), "stream": 0, "datagrams": 0}
    with socket.create_connection(stream_address) as stream:
        while sent["stream"] < STREAM_BYTES:
            sent["stream"] += stream.send(bytes(CHUNK))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
        for _ in range(DATAGRAMS):
            sent["datagrams"] += datagrams.sendto(bytes(DATAGRAM_BYTES), datagram_address)
            ready.recv(1)
    return sent


def talk():
    """[what the server received, what the client sent]"""
    ready, far = socket.socketpair()
    with socket.create_server(("127.0.0.1", 0)) as stream, \
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
        datagrams.bind(("127.0.0.1", 0))
        pid = os.fork()
        if not pid:
            serve(stream, datagrams, far)
            os._exit(0)
        ready.recv(1)
        sent = send(stream.getsockname(), datagrams.getsockname(), ready)
        received = json.loads(ready.recv(CHUNK))
        os.waitpid(pid, 0)
    return [received, sent]


def disk_counts(device):
    """Bytes (read, written) since the disk is there."""
    words = pathlib.Path(f"/sys/block/{device}/stat").read_text().split()
    return int(words[2]) * SECTOR, int(words[6]) * SECTOR


def main():
    folder = pathlib.Path(sys.argv[1])
    device = sys.argv[3] if len(sys.argv) > 3 else None
    before = disk_counts(device) if device else (0, 0)
    compiled = [run_command(["cc", "-O1", "-c", str(source), "-o", str(source.with_suffix(".o"))])
                for source in sorted(folder.glob("*.c"))]
    handle = os.open(folder, os.O_RDONLY)
    os.sync()
    os.close(handle)
    after = disk_counts(device) if device else (0, 0)
    result = {"compiled": compiled, "talk": talk(),
              "disk": [after[0] - before[0], after[1] - before[1]]}
    pathlib.Path(sys.argv[2]).write_text(json.dumps(result))


if __name__ == "__main__":
    main()
