/* SPDX-License-Identifier: MIT */
/* The steps of a program, shared by the compiler and the runner. Private to src/decode. */
#ifndef ETW_DECODE_PROGRAM_INTERNAL_H
#define ETW_DECODE_PROGRAM_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/program.h"

enum step_kind {
	STEP_RUN,   /* a fixed layout: `items` prepared items over `size` payload bytes */
	STEP_SAVE,  /* keeps an integer of the run before: `size` bytes at `first` from its start */
	STEP_FIELD, /* one field whose size or number of elements depends on the payload */
	STEP_BAD,   /* cannot be decoded; see `reason` */
};

/* How the size of one element is found. */
enum size_rule {
	SIZE_FIXED,       /* `size` bytes */
	SIZE_TEXT_UNITS,  /* `size` units of text, of which those before a NUL are the value */
	SIZE_BYTES_SLOT,  /* as many bytes as slot `size` says */
	SIZE_TEXT_SLOT,   /* as many units as slot `size` says, a NUL ends the value */
	SIZE_TEXT_NUL,    /* text up to a NUL, or all that is left */
	SIZE_COUNT16,     /* u16 byte count in front */
	SIZE_COUNT16_BIG, /* the same, big-endian */
	SIZE_COUNT32,     /* u32 byte count in front */
	SIZE_TO_END,      /* all that is left */
	SIZE_SID,         /* a SID tells its own size */
	SIZE_WBEM_SID,    /* TOKEN_USER and SID, or four zero bytes */
	SIZE_STRUCT,      /* `items` steps from `first` */
};

#define STEP_OPTIONAL   0x01 /* skipped when the payload has ended */
#define STEP_ARRAY      0x02
#define STEP_TO_END     0x04 /* as many elements as the payload holds */
#define STEP_COUNT_SLOT 0x08 /* `count` is a slot */
#define STEP_SIGNED     0x10 /* STEP_SAVE: the integer is signed */

/* Value of a slot before its field was decoded. */
#define SLOT_UNSET UINT64_MAX

struct step {
	uint8_t kind;
	uint8_t rule;
	uint8_t unit; /* bytes of a text unit: 1 or 2; SIZE_WBEM_SID: bytes of TOKEN_USER */
	uint8_t flags;
	uint8_t depth; /* of the field's item */
	uint16_t field;
	uint32_t count; /* elements, or a slot */
	uint32_t size;
	uint32_t first;       /* STEP_RUN: prepared item; SIZE_STRUCT: step */
	uint32_t items;       /* STEP_RUN: prepared items; SIZE_STRUCT: steps */
	uint32_t fixed_bytes; /* SIZE_STRUCT: bytes of one struct when it is one run, else 0 */
	const char *reason;
};

/* Where a value lies in front of a walk's place. */
struct span {
	uint32_t prefix; /* before the value proper */
	uint32_t bytes;  /* the value proper */
	uint32_t taken;  /* everything */
};

/*
 * etw_step_for_value() - the step of a single value that no other field measures.
 *
 * Returns NULL, or a static sentence that says why there is none.
 */
const char *etw_step_for_value(const struct etw_field *field, unsigned pointer_bytes,
			       struct step *ret);

/* etw_step_measure() - where the value of a STEP_FIELD lies; 0, or 1 when the walk ends here. */
int etw_step_measure(struct etw_walk *walk, const struct step *step, struct span *ret);

struct etw_program {
	struct etw_wpp_form
		*wpp_form; /* owned; NULL where the schema is not that of a WPP message */
	unsigned pointer_bytes;
	bool is_fixed; /* one run and nothing else that matters */
	bool has_text; /* that is worth a look whether it is any */
	uint32_t top_steps;
	uint32_t slot_count;
	uint32_t step_count;
	size_t step_room;
	struct step *steps; /* owned; the top-level block first, the blocks of structs behind it */
	uint32_t prepared_count;
	size_t prepared_room;
	struct etw_item *prepared; /* owned; offsets and ends relative to the start of their run */
};

#endif
