/* SPDX-License-Identifier: MIT */
/* `etw`: chooses the verb; a file in its place means `etw summary`. */
#include <string.h>
#include <unistd.h>

#include "tools/common/program.h"
#include "tools/etw/cmd.h"

static const struct etw_verb *const verbs[] = {
	&etw_verb_summary, &etw_verb_dump,      &etw_verb_processes, &etw_verb_stacks,
	&etw_verb_info,    &etw_verb_providers, &etw_verb_record,    &etw_verb_sessions,
	&etw_verb_doctor,  &etw_verb_help,      &etw_verb_complete,  NULL,
};

/* Something that only a file can be: it exists, or is written like a path. */
static int is_file(const char *word)
{
	return !strcmp(word, "-") || !access(word, F_OK) || strpbrk(word, "./\\") != NULL;
}

static int refuse(const char *word)
{
	const char *nearest = etw_verb_nearest(word);

	if (!strcmp(word, "--json"))
		etw_program_message(
			"--json follows a verb: etw summary --json, etw dump --json and others");
	else if (*word == '-')
		etw_program_message("there is no option %s before a verb; see etw help", word);
	else if (nearest)
		etw_program_message("there is no verb or file \"%s\"; did you mean etw %s?", word,
				    nearest);
	else
		etw_program_message("there is no verb or file \"%s\"; see etw help", word);
	return ETW_EXIT_USAGE;
}

static int run(int argc, char **argv)
{
	const struct etw_verb *verb;
	const char *word = argc > 1 ? argv[1] : NULL;

	if (!word) {
		etw_verb_help_print(NULL);
		return ETW_EXIT_USAGE;
	}
	if (!strcmp(word, "--version") || !strcmp(word, "-V") ||
	    (!strcmp(word, "version") && access(word, F_OK))) {
		etw_verb_version_print();
		return ETW_EXIT_OK;
	}
	if (!strcmp(word, "--help") || !strcmp(word, "-h")) {
		etw_verb_help_print(NULL);
		return ETW_EXIT_OK;
	}
	verb = etw_verb_find(word);
	if (verb)
		return verb->run(argc - 1, argv + 1);
	/* Options of the summary may stand before its file. */
	if (is_file(word) || (!strncmp(word, "--", 2) && argc > 2))
		return etw_verb_summary.run(argc, argv);
	return refuse(word);
}

int main(int argc, char **argv)
{
	etw_program_begin();
	etw_verbs_begin(verbs);
	return etw_program_end(run(argc, argv));
}
