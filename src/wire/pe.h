/* SPDX-License-Identifier: MIT */
/*
 * Portable executables, as far as resources need them. Offsets of resources count from the first byte of
 * the resource directory, addresses from the image's base in memory.
 */
#ifndef ETW_WIRE_PE_H
#define ETW_WIRE_PE_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

#define WIRE_PE_DOS_MAGIC      0x5a4du /* "MZ" */
#define WIRE_PE_DOS_BYTES      64
#define WIRE_PE_DOS_NEW_HEADER 0x3c /* where the DOS header has the offset of struct wire_pe_head */

struct wire_pe_head {
	char magic[4];       /* 0x00 "PE", NUL, NUL [SDK] */
	le16 machine;        /* 0x04 [SDK] */
	le16 section_count;  /* 0x06 [SDK] */
	le32 time;           /* 0x08 [SDK] */
	le32 symbols;        /* 0x0c [SDK] */
	le32 symbol_count;   /* 0x10 [SDK] */
	le16 optional_bytes; /* 0x14 of the optional header, which follows [SDK] */
	le16 flags;          /* 0x16 [SDK] */
};

/* The optional header begins with one of these; its directories stand at one of these places. [SDK] */
#define WIRE_PE_32             0x010bu
#define WIRE_PE_32_PLUS        0x020bu
#define WIRE_PE_32_DIRECTORIES 96
#define WIRE_PE_64_DIRECTORIES 112

#define WIRE_PE_RESOURCES 2 /* index of a directory */

struct wire_pe_directory {
	le32 address; /* 0x00 [SDK] */
	le32 bytes;   /* 0x04 [SDK] */
};

/* Behind the optional header. */
struct wire_pe_section {
	char name[8];       /* 0x00 [SDK] */
	le32 memory_bytes;  /* 0x08 [SDK] */
	le32 address;       /* 0x0c [SDK] */
	le32 file_bytes;    /* 0x10 [SDK] */
	le32 file_offset;   /* 0x14 [SDK] */
	uint8_t unused[12]; /* 0x18 relocations and line numbers [SDK] */
	le32 flags;         /* 0x24 [SDK] */
};

/* One of three levels: by type, by name or number, by language. */
struct wire_resource_directory {
	le32 flags;        /* 0x00 [SDK] */
	le32 time;         /* 0x04 [SDK] */
	le16 major;        /* 0x08 [SDK] */
	le16 minor;        /* 0x0a [SDK] */
	le16 named_count;  /* 0x0c entries follow, those with names first [SDK] */
	le16 number_count; /* 0x0e [SDK] */
};

struct wire_resource_entry {
	le32 name; /* 0x00 number, or WIRE_RESOURCE_BIT and the offset of a name [SDK] */
	le32 data; /* 0x04 offset of data, or WIRE_RESOURCE_BIT and that of a directory [SDK] */
};

#define WIRE_RESOURCE_BIT UINT32_C(0x80000000)

#define WIRE_RESOURCE_MESSAGE_TABLE 11 /* a type */

struct wire_resource_data {
	le32 address;   /* 0x00 [SDK] */
	le32 bytes;     /* 0x04 [SDK] */
	le32 code_page; /* 0x08 [SDK] */
	le32 reserved;  /* 0x0c [SDK] */
};

static_assert(sizeof(struct wire_pe_head) == 24, "layout");
static_assert(sizeof(struct wire_pe_section) == 40, "layout");
static_assert(sizeof(struct wire_resource_directory) == 16, "layout");
static_assert(sizeof(struct wire_resource_data) == 16, "layout");

#endif
