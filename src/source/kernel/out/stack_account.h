/* SPDX-License-Identifier: MIT */
/*
 * What became of the stacks that were asked for, by the kind of their events. It counts what was output; what is safe of
 * it is kept beside the programs, and goes on in the next host.
 *
 * Context: the session's thread.
 */
#ifndef ETW_SOURCE_KERNEL_OUT_STACK_ACCOUNT_H
#define ETW_SOURCE_KERNEL_OUT_STACK_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/source.h"
#include "source/kernel/bpf/stack_records.h"
#include "wire/kernel_account.h"

/* Of one kind of events. */
struct etw_kernel_stack_counts {
	uint64_t fates[WIRE_STACK_FATES];
	uint64_t without_user;
};

struct etw_kernel_stack_account {
	struct etw_kernel_stack_counts now[ETW_KERNEL_STACK_KINDS];
	struct etw_kernel_stack_counts *safe; /* owned, shared memory; NULL: nothing is kept */
};

/* etw_kernel_stack_account_open() - goes on with what a former host counted. Without memory it counts for itself alone. */
void etw_kernel_stack_account_open(struct etw_kernel_stack_account *account,
				   const struct etw_source_host *host);

/* etw_kernel_stack_account_close() - takes what was zeroed. */
void etw_kernel_stack_account_close(struct etw_kernel_stack_account *account);

/* etw_kernel_stack_account_add() - an event was output. @lacks_user: of a stack that is there */
void etw_kernel_stack_account_add(struct etw_kernel_stack_account *account, unsigned kind,
				  enum wire_stack_fate fate, bool lacks_user);

/* etw_kernel_stack_account_save() - all that was output is safe. */
void etw_kernel_stack_account_save(struct etw_kernel_stack_account *account);

/* etw_kernel_stack_account_missing() - events that might have had a stack, and went out without. */
uint64_t etw_kernel_stack_account_missing(const struct etw_kernel_stack_account *account);

/* etw_kernel_stack_account_get() - those of one kind, whose hook is set by others; false: there were none. */
bool etw_kernel_stack_account_get(const struct etw_kernel_stack_account *account, unsigned kind,
				  struct wire_stack_account *ret);

#endif
