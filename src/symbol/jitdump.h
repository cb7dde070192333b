/* SPDX-License-Identifier: MIT */
/*
 * jitdump: binary files in which code generators say what code they made, where and when, jit-PID.dump. As perf's
 * documentation has them (tools/perf/Documentation/jitdump-specification.txt), of either byte order. Addresses are used
 * again, so every function has its time.
 */
#ifndef ETW_SYMBOL_JITDUMP_H
#define ETW_SYMBOL_JITDUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "symbol/strings.h"

/* What is kept of a hostile file at most. */
#define ETW_SYMBOL_JIT_FUNCTIONS_MAX ((size_t)1 << 21)
#define ETW_SYMBOL_JIT_LINES_MAX     ((size_t)1 << 22)
#define ETW_SYMBOL_JIT_DEBUG_BYTES   ((size_t)1 << 22) /* of one record of lines */

/* The time to ask for when it is not known: what was made last. */
#define ETW_SYMBOL_JIT_LATEST UINT64_MAX

struct etw_symbol_jit_line {
	uint64_t address; /* from here on */
	uint32_t line;
	const char *file; /* kept by `strings` */
};

struct etw_symbol_jit_function {
	uint64_t start, bytes;
	uint64_t from_ns, to_ns; /* to: exclusive; UINT64_MAX: it was never moved away */
	uint64_t index;          /* of the code generator's own counting */
	const char *name;        /* kept by `strings` */
	uint64_t origin;         /* where its lines say that it is: it may have been moved */
	size_t first_line, line_count;
	size_t number; /* in the order of the file */
};

struct etw_symbol_jitdump {
	struct etw_symbol_jit_function *at; /* owned; by address once the file was read */
	uint64_t *reach; /* owned; by function, how far it and those before it reach */
	size_t count, room;
	struct etw_symbol_jit_line *lines; /* owned */
	size_t line_count, line_room;
	size_t record_count;     /* that were read, of use or not */
	bool has_monotonic_time; /* else times are a processor's own, and mean nothing here */
	bool is_cut;             /* the file ends within a record, or goes beyond the limits */
};

/* Reads bytes of the file at an offset; returns how many, fewer at its end only. */
typedef size_t etw_symbol_jit_read(void *context, uint64_t offset, void *to, size_t bytes);

/* etw_symbol_jitdump_done() - frees all. */
void etw_symbol_jitdump_done(struct etw_symbol_jitdump *dump);

/*
 * etw_symbol_jitdump_parse() - takes in a whole file.
 *
 * @ret: to be freed by etw_symbol_jitdump_done(), also after a failure
 *
 * A damaged record ends the reading; what was before it counts. Returns 0; -EBADMSG: the header is none; -ENOMEM.
 */
int etw_symbol_jitdump_parse(etw_symbol_jit_read *read, void *context,
			     struct etw_symbol_strings *strings, struct etw_symbol_jitdump *ret,
			     struct etw_fault *reterr);

/*
 * etw_symbol_jitdump_find() - the function that was at an address at a time; where all that were there came later, as
 * a code generator may tell of a function after it has run, the first of them.
 *
 * Returns NULL when none was ever there.
 */
const struct etw_symbol_jit_function *etw_symbol_jitdump_find(const struct etw_symbol_jitdump *dump,
							      uint64_t address, uint64_t time_ns);

/* etw_symbol_jitdump_line() - the line of an address of a function; NULL: unknown. */
const struct etw_symbol_jit_line *etw_symbol_jitdump_line(
	const struct etw_symbol_jitdump *dump, const struct etw_symbol_jit_function *function,
	uint64_t address);

#endif
