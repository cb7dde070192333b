/* SPDX-License-Identifier: MIT */
#include "tools/common/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "tools/common/installed_providers.h"
#include "tools/common/known_providers.h"
#include "tools/common/program.h"

#define OPTIONS_MAX     32
#define GIVEN_BYTES_MAX 128

int etw_words_add(struct etw_words *words, const char *word)
{
	const char **grown = realloc(words->at, (words->count + 1) * sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	grown[words->count++] = word;
	words->at = grown;
	return 0;
}

void etw_words_done(struct etw_words *words)
{
	free(words->at);
	*words = (struct etw_words){0};
}

bool etw_shared_option_take(struct etw_shared_options *shared, int code)
{
	switch (code) {
	case ETW_OPTION_HELP:
	case 'h':
		shared->help = true;
		return true;
	case ETW_OPTION_MANIFEST:
		if (!etw_words_add(&shared->manifests, optarg))
			return true;
		etw_program_message("out of memory");
		return false;
	case ETW_OPTION_NO_KNOWN_PROVIDERS:
		shared->no_known_providers = true;
		return true;
	case ETW_OPTION_COLOUR:
		if (etw_colour_mode_parse(optarg, &shared->colour))
			return true;
		etw_program_message("--color wants auto, always or never, not \"%s\"", optarg);
		return false;
	case ETW_OPTION_NO_PAGER:
		shared->no_pager = true;
		return true;
	default:
		return false;
	}
}

/* The option as it was given, without its value. */
static void read_given(char *const *arguments, char *ret, size_t bytes)
{
	const char *word = arguments[optind - 1];

	/* Short ones may stand together in a word, which getopt is then not through with. */
	if (optopt > 0 && optopt < ETW_OPTION_HELP)
		(void)snprintf(ret, bytes, "-%c", optopt);
	else
		(void)snprintf(ret, bytes, "%.*s", (int)strcspn(word, "="), word);
}

void etw_options_complain(int code, char *const *arguments, const struct option *options,
			  const char *(*find_owner)(const char *name))
{
	const char *names[OPTIONS_MAX] = {NULL};
	const char *nearest = NULL, *owner = NULL;
	char given[GIVEN_BYTES_MAX];
	size_t count = 0;

	read_given(arguments, given, sizeof(given));
	if (code == ':') {
		etw_program_message("%s wants a value", given);
		return;
	}
	for (; options[count].name && count < OPTIONS_MAX; count++)
		names[count] = options[count].name;
	if (given[0] == '-' && given[1] == '-') {
		owner = find_owner(given + 2);
		nearest = etw_program_nearest(given + 2, names, count);
	}
	if (owner)
		etw_program_message("there is no option %s here; etw %s has it", given, owner);
	else if (nearest)
		etw_program_message("there is no option %s; did you mean --%s?", given, nearest);
	else
		etw_program_message("there is no option %s here", given);
}

int etw_shared_decoder_create(const struct etw_shared_options *shared,
			      struct etw_manifests *manifests, struct etw_schema_store **ret_store,
			      struct etw_decoder **ret)
{
	CLEANUP(etw_schema_store_freep) struct etw_schema_store *store = NULL;
	CLEANUP(etw_decoder_freep) struct etw_decoder *decoder = NULL;

	if (etw_schema_store_create(&store) || etw_decoder_create(store, &decoder)) {
		etw_program_message("out of memory");
		return -1;
	}
	etw_decoder_mend(decoder);
	if (etw_installed_providers_attach(store) < 0)
		return -1;
	if (!shared->no_known_providers && etw_known_providers_attach(store) < 0)
		return -1;
	manifests->store = store;
	for (size_t i = 0; i < shared->manifests.count; i++) {
		if (etw_manifests_load(manifests, store, shared->manifests.at[i]) < 0)
			return -1;
	}
	*ret_store = TAKE(store);
	*ret = TAKE(decoder);
	return 0;
}
