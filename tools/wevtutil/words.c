/* SPDX-License-Identifier: MIT */
/*
 * Options as wevtutil takes them: /rf:FILE, /rf=FILE, -rf:FILE, --resourceFilePath FILE, in any case. Paths
 * of Linux begin with a slash too: a word is an option if it is one by name, or if nothing in the root folder
 * is called so.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/common/program.h"
#include "tools/wevtutil/verb.h"

void wevtutil_words_done(struct wevtutil_words *words)
{
	free(words->at);
	words->at = NULL;
}

bool wevtutil_is_on(const char *value)
{
	return value && strcasecmp(value, "false") != 0;
}

static bool is_name(const char *name, const char *at, size_t bytes)
{
	return name && strlen(name) == bytes && !strncasecmp(name, at, bytes);
}

/* Which option a word names, or NULL; *ret_value is what follows the colon. */
static const struct wevtutil_option *find_option(const struct wevtutil_verb *verb, const char *word,
						 const char **ret_value)
{
	const char *at = word + (word[0] == '-' && word[1] == '-' ? 2 : 1);
	size_t bytes = strcspn(at, ":=");

	*ret_value = at[bytes] ? at + bytes + 1 : NULL;
	for (size_t i = 0; i < WEVTUTIL_OPTIONS_MAX; i++) {
		const struct wevtutil_option *option = &verb->options[i];

		if (is_name(option->brief, at, bytes) || is_name(option->full, at, bytes))
			return option;
	}
	return NULL;
}

static bool is_switch_value(const char *value)
{
	return !strcasecmp(value, "true") || !strcasecmp(value, "false");
}

/* Takes one option and, where it is a word by itself, its value. */
static bool take_option(const struct wevtutil_verb *verb, char **argv, int argc, int *i,
			struct wevtutil_words *words)
{
	const char *word = argv[*i], *value;
	const struct wevtutil_option *option = find_option(verb, word, &value);

	if (!option) {
		etw_program_message("there is no option %s of %s%s; see wevtutil %s /?", word,
				    verb->brief, *word == '/' ? ", nor such a file" : "",
				    verb->brief);
		return false;
	}
	if (!value && option->is_switch)
		value = "true";
	else if (!value && *i + 1 < argc)
		value = argv[++*i];
	if (!value || !*value || (option->is_switch && !is_switch_value(value))) {
		etw_program_message("%s wants %s", word,
				    option->is_switch ? "true or false" : "a value");
		return false;
	}
	words->values[option - verb->options] = value;
	return true;
}

/* One component behind the slash, and nothing of that name: who wrote it meant an option. */
static bool is_like_option(const char *word)
{
	size_t bytes = strcspn(word + 1, ":=/");

	return bytes && word[1 + bytes] != '/' && access(word, F_OK) < 0;
}

static bool is_option(const struct wevtutil_verb *verb, const char *word)
{
	const char *unused;

	if (*word == '-')
		return word[1] != '\0';
	return *word == '/' && (find_option(verb, word, &unused) || is_like_option(word));
}

bool wevtutil_words_read(const struct wevtutil_verb *verb, int argc, char **argv,
			 struct wevtutil_words *ret)
{
	*ret = (struct wevtutil_words){.at = calloc((size_t)argc + 1, sizeof(*ret->at))};
	if (!ret->at) {
		etw_program_message("out of memory");
		return false;
	}
	for (int i = 0; i < argc; i++) {
		/* As a path it would be the current folder. */
		if (!*argv[i]) {
			etw_program_message("an empty word names nothing");
			return false;
		}
		if (!is_option(verb, argv[i]))
			ret->at[ret->count++] = argv[i];
		else if (!take_option(verb, argv, argc, &i, ret))
			return false;
	}
	if (ret->count >= verb->operands_min && ret->count <= verb->operands_max)
		return true;
	etw_program_message("%s wants %s; see wevtutil %s /?", verb->brief,
			    !verb->operands_max ? "nothing behind it"
			    : ret->count        ? "one name, in quotes where it has blanks"
						: "something to work on",
			    verb->brief);
	return false;
}
