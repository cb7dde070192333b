/* SPDX-License-Identifier: MIT */
/*
 * Payload filters: conditions on the fields of events, compiled against their schema when they are made, so
 * that who applies them needs none. Windows' form is opaque; this one is our own. A blob is a head, then
 * filters, each of them a head, steps that find the fields in the payload, and predicates on some of them.
 * Source: docs/format/payload-filter.md.
 */
#ifndef ETW_WIRE_PAYLOAD_FILTER_H
#define ETW_WIRE_PAYLOAD_FILTER_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <evntprov.h>
#include <guiddef.h>

#include "base/bytes.h"
#include "base/fault.h"

#define WIRE_PAYLOAD_FILTER_MAGIC   "ETPF"
#define WIRE_PAYLOAD_FILTER_VERSION 1

#define WIRE_PAYLOAD_FILTER_BYTES_MAX 4096 /* MAX_EVENT_FILTER_PAYLOAD_SIZE */
#define WIRE_PAYLOAD_PREDICATES_MAX   8    /* MAX_PAYLOAD_PREDICATES */
#define WIRE_PAYLOAD_STEPS_MAX        255
#define WIRE_PAYLOAD_SLOTS            16 /* numbers that a walk remembers: lengths and counts */

struct wire_payload_filter {
	char magic[4];        /* 0x00 "ETPF" */
	le16 version;         /* 0x04 */
	le16 filter_count;    /* 0x06 filters follow, at least 1 */
	le32 bytes;           /* 0x08 of all */
	le32 reserved;        /* 0x0c */
	uint8_t provider[16]; /* 0x10 whose events are filtered */
};

enum wire_payload_flags {
	WIRE_PAYLOAD_ANY = 1, /* one predicate is enough; else all must hold */
	WIRE_PAYLOAD_ALL = 2, /* all filters of this event must pass; else one is enough */
};

struct wire_payload_event {
	le32 bytes;              /* 0x00 with steps and predicates */
	le16 id;                 /* 0x04 of the event */
	uint8_t version;         /* 0x06 of the event */
	uint8_t flags;           /* 0x07 enum wire_payload_flags */
	uint8_t step_count;      /* 0x08 steps follow */
	uint8_t predicate_count; /* 0x09 predicates follow the steps, at least 1 */
	le16 reserved;           /* 0x0a */
};

/* How many bytes a value takes. */
enum wire_payload_extent {
	WIRE_PAYLOAD_FIXED = 1, /* `unit` bytes */
	WIRE_PAYLOAD_POINTER,   /* as many as the event's pointers have */
	WIRE_PAYLOAD_NUL8,      /* up to a NUL, or to the end */
	WIRE_PAYLOAD_NUL16,     /* the same in units of two bytes */
	WIRE_PAYLOAD_LENGTH,    /* `length` units */
	WIRE_PAYLOAD_COUNT16,   /* a u16 of bytes in front of it */
	WIRE_PAYLOAD_SID,       /* 8 bytes, and 4 for each of what its second byte counts */
};

/* A field, or a run of them, as the walk goes over it. Slots count from 1; 0: none. */
struct wire_payload_step {
	uint8_t extent;      /* 0x00 enum wire_payload_extent */
	uint8_t keep;        /* 0x01 slot that remembers the number */
	uint8_t length_slot; /* 0x02 that says the length, in place of `length` */
	uint8_t count_slot;  /* 0x03 that says the count, in place of `count` */
	le16 unit;           /* 0x04 bytes of one unit */
	le16 length;         /* 0x06 units */
	le16 count;          /* 0x08 values */
	le16 reserved;       /* 0x0a */
};

enum wire_payload_kind {
	WIRE_PAYLOAD_SIGNED = 1, /* operands are 64 bits each */
	WIRE_PAYLOAD_UNSIGNED,
	WIRE_PAYLOAD_UTF16, /* the operand is text in upper case, without NUL */
	WIRE_PAYLOAD_ANSI,
	WIRE_PAYLOAD_GUID, /* 16 bytes */
};

/* The operands follow, and zeros up to a multiple of 4 bytes. */
struct wire_payload_predicate {
	le16 bytes;         /* 0x00 with operands and zeros */
	uint8_t operation;  /* 0x02 PAYLOAD_OPERATOR */
	uint8_t kind;       /* 0x03 enum wire_payload_kind */
	uint8_t step;       /* 0x04 index of the field's */
	uint8_t reserved;   /* 0x05 */
	le16 operand_bytes; /* 0x06 */
};

static_assert(sizeof(struct wire_payload_filter) == 32, "layout");
static_assert(sizeof(struct wire_payload_event) == 12, "layout");
static_assert(sizeof(struct wire_payload_step) == 12, "layout");
static_assert(sizeof(struct wire_payload_predicate) == 8, "layout");

/*
 * wire_payload_filter_check() - whether a blob from outside can be applied.
 *
 * @at: @bytes of a copy that nobody else writes to
 *
 * Returns 0, or -EBADMSG with @reterr.
 */
int wire_payload_filter_check(const void *at, size_t bytes, struct etw_fault *reterr);

/* An event as filters see it. */
struct wire_payload_subject {
	GUID provider;
	uint16_t id;
	uint8_t version;
	uint8_t pointer_bytes; /* 4 or 8 */
	bool is_typed; /* of the pieces those of another type are no payload; else all are */
	uint32_t data_count;
	const EVENT_DATA_DESCRIPTOR *data; /* the payload, in pieces as its writer has them */
};

/*
 * wire_payload_filter_passes() - whether an event passes.
 *
 * @checked: a blob that wire_payload_filter_check() took, unchanged since
 *
 * Events that no filter is about pass. A predicate on a field that the payload does not reach does not hold,
 * whatever its operator. Context: any thread, signal-safe, no allocation; time proportional to blob and payload, but
 * for text that is searched for parts of more than 256 characters.
 */
bool wire_payload_filter_passes(const void *checked, const struct wire_payload_subject *subject);

/* wire_payload_upper16() / _upper8() - a character as comparisons see it: without its case. */
uint16_t wire_payload_upper16(uint16_t unit);
uint8_t wire_payload_upper8(uint8_t byte);

#endif
