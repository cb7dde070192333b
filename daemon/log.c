/* SPDX-License-Identifier: MIT */
/* See log.h. */
#include "daemon/log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/utf.h"

#define LINE_BYTES 1024
#define WINDOW_S   10

#define OPEN_FLAGS (O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY)

static int log_fd = STDERR_FILENO;
static char
	*log_path; /* of the file; the host leaves its working directory. NULL: it has no name */
static bool is_rotating; /* by one thread at a time; atomic */

/* Lines of this window, the left out ones included; atomic. */
static uint32_t window, line_count;

int etwd_log_open(const char *path)
{
	int fd = STDERR_FILENO;

	if (path) {
		fd = open(path, OPEN_FLAGS, 0600);
		if (fd < 0)
			return -errno;
	}
	if (log_fd != STDERR_FILENO)
		close(log_fd);
	log_fd = fd;
	free(log_path);
	log_path = path ? realpath(path, NULL) : NULL;
	return 0;
}

/* In the place of the file that log_fd is; under the same number, for threads that are about to write to it. */
static void open_anew(void)
{
	int fd = open(log_path, OPEN_FLAGS | O_NOFOLLOW, 0600);

	if (fd < 0)
		return; /* it grows on */
	(void)dup3(fd, log_fd, O_CLOEXEC);
	close(fd);
}

/*
 * Another process may have renamed the file: then this one follows. The lock is the process', not the open
 * file's, which the keeper and the host share. Who does not get it leaves the matter to the next line.
 */
static void rotate(void)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	char old_path[PATH_MAX + 2];
	struct stat mine, named;

	if (fstat(log_fd, &mine) || !S_ISREG(mine.st_mode) || mine.st_size < ETWD_LOG_BYTES_MAX ||
	    fcntl(log_fd, F_SETLK, &lock) < 0)
		return;
	(void)snprintf(old_path, sizeof(old_path), "%s.1", log_path);
	if (stat(log_path, &named) == 0 && named.st_ino == mine.st_ino &&
	    named.st_dev == mine.st_dev && rename(log_path, old_path) < 0) {
		lock.l_type = F_UNLCK;
		(void)fcntl(log_fd, F_SETLK, &lock);
		return;
	}
	open_anew(); /* closes the old one, and with it the lock is gone */
}

static void keep_small(void)
{
	bool is_free = false;

	if (!log_path || !cas_acq_rel(&is_rotating, &is_free, true))
		return;
	rotate();
	store_release(&is_rotating, false);
}

static void put(char *line, size_t bytes)
{
	keep_small();
	etw_utf8_clean_line(line, bytes); /* names come from other processes */
	line[bytes++] = '\n';
	if (write(log_fd, line, bytes) < 0)
		return; /* nobody is left to be told */
}

/* Whether a line may still be written. Any process can make the host say something, as often as it likes. */
static bool has_room(void)
{
	char line[LINE_BYTES];
	struct timespec time = {0};
	uint32_t now, before = load_relaxed(&window), count = 0;

	(void)clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
	now = (uint32_t)(time.tv_sec / WINDOW_S);
	if (now != before && cas_relaxed(&window, &before, now))
		count = exchange_acq_rel(&line_count, 0u);
	if (count > ETWD_LOG_LINES_MAX)
		put(line,
		    (size_t)snprintf(line, sizeof(line) - 1, "etwd[%d]: %u lines were left out",
				     (int)getpid(), (unsigned)(count - ETWD_LOG_LINES_MAX)));
	return add_relaxed(&line_count, 1u) < ETWD_LOG_LINES_MAX;
}

void etwd_log(const char *format, ...)
{
	char line[LINE_BYTES];
	va_list arguments;
	int head, body;
	size_t bytes;

	if (!has_room())
		return;
	head = snprintf(line, sizeof(line), "etwd[%d]: ", (int)getpid());
	va_start(arguments, format);
	body = vsnprintf(line + head, sizeof(line) - (size_t)head - 1, format, arguments);
	va_end(arguments);
	if (body < 0)
		return;
	bytes = (size_t)head + (size_t)body;
	if (bytes > sizeof(line) - 2) {
		bytes = sizeof(line) - 2;
		memcpy(line + bytes - 3, "...", 3);
	}
	put(line, bytes);
}
