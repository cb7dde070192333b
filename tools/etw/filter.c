/* SPDX-License-Identifier: MIT */
#include "tools/etw/filter.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/guid.h"
#include "base/number.h"
#include "export/export.h"
#include "schema/event_name.h"
#include "tools/common/program.h"

#define NAME_BYTES_MAX 512

void filter_done(struct filter *filter)
{
	etw_words_done(&filter->providers);
	etw_words_done(&filter->events);
	etw_words_done(&filter->pids);
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

bool filter_check(const struct filter *filter)
{
	uint64_t value;
	GUID guid;

	if (!check_words(&filter->providers, "provider") || !check_words(&filter->events, "event"))
		return false;
	for (size_t i = 0; i < filter->providers.count; i++) {
		const char *word = filter->providers.at[i];

		if (looks_like_guid(word) && etw_guid_parse(word, &guid)) {
			etw_program_error("--provider wants a name or a GUID such as "
					  "{9e814aad-3204-11d2-9a82-006008a86939}, not \"%s\"",
					  word);
			return false;
		}
	}
	for (size_t i = 0; i < filter->pids.count; i++) {
		if (!etw_number_parse(filter->pids.at[i], UINT32_MAX, &value)) {
			etw_program_error("--pid wants a process id, not \"%s\"",
					  filter->pids.at[i]);
			return false;
		}
	}
	return true;
}

bool filter_wants_process(struct filter *filter, const EVENT_RECORD *record)
{
	uint64_t pid;

	for (size_t i = 0; i < filter->pids.count; i++) {
		if (etw_number_parse(filter->pids.at[i], UINT32_MAX, &pid) &&
		    pid == record->EventHeader.ProcessId) {
			filter->has_process = true;
			return true;
		}
	}
	filter->has_process |= !filter->pids.count;
	return !filter->pids.count;
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

/* Keeps the names of providers for suggestions; each once, as far as there is room. */
static void remember(struct filter *filter, const char *name)
{
	if (!name || !*name || filter->name_count == FILTER_NAMES_MAX)
		return;
	for (size_t i = filter->name_count; i > 0; i--) {
		if (filter->names[i - 1] == name || !strcmp(filter->names[i - 1], name))
			return;
	}
	filter->names[filter->name_count++] = name;
}

static bool wants_provider(struct filter *filter, const EVENT_RECORD *record,
			   const struct etw_schema *schema, const char *provider_name)
{
	bool is_wanted = !filter->providers.count;

	for (size_t i = 0; i < filter->providers.count; i++) {
		uint64_t bit = UINT64_C(1) << i;

		if (is_wanted && filter->provider_hits & bit)
			continue;
		if (is_provider(filter->providers.at[i], record, schema, provider_name)) {
			filter->provider_hits |= bit;
			is_wanted = true;
		}
	}
	if (!is_wanted) {
		remember(filter, provider_name);
		remember(filter, schema ? schema->provider_name : NULL);
		if (schema && schema->source == DecodingSourceWbem)
			remember(filter, schema->task_name);
	}
	return is_wanted;
}

bool filter_wants_kind(struct filter *filter, const EVENT_RECORD *record,
		       const struct etw_schema *schema, const char *provider_name)
{
	bool is_wanted = !filter->events.count;

	if (!wants_provider(filter, record, schema, provider_name))
		return false;
	filter->has_provider = true;
	for (size_t i = 0; i < filter->events.count; i++) {
		uint64_t bit = UINT64_C(1) << i;

		if (is_wanted && filter->event_hits & bit)
			continue;
		if (etw_schema_event_is(filter->events.at[i], &record->EventHeader, schema)) {
			filter->event_hits |= bit;
			is_wanted = true;
		}
	}
	return is_wanted;
}

/* The provider that was perhaps meant: a slip of the fingers, or a part of the name. */
static const char *find_nearest(const struct filter *filter, const char *word)
{
	const char *nearest = etw_program_nearest(word, filter->names, filter->name_count);
	char part[NAME_BYTES_MAX];

	if (nearest || snprintf(part, sizeof(part), "*%s*", word) >= (int)sizeof(part))
		return nearest;
	for (size_t i = 0; i < filter->name_count; i++) {
		if (etw_schema_name_fits(part, filter->names[i]))
			return filter->names[i];
	}
	return NULL;
}

static void tell_provider(const struct filter *filter, const char *word)
{
	const char *nearest = find_nearest(filter, word);
	struct etw_text text = {0};

	if (nearest) {
		etw_text_puts(&text, nearest);
		(void)etw_export_clean(&text, 0);
	}
	etw_program_error("no provider matches \"%s\"%s%s%s", word,
			  nearest ? "; did you mean " : "", nearest ? etw_text_string(&text) : "",
			  nearest ? "?" : "");
	etw_text_done(&text);
}

void filter_tell(const struct filter *filter)
{
	if (filter->pids.count && !filter->has_process)
		etw_program_error("no event is of %s", filter->pids.count == 1
							       ? "this process"
							       : "one of these processes");
	for (size_t i = 0; filter->has_process && i < filter->providers.count; i++) {
		if (!(filter->provider_hits >> i & 1))
			tell_provider(filter, filter->providers.at[i]);
	}
	for (size_t i = 0; filter->has_provider && i < filter->events.count; i++) {
		if (!(filter->event_hits >> i & 1))
			etw_program_error("no event matches \"%s\"", filter->events.at[i]);
	}
}
