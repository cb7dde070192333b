/* SPDX-License-Identifier: MIT */
#include "tools/etw/record_providers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/guid.h"
#include "base/number.h"
#include "filter/operand.h"
#include "schema/provider_id.h"
#include "tools/common/program.h"
#include "tools/etw/record_keywords.h"
#include "tools/etw/record_tracepoints.h"

#define PROVIDER_PARTS  4
#define NAMED_LEVEL_MAX 5
#define BAD_KEYWORDS                                                                             \
	"has keywords that are neither numbers nor names; NAME:LEVEL:ANY:ALL is the order, and " \
	"several of ANY or ALL have commas between them"

void record_providers_done(struct record_providers *providers)
{
	for (size_t i = 0; i < providers->count; i++)
		free(providers->all[i].names);
	free(providers->all);
	*providers = (struct record_providers){0};
}

/* Returns NULL, or what is wrong with it, static. */
static const char *parse_level(const char *text, uint8_t *ret)
{
	const int named = etw_filter_level(text);
	uint64_t level;

	if (named >= 0) {
		*ret = (uint8_t)named;
		return NULL;
	}
	/* Nobody writes levels so, but keywords: this one would be taken for a level that lets everything pass. */
	if (!strncasecmp(text, "0x", 2))
		return "has a hexadecimal number in the place of the level; keywords come behind "
		       "it: NAME::ANY takes every level";
	if (!etw_number_parse(text, UINT8_MAX, &level))
		return "has a level that is none: a number up to 255, or critical, error, warning, "
		       "info, verbose; keywords come behind it, and NAME::ANY takes every level";
	*ret = (uint8_t)level;
	return NULL;
}

/* One --provider. Returns NULL, or what is wrong with it, static. */
static const char *parse_provider(const char *text, struct record_provider *ret)
{
	char copy[RECORD_PROVIDER_BYTES];
	char *parts[PROVIDER_PARTS + 1] = {copy}, *at = copy;
	const char *problem;
	size_t count = 0;

	*ret = (struct record_provider){.text = text};
	if (strlen(text) >= sizeof(copy))
		return "is too long";
	if (record_tracepoints_is(text))
		return record_tracepoints_parse(text, ret);
	(void)snprintf(copy, sizeof(copy), "%s", text);
	while (at && count <= PROVIDER_PARTS)
		parts[count++] = strsep(&at, ":");
	if (count > PROVIDER_PARTS)
		return "has more parts than NAME:LEVEL:ANY:ALL";
	if (etw_provider_id_find(parts[0], &ret->guid))
		return "names no provider";
	if (count > 1 && *parts[1]) {
		problem = parse_level(parts[1], &ret->level);
		if (problem)
			return problem;
	}
	/* What is kept of them lies in the text. */
	if (count > 2 && !record_keywords_parse(text + (parts[2] - copy), strlen(parts[2]),
						&ret->match_any, &ret->any_words))
		return BAD_KEYWORDS;
	if (count > 3 && !record_keywords_parse(text + (parts[3] - copy), strlen(parts[3]),
						&ret->match_all, &ret->all_words))
		return BAD_KEYWORDS;
	return NULL;
}

/* Tools of Windows want NAME:KEYWORDS:LEVEL, and numbers do not say what they are. */
static void warn_of_order(const struct record_provider *provider)
{
	bool is_named = provider->match_any && provider->match_any <= NAMED_LEVEL_MAX;

	if (provider->level > NAMED_LEVEL_MAX && provider->level != UINT8_MAX && is_named)
		etw_program_message(
			"warning: the provider \"%s\" has level %u and keywords 0x%llx: "
			"NAME:LEVEL:ANY:ALL is the order",
			provider->text, provider->level, (unsigned long long)provider->match_any);
}

/* Enabling a provider twice would take the first back. Returns false when memory ran out. */
static bool merge(struct record_providers *providers)
{
	struct record_provider *last = &providers->all[providers->count];

	for (size_t i = 0; record_tracepoints_is(last->text) && i < providers->count; i++)
		if (etw_guid_equal(&providers->all[i].guid, &last->guid))
			return record_tracepoints_merge(&providers->all[i], last);
	providers->count++;
	return true;
}

bool record_providers_add(struct record_providers *providers, const char *text)
{
	struct record_provider *grown = realloc(providers->all,
						(providers->count + 1) * sizeof(*grown));
	const char *problem;

	if (!grown) {
		etw_program_message("out of memory");
		return false;
	}
	providers->all = grown;
	problem = parse_provider(text, &grown[providers->count]);
	if (problem) {
		free(grown[providers->count].names);
		etw_program_message("the provider \"%s\" %s", text, problem);
		return false;
	}
	warn_of_order(&providers->all[providers->count]);
	if (merge(providers))
		return true;
	free(grown[providers->count].names);
	etw_program_message("out of memory");
	return false;
}
