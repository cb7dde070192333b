/* SPDX-License-Identifier: MIT */
/* `etw doctor`: what recording on this machine lacks, and how to get it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/macros.h"
#include "tools/common/options.h"
#include "tools/common/output.h"
#include "tools/common/program.h"
#include "tools/etw/cmd.h"
#include "tools/etw/doctor.h"
#include "tools/etw/host_wait.h"

enum {
	OPTION_JSON = ETW_OPTION_OWN,
};

static const struct option options[] = {
	{"help", no_argument, NULL, ETW_OPTION_HELP},
	{"color", required_argument, NULL, ETW_OPTION_COLOUR},
	{"colour", required_argument, NULL, ETW_OPTION_COLOUR},
	{"json", no_argument, NULL, OPTION_JSON},
	{NULL, 0, NULL, 0},
};

static const char *const state_names[] = {
	[DOCTOR_OK] = "ok", [DOCTOR_NOTE] = "note", [DOCTOR_MISSING] = "missing"};

/* Around the state's name, on a terminal. */
static const char *const state_colours[] = {
	[DOCTOR_OK] = "\033[32m", [DOCTOR_NOTE] = "\033[33m", [DOCTOR_MISSING] = "\033[31m"};

static bool take_option(void *context, int code)
{
	bool *is_json = context;

	(void)code;
	*is_json = true;
	return true;
}

static void put_row(struct etw_text *text, const struct doctor_row *row, bool has_colour)
{
	const char *name = state_names[row->state];

	etw_text_printf(text, "%s%-7s%s  %-10s  ", has_colour ? state_colours[row->state] : "",
			name, has_colour ? "\033[0m" : "", row->what);
	etw_output_clean(text, row->text);
	etw_text_putc(text, '\n');
	if (row->fix)
		etw_text_printf(text, "                     fix: %s\n", row->fix);
}

static void put_string(struct etw_text *text, const char *name, const char *value)
{
	etw_text_printf(text, "\"%s\":", name);
	etw_text_json_string(text, value, strlen(value));
}

static void put_object(struct etw_text *text, const struct doctor_row *row)
{
	etw_text_putc(text, '{');
	put_string(text, "what", row->what);
	etw_text_putc(text, ',');
	put_string(text, "state", state_names[row->state]);
	etw_text_putc(text, ',');
	put_string(text, "text", row->text);
	if (row->fix) {
		etw_text_putc(text, ',');
		put_string(text, "fix", row->fix);
	}
	etw_text_puts(text, "}\n");
}

static int report(const struct doctor *doctor, bool is_json, bool has_colour, struct etw_text *text)
{
	size_t missing = 0;

	for (size_t i = 0; i < doctor->count; i++) {
		missing += doctor->rows[i].state == DOCTOR_MISSING;
		if (is_json)
			put_object(text, &doctor->rows[i]);
		else
			put_row(text, &doctor->rows[i], has_colour);
	}
	return missing ? ETW_EXIT_FAILED : ETW_EXIT_OK;
}

static int run(int argc, char **argv)
{
	CLEANUP(etw_output_done) struct etw_output output = {0};
	CLEANUP(doctor_done) struct doctor doctor = {0};
	struct etw_shared_options shared = {0};
	bool is_json = false;
	int status = etw_verb_parse(&etw_verb_doctor, argc, argv, &shared, &is_json);
	int result;

	if (status != ETW_VERB_GOES_ON)
		return status;
	if (optind < argc) {
		etw_program_message("doctor takes no words; see etw help doctor");
		return ETW_EXIT_USAGE;
	}
	host_timeout_check();
	doctor_look_at_hosts(&doctor);
	doctor_look_at_kernel(&doctor);
	doctor_look_at_settings(&doctor, "/proc/sys/kernel");
	doctor_look_at_machine(&doctor);
	doctor_look_at_autologgers(&doctor);
	if (doctor.error) {
		etw_program_message("out of memory");
		return ETW_EXIT_FAILED;
	}
	result = etw_output_open(NULL, &output);
	if (!result) {
		status = report(&doctor, is_json, etw_colour_wanted(STDOUT_FILENO, shared.colour),
				&output.text);
		result = etw_output_flush(&output);
	}
	return result ? etw_output_tell(&output, result) : status;
}

const struct etw_verb etw_verb_doctor = {
	.name = "doctor",
	.arguments = "",
	.one_line = "what recording here lacks, and how to get it",
	.help = "  --json              one JSON object per finding\n"
		"  --color WHEN        auto (the default), always, never\n"
		"  --help              this text\n"
		"\nLooks at the host of sessions, your rights, the kernel, the machine, and the\n"
		"files of sessions that start by themselves. Changes and starts nothing.\n"
		"\nExit status 1: something is missing without which recording does not work.\n"
		"\nExamples:\n"
		"  etw doctor\n"
		"  etw doctor --json\n",
	.run = run,
	.options = options,
	.take = take_option,
};
