#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# No escape sequence and no line written anew where the terminal knows neither; counters elsewhere.
mkdir -m 700 run
export ETW_RUNTIME_DIR=$PWD/run ETWD_IDLE_MS=200
on_terminal() {
	env "$@" python3 -c 'import pty, sys; pty.spawn(sys.argv[1:])' \
		"$ETW" record --provider MyCompany-Test --duration 1.2 -o t.etl >said
	# The terminal's own line ends are CR LF.
	sed -i 's/\r$//' said
	if grep -q $'[\033\r]' said; then echo "$*: escapes"; else echo "$*: plain"; fi
	grep -o '^Recording into' said
}
on_terminal TERM=dumb
on_terminal -u TERM
on_terminal TERM=xterm
