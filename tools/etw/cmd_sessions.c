/* SPDX-License-Identifier: MIT */
/* `etw sessions`: what records now, and stopping it. */
#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/guid.h"
#include "base/macros.h"
#include "base/time.h"
#include "control/control.h"
#include "control/instance.h"
#include "tools/common/grid.h"
#include "tools/common/number.h"
#include "tools/common/options.h"
#include "tools/common/output.h"
#include "tools/common/program.h"
#include "tools/etw/claims.h"
#include "tools/etw/cmd.h"
#include "tools/etw/host_wait.h"
#include "tools/etw/session_numbers.h"
#include "tools/etw/trace_machine.h"

#define INSTANCES_MAX 2

enum {
	OPTION_JSON = ETW_OPTION_OWN,
	OPTION_VERBOSE,
};

static const struct option options[] = {
	{"help", no_argument, NULL, ETW_OPTION_HELP},
	{"color", required_argument, NULL, ETW_OPTION_COLOUR},
	{"colour", required_argument, NULL, ETW_OPTION_COLOUR},
	{"json", no_argument, NULL, OPTION_JSON},
	{"verbose", no_argument, NULL, OPTION_VERBOSE},
	{NULL, 0, NULL, 0},
};

/* A session that runs. */
struct listed {
	struct wire_session_info info;
	struct session_numbers numbers; /* owned; asked for with --json and --verbose alone */
};

struct command {
	struct etw_shared_options shared;
	bool is_json, is_verbose;
	struct etw_controller *hosts[INSTANCES_MAX]; /* owned; NULL where there is none */
	enum etw_instance instances[INSTANCES_MAX];
	size_t host_count;
	bool is_incomplete; /* a host that is there was not heard, or one that should be there is not */
	struct listed *sessions; /* owned */
	size_t session_count;
	struct etw_output output;
};

static void command_done(struct command *command)
{
	etw_words_done(&command->shared.manifests);
	for (size_t i = 0; i < command->host_count; i++)
		etw_controller_close(command->hosts[i]);
	for (size_t i = 0; i < command->session_count; i++)
		session_numbers_done(&command->sessions[i].numbers);
	free(command->sessions);
	etw_output_done(&command->output);
}

static bool take_option(void *context, int code)
{
	struct command *command = context;

	if (code == OPTION_JSON)
		command->is_json = true;
	else
		command->is_verbose = true;
	return true;
}

/* Nothing, or "stop" and names. */
static bool check_words(char *const *words)
{
	if (!words[0])
		return true;
	if (strcmp(words[0], "stop") != 0) {
		etw_program_message("sessions knows stop, not \"%s\"; see etw help sessions",
				    words[0]);
		return false;
	}
	if (!words[1]) {
		etw_program_message("sessions stop wants the names of sessions");
		return false;
	}
	return true;
}

static const struct etw_control_waiting waiting = {.wake_fd = -1, .tell = host_wait_tell};

/* Connects to the hosts that are there. Having none is no error, unless the last one left a reason. */
static void open_hosts(struct command *command)
{
	command->host_count = etw_control_lookup_order(command->instances);
	for (size_t i = 0; i < command->host_count; i++) {
		enum etw_instance instance = command->instances[i];
		int result = etw_controller_open(instance, /* is_starting= */ false, &waiting,
						 &command->hosts[i]);

		if (result == -ENOENT) {
			command->is_incomplete |= host_failure_tell(instance);
		} else if (result) {
			host_error_tell(instance, result);
			command->is_incomplete = true;
		}
	}
}

/* Takes the numbers. */
static int keep_session(struct command *command, const struct wire_session_info *info,
			struct session_numbers *numbers)
{
	struct listed *grown = realloc(command->sessions,
				       (command->session_count + 1) * sizeof(*grown));

	if (!grown) {
		session_numbers_done(numbers);
		return -ENOMEM;
	}
	grown[command->session_count++] = (struct listed){*info, *numbers};
	command->sessions = grown;
	return 0;
}

static int query(struct etw_controller *host, uint64_t handle, struct wire_session_info *ret)
{
	CLEANUP(freep) struct wire_control *control = calloc(1, sizeof(*control));

	if (!control)
		return -ENOMEM;
	control->code = WIRE_CONTROL_QUERY;
	control->handle = handle;
	return etw_control(host, control, ret);
}

static int gather_host(struct command *command, struct etw_controller *host)
{
	CLEANUP(freep) struct wire_session_info *info = calloc(1, sizeof(*info));
	struct wire_sessions list;

	if (!info)
		return -ENOMEM;
	TRY(etw_control_list(host, &list));
	for (uint32_t i = 0; i < list.count && i < WIRE_LIST_SESSIONS_MAX; i++) {
		struct session_numbers numbers = {0};
		int result = query(host, list.handles[i], info);

		if (!result && (command->is_json || command->is_verbose))
			result = session_numbers_gather(host, list.handles[i], &numbers);
		if (result == -ENOENT)
			continue; /* it ended meanwhile */
		TRY(result);
		TRY(keep_session(command, info, &numbers));
	}
	return 0;
}

static void gather(struct command *command)
{
	for (size_t i = 0; i < command->host_count; i++) {
		int result = command->hosts[i] ? gather_host(command, command->hosts[i]) : 0;

		if (!result)
			continue;
		/* The host has left since it was opened, and its sessions with it. */
		if (result == -ECONNREFUSED && !host_failure_tell(command->instances[i]))
			continue;
		if (result != -ECONNREFUSED)
			host_error_tell(command->instances[i], result);
		command->is_incomplete = true;
	}
}

/* The clock may have been set back since the session started. */
static int64_t age_of(const struct wire_session_info *info, int64_t now_ft)
{
	int64_t age = etw_filetime_between((int64_t)info->start_ft, now_ft);

	return age > 0 ? age : 0;
}

static void put_owner(struct etw_text *text, uint32_t uid)
{
	struct passwd entry, *found = NULL;
	char room[4096];

	if (!getpwuid_r((uid_t)uid, &entry, room, sizeof(room), &found) && found)
		etw_text_puts(text, found->pw_name);
	else
		etw_text_unsigned(text, uid);
}

static void put_row(struct etw_grid *grid, const struct wire_session_info *info, int64_t now_ft)
{
	struct etw_text *cell = etw_grid_cell(grid);

	etw_output_clean(cell, info->config.name);
	etw_text_unsigned(etw_grid_cell(grid), info->handle & 0xFFFF);
	machine_mode_write(etw_grid_cell(grid), info->config.log_file_mode);
	cell = etw_grid_cell(grid);
	etw_number_grouped(cell, info->number_of_buffers);
	etw_text_puts(cell, " x ");
	etw_number_bytes(cell, (uint64_t)info->config.buffer_kib * 1024);
	etw_number_grouped(etw_grid_cell(grid), info->events);
	etw_number_grouped(etw_grid_cell(grid), info->events_lost);
	etw_number_duration(etw_grid_cell(grid), age_of(info, now_ft));
	put_owner(etw_grid_cell(grid), info->uid);
	etw_text_puts(etw_grid_cell(grid), info->is_leased ? "yes" : "no");
	etw_output_clean(etw_grid_cell(grid),
			 info->config.log_file[0] ? info->config.log_file : "-");
}

/* Below the table, under the session's name. */
static void put_claims(const struct wire_session_info *info, struct etw_text *text)
{
	if (!info->loss.others && !info->loss.disregarded)
		return;
	etw_output_clean(text, info->config.name);
	etw_text_puts(text, ":\n");
	claims_write(text, &info->loss, "  ");
}

static void put_details(const struct command *command, const struct listed *session,
			struct etw_text *text)
{
	bool has_colour = etw_colour_wanted(STDOUT_FILENO, command->shared.colour);

	if (command->is_verbose) {
		etw_output_clean(text, session->info.config.name);
		etw_text_puts(text, ":\n");
		session_numbers_write(text, &session->info, &session->numbers,
				      has_colour ? "\033[1m" : "", has_colour ? "\033[0m" : "");
	}
	put_claims(&session->info, text);
	if (!session->info.complaint[0])
		return;
	etw_output_clean(text, session->info.config.name);
	etw_text_puts(text, ": ");
	etw_output_clean(text, session->info.complaint);
	etw_text_putc(text, '\n');
}

static void put_table(struct command *command, size_t width, struct etw_text *text)
{
	static const struct etw_grid_column columns[] = {
		{.title = "name"},
		{.title = "id", .is_right = true},
		{.title = "mode"},
		{.title = "buffers", .is_right = true},
		{.title = "events", .is_right = true},
		{.title = "lost", .is_right = true},
		{.title = "age", .is_right = true},
		{.title = "owner"},
		{.title = "leased"},
		{.title = "file", .gives_way = true},
	};
	bool has_colour = etw_colour_wanted(STDOUT_FILENO, command->shared.colour);
	int64_t now_ft = etw_filetime_now();
	struct etw_grid grid;

	if (!command->session_count) {
		if (!command->is_incomplete) /* else nobody knows */
			etw_text_puts(text, "No session runs.\n");
		return;
	}
	etw_grid_init(&grid, columns, ARRAY_SIZE(columns));
	for (size_t i = 0; i < command->session_count; i++)
		put_row(&grid, &command->sessions[i].info, now_ft);
	etw_grid_print(&grid, width, has_colour ? "\033[1m" : "", has_colour ? "\033[0m" : "",
		       text);
	etw_grid_done(&grid);
	for (size_t i = 0; i < command->session_count; i++)
		put_details(command, &command->sessions[i], text);
}

static void put_string(struct etw_text *text, const char *name, const char *value)
{
	etw_text_printf(text, ",\"%s\":", name);
	etw_text_json_string(text, value, strlen(value));
}

static void put_number(struct etw_text *text, const char *name, uint64_t value)
{
	etw_text_printf(text, ",\"%s\":%" PRIu64, name, value);
}

/* @numbers: NULL of a session that is over */
static void put_object(struct etw_text *text, const struct wire_session_info *info,
		       const struct session_numbers *numbers, int64_t now_ft)
{
	char guid[ETW_GUID_BRACED_BYTES];

	etw_guid_format_braced(&info->config.guid, guid);
	etw_text_puts(text, "{\"name\":");
	etw_text_json_string(text, info->config.name, strlen(info->config.name));
	put_string(text, "guid", guid);
	put_number(text, "handle", info->handle);
	put_number(text, "mode", info->config.log_file_mode);
	put_number(text, "buffer_kib", info->config.buffer_kib);
	put_number(text, "buffers", info->number_of_buffers);
	put_number(text, "free_buffers", info->free_buffers);
	put_number(text, "buffers_written", info->buffers_written);
	put_number(text, "events", info->events);
	put_number(text, "bytes", info->bytes);
	put_number(text, "events_overwritten", info->overwritten);
	put_number(text, "events_lost", info->events_lost);
	claims_write_json(text, &info->loss);
	session_numbers_write_json(text, info, numbers);
	put_number(text, "log_buffers_lost", info->log_buffers_lost);
	put_number(text, "real_time_buffers_lost", info->real_time_buffers_lost);
	put_number(text, "age_ms",
		   (uint64_t)age_of(info, now_ft) / (ETW_FILETIME_PER_SECOND / 1000));
	put_number(text, "uid", info->uid);
	put_string(text, "file", info->config.log_file);
	etw_text_printf(text, ",\"is_leased\":%s,\"is_kernel\":%s",
			info->is_leased ? "true" : "false", info->is_kernel ? "true" : "false");
	put_string(text, "complaint", info->complaint);
	etw_text_puts(text, "}\n");
}

static int list(struct command *command)
{
	size_t width = isatty(STDOUT_FILENO) ? etw_terminal_width(STDOUT_FILENO) : 0;
	int64_t now_ft;

	gather(command);
	now_ft = etw_filetime_now(); /* after the last session that is told of began */
	if (!command->is_json)
		put_table(command, width, &command->output.text);
	for (size_t i = 0; command->is_json && i < command->session_count; i++)
		put_object(&command->output.text, &command->sessions[i].info,
			   &command->sessions[i].numbers, now_ft);
	return command->is_incomplete ? ETW_EXIT_FAILED : ETW_EXIT_OK;
}

static int stop_by_name(struct command *command, const char *name, struct wire_session_info *ret)
{
	CLEANUP(freep) struct wire_control *control = calloc(1, sizeof(*control));
	int result = -ENOENT;

	if (!control)
		return -ENOMEM;
	if (strlen(name) > WIRE_MESSAGE_NAME_MAX)
		return -ENOENT;
	control->code = WIRE_CONTROL_STOP;
	memcpy(control->name, name, strlen(name));
	for (size_t i = 0; i < command->host_count && result == -ENOENT; i++) {
		if (command->hosts[i])
			result = etw_control(command->hosts[i], control, ret);
		if (result == -ECONNREFUSED) /* it has left, and its sessions with it */
			result = -ENOENT;
	}
	return result;
}

static void put_stopped(struct etw_text *text, const struct wire_session_info *info)
{
	etw_text_puts(text, "stopped ");
	etw_output_clean(text, info->config.name);
	etw_text_puts(text, ": ");
	etw_number_count(text, info->events, "event");
	etw_text_puts(text, ", ");
	etw_number_grouped(text, info->events_lost);
	etw_text_puts(text, " lost");
	if (info->config.log_file[0]) {
		etw_text_puts(text, "; ");
		etw_output_clean(text, info->config.log_file);
	}
	etw_text_putc(text, '\n');
}

static const char *why_not(const struct command *command, int result)
{
	switch (result) {
	case -ENOENT:
		return command->is_incomplete ? "no host that answers has a session of that name"
					      : "there is no session of that name";
	case -EBUSY:
		return "it is being stopped already";
	case -EACCES:
	case -EPERM:
		return "this user may not, or it was configured so that nobody can";
	case -ETIMEDOUT:
		return "its host does not answer; when it goes on, it may still stop it";
	case -EPIPE:
		return "its host ended meanwhile; etw sessions shows whether it runs on";
	default:
		return strerror(-result);
	}
}

static int stop(struct command *command, char *const *names)
{
	CLEANUP(freep) struct wire_session_info *info = calloc(1, sizeof(*info));
	int status = ETW_EXIT_OK;

	if (!info) {
		etw_program_message("out of memory");
		return ETW_EXIT_FAILED;
	}
	for (; *names; names++) {
		int result = stop_by_name(command, *names, info);

		if (!result && command->is_json) {
			put_object(&command->output.text, info, NULL, etw_filetime_now());
		} else if (!result) {
			put_stopped(&command->output.text, info);
		}
		if (!result && info->file_status) {
			etw_program_message("the trace of %s is incomplete: %s", *names,
					    info->complaint);
			status = ETW_EXIT_FAILED;
		} else if (!result && info->complaint[0]) {
			etw_program_message("not all of %s could be recorded: %s", *names,
					    info->complaint);
		} else if (result) {
			etw_program_message("cannot stop %s: %s", *names, why_not(command, result));
			status = ETW_EXIT_FAILED;
		}
	}
	return status;
}

/* A program that was started with its signals blocked can be ended all the same while it waits for a host. */
static void obey_signals(void)
{
	sigset_t signals;

	(void)sigemptyset(&signals);
	(void)sigaddset(&signals, SIGINT);
	(void)sigaddset(&signals, SIGTERM);
	(void)sigprocmask(SIG_UNBLOCK, &signals, NULL);
}

static int run(int argc, char **argv)
{
	CLEANUP(command_done) struct command command = {0};
	int status = etw_verb_parse(&etw_verb_sessions, argc, argv, &command.shared, &command);
	int result;

	if (status != ETW_VERB_GOES_ON)
		return status;
	if (!check_words(argv + optind))
		return ETW_EXIT_USAGE;
	obey_signals();
	host_timeout_check();
	open_hosts(&command);
	result = etw_output_open(NULL, &command.output);
	if (!result) {
		status = optind < argc ? stop(&command, argv + optind + 1) : list(&command);
		result = etw_output_flush(&command.output);
	}
	return result ? etw_output_tell(&command.output, result) : status;
}

const struct etw_verb etw_verb_sessions = {
	.name = "sessions",
	.arguments = "[stop NAME...]",
	.one_line = "what records now; stops sessions by name",
	.help = "  --json              one JSON object per session\n"
		"  --verbose           numbers by cause, by processor and by consumer\n"
		"  --color WHEN        auto (the default), always, never\n"
		"  --help              this text\n"
		"\nExit status 1: a host did not answer, was not to be reached, or gave up; or a "
		"session\n"
		"could not be stopped.\n"
		"\nExamples:\n"
		"  etw sessions\n"
		"  etw sessions stop etw-record-4711\n",
	.run = run,
	.options = options,
	.take = take_option,
};
