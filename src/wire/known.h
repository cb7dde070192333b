/* SPDX-License-Identifier: MIT */
/*
 * The index of known providers, etw/known-providers.index: what src/schema/known/table says, for looking things
 * up in a mapped file without reading it as a whole. Our own layout. Source: docs/design/known-providers.md.
 *
 * A head, then parts, each an array of fixed-size items that begins at a multiple of 8. Items refer to items of
 * other parts by their number, to strings by their offset in the pool. A reader checks the head when it opens the
 * index, and each reference when it follows it.
 */
#ifndef ETW_WIRE_KNOWN_H
#define ETW_WIRE_KNOWN_H

#include <assert.h>

#include "base/bytes.h"

#define WIRE_KNOWN_MAGIC       "ETWKNOW\n"
#define WIRE_KNOWN_MAGIC_BYTES 8
#define WIRE_KNOWN_VERSION     1
#define WIRE_KNOWN_NONE        UINT32_MAX /* a reference to nothing */

/* The parts, in the order of the head's list, which is that of the file. */
enum wire_known_part_id {
	WIRE_KNOWN_PROVIDERS, /* struct wire_known_provider: by GUID, those without one by name behind them */
	WIRE_KNOWN_NAMES,  /* struct wire_known_name: by name, A to Z as a to z, then by provider */
	WIRE_KNOWN_EVENTS, /* struct wire_known_event: of one provider in a row, by id and version */
	WIRE_KNOWN_EXTRAS,       /* struct wire_known_extra */
	WIRE_KNOWN_LAYOUTS,      /* struct wire_known_layout */
	WIRE_KNOWN_TEMPLATES,    /* struct wire_known_template */
	WIRE_KNOWN_REFS,         /* le32: numbers of fields */
	WIRE_KNOWN_FIELDS,       /* struct wire_known_field */
	WIRE_KNOWN_MASKS,        /* le64: keywords */
	WIRE_KNOWN_NAMED,        /* struct wire_known_named */
	WIRE_KNOWN_MAPS,         /* struct wire_known_map */
	WIRE_KNOWN_ENTRIES,      /* struct wire_known_entry */
	WIRE_KNOWN_BUILDS,       /* le32: strings like "7600-9600,10240" */
	WIRE_KNOWN_CLASSES,      /* struct wire_known_class: of one provider in a row */
	WIRE_KNOWN_CLASS_ORDER,  /* le32: numbers of classes, by GUID, type and version */
	WIRE_KNOWN_CLASS_FIELDS, /* struct wire_known_class_field: of one template in a row */
	WIRE_KNOWN_STRINGS, /* bytes: UTF-8, NUL-terminated; the first and the last byte are NUL */
	WIRE_KNOWN_PARTS
};

struct wire_known_part {
	le32 offset; /* 0x00 in the file, a multiple of 8 */
	le32 count;  /* 0x04 items; of the strings bytes */
};
static_assert(sizeof(struct wire_known_part) == 8, "layout");

struct wire_known_head {
	uint8_t magic[WIRE_KNOWN_MAGIC_BYTES];          /* 0x00 */
	le32 version;                                   /* 0x08 */
	le32 head_bytes;                                /* 0x0c sizeof(struct wire_known_head) */
	le32 file_bytes;                                /* 0x10 of the whole index */
	le32 check;                                     /* 0x14 of the head, with 0 here */
	struct wire_known_part parts[WIRE_KNOWN_PARTS]; /* 0x18 */
};
static_assert(sizeof(struct wire_known_head) == 0x18 + 8 * WIRE_KNOWN_PARTS, "layout");

enum wire_known_provider_flag {
	WIRE_KNOWN_HAS_GUID = 1,
};

/* The lists of names of a provider, in the order in which they follow each other in the part NAMED. */
enum wire_known_list {
	WIRE_KNOWN_KEYWORDS,
	WIRE_KNOWN_TASKS,
	WIRE_KNOWN_LEVELS,
	WIRE_KNOWN_CHANNELS,
	WIRE_KNOWN_OPCODES, /* by value */
	WIRE_KNOWN_LISTS
};

struct wire_known_provider {
	uint8_t guid[16];                    /* 0x00 0 where none is known */
	le32 name;                           /* 0x10 string */
	le32 formerly;                       /* 0x14 string: an older name */
	le32 builds;                         /* 0x18 string */
	le32 sources;                        /* 0x1c string: names with a blank between them */
	le32 first_event;                    /* 0x20 in EVENTS */
	le32 event_count;                    /* 0x24 */
	le32 first_class;                    /* 0x28 in CLASSES */
	le32 class_count;                    /* 0x2c */
	le32 first_map;                      /* 0x30 in MAPS, by name */
	le32 map_count;                      /* 0x34 */
	le32 first_named;                    /* 0x38 in NAMED */
	le16 named_counts[WIRE_KNOWN_LISTS]; /* 0x3c */
	le16 flags;                          /* 0x46 enum wire_known_provider_flag */
};
static_assert(sizeof(struct wire_known_provider) == 0x48, "layout");

/* A name that a provider has, or had: the one of `formerly` is there too. */
struct wire_known_name {
	le32 name;     /* 0x00 string */
	le32 provider; /* 0x04 */
};
static_assert(sizeof(struct wire_known_name) == 8, "layout");

struct wire_known_event {
	le16 id;          /* 0x00 */
	uint8_t version;  /* 0x02 */
	uint8_t level;    /* 0x03 */
	le16 task;        /* 0x04 */
	uint8_t opcode;   /* 0x06 */
	uint8_t channel;  /* 0x07 0 where none or only a name is known */
	le32 template;    /* 0x08 or NONE: no fields */
	le32 mask;        /* 0x0c in MASKS: keywords without the channel bits */
	le16 builds;      /* 0x10 in BUILDS; item 0 is empty: the provider's */
	le16 other_count; /* 0x12 further layouts; the extra says where */
	le32 extra;       /* 0x14 in EXTRAS, or NONE */
};
static_assert(sizeof(struct wire_known_event) == 24, "layout");

/* What few events have. Strings are empty where they are absent. */
struct wire_known_extra {
	le32 task;          /* 0x00 string: where the number is not known */
	le32 opcode;        /* 0x04 string: where the number is not known */
	le32 channel;       /* 0x08 string: where the number is not given */
	le32 symbol;        /* 0x0c string */
	le32 keyword_names; /* 0x10 string: those whose masks are not known, with '\n' between them */
	le32 source;        /* 0x14 string: of the first layout, where it has no builds */
	le32 first_other;   /* 0x18 in LAYOUTS */
};
static_assert(sizeof(struct wire_known_extra) == 28, "layout");

struct wire_known_layout {
	le32 template; /* 0x00 or NONE */
	le32 source;   /* 0x04 string */
	le16 builds;   /* 0x08 in BUILDS */
	le16 reserved; /* 0x0a */
};
static_assert(sizeof(struct wire_known_layout) == 12, "layout");

enum wire_known_mark {
	WIRE_KNOWN_INCOMPLETE = 1,
	WIRE_KNOWN_INFERRED = 2,
	WIRE_KNOWN_DOUBT = 4,
};

/* A list of fields: of layouts, and of the members of structs. Those of classic events lie in CLASS_FIELDS. */
struct wire_known_template {
	le32 first; /* 0x00 in REFS, or in CLASS_FIELDS */
	le16 count; /* 0x04 */
	le16 marks; /* 0x06 enum wire_known_mark */
};
static_assert(sizeof(struct wire_known_template) == 8, "layout");

enum wire_known_field_flag {
	WIRE_KNOWN_LENGTH = 1, /* has a fixed length */
	WIRE_KNOWN_LENGTH_FIELD =
		2,            /* the length is the value of the field of this place in the list */
	WIRE_KNOWN_COUNT = 4, /* the same of the number of elements */
	WIRE_KNOWN_COUNT_FIELD = 8,
	WIRE_KNOWN_MAP = 0x10, /* `link` is a map */
	WIRE_KNOWN_STRUCT =
		0x20, /* `link` is the template of the members, or NONE: nobody knows them */
	WIRE_KNOWN_OUT = 0x40, /* the source names an out-type */
};

struct wire_known_field {
	le32 name;        /* 0x00 string */
	le32 link;        /* 0x04 */
	uint8_t in_type;  /* 0x08 TDH_INTYPE_* */
	uint8_t out_type; /* 0x09 TDH_OUTTYPE_* */
	le16 flags;       /* 0x0a enum wire_known_field_flag */
	le16 length;      /* 0x0c */
	le16 count;       /* 0x0e */
};
static_assert(sizeof(struct wire_known_field) == 16, "layout");

struct wire_known_named {
	le32 value; /* 0x00 of keywords the number of the mask in MASKS */
	le32 name;  /* 0x04 string */
	le16 task;  /* 0x08 of opcodes: whose own it is */
	le16 flags; /* 0x0a 1: `task` is given */
};
static_assert(sizeof(struct wire_known_named) == 12, "layout");

enum wire_known_map_kind {
	WIRE_KNOWN_VALUES,
	WIRE_KNOWN_BITS,
};

struct wire_known_map {
	le32 name;        /* 0x00 string */
	le32 first_entry; /* 0x04 in ENTRIES */
	le32 entry_count; /* 0x08 */
	le32 kind;        /* 0x0c enum wire_known_map_kind */
};
static_assert(sizeof(struct wire_known_map) == 16, "layout");

struct wire_known_entry {
	le32 value; /* 0x00 */
	le32 text;  /* 0x04 string, or NONE */
};
static_assert(sizeof(struct wire_known_entry) == 8, "layout");

/* A classic (MOF) event. */
struct wire_known_class {
	uint8_t guid[16]; /* 0x00 of the event class */
	le32 provider;    /* 0x10 */
	le16 type;        /* 0x14 */
	le16 version;     /* 0x16 UINT16_MAX: none is given */
	le32 name;        /* 0x18 string */
	le32 opcode;      /* 0x1c string */
	le32 template;    /* 0x20 or NONE */
};
static_assert(sizeof(struct wire_known_class) == 36, "layout");

/* A property with what its qualifiers say, in MOF's words. Strings are empty where they are absent. */
struct wire_known_class_field {
	le32 name;        /* 0x00 string */
	le32 type;        /* 0x04 string */
	le32 extension;   /* 0x08 string */
	le32 termination; /* 0x0c string */
	le32 format;      /* 0x10 string */
	le32 count;       /* 0x14 elements; 0: not given */
};
static_assert(sizeof(struct wire_known_class_field) == 24, "layout");

/* Bytes of one item of each part, in their order. */
#define WIRE_KNOWN_ITEM_BYTES                                                                 \
	{                                                                                     \
		sizeof(struct wire_known_provider), sizeof(struct wire_known_name),           \
			sizeof(struct wire_known_event), sizeof(struct wire_known_extra),     \
			sizeof(struct wire_known_layout), sizeof(struct wire_known_template), \
			sizeof(le32), sizeof(struct wire_known_field), sizeof(le64),          \
			sizeof(struct wire_known_named), sizeof(struct wire_known_map),       \
			sizeof(struct wire_known_entry), sizeof(le32),                        \
			sizeof(struct wire_known_class), sizeof(le32),                        \
			sizeof(struct wire_known_class_field), 1                              \
	}

/*
 * wire_known_compare_names() - the order of the part NAMES: as strcmp(), where A to Z are a to z; no other letters are.
 *
 * The program that sorts the part and the reader that searches it must agree, whatever the locale.
 */
static inline int wire_known_compare_names(const char *left, const char *right)
{
	for (;; left++, right++) {
		unsigned char a = (unsigned char)*left, b = (unsigned char)*right;

		if (a >= 'A' && a <= 'Z')
			a = (unsigned char)(a + 32);
		if (b >= 'A' && b <= 'Z')
			b = (unsigned char)(b + 32);
		if (a != b || !a)
			return a - b;
	}
}

/* wire_known_check() - what a head's `check` must be; @head has 0 there. */
static inline uint32_t wire_known_check(const struct wire_known_head *head)
{
	const uint8_t *at = (const uint8_t *)head;
	uint32_t hash = UINT32_C(0x811c9dc5);

	for (size_t i = 0; i < sizeof(*head); i++)
		hash = (hash ^ at[i]) * UINT32_C(0x01000193);
	return hash;
}

#endif
