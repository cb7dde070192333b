/* SPDX-License-Identifier: MIT */
/*
 * What was mapped where and when, for each process. What a trace tells is kept as it comes; the spans of time are made
 * of it, in order of time, when somebody asks.
 *
 * Paths, modules and tables are the caller's, and are compared as pointers.
 */
#ifndef ETW_SYMBOL_IMAGES_H
#define ETW_SYMBOL_IMAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/table.h"
#include "symbol/model.h"
#include "symbol/table.h"

/* What one event says of an image: a statement. */
enum etw_symbol_statement_kind {
	ETW_SYMBOL_STATEMENT_LOAD = 0,
	ETW_SYMBOL_STATEMENT_UNLOAD,
	ETW_SYMBOL_STATEMENT_WAS_LOADED,
	ETW_SYMBOL_STATEMENT_IS_LOADED,
	ETW_SYMBOL_STATEMENT_BUILD_ID,
	ETW_SYMBOL_STATEMENT_SYMBOLS,
	ETW_SYMBOL_STATEMENT_INHERITED,
};

struct etw_symbol_statement {
	enum etw_symbol_statement_kind kind;
	uint8_t build_id_bytes;
	uint8_t build_id[ETW_SYMBOL_BUILD_ID_BYTES]; /* of BUILD_ID */
	uint64_t base;
	int64_t time_raw;
	uint64_t bytes;                /* of images */
	const char *path;              /* of images */
	struct etw_symbol_table *told; /* of SYMBOLS; owned by the process */
	uint32_t of_pid;               /* of INHERITED: who has the same image at that time */
	size_t number;                 /* in the order in which they were told */
};

/*
 * An image in a process, from a time to a time, both inclusive: the stack of what unloads it, or ends its process, is of the
 * moment of the unload.
 */
struct etw_symbol_span {
	uint64_t base, end;
	int64_t from_raw, to_raw;
	const char *path;
	uint8_t build_id[ETW_SYMBOL_BUILD_ID_BYTES];
	uint8_t build_id_bytes;
	struct etw_symbol_table *told; /* NULL: none */
	/* Whose image it is a copy of: that one's symbols are its own, too. */
	bool is_inherited;
	uint32_t of_pid;
	int64_t inherited_raw; /* when both had it */
	void *module;          /* the caller's; NULL until it sets it */
	bool is_chosen;        /* the caller's: the module is the one to ask */
};

struct etw_symbol_process {
	uint32_t pid;
	struct etw_symbol_statement *statements; /* owned */
	size_t statement_count, statement_room;
	struct etw_symbol_span *spans; /* owned; by base, then by time; valid when is_made */
	uint64_t *reach;               /* owned; by span, how far it and those before it reach */
	size_t span_count;
	bool is_made;
	void *code; /* the caller's: what code generators left for this process; NULL until it sets it */
};

struct etw_symbol_images {
	struct etw_arena arena;                 /* of processes */
	struct etw_table by_pid;                /* of struct etw_symbol_process */
	size_t statements_left, processes_left; /* that may still be added */
};

/* etw_symbol_images_init() - knows nothing yet. What is kept at most: */
static inline void etw_symbol_images_init(struct etw_symbol_images *images, size_t statements_max,
					  size_t processes_max)
{
	*images = (struct etw_symbol_images){
		.statements_left = statements_max,
		.processes_left = processes_max,
	};
}

/* etw_symbol_images_done() - frees all, and the tables of symbols that were told. */
void etw_symbol_images_done(struct etw_symbol_images *images);

/* etw_symbol_images_each() - calls @visit for every process. */
void etw_symbol_images_each(const struct etw_symbol_images *images,
			    void (*visit)(struct etw_symbol_process *process, void *context),
			    void *context);

/* etw_symbol_images_process() - the process of this id, or NULL. */
struct etw_symbol_process *etw_symbol_images_process(const struct etw_symbol_images *images,
						     uint32_t pid);

/* etw_symbol_images_need_process() - made where it is not there. Returns 0; -E2BIG; -ENOMEM. */
int etw_symbol_images_need_process(struct etw_symbol_images *images, uint32_t pid,
				   struct etw_symbol_process **ret);

/*
 * etw_symbol_images_keep() - keeps a statement about an image of a process.
 *
 * Returns 0; -E2BIG beyond the limit; -ENOMEM.
 */
int etw_symbol_images_keep(struct etw_symbol_images *images, uint32_t pid,
			   const struct etw_symbol_statement *statement);

/*
 * etw_symbol_images_told() - the table for symbols that are told of the image at a base: the one that was filled last, or
 * a new one.
 *
 * @left: of new ones; as etw_symbol_table_init() takes it
 *
 * Returns likewise.
 */
int etw_symbol_images_told(struct etw_symbol_images *images, uint32_t pid, uint64_t base,
			   int64_t time_raw, size_t *left, struct etw_symbol_table **ret);

/*
 * etw_symbol_process_find() - what the process had at an address at a time: the youngest that covers both, so of two in one place at
 * the moment when one follows the other the later.
 *
 * Returns NULL when nothing does, and when memory ran out. The span holds until something is told of the process.
 */
struct etw_symbol_span *etw_symbol_process_find(struct etw_symbol_process *process,
						uint64_t address, int64_t time_raw);

/*
 * etw_symbol_images_told_at() - a symbol that the trace has of an image, or of the one that it is a copy of.
 *
 * @offset: from the image's base
 *
 * Returns NULL when there is none.
 */
struct etw_symbol_entry *etw_symbol_images_told_at(const struct etw_symbol_images *images,
						   const struct etw_symbol_span *span,
						   uint64_t offset);

#endif
