/* SPDX-License-Identifier: MIT */
/* Writes one event with a field of every kind, and one with what nests: check_recorded.py knows their values. */
#include <TraceLoggingProvider.h>

TRACELOGGING_DEFINE_PROVIDER(values, "Libetw.Test.Values",
			     (0x1ab2c3d4, 0x1111, 0x2222, 1, 2, 3, 4, 5, 6, 7, 8),
			     TraceLoggingOptionGroup(9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 1));

static void write_scalars(void)
{
	static const WCHAR wide[] = {'w', 0xe4, 0};
	static const UINT8 bytes[] = {1, 2, 0xfe};
	static const INT32 numbers[] = {-1, 0, 2147483647};
	const GUID guid = {0x01020304, 0x0506, 0x0708, {1, 2, 3, 4, 5, 6, 7, 8}};
	SID sid = {1, 1, {{0, 0, 0, 0, 0, 5}}, {18}};

	TraceLoggingWrite(
		values, "Scalars", TraceLoggingLevel(WINEVENT_LEVEL_WARNING),
		TraceLoggingKeyword(0x10), TraceLoggingInt8(-128, "Int8"),
		TraceLoggingUInt16(65535, "UInt16"),
		TraceLoggingInt64(-9223372036854775807LL - 1, "Int64"),
		TraceLoggingUInt64(0xFFFFFFFFFFFFFFFFu, "UInt64"),
		TraceLoggingHexUInt32(0xFEDCBA98u, "Hex"), TraceLoggingFloat64(-2.5, "Float"),
		TraceLoggingBoolean(TRUE, "Boolean"), TraceLoggingString("narrow", "String"),
		TraceLoggingUtf8String("\xc3\xa4", "Utf8"), TraceLoggingWideString(wide, "Wide"),
		TraceLoggingCountedString("counted", 5, "Counted"),
		TraceLoggingString((const char *)NULL, "Null"), TraceLoggingGuid(guid, "Guid"),
		TraceLoggingSid(&sid, "Sid"), TraceLoggingBinary(bytes, 3, "Binary"),
		TraceLoggingInt32Array(numbers, 3, "Numbers"),
		TraceLoggingInt32FixedArray(numbers, 2, "Fixed"),
		TraceLoggingInt32Array(numbers, 0, "None"),
		TraceLoggingValue(42, "Value", "described", 0x200000));
}

static void write_structures(void)
{
	static const struct {
		INT32 x, y;
	} points[] = {{1, 2}, {3, 4}};

	TraceLoggingWrite(values, "Structures", TraceLoggingStruct(2, "Outer"),
			  TraceLoggingInt32(1, "A"), TraceLoggingStruct(1, "Inner"),
			  TraceLoggingInt32(2, "B"), TraceLoggingStructArray(2, 2, "Points"),
			  TraceLoggingPackedMetadata(TlgInINT32, "X"),
			  TraceLoggingPackedMetadata(TlgInINT32, "Y"),
			  TraceLoggingPackedData(points, sizeof(points)),
			  TraceLoggingString("last", "After"));
}

int main(void)
{
	if (TraceLoggingRegister(values) != S_OK)
		return 1;
	write_scalars();
	write_structures();
	TraceLoggingUnregister(values);
	return 0;
}
