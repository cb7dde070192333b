/* SPDX-License-Identifier: MIT */
/* The names of in-types and out-types. Prefixes are not looked at: writers mix "win:" and "xs:" up. */
#include <string.h>

#include "base/macros.h"
#include "schema/manifest_internal.h"
#include "schema/types.h"

struct type_name {
	const char *name;
	uint16_t type;
};

static const struct type_name in_types[] = {
	{"UnicodeString", TDH_INTYPE_UNICODESTRING},
	{"AnsiString", TDH_INTYPE_ANSISTRING},
	{"Int8", TDH_INTYPE_INT8},
	{"UInt8", TDH_INTYPE_UINT8},
	{"Int16", TDH_INTYPE_INT16},
	{"UInt16", TDH_INTYPE_UINT16},
	{"Int32", TDH_INTYPE_INT32},
	{"UInt32", TDH_INTYPE_UINT32},
	{"Int64", TDH_INTYPE_INT64},
	{"UInt64", TDH_INTYPE_UINT64},
	{"Float", TDH_INTYPE_FLOAT},
	{"Double", TDH_INTYPE_DOUBLE},
	{"Boolean", TDH_INTYPE_BOOLEAN},
	{"Binary", TDH_INTYPE_BINARY},
	{"GUID", TDH_INTYPE_GUID},
	{"Pointer", TDH_INTYPE_POINTER},
	{"FILETIME", TDH_INTYPE_FILETIME},
	{"SYSTEMTIME", TDH_INTYPE_SYSTEMTIME},
	{"SID", TDH_INTYPE_SID},
	{"HexInt32", TDH_INTYPE_HEXINT32},
	{"HexInt64", TDH_INTYPE_HEXINT64},
	{"CountedUnicodeString", TDH_INTYPE_MANIFEST_COUNTEDSTRING},
	{"CountedAnsiString", TDH_INTYPE_MANIFEST_COUNTEDANSISTRING},
	{"CountedBinary", TDH_INTYPE_MANIFEST_COUNTEDBINARY},
};

static const struct type_name out_types[] = {
	{"string", TDH_OUTTYPE_STRING},
	{"dateTime", TDH_OUTTYPE_DATETIME},
	{"byte", TDH_OUTTYPE_BYTE},
	{"unsignedByte", TDH_OUTTYPE_UNSIGNEDBYTE},
	{"short", TDH_OUTTYPE_SHORT},
	{"unsignedShort", TDH_OUTTYPE_UNSIGNEDSHORT},
	{"int", TDH_OUTTYPE_INT},
	{"unsignedInt", TDH_OUTTYPE_UNSIGNEDINT},
	{"long", TDH_OUTTYPE_LONG},
	{"unsignedLong", TDH_OUTTYPE_UNSIGNEDLONG},
	{"float", TDH_OUTTYPE_FLOAT},
	{"double", TDH_OUTTYPE_DOUBLE},
	{"boolean", TDH_OUTTYPE_BOOLEAN},
	{"GUID", TDH_OUTTYPE_GUID},
	{"hexBinary", TDH_OUTTYPE_HEXBINARY},
	{"HexInt8", TDH_OUTTYPE_HEXINT8},
	{"HexInt16", TDH_OUTTYPE_HEXINT16},
	{"HexInt32", TDH_OUTTYPE_HEXINT32},
	{"HexInt64", TDH_OUTTYPE_HEXINT64},
	{"PID", TDH_OUTTYPE_PID},
	{"TID", TDH_OUTTYPE_TID},
	{"Port", TDH_OUTTYPE_PORT},
	{"IPv4", TDH_OUTTYPE_IPV4},
	{"IPv6", TDH_OUTTYPE_IPV6},
	{"SocketAddress", TDH_OUTTYPE_SOCKETADDRESS},
	{"CIMDateTime", TDH_OUTTYPE_CIMDATETIME},
	{"ETWTIME", TDH_OUTTYPE_ETWTIME},
	{"Xml", TDH_OUTTYPE_XML},
	{"ErrorCode", TDH_OUTTYPE_ERRORCODE},
	{"Win32Error", TDH_OUTTYPE_WIN32ERROR},
	{"NTSTATUS", TDH_OUTTYPE_NTSTATUS},
	{"HResult", TDH_OUTTYPE_HRESULT},
	{"DateTimeCultureInsensitive", TDH_OUTTYPE_CULTURE_INSENSITIVE_DATETIME},
	{"Json", TDH_OUTTYPE_JSON},
	{"Utf8", TDH_OUTTYPE_UTF8},
	{"Pkcs7WithTypeInfo", TDH_OUTTYPE_PKCS7_WITH_TYPE_INFO},
	{"CodePointer", TDH_OUTTYPE_CODE_POINTER},
	{"DateTimeUtc", TDH_OUTTYPE_DATETIME_UTC},
};

static bool find_type(const struct type_name *types, size_t count, const char *name, uint16_t *ret)
{
	const char *colon = strrchr(name, ':');

	if (colon)
		name = colon + 1;
	for (size_t i = 0; i < count; i++) {
		if (strcmp(types[i].name, name) == 0) {
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

uint16_t etw_manifest_out_type(uint16_t in_type, const char *name)
{
	uint16_t type;

	if (name && find_type(out_types, ARRAY_SIZE(out_types), name, &type))
		return type;
	return etw_schema_out_type(in_type);
}
