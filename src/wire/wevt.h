/* SPDX-License-Identifier: MIT */
/*
 * WEVT_TEMPLATE: what the message compiler makes of an instrumentation manifest. Major version 3 or 5.
 * Every offset counts from the first byte of struct wire_wevt_head; 0 means absent. Names are sized:
 * a 32-bit count of bytes (itself, NUL and padding included), then UTF-16LE, NUL, zeros. Values of traits
 * and attributes are UTF-16LE with NUL and no size. Message number 0xffffffff: none.
 * [OBS mc] seen in the message compiler's output.
 */
#ifndef ETW_WIRE_WEVT_H
#define ETW_WIRE_WEVT_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

#define WIRE_WEVT_NO_MESSAGE UINT32_C(0xffffffff)
#define WIRE_WEVT_MAJOR_MIN  3
#define WIRE_WEVT_MAJOR_MAX  5

/* Kinds of lists. [OBS mc] */
enum wire_wevt_kind {
	WIRE_WEVT_LEVELS,
	WIRE_WEVT_TASKS,
	WIRE_WEVT_OPCODES,
	WIRE_WEVT_KEYWORDS,
	WIRE_WEVT_EVENTS,
	WIRE_WEVT_CHANNELS,
	WIRE_WEVT_MAPS,
	WIRE_WEVT_TEMPLATES,
	WIRE_WEVT_QUERIES,
	WIRE_WEVT_FILTERS,
	WIRE_WEVT_ATTRIBUTES = 12,
	WIRE_WEVT_TRAITS,
	WIRE_WEVT_KINDS,
};

struct wire_wevt_head {
	char magic[4];       /* 0x00 "CRIM" [OBS mc] */
	le32 bytes;          /* 0x04 of the resource, without two zeros at its end [OBS mc] */
	le16 major;          /* 0x08 [OBS mc] */
	le16 minor;          /* 0x0a [OBS mc] */
	le32 provider_count; /* 0x0c entries follow [OBS mc] */
};

struct wire_wevt_provider_entry {
	uint8_t guid[16]; /* 0x00 [OBS mc] */
	le32 offset;      /* 0x10 of a wire_wevt_provider [OBS mc] */
};

struct wire_wevt_provider {
	char magic[4];   /* 0x00 "WEVT" [OBS mc] */
	le32 bytes;      /* 0x04 with its lists [OBS mc] */
	le32 message;    /* 0x08 message number [OBS mc] */
	le32 list_count; /* 0x0c entries follow [OBS mc] */
};

struct wire_wevt_list_entry {
	le32 kind;   /* 0x00 enum wire_wevt_kind [OBS mc] */
	le32 offset; /* 0x04 of a wire_wevt_list [OBS mc] */
};

/* Of events and filters one more word follows, without a meaning. An empty list has 0 bytes. */
struct wire_wevt_list {
	char magic[4]; /* 0x00 [OBS mc] */
	le32 bytes;    /* 0x04 [OBS mc] */
	le32 count;    /* 0x08 entries [OBS mc] */
};

struct wire_wevt_channel {
	le32 flags;   /* 0x00 1: imported [OBS mc] */
	le32 name;    /* 0x04 offset, sized [OBS mc] */
	le32 value;   /* 0x08 [OBS mc] */
	le32 message; /* 0x0c [OBS mc] */
};

#define WIRE_WEVT_CHANNEL_IMPORTED 1u

struct wire_wevt_level {
	le32 value;   /* 0x00 [OBS mc] */
	le32 message; /* 0x04 [OBS mc] */
	le32 name;    /* 0x08 offset, sized [OBS mc] */
};

struct wire_wevt_task {
	le32 value;             /* 0x00 [OBS mc] */
	le32 message;           /* 0x04 [OBS mc] */
	uint8_t event_guid[16]; /* 0x08 null: none [OBS mc] */
	le32 name;              /* 0x18 offset, sized [OBS mc] */
};

struct wire_wevt_opcode {
	le16 task;    /* 0x00 0: every task's [OBS mc] */
	le16 value;   /* 0x02 [OBS mc] */
	le32 message; /* 0x04 [OBS mc] */
	le32 name;    /* 0x08 offset, sized [OBS mc] */
};

struct wire_wevt_keyword {
	le64 mask;    /* 0x00 [OBS mc] */
	le32 message; /* 0x08 [OBS mc] */
	le32 name;    /* 0x0c offset, sized [OBS mc] */
};

struct wire_wevt_event {
	le16 id;            /* 0x00 [OBS mc] */
	uint8_t version;    /* 0x02 [OBS mc] */
	uint8_t channel;    /* 0x03 [OBS mc] */
	uint8_t level;      /* 0x04 [OBS mc] */
	uint8_t opcode;     /* 0x05 [OBS mc] */
	le16 task;          /* 0x06 [OBS mc] */
	le64 keyword;       /* 0x08 [OBS mc] */
	le32 message;       /* 0x10 [OBS mc] */
	le32 template;      /* 0x14 offset [OBS mc] */
	le32 opcode_entry;  /* 0x18 offset of a wire_wevt_opcode [OBS mc] */
	le32 level_entry;   /* 0x1c offset of a wire_wevt_level [OBS mc] */
	le32 task_entry;    /* 0x20 offset of a wire_wevt_task [OBS mc] */
	le32 keyword_count; /* 0x24 [OBS mc] */
	le32 keywords;      /* 0x28 offset of offsets of wire_wevt_keyword [OBS mc] */
	le32 channel_entry; /* 0x2c offset of a wire_wevt_channel [OBS mc] */
};

/* The list of maps, and that of queries, holds offsets of these. */
struct wire_wevt_map {
	char magic[4]; /* 0x00 "VMAP" or "BMAP" [OBS mc] */
	le32 bytes;    /* 0x04 without the name [OBS mc] */
	le32 name;     /* 0x08 offset, sized [OBS mc] */
	le32 flags;    /* 0x0c 1: bits [OBS mc] */
	le32 count;    /* 0x10 entries follow [OBS mc] */
};

struct wire_wevt_map_entry {
	le32 value;   /* 0x00 [OBS mc] */
	le32 message; /* 0x04 [OBS mc] */
};

struct wire_wevt_query {
	char magic[4]; /* 0x00 "QUER" [OBS mc] */
	le32 bytes;    /* 0x04 to the end of its strings [OBS mc] */
	le32 name;     /* 0x08 offset, sized [OBS mc] */
	le32 format;   /* 0x0c offset, sized [OBS mc] */
	le32 count;    /* 0x10 entries follow [OBS mc] */
};

struct wire_wevt_pattern {
	le32 name;  /* 0x00 offset, sized [OBS mc] */
	le32 value; /* 0x04 offset, sized [OBS mc] */
};

struct wire_wevt_trait {
	le32 key;   /* 0x00 [OBS mc] */
	le32 value; /* 0x04 offset [OBS mc] */
};

#define WIRE_WEVT_TRAIT_NAME         UINT32_C(0x10000001)
#define WIRE_WEVT_TRAIT_CONTROL_GUID UINT32_C(0x20000001)
#define WIRE_WEVT_TRAIT_GROUP_GUID   UINT32_C(0x20000002)

struct wire_wevt_attribute {
	uint8_t key;     /* 0x00 [OBS mc] */
	uint8_t version; /* 0x01 of the event [OBS mc] */
	le16 id;         /* 0x02 of the event [OBS mc] */
	le32 value;      /* 0x04 offset [OBS mc] */
};

#define WIRE_WEVT_ATTRIBUTE_NAME  0x11 /* the event's name */
#define WIRE_WEVT_ATTRIBUTE_VALUE 0x12 /* one of "KEY=value" */

struct wire_wevt_filter {
	uint8_t value;   /* 0x00 [OBS mc] */
	uint8_t version; /* 0x01 [OBS mc] */
	le16 reserved;   /* 0x02 [OBS mc] */
	le32 message;    /* 0x04 [OBS mc] */
	le32 name;       /* 0x08 offset, sized [OBS mc] */
	le32 template;   /* 0x0c offset [OBS mc] */
};

struct wire_wevt_template {
	char magic[4];  /* 0x00 "TEMP" [OBS mc] */
	le32 bytes;     /* 0x04 with fragment, items and names [OBS mc] */
	le32 top_count; /* 0x08 [OBS mc] */
	le32 count;     /* 0x0c members of structs included [OBS mc] */
	le32 items;     /* 0x10 offset [OBS mc] */
	le32 type;      /* 0x14 1: EventData, 2: UserData [OBS mc] */
	uint8_t id[16]; /* 0x18 GUID made from the shape; a binary XML fragment follows [OBS mc] */
};

struct wire_wevt_item {
	le32 flags;       /* 0x00 [OBS mc] */
	uint8_t types[4]; /* 0x04 in-type, out-type, 0, 0; struct: see below [OBS mc] */
	le32 map;         /* 0x08 offset [OBS mc] */
	le16 count;       /* 0x0c elements, or the index of an item [OBS mc] */
	le16 length;      /* 0x0e units, or the index of an item [OBS mc] */
	le32 name;        /* 0x10 offset, sized [OBS mc] */
};

/* Flags of items. With STRUCT the four bytes at 0x04 are first member and number of members, 16 bits each. */
#define WIRE_WEVT_ITEM_STRUCT       0x01u
#define WIRE_WEVT_ITEM_FIXED_LENGTH 0x02u
#define WIRE_WEVT_ITEM_LENGTH       0x04u /* `length` is an index */
#define WIRE_WEVT_ITEM_FIXED_COUNT  0x08u
#define WIRE_WEVT_ITEM_COUNT        0x10u /* `count` is an index */

static_assert(sizeof(struct wire_wevt_head) == 16, "layout");
static_assert(sizeof(struct wire_wevt_provider_entry) == 20, "layout");
static_assert(sizeof(struct wire_wevt_provider) == 16, "layout");
static_assert(sizeof(struct wire_wevt_list) == 12, "layout");
static_assert(sizeof(struct wire_wevt_channel) == 16, "layout");
static_assert(sizeof(struct wire_wevt_level) == 12, "layout");
static_assert(sizeof(struct wire_wevt_task) == 28, "layout");
static_assert(sizeof(struct wire_wevt_opcode) == 12, "layout");
static_assert(sizeof(struct wire_wevt_keyword) == 16, "layout");
static_assert(sizeof(struct wire_wevt_event) == 48, "layout");
static_assert(offsetof(struct wire_wevt_event, template) == 0x14, "layout");
static_assert(sizeof(struct wire_wevt_map) == 20, "layout");
static_assert(sizeof(struct wire_wevt_query) == 20, "layout");
static_assert(sizeof(struct wire_wevt_attribute) == 8, "layout");
static_assert(sizeof(struct wire_wevt_filter) == 16, "layout");
static_assert(sizeof(struct wire_wevt_template) == 40, "layout");
static_assert(sizeof(struct wire_wevt_item) == 20, "layout");

#endif
