/* SPDX-License-Identifier: MIT */
/* Message tables (RT_MESSAGETABLE): the texts that compiled schemas refer to by number. */
#ifndef ETW_SCHEMA_MESSAGE_TABLE_H
#define ETW_SCHEMA_MESSAGE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/fault.h"
#include "base/text.h"

struct etw_message_block;

/* Borrows the bytes; the rest lives in an arena. Immutable. */
struct etw_message_table {
	const uint8_t *at;
	const struct etw_message_block *blocks; /* by number */
	size_t block_count;
	const uint32_t *entries; /* offsets, block by block */
	size_t entry_count;
};

/*
 * etw_message_table_open() - checks a table and indexes it.
 *
 * @bytes: borrowed as long as the table is used
 * @ret:   its index lives in @arena
 *
 * Takes time and memory in proportion to the bytes: entries that share bytes are refused.
 * Returns 0; -EBADMSG with @reterr; -ENOMEM.
 */
int etw_message_table_open(struct etw_arena *arena, struct etw_bytes bytes,
			   struct etw_message_table *ret, struct etw_fault *reterr);

/*
 * etw_message_table_find() - where a message stands.
 *
 * @ret_index: below entry_count; the same for the same message
 *
 * Returns whether the table has it.
 */
bool etw_message_table_find(const struct etw_message_table *table, uint32_t id, size_t *ret_index);

/*
 * etw_message_table_text() - appends the text of an entry as decoding shows it.
 *
 * The line end that closes it is taken off, other line ends become blanks, and what stands for line
 * ends and tabs is replaced: see etw_message_text().
 */
void etw_message_table_text(const struct etw_message_table *table, size_t index,
			    struct etw_text *text);

/*
 * etw_message_text() - appends a message with those escapes replaced that do not need values.
 *
 * "%n" becomes CR LF, "%r" CR, "%t" a tab, and the text ends at "%0". Inserts and the other escapes stay,
 * since they are replaced together.
 */
void etw_message_text(struct etw_text *text, const char *message);

#endif
