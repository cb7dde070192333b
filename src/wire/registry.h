/* SPDX-License-Identifier: MIT */
/*
 * The files of a provider registry: its index, and the container for what was taken out of a compiled
 * binary. Our own layouts; no genuine file has them. Source: docs/design/registry.md.
 *
 * The index is a head, provider rows, file rows, and a pool of NUL-terminated UTF-8 strings; offsets into
 * the pool are from its start, and 0 is the empty string, which stands for "not given".
 */
#ifndef ETW_WIRE_REGISTRY_H
#define ETW_WIRE_REGISTRY_H

#include <assert.h>

#include "base/bytes.h"

#define WIRE_REGISTRY_MAGIC       "ETWREG\r\n"
#define WIRE_REGISTRY_MAGIC_BYTES 8
#define WIRE_REGISTRY_VERSION     1
#define WIRE_REGISTRY_SHA1_BYTES  20

struct wire_registry_head {
	uint8_t magic[WIRE_REGISTRY_MAGIC_BYTES]; /* 0x00 */
	le32 version;                             /* 0x08 */
	le32 head_bytes;                          /* 0x0c sizeof(struct wire_registry_head) */
	le64 file_bytes;                          /* 0x10 of the whole index */
	le64 check;        /* 0x18 etw_registry_check() of all that follows the head */
	le32 row_count;    /* 0x20 */
	le32 file_count;   /* 0x24 */
	le32 string_bytes; /* 0x28 of the pool; its last byte is NUL */
	le32 reserved_2c;  /* 0x2c */
	le64 generation;   /* 0x30 one more with every change */
	le64 reserved_38;  /* 0x38 */
};
static_assert(sizeof(struct wire_registry_head) == 64, "layout");

/* What a row's GUID stands for. */
enum wire_registry_role {
	WIRE_REGISTRY_PROVIDER = 1, /* a provider that a definition describes */
	WIRE_REGISTRY_EVENTS = 2, /* events are written with it: class, WPP source, control GUID */
};

/* What a row counts, in the order of wire_registry_row.counts. */
enum wire_registry_count {
	WIRE_REGISTRY_COUNT_EVENTS,
	WIRE_REGISTRY_COUNT_LEVELS,
	WIRE_REGISTRY_COUNT_TASKS,
	WIRE_REGISTRY_COUNT_OPCODES,
	WIRE_REGISTRY_COUNT_KEYWORDS,
	WIRE_REGISTRY_COUNT_CHANNELS,
	WIRE_REGISTRY_COUNT_MAPS,
	WIRE_REGISTRY_COUNT_FILTERS,
	WIRE_REGISTRY_COUNTS
};

/* Sorted by GUID (as bytes), file, role; no two rows are equal in all three. */
struct wire_registry_row {
	uint8_t guid[16];                  /* 0x00 */
	le32 name;                         /* 0x10 in the pool */
	le32 file;                         /* 0x14 index of its file row */
	le32 source;                       /* 0x18 DECODING_SOURCE: 0 to 2 */
	le32 role;                         /* 0x1c enum wire_registry_role */
	le32 counts[WIRE_REGISTRY_COUNTS]; /* 0x20 */
};
static_assert(sizeof(struct wire_registry_row) == 64, "layout");

enum wire_registry_kind {
	WIRE_REGISTRY_MANIFEST = 1, /* XML, as it was given */
	WIRE_REGISTRY_BINARY = 2,   /* struct wire_registry_binary */
	WIRE_REGISTRY_MOF = 3,      /* text, as it was given */
	WIRE_REGISTRY_TMF = 4,      /* text, as it was given or out of a PDB */
	WIRE_REGISTRY_KINDS
};

/* In the order in which the files were imported. */
struct wire_registry_file {
	uint8_t sha1[WIRE_REGISTRY_SHA1_BYTES]; /* 0x00 of the stored definition; its name */
	le32 kind;                              /* 0x14 enum wire_registry_kind */
	le64 bytes;                             /* 0x18 of the stored definition */
	le64 imported_ft;                       /* 0x20 FILETIME */
	le32 from;                              /* 0x28 path it was imported from, in the pool */
	le32 resource_file;                     /* 0x2c as the user said; in the pool */
	le32 message_file;                      /* 0x30 */
	le32 parameter_file;                    /* 0x34 */
	le32 reserved_38;                       /* 0x38 */
	le32 reserved_3c;                       /* 0x3c */
};
static_assert(sizeof(struct wire_registry_file) == 64, "layout");

#define WIRE_REGISTRY_BINARY_MAGIC "ETWRES\r\n"
#define WIRE_REGISTRY_TABLES_MAX   16

/* Followed by table_count times struct wire_registry_table, the template, and the tables, packed. */
struct wire_registry_binary {
	uint8_t magic[WIRE_REGISTRY_MAGIC_BYTES]; /* 0x00 */
	le32 template_bytes;                      /* 0x08 WEVT_TEMPLATE */
	le32 table_count; /* 0x0c RT_MESSAGETABLE, the one that is asked first comes first */
};
static_assert(sizeof(struct wire_registry_binary) == 16, "layout");

struct wire_registry_table {
	le32 bytes;
	le32 language; /* Windows' number */
};
static_assert(sizeof(struct wire_registry_table) == 8, "layout");

#endif
