/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "tools/common/program.h"
#include "tools/etw/cmd.h"

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
