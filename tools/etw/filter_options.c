/* SPDX-License-Identifier: MIT */
#include "tools/etw/filter_options.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/guid.h"
#include "base/macros.h"
#include "base/number.h"
#include "filter/parse.h"
#include "schema/event_name.h"
#include "tools/common/program.h"

void filter_done(struct filter *filter)
{
	for (int kind = 0; kind < FILTER_KINDS; kind++)
		etw_words_done(&filter->words[kind]);
	etw_words_done(&filter->expressions);
	etw_filter_free(filter->tree);
	filter->tree = NULL;
}

/* Written like a GUID: in braces, or two groups of digits that only a GUID begins with. */
static bool looks_like_guid(const char *word)
{
	size_t digits = 0;

	if (*word == '{')
		return true;
	while (isxdigit((unsigned char)word[digits]))
		digits++;
	return digits == 8 && word[8] == '-' && strspn(word + 9, "0123456789abcdefABCDEF") == 4 &&
	       word[13] == '-';
}

static bool check_words(const struct etw_words *words, const char *option)
{
	if (words->count > FILTER_WORDS_MAX) {
		etw_program_message("--%s can be given at most %d times", option, FILTER_WORDS_MAX);
		return false;
	}
	for (size_t i = 0; i < words->count; i++) {
		if (!*words->at[i]) {
			etw_program_message("--%s wants a name, not an empty one", option);
			return false;
		}
	}
	return true;
}

static bool check_provider(const char *word)
{
	GUID guid;

	if (!looks_like_guid(word) || !etw_guid_parse(word, &guid))
		return true;
	etw_program_message("--provider wants a name or a GUID such as "
			    "{9e814aad-3204-11d2-9a82-006008a86939}, not \"%s\"",
			    word);
	return false;
}

static bool check_event(const char *word, bool has_names)
{
	if (has_names || etw_schema_word_is_number(word))
		return true;
	etw_program_message("--event \"%s\" is a name, and with --no-decode events have none; give "
			    "the id",
			    word);
	return false;
}

static bool check(const struct filter *filter, bool has_names)
{
	const struct etw_words *words = filter->words;
	uint64_t value;

	if (!check_words(&words[FILTER_PROVIDER], "provider") ||
	    !check_words(&words[FILTER_EVENT], "event") || !check_words(&words[FILTER_PID], "pid"))
		return false;
	for (size_t i = 0; i < words[FILTER_PROVIDER].count; i++) {
		if (!check_provider(words[FILTER_PROVIDER].at[i]))
			return false;
	}
	for (size_t i = 0; i < words[FILTER_EVENT].count; i++) {
		if (!check_event(words[FILTER_EVENT].at[i], has_names))
			return false;
	}
	for (size_t i = 0; i < words[FILTER_PID].count; i++) {
		if (!etw_number_parse(words[FILTER_PID].at[i], UINT32_MAX, &value)) {
			etw_program_message("--pid wants a process id, not \"%s\"",
					    words[FILTER_PID].at[i]);
			return false;
		}
	}
	return true;
}

/* What a word of a short form means: a number, a GUID, or a pattern of names. Returns 0 or -ENOMEM. */
static int read_word(enum filter_kind kind, const char *word, struct etw_filter_value *ret)
{
	uint64_t number;

	if ((kind == FILTER_PID && etw_number_parse(word, UINT32_MAX, &number)) ||
	    (kind == FILTER_EVENT && etw_number_parse(word, UINT16_MAX, &number))) {
		ret->readings = ETW_FILTER_INTEGER;
		ret->from = ret->to = (etw_filter_integer)number;
		return 0;
	}
	if (kind == FILTER_PROVIDER && !etw_guid_parse(word, &ret->guid)) {
		ret->readings = ETW_FILTER_GUID;
		return 0;
	}
	ret->readings = ETW_FILTER_TEXT;
	TRY(etw_filter_value_set_text(ret, word, strlen(word)));
	return etw_filter_value_set_how(ret, ETW_FILTER_PATTERN, false, NULL);
}

static int make_leaf(enum filter_kind kind, const char *word, struct etw_filter **ret)
{
	static const enum etw_filter_operand_id operands[FILTER_KINDS] = {
		ETW_FILTER_PID, ETW_FILTER_PROVIDER, ETW_FILTER_EVENT};
	CLEANUP(etw_filter_freep)
	struct etw_filter *leaf = etw_filter_of_operand(operands[kind]);
	struct etw_filter_value value = {0};

	if (!leaf)
		return -ENOMEM;
	if (read_word(kind, word, &value)) {
		etw_filter_value_done(&value);
		return -ENOMEM;
	}
	TRY(etw_filter_add_value(leaf, &value));
	*ret = TAKE(leaf);
	return 0;
}

/* Adds a condition to those before; takes it. */
static int add(struct filter *filter, struct etw_filter *condition)
{
	struct etw_filter *tree = TAKE(filter->tree);

	if (!tree) {
		filter->tree = condition;
		return 0;
	}
	return etw_filter_and(tree, condition, &filter->tree);
}

/* The words of one short form: one of them must fit. */
static int add_words(struct filter *filter, enum filter_kind kind)
{
	const struct etw_words *words = &filter->words[kind];
	struct etw_filter *any = NULL, *leaf;

	for (size_t i = 0; i < words->count; i++) {
		int result = make_leaf(kind, words->at[i], &leaf);

		if (result) {
			etw_filter_free(any);
			return result;
		}
		filter->leaves[kind][i] = leaf;
		if (!any)
			any = leaf;
		else
			TRY(etw_filter_or(any, leaf, &any));
	}
	if (!any)
		return 0;
	etw_filter_watch(any);
	return add(filter, any);
}

/* Tells what is wrong, with the place. */
static void tell_fault(const struct etw_filter_fault *fault, const char *expression)
{
	CLEANUP(etw_text_done) struct etw_text text = {0};

	etw_filter_fault_write(fault, expression, strlen(expression), &text);
	etw_program_message("--filter: %s", etw_text_string(&text));
}

static bool add_expression(struct filter *filter, const char *expression, bool has_names)
{
	struct etw_filter_fault fault = {0};
	struct etw_filter *tree;
	int result = etw_filter_parse(expression, strlen(expression), &tree, &fault);

	if (result == -EINVAL) {
		tell_fault(&fault, expression);
		return false;
	}
	if (!result && !has_names && etw_filter_needs_decoding(tree, &fault.at)) {
		(void)snprintf(fault.sentence, sizeof(fault.sentence),
			       "with --no-decode events have no names and no fields");
		tell_fault(&fault, expression);
		etw_filter_free(tree);
		return false;
	}
	if (!result)
		result = add(filter, tree);
	if (result)
		etw_program_message("out of memory");
	return !result;
}

bool filter_prepare(struct filter *filter, bool has_names)
{
	if (!check(filter, has_names))
		return false;
	for (int kind = 0; kind < FILTER_KINDS; kind++) {
		if (add_words(filter, (enum filter_kind)kind)) {
			etw_program_message("out of memory");
			return false;
		}
	}
	for (size_t i = 0; i < filter->expressions.count; i++) {
		if (!add_expression(filter, filter->expressions.at[i], has_names))
			return false;
	}
	if (filter->tree)
		etw_filter_sort(filter->tree);
	return true;
}

static void note_unknown(void *context, const char *path)
{
	bool *is_satisfied = context;

	(void)path;
	*is_satisfied = false;
}

bool filter_is_satisfied(const struct filter *filter)
{
	bool is_satisfied = true;

	if (filter->tree)
		etw_filter_each_unknown(filter->tree, note_unknown, &is_satisfied);
	for (int kind = 0; kind < FILTER_KINDS; kind++) {
		for (size_t i = 0; i < filter->words[kind].count; i++)
			is_satisfied &= etw_filter_was_true(filter->leaves[kind][i]);
	}
	return is_satisfied;
}

static uint64_t find_fitting(const struct filter *filter, enum filter_kind kind,
			     struct etw_filter_subject *subject)
{
	uint64_t bits = 0;

	for (size_t i = 0; i < filter->words[kind].count; i++)
		bits |= (uint64_t)etw_filter_matches(filter->leaves[kind][i], subject) << i;
	return bits;
}

/* Each name once, as far as there is room. */
static void remember(struct filter_names *names, const char *name)
{
	if (!name || !*name || names->count == FILTER_NAMES_MAX)
		return;
	for (size_t i = names->count; i > 0; i--) {
		if (names->at[i - 1] == name || !strcmp(names->at[i - 1], name))
			return;
	}
	names->at[names->count++] = name;
}

static void remember_event(struct filter_names *names, const struct etw_schema *schema,
			   const EVENT_RECORD *record)
{
	const uint8_t opcode = record->EventHeader.EventDescriptor.Opcode;

	remember(names, etw_schema_event_task(schema));
	remember(names, schema->event_name);
	remember(names, etw_schema_event_opcode(schema, opcode));
}

static void remember_fields(struct filter_names *names, const struct etw_schema *schema)
{
	for (unsigned i = 0; i < schema->field_count; i++)
		remember(names, schema->fields[i].name);
}

void filter_study(const struct filter *filter, struct filter_study *study,
		  struct etw_filter_subject *subject, const struct etw_decoding *decoding)
{
	const struct etw_schema *schema = decoding ? decoding->schema : NULL;
	const EVENT_RECORD *record = subject->record;
	uint64_t pids = find_fitting(filter, FILTER_PID, subject);
	uint64_t providers = find_fitting(filter, FILTER_PROVIDER, subject);
	unsigned passes_pid = !filter->words[FILTER_PID].count || pids;
	unsigned passes_provider = !filter->words[FILTER_PROVIDER].count || providers;

	study->pids |= pids;
	study->providers[passes_pid] |= providers;
	study->events[passes_provider * 2 + passes_pid] |= find_fitting(filter, FILTER_EVENT,
									subject);
	/* Fields that short cuts have left out are asked for, so that those of no event remain. */
	for (size_t i = 0; i < filter->expressions.count; i++)
		etw_filter_learn_fields(filter->tree, schema, subject->serial);
	remember(&study->provider_names,
		 subject->source->provider_name(subject->context, &record->EventHeader.ProviderId));
	if (!schema)
		return;
	remember(&study->provider_names, schema->provider_name);
	if (schema->source == DecodingSourceWbem)
		remember(&study->provider_names, schema->task_name);
	if (passes_provider)
		remember_event(&study->event_names, schema, record);
	if (filter->expressions.count)
		remember_fields(&study->field_names, schema);
}
