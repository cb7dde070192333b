#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Of a circular file that has come around, and of the flush of a buffering session, it is told
# what is not in it any more: that is no loss. A flush, and a file that was not closed, tell it by
# the sequence numbers of their buffers.
"$MAKE_TRACE" --preset session session.etl
python3 - <<'END'
import struct
session = open("session.etl", "rb").read()
HEADER = 72 + 32  # buffer header, event header
END_TIME = HEADER + 16  # in TRACE_LOGFILE_HEADER
MODE = HEADER + 32  # and the buffers written


def write(name, mode, written, first=1, is_closed=True):
    data = bytearray(session)
    struct.pack_into("<II", data, MODE, mode, written)
    if not is_closed:
        struct.pack_into("<q", data, END_TIME, 0)
    for at in range(8192, len(data), 8192):
        sequence, = struct.unpack_from("<q", data, at + 24)
        struct.pack_into("<q", data, at + 24, sequence + first - 1)
    open(name, "wb").write(data)


write("circular.etl", 0x2, 1005)
write("circular-updated.etl", 0x2, 1005, first=5001)
write("circular-unclosed.etl", 0x2, 1, first=101, is_closed=False)
write("flush.etl", 0x400, 5, first=2001)
write("flush-whole.etl", 0x400, 5)
END
for file in *.etl; do
	echo "== $file"
	"$ETW" info "$file" | grep -E '^  (mode|buffers|buffers written|overwritten)  '
	"$ETW" info --json "$file" | grep -oE '"(buffers|buffers_overwritten)":[0-9]+'
	"$ETW" summary "$file" | tr -s ' \n' ' ' | grep -oE 'Session .* (Booted|Clock)'
done
