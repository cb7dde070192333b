/* SPDX-License-Identifier: MIT */
/*
 * How one finds a function's caller, from the tables that compilers make for every function (.eh_frame). Of the
 * registers the stack pointer, the frame pointer and the return address are followed. Compilers describe nearly every
 * place of a program by these three; a place that takes more has no rule here. The tables are believed as far as they stay inside the
 * object: nothing outside of it is read.
 *
 * Source: LSB core "Exception Frames", DWARF 5 section 6.4.
 */
#ifndef ETW_BASE_UNWIND_H
#define ETW_BASE_UNWIND_H

#include <stdbool.h>
#include <stdint.h>

/* What the offset of a place counts from. */
enum etw_unwind_base {
	ETW_UNWIND_STACK = 0, /* the stack pointer */
	ETW_UNWIND_FRAME = 1, /* the frame pointer */
	ETW_UNWIND_CFA = 2,   /* the caller's stack pointer */
};

enum etw_unwind_kind {
	ETW_UNWIND_SAME = 0,  /* as it is in the register */
	ETW_UNWIND_SAVED = 1, /* in memory, at base and offset */
	ETW_UNWIND_NONE = 2,  /* there is none */
};

struct etw_unwind_place {
	uint8_t kind; /* enum etw_unwind_kind */
	uint8_t base; /* enum etw_unwind_base */
	int32_t offset;
};

/* What holds at an address of code. */
struct etw_unwind_rule {
	struct etw_unwind_place
		cfa; /* SAME: the base and offset themselves; SAVED: what is there in memory */
	struct etw_unwind_place frame, address; /* the caller's frame pointer; where it goes on */
	bool is_signal; /* the kernel's frame of a signal: the "caller" was interrupted */
};

/* An object as it lies in memory, or the part of it that has its tables. */
struct etw_unwind_object {
	uintptr_t start, end; /* start 0: none was looked up */
	const uint8_t *table; /* .eh_frame_hdr; NULL: it has none */
};

/*
 * etw_unwind_find_rule() - the rule for an address of an object.
 *
 * Returns whether the tables have one that struct etw_unwind_rule can hold. Context: any thread, signal-safe, no allocation.
 */
bool etw_unwind_find_rule(const struct etw_unwind_object *object, uintptr_t pc,
			  struct etw_unwind_rule *ret);

/*
 * etw_unwind_find_rule_within() - the same of an object that somebody else made: an entry may be as long as its file, and
 * is read byte by byte.
 *
 * @left: how many bytes of entries may be read; becomes less by those of this one, and 0 where they are not enough
 */
bool etw_unwind_find_rule_within(const struct etw_unwind_object *object, uintptr_t pc,
				 uint64_t *left, struct etw_unwind_rule *ret);

#endif
