/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "base/build.h"
#include "base/macros.h"
#include "tools/common/program.h"
#include "tools/etw/verb.h"

static const struct etw_verb *const verbs[] = {
	&etw_verb_summary,   &etw_verb_dump,   &etw_verb_processes, &etw_verb_info,
	&etw_verb_providers, &etw_verb_record, &etw_verb_sessions,  &etw_verb_help,
};

const struct etw_verb *etw_verb_at(size_t index)
{
	return index < ARRAY_SIZE(verbs) ? verbs[index] : NULL;
}

const struct etw_verb *etw_verb_find(const char *name)
{
	if (!strcmp(name, etw_verb_complete.name))
		return &etw_verb_complete;
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++) {
		if (!strcmp(verbs[i]->name, name))
			return verbs[i];
	}
	return NULL;
}

const char *etw_verb_nearest(const char *typed)
{
	const char *names[ARRAY_SIZE(verbs)];

	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
		names[i] = verbs[i]->name;
	return etw_program_nearest(typed, names, ARRAY_SIZE(verbs));
}

static bool has_option(const struct etw_verb *verb, const char *name)
{
	for (const struct option *option = verb->options; option && option->name; option++) {
		if (!strcmp(option->name, name))
			return true;
	}
	return false;
}

const char *etw_verb_with_option(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++) {
		if (has_option(verbs[i], name))
			return verbs[i]->name;
	}
	return NULL;
}

static void print_overview(void)
{
	(void)printf("etw %s - Event Tracing for Windows, on Linux\n\n"
		     "  etw FILE.etl...               what is in it\n",
		     ETW_VERSION);
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++) {
		char usage[64];

		(void)snprintf(usage, sizeof(usage), "etw %s %s", verbs[i]->name,
			       verbs[i]->arguments);
		(void)printf("  %-28s  %s\n", usage, verbs[i]->one_line);
	}
	(void)puts("\n"
		   "Several files are read as one trace, - is standard input.\n"
		   "`etw help VERB` lists the options of a verb; --version or -V: the version, and "
		   "what was built.\n"
		   "Exit status: 0 done, 1 failed, 2 wrong usage, 3 done, but a file is damaged.");
}

void etw_verb_version_print(void)
{
	(void)printf("etw %s\n%s", ETW_VERSION, etw_build_components());
}

void etw_verb_help_print(const struct etw_verb *verb)
{
	if (!verb) {
		print_overview();
		return;
	}
	(void)printf("etw %s %s - %s\n\n%s", verb->name, verb->arguments, verb->one_line,
		     verb->help);
}

static int run(int argc, char **argv)
{
	const struct etw_verb *verb = NULL;

	if (argc > 1 && (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V"))) {
		etw_verb_version_print();
		return ETW_EXIT_OK;
	}
	if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
		verb = &etw_verb_help;
	} else if (argc > 1) {
		verb = etw_verb_find(argv[1]);
		if (!verb) {
			const char *nearest = etw_verb_nearest(argv[1]);

			etw_program_message("there is no verb \"%s\"%s%s%s", argv[1],
					    nearest ? "; did you mean " : "",
					    nearest ? nearest : "", nearest ? "?" : "");
			return ETW_EXIT_USAGE;
		}
	}
	etw_verb_help_print(verb);
	return ETW_EXIT_OK;
}

const struct etw_verb etw_verb_help = {
	.name = "help",
	.arguments = "[VERB]",
	.one_line = "this overview, or the options of a verb",
	.help = "  --help              this text\n"
		"  --version           as `etw --version`: the version, and what was built\n",
	.run = run,
};
