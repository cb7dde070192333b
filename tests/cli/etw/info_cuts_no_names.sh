#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Names stay whole when nobody looks at them on a terminal.
"$MAKE_TRACE" --preset plain plain.etl
cat >job.man <<'END'
<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events">
<instrumentation><events>
<provider name="Job-Maker" guid="{9e2f0c11-5a47-4c5e-9b01-020304050607}" symbol="JOB"
	resourceFileName="job" messageFileName="job">
<tasks><task name="AJobWhoseNameWouldNotFitOntoOneLineOfATerminalOfEightyColumns"
	value="1"/></tasks>
<events><event value="2" task="AJobWhoseNameWouldNotFitOntoOneLineOfATerminalOfEightyColumns"
	template="T"/></events>
<templates><template tid="T"><data name="Number" inType="win:UInt32"/></template></templates>
</provider>
</events></instrumentation>
</instrumentationManifest>
END
"$ETW" info --manifest job.man plain.etl | grep AJob
