#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Compressed files and manifests are called what they are.
"$MAKE_TRACE" --preset plain plain.etl
gzip -c plain.etl >plain.etl.gz
printf 'PK\003\004 and so on' >plain.zip
printf '\375\067zXZ\000 and so on' >plain.xz
printf '<?xml version="1.0"?>\n<instrumentationManifest/>\n' >job.man
printf '<?xml version="1.0"?>\n<page/>\n' >page.xml
printf '\377\376<\0i\0n\0s\0t\0r\0u\0m\0e\0n\0t\0a\0t\0i\0o\0n\0M\0a\0n\0i\0f\0e\0s\0t\0' >wide.man
for file in plain.etl.gz plain.zip plain.xz job.man page.xml wide.man; do
	"$ETW" "$file" 2>&1 || echo "status $?"
done
