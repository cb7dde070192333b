#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Two files define one provider under two names, with different fields: told of once, with both
# files, when they are named and when their folder is installed. The one that fits counts.
"$MAKE_TRACE" --preset loss trace.etl
mkdir folder
write() {
	cat <<END
<instrumentationManifest><instrumentation><events>
<provider name="$1" guid="{9e2f0c11-5a47-4c5e-9b01-0203040506aa}" symbol="P">
<templates><template tid="t">$2</template></templates>
<events><event value="1" template="t"/><event value="2"/></events>
</provider></events></instrumentation></instrumentationManifest>
END
}
write First '<data name="a" inType="win:UInt32"/>' >folder/first.man
write Second '<data name="a" inType="win:UInt8"/>' >folder/second.man
write First '<data name="b" inType="win:UInt8"/>' >third.man
"$ETW" dump --manifest folder trace.etl 2>&1 >/dev/null | grep -o 'folder/.*' | cut -d';' -f1
"$ETW" dump --manifest folder/first.man --manifest third.man trace.etl 2>&1 >/dev/null |
	grep -o 'first.man and .*' | cut -d';' -f1
export ETW_PROVIDERS_DIR=$PWD/installed
"$WEVTUTIL" im folder 2>&1 | sed "s|$PWD/||g" | cut -d';' -f1
# A folder with two versions of one manifest is no conflict.
mkdir versions
cp folder/first.man third.man versions
ETW_PROVIDERS_DIR=$PWD/other "$WEVTUTIL" im versions 2>&1
