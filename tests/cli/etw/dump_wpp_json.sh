#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# WPP messages as JSON: the TMF file lies in a folder.
"$MAKE_TRACE" --preset wpp wpp.etl
cat >driver.tmf <<'END'
// PDB:  driver.pdb
1d0c5d2b-3c4d-4a5b-8c07-060504030201 Driver // SRC=Device.c MJ= MN=
#typev Device_c41 10 "%0[%!FUNC!] --> Entry" //   LEVEL=TRACE_LEVEL_VERBOSE FLAGS=TRACE_DEVICE FUNC=DeviceAdd
{
}
#typev Device_c57 11 "%0[%!FUNC!] opening %11!s! for 0x%12!p! failed with status %10!s!" //   LEVEL=TRACE_LEVEL_ERROR FLAGS=TRACE_DEVICE FUNC=DeviceOpen
{
status, ItemNTSTATUS -- 10
context->Path, ItemString -- 11
WdfObjectContextGetObject(context), ItemPtr -- 12
}
#typev Device_c80 12 "%0irql %10!s! name %11!S! ratio %12!.2f! (%10!d!)" //   LEVEL=TRACE_LEVEL_INFORMATION FLAGS=TRACE_DEVICE FUNC=DeviceIo
{
KeGetCurrentIrql(), ItemListByte(Low,APC,DPC) -- 10
name, ItemWString -- 11
ratio, ItemDouble -- 12
}
#typev Device_c99 14 "%0object %10!p!" //   LEVEL=TRACE_LEVEL_INFORMATION FLAGS=TRACE_DEVICE FUNC=DeviceIo
{
object, ItemPtr -- 10
}
END
mkdir tmf
mv driver.tmf tmf
"$ETW" dump --json --manifest tmf wpp.etl
