/* SPDX-License-Identifier: MIT */
/* What a verb of `etw` is, and finding one. The verbs themselves stand in cmd.h, one file each. */
#ifndef ETW_TOOLS_ETW_VERB_H
#define ETW_TOOLS_ETW_VERB_H

#include <stdbool.h>

#include "tools/common/options.h"

#define ETW_VERB_GOES_ON (-1) /* no exit status yet */

struct etw_verb {
	const char *name;
	const char *arguments; /* "FILE..." */
	const char *one_line;  /* what it does */
	const char *help;      /* the rest of the help text: options, examples */
	/* argv[0] is the verb; returns an exit status. */
	int (*run)(int argc, char **argv);
	/* For etw_verb_parse(): */
	const struct option *options;
	/* One of the verb's own options, its value in optarg. Returns whether it is good; tells why not. */
	bool (*take)(void *context, int code);
	bool wants_file;
	bool is_for_shells; /* in no list that people read */
};

/*
 * etw_verbs_begin() - what each function below knows of: all verbs, as main.c lists them.
 *
 * @verbs: NULL behind the last one; borrowed for the program's life
 */
void etw_verbs_begin(const struct etw_verb *const *verbs);

/* etw_verb_at() - the verbs of the overview, in its order; NULL behind the last one. Those for shells stand behind it. */
const struct etw_verb *etw_verb_at(size_t index);

/* etw_verb_find() - the verb of this name, or NULL. */
const struct etw_verb *etw_verb_find(const char *name);

/* etw_verb_nearest() - the name of the verb that was perhaps meant, or NULL. */
const char *etw_verb_nearest(const char *typed);

/* etw_verb_with_option() - the name of a verb that has a long option of this name, or NULL. */
const char *etw_verb_with_option(const char *name);

/*
 * etw_verb_parse() - reads a verb's command line: its options, then the words from argv[optind] on.
 *
 * @shared:  takes the shared options
 * @context: of verb->take
 *
 * Prints the help where it is asked for, and tells on standard error what is wrong. Returns ETW_VERB_GOES_ON,
 * or the exit status that there is nothing to do but to end with.
 */
int etw_verb_parse(const struct etw_verb *verb, int argc, char **argv,
		   struct etw_shared_options *shared, void *context);

/* etw_verb_help_print() - a verb's help text; all verbs' when @verb is NULL. */
void etw_verb_help_print(const struct etw_verb *verb);

/* etw_verb_version_print() - what `etw --version` says. */
void etw_verb_version_print(void);

#endif
