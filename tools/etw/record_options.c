/* SPDX-License-Identifier: MIT */
#include "tools/etw/record_options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/guid.h"
#include "base/macros.h"
#include "base/number.h"
#include "schema/provider_id.h"
#include "tools/common/program.h"
#include "tools/etw/record_tracepoints.h"
#include "tools/etw/verb.h"

#define SECONDS_MAX     (366.0 * 24 * 3600)
#define BUFFER_KIB_MAX  16384
#define BUFFERS_MAX     65536
#define PROVIDER_PARTS  4
#define NAMED_LEVEL_MAX 5
#define BAD_KEYWORDS    "has keywords that are no number; NAME:LEVEL:ANY:ALL is the order"

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

static const struct {
	const char *name;
	uint8_t level;
} level_names[] = {
	{"critical", 1}, {"error", 2},       {"warning", 3},       {"info", 4},
	{"verbose", 5},  {"information", 4}, {"informational", 4},
};

void record_options_done(struct record_options *options)
{
	etw_words_done(&options->shared.manifests);
	for (size_t i = 0; i < options->provider_count; i++)
		free(options->providers[i].names);
	free(options->providers);
}

static bool parse_level(const char *text, uint8_t *ret)
{
	uint64_t level;

	for (size_t i = 0; i < ARRAY_SIZE(level_names); i++) {
		if (!strcasecmp(level_names[i].name, text)) {
			*ret = level_names[i].level;
			return true;
		}
	}
	if (!etw_number_parse(text, UINT8_MAX, &level))
		return false;
	*ret = (uint8_t)level;
	return true;
}

/* One --provider. Returns NULL, or what is wrong with it, static. */
static const char *parse_provider(const char *text, struct record_provider *ret)
{
	char copy[RECORD_PROVIDER_BYTES];
	char *parts[PROVIDER_PARTS + 1] = {copy}, *at = copy;
	size_t count = 0;

	*ret = (struct record_provider){.text = text};
	if (strlen(text) >= sizeof(copy))
		return "is too long";
	if (record_tracepoints_is(text))
		return record_tracepoints_parse(text, ret);
	(void)snprintf(copy, sizeof(copy), "%s", text);
	while (at && count <= PROVIDER_PARTS)
		parts[count++] = strsep(&at, ":");
	if (count > PROVIDER_PARTS)
		return "has more parts than NAME:LEVEL:ANY:ALL";
	if (etw_provider_id_find(parts[0], &ret->guid))
		return "names no provider";
	if (count > 1 && *parts[1] && !parse_level(parts[1], &ret->level))
		return "has a level that is none: a number up to 255, or critical, error, warning, "
		       "info, verbose; keywords come behind it";
	if (count > 2 && *parts[2] && !etw_number_parse(parts[2], UINT64_MAX, &ret->match_any))
		return BAD_KEYWORDS;
	if (count > 3 && *parts[3] && !etw_number_parse(parts[3], UINT64_MAX, &ret->match_all))
		return BAD_KEYWORDS;
	return NULL;
}

/* Tools of Windows want NAME:KEYWORDS:LEVEL, and numbers do not say what they are. */
static void warn_of_order(const struct record_provider *provider)
{
	bool is_named = provider->match_any && provider->match_any <= NAMED_LEVEL_MAX;

	if (provider->level > NAMED_LEVEL_MAX && provider->level != UINT8_MAX && is_named)
		etw_program_message(
			"warning: the provider \"%s\" has level %u and keywords 0x%llx: "
			"NAME:LEVEL:ANY:ALL is the order",
			provider->text, provider->level, (unsigned long long)provider->match_any);
}

/* Enabling a provider twice would take the first back. Returns false when memory ran out. */
static bool merge(struct record_options *options)
{
	struct record_provider *last = &options->providers[options->provider_count];

	for (size_t i = 0; record_tracepoints_is(last->text) && i < options->provider_count; i++)
		if (etw_guid_equal(&options->providers[i].guid, &last->guid))
			return record_tracepoints_merge(&options->providers[i], last);
	options->provider_count++;
	return true;
}

static bool add_provider(struct record_options *options, const char *text)
{
	struct record_provider *grown = realloc(options->providers,
						(options->provider_count + 1) * sizeof(*grown));
	const char *problem;

	if (!grown) {
		etw_program_message("out of memory");
		return false;
	}
	options->providers = grown;
	problem = parse_provider(text, &grown[options->provider_count]);
	if (problem) {
		free(grown[options->provider_count].names);
		etw_program_message("the provider \"%s\" %s", text, problem);
		return false;
	}
	warn_of_order(&options->providers[options->provider_count]);
	if (merge(options))
		return true;
	free(grown[options->provider_count].names);
	etw_program_message("out of memory");
	return false;
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
		return add_provider(options, optarg);
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
	return record_kernel_settle(&options->kernel, options->provider_count > 0,
				    options->command != NULL);
}
