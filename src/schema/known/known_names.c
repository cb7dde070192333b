/* SPDX-License-Identifier: MIT */
/*
 * Names that a manifest can say: each number that an event has gets one, and within a kind no two are equal. Names of
 * winmeta are not defined again.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/macros.h"
#include "base/text.h"
#include "schema/known/known_schema_internal.h"
#include "schema/types.h"

#define OWN_OPCODES_FIRST 10u /* lower ones are winmeta's, and so are those from the last one on */
#define OWN_OPCODES_LAST  239u
#define OWN_LEVELS_FIRST  16u
#define OWN_KEYWORDS      UINT64_C(0x0000ffffffffffff) /* the others are winmeta's, and channels' */

/* A list that grows: names with their numbers. */
struct names {
	struct etw_arena *arena;
	struct etw_opcode *at; /* tasks, levels and keywords use `named` alone */
	size_t count;
	size_t room;
	const char *prefix; /* of names that are made up */
	bool is_hex;
};

static bool is_scope_shared(const struct etw_opcode *left, const struct etw_opcode *right)
{
	return !left->is_task_given || !right->is_task_given || left->task == right->task;
}

static bool is_taken(const struct names *names, const struct etw_opcode *item, const char *name)
{
	for (size_t i = 0; i < names->count; i++) {
		if (strcmp(names->at[i].named.name, name) == 0 &&
		    is_scope_shared(&names->at[i], item))
			return true;
	}
	return false;
}

/* Keywords stand side by side in a list, so a name may hold no blank. */
static int keep_name(struct names *names, const struct etw_opcode *item, const char **ret)
{
	struct etw_text text;
	unsigned number = 1;
	int r;

	etw_text_init(&text);
	do {
		etw_text_clear(&text);
		if (item->named.name)
			etw_text_puts(&text, item->named.name);
		else
			etw_text_printf(&text, names->is_hex ? "%s_%llx" : "%s_%llu", names->prefix,
					(unsigned long long)item->named.value);
		for (char *at = text.at; names->is_hex && at && *at; at++)
			*at = *at == ' ' ? '_' : *at;
		if (number > 1)
			etw_text_printf(&text, "_%u", number);
		number++;
		r = etw_text_error(&text);
	} while (!r && is_taken(names, item, etw_text_string(&text)));
	if (!r) {
		*ret = etw_arena_strdup(names->arena, etw_text_string(&text));
		r = *ret ? 0 : -ENOMEM;
	}
	etw_text_done(&text);
	return r;
}

static int add_name(struct names *names, const struct etw_opcode *item)
{
	const char *name = NULL;

	if (names->count == names->room) {
		size_t room = names->room ? names->room * 2 : 32;
		struct etw_opcode *at = etw_arena_array(names->arena, room, sizeof(*at));

		if (!at)
			return -ENOMEM;
		if (names->count)
			memcpy(at, names->at, names->count * sizeof(*at));
		names->at = at;
		names->room = room;
	}
	TRY(keep_name(names, item, &name));
	names->at[names->count] = *item;
	names->at[names->count++].named.name = name;
	return 0;
}

/* The name of a number: a task's own one, else every task's; NULL: none. */
static const char *find_name(const struct names *names, uint64_t value, uint16_t task)
{
	const char *found = NULL;

	for (size_t i = 0; i < names->count; i++) {
		const struct etw_opcode *item = &names->at[i];

		if (item->named.value != value || (item->is_task_given && item->task != task))
			continue;
		found = item->named.name;
		if (item->is_task_given)
			break;
	}
	return found;
}

static int need_name(struct names *names, uint64_t value, uint16_t task, const char **ret)
{
	const struct etw_opcode item = {.named.value = value};

	*ret = find_name(names, value, task);
	if (*ret)
		return 0;
	TRY(add_name(names, &item));
	*ret = names->at[names->count - 1].named.name;
	return 0;
}

static int name_keywords(struct names *names, struct etw_schema *schema)
{
	struct etw_text text;
	const char *name;
	int r = 0;

	etw_text_init(&text);
	schema->keywords = NULL;
	for (uint64_t rest = schema->descriptor.Keyword & OWN_KEYWORDS; rest && !r;
	     rest &= rest - 1) {
		r = need_name(names, rest & -rest, 0, &name);
		if (r)
			break;
		etw_text_puts(&text, text.bytes ? "; " : "");
		etw_text_puts(&text, name);
	}
	if (!r)
		r = etw_text_error(&text);
	if (!r && text.bytes) {
		schema->keywords = etw_arena_strdup(names->arena, etw_text_string(&text));
		r = schema->keywords ? 0 : -ENOMEM;
	}
	etw_text_done(&text);
	return r;
}

static int name_opcode(struct names *names, struct etw_schema *schema)
{
	uint8_t opcode = schema->descriptor.Opcode;

	schema->opcode_name = etw_schema_opcode_name(opcode);
	if (!opcode)
		schema->opcode_name = NULL;
	if (opcode < OWN_OPCODES_FIRST || opcode > OWN_OPCODES_LAST)
		return 0;
	return need_name(names, opcode, schema->descriptor.Task, &schema->opcode_name);
}

static int name_level(struct names *names, struct etw_schema *schema)
{
	uint8_t level = schema->descriptor.Level;

	schema->level_name = level ? etw_schema_level_name(level) : NULL;
	if (level < OWN_LEVELS_FIRST)
		return 0;
	return need_name(names, level, 0, &schema->level_name);
}

static int collect(struct names *names, const struct etw_named *from, size_t count, uint64_t first,
		   uint64_t last)
{
	for (size_t i = 0; i < count; i++) {
		const struct etw_opcode item = {.named = from[i]};

		if (from[i].value < first || from[i].value > last ||
		    find_name(names, from[i].value, 0))
			continue;
		TRY(add_name(names, &item));
	}
	return 0;
}

static int give_named(const struct names *names, const struct etw_named **ret, size_t *ret_count)
{
	struct etw_named *at = etw_arena_array(names->arena, names->count, sizeof(*at));

	if (!at)
		return -ENOMEM;
	for (size_t i = 0; i < names->count; i++)
		at[i] = names->at[i].named;
	*ret = at;
	*ret_count = names->count;
	return 0;
}

static int complete_tasks(struct etw_arena *arena, struct etw_provider_schema *schema)
{
	struct names names = {.arena = arena, .prefix = "task"};
	struct etw_task *tasks;

	for (size_t i = 0; i < schema->task_count; i++) {
		if (schema->tasks[i].named.value)
			TRY(collect(&names, &schema->tasks[i].named, 1, 1, UINT16_MAX));
	}
	for (size_t i = 0; i < schema->schema_count; i++) {
		struct etw_schema *event = &schema->schemas[i];

		event->task_name = NULL;
		if (event->descriptor.Task)
			TRY(need_name(&names, event->descriptor.Task, 0, &event->task_name));
	}
	tasks = etw_arena_array(arena, names.count, sizeof(*tasks));
	if (!tasks)
		return -ENOMEM;
	for (size_t i = 0; i < names.count; i++)
		tasks[i].named = names.at[i].named;
	schema->tasks = tasks;
	schema->task_count = names.count;
	return 0;
}

static bool is_task(const struct etw_provider_schema *schema, uint16_t task)
{
	for (size_t i = 0; i < schema->task_count; i++) {
		if (schema->tasks[i].named.value == task)
			return true;
	}
	return false;
}

static bool is_own_opcode(const struct etw_opcode *item)
{
	return item->named.value >= OWN_OPCODES_FIRST && item->named.value <= OWN_OPCODES_LAST;
}

/* An opcode of every task's, of whose number tasks have opcodes of their own, is for an event whose task has none. */
static bool is_needed(const struct names *names, const struct etw_provider_schema *schema,
		      const struct etw_opcode *item)
{
	bool is_other = false;

	for (size_t i = 0; i < names->count && !is_other; i++)
		is_other = names->at[i].named.value == item->named.value;
	if (!is_other)
		return true;
	for (size_t i = 0; i < schema->schema_count; i++) {
		const EVENT_DESCRIPTOR *descriptor = &schema->schemas[i].descriptor;

		if (descriptor->Opcode == item->named.value &&
		    !find_name(names, descriptor->Opcode, descriptor->Task))
			return true;
	}
	return false;
}

/* The tasks' own opcodes first: their names are the better ones, where every task's has the same number. */
static int collect_opcodes(struct names *names, const struct etw_provider_schema *schema)
{
	for (size_t i = 0; i < schema->opcode_count; i++) {
		const struct etw_opcode *item = &schema->opcodes[i];

		/* An opcode of a task that nobody has cannot be said. */
		if (item->is_task_given && is_own_opcode(item) && is_task(schema, item->task) &&
		    !find_name(names, item->named.value, item->task))
			TRY(add_name(names, item));
	}
	for (size_t i = 0; i < schema->opcode_count; i++) {
		const struct etw_opcode *item = &schema->opcodes[i];

		if (!item->is_task_given && is_own_opcode(item) && is_needed(names, schema, item))
			TRY(add_name(names, item));
	}
	return 0;
}

/* After the tasks, which they ask for. */
static int complete_opcodes(struct etw_arena *arena, struct etw_provider_schema *schema)
{
	struct names names = {.arena = arena, .prefix = "opcode"};

	TRY(collect_opcodes(&names, schema));
	for (size_t i = 0; i < schema->schema_count; i++)
		TRY(name_opcode(&names, &schema->schemas[i]));
	schema->opcodes = names.at;
	schema->opcode_count = names.count;
	return 0;
}

struct channel_end {
	const char *end;
	enum etw_channel_type type;
};

/*
 * A manifest has to say what kind of channel it is; names say it by custom: "Microsoft-Windows-Kernel-Power/Diagnostic".
 * Admin channels ask for messages, which nobody has: they become operational ones.
 */
static enum etw_channel_type channel_type(const char *name)
{
	static const struct channel_end ends[] = {
		{"Debug", ETW_CHANNEL_DEBUG},
		{"Analytic", ETW_CHANNEL_ANALYTIC},
		{"Diagnostic", ETW_CHANNEL_ANALYTIC},
		{"Trace", ETW_CHANNEL_ANALYTIC},
	};
	size_t chars = strlen(name);

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		size_t end = strlen(ends[i].end);

		if (chars >= end && strcmp(name + chars - end, ends[i].end) == 0)
			return ends[i].type;
	}
	return ETW_CHANNEL_OPERATIONAL;
}

/* Channels of winmeta are imported. An event's channel of which only the name is known stays out. */
static int complete_channels(struct etw_arena *arena, struct etw_provider_schema *schema)
{
	struct etw_channel *channels = etw_arena_array(arena, schema->channel_count,
						       sizeof(*channels));

	if (!channels)
		return -ENOMEM;
	for (size_t i = 0; i < schema->channel_count; i++) {
		channels[i] = schema->channels[i];
		if (!channels[i].is_imported)
			channels[i].type = channel_type(channels[i].named.name);
	}
	for (size_t i = 0; i < schema->schema_count; i++) {
		struct etw_schema *event = &schema->schemas[i];
		bool is_listed = false;

		for (size_t j = 0; event->channel_name && !is_listed && j < schema->channel_count;
		     j++)
			is_listed = strcmp(channels[j].named.name, event->channel_name) == 0;
		if (!is_listed)
			event->channel_name = NULL;
	}
	schema->channels = channels;
	return 0;
}

int etw_known_complete_names(struct etw_arena *arena, struct etw_provider_schema *schema)
{
	struct names keywords = {.arena = arena, .prefix = "keyword", .is_hex = true};
	struct names levels = {.arena = arena, .prefix = "level"};

	TRY(complete_tasks(arena, schema));
	TRY(complete_opcodes(arena, schema));
	TRY(complete_channels(arena, schema));
	TRY(collect(&keywords, schema->keywords, schema->keyword_count, 1, OWN_KEYWORDS));
	TRY(collect(&levels, schema->levels, schema->level_count, OWN_LEVELS_FIRST, UINT8_MAX));
	for (size_t i = 0; i < schema->schema_count; i++) {
		TRY(name_keywords(&keywords, &schema->schemas[i]));
		TRY(name_level(&levels, &schema->schemas[i]));
	}
	TRY(give_named(&keywords, &schema->keywords, &schema->keyword_count));
	return give_named(&levels, &schema->levels, &schema->level_count);
}
