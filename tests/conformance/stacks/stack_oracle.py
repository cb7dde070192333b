# SPDX-License-Identifier: MIT
"""Which stack belongs to which event, worked out by another way than src/stack goes.

The whole file is in memory here: every event is found by its time, every definition of a cached
stack by its key, and nothing is ever given up. The events come from tests/walker.
"""

import collections
import struct

GROUP_STACK_WALK = 0x18
IMAGE_ID = "b3e675d7-2554-4f18-830b-2762732560de"
SYS_CONFIG = "9b79ee91-b5fd-41c0-a243-4248e266e9d0"
METADATA = "bbccf6c1-6cd1-48c4-80ff-839482e37671"
EVENT_TRACING = "b675ec37-bdb6-4648-bc92-f3fdc74d3ca2"
STACK_ITEMS = {5: 4, 6: 8}
NO_PROCESS = (0, 4)

# Hooks of events whose header has no thread: the payload names it behind so many pointers, bytes.
THREAD_IN_PAYLOAD = {0x0F2E: (1, 0), 0x0524: (0, 0), 0x0220: (2, 16),
                     0x010C: (1, 0), 0x010D: (1, 0), 0x010F: (1, 0),
                     0x010A: (2, 32), 0x010B: (2, 32)}


class Half:
    """Frames of one event's stack, innermost first; of a cached one once it is defined."""

    def __init__(self, frames=None):
        self.frames = frames


class Found:
    """What belongs to one event."""

    def __init__(self, event, pid, tid):
        self.event = event
        self.pid = pid
        self.tid = tid
        self.kernel = None
        self.user = None

    def frames(self):
        return [frame for half in (self.kernel, self.user) if half and half.frames
                for frame in half.frames]


class Event:
    """An event of the file, in the order of time."""

    __slots__ = ("time", "buffer", "offset", "cpu", "pid", "tid", "kind", "fields", "payload",
                 "stacks", "pointer", "found")


def load(trace):
    """All events by time; equal times in the order of the file."""
    events = []
    for buffer in trace.buffers():
        for parsed in buffer.events():
            event = Event()
            event.time = parsed.ts if parsed.ts is not None else 0
            event.buffer, event.offset = buffer.index, parsed.pos
            event.cpu = buffer.header.cpu
            event.kind = parsed.hook
            event.fields = parsed.fields
            event.pid = parsed.fields.get("pid")
            event.tid = parsed.fields.get("tid")
            event.pointer = 4 if parsed.kind.endswith("32") else 8
            event.payload = bytes(buffer.body[parsed.payload_pos:parsed.pos + parsed.size])
            event.stacks = [
                (item.type, bytes(buffer.body[item.pos + 8:item.pos + 8 + item.data_bytes]))
                for item in parsed.ext if item.type in STACK_ITEMS]
            event.found = None
            events.append(event)
    events.sort(key=lambda event: event.time)
    return events


def words(data, bytes_each):
    count = len(data) // bytes_each
    return list(struct.unpack_from("<%d%s" % (count, "I" if bytes_each == 4 else "Q"), data))


def thread_of(event):
    """The thread whose stack an event's is; None when nothing says it."""
    place = THREAD_IN_PAYLOAD.get(event.kind)
    if event.kind in (0x010A, 0x010B) and event.fields["ver"] < 3:
        place = None
    if event.tid is None or event.kind == 0x0524:
        if place:
            at = place[0] * event.pointer + place[1]
            if len(event.payload) >= at + 4:
                return struct.unpack_from("<I", event.payload, at)[0]
        return None
    return event.tid if event.tid != 0xFFFFFFFF else None


def is_metadata(event):
    return (event.kind is not None and event.kind >> 8 in (GROUP_STACK_WALK, 0) or
            event.fields.get("guid") in (IMAGE_ID, SYS_CONFIG, METADATA))


class Attached:
    """The outcome: `found` for each event with a stack, and what was counted on the way."""

    def __init__(self, trace):
        self.counts = collections.Counter()
        self.definitions = collections.defaultdict(list)
        self.least_kernel = 0x80000000 if trace.logfile.pointer_bytes == 4 else 0xFFFF000000000000
        self.events = load(trace)
        self._collect_definitions()
        self._attach()

    def is_kernel(self, address):
        return address >= self.least_kernel

    def _collect_definitions(self):
        for order, event in enumerate(self.events):
            if event.kind in (0x1822, 0x1823, 0x1824):
                key, *frames = words(event.payload, event.pointer)
                kind = bool(frames) and self.is_kernel(frames[-1])
                self.definitions[key].append((order, kind, frames))
                self.counts["definitions"] += 1

    def _resolve(self, key, is_kernel, order):
        """The first definition of the key behind the reference that is of its kind."""
        for at, kind, frames in self.definitions[key]:
            if at > order and kind == is_kernel:
                return frames
        self.counts["references that nothing defines"] += 1
        return None

    def _target(self, by_time, time, tid, cpu):
        """The event of this time: of thread and processor, of one of them; the later one."""
        best = [None, None, None]
        for event in by_time.get(time, ()):
            thread = thread_of(event)
            if thread == tid and event.cpu == cpu:
                best[0] = event
            elif thread == tid:
                best[1] = event
            elif thread is None and event.cpu == cpu:
                best[2] = event
        return best[0] or best[1] or best[2]

    def _attach(self):
        by_time = collections.defaultdict(list)
        waiting = collections.defaultdict(list)
        for order, event in enumerate(self.events):
            if event.kind is not None and event.kind >> 8 == GROUP_STACK_WALK:
                if event.kind & 0xFF in (32, 37, 38):
                    self._reference(by_time, waiting, order, event)
                continue
            for item, data in event.stacks:
                frames = words(data[8:], STACK_ITEMS[item])
                self.counts["stacks in items"] += 1
                is_end = event.fields["guid"] == EVENT_TRACING and event.fields["id"] == 18
                self._take(waiting, None if is_end else event, event.pid, event.tid, Half(frames),
                           is_kernel=bool(frames) and self.is_kernel(frames[-1]),
                           is_whole=not is_end and not (frames and self.is_kernel(frames[-1])))
            if not is_metadata(event):
                by_time[event.time].append(event)

    def _reference(self, by_time, waiting, order, event):
        time, pid, tid = struct.unpack_from("<QII", event.payload)
        rest = words(event.payload[16:], event.pointer)
        opcode = event.kind & 0xFF
        is_whole = event.time == time
        if opcode == 32:
            self.counts["stacks"] += 1
            is_kernel = bool(rest) and self.is_kernel(rest[-1])
            half = Half(rest)
            is_whole |= bool(rest) and self.is_kernel(rest[0]) and not is_kernel
        else:
            self.counts["references"] += 1
            is_kernel = opcode == 37
            half = Half(self._resolve(rest[0], is_kernel, order))
        target = self._target(by_time, time, tid, event.cpu)
        if not target:
            self.counts["without event"] += 1
        self._take(waiting, target, pid, tid, half, is_kernel, is_whole)

    def _take(self, waiting, target, pid, tid, half, is_kernel, is_whole):
        if target and not target.found:
            target.found = Found(target, pid, tid)
        found = target.found if target else None
        if is_whole:
            if found and not found.kernel:
                found.kernel = half
        elif is_kernel:
            if found and not found.kernel:
                found.kernel = half
                if pid not in NO_PROCESS:
                    waiting[tid].append(found)
        else:
            for other in waiting.pop(tid, ()):
                if not other.user:
                    other.user = half
            if found and not found.user and not (found.kernel and not found.kernel.frames):
                found.user = half
