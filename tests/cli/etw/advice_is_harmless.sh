#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A provider's name out of the trace cannot drive the terminal, and what is advised can be typed.
"$MAKE_TRACE" --preset session session.etl
python3 - <<'END'
data = bytearray(open("session.etl", "rb").read()
                 .replace(b"Synthetic.TraceLogging", b"Synthetic\x1b[31mLogging!"))
# The second event's own schema becomes an item of no known type, and its channel 0.
item = data.find(b"\x0b\0\0\0\x1f\0", data.rfind(b"Logging!"))
data[item] = 0x63
data[data.rfind(b"\0\0\0\x0b\x05\0\0\0", 0, item) + 3] = 0
open("hostile.etl", "wb").write(data)
END
"$ETW" hostile.etl | sed -n '/What would/,$p'
"$ETW" - <hostile.etl | grep ' summary '
# A file may have that name.
cp hostile.etl 'standard input'
"$ETW" summary 'standard input' - <hostile.etl | grep ' summary '
