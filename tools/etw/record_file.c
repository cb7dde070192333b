/* SPDX-License-Identifier: MIT */
#include "tools/etw/record_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/macros.h"
#include "base/number.h"
#include "base/path.h"
#include "base/utf.h"
#include "consumer/trace.h"

#define NAMES_MAX 1000 /* so many names of one second are tried */

/* Absolute, because the host has a working directory of its own. */
static int set_path(struct record_file *file, const char *name)
{
	CLEANUP(freep) char *resolved = NULL;
	CLEANUP(freep) char *folder = NULL;
	int length;

	TRY(etw_path_resolve(name, &resolved));
	folder = resolved[0] == '/' ? strdup("") : getcwd(NULL, 0);
	if (!folder)
		return -errno;
	length = snprintf(file->path, sizeof(file->path), "%s%s%s", folder,
			  *folder && strcmp(folder, "/") != 0 ? "/" : "", resolved);
	if (length >= 0 && (size_t)length < sizeof(file->path))
		return etw_utf8_is_valid((const uint8_t *)file->path, (size_t)length) ? 0 : -EILSEQ;
	file->path[0] = '\0';
	return -ENAMETOOLONG;
}

/* A number of a user or group that sudo left in the environment; -1: it was not sudo that made this process root's. */
static long sudo_number(const char *name)
{
	const char *text = geteuid() == 0 ? getenv(name) : NULL;
	uint64_t number;

	return text && etw_number_parse(text, INT32_MAX, &number) ? (long)number : -1;
}

/*
 * Makes the file, so that the name is taken. A trace tells what others' processes run, and addresses of the kernel: it is
 * its owner's alone, who is the one that called sudo. Returns 0; -EEXIST when there is one; errno of open.
 */
static int make_file(struct record_file *file)
{
	const long uid = sudo_number("SUDO_UID"), gid = sudo_number("SUDO_GID");
	int fd = open(file->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, 0600);

	if (fd < 0)
		return -errno;
	if (uid > 0 && gid >= 0)
		(void)!fchown(fd, (uid_t)uid, (gid_t)gid);
	file->is_made = !fstat(fd, &file->made);
	(void)close(fd);
	return 0;
}

/* A name made of the time, with a number where another recording of the same second has it. */
static int choose_name(struct record_file *file)
{
	char moment[32], name[64];
	time_t now = time(NULL);
	struct tm local;
	int result = -EEXIST;

	(void)localtime_r(&now, &local);
	(void)strftime(moment, sizeof(moment), "etw-%Y%m%d-%H%M%S", &local);
	for (int i = 1; i <= NAMES_MAX && result == -EEXIST; i++) {
		if (i == 1)
			(void)snprintf(name, sizeof(name), "%s.etl", moment);
		else
			(void)snprintf(name, sizeof(name), "%s-%d.etl", moment, i);
		TRY(set_path(file, name));
		result = make_file(file);
	}
	return result;
}

/* Whether a file is a trace, or cannot be read, and the host may find out. */
static bool is_trace(const char *path)
{
	CLEANUP(etw_trace_closep) struct etw_trace *trace = NULL;
	struct etw_fault fault;

	return etw_trace_open(path, &trace, &fault) != -EBADMSG;
}

int record_file_choose(struct record_file *file, const char *output, bool force)
{
	struct stat info;
	int result;

	if (!output)
		return choose_name(file);
	TRY(set_path(file, output));
	result = make_file(file);
	if (result != -EEXIST)
		return result;
	/* A trace that somebody named is overwritten, where the host may. */
	if (stat(file->path, &info))
		return -errno;
	if (!S_ISREG(info.st_mode))
		return S_ISDIR(info.st_mode) ? -EISDIR : -ESPIPE;
	return force || !info.st_size || is_trace(file->path) ? 0 : -EEXIST;
}

const char *record_file_why_none(int error)
{
	return error == -ESPIPE   ? "it is no regular file"
	       : error == -EEXIST ? "it is there already and is no trace; --force overwrites it"
	       : error == -EILSEQ ? "its path is no UTF-8, and would not fit into a trace"
				  : strerror(-error);
}

void record_file_drop(const struct record_file *file)
{
	struct stat info;

	if (file->is_made && !stat(file->path, &info) && !info.st_size &&
	    info.st_dev == file->made.st_dev && info.st_ino == file->made.st_ino)
		(void)unlink(file->path);
}
