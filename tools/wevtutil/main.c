/* SPDX-License-Identifier: MIT */
/* `wevtutil`: what it does with providers. Event logs are not part of this. */
#include <stdio.h>
#include <string.h>

#include "base/macros.h"
#include "tools/common/program.h"
#include "tools/wevtutil/verb.h"

static const struct wevtutil_verb *const verbs[] = {&wevtutil_im, &wevtutil_um, &wevtutil_gp,
						    &wevtutil_ep};

static const char usage[] =
	"usage: wevtutil VERB [WORD...] [/OPTION:VALUE...]\n"
	"\n"
	"  ep | enum-publishers      names of the installed providers\n"
	"  gp | get-publisher        what is installed of one provider\n"
	"  im | install-manifest     install providers from manifests, binaries, MOF, TMF, PDB "
	"files\n"
	"  um | uninstall-manifest   take them out again\n"
	"\n"
	"Options may also be written -OPTION:VALUE or --OPTION VALUE. wevtutil VERB /? tells "
	"more.\n";

/* What wevtutil does on Windows, and not here. */
static const char *const others[] = {
	"el",  "enum-logs",    "gl",  "get-log",    "sl", "set-log",     "qe", "query-events",
	"gli", "get-log-info", "epl", "export-log", "al", "archive-log", "cl", "clear-log"};

static bool is_help(const char *word)
{
	return !strcmp(word, "/?") || !strcmp(word, "-?") || !strcmp(word, "--help") ||
	       !strcmp(word, "-h") || !strcasecmp(word, "help");
}

static int refuse(const char *word)
{
	const char *names[2 * ARRAY_SIZE(verbs)];
	const char *nearest;

	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		if (!strcasecmp(word, others[i])) {
			etw_program_message("%s is about event logs, which there are none of here; "
					    "there are ep, gp, im and um",
					    word);
			return ETW_EXIT_USAGE;
		}
	}
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++) {
		names[2 * i] = verbs[i]->brief;
		names[2 * i + 1] = verbs[i]->full;
	}
	nearest = etw_program_nearest(word, names, ARRAY_SIZE(names));
	if (nearest)
		etw_program_message("there is no verb \"%s\"; did you mean %s?", word, nearest);
	else
		etw_program_message("there is no verb \"%s\"; see wevtutil /?", word);
	return ETW_EXIT_USAGE;
}

static int run_verb(const struct wevtutil_verb *verb, int argc, char **argv)
{
	CLEANUP(wevtutil_words_done) struct wevtutil_words words = {0};

	for (int i = 0; i < argc; i++) {
		if (strcmp(argv[i], "/?") != 0 && (i || !is_help(argv[i])))
			continue;
		(void)fputs(verb->help, stdout);
		return ETW_EXIT_OK;
	}
	if (!wevtutil_words_read(verb, argc, argv, &words))
		return ETW_EXIT_USAGE;
	return verb->run(&words);
}

static int run(int argc, char **argv)
{
	if (argc < 2) {
		(void)fputs(usage, stderr);
		return ETW_EXIT_USAGE;
	}
	if (is_help(argv[1])) {
		(void)fputs(usage, stdout);
		return ETW_EXIT_OK;
	}
	if (!strcmp(argv[1], "--version")) {
		(void)printf("wevtutil %s\n", ETW_VERSION);
		return ETW_EXIT_OK;
	}
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++) {
		if (!strcasecmp(argv[1], verbs[i]->brief) || !strcasecmp(argv[1], verbs[i]->full))
			return run_verb(verbs[i], argc - 2, argv + 2);
	}
	return refuse(argv[1]);
}

int main(int argc, char **argv)
{
	etw_program_begin();
	return etw_program_end(run(argc, argv));
}
