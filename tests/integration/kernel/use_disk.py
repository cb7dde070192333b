#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads and writes a file system, and a bare disk, in known ways, and says what it did.

    use_disk FOLDER [DISK]          two of the workers below, then writes all back; prints theirs
    use_disk --worker NAME FOLDER [DISK]
                                    what one does; prints a line of JSON

A worker writes through the cache and asks for it to be safe; reads that again from the disk;
writes and reads past the cache, small and larger than a request can be; leaves a file to be
written back by the kernel.
"""

import array
import fcntl
import json
import mmap
import os
import pathlib
import random
import struct
import subprocess
import sys

PAGE = 4096
LARGE = 2 << 20
SMALL_COUNT = 32
FIEMAP = 0xC020660B
FIEMAP_SYNC = 1
EXTENTS = 64


def buffer_of(count, value):
    memory = mmap.mmap(-1, count)
    memory[:] = bytes([value]) * count
    return memory


def extents_of(file):
    """[(byte of the file, byte of the disk, bytes)]"""
    head = struct.pack("=QQLLLL", 0, (1 << 64) - 1, FIEMAP_SYNC, 0, EXTENTS, 0)
    room = array.array("B", head + bytes(EXTENTS * 56))
    fcntl.ioctl(file, FIEMAP, room)
    count = struct.unpack_from("=L", room, 20)[0]
    return [struct.unpack_from("=QQQ", room, 32 + 56 * i) for i in range(count)]


def write_cached(path, count):
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    os.write(file, os.urandom(count))
    os.fsync(file)
    return file


def read_again(file, count):
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    left = count
    while left:
        left -= len(os.pread(file, 1 << 17, count - left))


def use_directly(path, seed):
    """(extents, small writes, small reads): places in the file."""
    file = write_cached(path, LARGE)
    os.close(file)
    file = os.open(path, os.O_RDWR | os.O_DIRECT)
    places = random.Random(seed).sample(range(LARGE // PAGE), SMALL_COUNT)
    small, large = buffer_of(PAGE, seed), buffer_of(LARGE, seed)
    os.pwritev(file, [large], 0)
    os.preadv(file, [large], 0)
    for place in places:
        os.pwritev(file, [small], place * PAGE)
    for place in places:
        os.preadv(file, [small], place * PAGE)
    extents = extents_of(file)
    os.close(file)
    return extents, [place * PAGE for place in places]


def use_bare(disk, seed):
    """Places on a disk without a file system, of this worker's alone."""
    file = os.open(disk, os.O_RDWR | os.O_DIRECT)
    small = buffer_of(PAGE, seed)
    places = [(2 * number + seed % 2) * PAGE for number in range(SMALL_COUNT)]
    for place in places:
        os.pwritev(file, [small], place)
    for place in places:
        os.preadv(file, [small], place)
    os.close(file)
    return places


def read_bytes():
    for line in pathlib.Path("/proc/self/io").read_text().splitlines():
        if line.startswith("read_bytes:"):
            return int(line.split()[1])
    return 0


def work(name, folder, disk):
    seed = 2 + ord(name) % 2
    done = {"pid": os.getpid(), "files": {}}
    cached = write_cached(f"{folder}/{name}.cached", 3 * LARGE // 2)
    done["files"]["cached"] = extents_of(cached)
    read_again(cached, 3 * LARGE // 2)
    os.close(cached)
    done["files"]["direct"], done["places"] = use_directly(f"{folder}/{name}.direct", seed)
    late = os.open(f"{folder}/{name}.late", os.O_RDWR | os.O_CREAT, 0o600)
    os.write(late, os.urandom(LARGE // 2))
    os.close(late)
    done["bare"] = use_bare(disk, seed) if disk else []
    done["read_bytes"] = read_bytes()
    print(json.dumps(done))


def main():
    if sys.argv[1] == "--worker":
        work(sys.argv[2], sys.argv[3], sys.argv[4] if len(sys.argv) > 4 else None)
        return
    workers = {name: subprocess.Popen([sys.executable, __file__, "--worker", name] + sys.argv[1:],
                                      stdout=subprocess.PIPE, text=True) for name in "ab"}
    done = {name: json.loads(worker.communicate()[0]) for name, worker in workers.items()}
    subprocess.run(["sync", "--file-system", sys.argv[1]], check=True)
    for name in done:
        file = os.open(f"{sys.argv[1]}/{name}.late", os.O_RDONLY)
        done[name]["files"]["late"] = extents_of(file)
        os.close(file)
    print(json.dumps(done))


if __name__ == "__main__":
    main()
