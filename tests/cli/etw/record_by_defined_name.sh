#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A provider goes by the name that a manifest gives it, one that was named or is installed.
mkdir -m 700 run
export ETW_RUNTIME_DIR=$PWD/run ETWD_IDLE_MS=200
cat >work.man <<'END'
<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events">
 <instrumentation><events>
  <provider name="Contoso-Work" guid="{2b7f4f6e-8f0c-4a5e-9d11-6f1f5c0a7e31}" symbol="WORK"
   resourceFileName="w" messageFileName="w">
   <events><event symbol="E" value="9" version="0"/></events>
  </provider>
 </events></instrumentation>
</instrumentationManifest>
END
record() {
	"$ETW" record --provider "$1" -o x.etl "${@:2}" -- "$WRITE_EVENTS" 2 >out 2>err ||
		echo "status $?"
	cat out
	grep '^no event\|^write_events: enabled' err || true
}
record contoso-work:info
record contoso-work:info --manifest work.man
"$WEVTUTIL" im work.man
record Contoso-Work:5
record '*Contoso-Work:5'
"$ETW" record --manifest none.man --provider x -o y.etl -- touch ran 2>&1 || echo "status $?"
ls
