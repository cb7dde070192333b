#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Files that are no traces are called what they are, with what to do; pipes are traces like others.
"$MAKE_TRACE" --preset plain plain.etl
gzip -c plain.etl >plain.etl.gz
printf 'PK\003\004 and so on' >plain.zip
printf '\375\067zXZ\000 and so on' >plain.xz
printf 'MSCF\000\000\000\000 and so on' >plain.cab
printf '7z\274\257\047\034 and so on' >'two words.7z'
printf 'ElfFile\000 and so on' >log.evtx
printf '\060\000\000\000LfLe and so on' >log.evt
printf 'Microsoft C/C++ MSF 7.00\r\n\032DS' >job.pdb
printf 'MZ and so on' >job.dll
printf 'PAGEDU64' >memory.dmp
printf '\012\015\015\012 and so on' >net.pcapng
printf '<?xml version="1.0"?>\n<instrumentationManifest/>\n' >job.man
printf '<?xml version="1.0"?>\n<page/>\n' >page.xml
printf '<WindowsPerformanceRecorder Version="1.0">' >job.wprp
printf '\377\376<\0i\0n\0s\0t\0r\0u\0m\0e\0n\0t\0a\0t\0i\0o\0n\0M\0a\0n\0i\0f\0e\0s\0t\0' >wide.man
printf '#pragma autorecover\nclass A {};\n' >a.txt
printf 'class A {};\n' >job.mof
printf '// PDB: a.pdb\n#typev a_c1 10 "%%0%%10!d!" // LEVEL=1\n{\n}\n' >job.tmf
printf '{"events": 3}\n' >events.json
: >empty.etl
head -c 8192 /dev/zero >zeros.etl
mkdir none some
cp plain.etl some
for file in plain.etl.gz plain.zip plain.xz plain.cab two*.7z log.* job.* memory.dmp net.pcapng \
	page.xml wide.man a.txt events.json empty.etl zeros.etl none some /bin/sh; do
	"$ETW" "$file" 2>&1 || echo "status $?"
done
"$ETW" - <plain.etl.gz 2>&1 || echo "status $?"
"$ETW" dump <(cat plain.etl) 2>&1 | tail -n 1
