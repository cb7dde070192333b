/* SPDX-License-Identifier: MIT */
/* Levels, tasks, opcodes and keywords. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/guid.h"
#include "base/macros.h"
#include "compile/read_internal.h"

struct name_rule {
	enum symbol_kind kind;
	const char *what;
	const char *list, *item, *number;
	uint64_t least, most;
	uint64_t type_most; /* what the attribute can say */
};

static const struct name_rule level_rule = {SYMBOL_LEVEL, "level", "levels", "level",
					    "value",      16,      255,      UINT8_MAX};
static const struct name_rule task_rule = {SYMBOL_TASK, "task", "tasks", "task",
					   "value",     1,      65535,   UINT16_MAX};
static const struct name_rule opcode_rule = {SYMBOL_OPCODE, "opcode", "opcodes", "opcode",
					     "value",       10,       239,       UINT8_MAX};
static const struct name_rule keyword_rule = {
	SYMBOL_KEYWORD, "keyword", "keywords", "keyword", "mask", 1, UINT64_C(1) << 47, UINT64_MAX};

static struct mc_names *names_of(struct mc_provider *provider, enum symbol_kind kind)
{
	switch (kind) {
	case SYMBOL_LEVEL:
		return &provider->levels;
	case SYMBOL_TASK:
		return &provider->tasks;
	case SYMBOL_OPCODE:
		return &provider->opcodes;
	default:
		return &provider->keywords;
	}
}

static int check_number(struct mc_reader *reader, const struct name_rule *rule,
			const struct mc_name *name)
{
	if (rule->kind == SYMBOL_KEYWORD && (!name->value || (name->value & (name->value - 1))))
		return etw_compile_complain(reader, name->element,
					    "the mask of the keyword %s has not exactly one bit",
					    name->name);
	if (name->value >= rule->least && name->value <= rule->most)
		return 0;
	if (rule->kind == SYMBOL_KEYWORD)
		return etw_compile_complain(
			reader, name->element,
			"the mask of the keyword %s is above bit 47, which are Windows' own",
			name->name);
	return etw_compile_complain(reader, name->element,
				    "the value of the %s %s is not from %llu to %llu", rule->what,
				    name->name, (unsigned long long)rule->least,
				    (unsigned long long)rule->most);
}

static int claim_name(struct mc_reader *reader, const struct name_rule *rule, struct mc_name *name)
{
	const struct etw_xml_element *element = name->element;
	const void *scope = name->task ? (const void *)name->task : reader->provider;
	char what[32];

	TRY(etw_compile_claim(reader, element, rule->kind, scope, name->name, name, rule->what));
	(void)snprintf(what, sizeof(what), "%s's %s", rule->what, rule->number);
	if (etw_compile_is_number(element, rule->number, rule->type_most))
		TRY(etw_compile_claim_number(reader, element, rule->kind + MC_VALUE, scope,
					     name->value, what));
	(void)snprintf(what, sizeof(what), "%s's symbol", rule->what);
	return etw_compile_claim(reader, element, rule->kind + MC_SYMBOL, reader->provider,
				 name->symbol, name, what);
}

static int read_name(struct mc_reader *reader, const struct name_rule *rule,
		     const struct etw_xml_element *element, const struct mc_name *task,
		     struct mc_name **ret)
{
	struct mc_names *names = names_of(reader->provider, rule->kind);
	struct mc_name *name = etw_compile_new(reader, sizeof(*name));
	const char *guid = etw_xml_attribute(element, "eventGUID");

	if (!name)
		return -ENOMEM;
	*ret = name;
	name->element = element;
	name->name = etw_xml_attribute(element, "name");
	name->symbol = etw_compile_attribute_symbol(element);
	name->value = etw_compile_attribute_number(element, rule->number, rule->least);
	name->task = task;
	if (!name->name)
		name->name = "";
	TRY(etw_compile_message(reader, element, &name->message));
	if (etw_compile_winmeta_name(reader, name->name)) {
		uint64_t value;
		const char *text;

		/* Some manifests repeat one of winmeta's with its own value: that is no definition. */
		if (!task &&
		    etw_winmeta_find(rule->kind, name->name + strlen(reader->manifest->winmeta) + 1,
				     &value, &text) &&
		    value == name->value)
			return 0;
		return etw_compile_complain(reader, element, "the %s %s has a name of winmeta's",
					    rule->what, name->name);
	}
	if (guid && rule->kind == SYMBOL_TASK && etw_guid_parse(guid, &name->event_guid) == 0 &&
	    !etw_guid_is_null(&name->event_guid))
		TRY(etw_compile_claim_guid(reader, element, SYMBOL_TASK + MC_ID, reader->provider,
					   &name->event_guid, "task's eventGUID"));
	if (etw_compile_is_number(element, rule->number, rule->type_most))
		TRY(check_number(reader, rule, name));
	TRY(claim_name(reader, rule, name));
	MC_APPEND(names->first, names->last, name);
	names->count++;
	return 0;
}

static int read_list(struct mc_reader *reader, const struct name_rule *rule,
		     const struct etw_xml_element *parent, const struct mc_name *task)
{
	struct mc_name *name;

	for (const struct etw_xml_element *list = etw_xml_first(parent, rule->list); list;
	     list = etw_xml_next(list, rule->list)) {
		for (const struct etw_xml_element *at = etw_xml_first(list, rule->item); at;
		     at = etw_xml_next(at, rule->item))
			TRY(read_name(reader, rule, at, task, &name));
	}
	return 0;
}

int etw_compile_read_names(struct mc_reader *reader)
{
	const struct etw_xml_element *element = reader->provider->element;

	TRY(read_list(reader, &level_rule, element, NULL));
	TRY(read_list(reader, &task_rule, element, NULL));
	TRY(read_list(reader, &opcode_rule, element, NULL));
	for (const struct mc_name *task = reader->provider->tasks.first; task; task = task->next)
		TRY(read_list(reader, &opcode_rule, task->element, task));
	return read_list(reader, &keyword_rule, element, NULL);
}

static uint32_t winmeta_id(enum symbol_kind kind, uint64_t value)
{
	switch (kind) {
	case SYMBOL_LEVEL:
		return 0x50000000u + (uint32_t)value;
	case SYMBOL_TASK:
		return 0x70000000u + (uint32_t)value;
	case SYMBOL_OPCODE:
		return 0x30000000u + ((uint32_t)value << 16);
	default:
		return value ? 0x10000001u + (uint32_t)__builtin_ctzll(value) : 0x10000000u;
	}
}

/* One of winmeta's joins the provider's own when an event uses it first. */
static int use_winmeta(struct mc_reader *reader, enum symbol_kind kind, const char *full,
		       const char *bare, const struct mc_name **ret)
{
	struct mc_names *names = names_of(reader->provider, kind);
	struct mc_name *name;
	const char *text;
	uint64_t value;

	if (!etw_winmeta_find(kind, bare, &value, &text))
		return 0;
	name = etw_compile_new(reader, sizeof(*name));
	if (!name)
		return -ENOMEM;
	name->name = full;
	name->value = value;
	name->is_winmeta = true;
	if (text)
		TRY(etw_compile_winmeta_message(reader, kind, bare, text, winmeta_id(kind, value),
						&name->message));
	MC_APPEND(names->first, names->last, name);
	names->count++;
	*ret = name;
	return etw_compile_claim(reader, reader->provider->element, kind, reader->provider, full,
				 name, "winmeta's name");
}

int etw_compile_use(struct mc_reader *reader, const struct etw_xml_element *element,
		    enum symbol_kind kind, const struct mc_name *task, const char *name,
		    const struct mc_name **ret)
{
	static const char *const kinds[] = {[SYMBOL_LEVEL] = "level",
					    [SYMBOL_TASK] = "task",
					    [SYMBOL_OPCODE] = "opcode",
					    [SYMBOL_KEYWORD] = "keyword"};
	const char *bare = etw_compile_winmeta_name(reader, name);

	*ret = task ? etw_compile_find(reader, kind, task, name) : NULL;
	if (!*ret)
		*ret = etw_compile_find(reader, kind, reader->provider, name);
	if (!*ret && bare)
		TRY(use_winmeta(reader, kind, name, bare, ret));
	if (!*ret)
		return etw_compile_complain(reader, element, "there is no %s %s", kinds[kind],
					    name);
	return 0;
}
