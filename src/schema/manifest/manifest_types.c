/* SPDX-License-Identifier: MIT */
/*
 * The names of in-types and out-types, and which go together. Prefixes are not looked at: writers mix
 * "win:" and "xs:" up.
 */
#include "schema/manifest/manifest_types.h"

#include <string.h>

#include "base/macros.h"
#include "schema/types.h"

struct type_name {
	const char *name;
	uint16_t type;
};

static const struct type_name in_types[] = {
	{"win:UnicodeString", TDH_INTYPE_UNICODESTRING},
	{"win:AnsiString", TDH_INTYPE_ANSISTRING},
	{"win:Int8", TDH_INTYPE_INT8},
	{"win:UInt8", TDH_INTYPE_UINT8},
	{"win:Int16", TDH_INTYPE_INT16},
	{"win:UInt16", TDH_INTYPE_UINT16},
	{"win:Int32", TDH_INTYPE_INT32},
	{"win:UInt32", TDH_INTYPE_UINT32},
	{"win:Int64", TDH_INTYPE_INT64},
	{"win:UInt64", TDH_INTYPE_UINT64},
	{"win:Float", TDH_INTYPE_FLOAT},
	{"win:Double", TDH_INTYPE_DOUBLE},
	{"win:Boolean", TDH_INTYPE_BOOLEAN},
	{"win:Binary", TDH_INTYPE_BINARY},
	{"win:GUID", TDH_INTYPE_GUID},
	{"win:Pointer", TDH_INTYPE_POINTER},
	{"win:FILETIME", TDH_INTYPE_FILETIME},
	{"win:SYSTEMTIME", TDH_INTYPE_SYSTEMTIME},
	{"win:SID", TDH_INTYPE_SID},
	{"win:HexInt32", TDH_INTYPE_HEXINT32},
	{"win:HexInt64", TDH_INTYPE_HEXINT64},
	{"win:CountedUnicodeString", TDH_INTYPE_MANIFEST_COUNTEDSTRING},
	{"win:CountedAnsiString", TDH_INTYPE_MANIFEST_COUNTEDANSISTRING},
	{"win:CountedBinary", TDH_INTYPE_MANIFEST_COUNTEDBINARY},
};

static const struct type_name out_types[] = {
	{"xs:string", TDH_OUTTYPE_STRING},
	{"xs:dateTime", TDH_OUTTYPE_DATETIME},
	{"xs:byte", TDH_OUTTYPE_BYTE},
	{"xs:unsignedByte", TDH_OUTTYPE_UNSIGNEDBYTE},
	{"xs:short", TDH_OUTTYPE_SHORT},
	{"xs:unsignedShort", TDH_OUTTYPE_UNSIGNEDSHORT},
	{"xs:int", TDH_OUTTYPE_INT},
	{"xs:unsignedInt", TDH_OUTTYPE_UNSIGNEDINT},
	{"xs:long", TDH_OUTTYPE_LONG},
	{"xs:unsignedLong", TDH_OUTTYPE_UNSIGNEDLONG},
	{"xs:float", TDH_OUTTYPE_FLOAT},
	{"xs:double", TDH_OUTTYPE_DOUBLE},
	{"xs:boolean", TDH_OUTTYPE_BOOLEAN},
	{"xs:GUID", TDH_OUTTYPE_GUID},
	{"xs:hexBinary", TDH_OUTTYPE_HEXBINARY},
	{"win:HexInt8", TDH_OUTTYPE_HEXINT8},
	{"win:HexInt16", TDH_OUTTYPE_HEXINT16},
	{"win:HexInt32", TDH_OUTTYPE_HEXINT32},
	{"win:HexInt64", TDH_OUTTYPE_HEXINT64},
	{"win:PID", TDH_OUTTYPE_PID},
	{"win:TID", TDH_OUTTYPE_TID},
	{"win:Port", TDH_OUTTYPE_PORT},
	{"win:IPv4", TDH_OUTTYPE_IPV4},
	{"win:IPv6", TDH_OUTTYPE_IPV6},
	{"win:SocketAddress", TDH_OUTTYPE_SOCKETADDRESS},
	{"win:CIMDateTime", TDH_OUTTYPE_CIMDATETIME},
	{"win:ETWTIME", TDH_OUTTYPE_ETWTIME},
	{"win:Xml", TDH_OUTTYPE_XML},
	{"win:ErrorCode", TDH_OUTTYPE_ERRORCODE},
	{"win:Win32Error", TDH_OUTTYPE_WIN32ERROR},
	{"win:NTSTATUS", TDH_OUTTYPE_NTSTATUS},
	{"win:HResult", TDH_OUTTYPE_HRESULT},
	{"win:DateTimeCultureInsensitive", TDH_OUTTYPE_CULTURE_INSENSITIVE_DATETIME},
	{"win:Json", TDH_OUTTYPE_JSON},
	{"win:Utf8", TDH_OUTTYPE_UTF8},
	{"win:Pkcs7WithTypeInfo", TDH_OUTTYPE_PKCS7_WITH_TYPE_INFO},
	{"win:CodePointer", TDH_OUTTYPE_CODE_POINTER},
	{"win:DateTimeUtc", TDH_OUTTYPE_DATETIME_UTC},
};

static bool find_type(const struct type_name *types, size_t count, const char *name, uint16_t *ret)
{
	const char *colon = strrchr(name, ':');

	if (colon)
		name = colon + 1;
	for (size_t i = 0; i < count; i++) {
		if (strcmp(strchr(types[i].name, ':') + 1, name) == 0) {
			*ret = types[i].type;
			return true;
		}
	}
	return false;
}

bool etw_manifest_in_type(const char *name, uint16_t *ret)
{
	return find_type(in_types, ARRAY_SIZE(in_types), name, ret);
}

bool etw_manifest_out_type(const char *name, uint16_t *ret)
{
	return find_type(out_types, ARRAY_SIZE(out_types), name, ret);
}

static const char *name_of(const struct type_name *types, size_t count, uint16_t type)
{
	for (size_t i = 0; i < count; i++) {
		if (types[i].type == type)
			return types[i].name;
	}
	return NULL;
}

const char *etw_manifest_in_type_name(uint16_t in_type)
{
	return name_of(in_types, ARRAY_SIZE(in_types), in_type);
}

const char *etw_manifest_out_type_name(uint16_t out_type)
{
	return name_of(out_types, ARRAY_SIZE(out_types), out_type);
}

/* Out-types besides the default, one bit each. */
#define OUT(name) (UINT64_C(1) << TDH_OUTTYPE_##name)
#define MARKUP    (OUT(XML) | OUT(JSON))
#define CLOCK     (OUT(CULTURE_INSENSITIVE_DATETIME) | OUT(DATETIME_UTC))
#define BLOB      (OUT(IPV6) | OUT(SOCKETADDRESS) | OUT(PKCS7_WITH_TYPE_INFO))

static const uint64_t other_out_types[] = {
	[TDH_INTYPE_UNICODESTRING] = MARKUP,
	[TDH_INTYPE_ANSISTRING] = MARKUP | OUT(UTF8),
	[TDH_INTYPE_INT8] = OUT(STRING),
	[TDH_INTYPE_UINT8] = OUT(HEXINT8) | OUT(STRING) | OUT(BOOLEAN),
	[TDH_INTYPE_UINT16] = OUT(PORT) | OUT(HEXINT16) | OUT(STRING),
	[TDH_INTYPE_INT32] = OUT(HRESULT),
	[TDH_INTYPE_UINT32] = OUT(PID) | OUT(TID) | OUT(IPV4) | OUT(ETWTIME) | OUT(ERRORCODE) |
			      OUT(WIN32ERROR) | OUT(NTSTATUS) | OUT(HEXINT32) | OUT(CODE_POINTER),
	[TDH_INTYPE_UINT64] = OUT(HEXINT64) | OUT(ETWTIME) | OUT(CODE_POINTER),
	[TDH_INTYPE_BINARY] = BLOB,
	[TDH_INTYPE_POINTER] = OUT(CODE_POINTER) | OUT(UNSIGNEDLONG) | OUT(LONG),
	[TDH_INTYPE_FILETIME] = CLOCK,
	[TDH_INTYPE_SYSTEMTIME] = CLOCK,
	[TDH_INTYPE_HEXINT32] = OUT(WIN32ERROR) | OUT(NTSTATUS) | OUT(ERRORCODE) |
				OUT(CODE_POINTER),
	[TDH_INTYPE_HEXINT64] = OUT(CODE_POINTER),
	[TDH_INTYPE_MANIFEST_COUNTEDSTRING] = MARKUP,
	[TDH_INTYPE_MANIFEST_COUNTEDANSISTRING] = MARKUP | OUT(UTF8),
	[TDH_INTYPE_MANIFEST_COUNTEDBINARY] = BLOB,
};

bool etw_manifest_is_pair(uint16_t in_type, uint16_t out_type)
{
	if (out_type == etw_schema_out_type(in_type))
		return true;
	return in_type < ARRAY_SIZE(other_out_types) && out_type < 64 &&
	       (other_out_types[in_type] >> out_type & 1);
}
