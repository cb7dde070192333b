/* SPDX-License-Identifier: MIT */
/*
 * Levels, tasks, opcodes and keywords: a provider's own, and those of winmeta that its events use. A
 * wrong number here costs a name at most, so nothing is refused.
 */
#include <errno.h>
#include <string.h>

#include "base/guid.h"
#include "base/macros.h"
#include "schema/manifest/manifest_internal.h"

#define USER_KEYWORDS_END (UINT64_C(1) << 48)

/* How one kind of name is written down, and what a definition may choose. */
struct name_rules {
	enum symbol_kind kind;
	const char *list;
	const char *item;
	const char *number;
	uint64_t limit; /* of the number at all */
	uint64_t low, high;
	const char *incomplete;
	const char *outside;
	const char *name_twice;
	const char *value_twice;
	const char *symbol_twice;
};

static const struct name_rules level_rules = {
	SYMBOL_LEVEL,
	"levels",
	"level",
	"value",
	UINT8_MAX,
	16,
	255,
	"a level lacks its name or its value from 0 to 255",
	"the value of a level is not from 16 to 255",
	"the name of a level is taken",
	"the value of a level is taken",
	"the symbol of a level is taken",
};

static const struct name_rules task_rules = {
	SYMBOL_TASK,
	"tasks",
	"task",
	"value",
	UINT16_MAX,
	1,
	65535,
	"a task lacks its name or its value from 0 to 65535",
	"the value of a task is 0",
	"the name of a task is taken",
	"the value of a task is taken",
	"the symbol of a task is taken",
};

static const struct name_rules opcode_rules = {
	SYMBOL_OPCODE,
	"opcodes",
	"opcode",
	"value",
	UINT8_MAX,
	10,
	239,
	"an opcode lacks its name or its value from 0 to 255",
	"the value of an opcode is not from 10 to 239",
	"the name of an opcode is taken",
	"the value of an opcode is taken",
	"the symbol of an opcode is taken",
};

static const struct name_rules keyword_rules = {
	SYMBOL_KEYWORD,
	"keywords",
	"keyword",
	"mask",
	UINT64_MAX,
	1,
	USER_KEYWORDS_END - 1,
	"a keyword lacks its name or its mask",
	"the mask of a keyword is not one of the lower 48 bits",
	"the name of a keyword is taken",
	"the mask of a keyword is taken",
	"the symbol of a keyword is taken",
};

static struct manifest_names *list_of(struct manifest_reader *reader, enum symbol_kind kind)
{
	switch (kind) {
	case SYMBOL_LEVEL:
		return &reader->levels;
	case SYMBOL_TASK:
		return &reader->tasks;
	case SYMBOL_OPCODE:
		return &reader->opcodes;
	default:
		return &reader->keywords;
	}
}

static struct manifest_name *append(struct manifest_reader *reader, enum symbol_kind kind)
{
	struct manifest_names *names = list_of(reader, kind);
	struct manifest_name *name = etw_arena_alloc(&reader->scratch, sizeof(*name));

	if (!name)
		return NULL;
	if (names->last)
		names->last->next = name;
	else
		names->first = name;
	names->last = name;
	names->count++;
	return name;
}

static bool is_outside(const struct name_rules *rules, uint64_t value)
{
	if (rules->kind == SYMBOL_KEYWORD && (value & (value - 1)))
		return true;
	return value < rules->low || value > rules->high;
}

static int check_name(struct manifest_reader *reader, const struct name_rules *rules,
		      const void *scope, const struct etw_xml_element *element,
		      const struct etw_named *named)
{
	if (is_outside(rules, named->value))
		TRY(etw_manifest_complain(reader, element, rules->outside, named->name));
	TRY(etw_manifest_claim_number(reader, element, etw_part_of(rules->kind, PART_VALUE), scope,
				      named->value, rules->value_twice));
	return etw_manifest_claim(reader, element, etw_part_of(rules->kind, PART_C_NAME),
				  reader->provider, named->symbol, rules->symbol_twice);
}

/* *ret: NULL when there is no name or number; a complaint was made then. */
static int read_name(struct manifest_reader *reader, const struct name_rules *rules,
		     const void *scope, const struct etw_xml_element *element,
		     struct manifest_name **ret)
{
	const char *name = etw_xml_attribute(element, "name");
	const char *number = etw_xml_attribute(element, rules->number);
	struct manifest_name *item;
	uint64_t value;
	int r;

	*ret = NULL;
	if (!name || !number || !etw_manifest_number(number, rules->limit, &value))
		return etw_manifest_complain(reader, element, rules->incomplete, name);
	item = append(reader, rules->kind);
	if (!item)
		return -ENOMEM;
	item->named.value = value;
	TRY(etw_manifest_keep(reader, name, &item->named.name));
	TRY(etw_manifest_keep_attribute(reader, element, "symbol", &item->named.symbol));
	TRY(etw_manifest_message(reader, element, &item->named.message));
	TRY(check_name(reader, rules, scope, element, &item->named));
	r = etw_manifest_define(reader, &(struct manifest_symbol){.kind = rules->kind,
								  .scope = scope,
								  .name = item->named.name,
								  .object = item});
	TRY(r);
	if (r == MANIFEST_TAKEN)
		TRY(etw_manifest_complain(reader, element, rules->name_twice, name));
	*ret = item;
	return 0;
}

/* All items of all lists of one kind: "opcodes" and "opcode", say. */
static int read_list(struct manifest_reader *reader, const struct name_rules *rules,
		     const struct etw_xml_element *parent, const struct manifest_name *task)
{
	struct manifest_name *item;

	for (const struct etw_xml_element *list = etw_xml_first(parent, rules->list); list;
	     list = etw_xml_next(list, rules->list)) {
		for (const struct etw_xml_element *at = etw_xml_first(list, rules->item); at;
		     at = etw_xml_next(at, rules->item)) {
			TRY(read_name(reader, rules, parent, at, &item));
			if (!item)
				continue;
			item->task = task;
			if (task && etw_manifest_winmeta(reader, item->named.name))
				TRY(etw_manifest_complain(
					reader, at, "a task's own opcode has a name of winmeta",
					item->named.name));
		}
	}
	return 0;
}

static int read_task(struct manifest_reader *reader, const struct etw_xml_element *element)
{
	const char *guid = etw_xml_attribute(element, "eventGUID");
	struct manifest_name *task;

	TRY(read_name(reader, &task_rules, reader->provider, element, &task));
	if (!task)
		return 0;
	task->element = element;
	if (guid && etw_guid_parse(guid, &task->event_guid) < 0)
		TRY(etw_manifest_complain(reader, element, "the eventGUID of a task is malformed",
					  guid));
	else if (guid && !etw_guid_is_null(&task->event_guid))
		TRY(etw_manifest_claim_guid(reader, element, etw_part_of(SYMBOL_TASK, PART_GUID),
					    reader->provider, &task->event_guid,
					    "the eventGUID of a task is taken"));
	return read_list(reader, &opcode_rules, element, task);
}

static int read_tasks(struct manifest_reader *reader)
{
	for (const struct etw_xml_element *list = etw_xml_first(reader->provider, task_rules.list);
	     list; list = etw_xml_next(list, task_rules.list)) {
		for (const struct etw_xml_element *at = etw_xml_first(list, task_rules.item); at;
		     at = etw_xml_next(at, task_rules.item))
			TRY(read_task(reader, at));
	}
	return 0;
}

int etw_manifest_read_names(struct manifest_reader *reader)
{
	TRY(read_list(reader, &level_rules, reader->provider, NULL));
	TRY(read_list(reader, &opcode_rules, reader->provider, NULL));
	TRY(read_list(reader, &keyword_rules, reader->provider, NULL));
	return read_tasks(reader);
}

/* Names of winmeta carry the prefix "win:" in what is read, whatever the document calls it. */
static int keep_winmeta_name(struct manifest_reader *reader, const char *name, const char **ret)
{
	etw_text_clear(&reader->text);
	etw_text_puts(&reader->text, "win:");
	etw_text_puts(&reader->text, name);
	TRY(etw_text_error(&reader->text));
	return etw_manifest_keep(reader, etw_text_string(&reader->text), ret);
}

/* The first use of one of winmeta's names makes it one of the provider. */
static int adopt(struct manifest_reader *reader, enum symbol_kind kind, const char *name,
		 const char *standard, const struct manifest_name **ret)
{
	struct manifest_name *item;
	const char *message, *key;
	uint64_t value;

	if (!etw_winmeta_find(kind, standard, &value, &message))
		return 0;
	item = append(reader, kind);
	key = etw_arena_strdup(&reader->scratch, name);
	if (!item || !key)
		return -ENOMEM;
	item->named.value = value;
	item->named.message = message;
	TRY(keep_winmeta_name(reader, standard, &item->named.name));
	*ret = item;
	return etw_manifest_define(reader, &(struct manifest_symbol){.kind = kind,
								     .scope = reader->provider,
								     .name = key,
								     .object = item});
}

int etw_manifest_use(struct manifest_reader *reader, const struct etw_xml_element *element,
		     enum symbol_kind kind, const struct manifest_name *task, const char *name,
		     const struct manifest_name **ret)
{
	const char *standard = etw_manifest_winmeta(reader, name);
	const struct manifest_symbol *symbol = NULL;

	*ret = NULL;
	if (task && task->element)
		symbol = etw_manifest_find(reader, kind, task->element, name);
	if (!symbol)
		symbol = etw_manifest_find(reader, kind, reader->provider, name);
	if (symbol) {
		*ret = symbol->object;
		return 0;
	}
	if (standard)
		TRY(adopt(reader, kind, name, standard, ret));
	if (*ret)
		return 0;
	return etw_manifest_complain(reader, element,
				     "an event refers to a name that is not defined", name);
}
