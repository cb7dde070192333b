#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Names that mean nothing, or too much; options that do not go together; an index that is missing,
# damaged, cut, or of another version. Tracepoints, which machines have other ones of, do not count.
index=$(dirname "$ETW")/../share/etw/known-providers.index
try() {
	status=0
	"$ETW" providers "$@" 2>said >got || status=$?
	said=$(sed "s#$PWD#.#g; s/the [0-9]* providers/the N providers/" said)
	echo "status $status, $(grep -vc 'linux:' got) lines: $said"
}
try Microsoft-Windows-Kernel-Proces
try kernel-process
try nobody-is-called-like-this
try 'nobody*'
try '{11112222-3333-4444-5555-666677778888}'
try Microsoft-Windows-Kernel-Process --event 4711
try --search NoSuchWordAnywhere
try --search ''
try --manifest
try Microsoft-Windows-Kernel-Process --manifest --json
try Microsoft-Windows-Kernel-Process --manifest --event 1
try Microsoft-Windows-Kernel-Process --build 7600
try Microsoft-Windows-Kernel-Process --build x --manifest
try Microsoft-Windows-Kernel-Process --installed
try Microsoft-Windows-Kernel-Process --installed --json
try 'ATA Port Driver Tracing Provider' --known
try Microsoft-Windows-Win32k
try Microsoft-Windows-Win32k --manifest
try 'ATA Port Driver Tracing Provider' --manifest
mkdir tracepoints
ETW_TRACEFS=$PWD/tracepoints try linux:sched:sched_switch
ETW_TRACEFS=$PWD/tracepoints try linux:sched
ETW_TRACEFS='' try 'linux:*'
ETW_TRACEFS='' try linux:sched
echo "without an index:"
export ETW_KNOWN_PROVIDERS=
try Microsoft-Windows-Kernel-Process
try
echo "damaged, cut, of another version, not one at all:"
for change in "176 \0377\0377\0377\0377" "0 X" "8 \0377"; do
	cp "$index" index
	printf '%b' "${change#* }" | dd of=index bs=1 seek="${change%% *}" conv=notrunc status=none
	ETW_KNOWN_PROVIDERS=$PWD/index try '*Kernel-Process'
done
echo "zeros, then ones, in the middle of everything:"
for digits in '\0' '\377'; do
	for at in 300 3500; do
		cp "$index" index
		head -c 20000 /dev/zero | tr '\0' "$digits" |
			dd of=index bs=1024 seek=$at conv=notrunc status=none
		for wish in --search=NoSuchWordAnywhere --json; do
			status=0
			ETW_KNOWN_PROVIDERS=$PWD/index "$ETW" providers $wish >got 2>said ||
				status=$?
			[ $status -lt 4 ] || echo "status $status at $at"
			[ "$(grep -c damaged said)" -lt 2 ] || echo "told more than once at $at"
		done
	done
done
head -c 100000 "$index" >cut.index
mv cut.index index
ETW_KNOWN_PROVIDERS=$PWD/index try '*Kernel-Process'
: >index
ETW_KNOWN_PROVIDERS=$PWD/index try '*Kernel-Process'
ETW_KNOWN_PROVIDERS=$PWD/nothing try '*Kernel-Process'
