/* SPDX-License-Identifier: MIT */
#include "tools/etw/filter.h"

#include <ctype.h>
#include <string.h>

#include "base/guid.h"
#include "base/number.h"
#include "schema/event_name.h"
#include "tools/common/program.h"

void filter_done(struct filter *filter)
{
	for (int kind = 0; kind < FILTER_KINDS; kind++)
		etw_words_done(&filter->words[kind]);
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
		etw_program_error("--%s can be given at most %d times", option, FILTER_WORDS_MAX);
		return false;
	}
	for (size_t i = 0; i < words->count; i++) {
		if (!*words->at[i]) {
			etw_program_error("--%s wants a name, not an empty one", option);
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
	etw_program_error("--provider wants a name or a GUID such as "
			  "{9e814aad-3204-11d2-9a82-006008a86939}, not \"%s\"",
			  word);
	return false;
}

static bool check_event(const char *word, bool has_names)
{
	if (has_names || etw_schema_word_is_number(word))
		return true;
	etw_program_error("--event \"%s\" is a name, and with --no-decode events have none; give "
			  "the id",
			  word);
	return false;
}

bool filter_check(const struct filter *filter, bool has_names)
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
			etw_program_error("--pid wants a process id, not \"%s\"",
					  words[FILTER_PID].at[i]);
			return false;
		}
	}
	return true;
}

static bool is_provider(const char *word, const EVENT_RECORD *record,
			const struct etw_schema *schema, const char *provider_name)
{
	GUID guid;

	if (!etw_guid_parse(word, &guid))
		return etw_guid_equal(&guid, &record->EventHeader.ProviderId) ||
		       (schema && etw_guid_equal(&guid, &schema->provider));
	return etw_schema_name_fits(word, provider_name) ||
	       (schema && etw_schema_name_fits(word, schema->provider_name)) ||
	       (schema && schema->source == DecodingSourceWbem &&
		etw_schema_name_fits(word, schema->task_name));
}

/* What a word is held against. */
struct subject {
	const EVENT_RECORD *record;
	const struct etw_schema *schema;
	const char *provider_name;
	uint32_t pid;
};

static bool fits(enum filter_kind kind, const char *word, const struct subject *subject)
{
	uint64_t pid;

	switch (kind) {
	case FILTER_PID:
		return etw_number_parse(word, UINT32_MAX, &pid) && pid == subject->pid;
	case FILTER_PROVIDER:
		return is_provider(word, subject->record, subject->schema, subject->provider_name);
	default:
		return etw_schema_event_is(word, &subject->record->EventHeader, subject->schema);
	}
}

static bool wants(struct filter *filter, enum filter_kind kind, const struct subject *subject)
{
	const struct etw_words *words = &filter->words[kind];
	bool is_wanted = !words->count;

	for (size_t i = 0; i < words->count; i++) {
		uint64_t bit = UINT64_C(1) << i;

		if (is_wanted && filter->hits[kind] & bit)
			continue;
		if (fits(kind, words->at[i], subject)) {
			filter->hits[kind] |= bit;
			is_wanted = true;
		}
	}
	return is_wanted;
}

bool filter_wants_process(struct filter *filter, uint32_t pid)
{
	return wants(filter, FILTER_PID, &(struct subject){.pid = pid});
}

bool filter_wants_kind(struct filter *filter, const EVENT_RECORD *record,
		       const struct etw_schema *schema, const char *provider_name)
{
	const struct subject subject = {record, schema, provider_name, 0};

	return wants(filter, FILTER_PROVIDER, &subject) && wants(filter, FILTER_EVENT, &subject);
}

bool filter_is_satisfied(const struct filter *filter)
{
	for (int kind = 0; kind < FILTER_KINDS; kind++) {
		size_t count = filter->words[kind].count;

		if (count && filter->hits[kind] != UINT64_MAX >> (FILTER_WORDS_MAX - count))
			return false;
	}
	return true;
}

static uint64_t find_fitting(const struct filter *filter, enum filter_kind kind,
			     const struct subject *subject)
{
	uint64_t bits = 0;

	for (size_t i = 0; i < filter->words[kind].count; i++)
		bits |= (uint64_t)fits(kind, filter->words[kind].at[i], subject) << i;
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

static void remember_event(struct filter_names *names, const struct subject *subject)
{
	const struct etw_schema *schema = subject->schema;

	if (!schema)
		return;
	remember(names, etw_schema_event_task(schema));
	remember(names, schema->event_name);
	remember(names, etw_schema_event_opcode(
				schema, subject->record->EventHeader.EventDescriptor.Opcode));
}

void filter_study(const struct filter *filter, struct filter_study *study,
		  const EVENT_RECORD *record, uint32_t pid, const struct etw_schema *schema,
		  const char *provider_name)
{
	const struct subject subject = {record, schema, provider_name, pid};
	uint64_t pids = find_fitting(filter, FILTER_PID, &subject);
	uint64_t providers = find_fitting(filter, FILTER_PROVIDER, &subject);
	unsigned passes_pid = !filter->words[FILTER_PID].count || pids;
	unsigned passes_provider = !filter->words[FILTER_PROVIDER].count || providers;

	study->pids |= pids;
	study->providers[passes_pid] |= providers;
	study->events[passes_provider * 2 + passes_pid] |= find_fitting(filter, FILTER_EVENT,
									&subject);
	remember(&study->provider_names, provider_name);
	if (schema)
		remember(&study->provider_names, schema->provider_name);
	if (schema && schema->source == DecodingSourceWbem)
		remember(&study->provider_names, schema->task_name);
	if (passes_provider)
		remember_event(&study->event_names, &subject);
}
