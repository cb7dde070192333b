/* SPDX-License-Identifier: MIT */
/*
 * WPP messages: what a TMF file or the annotations of a PDB say of one trace statement. A message is found by
 * the GUID of its source file and its number; its arguments lie in the payload in their order, packed.
 *
 * Everything lives in the arena that the reader was given and is immutable. Text is UTF-8; NULL is "not given".
 * Source: docs/format/wpp.md.
 */
#ifndef ETW_SCHEMA_WPP_H
#define ETW_SCHEMA_WPP_H

#include <stddef.h>
#include <stdint.h>

#include <guiddef.h>

#include "schema/model.h"
#include "schema/provider_schema.h"

#define ETW_WPP_FIRST_ARGUMENT 10  /* the number of a message's first argument */
#define ETW_WPP_ARGUMENTS_MAX  256 /* of one message */

/* What an argument is; several names of the preprocessor may mean the same. */
enum etw_wpp_item {
	ETW_WPP_UNKNOWN, /* a name that is not known: nobody can tell its size */
	ETW_WPP_CHAR,
	ETW_WPP_UCHAR,
	ETW_WPP_SHORT,
	ETW_WPP_USHORT,
	ETW_WPP_LONG,
	ETW_WPP_ULONG,
	ETW_WPP_ULONG_HEX,
	ETW_WPP_LONGLONG,
	ETW_WPP_ULONGLONG,
	ETW_WPP_LONGLONG_HEX,
	ETW_WPP_LONGLONG_OCTAL,
	ETW_WPP_FLOAT,
	ETW_WPP_DOUBLE,
	ETW_WPP_POINTER,
	ETW_WPP_STRING,
	ETW_WPP_WSTRING,
	ETW_WPP_COUNTED_STRING,
	ETW_WPP_COUNTED_WSTRING,
	ETW_WPP_SID,
	ETW_WPP_GUID, /* also of classes, interfaces and type libraries */
	ETW_WPP_IPV4,
	ETW_WPP_IPV6,
	ETW_WPP_MAC,
	ETW_WPP_PORT,
	ETW_WPP_NTSTATUS,
	ETW_WPP_WIN32_ERROR,
	ETW_WPP_HRESULT,
	ETW_WPP_STATUS, /* of other kinds, such as NDIS */
	ETW_WPP_TIMESTAMP,
	ETW_WPP_TIME_DELTA,
	ETW_WPP_WAIT_TIME,
	ETW_WPP_HEX_DUMP,
	ETW_WPP_CHAR4,
	ETW_WPP_LIST_BYTE, /* a number names one entry of the list */
	ETW_WPP_LIST_SHORT,
	ETW_WPP_LIST_LONG,
	ETW_WPP_SET_BYTE, /* each bit names an entry of the list */
	ETW_WPP_SET_SHORT,
	ETW_WPP_SET_LONG,
	ETW_WPP_ENUM,
	ETW_WPP_FLAGS_ENUM,
	ETW_WPP_ITEM_COUNT
};

struct etw_wpp_argument {
	const char *expression; /* as in the source; may be empty */
	const char *item_name;  /* "ItemLong", as it was written, without its list */
	const char *list;       /* what stands in its parentheses, as it was written; NULL: none */
	const struct etw_map *names; /* of lists, sets and enums; NULL: none known */
	uint16_t number;             /* as the message's text calls it */
	enum etw_wpp_item item;
};

struct etw_wpp_message {
	GUID guid;                /* of the source file */
	uint16_t number;          /* within the source file */
	uint16_t argument_count;  /* in payload order */
	uint32_t line;            /* of the statement, from the type's name; 0: unknown */
	const char *module;       /* "BthPS3" */
	const char *type_name;    /* "L2CAP_c141" */
	const char *source_file;  /* "L2CAP.c" */
	const char *component;    /* MJ */
	const char *subcomponent; /* MN */
	const char *level;        /* "TRACE_LEVEL_ERROR" */
	const char *flags;        /* "TRACE_L2CAP" */
	const char *function;
	const char *text; /* not NULL; escapes of C resolved, inserts as they are */
	const struct etw_wpp_argument *arguments;
	const struct etw_provider_schema *control; /* who enables it; NULL: unknown */
};

/* Messages in the order in which their file has them. */
struct etw_wpp_messages {
	size_t count;
	struct etw_wpp_message *const *at;
};

#endif
