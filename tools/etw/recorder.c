/* SPDX-License-Identifier: MIT */
#include "tools/etw/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <evntrace.h>

#include "base/file.h"
#include "base/macros.h"
#include "base/text.h"
#include "base/time.h"
#include "control/host_start.h"
#include "control/instance.h"
#include "tools/common/program.h"
#include "tools/common/shell_word.h"
#include "tools/etw/host_wait.h"
#include "tools/etw/record_tracepoints.h"
#include "wire/well_known.h"

#define ENABLE_MS 1000 /* so long a provider's callback is waited for */

void recorder_done(struct recorder *recorder)
{
	if (recorder->is_running)
		(void)recorder_stop(recorder);
	etw_controller_close(recorder->controller);
}

static void configure(struct recorder *recorder, const struct record_options *options)
{
	struct wire_session_config *config = &recorder->config;

	*config = (struct wire_session_config){
		.buffer_kib = (uint32_t)options->buffer_kib,
		.minimum_buffers = (uint32_t)options->buffers,
		.maximum_buffers = (uint32_t)options->buffers,
		.log_file_mode = EVENT_TRACE_FILE_MODE_SEQUENTIAL,
		.kernel = options->kernel.request,
		.controller_pid = (uint32_t)getpid(),
		.controller_tid = (uint32_t)gettid(),
		.file_mode = (uint32_t)etw_file_mode(),
		.is_leased = !options->is_persistent,
	};
	config->kernel.only_pid = options->kernel.only_command ? recorder->only_pid : 0;
	if (options->kernel.is_wanted)
		config->log_file_mode |= EVENT_TRACE_SYSTEM_LOGGER_MODE;
	(void)snprintf(config->name, sizeof(config->name), "etw-record-%d", (int)getpid());
	memcpy(config->log_file, recorder->file.path, sizeof(config->log_file));
	memcpy(config->log_file_shown, recorder->file.path, sizeof(config->log_file_shown));
}

/* Whether sudo finds a program of this folder by its name, as Debian configures it. */
static bool is_sudo_folder(const char *folder, size_t bytes)
{
	static const char *const folders[] = {"/usr/local/sbin", "/usr/local/bin", "/usr/sbin",
					      "/usr/bin",        "/sbin",          "/bin"};

	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		if (strlen(folders[i]) == bytes && !memcmp(folders[i], folder, bytes))
			return true;
	}
	return false;
}

/* "etw", or where it is: sudo looks into the system's folders only. */
static void put_program(struct etw_text *text)
{
	char path[PATH_MAX];
	ssize_t bytes = readlink("/proc/self/exe", path, sizeof(path) - 1);
	const char *slash;

	path[bytes > 0 ? bytes : 0] = '\0';
	slash = strrchr(path, '/');
	if (!slash || is_sudo_folder(path, (size_t)(slash - path)))
		etw_text_puts(text, "etw");
	else
		etw_shell_word(text, path);
}

/* "sudo etw record ...", as the user typed it. */
static void put_as_root(struct etw_text *text, char *const *arguments)
{
	etw_text_puts(text, "sudo ");
	put_program(text);
	for (; *arguments; arguments++) {
		etw_text_putc(text, ' ');
		etw_shell_word(text, *arguments);
	}
}

static bool is_absent(int error)
{
	return error == -ENOENT || error == -ECONNREFUSED || error == -EACCES || error == -EPERM;
}

static int open_host(struct recorder *recorder, bool is_kernel)
{
	enum etw_instance instances[2];
	bool may_start[2];
	size_t count = etw_control_start_order(is_kernel, instances, may_start);
	int result = -ENOENT;

	for (size_t i = 0; i < count; i++) {
		recorder->instance = instances[i];
		result = etw_controller_open(instances[i], may_start[i], recorder->waiting,
					     &recorder->controller);
		if (!is_absent(result))
			break;
	}
	return result;
}

static void put_place(void *context, const char *path, const char *problem)
{
	etw_text_printf(context, "\n  %s%s%s", path, problem ? " " : "", problem ? problem : "");
}

/* Not found, or found and not able to run: a second look tells. */
static void tell_no_host(void)
{
	CLEANUP(etw_text_done) struct etw_text places = {0};
	const char *named = getenv("ETW_ETWD");
	char found[PATH_MAX];

	if (!named || !*named)
		etw_text_puts(&places, "\n  ETW_ETWD is not set");
	if (etw_host_look(put_place, &places, found))
		etw_program_message("cannot find etwd, the host of sessions; looked at:%s",
				    etw_text_string(&places));
	else
		etw_program_message("cannot run etwd, the host of sessions: %s", found);
}

static void tell_open_error(const struct recorder *recorder, int error)
{
	if (error == -ENOEXEC)
		tell_no_host();
	else
		host_error_tell(recorder->instance, error);
}

/*
 * Whether a host that refused to start a session did so because of who asks: the user may write the file, so it
 * is not that. A host takes root's word for anything.
 */
static bool is_turned_away(const struct recorder *recorder, int error)
{
	return error == -EACCES && geteuid() != 0 &&
	       !faccessat(AT_FDCWD, recorder->file.path, W_OK, AT_EACCESS);
}

static void tell_start_error(const struct recorder *recorder, int error)
{
	if (is_turned_away(recorder, error)) {
		etw_program_message(
			"the host of sessions that runs here serves root, its own user and "
			"group %s only",
			WIRE_CONTROL_GROUP);
		return;
	}
	switch (error) {
	case -EAGAIN:
	case -ENOMEM:
	case -EMFILE:
	case -ENFILE:
		etw_program_message("etwd, the host of sessions, cannot start one: %s",
				    strerror(-error));
		break;
	case -EUSERS:
	case -ETOOMANYREFS:
		etw_program_message("too many sessions run; etw sessions lists them");
		break;
	case -EEXIST:
		etw_program_message(
			"a session called %s runs already; etw sessions stop %s ends it",
			recorder->config.name, recorder->config.name);
		break;
	case -EPIPE:
	case -ECONNREFUSED:
		etw_program_message("etwd, the host of sessions, went away");
		break;
	case -ETIMEDOUT:
	case -ECANCELED:
		/* Its lease is this program's, which ends now. */
		etw_program_message(
			"etwd, the host of sessions, does not answer; %s %s",
			recorder->config.is_leased
				? "should it start the session when it goes on, that ends "
				  "at once:"
				: "should it start the session when it goes on, etw "
				  "sessions stop ends it:",
			recorder->config.name);
		break;
	case -ESRCH:
	case -EXDEV:
		etw_program_message("the command's process cannot be told from others: it is in "
				    "another pid namespace than etwd, the host of sessions");
		break;
	case -ETXTBSY:
		etw_program_message("another session records into %s; etw sessions lists them",
				    recorder->file.path);
		break;
	default:
		etw_program_message("cannot record into %s: %s", recorder->file.path,
				    strerror(-error));
	}
}

/* The session's host has just answered. */
static void note_host(struct recorder *recorder)
{
	recorder->incarnation = etw_controller_incarnation(recorder->controller);
	recorder->seen_ft = etw_filetime_now();
}

static int start_session(struct recorder *recorder)
{
	int result = etw_control_start(recorder->controller, &recorder->config, &recorder->info);

	if (!result) {
		recorder->handle = recorder->info.handle;
		recorder->is_running = true;
		note_host(recorder);
	}
	return result;
}

/* Without the kernel, which nobody asked for and which is not to be had. */
static void give_up_kernel(struct record_options *options, char *const *arguments)
{
	struct etw_text text = {0};

	put_as_root(&text, arguments);
	etw_program_message("the kernel's events are left out: only root and group %s may record "
			    "them; with them: %s",
			    WIRE_CONTROL_GROUP, etw_text_string(&text));
	if (!options->providers.count)
		etw_program_message(
			"one's own programs are recorded by their providers: --provider "
			"NAME");
	record_kernel_drop(&options->kernel);
	etw_text_done(&text);
}

static void tell_kernel_refused(char *const *arguments)
{
	struct etw_text text = {0};

	put_as_root(&text, arguments);
	etw_program_message("only root and group %s may record the kernel; run: %s",
			    WIRE_CONTROL_GROUP, etw_text_string(&text));
	etw_text_done(&text);
}

/* Returns 0, or a negative errno that @ret_is_open says whose it is: the start's, or that of reaching a host. */
static int try_start(struct recorder *recorder, struct record_options *options, bool *ret_is_open)
{
	int result;

	etw_controller_close(recorder->controller);
	recorder->controller = NULL;
	result = open_host(recorder, options->kernel.is_wanted);
	*ret_is_open = !result;
	if (result)
		return result;
	record_kernel_meet_host(&options->kernel, recorder->controller);
	configure(recorder, options);
	return start_session(recorder);
}

/* Opens the host and starts; tries the kernel first where it is wanted. */
static int open_and_start(struct recorder *recorder, struct record_options *options,
			  char *const *arguments)
{
	bool is_open;
	int result = try_start(recorder, options, &is_open);

	/* There is no host for the kernel that this user may start, or it serves others. */
	if (options->kernel.is_wanted &&
	    (is_open ? is_turned_away(recorder, result) : is_absent(result))) {
		if (options->kernel.is_asked) {
			tell_kernel_refused(arguments);
			return -1;
		}
		give_up_kernel(options, arguments);
		result = try_start(recorder, options, &is_open);
	}
	if (result && is_open)
		tell_start_error(recorder, result);
	else if (result)
		tell_open_error(recorder, result);
	return result ? -1 : 0;
}

static const char *why_full(const struct record_provider *provider)
{
	return record_tracepoints_is(provider->text)
		       ? "a session has 32 providers of the kernel at most, and each system of "
			 "tracepoints is one"
		       : "8 sessions have it already, or it is one of the kernel's, of which a "
			 "session has 32 at most";
}

static int enable(struct recorder *recorder, const struct record_provider *provider)
{
	uint8_t filter[RECORD_TRACEPOINT_FILTER_BYTES];
	int filter_bytes = record_tracepoints_filter(provider, filter);
	const struct wire_enable_provider request = {
		.handle = recorder->handle,
		.provider = provider->guid,
		.code = EVENT_CONTROL_CODE_ENABLE_PROVIDER,
		.level = provider->level,
		.match_any = provider->match_any,
		.match_all = provider->match_all,
		.timeout_ms = ENABLE_MS,
		.filters = {filter, filter_bytes > 0 ? (size_t)filter_bytes : 0},
	};
	int result = filter_bytes < 0 ? filter_bytes
				      : etw_control_enable(recorder->controller, &request);

	/* It is enabled all the same; its callback is slow. Or the host is, of which the next call tells. */
	if (result == -ETIMEDOUT)
		return 0;
	if (result == -ECANCELED || result == -ECONNREFUSED || result == -EPIPE)
		host_error_tell(recorder->instance, result);
	else if (result)
		etw_program_message("cannot enable %s: %s", provider->text,
				    result == -ENOSPC ? why_full(provider) : strerror(-result));
	return result;
}

static bool can_have_tracepoints(const struct recorder *recorder,
				 const struct record_options *options)
{
	for (size_t i = 0; i < options->providers.count; i++) {
		const char *name = options->providers.all[i].text;
		const char *reason = record_tracepoints_why_none(name, recorder->instance);

		if (!reason)
			continue;
		etw_program_message("cannot record %s: %s", name, reason);
		return false;
	}
	return true;
}

int recorder_start(struct recorder *recorder, struct record_options *options,
		   char *const *arguments)
{
	int result = record_file_choose(&recorder->file, options->output, options->force);

	if (result) {
		etw_program_message("cannot record into %s: %s",
				    recorder->file.path[0] ? recorder->file.path
				    : options->output      ? options->output
							   : "this folder",
				    record_file_why_none(result));
		return -1;
	}
	if (open_and_start(recorder, options, arguments)) {
		record_file_drop(&recorder->file);
		return -1;
	}
	if (!can_have_tracepoints(recorder, options))
		return -1;
	for (size_t i = 0; i < options->providers.count; i++) {
		if (enable(recorder, &options->providers.all[i]))
			return -1;
	}
	if (recorder->info.complaint[0])
		etw_program_message("not all can be recorded: %s", recorder->info.complaint);
	memcpy(recorder->told, recorder->info.complaint, sizeof(recorder->told));
	return 0;
}

static int control(struct recorder *recorder, uint32_t code)
{
	CLEANUP(freep) struct wire_control *request = calloc(1, sizeof(*request));

	if (!request)
		return -ENOMEM;
	request->code = code;
	request->handle = recorder->handle;
	return etw_control(recorder->controller, request, &recorder->info);
}

/* Returns @result, or -ENOENT when it means that the session is over. */
static int judge(struct recorder *recorder, int result)
{
	bool is_same = etw_controller_incarnation(recorder->controller) == recorder->incarnation;

	switch (result) {
	case 0:
		note_host(recorder);
		return 0;
	case -ENOENT:
		recorder->end = is_same ? RECORDER_STOPPED : RECORDER_HOST_DIED;
		break;
	case -ECONNREFUSED: /* neither a host nor a keeper that would start the next one */
		recorder->end = RECORDER_HOST_DIED;
		break;
	default:
		return result;
	}
	recorder->is_running = false;
	return -ENOENT;
}

int recorder_look(struct recorder *recorder)
{
	return judge(recorder, control(recorder, WIRE_CONTROL_QUERY));
}

static void tell_unstopped(const struct recorder *recorder, int error)
{
	if (error != -ETIMEDOUT && error != -ECANCELED) {
		etw_program_message("cannot stop the session %s: %s", recorder->config.name,
				    strerror(-error));
		return;
	}
	etw_program_message("etwd, the host of sessions, does not answer: the session %s was not "
			    "stopped; %s. What is in %s so far is not complete",
			    recorder->config.name,
			    recorder->config.is_leased ? "it ends by itself when its host goes on"
						       : "etw sessions stop ends it when its host "
							 "goes on",
			    recorder->file.path);
}

int recorder_stop(struct recorder *recorder)
{
	int result = judge(recorder, control(recorder, WIRE_CONTROL_STOP));

	recorder->is_running = false;
	if (!result || result == -ENOENT)
		return 0;
	tell_unstopped(recorder, result);
	return -1;
}

static void put_time(struct etw_text *text, int64_t time_ft)
{
	time_t seconds = (time_t)((time_ft - ETW_FILETIME_UNIX_EPOCH) / ETW_FILETIME_PER_SECOND);
	char words[32] = "";
	struct tm utc;

	/* As the page has its times. */
	if (gmtime_r(&seconds, &utc))
		(void)strftime(words, sizeof(words), "%H:%M:%SZ", &utc);
	etw_text_puts(text, words);
}

void recorder_tell_complaint(const struct recorder *recorder)
{
	const char *complaint = recorder->info.complaint;
	size_t told = strlen(recorder->told);

	/* What comes later is put behind it. */
	if (!strncmp(complaint, recorder->told, told))
		complaint += told;
	if (told && !strncmp(complaint, "; ", 2))
		complaint += 2;
	/* A file that ended early is told of by itself. */
	if (*complaint && !recorder->info.file_status)
		etw_program_message("not all could be recorded: %s", complaint);
}

void recorder_tell_end(const struct recorder *recorder, int64_t last_ft, int64_t end_ft)
{
	CLEANUP(etw_text_done) struct etw_text text = {0};

	if (recorder->end == RECORDER_GOES_ON)
		return;
	if (recorder->end == RECORDER_STOPPED) {
		etw_text_puts(&text, "somebody else stopped the session at ");
		put_time(&text, end_ft ? end_ft : recorder->seen_ft);
		etw_text_puts(&text, ": what happened after that is not recorded");
	} else {
		if (!host_failure_tell(recorder->instance))
			etw_program_message("the host of the session has ended before the session");
		etw_text_puts(&text, "the recording is incomplete: what was written after ");
		put_time(&text, end_ft    ? end_ft
				: last_ft ? last_ft
					  : (int64_t)recorder->info.start_ft);
		etw_text_puts(&text, " is missing, and how much that is is not known");
	}
	etw_program_message("%s", etw_text_string(&text));
}
