/* SPDX-License-Identifier: MIT */
/* What a recording of the kernel tells of itself (wire/kernel_account.h): steal, and why events have no stacks. */
#ifndef ETW_TOOLS_ETW_ACCOUNT_H
#define ETW_TOOLS_ETW_ACCOUNT_H

#include <stdbool.h>

#include <evntcons.h>

#include "base/text.h"
#include "wire/kernel_account.h"

#define ACCOUNT_HOOKS_MAX 32

/* Of one trace. */
struct account {
	bool has_start, has_end;
	struct wire_processor_time start, end;
	uint32_t hook_count;
	struct wire_stack_account
		hooks[ACCOUNT_HOOKS_MAX]; /* the first kinds of events that are told of */
};

/* account_take() - keeps what the event says when it is one of these. */
void account_take(struct account *account, const EVENT_RECORD *record);

/* account_steal() - false: not known. @ret_all_ms: of all processors together, never 0; @ret_steal_ms: of it */
bool account_steal(const struct account *account, uint64_t *ret_steal_ms, uint64_t *ret_all_ms);

/* account_steal_write() - "0.3% of the processors' time ..."; false: it is not known, nothing is written. */
bool account_steal_write(struct etw_text *text, const struct account *account);

/* account_reasons_write() - "279 of the idle thread, ..."; false: no event of this kind lacks its stack, or it is not told. */
bool account_reasons_write(struct etw_text *text, const struct account *account, uint16_t hook);

/* account_write_json() - ,"steal_ms":1,"processor_ms":2,"stacks":[...]; nothing of what is not told. */
void account_write_json(struct etw_text *text, const struct account *account);

#endif
