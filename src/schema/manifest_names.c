/* SPDX-License-Identifier: MIT */
/*
 * Levels, tasks, opcodes, keywords and channels: a provider's own, and those of winmeta that everyone
 * may refer to. A wrong number here costs a name at most, so nothing is refused.
 */
#include <errno.h>
#include <string.h>

#include "base/guid.h"
#include "base/macros.h"
#include "schema/manifest_internal.h"
#include "schema/types.h"

#define FIRST_USER_CHANNEL    16
#define CHANNEL_KEYWORDS_MAX  8
#define FIRST_CHANNEL_KEYWORD (UINT64_C(1) << 63)

struct winmeta_name {
	const char *name;
	uint64_t value;
};

static const struct winmeta_name winmeta_keywords[] = {
	{"AnyKeyword", 0},
	{"ResponseTime", UINT64_C(1) << 48},
	{"WDIContext", UINT64_C(1) << 49},
	{"WDIDiag", UINT64_C(1) << 50},
	{"SQM", UINT64_C(1) << 51},
	{"AuditFailure", UINT64_C(1) << 52},
	{"AuditSuccess", UINT64_C(1) << 53},
	{"CorrelationHint", UINT64_C(1) << 54},
	{"EventlogClassic", UINT64_C(1) << 55},
	{"ReservedKeyword56", UINT64_C(1) << 56},
	{"ReservedKeyword57", UINT64_C(1) << 57},
	{"ReservedKeyword58", UINT64_C(1) << 58},
	{"ReservedKeyword59", UINT64_C(1) << 59},
	{"ReservedKeyword60", UINT64_C(1) << 60},
	{"ReservedKeyword61", UINT64_C(1) << 61},
	{"ReservedKeyword62", UINT64_C(1) << 62},
	{"ReservedKeyword63", UINT64_C(1) << 63},
};

static const struct winmeta_name winmeta_channels[] = {
	{"TraceClassic", 0}, {"System", 8},        {"Application", 9},
	{"Security", 10},    {"TraceLogging", 11}, {"ProviderMetadata", 12},
};

static const struct winmeta_name *find_winmeta(const struct winmeta_name *names, size_t count,
					       const char *name)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(names[i].name, name) == 0)
			return &names[i];
	}
	return NULL;
}

/* "ReservedLevel7" and the like. */
static bool find_reserved(const char *name, const char *stem, uint64_t first, uint64_t last,
			  uint8_t *ret)
{
	size_t bytes = strlen(stem);
	uint64_t value;

	if (strncmp(name, stem, bytes) != 0 || !etw_manifest_number(name + bytes, last, &value) ||
	    value < first)
		return false;
	*ret = (uint8_t)value;
	return true;
}

/* Names elsewhere carry the prefix "win:", whatever the document calls it. */
static bool is_winmeta(const char *standard, const char *name)
{
	return standard && strcmp(standard + strlen("win:"), name) == 0;
}

void etw_manifest_find_level(const struct manifest_reader *reader, const char *name, uint8_t *ret)
{
	const struct manifest_symbol *own = etw_manifest_find(reader, SYMBOL_LEVEL,
							      reader->provider, name);
	const char *standard = etw_manifest_winmeta(reader, name);

	if (own) {
		*ret = (uint8_t)own->value;
		return;
	}
	if (!standard || find_reserved(standard, "ReservedLevel", 6, 15, ret))
		return;
	for (uint8_t level = 0; level <= 5; level++) {
		if (is_winmeta(etw_schema_level_name(level), standard))
			*ret = level;
	}
}

void etw_manifest_find_opcode(const struct manifest_reader *reader, const void *task,
			      const char *name, uint8_t *ret)
{
	const char *standard = etw_manifest_winmeta(reader, name);
	const struct manifest_symbol *own =
		task ? etw_manifest_find(reader, SYMBOL_OPCODE, task, name) : NULL;

	if (!own)
		own = etw_manifest_find(reader, SYMBOL_OPCODE, reader->provider, name);
	if (own) {
		*ret = (uint8_t)own->value;
		return;
	}
	if (!standard || find_reserved(standard, "ReservedOpcode", 241, 255, ret))
		return;
	for (unsigned opcode = 0; opcode <= 240; opcode++) {
		if (is_winmeta(etw_schema_opcode_name((uint8_t)opcode), standard))
			*ret = (uint8_t)opcode;
	}
}

void etw_manifest_find_keyword(const struct manifest_reader *reader, const char *name,
			       uint64_t *ret)
{
	const struct manifest_symbol *own = etw_manifest_find(reader, SYMBOL_KEYWORD,
							      reader->provider, name);
	const char *standard = etw_manifest_winmeta(reader, name);
	const struct winmeta_name *found;

	if (own) {
		*ret = own->value;
		return;
	}
	found = standard ? find_winmeta(winmeta_keywords, ARRAY_SIZE(winmeta_keywords), standard)
			 : NULL;
	if (found)
		*ret = found->value;
}

/* Winmeta's channels need not be imported, but only listed ones have a bit in the keywords. */
void etw_manifest_find_channel(const struct manifest_reader *reader, const char *name,
			       struct manifest_channel *ret)
{
	const struct manifest_symbol *own = etw_manifest_find(reader, SYMBOL_CHANNEL,
							      reader->provider, name);
	const struct winmeta_name *found;

	if (own) {
		*ret = *(const struct manifest_channel *)own->object;
		return;
	}
	found = find_winmeta(winmeta_channels, ARRAY_SIZE(winmeta_channels), name);
	if (found)
		*ret = (struct manifest_channel){found->name, (uint8_t)found->value, 0};
}

/* All @item children of all @list children: "opcodes" and "opcode", say. */
static int read_list(struct manifest_reader *reader, const struct etw_xml_element *scope,
		     enum symbol_kind kind, const char *list, const char *item,
		     const char *value_name, uint64_t max)
{
	for (const struct etw_xml_element *outer = etw_xml_first(scope, list); outer;
	     outer = etw_xml_next(outer, list)) {
		for (const struct etw_xml_element *at = etw_xml_first(outer, item); at;
		     at = etw_xml_next(at, item)) {
			const char *name = etw_xml_attribute(at, "name");
			const char *number = etw_xml_attribute(at, value_name);
			struct manifest_symbol symbol = {
				.kind = kind, .scope = scope, .name = name};

			if (name && number && etw_manifest_number(number, max, &symbol.value))
				TRY(etw_manifest_define(reader, &symbol));
		}
	}
	return 0;
}

static int read_task(struct manifest_reader *reader, const struct etw_xml_element *element)
{
	const char *name = etw_xml_attribute(element, "name");
	const char *number = etw_xml_attribute(element, "value");
	const char *guid = etw_xml_attribute(element, "eventGUID");
	struct manifest_task *task = etw_arena_alloc(&reader->scratch, sizeof(*task));
	struct manifest_symbol symbol = {
		.kind = SYMBOL_TASK, .scope = reader->provider, .name = name, .object = task};

	if (!task)
		return -ENOMEM;
	task->element = element;
	if (guid && etw_guid_parse(guid, &task->event_guid) < 0)
		task->event_guid = (GUID){0};
	if (name && number && etw_manifest_number(number, UINT16_MAX, &symbol.value))
		TRY(etw_manifest_define(reader, &symbol));
	return read_list(reader, element, SYMBOL_OPCODE, "opcodes", "opcode", "value", UINT8_MAX);
}

static int read_tasks(struct manifest_reader *reader)
{
	for (const struct etw_xml_element *list = etw_xml_first(reader->provider, "tasks"); list;
	     list = etw_xml_next(list, "tasks")) {
		for (const struct etw_xml_element *at = etw_xml_first(list, "task"); at;
		     at = etw_xml_next(at, "task"))
			TRY(read_task(reader, at));
	}
	return 0;
}

struct channel_numbers {
	bool is_taken[UINT8_MAX + 1];
	unsigned next;
	unsigned listed; /* channels so far: each of the first eight has a keyword bit */
};

static bool is_channel(const struct etw_xml_element *element)
{
	return strcmp(element->name, "channel") == 0 || strcmp(element->name, "importChannel") == 0;
}

static uint8_t next_number(struct channel_numbers *numbers)
{
	while (numbers->next < UINT8_MAX && numbers->is_taken[numbers->next])
		numbers->next++;
	numbers->is_taken[numbers->next] = true;
	return (uint8_t)numbers->next;
}

static uint8_t number_channel(struct channel_numbers *numbers,
			      const struct etw_xml_element *element, const char *name)
{
	const char *text = etw_xml_attribute(element, "value");
	const struct winmeta_name *standard = find_winmeta(winmeta_channels,
							   ARRAY_SIZE(winmeta_channels), name);
	uint64_t value;

	if (text && etw_manifest_number(text, UINT8_MAX, &value))
		return (uint8_t)value;
	if (standard && strcmp(element->name, "importChannel") == 0)
		return (uint8_t)standard->value;
	return next_number(numbers);
}

static int read_channel(struct manifest_reader *reader, struct channel_numbers *numbers,
			const struct etw_xml_element *element)
{
	const char *name = etw_xml_attribute(element, "name");
	const char *chid = etw_xml_attribute(element, "chid");
	struct manifest_channel *channel = etw_arena_alloc(&reader->scratch, sizeof(*channel));
	struct manifest_symbol symbol = {
		.kind = SYMBOL_CHANNEL, .scope = reader->provider, .object = channel};

	if (!channel)
		return -ENOMEM;
	channel->name = name;
	channel->value = number_channel(numbers, element, name ? name : "");
	if (numbers->listed < CHANNEL_KEYWORDS_MAX)
		channel->keyword = FIRST_CHANNEL_KEYWORD >> numbers->listed;
	numbers->listed++;
	symbol.name = name;
	if (name)
		TRY(etw_manifest_define(reader, &symbol));
	symbol.name = chid;
	return chid ? etw_manifest_define(reader, &symbol) : 0;
}

static int read_channels(struct manifest_reader *reader)
{
	struct channel_numbers numbers = {.next = FIRST_USER_CHANNEL};
	uint64_t value;

	for (const struct etw_xml_element *list = etw_xml_first(reader->provider, "channels"); list;
	     list = etw_xml_next(list, "channels")) {
		for (const struct etw_xml_element *at = list->first_child; at; at = at->next) {
			const char *text = etw_xml_attribute(at, "value");

			if (is_channel(at) && text && etw_manifest_number(text, UINT8_MAX, &value))
				numbers.is_taken[value] = true;
		}
	}
	for (const struct etw_xml_element *list = etw_xml_first(reader->provider, "channels"); list;
	     list = etw_xml_next(list, "channels")) {
		for (const struct etw_xml_element *at = list->first_child; at; at = at->next) {
			if (is_channel(at))
				TRY(read_channel(reader, &numbers, at));
		}
	}
	return 0;
}

int etw_manifest_read_names(struct manifest_reader *reader)
{
	const struct etw_xml_element *provider = reader->provider;

	TRY(read_channels(reader));
	TRY(read_list(reader, provider, SYMBOL_LEVEL, "levels", "level", "value", UINT8_MAX));
	TRY(read_list(reader, provider, SYMBOL_OPCODE, "opcodes", "opcode", "value", UINT8_MAX));
	TRY(read_list(reader, provider, SYMBOL_KEYWORD, "keywords", "keyword", "mask", UINT64_MAX));
	return read_tasks(reader);
}
