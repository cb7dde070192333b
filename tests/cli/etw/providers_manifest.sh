#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Manifests of providers load again and say the same; what they cannot say is told.
"$ETW" providers Microsoft-Windows-Kernel-Network --manifest --output network.man
"$WEVTUTIL" im network.man
"$ETW" providers Microsoft-Windows-Kernel-Network --installed | sed "s#$PWD#.#" | head -4
for source in known installed; do
	"$ETW" providers Microsoft-Windows-Kernel-Network --$source --json >$source.json
done
python3 - <<'END'
import json


def facts(name):
    """Events as tuples: numbers, names, fields."""
    provider = json.load(open(name, encoding="utf-8"))
    return [(event["id"], event["version"], event["level"], event["opcode"], event["task"],
             event.get("task_name"), event.get("keyword_names"), event["layouts"][0]["fields"])
            for event in provider["events"]]


known, installed = facts("known.json"), facts("installed.json")
print(len(known), "events,", sum(left != right for left, right in zip(known, installed)), "differ")
END
"$ETW" providers Microsoft-Windows-Kernel-Network --installed --manifest >again.man
cmp network.man again.man && echo "the same manifest of what is installed"
echo "what a manifest cannot say:"
for provider in Microsoft-Windows-Kernel-Process Microsoft-Windows-Kernel-Memory \
	Microsoft-Windows-Ntfs; do
	"$ETW" providers $provider --manifest --output x.man 2>&1
done
"$ETW" providers Microsoft-Windows-DNS-Client --manifest --build 26200 >26200.man 2>/dev/null
"$ETW" providers Microsoft-Windows-DNS-Client --manifest >newest.man 2>/dev/null
for file in 26200 newest; do
	"$WEVTUTIL" im $file.man
	"$ETW" providers Microsoft-Windows-DNS-Client --event 8050 | tail -n +7
	"$WEVTUTIL" um $file.man
done
"$ETW" providers Microsoft-Windows-DNS-Client --manifest --build 7600 --known --output x.man 2>&1
name_of() {
	sed 's/.*"provider":"\([^"]*\)".*/\1/' | head -1
}
"$ETW" providers --json >all
no_guid=$(grep -v '"guid"' all | name_of)
"$ETW" providers "$no_guid" --manifest 2>&1 || echo "status $?"
classic=$(grep '"event_count":0' all | grep -v '"classic_event_count":0' | name_of)
"$ETW" providers "$classic" --manifest 2>&1 || echo "status $?"
