/* SPDX-License-Identifier: MIT */
/* See log.h. */
#include "daemon/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/utf.h"

#define LINE_BYTES 1024
#define WINDOW_S   10

static int log_fd = STDERR_FILENO;

/* Lines of this window, the left out ones included; atomic. */
static uint32_t window, line_count;

int etwd_log_open(const char *path)
{
	int fd = STDERR_FILENO;

	if (path) {
		fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0600);
		if (fd < 0)
			return -errno;
	}
	if (log_fd != STDERR_FILENO)
		close(log_fd);
	log_fd = fd;
	return 0;
}

static void put(char *line, size_t bytes)
{
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
	if (bytes > sizeof(line) - 2)
		bytes = sizeof(line) - 2;
	put(line, bytes);
}
