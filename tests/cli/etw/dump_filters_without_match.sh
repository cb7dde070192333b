#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A pattern that fits nothing is named, with the provider that was perhaps meant.
"$MAKE_TRACE" --preset session session.etl
for words in "--provider synthetic-biuld" "--provider Prozess" "--provider '' " \
	"--provider nothing --provider Process" "--event Nothing --event Process/Start" \
	"--provider nothing --event Nothing" "--pid 123456 --provider nothing" \
	"--event '' " "--provider {1234}" "--provider 9e814aad-3204-11d2-9a82"; do
	echo "$words"
	eval "\"\$ETW\" dump session.etl $words" 2>&1 >events | grep -v shown || true
	wc -l <events
done
"$ETW" dump --provider '{1234}' session.etl 2>error || echo "status $?"
"$ETW" dump --event '' session.etl 2>error || echo "status $?"
