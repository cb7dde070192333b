#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A pattern that fits nothing is named, with the provider that was perhaps meant.
"$MAKE_TRACE" --preset session session.etl
for words in "--provider synthetic-biuld" "--provider Prozess" "--provider '' " \
	"--provider nothing --provider Process" "--event Nothing --event Process/Start" \
	"--provider nothing --event Nothing" "--pid 123456 --provider nothing" \
	"--provider Process --event Sttart" "--provider Process --provider Thread --event Nothing" \
	"--provider Process --event CSwitch" "--provider Synthetic-Build --pid 900" \
	"--pid 900 --event Compile*" "--pid 1024 --provider Process --event DCStart" \
	"--provider Process --event Job* --from 0.01" \
	"--event '' " "--provider {1234}" "--provider 9e814aad-3204-11d2-9a82"; do
	echo "$words"
	eval "\"\$ETW\" dump session.etl $words" 2>&1 >events | grep -v shown || true
	wc -l <events
done
"$ETW" dump --provider '{1234}' session.etl 2>error || echo "status $?"
"$ETW" dump --event '' session.etl 2>error || echo "status $?"
"$ETW" dump --no-decode --event Start session.etl 2>&1 || echo "status $?"
