/* SPDX-License-Identifier: MIT */
#include "tools/etw/verb.h"

#include <string.h>

#include "tools/common/program.h"

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
