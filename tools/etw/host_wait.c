/* SPDX-License-Identifier: MIT */
#include "tools/etw/host_wait.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/atomic.h"
#include "control/wait.h"
#include "ipc/failure.h"
#include "tools/common/program.h"

#define HOST "etwd, the host of sessions,"

/* The state of a process as /proc has it: 'T' for one that is stopped, 'Z' for a dead one; 0: it is not there. */
static char state_of(uint32_t process)
{
	char path[32], text[256] = "";
	const char *end;
	FILE *file;

	(void)snprintf(path, sizeof(path), "/proc/%" PRIu32 "/stat", process);
	file = fopen(path, "re");
	if (!file)
		return 0;
	if (!fgets(text, sizeof(text), file))
		text[0] = 0;
	(void)fclose(file);
	end = strrchr(text, ')');
	return end && end[1] == ' ' ? end[2] : 0;
}

/* The host; its keeper where that has died and the keeper, which stands still, has not noticed. 0: nobody knows. */
static uint32_t find_process(const char *directory)
{
	const struct wire_discovery_page *page;
	uint32_t keeper, host;
	char state;

	if (etw_runtime_page(directory, &page) < 0)
		return 0;
	keeper = load_relaxed(&page->keeper_pid);
	host = load_relaxed(&page->host_pid);
	etw_runtime_page_unmap(page);
	state = host ? state_of(host) : 0;
	return state && state != 'Z' && state != 'X' ? host : keeper;
}

static bool find_stopped(enum etw_instance instance, uint32_t *ret)
{
	char directory[PATH_MAX];

	if (etw_runtime_directory(instance, directory) < 0)
		return false;
	*ret = find_process(directory);
	return *ret && state_of(*ret) == 'T';
}

static void tell_silent(enum etw_instance instance)
{
	uint32_t process;

	if (find_stopped(instance, &process))
		etw_program_message(HOST " is stopped, as by SIGSTOP: kill -CONT %" PRIu32
					 " lets it go on",
				    process);
	else
		etw_program_message(HOST
				    " does not answer; with ETWD_LOG=FILE set, it writes why to "
				    "FILE");
}

void host_timeout_check(void)
{
	uint64_t used_ms;
	const char *value = etw_control_wait_variable(&used_ms);

	if (value)
		etw_program_message("warning: ETW_HOST_TIMEOUT_MS is \"%s\", which is no number of "
				    "milliseconds: %" PRIu64 " are used",
				    value, used_ms);
}

void host_wait_tell(void *context, const char *directory)
{
	uint32_t process = find_process(directory);
	struct etw_failure failure;
	bool has_failed = !etw_failure_read(directory, &failure);

	(void)context;
	if (process)
		etw_program_message("waiting for the session host (etwd, process %" PRIu32
				    "), which does not answer%s%s",
				    process, has_failed ? ": " : "",
				    has_failed ? failure.text : "");
	else
		etw_program_message(
			"waiting for the session host (etwd), which does not answer%s%s",
			has_failed ? ": " : "", has_failed ? failure.text : "");
}

static bool read_failure(enum etw_instance instance, struct etw_failure *ret)
{
	char directory[PATH_MAX];

	return !etw_runtime_directory(instance, directory) && !etw_failure_read(directory, ret);
}

static bool is_folder(const char *path)
{
	struct stat info;

	return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* A host that started did not find something; as a rule the folder that the runtime directory would be in. */
static void tell_not_found(enum etw_instance instance, const struct etw_failure *failure)
{
	char directory[PATH_MAX];
	char *slash = etw_runtime_directory(instance, directory) ? NULL : strrchr(directory, '/');

	if (slash && slash != directory) {
		*slash = '\0';
		if (!is_folder(directory)) {
			etw_program_message(HOST " cannot be started: there is no folder %s",
					    directory);
			return;
		}
	}
	etw_program_message(HOST " cannot be started: %s",
			    failure && failure->error == ENOENT ? failure->text : strerror(ENOENT));
}

void host_error_tell(enum etw_instance instance, int error)
{
	struct etw_failure failure;
	bool has_failed = read_failure(instance, &failure);

	switch (error) {
	case -ETIMEDOUT:
		tell_silent(instance);
		return;
	case -ECANCELED:
		etw_program_message("interrupted while " HOST " did not answer");
		return;
	case -ECHILD:
		etw_program_message(HOST " was killed while it started");
		return;
	case -ECONNREFUSED:
		etw_program_message(HOST " has ended%s%s", has_failed ? ": " : "",
				    has_failed ? failure.text : "");
		return;
	case -ECONNRESET:
	case -EPIPE:
		etw_program_message(HOST " hangs up instead of answering");
		return;
	case -ENOTDIR:
		tell_not_found(instance, has_failed ? &failure : NULL);
		return;
	default:
		etw_program_message(HOST " cannot be started or reached: %s",
				    has_failed && failure.error == -error
					    ? failure.text
					    : etw_runtime_sentence(error));
	}
}

bool host_failure_tell(enum etw_instance instance)
{
	struct etw_failure failure;

	if (!read_failure(instance, &failure))
		return false;
	etw_program_message(HOST " is not there: %s", failure.text);
	return true;
}
