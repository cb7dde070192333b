/* SPDX-License-Identifier: MIT */
/* `mc`, the message compiler: from manifests to headers and binary resources. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "base/path.h"
#include "tools/common/program.h"
#include "tools/etw-mc/manifest.h"
#include "tools/etw-mc/options.h"
#include "tools/etw-mc/outputs.h"
#include "tools/etw-mc/tell.h"
#include "tools/etw-mc/text_file.h"

static const char usage[] =
	"usage: %s [-OPTION...] FILE.man|FILE.mc...\n"
	"\n"
	"Compiles instrumentation manifests. For base.man it writes base.h, which programs include "
	"to\n"
	"write the events, and base.rc, baseTEMP.BIN and MSG00001.bin, the resources of a "
	"Windows\n"
	"module, which decode them. A message text file (.mc) has messages with numbers only.\n"
	"\n"
	"  -um             for programs (the default)\n"
	"  -km             for drivers: the macros begin with an activity\n"
	"  -h FOLDER       where the header goes\n"
	"  -r FOLDER       where the resource script and the binary files go\n"
	"  -z NAME         base of the names of all files\n"
	"  -e EXTENSION    of the header, instead of h\n"
	"  -p PREFIX       of the macros that write events, instead of EventWrite\n"
	"  -P PREFIX       taken off event symbols in the names of these macros\n"
	"  -co             the macros call MCGEN_CALLOUT after each event\n"
	"  -b              begin the names of message tables with the base\n"
	"  -cp ENCODING    of text files: ansi (UTF-8 without a mark), utf-8 or utf-16\n"
	"  -m LENGTH       warn of messages with more characters\n"
	"  -n              no line end behind messages\n"
	"  -U8             message tables have UTF-8, not UTF-16\n"
	"  -v              tell what is written\n"
	"  -w, -W FILE     taken and ignored, as by Microsoft's\n"
	"  -?, --help      this text\n"
	"  --version       the version\n"
	"\n"
	"Of message text files:\n"
	"  -u, -a          the input is UTF-16; is of a code page (both are seen by themselves)\n"
	"  -U, -A          message tables have UTF-16, the default; have text of the code page\n"
	"  -c              set the customer's bit in all numbers\n"
	"  -d              decimal severities and facilities in the header\n"
	"  -o              numbers are HRESULTs\n"
	"  -x FOLDER       where base.dbg goes, with numbers and symbols for debuggers\n"
	"\n"
	"Options may begin with / too; their case matters. Single letters without a value may be "
	"put\n"
	"together.\n";

static void free_words(char **words, size_t count)
{
	for (size_t i = 0; words && i < count; i++)
		free(words[i]);
	free(words);
}

/* All or nothing: outputs are written when every input has been compiled. */
static int compile(const struct mc_options *options, char **paths)
{
	CLEANUP(mc_outputs_done)
	struct mc_outputs outputs = {.inputs = (const char *const *)paths,
				     .input_count = options->inputs.count};
	bool is_good = true;

	/* Each is compiled, so that one run tells of the faults of all. */
	for (size_t i = 0; i < options->inputs.count; i++) {
		if (etw_path_ends_with(paths[i], ".mc"))
			is_good &= mc_text_file_compile(options, paths[i], &outputs);
		else
			is_good &= mc_manifest_compile(options, paths[i], &outputs);
	}
	return is_good && mc_outputs_write(&outputs, options->is_verbose) ? ETW_EXIT_OK
									  : ETW_EXIT_FAILED;
}

static int run_inputs(const struct mc_options *options)
{
	char **paths = calloc(options->inputs.count, sizeof(*paths));
	int status = ETW_EXIT_FAILED;
	int r = paths ? 0 : -ENOMEM;

	for (size_t i = 0; r == 0 && i < options->inputs.count; i++)
		r = etw_path_resolve(options->inputs.at[i], &paths[i]);
	if (r < 0)
		mc_tell(false, "%s", strerror(-r));
	else
		status = compile(options, paths);
	free_words(paths, options->inputs.count);
	return status;
}

static int run(int argc, char **argv)
{
	CLEANUP(mc_options_done) struct mc_options options = {0};

	if (argc < 2) {
		(void)fprintf(stderr, usage, program_invocation_short_name);
		return ETW_EXIT_USAGE;
	}
	if (!mc_options_read(argc - 1, argv + 1, &options))
		return ETW_EXIT_USAGE;
	if (options.is_help) {
		(void)printf(usage, program_invocation_short_name);
		return ETW_EXIT_OK;
	}
	if (options.is_version) {
		(void)printf("%s %s\n", program_invocation_short_name, ETW_VERSION);
		return ETW_EXIT_OK;
	}
	return run_inputs(&options);
}

int main(int argc, char **argv)
{
	etw_program_begin();
	return etw_program_end(run(argc, argv));
}
