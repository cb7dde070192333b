/* SPDX-License-Identifier: MIT */
#include "tools/etw/record_options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "base/number.h"
#include "tools/common/program.h"
#include "tools/etw/verb.h"

#define SECONDS_MAX    (366.0 * 24 * 3600)
#define BUFFER_KIB_MAX 16384
#define BUFFERS_MAX    65536

enum {
	OPTION_OUTPUT = ETW_OPTION_OWN,
	OPTION_KERNEL,
	OPTION_PROVIDER,
	OPTION_BUFFER_SIZE,
	OPTION_BUFFERS,
	OPTION_PERSIST,
	OPTION_QUIET,
	OPTION_DURATION,
	OPTION_FORCE,
	OPTION_STACKS,
	OPTION_PROFILE_HZ,
	OPTION_ONLY_COMMAND,
	OPTION_UNWIND,
	OPTION_PROFILE_SOURCE,
};

const struct option record_options_table[] = {
	{"help", no_argument, NULL, ETW_OPTION_HELP},
	{"manifest", required_argument, NULL, ETW_OPTION_MANIFEST},
	{"no-known-providers", no_argument, NULL, ETW_OPTION_NO_KNOWN_PROVIDERS},
	{"color", required_argument, NULL, ETW_OPTION_COLOUR},
	{"colour", required_argument, NULL, ETW_OPTION_COLOUR},
	{"output", required_argument, NULL, OPTION_OUTPUT},
	{"kernel", required_argument, NULL, OPTION_KERNEL},
	{"stacks", required_argument, NULL, OPTION_STACKS},
	{"profile-hz", required_argument, NULL, OPTION_PROFILE_HZ},
	{"profile-source", required_argument, NULL, OPTION_PROFILE_SOURCE},
	{"only-command", no_argument, NULL, OPTION_ONLY_COMMAND},
	{"unwind", required_argument, NULL, OPTION_UNWIND},
	{"provider", required_argument, NULL, OPTION_PROVIDER},
	{"buffer-size", required_argument, NULL, OPTION_BUFFER_SIZE},
	{"buffers", required_argument, NULL, OPTION_BUFFERS},
	{"persist", no_argument, NULL, OPTION_PERSIST},
	{"quiet", no_argument, NULL, OPTION_QUIET},
	{"duration", required_argument, NULL, OPTION_DURATION},
	{"force", no_argument, NULL, OPTION_FORCE},
	{NULL, 0, NULL, 0},
};

void record_options_done(struct record_options *options)
{
	etw_words_done(&options->shared.manifests);
	record_providers_done(&options->providers);
}

static bool take_number(const char *name, uint64_t max, uint64_t *ret)
{
	if (etw_number_parse(optarg, max, ret) && *ret)
		return true;
	etw_program_message("--%s wants a number from 1 to %llu, not \"%s\"", name,
			    (unsigned long long)max, optarg);
	return false;
}

static bool take_duration(struct record_options *options)
{
	char *end;
	double seconds = strtod(optarg, &end);

	if (end == optarg || *end || !(seconds > 0) || seconds > SECONDS_MAX) {
		etw_program_message("--duration wants a number of seconds above 0, not \"%s\"",
				    optarg);
		return false;
	}
	options->duration_ms = (uint64_t)(seconds * 1000 + 0.5);
	if (!options->duration_ms)
		options->duration_ms = 1;
	return true;
}

static bool take(struct record_options *options, int code)
{
	switch (code) {
	case 'o':
	case OPTION_OUTPUT:
		options->output = optarg;
		return true;
	case OPTION_FORCE:
		options->force = true;
		return true;
	case OPTION_KERNEL:
		return record_kernel_take_kinds(&options->kernel, optarg);
	case OPTION_STACKS:
		return record_kernel_take_stacks(&options->kernel, optarg);
	case OPTION_PROFILE_HZ:
		return record_kernel_take_hz(&options->kernel, optarg);
	case OPTION_PROFILE_SOURCE:
		return record_kernel_take_sources(&options->kernel, optarg);
	case OPTION_UNWIND:
		return record_kernel_take_unwind(&options->kernel, optarg);
	case OPTION_ONLY_COMMAND:
		options->kernel.only_command = true;
		return true;
	case OPTION_PROVIDER:
		return record_providers_add(&options->providers, optarg);
	case OPTION_BUFFER_SIZE:
		return take_number("buffer-size", BUFFER_KIB_MAX, &options->buffer_kib);
	case OPTION_BUFFERS:
		return take_number("buffers", BUFFERS_MAX, &options->buffers);
	case OPTION_PERSIST:
		options->is_persistent = true;
		return true;
	case OPTION_QUIET:
		options->is_quiet = true;
		return true;
	case OPTION_DURATION:
		return take_duration(options);
	default:
		return etw_shared_option_take(&options->shared, code);
	}
}

bool record_options_parse(struct record_options *options, int argc, char **argv)
{
	int code, at = optind;

	opterr = 0;
	/* The first word that is no option begins the command, whose options are its own. */
	while ((code = getopt_long(argc, argv, "+:ho:", record_options_table, NULL)) != -1) {
		at = optind;
		if (code == '?' || code == ':') {
			etw_options_complain(code, argv, record_options_table,
					     etw_verb_with_option);
			return false;
		}
		if (!take(options, code))
			return false;
	}
	/* What is behind the last option and not the command can only be "--". */
	if (optind == argc && at < argc && !options->shared.help) {
		etw_program_message("there is no command behind --; see etw help record");
		return false;
	}
	options->command = optind < argc ? argv + optind : NULL;
	return record_kernel_settle(&options->kernel, options->providers.count > 0,
				    options->command != NULL);
}
