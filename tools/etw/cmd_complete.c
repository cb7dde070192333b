/* SPDX-License-Identifier: MIT */
/*
 * `etw complete`: for the shells' completion scripts, and for nobody else; so no list of verbs has it. What goes
 * wrong is no message in the middle of somebody's typing: there is nothing to offer then.
 */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/macros.h"
#include "base/number.h"
#include "tools/common/output.h"
#include "tools/common/program.h"
#include "tools/etw/cmd.h"
#include "tools/etw/complete.h"

static void silence(void)
{
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (fd >= 0 && fd != STDERR_FILENO) {
		(void)dup2(fd, STDERR_FILENO);
		(void)close(fd);
	}
}

static int run(int argc, char **argv)
{
	static const char *const more[] = {
		[COMPLETE_NOTHING] = ":nothing",
		[COMPLETE_FILES] = ":files",
		[COMPLETE_COMMANDS] = ":commands",
	};
	CLEANUP(etw_output_done) struct etw_output output = {0};
	enum complete_more else_offered;
	uint64_t at;
	int result;

	if (argc < 3 || !etw_number_parse(argv[1], (uint64_t)argc - 2, &at)) {
		etw_verb_help_print(&etw_verb_complete);
		return argc == 2 ? ETW_EXIT_OK : ETW_EXIT_USAGE;
	}
	silence();
	result = etw_output_open(NULL, &output);
	if (result)
		return ETW_EXIT_FAILED;
	else_offered = complete_line(argv + 2, (size_t)argc - 2, (size_t)at, &output.text);
	etw_text_puts(&output.text, more[else_offered]);
	etw_text_putc(&output.text, '\n');
	return etw_output_flush(&output) ? ETW_EXIT_FAILED : ETW_EXIT_OK;
}

const struct etw_verb etw_verb_complete = {
	.name = "complete",
	.arguments = "INDEX WORD...",
	.one_line = "what may stand in place of a word of a command line, for shells",
	.help = "INDEX counts the words from 0, the program's own; one more than there are is a "
		"new\n"
		"word. Prints a line for each candidate, with what it means behind a tab; the "
		"last\n"
		"line says what else may stand there: :files, :commands or :nothing.\n\n"
		"  --help              this text\n",
	.run = run,
	.is_for_shells = true,
};
