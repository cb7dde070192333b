/* SPDX-License-Identifier: MIT */
/* Channels, levels, tasks, opcodes and keywords. Winmeta's come back by being used, so they are left out. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "schema/manifest/manifest_internal.h"
#include "schema/manifest/manifest_write_internal.h"

static bool is_winmeta(enum symbol_kind kind, const struct etw_named *named)
{
	const char *message;
	uint64_t value;

	return named->name && strncmp(named->name, "win:", 4) == 0 &&
	       etw_winmeta_find(kind, named->name + 4, &value, &message) && value == named->value;
}

/* Winmeta's channels have no prefix. Those that nobody listed have no bit in the keywords. */
static bool is_listed(const struct etw_channel *channel)
{
	const char *message;
	uint64_t value;

	return !channel->is_imported || channel->keyword ||
	       !etw_winmeta_find(SYMBOL_CHANNEL, channel->named.name ? channel->named.name : "",
				 &value, &message);
}

static const char *type_name(enum etw_channel_type type)
{
	switch (type) {
	case ETW_CHANNEL_ADMIN:
		return "Admin";
	case ETW_CHANNEL_OPERATIONAL:
		return "Operational";
	case ETW_CHANNEL_ANALYTIC:
		return "Analytic";
	case ETW_CHANNEL_DEBUG:
		return "Debug";
	default:
		return NULL;
	}
}

static void write_channel(struct manifest_writer *writer, const struct etw_channel *channel)
{
	struct etw_text *text = writer->text;

	etw_text_puts(text,
		      channel->is_imported ? "\t\t\t\t\t<importChannel" : "\t\t\t\t\t<channel");
	etw_write_attribute(text, "name", channel->named.name);
	etw_write_attribute(text, "chid", channel->chid);
	if (!channel->is_imported) {
		etw_write_attribute(text, "type", type_name(channel->type));
		etw_write_number(text, "value", channel->named.value);
		etw_write_attribute(text, "symbol", channel->named.symbol);
		etw_write_attribute(text, "access", channel->access);
		etw_write_attribute(text, "isolation", channel->isolation);
		if (channel->is_enabled)
			etw_write_attribute(text, "enabled", "true");
		etw_write_message(writer, channel->named.message);
	}
	etw_text_puts(text, "/>\n");
}

static void write_channels(struct manifest_writer *writer)
{
	const struct etw_provider_schema *schema = writer->schema;
	bool is_open = false;

	for (size_t i = 0; i < schema->channel_count; i++) {
		if (!is_listed(&schema->channels[i]))
			continue;
		if (!is_open)
			etw_text_puts(writer->text, "\t\t\t\t<channels>\n");
		is_open = true;
		write_channel(writer, &schema->channels[i]);
	}
	if (is_open)
		etw_text_puts(writer->text, "\t\t\t\t</channels>\n");
}

/* The attributes behind the value. */
static void write_rest(struct manifest_writer *writer, const struct etw_named *named)
{
	etw_write_attribute(writer->text, "symbol", named->symbol);
	etw_write_message(writer, named->message);
}

static void write_levels(struct manifest_writer *writer)
{
	const struct etw_provider_schema *schema = writer->schema;
	bool is_open = false;

	for (size_t i = 0; i < schema->level_count; i++) {
		const struct etw_named *level = &schema->levels[i];

		if (is_winmeta(SYMBOL_LEVEL, level))
			continue;
		etw_text_puts(writer->text, is_open ? "" : "\t\t\t\t<levels>\n");
		is_open = true;
		etw_text_puts(writer->text, "\t\t\t\t\t<level");
		etw_write_attribute(writer->text, "name", level->name);
		etw_write_number(writer->text, "value", level->value);
		write_rest(writer, level);
		etw_text_puts(writer->text, "/>\n");
	}
	etw_text_puts(writer->text, is_open ? "\t\t\t\t</levels>\n" : "");
}

static void write_keywords(struct manifest_writer *writer)
{
	const struct etw_provider_schema *schema = writer->schema;
	bool is_open = false;

	for (size_t i = 0; i < schema->keyword_count; i++) {
		const struct etw_named *keyword = &schema->keywords[i];

		if (is_winmeta(SYMBOL_KEYWORD, keyword))
			continue;
		etw_text_puts(writer->text, is_open ? "" : "\t\t\t\t<keywords>\n");
		is_open = true;
		etw_text_puts(writer->text, "\t\t\t\t\t<keyword");
		etw_write_attribute(writer->text, "name", keyword->name);
		etw_text_printf(writer->text, " mask=\"0x%llx\"",
				(unsigned long long)keyword->value);
		write_rest(writer, keyword);
		etw_text_puts(writer->text, "/>\n");
	}
	etw_text_puts(writer->text, is_open ? "\t\t\t\t</keywords>\n" : "");
}

/* Opcodes by task: those of every task first, then by number. */
struct opcode_key {
	uint32_t task; /* 0: every task's; else number + 1 */
	size_t order;
	const struct etw_opcode *opcode;
};

struct opcode_keys {
	struct opcode_key *at; /* in the arena of the writer */
	size_t count;
};

static int compare_opcodes(const void *left, const void *right)
{
	const struct opcode_key *a = left;
	const struct opcode_key *b = right;

	if (a->task != b->task)
		return a->task < b->task ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

static int sort_opcodes(struct manifest_writer *writer, struct opcode_keys *ret)
{
	const struct etw_provider_schema *schema = writer->schema;
	struct opcode_keys keys = {0};

	keys.at = etw_arena_array(&writer->arena, schema->opcode_count, sizeof(*keys.at));
	if (!keys.at)
		return -ENOMEM;
	for (size_t i = 0; i < schema->opcode_count; i++) {
		const struct etw_opcode *opcode = &schema->opcodes[i];
		uint32_t task = opcode->is_task_given ? (uint32_t)opcode->task + 1 : 0;

		if (!is_winmeta(SYMBOL_OPCODE, &opcode->named))
			keys.at[keys.count++] = (struct opcode_key){task, i, opcode};
	}
	if (keys.count)
		qsort(keys.at, keys.count, sizeof(*keys.at), compare_opcodes);
	*ret = keys;
	return 0;
}

/* The first key of a task, or of the next one. */
static size_t first_of_task(const struct opcode_keys *keys, uint32_t task)
{
	size_t low = 0;
	size_t high = keys->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (keys->at[middle].task < task)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Each opcode once, though two tasks may have one number. Returns whether there were any. */
static bool write_opcodes(struct manifest_writer *writer, const struct opcode_keys *keys,
			  uint32_t task, const char *head, const char *indent)
{
	size_t i = first_of_task(keys, task);
	bool is_open = false;

	for (; i < keys->count && keys->at[i].task == task && keys->at[i].opcode; i++) {
		const struct etw_named *named = &keys->at[i].opcode->named;

		if (!is_open)
			etw_text_printf(writer->text, "%s%s<opcodes>\n", head, indent);
		is_open = true;
		etw_text_printf(writer->text, "%s\t<opcode", indent);
		etw_write_attribute(writer->text, "name", named->name);
		etw_write_number(writer->text, "value", named->value);
		write_rest(writer, named);
		etw_text_puts(writer->text, "/>\n");
		keys->at[i].opcode = NULL;
	}
	if (is_open)
		etw_text_printf(writer->text, "%s</opcodes>\n", indent);
	return is_open;
}

static void write_task(struct manifest_writer *writer, const struct opcode_keys *keys,
		       const struct etw_task *task)
{
	struct etw_text *text = writer->text;

	etw_text_puts(text, "\t\t\t\t\t<task");
	etw_write_attribute(text, "name", task->named.name);
	etw_write_number(text, "value", task->named.value);
	etw_write_guid(text, "eventGUID", &task->event_guid);
	write_rest(writer, &task->named);
	if (write_opcodes(writer, keys, (uint32_t)task->named.value + 1, ">\n", "\t\t\t\t\t\t"))
		etw_text_puts(text, "\t\t\t\t\t</task>\n");
	else
		etw_text_puts(text, "/>\n");
}

static void write_tasks(struct manifest_writer *writer, const struct opcode_keys *keys)
{
	const struct etw_provider_schema *schema = writer->schema;
	bool is_open = false;

	for (size_t i = 0; i < schema->task_count; i++) {
		if (is_winmeta(SYMBOL_TASK, &schema->tasks[i].named))
			continue;
		etw_text_puts(writer->text, is_open ? "" : "\t\t\t\t<tasks>\n");
		is_open = true;
		write_task(writer, keys, &schema->tasks[i]);
	}
	etw_text_puts(writer->text, is_open ? "\t\t\t\t</tasks>\n" : "");
}

int etw_write_names(struct manifest_writer *writer)
{
	struct opcode_keys keys;

	TRY(sort_opcodes(writer, &keys));
	write_channels(writer);
	write_levels(writer);
	write_tasks(writer, &keys);
	(void)write_opcodes(writer, &keys, 0, "", "\t\t\t\t");
	write_keywords(writer);
	return 0;
}
