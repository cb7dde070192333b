/* SPDX-License-Identifier: MIT */
/*
 * make_trace --list                    the presets, one a line: name, tab, what is special about it
 * make_trace --preset NAME FILE        writes one
 * make_trace --all FOLDER              writes each as FOLDER/NAME.etl
 * make_trace [OPTION...] FILE          a uniform trace of any size:
 *   --buffers N  --events-per-buffer N  --buffer-bytes N  --processors N  --payload N  --step TICKS
 *   --frequency HZ  --pack literal|greedy
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "synthetic/presets.h"
#include "synthetic/uniform.h"

static int list(bool only_whole)
{
	const struct preset *preset;

	for (unsigned i = 0; (preset = preset_at(i)) != NULL; i++) {
		if (!only_whole || preset->is_whole)
			printf("%s\t%s\n", preset->name, preset->sentence);
	}
	return 0;
}

static int write_preset(const struct preset *preset, const char *path)
{
	FILE *file = fopen(path, "wb+");

	if (!file) {
		perror(path);
		return 1;
	}
	preset_write(preset, file);
	return fclose(file) ? 1 : 0;
}

static int write_all(const char *folder)
{
	const struct preset *preset;
	int result = 0;

	for (unsigned i = 0; (preset = preset_at(i)) != NULL; i++) {
		char path[4096];

		(void)snprintf(path, sizeof(path), "%s/%s.etl", folder, preset->name);
		result |= write_preset(preset, path);
	}
	return result;
}

static int write_uniform(const struct uniform *uniform, const char *path)
{
	FILE *file = fopen(path, "wb+");

	if (!file) {
		perror(path);
		return 1;
	}
	uniform_write(uniform, file);
	return fclose(file) ? 1 : 0;
}

static const struct option long_options[] = {
	{"list", no_argument, NULL, 'l'},
	{"list-whole", no_argument, NULL, 'w'},
	{"preset", required_argument, NULL, 'p'},
	{"all", required_argument, NULL, 'a'},
	{"buffers", required_argument, NULL, 'b'},
	{"events-per-buffer", required_argument, NULL, 'e'},
	{"buffer-bytes", required_argument, NULL, 's'},
	{"processors", required_argument, NULL, 'c'},
	{"payload", required_argument, NULL, 'y'},
	{"step", required_argument, NULL, 't'},
	{"frequency", required_argument, NULL, 'f'},
	{"pack", required_argument, NULL, 'k'},
	{NULL, 0, NULL, 0},
};

static int usage(void)
{
	fprintf(stderr, "usage: make_trace --list | --preset NAME FILE | --all FOLDER |"
			" [--buffers N] [--events-per-buffer N] ... FILE\n");
	return 2;
}

/* Takes one option of the uniform trace; false when it is none. */
static bool take_uniform(struct uniform *uniform, int option, const char *value)
{
	uint64_t number = strtoull(value, NULL, 0);

	switch (option) {
	case 'b':
		uniform->buffers = number;
		return true;
	case 'e':
		uniform->events_per_buffer = (uint32_t)number;
		return true;
	case 's':
		uniform->buffer_bytes = (uint32_t)number;
		return true;
	case 'c':
		uniform->processors = (uint32_t)number;
		return true;
	case 'y':
		uniform->payload_bytes = (uint32_t)number;
		return true;
	case 't':
		uniform->step = (int64_t)number;
		return true;
	case 'f':
		uniform->frequency = number;
		return true;
	case 'k':
		uniform->packing = strcmp(value, "greedy") ? MAKER_LITERAL : MAKER_GREEDY;
		return true;
	default:
		return false;
	}
}

int main(int argc, char **argv)
{
	struct uniform uniform = UNIFORM_DEFAULT;
	const struct preset *preset = NULL;
	int option;

	while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		if (option == 'l' || option == 'w')
			return list(option == 'w');
		if (option == 'a')
			return write_all(optarg);
		if (option == 'p') {
			preset = preset_find(optarg);
			if (!preset) {
				fprintf(stderr, "make_trace: no preset %s; see --list\n", optarg);
				return 2;
			}
		} else if (!take_uniform(&uniform, option, optarg ? optarg : "")) {
			return usage();
		}
	}
	if (optind != argc - 1)
		return usage();
	return preset ? write_preset(preset, argv[optind]) : write_uniform(&uniform, argv[optind]);
}
