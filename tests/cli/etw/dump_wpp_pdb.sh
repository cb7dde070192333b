#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# WPP messages with the PDB of their component: text, function, and names of an enumeration out
# of its types.
"$MAKE_TRACE" --preset wpp wpp.etl
{
	cat "$CASE_FOLDER/wpp_driver.tmf"
	cat <<'END'
#typev Device_c90 13 "%0state %10!s!" // LEVEL=TRACE_LEVEL_INFORMATION FUNC=DeviceState
{
state, ItemEnum(DEVICE_STATE) -- 10
}
#enumv DEVICE_STATE
{
Stopped,0x0
Running,0x7
}
END
} >driver.tmf
"$MAKE_PDB" driver.tmf driver.pdb
rm driver.tmf
"$ETW" dump --manifest driver.pdb --provider Driver wpp.etl
"$ETW" dump --manifest driver.pdb --provider Driver --event Device_c90 --json wpp.etl
head -c 600 driver.pdb >cut.pdb
"$ETW" dump --manifest cut.pdb wpp.etl 2>&1 || echo "exit $?"
