/* SPDX-License-Identifier: MIT */
/*
 * Compiled event schemas for tests and fuzzing: a WEVT_TEMPLATE resource that has every kind of list, the
 * message table that belongs to it, and PE files around them. The places of its parts are kept, so that a
 * test can damage one at a time.
 */
#ifndef ETW_TESTS_SYNTHETIC_MADE_WEVT_H
#define ETW_TESTS_SYNTHETIC_MADE_WEVT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <guiddef.h>

#include "wire/wevt.h"

#define MADE_WEVT_BYTES     8192
#define MADE_MESSAGES_BYTES 2048
#define MADE_PE_BYTES       32768

struct made_wevt {
	uint8_t at[MADE_WEVT_BYTES];
	size_t bytes;
	uint32_t provider;               /* offset of "WEVT" */
	uint32_t lists[WIRE_WEVT_KINDS]; /* offsets; 0: not there */
	uint32_t traits;                 /* of the first trait */
	uint32_t events;                 /* of the first event */
	uint32_t maps[2];                /* a value map, a bit map */
	uint32_t query;
	uint32_t templates[2];
	uint32_t items[2];
	uint32_t keywords; /* offsets of keywords of the first event */
};

extern const GUID made_wevt_guid;
extern const GUID made_wevt_control_guid;
extern const GUID made_wevt_group_guid;
extern const GUID made_wevt_task_guid;

/*
 * made_wevt_init() - the resource, as a compiler of this major version (3 or 5) would write it.
 *
 * What stands in it is what tests/unit/schema/test_wevt.c expects.
 */
void made_wevt_init(struct made_wevt *wevt, uint16_t major);

/* made_wevt_set32() / _set16() - changes a number. */
void made_wevt_set32(struct made_wevt *wevt, size_t offset, uint32_t value);
void made_wevt_set16(struct made_wevt *wevt, size_t offset, uint16_t value);

struct made_message {
	uint32_t id;
	const char *text; /* ASCII, with its line ends */
	bool is_ansi;
};

struct made_messages {
	uint8_t at[MADE_MESSAGES_BYTES];
	size_t bytes;
};

/* made_messages_init() - a message table of messages in ascending order. */
void made_messages_init(struct made_messages *table, const struct made_message *messages,
			size_t count);

/* made_messages_of_wevt() - the table that belongs to made_wevt_init(). */
void made_messages_of_wevt(struct made_messages *table);

struct made_resource {
	uint32_t type; /* 0: WEVT_TEMPLATE */
	uint32_t name;
	uint32_t language;
	const uint8_t *at;
	size_t bytes;
};

struct made_pe {
	uint8_t at[MADE_PE_BYTES];
	size_t bytes;
	size_t head;      /* offset of "PE" */
	size_t optional;  /* offset of the optional header */
	size_t sections;  /* offset of the section table */
	size_t directory; /* offset of the resource directory */
	size_t data;      /* offset of the first resource's struct wire_resource_data */
};

/*
 * made_pe_init() - a PE file with these resources.
 *
 * @resources: those of one type and name behind each other, templates first; none: no directory
 */
void made_pe_init(struct made_pe *pe, bool is_64bit, const struct made_resource *resources,
		  size_t count);

#endif
