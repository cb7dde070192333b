/* SPDX-License-Identifier: MIT */
/*
 * Event metadata of merged traces, as TDH of the recording machine wrote it: TRACE_EVENT_INFO,
 * EVENT_PROPERTY_INFO and EVENT_MAP_INFO in their memory layout; and PROVIDER_FILTER_INFO, which has
 * properties too, but is in no trace. Every offset in them counts from the
 * first byte of the enclosing TRACE_EVENT_INFO or EVENT_MAP_INFO; 0 means absent; strings are
 * UTF-16LE with a terminating NUL. [SDK] documented, [OBS merged] seen in merged traces.
 */
#ifndef ETW_WIRE_EVENT_INFO_H
#define ETW_WIRE_EVENT_INFO_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

/* Opcodes of the class {bbccf6c1-6cd1-48c4-80ff-839482e37671}. [OBS merged] */
#define WIRE_EVENT_METADATA_INFO 0x20 /* payload: a TRACE_EVENT_INFO */
#define WIRE_EVENT_METADATA_MAP  0x21 /* payload: provider GUID, then an EVENT_MAP_INFO */

#define WIRE_EVENT_INFO_BYTES    112
#define WIRE_FILTER_INFO_BYTES   16
#define WIRE_PROPERTY_INFO_BYTES 24
#define WIRE_MAP_INFO_BYTES      16
#define WIRE_MAP_ENTRY_BYTES     8

struct wire_event_info {
	uint8_t provider[16];   /* 0x00 GUID [SDK] */
	uint8_t event_guid[16]; /* 0x10 GUID [SDK] */
	le16 id;                /* 0x20 [SDK] */
	uint8_t version;        /* 0x22 [SDK] */
	uint8_t channel;        /* 0x23 [SDK] */
	uint8_t level;          /* 0x24 [SDK] */
	uint8_t opcode;         /* 0x25 [SDK] */
	le16 task;              /* 0x26 [SDK] */
	le64 keyword;           /* 0x28 bit mask [SDK] */
	le32 decoding_source;   /* 0x30 DECODING_SOURCE [SDK] */
	le32 provider_name;     /* 0x34 offset [SDK] */
	le32 level_name;        /* 0x38 offset [SDK] */
	le32 channel_name;      /* 0x3c offset [SDK] */
	le32 keywords_name;     /* 0x40 offset of strings, an empty one ends the list [SDK] */
	le32 task_name;         /* 0x44 offset [SDK] */
	le32 opcode_name;       /* 0x48 offset [SDK] */
	le32 event_message;     /* 0x4c offset; text ends in one blank [OBS merged] */
	le32 provider_message;  /* 0x50 offset [SDK] */
	le32 binary_xml;        /* 0x54 offset [SDK] */
	le32 binary_xml_bytes;  /* 0x58 [SDK] */
	le32 event_name;        /* 0x5c offset; MOF: of the activity id's name [SDK] */
	le32 event_attributes;  /* 0x60 offset; MOF: of the related activity id's name [SDK] */
	le32 property_count;    /* 0x64 struct members included [SDK] */
	le32 top_level_count;   /* 0x68 [SDK] */
	le32 flags;             /* 0x6c TEMPLATE_FLAGS low 4 bits, event tags above [SDK] */
};

/* TDH's answer about a filter; offsets in it count from its own first byte. */
struct wire_filter_info {
	uint8_t value;          /* 0x00 [SDK] */
	uint8_t version;        /* 0x01 [SDK] */
	uint8_t reserved_02[2]; /* 0x02 [SDK] */
	le32 message;           /* 0x04 offset [SDK] */
	le32 reserved_08;       /* 0x08 [SDK] */
	le32 property_count;    /* 0x0c struct members included [GUESS] */
};

struct wire_property_info {
	le32 flags;    /* 0x00 PROPERTY_FLAGS [SDK] */
	le32 name;     /* 0x04 offset [SDK] */
	le16 in_type;  /* 0x08 TDH_INTYPE, or index of a struct's first member [SDK] */
	le16 out_type; /* 0x0a TDH_OUTTYPE, or number of a struct's members [SDK] */
	le32 map_name; /* 0x0c offset of the name, or of a custom schema; unused in structs [SDK] */
	le16 count;    /* 0x10 elements, or index of the property that counts them [SDK] */
	le16 length;   /* 0x12 units of the in-type, or index of the property that tells [SDK] */
	le32 tags;     /* 0x14 low 28 bits, with PropertyHasTags [SDK] */
};

/* What a property's map_name leads to with PropertyHasCustomSchema: this, and so many bytes. */
struct wire_custom_schema {
	le16 protocol; /* 0x00 5 to 31 [SDK] */
	le16 bytes;    /* 0x02 [SDK] */
};

struct wire_map_info {
	le32 name;        /* 0x00 offset [SDK] */
	le32 flags;       /* 0x04 MAP_FLAGS [SDK] */
	le32 entry_count; /* 0x08 [SDK] */
	le32 value_type;  /* 0x0c MAP_VALUETYPE, or offset of a pattern map's format [SDK] */
};

struct wire_map_entry {
	le32 text;  /* 0x00 offset; text ends in one blank [OBS merged] */
	le32 value; /* 0x04 value, mask or bit number; string maps: offset of the input [SDK] */
};

static_assert(sizeof(struct wire_event_info) == WIRE_EVENT_INFO_BYTES, "layout");
static_assert(offsetof(struct wire_event_info, keyword) == 0x28, "layout");
static_assert(offsetof(struct wire_event_info, event_message) == 0x4c, "layout");
static_assert(offsetof(struct wire_event_info, flags) == 0x6c, "layout");
static_assert(sizeof(struct wire_filter_info) == WIRE_FILTER_INFO_BYTES, "layout");
static_assert(sizeof(struct wire_property_info) == WIRE_PROPERTY_INFO_BYTES, "layout");
static_assert(offsetof(struct wire_property_info, count) == 0x10, "layout");
static_assert(sizeof(struct wire_map_info) == WIRE_MAP_INFO_BYTES, "layout");
static_assert(sizeof(struct wire_map_entry) == WIRE_MAP_ENTRY_BYTES, "layout");

#endif
