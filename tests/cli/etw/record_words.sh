#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Levels and kernel flags in any case; NAME:LEVEL:ANY:ALL is not the order of Windows' tools.
mkdir -m 700 run
export ETW_RUNTIME_DIR=$PWD/run ETWD_IDLE_MS=200
for words in x:Informational x:VERBOSE:0x10 x:0x10:5 x:16:5 x:16:0x100 x:255:5 x:0x80 \
	x:256 x:5:info x:5:1x 'x:5:1,,' 'x:5:,'; do
	echo "${words}"
	"$ETW" record --provider "${words}" -o x.etl -- true 2>&1 |
		grep 'order\|level\|keyword' || true
done
# Keywords by name, of the table of known providers; what is behind KEYWORD_ is enough.
kernel=Microsoft-Windows-Kernel
for words in ${kernel}-Process::thread,0x10 \
	${kernel}-Memory::KERNEL_MEM_KEYWORD_MEMINFO+MEMINFO_EX \
	${kernel}-Memory::0x20:meminfo ${kernel}-Memory::meminf ${kernel}-Disk::read; do
	echo "${words}"
	"$ETW" record --provider "${words}" -o x.etl -- true 2>&1 |
		grep 'names of\|no keyword\|order' || true
done
"$ETW" record --kernel PROCESS,Disk -o x.etl -- true 2>&1 || echo "status $?"
