#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Messages of a manifest, filled in, in both forms: escapes, inserts without a value, one that means
# harm.
"$MAKE_TRACE" --preset plain plain.etl
cat >messages.man <<'MANIFEST'
<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events"
 xmlns:win="http://manifests.microsoft.com/win/2004/08/windows/events">
<instrumentation><events>
<provider name="Plain" guid="{9e2f0c11-5a47-4c5e-9b01-020304050607}" symbol="P"
 resourceFileName="p.dll" messageFileName="p.dll">
<maps><valueMap name="Verb">
<map value="0" message="$(string.get)"/><map value="1" message="$(string.put)"/>
</valueMap></maps>
<templates>
<template tid="Number"><data name="Number" inType="win:UInt32"/></template>
<template tid="Verb"><data name="Verb" inType="win:UInt32" map="Verb"/></template>
<template tid="Two">
<data name="A" inType="win:UInt32"/><data name="B" inType="win:UInt32"/>
</template>
</templates>
<events>
<event value="1" symbol="E1" template="Number" message="$(string.number)"/>
<event value="2" symbol="E2" template="Verb" message="$(string.verb)"/>
<event value="3" symbol="E3" template="Two" message="$(string.two)"/>
</events>
</provider>
</events></instrumentation>
<localization><resources culture="en-US"><stringTable>
<string id="get" value="GET"/><string id="put" value="PUT"/>
<string id="number" value="100%% of &quot;number&quot; %1 (%1!04x!)%n%tand no %9"/>
<string id="verb" value="Request %1 for %2"/>
<string id="two" value="&#x202e;&#x9b;31m%1 %2%0 not shown"/>
</stringTable></resources></localization>
</instrumentationManifest>
MANIFEST
"$ETW" dump plain.etl --manifest messages.man --provider Plain --max 6 --time relative
"$ETW" dump plain.etl --manifest messages.man --provider Plain --max 3 --json |
	sed 's/.*"cpu":[01]//'
