/* SPDX-License-Identifier: MIT */
/* What `etw doctor` finds out about hosts: where their program is, which run, and what they may do; see doctor.h. */
#include "tools/etw/doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/macros.h"
#include "control/control.h"
#include "control/host_start.h"
#include "control/instance.h"
#include "ipc/failure.h"
#include "ipc/runtime.h"
#include "tools/etw/host_wait.h"
#include "wire/well_known.h"

#define PROBE_BYTES_MAX 8192

static const struct etw_control_waiting waiting = {.wake_fd = -1, .tell = host_wait_tell};

static const char *name_of(enum etw_instance instance)
{
	if (etw_runtime_is_one() && geteuid() != 0)
		return etw_runtime_is_own(instance) ? "your host" : "another user's host";
	return instance == ETW_INSTANCE_SYSTEM ? "the machine's host" : "your own host";
}

/* Where the units are installed systemd starts it; otherwise its program is in no PATH. */
static void find_start(char room[PATH_MAX + 64])
{
	static const char *const units[] = {
		"/etc/systemd/system/etwd.socket", "/usr/local/lib/systemd/system/etwd.socket",
		"/usr/lib/systemd/system/etwd.socket", "/lib/systemd/system/etwd.socket"};
	char program[PATH_MAX];
	CLEANUP(freep) char *path = NULL;

	for (size_t i = 0; access("/run/systemd/system", F_OK) == 0 && i < ARRAY_SIZE(units); i++) {
		if (access(units[i], F_OK) == 0) {
			(void)strcpy(room, "sudo systemctl enable --now etwd.socket");
			return;
		}
	}
	if (etw_host_find(program) == 0)
		path = realpath(program, NULL);
	(void)snprintf(room, PATH_MAX + 64, "sudo %s --system, or sudo etw record",
		       path ? path : "etwd");
}

static void add_absent(struct doctor *doctor, enum etw_instance instance, const char *directory)
{
	struct etw_failure failure;
	char start[PATH_MAX + 64];

	if (etw_failure_read(directory, &failure) == 0) {
		doctor_row_add(doctor, "host", DOCTOR_MISSING, NULL, "%s (%s) did not stay: %s",
			       name_of(instance), directory, failure.text);
	} else if (instance == ETW_INSTANCE_SYSTEM && geteuid() != 0) {
		find_start(start);
		doctor_row_add(doctor, "host", DOCTOR_NOTE, start,
			       "the machine's host does not run, so nobody records the kernel (%s)",
			       directory);
	} else {
		doctor_row_add(doctor, "host", DOCTOR_OK, NULL,
			       "%s does not run; the first session starts it (%s)",
			       name_of(instance), directory);
	}
}

static void look_at_host(struct doctor *doctor, enum etw_instance instance)
{
	struct etw_controller *host = NULL;
	struct wire_sessions sessions = {0};
	char directory[PATH_MAX];
	int result = etw_runtime_directory(instance, directory);

	if (result == 0)
		result = etw_controller_open(instance, /* is_starting= */ false, &waiting, &host);
	if (result == 0)
		result = etw_control_list(host, &sessions);
	etw_controller_close(host);
	if (result == -ENOENT || result == -ECONNREFUSED)
		add_absent(doctor, instance, directory);
	else if (result)
		doctor_row_add(doctor, "host", DOCTOR_MISSING, NULL, "%s (%s) cannot be used: %s",
			       name_of(instance), directory, etw_runtime_sentence(result));
	else
		doctor_row_add(doctor, "host", DOCTOR_OK, NULL,
			       "%s runs, with %u sessions that you may control (%s)",
			       name_of(instance), (unsigned)sessions.count, directory);
}

static bool is_member_of(gid_t group)
{
	int room = getgroups(0, NULL);
	CLEANUP(freep) gid_t *groups = room > 0 ? calloc((size_t)room, sizeof(*groups)) : NULL;
	int count = groups ? getgroups(room, groups) : 0;

	for (int i = 0; i < count; i++) {
		if (groups[i] == group)
			return true;
	}
	return getegid() == group;
}

static void look_at_group(struct doctor *doctor)
{
	const struct group *group = getgrnam(WIRE_CONTROL_GROUP);

	if (geteuid() == 0)
		doctor_row_add(doctor, "rights", DOCTOR_OK, NULL,
			       "root controls all sessions of the machine");
	else if (group && is_member_of(group->gr_gid))
		doctor_row_add(doctor, "rights", DOCTOR_OK, NULL,
			       "you are in group " WIRE_CONTROL_GROUP
			       ", which controls the machine's sessions");
	else
		doctor_row_add(doctor, "rights", DOCTOR_NOTE,
			       group ? "sudo usermod -aG " WIRE_CONTROL_GROUP
				       " $USER, then log in again"
				     : "sudo groupadd --system " WIRE_CONTROL_GROUP
				       " && sudo usermod -aG " WIRE_CONTROL_GROUP
				       " $USER, then log in again",
			       "you may record your own programs, but not the kernel or those of "
			       "other users");
}

void doctor_look_at_hosts(struct doctor *doctor)
{
	enum etw_instance instances[2];
	char program[PATH_MAX];
	size_t count = etw_control_lookup_order(instances);

	if (etw_host_find(program) == 0)
		doctor_row_add(doctor, "program", DOCTOR_OK, NULL, "%s", program);
	else
		doctor_row_add(doctor, "program", DOCTOR_MISSING,
			       "install etwd, or name it in ETW_ETWD",
			       "there is no etwd, which hosts sessions");
	for (size_t i = 0; i < count; i++)
		look_at_host(doctor, instances[i]);
	look_at_group(doctor);
}

ssize_t doctor_ask_program(const char *program, const char *option, char *room, size_t bytes)
{
	size_t got = 0;
	int ends[2];
	pid_t child;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	child = fork();
	if (child == 0) {
		if (dup2(ends[1], STDOUT_FILENO) >= 0)
			(void)execl(program, program, option, (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	if (child > 0)
		(void)etw_file_read_all(ends[0], room, bytes, &got);
	close(ends[0]);
	while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	return child < 0 ? -EAGAIN : (ssize_t)got;
}

/* "state<tab>name<tab>sentence"; what is less can still be recorded, what it has is told. Returns whether it is one. */
static bool take_probe_line(struct doctor *doctor, char *line, size_t *missing)
{
	char *name = strchr(line, '\t');
	char *sentence = name ? strchr(name + 1, '\t') : NULL;

	if (!sentence)
		return false;
	*name++ = '\0';
	*sentence++ = '\0';
	if (!strcmp(line, "ok"))
		return true;
	if (!strcmp(line, "has")) {
		doctor_row_add(doctor, "samples", DOCTOR_OK, NULL, "%s", sentence);
		return true;
	}
	if (strcmp(line, "less") != 0)
		(*missing)++;
	doctor_row_add(doctor, "kernel", DOCTOR_NOTE, NULL, "%s", sentence);
	return true;
}

void doctor_look_at_kernel(struct doctor *doctor)
{
	char program[PATH_MAX], text[PROBE_BYTES_MAX + 1];
	size_t missing = 0, lines = 0;
	char *rest = NULL;
	ssize_t bytes;

	if (etw_host_find(program) != 0)
		return; /* which is told */
	bytes = doctor_ask_program(program, "--probe", text, PROBE_BYTES_MAX);
	text[bytes > 0 ? bytes : 0] = '\0';
	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		lines += take_probe_line(doctor, line, &missing);
	if (lines == 0)
		doctor_row_add(doctor, "kernel", DOCTOR_NOTE, "install etwd of this version",
			       "%s does not say what it may record", program);
	else if (missing == 0)
		doctor_row_add(doctor, "kernel", DOCTOR_OK, NULL,
			       "a host that you start may record it");
}
