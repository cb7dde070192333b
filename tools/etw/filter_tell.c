/* SPDX-License-Identifier: MIT */
/* Why a filter left nothing: in sentences that name the option, and what was perhaps meant. */
#include <stdio.h>

#include "base/macros.h"
#include "export/export.h"
#include "schema/event_name.h"
#include "tools/common/program.h"
#include "tools/etw/filter_options.h"

#define NAME_BYTES_MAX 512

struct teller {
	const struct filter *filter;
	const struct filter_study *study;
	const char *where;
};

/* The name that was perhaps meant: a slip of the fingers, or a word that is a part of it. */
static const char *find_nearest(const struct filter_names *names, const char *word)
{
	const char *nearest = etw_program_nearest(word, names->at, names->count);
	char part[NAME_BYTES_MAX];

	if (nearest || snprintf(part, sizeof(part), "*%s*", word) >= (int)sizeof(part))
		return nearest;
	for (size_t i = 0; i < names->count; i++) {
		if (etw_schema_name_fits(part, names->at[i]))
			return names->at[i];
	}
	return NULL;
}

/* The sentence, with "; did you mean NAME?" where there is one. */
static void tell(const struct etw_text *sentence, const struct filter_names *names,
		 const char *word)
{
	const char *nearest = names ? find_nearest(names, word) : NULL;
	CLEANUP(etw_text_done) struct etw_text name = {0};

	if (nearest) {
		etw_text_puts(&name, nearest);
		(void)etw_export_clean(&name, 0);
	}
	etw_program_message("%s%s%s%s", etw_text_string(sentence), nearest ? "; did you mean " : "",
			    nearest ? etw_text_string(&name) : "", nearest ? "?" : "");
}

static bool has(uint64_t bits, size_t i)
{
	return bits >> i & 1;
}

static void tell_pids(const struct teller *teller)
{
	const struct etw_words *words = &teller->filter->words[FILTER_PID];

	for (size_t i = 0; i < words->count; i++) {
		if (!has(teller->study->pids, i))
			etw_program_message("no event in %s is of process %s", teller->where,
					    words->at[i]);
	}
}

/* "process 4", "one of these processes" */
static void put_processes(const struct teller *teller, struct etw_text *text)
{
	const struct etw_words *words = &teller->filter->words[FILTER_PID];

	if (words->count == 1)
		etw_text_printf(text, "process %s", words->at[0]);
	else
		etw_text_puts(text, "one of these processes");
}

static void tell_provider(const struct teller *teller, size_t i)
{
	const struct filter_study *study = teller->study;
	const char *word = teller->filter->words[FILTER_PROVIDER].at[i];
	CLEANUP(etw_text_done) struct etw_text text = {0};

	if (!has(study->providers[0] | study->providers[1], i)) {
		etw_text_printf(&text, "no provider in %s matches \"%s\"", teller->where, word);
		tell(&text, &study->provider_names, word);
	} else if (study->pids && !has(study->providers[1], i)) {
		etw_text_printf(&text, "\"%s\" is in %s, but no event of it is of ", word,
				teller->where);
		put_processes(teller, &text);
		tell(&text, NULL, NULL);
	}
}

static void put_providers(const struct teller *teller, struct etw_text *text)
{
	const struct etw_words *words = &teller->filter->words[FILTER_PROVIDER];

	if (words->count == 1)
		etw_text_printf(text, "\"%s\" is in %s, but no event of it matches ", words->at[0],
				teller->where);
	else
		etw_text_printf(text, "none of these providers has in %s an event that matches ",
				teller->where);
}

static void tell_event(const struct teller *teller, size_t i)
{
	const struct filter_study *study = teller->study;
	const char *word = teller->filter->words[FILTER_EVENT].at[i];
	bool has_provider = study->providers[0] | study->providers[1];
	bool of_neither = has(study->events[0], i), of_pid = has(study->events[1], i);
	bool of_provider = has(study->events[2], i), of_both = has(study->events[3], i);
	CLEANUP(etw_text_done) struct etw_text text = {0};

	if (of_both)
		return;
	if (has_provider && !of_provider) {
		put_providers(teller, &text);
		etw_text_printf(&text, "\"%s\"", word);
		tell(&text, &study->event_names, word);
	} else if (!of_neither && !of_pid && !of_provider) {
		etw_text_printf(&text, "no event in %s matches \"%s\"", teller->where, word);
		tell(&text, &study->event_names, word);
	} else if (study->pids && !of_pid) {
		etw_text_printf(&text, "no event that matches \"%s\" is of ", word);
		put_processes(teller, &text);
		tell(&text, NULL, NULL);
	} else if (study->pids && study->providers[1]) {
		etw_text_printf(&text,
				"no event that matches \"%s\" passes --provider and --pid "
				"together, though each of them leaves some",
				word);
		tell(&text, NULL, NULL);
	}
}

static void tell_field(void *context, const char *path)
{
	const struct teller *teller = context;
	CLEANUP(etw_text_done) struct etw_text text = {0};
	const struct etw_filter_operand *operand;
	const char *names[64] = {0};
	const char *nearest;
	size_t count = 0;

	etw_text_printf(&text, "no event in %s has a field \"%s\"", teller->where, path);
	for (; count < 64 && (operand = etw_filter_operand_next(count)); count++)
		names[count] = operand->name;
	nearest = etw_program_nearest(path, names, count);
	if (nearest)
		etw_program_message("%s; did you mean %s?", etw_text_string(&text), nearest);
	else
		tell(&text, &teller->study->field_names, path);
}

void filter_tell(const struct filter *filter, const struct filter_study *study, const char *where)
{
	struct teller teller = {filter, study, where};

	tell_pids(&teller);
	for (size_t i = 0; i < filter->words[FILTER_PROVIDER].count; i++)
		tell_provider(&teller, i);
	for (size_t i = 0; i < filter->words[FILTER_EVENT].count; i++)
		tell_event(&teller, i);
	if (filter->tree)
		etw_filter_each_unknown(filter->tree, tell_field, &teller);
}
