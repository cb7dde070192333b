/* SPDX-License-Identifier: MIT */
/*
 * What became of the stacks that were asked for, by the hook of their events. It counts what was output; what is safe of
 * it is kept beside the programs, and goes on in the next host.
 *
 * Context: the session's thread.
 */
#ifndef ETW_SOURCE_KERNEL_OUT_STACK_ACCOUNT_H
#define ETW_SOURCE_KERNEL_OUT_STACK_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/source.h"
#include "wire/kernel_account.h"

#define ETW_KERNEL_STACK_ROWS 256 /* the first is of nothing */

/* Of the events of one hook. */
struct etw_kernel_stack_counts {
	uint64_t hook; /* (group << 8) | type; 0: the row is free */
	uint64_t fates[WIRE_STACK_FATES];
	uint64_t without_user;
};

struct etw_kernel_stack_account {
	struct etw_kernel_stack_counts now[ETW_KERNEL_STACK_ROWS];
	struct etw_kernel_stack_counts *safe; /* owned, shared memory; NULL: nothing is kept */
	uint32_t row_count;                   /* in use, behind the first */
	uint8_t rows[UINT16_MAX + 1];         /* of a hook; 0: it has none yet */
};

/* etw_kernel_stack_account_open() - goes on with what a former host counted. Without memory it counts for itself alone. */
void etw_kernel_stack_account_open(struct etw_kernel_stack_account *account,
				   const struct etw_source_host *host);

/* etw_kernel_stack_account_close() - takes what was zeroed. */
void etw_kernel_stack_account_close(struct etw_kernel_stack_account *account);

/*
 * etw_kernel_stack_account_add() - an event was output.
 *
 * @event:      it; its header has the hook
 * @lacks_user: of a stack that is there
 */
void etw_kernel_stack_account_add(struct etw_kernel_stack_account *account, const uint8_t *event,
				  enum wire_stack_fate fate, bool lacks_user);

/* etw_kernel_stack_account_of() - the counts of a hook. Borrowed; zeros where there were none. */
const struct etw_kernel_stack_counts *etw_kernel_stack_account_of(
	const struct etw_kernel_stack_account *account, uint16_t hook);

/* etw_kernel_stack_account_save() - all that was output is safe. */
void etw_kernel_stack_account_save(struct etw_kernel_stack_account *account);

/* etw_kernel_stack_account_missing() - events that might have had a stack, and went out without. */
uint64_t etw_kernel_stack_account_missing(const struct etw_kernel_stack_account *account);

/* etw_kernel_stack_account_get() - a row as it is told; false: it is none. @row: from 1 to row_count */
bool etw_kernel_stack_account_get(const struct etw_kernel_stack_account *account, uint32_t row,
				  struct wire_stack_account *ret);

#endif
