/* SPDX-License-Identifier: MIT */
#include "schema/wpp/controls.h"

#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "base/macros.h"
#include "base/table.h"

/* A flag and the first control GUID that has it. */
struct owned_flag {
	const char *name;
	const struct etw_provider_schema *control;
};

static bool is_same_flag(const void *item, const void *key)
{
	return !strcmp(((const struct owned_flag *)item)->name, key);
}

static uint64_t hash_flag(const char *name)
{
	return etw_hash_bytes(etw_hash_seed(), name, strlen(name));
}

static int index_flags(const struct etw_provider_schema *control, struct etw_arena *scratch,
		       struct etw_table *flags)
{
	for (size_t i = 0; i < control->keyword_count; i++) {
		const char *name = control->keywords[i].name;
		uint64_t hash = hash_flag(name);
		struct owned_flag *flag;

		if (etw_table_find(flags, hash, is_same_flag, name))
			continue;
		flag = etw_arena_alloc(scratch, sizeof(*flag));
		if (!flag)
			return -ENOMEM;
		*flag = (struct owned_flag){name, control};
		TRY(etw_table_insert(flags, hash, flag));
	}
	return 0;
}

int etw_wpp_attach_controls(const struct etw_wpp_messages *messages,
			    const struct etw_provider_schema *controls, size_t control_count)
{
	CLEANUP(etw_arena_done) struct etw_arena scratch = {0};
	CLEANUP(etw_table_done) struct etw_table flags = {0};

	for (size_t i = 0; i < control_count; i++)
		TRY(index_flags(&controls[i], &scratch, &flags));
	for (size_t i = 0; i < messages->count; i++) {
		struct etw_wpp_message *message = messages->at[i];
		const struct owned_flag *flag = NULL;

		if (message->flags)
			flag = etw_table_find(&flags, hash_flag(message->flags), is_same_flag,
					      message->flags);
		message->control = flag ? flag->control : control_count == 1 ? controls : NULL;
	}
	return 0;
}
