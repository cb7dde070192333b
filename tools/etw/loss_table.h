/* SPDX-License-Identifier: MIT */
/* What was lost by cause and class (base/loss.h): as a trace's notes say it, or a session that runs. */
#ifndef ETW_TOOLS_ETW_LOSS_TABLE_H
#define ETW_TOOLS_ETW_LOSS_TABLE_H

#include <stddef.h>

#include "base/text.h"
#include "wire/message.h"
#include "wire/session_note.h"

#define LOSS_CELLS_MAX 256

struct loss_cell {
	uint32_t cause, class_number;
	uint32_t processor; /* ETW_LOSS_ANY_PROCESSOR: not known */
	uint64_t events;
};

struct loss_table {
	size_t count;
	uint64_t left_out; /* notes that there was no place for */
	struct loss_cell cells[LOSS_CELLS_MAX];
};

/* loss_table_take() - a note of the kinds Lost or Incomplete: the last one of a cell holds. Others are left alone. */
void loss_table_take(struct loss_table *table, const struct wire_session_note *note);

/* loss_table_of_session() - what a session tells of its source. */
void loss_table_of_session(const struct wire_session_loss *loss, struct loss_table *ret);

/*
 * loss_table_write() - a line for each cause: "lost, the kernel's ring was full: 12 context switches, 3 samples". Nothing
 * for an empty table.
 */
void loss_table_write(struct etw_text *text, const struct loss_table *table, const char *indent);

/* loss_table_write_json() - ,"loss_by_cause":[{...}]; nothing for an empty table. */
void loss_table_write_json(struct etw_text *text, const struct loss_table *table);

#endif
