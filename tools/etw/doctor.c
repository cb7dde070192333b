/* SPDX-License-Identifier: MIT */
/* The rows of `etw doctor`, and what lies outside of hosts; see doctor.h. */
#include "tools/etw/doctor.h"

#include <errno.h>
#include <inttypes.h>
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

#define CLOCK_SOURCE "/sys/devices/system/clocksource/clocksource0/current_clocksource"
#define FILES_WANTED 4096

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

static void look_at_autologger(struct doctor *doctor, const char *config_folder,
			       const char *state_folder, const char *name)
{
	CLEANUP(freep) struct etw_autologger *one = calloc(1, sizeof(*one));
	struct etw_autologger_status status;
	struct etw_fault fault = {0};
	int result = one ? etw_autologger_read(config_folder, name, one, &fault) : -ENOMEM;
	bool is_start;

	if (result) {
		doctor_row_add(doctor, "autologger", DOCTOR_MISSING, "man 5 etw-autologger",
			       "%s/%s.conf: line %" PRIu64 ": %s%s%s", config_folder, name,
			       fault.offset, fault.field ? fault.field : "",
			       fault.field ? ": " : "",
			       fault.sentence ? fault.sentence : strerror(-result));
		return;
	}
	is_start = one->is_start;
	etw_autologger_done(one);
	if (!is_start)
		return;
	if (etw_autologger_status_read(state_folder, name, &status) || status.status != 0)
		doctor_row_add(doctor, "autologger", DOCTOR_MISSING, NULL,
			       "%s could not be started: %s", name, status.reason);
	else
		doctor_row_add(doctor, "autologger", DOCTOR_OK, NULL, "%s starts with the host",
			       name);
}

void doctor_look_at_autologgers(struct doctor *doctor)
{
	CLEANUP(freep) char *config_folder = NULL;
	CLEANUP(freep) char *state_folder = NULL;
	char **names = NULL;
	size_t count = 0;

	if (etw_autologger_folders(geteuid() == 0, &config_folder, &state_folder) ||
	    etw_autologger_names(config_folder, &names, &count))
		return;
	for (size_t i = 0; i < count; i++)
		look_at_autologger(doctor, config_folder, state_folder, names[i]);
	etw_autologger_names_free(names, count);
}
