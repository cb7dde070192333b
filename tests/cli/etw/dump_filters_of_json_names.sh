#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# --event takes opcodes as JSON names them, win: included.
"$MAKE_TRACE" --preset plain plain.etl
cat >job.man <<'END'
<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events">
<instrumentation><events>
<provider name="Job-Maker" guid="{9e2f0c11-5a47-4c5e-9b01-020304050607}" symbol="JOB"
	resourceFileName="job" messageFileName="job">
<tasks><task name="Job" value="1"/></tasks>
<events><event value="2" task="Job" opcode="win:Start" template="T"/></events>
<templates><template tid="T"><data name="Number" inType="win:UInt32"/></template></templates>
</provider>
</events></instrumentation>
</instrumentationManifest>
END
for event in win:Start Job/win:Start 'job/WIN:*' win:Stop; do
	"$ETW" dump --manifest job.man plain.etl --event "$event" 2>/dev/null | wc -l
done
"$ETW" dump --manifest job.man plain.etl --event win:Start --max 1
"$ETW" dump --json --manifest job.man plain.etl --event win:Start --max 1
