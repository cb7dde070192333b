#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Use sockets in all ways that compare_network.py asks for, and say what each process did.

    make_traffic FOLDER [--without-before]

Prints "ready" when the connections are there that a recording is to find, and goes on when standard
input closes. Each process writes what its calls gave back to a file of FOLDER, a JSON list a line:
[protocol, event, process, bytes or code, own address, port, peer's address, port].
"""

import ctypes
import json
import os
import pathlib
import signal
import socket
import struct
import sys
import time

FOLDER = pathlib.Path(sys.argv[1])
HAS_BEFORE = "--without-before" not in sys.argv
LOOPBACKS = ((socket.AF_INET, "127.0.0.1", "127.0.0.1"), (socket.AF_INET6, "::1", "::1"),
             (socket.AF_INET6, "::", "127.0.0.1"))
MANY = 60
SECONDS = 300  # then it has failed; so it is with each child
REFUSED = 0x236
CLOSED = 7  # of what struct tcp_info has as state
RETRANSMIT_SECONDS = 30
SO_ATTACH_FILTER, SO_DETACH_FILTER = 26, 27
LIBC = ctypes.CDLL(None, use_errno=True)


def plain(address, other):
    """As IPv4 where the peer is."""
    if other.startswith("::ffff:") or "." in other:
        return "0.0.0.0" if address == "::" else address.removeprefix("::ffff:")
    return address


class Log:
    """What this process did."""

    def __init__(self):
        self.lines = []

    def note(self, sock, event, number, peer=None, pid=None):
        own = sock.getsockname()
        peer = peer or sock.getpeername()
        protocol = "tcp" if sock.type == socket.SOCK_STREAM else "udp"
        self.lines.append((protocol, event, pid or os.getpid(), number, plain(own[0], peer[0]),
                           own[1], plain(peer[0], peer[0]), peer[1]))

    def fail(self, protocol, code):
        self.lines.append((protocol, "fail", os.getpid(), code, "", 0, "", 0))

    def write(self):
        with open(FOLDER / f"said.{os.getpid()}", "a", encoding="ascii") as file:
            for line in self.lines:
                file.write(json.dumps(line) + "\n")


LOG = Log()


def run_child(work, *arguments):
    """The process that does the work."""
    pid = os.fork()
    if pid:
        return pid
    status = 1
    signal.alarm(SECONDS)
    try:
        LOG.lines.clear()
        work(*arguments)
        LOG.write()
        status = 0
    finally:
        os._exit(status)


def join(pid):
    if os.waitpid(pid, 0)[1]:
        raise SystemExit("a process of the load failed")


def listen(family, address):
    sock = socket.socket(family, socket.SOCK_STREAM)
    sock.bind((address, 0))
    sock.listen(MANY)
    return sock


def connect(family, address, port):
    del family
    sock = socket.create_connection((address, port))
    LOG.note(sock, "connect", 0)
    return sock


def accept(listener):
    sock, _ = listener.accept()
    LOG.note(sock, "accept", 0)
    return sock


def send(sock, data, flags=0):
    count = sock.send(data, flags)
    LOG.note(sock, "send", count)
    return count


def receive(sock, most=65536):
    data = sock.recv(most)
    if data:
        LOG.note(sock, "recv", len(data))
    return data


def receive_all(sock, count):
    while count:
        count -= len(receive(sock, min(count, 5000)))


def end(sock, pid=None):
    """The connection ends for this side with the given owner: this process, else."""
    LOG.note(sock, "disconnect", 0, pid=pid)
    sock.close()


# A connection with calls of all kinds.


def serve(listener):
    sock = accept(listener)
    sock.recv(10, socket.MSG_PEEK)
    receive_all(sock, 7000)
    (pipe_out, pipe_in) = os.pipe()
    left = 4000
    while left:
        count = os.splice(sock.fileno(), pipe_in, left)
        LOG.note(sock, "recv", count)
        left -= len(os.read(pipe_out, count))
    data = os.read(sock.fileno(), 100)
    LOG.note(sock, "recv", len(data))
    chunk = bytearray(50)
    count = sock.recvmsg_into([chunk])[0]
    LOG.note(sock, "recv", count)
    sent = 0
    sock.setblocking(False)
    for _ in range(1000):  # until no more fits
        try:
            sent += send(sock, bytes(300000))
        except BlockingIOError:
            break
    sock.setblocking(True)
    send(sock, struct.pack("Q", sent))
    while receive(sock):
        pass
    end(sock)


def use(family, address, port):
    sock = connect(family, address, port)
    send(sock, bytes(3000))
    LOG.note(sock, "send", os.write(sock.fileno(), bytes(1000)))
    LOG.note(sock, "send", os.writev(sock.fileno(), [bytes(1000), bytes(2000)]))
    with open(FOLDER / "file", "rb") as file:
        LOG.note(sock, "send", os.sendfile(sock.fileno(), file.fileno(), 0, 4000))
    time.sleep(0.05)
    send(sock, bytes(100))
    time.sleep(0.05)
    LOG.note(sock, "send", sock.sendmsg([bytes(20), bytes(30)]))
    time.sleep(0.05)
    total, last = 0, b""
    while True:
        data = receive(sock, 1 << 20)
        total += len(data)
        last = (last + data)[-8:]
        if total > 8 and struct.unpack("Q", last)[0] == total - 8:
            break
    end(sock)


def connect_all():
    for family, address, peer in LOOPBACKS:
        with listen(family, address) as listener:
            server = run_child(serve, listener)
            join(run_child(use, family, peer, listener.getsockname()[1]))
            join(server)


def serve_many(listener):
    for _ in range(MANY):
        sock = accept(listener)
        receive_all(sock, 100)
        send(sock, bytes(200))
        end(sock)


def use_many(address, port):
    for _ in range(MANY):
        sock = connect(0, address, port)
        send(sock, bytes(100))
        receive_all(sock, 200)
        receive(sock)  # its end
        end(sock)


def connect_many():
    with listen(socket.AF_INET, "127.0.0.1") as listener:
        server = run_child(serve_many, listener)
        users = [run_child(use_many, "127.0.0.1", listener.getsockname()[1])]
        for pid in [server, *users]:
            join(pid)


# Whose a socket is.


def pair():
    with listen(socket.AF_INET, "127.0.0.1") as listener:
        one = connect(0, *listener.getsockname())
        return one, accept(listener)


def use_passed(channel):
    _, fds, _, _ = socket.recv_fds(channel, 1, 1)
    with socket.socket(fileno=fds[0]) as sock:
        send(sock, bytes(777))
        LOG.note(sock, "disconnect", 0)


def use_inherited(sock):
    send(sock, bytes(555))
    LOG.note(sock, "disconnect", 0)


def pass_on():
    one, other = pair()
    here, there = socket.socketpair()
    pid = run_child(use_passed, there)
    socket.send_fds(here, [b"x"], [one.fileno()])
    one.close()
    receive_all(other, 777)
    join(pid)
    receive(other)
    end(other)


def inherit():
    one, other = pair()
    pid = run_child(use_inherited, one)
    one.close()
    receive_all(other, 555)
    join(pid)
    receive(other)
    end(other)


def leave(sock):
    """Ends with what it sent still on its way: the connection outlives it."""
    sock.setblocking(False)
    for _ in range(1000):
        try:
            send(sock, bytes(300000))
        except BlockingIOError:
            break
    LOG.note(sock, "disconnect", 0)


def outlive():
    one, other = pair()
    pid = run_child(leave, one)
    one.close()
    join(pid)
    while receive(other, 1 << 20):
        pass
    end(other)


def read_behind_end():
    """What came is read when the connection has ended on both sides and has given its port back."""
    one, other = pair()
    peer = other.getpeername()
    send(one, bytes(666))
    LOG.note(other, "disconnect", 0)
    other.shutdown(socket.SHUT_WR)
    receive(one)
    end(one)
    for _ in range(1000):
        if other.getsockopt(socket.SOL_TCP, socket.TCP_INFO, 1)[0] == CLOSED:
            break
        time.sleep(0.01)
    LOG.note(other, "recv", len(other.recv(1000)), peer=peer)
    other.close()


def reset():
    one, other = pair()
    one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    LOG.note(other, "disconnect", 0)
    end(one)
    try:
        other.recv(1)
    except ConnectionResetError:
        pass
    other.close()


def refuse():
    for family, address in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
        with listen(family, address) as listener:
            port = listener.getsockname()[1]
        for is_blocking in (True, False):
            with socket.socket(family, socket.SOCK_STREAM) as sock:
                sock.setblocking(is_blocking)
                sock.connect_ex((address, port))
                time.sleep(0.01)
                LOG.fail("tcp", REFUSED)
        with socket.socket(family, socket.SOCK_DGRAM) as sock:
            sock.bind((address, 0))
            sock.connect((address, port))
            LOG.note(sock, "send", sock.send(b"x"))
            for _ in range(1000):
                try:
                    sock.recv(1, socket.MSG_DONTWAIT)
                except BlockingIOError:
                    time.sleep(0.01)
                except ConnectionRefusedError:
                    LOG.fail("udp", REFUSED)
                    break


def retransmit():
    """The receiver drops all that comes until something was sent again."""
    one, other = pair()
    code = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0))  # drop
    other.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER,
                     struct.pack("HxxxxxxP", 1, ctypes.addressof(code)))
    send(one, bytes(400))
    deadline = time.monotonic() + RETRANSMIT_SECONDS
    while time.monotonic() < deadline:
        time.sleep(0.02)
        # struct tcp_info has the count of all behind 100 bytes.
        if struct.unpack_from("I", one.getsockopt(socket.SOL_TCP, socket.TCP_INFO, 104), 100)[0]:
            break
    other.setsockopt(socket.SOL_SOCKET, SO_DETACH_FILTER, 0)
    receive_all(other, 400)
    end(one)
    receive(other)
    end(other)


# Datagrams.


class Message(ctypes.Structure):
    """struct mmsghdr"""

    _fields_ = [("name", ctypes.c_void_p), ("name_bytes", ctypes.c_uint),
                ("vector", ctypes.c_void_p), ("vector_count", ctypes.c_size_t),
                ("control", ctypes.c_void_p), ("control_bytes", ctypes.c_size_t),
                ("flags", ctypes.c_size_t), ("bytes", ctypes.c_uint)]


def make_messages(count, size, name):
    """Messages with @size, @size + 1, ... bytes and room for them; what has to stay alive."""
    messages, kept = (Message * count)(), []
    for number, message in enumerate(messages):
        room = ctypes.create_string_buffer(size + number)
        address = ctypes.create_string_buffer(name, 28)
        vector = (ctypes.c_size_t * 2)(ctypes.addressof(room), size + number)
        message.name, message.name_bytes = ctypes.addressof(address), len(name)
        message.vector, message.vector_count = ctypes.addressof(vector), 1
        kept += [room, address, vector]
    return messages, kept


def name_of(family, address):
    packed = socket.inet_pton(family, address[0])
    if family == socket.AF_INET:
        return struct.pack("=H", family) + struct.pack(">H", address[1]) + packed + bytes(8)
    return (struct.pack("=H", family) + struct.pack(">HI", address[1], 0) + packed +
            struct.pack("I", 0))


def send_datagrams(family, to):
    one = socket.socket(family, socket.SOCK_DGRAM)
    for count in (10, 3000, 20000, 0):
        one.sendto(bytes(count), to)
        LOG.note(one, "send", count, to)
    one.sendmsg([bytes(70)], [], 0, to)
    LOG.note(one, "send", 70, to)
    messages, _kept = make_messages(5, 30, name_of(family, to))
    done = LIBC.sendmmsg(one.fileno(), messages, 5, 0)
    for number in range(done):
        LOG.note(one, "send", 30 + number, to)
    one.connect(to)
    LOG.note(one, "send", one.send(bytes(90)))
    LOG.note(one, "send", os.write(one.fileno(), bytes(91)))


def receive_datagrams(sock):
    for _ in range(4):
        data, peer = sock.recvfrom(65536)
        LOG.note(sock, "recv", len(data), peer)
    data, _, _, peer = sock.recvmsg(1000)
    LOG.note(sock, "recv", len(data), peer)
    left = 5
    while left:
        messages, kept = make_messages(left, 1000, bytes(28))
        done = LIBC.recvmmsg(sock.fileno(), messages, left, 0x10000, None)  # MSG_WAITFORONE
        for number in range(done):
            name = kept[3 * number + 1].raw
            family, port = struct.unpack_from("=H", name)[0], struct.unpack_from(">H", name, 2)[0]
            packed = name[8:24] if family == socket.AF_INET6 else name[4:8]
            LOG.note(sock, "recv", messages[number].bytes,
                     (socket.inet_ntop(family, packed), port))
        left -= done
    for _ in range(2):
        data, peer = sock.recvfrom(65536)
        LOG.note(sock, "recv", len(data), peer)


def exchange_datagrams():
    for family, address, peer in LOOPBACKS:
        sock = socket.socket(family, socket.SOCK_DGRAM)
        if address == "::":
            peer = "::ffff:127.0.0.1"
        sock.bind((address, 0))
        pid = run_child(receive_datagrams, sock)
        join(run_child(send_datagrams, family, (peer, sock.getsockname()[1])))
        join(pid)
        sock.close()


def hold(sock, channel):
    """Has a connection open that it never uses while it is recorded."""
    channel.recv(1)
    LOG.note(sock, "disconnect", 0)
    channel.send(b"x")
    channel.recv(1)


class Before:
    """A connection that is there before, held by another process and reset by this one."""

    def __init__(self):
        self.one, other = pair()
        self.here, there = socket.socketpair()
        self.pid = run_child(hold, other, there)
        other.close()
        LOG.lines.clear()

    def finish(self):
        self.here.send(b"x")
        self.here.recv(1)
        self.one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        end(self.one)
        self.here.send(b"x")
        join(self.pid)


def main():
    signal.alarm(SECONDS)
    (FOLDER / "file").write_bytes(bytes(10000))
    before = Before() if HAS_BEFORE else None
    print("ready", flush=True)
    sys.stdin.read()
    LOG.lines.clear()
    for work in (connect_all, connect_many, pass_on, inherit, outlive, read_behind_end, reset,
                 refuse, retransmit, exchange_datagrams):
        work()
    if before:
        before.finish()
    LOG.write()


if __name__ == "__main__":
    main()
