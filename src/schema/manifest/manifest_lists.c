/* SPDX-License-Identifier: MIT */
/*
 * The names of a provider as lists, in the order that compiled resources have: levels by value, opcodes
 * by task and value, keywords by mask; tasks and channels as they were found.
 */
#include <errno.h>

#include "base/macros.h"
#include "schema/manifest/manifest_internal.h"

/* *ret: `count` keys, in scratch; or NULL on -ENOMEM. */
static struct manifest_key *sort_names(struct manifest_reader *reader,
				       const struct manifest_names *names, bool is_sorted)
{
	struct manifest_key *keys = etw_arena_array(&reader->scratch, names->count, sizeof(*keys));
	size_t i = 0;

	if (!keys)
		return NULL;
	for (const struct manifest_name *at = names->first; at; at = at->next) {
		keys[i].item = at;
		if (is_sorted)
			keys[i].number = at->named.value;
		if (at->task)
			keys[i].number |= (at->task->named.value + 1) << 8;
		i++;
	}
	etw_manifest_sort(keys, names->count);
	return keys;
}

static int finish_plain(struct manifest_reader *reader, const struct manifest_names *names,
			const struct etw_named **ret)
{
	const struct manifest_key *keys = sort_names(reader, names, true);
	struct etw_named *list = etw_arena_array(reader->arena, names->count, sizeof(*list));

	if (!keys || !list)
		return -ENOMEM;
	for (size_t i = 0; i < names->count; i++)
		list[i] = ((const struct manifest_name *)keys[i].item)->named;
	*ret = list;
	return 0;
}

static int finish_tasks(struct manifest_reader *reader)
{
	const struct manifest_names *names = &reader->tasks;
	const struct manifest_key *keys = sort_names(reader, names, false);
	struct etw_task *list = etw_arena_array(reader->arena, names->count, sizeof(*list));

	if (!keys || !list)
		return -ENOMEM;
	for (size_t i = 0; i < names->count; i++) {
		const struct manifest_name *name = keys[i].item;

		list[i] = (struct etw_task){name->named, name->event_guid};
	}
	reader->schema->tasks = list;
	reader->schema->task_count = names->count;
	return 0;
}

static int finish_opcodes(struct manifest_reader *reader)
{
	const struct manifest_names *names = &reader->opcodes;
	const struct manifest_key *keys = sort_names(reader, names, true);
	struct etw_opcode *list = etw_arena_array(reader->arena, names->count, sizeof(*list));

	if (!keys || !list)
		return -ENOMEM;
	for (size_t i = 0; i < names->count; i++) {
		const struct manifest_name *name = keys[i].item;

		list[i].named = name->named;
		list[i].is_task_given = name->task != NULL;
		if (name->task)
			list[i].task = (uint16_t)name->task->named.value;
	}
	reader->schema->opcodes = list;
	reader->schema->opcode_count = names->count;
	return 0;
}

static int finish_channels(struct manifest_reader *reader)
{
	const struct manifest_channels *channels = &reader->channels;
	struct etw_channel *list = etw_arena_array(reader->arena, channels->count, sizeof(*list));
	size_t count = 0;

	if (!list)
		return -ENOMEM;
	for (const struct manifest_channel *at = channels->first; at; at = at->next)
		list[count++] = at->channel;
	reader->schema->channels = list;
	reader->schema->channel_count = count;
	return 0;
}

int etw_manifest_finish_names(struct manifest_reader *reader)
{
	struct etw_provider_schema *schema = reader->schema;

	TRY(finish_plain(reader, &reader->levels, &schema->levels));
	schema->level_count = reader->levels.count;
	TRY(finish_plain(reader, &reader->keywords, &schema->keywords));
	schema->keyword_count = reader->keywords.count;
	TRY(finish_tasks(reader));
	TRY(finish_opcodes(reader));
	return finish_channels(reader);
}
