/* SPDX-License-Identifier: MIT */
#include "tools/etw/account.h"

#include <inttypes.h>

#include "base/guid.h"
#include "base/macros.h"
#include "tools/common/number.h"
#include "tools/etw/json_members.h"
#include "tools/etw/schema_item.h"

#define FT_PER_MS INT64_C(10000)

static const char *const reasons[WIRE_STACK_FATES] = {
	[WIRE_STACK_NOT_SWITCHED_OUT] = "of threads that were not switched out before",
	[WIRE_STACK_OF_IDLE_THREAD] = "of the idle thread",
	[WIRE_STACK_OF_OTHERS] = "of other processes",
	[WIRE_STACK_NOTHING_KEPT] = "of threads of which nothing is kept",
	[WIRE_STACK_NO_FRAMES] = "where no frame was found",
	[WIRE_STACK_NOT_COPIED] = "where the ring had no room for a copy of the stack",
	[WIRE_STACK_NOT_UNWOUND] = "where the tables led nowhere",
};

static const char *const keys[WIRE_STACK_FATES] = {
	[WIRE_STACK_IS_THERE] = "stacks",
	[WIRE_STACK_NOT_SWITCHED_OUT] = "not_switched_out",
	[WIRE_STACK_OF_IDLE_THREAD] = "idle_thread",
	[WIRE_STACK_OF_OTHERS] = "other_processes",
	[WIRE_STACK_NOTHING_KEPT] = "nothing_kept",
	[WIRE_STACK_NO_FRAMES] = "no_frames",
	[WIRE_STACK_NOT_COPIED] = "not_copied",
	[WIRE_STACK_NOT_UNWOUND] = "not_unwound",
};

/* A host that was replaced tells its start again: the first one counts, and the last end. */
static void take_time(struct account *account, const struct wire_processor_time *time)
{
	if (time->is_end) {
		account->end = *time;
		account->has_end = true;
	} else if (!account->has_start) {
		account->start = *time;
		account->has_start = true;
	}
}

void account_take(struct account *account, const EVENT_RECORD *record)
{
	static const GUID provider = WIRE_KERNEL_ACCOUNT_PROVIDER;
	const struct etw_bytes payload = {record->UserData, record->UserDataLength};
	struct wire_stack_account stacks;
	struct wire_processor_time time;
	struct etw_bytes schema;

	if (LIKELY(record->EventHeader.ProviderId.Data1 != provider.Data1) ||
	    !etw_guid_equal(&record->EventHeader.ProviderId, &provider))
		return;
	schema = schema_item_of(record);
	if (!schema.at)
		return;
	if (wire_processor_time_decode(schema, payload, &time))
		take_time(account, &time);
	else if (account->hook_count < ACCOUNT_HOOKS_MAX &&
		 wire_stack_account_decode(schema, payload, &stacks))
		account->hooks[account->hook_count++] = stacks;
}

bool account_steal(const struct account *account, uint64_t *ret_steal_ms, uint64_t *ret_all_ms)
{
	const uint64_t *start = account->start.ms, *end = account->end.ms;
	uint64_t all_ms = 0;

	if (!account->has_start || !account->has_end)
		return false;
	/* Each for itself: Linux' sum of idle time may run back a little. */
	for (unsigned i = 0; i < WIRE_PROCESSOR_USES; i++)
		all_ms += end[i] > start[i] ? end[i] - start[i] : 0;
	if (!all_ms)
		return false;
	*ret_all_ms = all_ms;
	*ret_steal_ms = end[WIRE_PROCESSOR_STEAL] > start[WIRE_PROCESSOR_STEAL]
				? end[WIRE_PROCESSOR_STEAL] - start[WIRE_PROCESSOR_STEAL]
				: 0;
	return true;
}

bool account_steal_write(struct etw_text *text, const struct account *account)
{
	uint64_t steal_ms, all_ms;

	if (!account_steal(account, &steal_ms, &all_ms))
		return false;
	etw_number_share(text, steal_ms, all_ms);
	etw_text_puts(text, " of the processors' time (");
	etw_number_duration(text,
			    (int64_t)(steal_ms < INT64_MAX / FT_PER_MS ? steal_ms : 0) * FT_PER_MS);
	etw_text_puts(text, " of ");
	etw_number_duration(text,
			    (int64_t)(all_ms < INT64_MAX / FT_PER_MS ? all_ms : 0) * FT_PER_MS);
	etw_text_puts(text, ") was the hypervisor's for others; samples do not see it");
	return true;
}

static const struct wire_stack_account *find_hook(const struct account *account, uint16_t hook)
{
	for (uint32_t i = 0; i < account->hook_count; i++) {
		if (account->hooks[i].hook == hook)
			return &account->hooks[i];
	}
	return NULL;
}

bool account_reasons_write(struct etw_text *text, const struct account *account, uint16_t hook)
{
	const struct wire_stack_account *stacks = find_hook(account, hook);
	bool any = false;

	if (!stacks)
		return false;
	for (unsigned fate = 0; fate < WIRE_STACK_FATES; fate++) {
		if (!reasons[fate] || !stacks->fates[fate])
			continue;
		etw_text_puts(text, any ? ", " : "");
		etw_number_grouped(text, stacks->fates[fate]);
		etw_text_printf(text, " %s", reasons[fate]);
		any = true;
	}
	return any;
}

void account_write_json(struct etw_text *text, const struct account *account)
{
	uint64_t steal_ms, all_ms;

	if (account_steal(account, &steal_ms, &all_ms)) {
		json_number(text, "steal_ms", steal_ms);
		json_number(text, "processor_ms", all_ms);
	}
	if (!account->hook_count)
		return;
	etw_text_puts(text, ",\"stacks\":[");
	for (uint32_t i = 0; i < account->hook_count; i++) {
		etw_text_printf(text, "%s{\"hook\":%" PRIu32, i ? "," : "",
				(uint32_t)account->hooks[i].hook);
		for (unsigned fate = 0; fate < WIRE_STACK_FATES; fate++)
			json_number(text, keys[fate], account->hooks[i].fates[fate]);
		json_number(text, "without_user_half", account->hooks[i].without_user);
		etw_text_putc(text, '}');
	}
	etw_text_putc(text, ']');
}
