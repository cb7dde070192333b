#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The first screen has both of its tables, of whatever size it is; --top means so many rows. Without
# less the page goes through more.
"$MAKE_TRACE" --preset session session.etl
for lines in 24 30 40; do
	LINES=$lines "$ETW" session.etl >page
	head -n $((lines - 1)) page | grep -c -e '^What happened' -e '^Processes ('
	# The next part begins behind it; on the smallest not far behind.
	next=$(grep -n '^Input and output' page | cut -d: -f1)
	test "$next" -le $((lines + 1)) && echo "$lines: fits"
done
LINES=24 "$ETW" summary --top 2 session.etl | sed -n '/^What happened/,/^Busiest/p'
mkdir bin
for program in sh cat; do
	ln -s "$(command -v $program)" bin/$program
done
printf '#!/bin/sh\necho "more shows:"\nexec cat\n' >bin/more
chmod +x bin/more
python3 - "$ETW" <<'END'
import os, pty, sys
pid, terminal = pty.fork()
if not pid:
    os.execve(sys.argv[1], ["etw", "session.etl"], {"PATH": os.path.abspath("bin"), "TERM": "dumb"})
text = b""
while True:
    try:
        part = os.read(terminal, 65536)
    except OSError:
        break
    if not part:
        break
    text += part
os.waitpid(pid, 0)
print(text.decode().split("\r\n")[0])
END
