# SPDX-License-Identifier: MIT
"""Rules about the header event, its logfile header, and its companions in the header buffer."""

from layout import (MODE_CIRCULAR, MODE_COMPRESSED, MODE_KBYTES, MODE_NO_PER_PROCESSOR_BUFFERING,
                    MODE_PERSIST_ON_HYBRID_SHUTDOWN, MODE_REAL_TIME, MODE_STOP_ON_HYBRID_SHUTDOWN)
from rulebook import rule

COMPANION_ORDER = (0x0000, 0x0005, 0x0050, 0x0052, 0x0042, 0x0040)
BINARY_TRACKING_HOOKS = (0x0040, 0x0041, 0x0043)
SYSTEM_HOOKS = (0x0000, 0x0005, 0x0050)
PARTITION_HOOK = 0x0050
MODE_BITS_NEVER_STORED = (MODE_REAL_TIME | MODE_STOP_ON_HYBRID_SHUTDOWN
                          | MODE_PERSIST_ON_HYBRID_SHUTDOWN)
LAST_BUILD_WITHOUT_PARTITION = 10240
FIRST_BUILD_WITH_PARTITION = 17763
LARGEST_TIMER_SOURCE = 0xFF
MAX_PROCESSORS_LAYOUT_1 = 256
MAX_BUFFER_BYTES_LAYOUT_1 = 0x100000


@rule("file", "must", "The header event")
def header_event_size(context):
    """Size is exactly header, logfile header and both terminated strings."""
    event = context.header_event
    if context.logfile.strings_end is None:
        yield context.find_logfile("a name lacks its terminating NUL")
        return
    want = 0x20 + context.logfile.strings_end
    if event.size != want:
        yield context.find_header_event(event, f"Size {event.size:#x}, its contents end at "
                                               f"{want:#x}")


@rule("file", "must", "The header event")
def header_event_version(context):
    """The payload version is 2 since Windows Vista."""
    version = context.header_event.fields["ver"]
    if version != 2:
        yield context.find_header_event(context.header_event, f"version {version}, not 2")


@rule("file", "must", "The header event")
def companions_are_group_0(context):
    """The header buffer holds events of group 00 only."""
    for event in context.header_events:
        if event.fields.get("group") != 0:
            yield context.find_header_event(event, "no event of group 00")


@rule("file", "writer", "The header event")
def companion_order(context):
    """0000, 0005, 0050, 0052, 0042, then 0040 with its kin 0041 and 0043; none twice."""
    last_rank = -1
    for event in context.header_events:
        hook = event.hook
        order_hook = 0x0040 if hook in BINARY_TRACKING_HOOKS else hook
        if order_hook not in COMPANION_ORDER:
            yield context.find_header_event(event, f"hook {hook} is no companion"
                                            if hook is None else
                                            f"hook {hook:04X} is no companion")
            continue
        rank = COMPANION_ORDER.index(order_hook)
        if rank < last_rank or rank == last_rank and order_hook != 0x0040:
            yield context.find_header_event(event, f"hook {hook:04X} out of order")
        last_rank = max(rank, last_rank)


@rule("file", "writer", "The header event")
def companion_header_type(context):
    """SYSTEM headers for 0000, 0005 and 0050, PERFINFO for the others."""
    for event in context.header_events:
        if event.fields.get("group") != 0:
            continue
        want = "SYSTEM" if event.hook in SYSTEM_HOOKS else "PERF"
        if not event.kind.startswith(want):
            yield context.find_header_event(event, f"hook {event.hook:04X} has no {want} header")


@rule("file", "writer", "The header event")
def companion_time_and_version(context):
    """All companions are version 2 and repeat the header event's TimeStamp."""
    for event in context.header_events:
        if event.fields.get("ver") != 2:
            yield context.find_header_event(event, f"version {event.fields.get('ver')}, not 2")
        if event.ts != context.header_event.ts:
            yield context.find_header_event(event, f"TimeStamp {event.ts}, the header event has "
                                                   f"{context.header_event.ts}")


@rule("file", "writer", "The header event")
def companion_thread(context):
    """In sessions 0005 and 0050 repeat the header event's thread, process and times."""
    if context.logfile.is_relogged:
        return
    names = ("tid", "pid", "kt", "ut")
    want = [context.header_event.fields[name] for name in names]
    for event in context.header_events:
        if event.kind.startswith("SYSTEM") and [event.fields[name] for name in names] != want:
            yield context.find_header_event(event, "thread, process or times differ from those "
                                                   "of the header event")


def _companion_problem(hook, payload, processor_count):
    """What is wrong with a companion's payload, or None."""
    size = len(payload)
    if hook == 0x0005 and size != 36:
        return f"{size} payload bytes, not 36"
    if hook == 0x0050 and size != 48:
        return f"{size} payload bytes, not 48"
    if hook == 0x0052 and size != 8 + 8 * int.from_bytes(payload[:4], "little"):
        return f"{size} payload bytes do not fit its count"
    if hook == 0x0052 and int.from_bytes(payload[:4], "little") != processor_count:
        return "its count is not NumberOfProcessors"
    if hook == 0x0042 and payload[-1:] != b"\0":
        return "the text lacks its NUL"
    if hook == 0x0040 and (size < 21 or payload[-1:] != b"\0"):
        return "no GUID, age and terminated name"
    return None


@rule("file", "must", "The header event")
def companion_payload(context):
    """Payload sizes of 0005, 0050 and 0052; terminated texts in 0042 and 0040."""
    for event in context.header_events:
        payload = context.header_body[event.payload_pos:event.pos + event.size]
        problem = _companion_problem(event.hook, payload, context.logfile.processor_count)
        if problem:
            yield context.find_header_event(event, f"hook {event.hook:04X}: {problem}")


@rule("file", "writer", "The header event")
def partition_companion(context):
    """Sessions of builds to 10240 have no 0050, sessions from 17763 on have one."""
    if context.logfile.is_relogged:
        return
    build = context.logfile.build
    has_one = any(event.hook == PARTITION_HOOK for event in context.header_events)
    if has_one and build <= LAST_BUILD_WITHOUT_PARTITION:
        yield context.find_logfile(f"companion 0050 in a file of build {build}")
    if not has_one and build >= FIRST_BUILD_WITH_PARTITION:
        yield context.find_logfile(f"no companion 0050 in a file of build {build}")


def _circular_places(logfile):
    """Buffers that a circular file has room for, the header buffer included; 0: it is none."""
    if not logfile.mode & MODE_CIRCULAR or not logfile.buffer_bytes:
        return 0
    unit = 1024 if logfile.mode & MODE_KBYTES else 1024 * 1024
    return logfile.maximum_file_size * unit // logfile.buffer_bytes


@rule("file", "must", "The header event; Writing")
def buffers_written(context):
    """BuffersWritten counts all buffers of a closed file, the header buffer too."""
    written = context.logfile.buffers_written
    count = len(context.summaries)
    places = _circular_places(context.logfile)
    if places and written > places:
        written = places                # keeps counting past the wrap
    if context.logfile.end_time_ft and written != count:
        yield context.find_logfile(f"BuffersWritten {context.logfile.buffers_written}, the file "
                                   f"has {count}")


@rule("file", "writer", "The header event; Writing", is_strict=True)
def circular_wrap_place(context):
    """A wrapped circular file is full, and its oldest buffer is where BuffersWritten says."""
    logfile = context.logfile
    places = _circular_places(logfile)
    data = context.summaries[1:]
    if not places or logfile.buffers_written <= places or not logfile.end_time_ft or not data:
        return
    if len(data) != places - 1:
        yield context.find_logfile(f"{len(data)} data buffers, not {places - 1}")
        return
    oldest = min(range(len(data)), key=lambda at: data[at].header.sequence)
    want = (logfile.buffers_written - 1) % len(data)
    if oldest != want:
        yield data[oldest].find(f"the oldest buffer is {oldest} behind the header buffer, "
                                f"BuffersWritten {logfile.buffers_written} says {want}")


@rule("file", "writer", "The header event; Writing")
def file_is_closed(context):
    """EndTime is filled in when the session stops; 0 tells of a live or torn file."""
    if context.logfile.end_time_ft == 0:
        yield context.find_logfile("EndTime 0: the file was not closed")


@rule("file", "must", "The header event")
def times_in_order(context):
    """0 < BootTime <= StartTime <= EndTime."""
    logfile = context.logfile
    if not 0 < logfile.boot_time_ft <= logfile.start_time_ft:
        yield context.find_logfile(f"BootTime {logfile.boot_time_ft}, StartTime "
                                   f"{logfile.start_time_ft}")
    if logfile.end_time_ft and logfile.end_time_ft < logfile.start_time_ft:
        yield context.find_logfile(f"EndTime {logfile.end_time_ft} before StartTime "
                                   f"{logfile.start_time_ft}")


@rule("file", "must", "The header event")
def pointer_size(context):
    """PointerSize equals the pointer size of the header event's own type."""
    logfile = context.logfile
    if logfile.pointer_bytes != logfile.header_pointer_bytes:
        yield context.find_logfile(f"PointerSize {logfile.pointer_bytes} behind a "
                                   f"{context.header_event.kind} header")


@rule("file", "writer", "The header event")
def start_buffers(context):
    """StartBuffers is 1."""
    if context.logfile.start_buffers != 1:
        yield context.find_logfile(f"StartBuffers {context.logfile.start_buffers}, not 1")


@rule("file", "must", "The header event")
def clock_type(context):
    """ReservedFlags is 1, 2 or 3; before 6.1 it is 0 or 1."""
    allowed = (0, 1) if context.is_vista else (1, 2, 3)
    if context.logfile.clock_type not in allowed:
        yield context.find_logfile(f"ReservedFlags {context.logfile.clock_type}")


@rule("file", "must", "The header event; Clocks")
def clock_is_usable(context):
    """PerfFreq is filled in always; with the system-time clock T0 is StartTime."""
    logfile = context.logfile
    if logfile.perf_freq <= 0:
        yield context.find_logfile(f"PerfFreq {logfile.perf_freq}")
    if logfile.clock == 2 and context.header_event.ts != logfile.start_time_ft:
        yield context.find_logfile(f"system-time clock, but the header event's TimeStamp "
                                   f"{context.header_event.ts} is not StartTime")


@rule("file", "must", "Writing")
def layout_version(context):
    """Vista 1.4, then 1.5; 2.0 when compressed, over 256 processors or over 1 MiB."""
    logfile = context.logfile
    needs_2 = (logfile.mode & MODE_COMPRESSED
               or logfile.processor_count > MAX_PROCESSORS_LAYOUT_1
               or logfile.buffer_bytes > MAX_BUFFER_BYTES_LAYOUT_1)
    want = (2, 0) if needs_2 else (1, 4) if context.is_vista else (1, 5)
    if logfile.layout_version != want:
        yield context.find_logfile(f"layout version {logfile.layout_version}, expected {want}")


@rule("file", "writer", "The header event")
def mode_bits(context):
    """REAL_TIME and the two HYBRID_SHUTDOWN bits are cleared in the stored LogFileMode."""
    extra = context.logfile.mode & MODE_BITS_NEVER_STORED
    if extra:
        yield context.find_logfile(f"LogFileMode has the bits {extra:#x}")


@rule("file", "must", "The header event; The file as a whole")
def processor_count(context):
    """At least one processor; exactly 1 without per-processor buffers."""
    count = context.logfile.processor_count
    is_single = context.logfile.mode & MODE_NO_PER_PROCESSOR_BUFFERING
    if count < 1 or is_single and count != 1:
        yield context.find_logfile(f"NumberOfProcessors {count}")


@rule("file", "writer", "The header event")
def name_pointers_are_enums(context):
    """From 6.1 on the two name pointers hold small timer source numbers (or 0)."""
    if context.is_vista:
        return
    logfile = context.logfile
    for name, value in (("LoggerName", logfile.logger_name_pointer),
                        ("LogFileName", logfile.file_name_pointer)):
        if value > LARGEST_TIMER_SOURCE:
            yield context.find_logfile(f"{name} pointer {value:#x} is no timer source number")


@rule("file", "writer", "The header event")
def buffer_size_in_kib(context):
    """BufferSize is in bytes and a whole number of KiB, as sessions are asked in KiB."""
    if context.logfile.buffer_bytes == 0 or context.logfile.buffer_bytes % 0x400:
        yield context.find_logfile(f"BufferSize {context.logfile.buffer_bytes:#x}")
