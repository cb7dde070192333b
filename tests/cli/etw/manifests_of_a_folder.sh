#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# --manifest goes down a folder as wevtutil im does, and tells what is wrong or of no use.
"$MAKE_TRACE" --preset wpp wpp.etl
mkdir -p schemas/drivers/deep
cp "$CASE_FOLDER/wpp_driver.tmf" schemas/drivers/deep/by_its_contents.txt
"$ETW" summary --manifest schemas wpp.etl 2>&1 | grep Decoded
cat >schemas/drivers/maps.man <<'XML'
<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events">
 <instrumentation><events>
  <provider name="Job" guid="{11111111-2222-3333-4444-555555555555}" symbol="Job"
    resourceFileName="job.dll" messageFileName="job.dll">
   <events><event value="1" template="T"/></events>
   <templates><template tid="T">
    <data name="a" inType="win:UInt32" map="NoneSuch"/>
    <data name="b" inType="win:UInt32" map="NoneOther"/>
   </template></templates>
  </provider>
 </events></instrumentation>
</instrumentationManifest>
XML
messages() {
	"$ETW" "$@" wpp.etl 2>message >page
	cat message
}
printf '<instrumentationManifest>\n<oops\n' >schemas/drivers/bad.man
printf 'MZ and so on' >schemas/drivers/cut.dll
ln -s nowhere schemas/drivers/link
messages summary --manifest schemas
echo "alone:"
messages dump --manifest schemas/drivers/maps.man
messages info --manifest schemas/drivers/maps.man --manifest schemas | grep "no event"
messages dump --manifest schemas/drivers/maps.man --max 1
echo "installed:"
"$WEVTUTIL" im schemas 2>&1 | grep -v installed
ETW_PROVIDERS_DIR=$PWD/other "$WEVTUTIL" im schemas/drivers/maps.man 2>&1
