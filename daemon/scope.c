/* SPDX-License-Identifier: MIT */
/* See daemon/scope.h. */
#include "daemon/scope.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <evntprov.h>

#include "base/file.h"
#include "base/macros.h"
#include "base/process_facts.h"
#include "base/utf.h"
#include "wire/payload_filter.h"

#define SHORT_NAME_BYTES 15 /* TASK_COMM_LEN without its NUL */
#define DELETED          " (deleted)"

/* The whole of a short file of procfs, with a NUL. Returns false where there is none, or it may not be read. */
static bool read_proc(pid_t pid, const char *file, char *text, size_t room)
{
	CLEANUP(etw_file_closep) int fd = -1;
	char path[64];
	size_t bytes = 0;

	(void)snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || etw_file_read_all(fd, text, room - 1, &bytes) < 0)
		return false;
	text[bytes] = '\0';
	return true;
}

static uint32_t pid_at(struct etw_bytes pids, size_t index)
{
	return etw_load32(pids.at + index * 4);
}

void etwd_scope_begin(struct etw_bytes filters, struct etwd_scope *ret)
{
	struct etw_bytes pids;

	*ret = (struct etwd_scope){0};
	if (!wire_filter_find(filters, EVENT_FILTER_TYPE_PID, &pids))
		return;
	for (size_t i = 0; i < pids.left / 4; i++) {
		const uint32_t pid = pid_at(pids, i);

		/* A procfs that hides processes says of them what it says of none. */
		if (pid == 0 || pid > INT32_MAX || (kill((pid_t)pid, 0) < 0 && errno == ESRCH))
			ret->gone |= 1u << i;
		else
			ret->started[i] = etw_process_start_boot_ns(pid);
	}
}

static bool read_executable(struct etwd_scope_process *process)
{
	char link[64], path[ETWD_SCOPE_PATH_MAX];
	ssize_t bytes;
	size_t end;

	(void)snprintf(link, sizeof(link), "/proc/%d/exe", (int)process->pid);
	bytes = readlink(link, path, sizeof(path) - 1);
	process->is_short = bytes <= 0;
	if (bytes <= 0 && !read_proc(process->pid, "comm", path, sizeof(path)))
		return false;
	if (bytes > 0)
		path[bytes] = '\0';
	path[strcspn(path, "\n")] = '\0';
	end = strlen(path);
	if (end > strlen(DELETED) && strcmp(path + end - strlen(DELETED), DELETED) == 0)
		path[end - strlen(DELETED)] = '\0';
	process->executable = strdup(path);
	return process->executable;
}

static void read_process(struct etwd_scope_process *process)
{
	if (process->is_read)
		return;
	process->is_read = true;
	if (process->pid <= 0) /* of a namespace that this host does not see */
		return;
	process->started = etw_process_start_boot_ns((uint32_t)process->pid);
	(void)read_executable(process);
}

static bool has_pid(struct etw_bytes pids, const struct etwd_scope *scope,
		    const struct etwd_scope_process *process)
{
	for (size_t i = 0; i < pids.left / 4; i++) {
		if (pid_at(pids, i) != (uint32_t)process->pid || scope->gone >> i & 1)
			continue;
		/* What could not be seen is not compared. */
		if (!scope->started[i] || !process->started ||
		    scope->started[i] == process->started)
			return true;
	}
	return false;
}

/* UTF-16, of any alignment. */
struct name {
	const uint8_t *at;
	size_t units;
};

static uint16_t unit_of(const struct name *name, size_t index)
{
	return wire_payload_upper16(etw_load16(name->at + index * 2));
}

static bool is_same(const struct name *left, const struct name *right)
{
	if (left->units != right->units)
		return false;
	for (size_t i = 0; i < left->units; i++) {
		if (unit_of(left, i) != unit_of(right, i))
			return false;
	}
	return true;
}

static size_t find_unit(const struct name *name, uint16_t unit)
{
	size_t at = 0;

	while (at < name->units && unit_of(name, at) != unit)
		at++;
	return at;
}

/* The part behind the last '/'. */
static struct name file_of(const struct name *path)
{
	struct name file = *path;

	for (size_t slash = find_unit(&file, '/'); slash < file.units;
	     slash = find_unit(&file, '/')) {
		file.at += (slash + 1) * 2;
		file.units -= slash + 1;
	}
	return file;
}

static bool means_file(struct name wanted, const struct name *file, bool is_short)
{
	static const uint8_t suffix[] = {'.', 0, 'e', 0, 'x', 0, 'e', 0};
	const struct name exe = {suffix, sizeof(suffix) / 2};
	struct name end;

	if (is_short && file->units == SHORT_NAME_BYTES && wanted.units > file->units)
		wanted.units = file->units;
	if (is_same(&wanted, file))
		return true;
	if (wanted.units <= exe.units)
		return false;
	wanted.units -= exe.units;
	end = (struct name){wanted.at + wanted.units * 2, exe.units};
	return is_same(&end, &exe) && is_same(&wanted, file);
}

bool etwd_scope_names(struct etw_bytes list, const char *executable, bool is_short)
{
	CLEANUP(freep) uint8_t *wide = NULL;
	struct name path = {0}, file, rest = {list.at, list.left / 2};

	wide = etw_utf8_to_utf16(executable, &path.units);
	if (!wide)
		return false;
	path.at = wide;
	file = file_of(&path);
	rest.units = etw_utf16_length(rest.at, rest.units);
	while (rest.units) {
		const struct name wanted = {rest.at, find_unit(&rest, ';')};
		const size_t taken = wanted.units < rest.units ? wanted.units + 1 : wanted.units;

		if (find_unit(&wanted, '/') < wanted.units ? is_same(&wanted, &path)
							   : means_file(wanted, &file, is_short))
			return true;
		rest.at += taken * 2;
		rest.units -= taken;
	}
	return false;
}

bool etwd_scope_has(struct etw_bytes filters, const struct etwd_scope *scope,
		    struct etwd_scope_process *process)
{
	struct wire_filter filter;

	while (wire_filter_next(&filters, &filter)) {
		if (wire_filter_use_of(filter.type) != WIRE_FILTER_SCOPE)
			continue;
		read_process(process);
		if (filter.type == EVENT_FILTER_TYPE_PID
			    ? !has_pid(filter.data, scope, process)
			    : filter.type != EVENT_FILTER_TYPE_EXECUTABLE_NAME ||
				      !process->executable ||
				      !etwd_scope_names(filter.data, process->executable,
							process->is_short))
			return false;
	}
	return true;
}

void etwd_scope_process_done(struct etwd_scope_process *process)
{
	free(process->executable);
	process->executable = NULL;
	process->is_read = false;
}
