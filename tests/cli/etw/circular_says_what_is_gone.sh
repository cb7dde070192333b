#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Of a circular file that has come around it is told what is not in it any more: that is no loss.
"$MAKE_TRACE" --preset session session.etl
python3 - <<'END'
import struct
data = bytearray(open("session.etl", "rb").read())
mode = 72 + 32 + 32  # buffer header, event header, LogFileMode in TRACE_LOGFILE_HEADER
struct.pack_into("<II", data, mode, 0x2, 1005)
open("circular.etl", "wb").write(data)
END
for file in session.etl circular.etl; do
	"$ETW" info "$file" | grep -E '^  (mode|buffers|buffers written|overwritten)  '
	"$ETW" summary "$file" | tr -s ' \n' ' ' | grep -oE 'Session .* (Booted|Clock)'
done
