/* SPDX-License-Identifier: MIT */
/* See failure.h. The directory may be one that others can write to, so that no link is followed in it. */
#include "ipc/failure.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/macros.h"
#include "base/utf.h"

#define NEW_FILE  "failure.new"
#define ERRNO_MAX 4095

static int open_directory(const char *directory, int *ret)
{
	int fd = open(directory, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	*ret = fd;
	return 0;
}

/* A host writes into its own directory only. */
static int check_directory(int folder)
{
	struct stat info;

	if (fstat(folder, &info) < 0)
		return -errno;
	return info.st_uid != geteuid() || (info.st_mode & (S_IWGRP | S_IWOTH)) ? -EPERM : 0;
}

int etw_failure_write(const char *directory, int error, const char *text)
{
	CLEANUP(etw_file_closep) int folder = -1;
	CLEANUP(etw_file_closep) int file = -1;
	char line[ETW_FAILURE_LINE_ROOM];
	char sentence[ETW_FAILURE_TEXT_MAX + 1];
	int chars;

	if (error <= 0 || error > ERRNO_MAX)
		return -EINVAL;
	(void)snprintf(sentence, sizeof(sentence), "%s", text);
	etw_utf8_clean_line(sentence, strlen(sentence));
	chars = snprintf(line, sizeof(line), "%d %s\n", error, sentence);
	TRY(open_directory(directory, &folder));
	TRY(check_directory(folder));
	(void)unlinkat(folder, NEW_FILE, 0);
	file = openat(folder, NEW_FILE, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	/* The mask of the caller must not hide it from other users of the system's host. */
	if (file < 0 || fchmod(file, 0644) < 0)
		return -errno;
	TRY(etw_file_write_all(file, line, (size_t)chars));
	return renameat(folder, NEW_FILE, folder, ETW_FAILURE_FILE) < 0 ? -errno : 0;
}

void etw_failure_clear(const char *directory)
{
	CLEANUP(etw_file_closep) int folder = -1;

	if (open_directory(directory, &folder) == 0 && check_directory(folder) == 0)
		(void)unlinkat(folder, ETW_FAILURE_FILE, 0);
}

static int parse(char *line, struct etw_failure *ret)
{
	char *end = strchr(line, '\n');
	char *text;
	long error;

	if (!end)
		return -EPROTO;
	*end = '\0';
	if (*line < '0' || *line > '9')
		return -EPROTO;
	error = strtol(line, &text, 10);
	if (error <= 0 || error > ERRNO_MAX || *text != ' ' ||
	    strlen(text + 1) > ETW_FAILURE_TEXT_MAX)
		return -EPROTO;
	text++;
	etw_utf8_clean_line(text, strlen(text));
	ret->error = (int)error;
	memcpy(ret->text, text, strlen(text) + 1);
	return 0;
}

int etw_failure_read(const char *directory, struct etw_failure *ret)
{
	CLEANUP(etw_file_closep) int folder = -1;
	CLEANUP(etw_file_closep) int file = -1;
	char line[ETW_FAILURE_LINE_ROOM];
	struct stat info;
	size_t bytes;

	TRY(open_directory(directory, &folder));
	file = openat(folder, ETW_FAILURE_FILE, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (file < 0)
		return errno == ELOOP ? -EPERM : -errno;
	if (fstat(file, &info) < 0)
		return -errno;
	if (!S_ISREG(info.st_mode) || (info.st_uid != 0 && info.st_uid != geteuid()) ||
	    (info.st_mode & (S_IWGRP | S_IWOTH)))
		return -EPERM;
	TRY(etw_file_read_all(file, line, sizeof(line) - 1, &bytes));
	line[bytes] = '\0';
	return parse(line, ret);
}
