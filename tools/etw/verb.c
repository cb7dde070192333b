/* SPDX-License-Identifier: MIT */
#include "tools/etw/verb.h"

#include <stdio.h>
#include <string.h>

#include "base/build.h"
#include "tools/common/program.h"

#define VERBS_MAX 32 /* that a typing error is compared with */

static const struct etw_verb *const *verbs;

void etw_verbs_begin(const struct etw_verb *const *all)
{
	verbs = all;
}

const struct etw_verb *etw_verb_at(size_t index)
{
	return verbs[index] && !verbs[index]->is_for_shells ? verbs[index] : NULL;
}

const struct etw_verb *etw_verb_find(const char *name)
{
	for (size_t i = 0; verbs[i]; i++) {
		if (!strcmp(verbs[i]->name, name))
			return verbs[i];
	}
	return NULL;
}

const char *etw_verb_nearest(const char *typed)
{
	const char *names[VERBS_MAX];
	size_t count = 0;

	for (; count < VERBS_MAX && etw_verb_at(count); count++)
		names[count] = verbs[count]->name;
	return etw_program_nearest(typed, names, count);
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
	for (size_t i = 0; etw_verb_at(i); i++) {
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
	for (size_t i = 0; etw_verb_at(i); i++) {
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

static bool take(const struct etw_verb *verb, struct etw_shared_options *shared, void *context,
		 int code)
{
	if (code >= ETW_OPTION_OWN)
		return verb->take(context, code);
	return etw_shared_option_take(shared, code);
}

/* The code of --output, for which -o is short; 0: the verb has no output. */
static int output_code(const struct option *options)
{
	for (; options->name; options++) {
		if (!strcmp(options->name, "output"))
			return options->val;
	}
	return 0;
}

int etw_verb_parse(const struct etw_verb *verb, int argc, char **argv,
		   struct etw_shared_options *shared, void *context)
{
	const int output = output_code(verb->options);
	int code;

	opterr = 0;
	while ((code = getopt_long(argc, argv, output ? ":ho:" : ":h", verb->options, NULL)) !=
	       -1) {
		if (code == 'o')
			code = output;
		if (code == '?' || code == ':') {
			etw_options_complain(code, argv, verb->options, etw_verb_with_option);
			return ETW_EXIT_USAGE;
		}
		if (!take(verb, shared, context, code))
			return ETW_EXIT_USAGE;
	}
	if (shared->help) {
		etw_verb_help_print(verb);
		return ETW_EXIT_OK;
	}
	if (verb->wants_file && optind == argc) {
		etw_program_message("%s wants a file; see etw help %s", verb->name, verb->name);
		return ETW_EXIT_USAGE;
	}
	return ETW_VERB_GOES_ON;
}
