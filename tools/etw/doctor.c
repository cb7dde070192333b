/* SPDX-License-Identifier: MIT */
/* The rows of `etw doctor`, and what lies outside of hosts; see doctor.h. */
#include "tools/etw/doctor.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/membarrier.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "autologger/config.h"
#include "autologger/folder.h"
#include "autologger/status.h"
#include "base/file.h"
#include "base/macros.h"
#include "control/host_start.h"

#define CLOCK_SOURCE      "/sys/devices/system/clocksource/clocksource0/current_clocksource"
#define FILES_WANTED      4096
#define REFUSED_BYTES_MAX (256 * 1024)

static struct doctor_row *grow(struct doctor *doctor)
{
	struct doctor_row *grown = reallocarray(doctor->rows, doctor->count + 1, sizeof(*grown));

	if (!grown)
		return NULL;
	doctor->rows = grown;
	return &grown[doctor->count];
}

void doctor_row_add(struct doctor *doctor, const char *what, enum doctor_state state,
		    const char *fix, const char *text, ...)
{
	struct doctor_row row = {.what = what, .state = state};
	struct doctor_row *place = grow(doctor);
	va_list list;

	va_start(list, text);
	if (vasprintf(&row.text, text, list) < 0)
		row.text = NULL;
	va_end(list);
	row.fix = fix ? strdup(fix) : NULL;
	if (!place || !row.text || (fix && !row.fix)) {
		free(row.text);
		free(row.fix);
		doctor->error = -ENOMEM;
		return;
	}
	*place = row;
	doctor->count++;
}

void doctor_done(struct doctor *doctor)
{
	for (size_t i = 0; i < doctor->count; i++) {
		free(doctor->rows[i].text);
		free(doctor->rows[i].fix);
	}
	free(doctor->rows);
	*doctor = (struct doctor){0};
}

/* The first line of a small file of the kernel's; empty where it cannot be read. */
static void read_line(const char *path, char *room, size_t bytes)
{
	FILE *file = fopen(path, "re");

	if (!file || !fgets(room, (int)bytes, file))
		room[0] = '\0';
	if (file)
		(void)fclose(file);
	room[strcspn(room, "\n")] = '\0';
}

static void look_at_clock(struct doctor *doctor)
{
	char source[64];

	read_line(CLOCK_SOURCE, source, sizeof(source));
	if (!strcmp(source, "tsc") || !strcmp(source, "arch_sys_counter"))
		doctor_row_add(doctor, "clock", DOCTOR_OK, NULL,
			       "the processors' counter, which the kernel calls stable");
	else
		doctor_row_add(doctor, "clock", DOCTOR_NOTE, NULL,
			       "the kernel's clock source is \"%s\": each event reads the time "
			       "by a system call's way, which costs more than the rest of it",
			       *source ? source : "unknown");
}

static void look_at_membarrier(struct doctor *doctor)
{
	long commands = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);

	if (commands > 0 && commands & MEMBARRIER_CMD_PRIVATE_EXPEDITED)
		doctor_row_add(doctor, "membarrier", DOCTOR_OK, NULL,
			       "programs give the memory of sessions back");
	else
		doctor_row_add(doctor, "membarrier", DOCTOR_NOTE, NULL,
			       "the kernel has no membarrier(2), or a filter refuses it: programs "
			       "keep a range of addresses for each session that recorded them");
}

static void look_at_files(struct doctor *doctor)
{
	struct rlimit files = {0};

	if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_max >= FILES_WANTED)
		doctor_row_add(doctor, "open files", DOCTOR_OK, NULL,
			       "a host may have %" PRIu64 " open", (uint64_t)files.rlim_max);
	else
		doctor_row_add(doctor, "open files", DOCTOR_NOTE,
			       "raise nofile in /etc/security/limits.conf",
			       "a host may have %" PRIu64
			       " open, which is enough for few programs and sessions",
			       (uint64_t)files.rlim_max);
}

void doctor_look_at_machine(struct doctor *doctor)
{
	look_at_clock(doctor);
	look_at_membarrier(doctor);
	look_at_files(doctor);
}

/* Returns whether it could be read. */
static bool read_setting(const char *folder, const char *name, int *ret)
{
	char path[PATH_MAX], line[32], *end;

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	read_line(path, line, sizeof(line));
	*ret = (int)strtol(line, &end, 10);
	return *line && !*end;
}

/* Linux' kallsyms_show_value(): at 0 everybody sees addresses only where everybody may use perf on the kernel, too. */
static void tell_of_symbols(struct doctor *doctor, int restricted, int paranoid)
{
	if (restricted >= 2)
		doctor_row_add(doctor, "symbols", DOCTOR_NOTE, "sudo sysctl kernel.kptr_restrict=1",
			       "kernel.kptr_restrict is %d: nobody sees the addresses of the "
			       "kernel's functions, so that its code has no names in traces",
			       restricted);
	else if (restricted == 0 && paranoid <= 1)
		doctor_row_add(doctor, "symbols", DOCTOR_OK, NULL,
			       "kernel.kptr_restrict is 0 and kernel.perf_event_paranoid %d: every "
			       "host sees the addresses of the kernel's functions",
			       paranoid);
	else
		doctor_row_add(doctor, "symbols", DOCTOR_OK, NULL,
			       "kernel.kptr_restrict is %d and kernel.perf_event_paranoid %d: a "
			       "host with CAP_SYSLOG, as root's, sees the addresses of the "
			       "kernel's functions; without, the kernel's code has no names",
			       restricted, paranoid);
}

void doctor_look_at_settings(struct doctor *doctor, const char *folder)
{
	int restricted, paranoid;

	if (!read_setting(folder, "kptr_restrict", &restricted) ||
	    !read_setting(folder, "perf_event_paranoid", &paranoid)) {
		doctor_row_add(doctor, "symbols", DOCTOR_NOTE, NULL,
			       "kptr_restrict and perf_event_paranoid in %s cannot be read, which "
			       "say who sees the kernel's code",
			       folder);
		return;
	}
	tell_of_symbols(doctor, restricted, paranoid);
	doctor_row_add(doctor, "perf", DOCTOR_OK, NULL,
		       "kernel.perf_event_paranoid is %d, which stops no host with CAP_PERFMON, as "
		       "root's; without it no host records the kernel, whatever the value is",
		       paranoid);
}

/* The line, where the reader knows one: what is missing or contradicts something else has none. */
static void tell_of_file(struct doctor *doctor, const char *path, int result,
			 const struct etw_fault *fault)
{
	char line[32] = "";

	if (fault->offset != 0)
		(void)snprintf(line, sizeof(line), "line %" PRIu64 ": ", fault->offset);
	doctor_row_add(doctor, "autologger", DOCTOR_MISSING, "man 5 etw-autologger", "%s: %s%s%s%s",
		       path, line, fault->field ? fault->field : "", fault->field ? ": " : "",
		       fault->sentence ? fault->sentence : strerror(-result));
}

static void tell_of_status(struct doctor *doctor, const char *state_folder, const char *name)
{
	struct etw_autologger_status status;
	char boot[ETW_AUTOLOGGER_BOOT_BYTES];

	if (etw_autologger_status_read(state_folder, name, &status)) {
		doctor_row_add(doctor, "autologger", DOCTOR_MISSING, NULL,
			       "%s/%s cannot be read, which says what became of the session",
			       state_folder, name);
		return;
	}
	etw_autologger_boot_id(boot);
	if (*status.stopped_in && strcmp(status.stopped_in, boot) == 0)
		doctor_row_add(doctor, "autologger", DOCTOR_OK, NULL,
			       "%s was stopped, and starts again after the next boot", name);
	else if (status.status != 0)
		doctor_row_add(doctor, "autologger", DOCTOR_MISSING, "man 5 etw-autologger",
			       "%s could not be started: %s", name, status.reason);
	else
		doctor_row_add(doctor, "autologger", DOCTOR_OK, NULL, "%s starts with the host",
			       name);
}

/* What etwd would refuse, by the function that starts sessions; empty without etwd, which is told. */
static void ask_for_refused(char refused[REFUSED_BYTES_MAX + 1])
{
	char program[PATH_MAX];
	ssize_t bytes = 0;

	if (etw_host_find(program) == 0)
		bytes = doctor_ask_program(program, "--check-autologgers", refused,
					   REFUSED_BYTES_MAX);
	refused[bytes > 0 ? bytes : 0] = '\0';
}

/* Returns whether it is refused: in a line of its name, a tab and why. */
static bool tell_if_refused(struct doctor *doctor, const char *refused, const char *path,
			    const char *name)
{
	size_t bytes = strlen(name);

	for (const char *line = refused; *line; line += strcspn(line, "\n"), line += *line != 0) {
		if (strncmp(line, name, bytes) != 0 || line[bytes] != '\t')
			continue;
		line += bytes + 1;
		doctor_row_add(doctor, "autologger", DOCTOR_MISSING, "man 5 etw-autologger",
			       "%s: %.*s", path, (int)strcspn(line, "\n"), line);
		return true;
	}
	return false;
}

static void look_at_autologger(struct doctor *doctor, const char *config_folder,
			       const char *state_folder, const char *name, const char *refused)
{
	CLEANUP(freep) struct etw_autologger *one = calloc(1, sizeof(*one));
	CLEANUP(freep) char *path = NULL;
	struct etw_fault fault = {0};
	int result = one ? etw_autologger_read(config_folder, name, one, &fault) : -ENOMEM;
	bool is_start;

	if (asprintf(&path, "%s/%s.conf", config_folder, name) < 0)
		path = NULL;
	if (result) {
		tell_of_file(doctor, path ? path : name, result, &fault);
		return;
	}
	is_start = one->starts;
	etw_autologger_done(one);
	if (is_start && !tell_if_refused(doctor, refused, path ? path : name, name))
		tell_of_status(doctor, state_folder, name);
}

static void tell_of_folder(struct doctor *doctor, const char *folder, int result)
{
	if (result == -ENOMEM)
		doctor->error = result;
	else if (result == -E2BIG)
		doctor_row_add(doctor, "autologger", DOCTOR_MISSING,
			       "remove the files that are not used",
			       "%s has more files than the host starts sessions of", folder);
	else if (result == -EPERM)
		doctor_row_add(doctor, "autologger", DOCTOR_MISSING,
			       "let only its owner write to it, root or you",
			       "the host starts no session of %s: %s", folder,
			       etw_autologger_names_sentence(result));
	else
		doctor_row_add(doctor, "autologger", DOCTOR_MISSING, NULL, "%s cannot be read: %s",
			       folder, strerror(-result));
}

void doctor_look_at_autologgers(struct doctor *doctor)
{
	CLEANUP(freep) char *config_folder = NULL;
	CLEANUP(freep) char *state_folder = NULL;
	CLEANUP(freep) char *refused = NULL;
	char **names = NULL;
	size_t count = 0;
	int result = etw_autologger_folders(geteuid() == 0, &config_folder, &state_folder);

	if (result == -ENOENT) /* this instance has none */
		return;
	if (result == 0)
		result = etw_autologger_names(config_folder, &names, &count);
	if (result < 0)
		tell_of_folder(doctor, config_folder, result);
	if (count > 0) {
		refused = malloc(REFUSED_BYTES_MAX + 1);
		if (refused)
			ask_for_refused(refused);
		else
			doctor->error = -ENOMEM;
	}
	for (size_t i = 0; i < count && refused; i++)
		look_at_autologger(doctor, config_folder, state_folder, names[i], refused);
	etw_autologger_names_free(names, count);
}
