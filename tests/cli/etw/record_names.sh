#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A name of this second that is taken, by another recording or whatever, gets a number.
mkdir -m 700 run
export ETW_RUNTIME_DIR=$PWD/run ETWD_IDLE_MS=200
for ((i = 0; i < 60; i++)); do
	printf -v moment '%(etw-%Y%m%d-%H%M%S)T' $((EPOCHSECONDS + i))
	echo taken >"$moment.etl"
	echo taken >"$moment-2.etl"
done
"$ETW" record --provider MyCompany-Test --duration 0.1 >said
tail -n 1 said | sed -e "s|$PWD|FOLDER|" -e 's/[0-9]\{8\}-[0-9]\{6\}/DATE-TIME/'
"$ETW" info -- *-3.etl | tail -n 1
echo "$(cat -- *[0-9][0-9].etl *-2.etl | grep -c '^taken$') files are as they were"
# Behind -o, -- is a name.
"$ETW" record --provider MyCompany-Test --duration 0.1 -o -- | tail -n 1 | sed "s|$PWD|FOLDER|"
