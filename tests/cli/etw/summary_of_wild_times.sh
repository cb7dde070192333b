#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Times that a file may claim are told as far apart as they can be, and never as negative.
"$MAKE_TRACE" --preset plain plain.etl
python3 - <<'END'
data = bytearray(open("plain.etl", "rb").read())
data[0x170:0x178] = (-2**63).to_bytes(8, "little", signed=True)
open("wild.etl", "wb").write(data)
END
"$ETW" wild.etl | grep Recorded
"$ETW" dump --from 2022-01-01 wild.etl 2>&1
