/* SPDX-License-Identifier: MIT */
/* See log.h. */
#include "daemon/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#define LINE_BYTES 1024

static int log_fd = STDERR_FILENO;

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

/* Names come from other processes: nothing in them may start a line or move a cursor. */
static void clean(char *line, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++) {
		unsigned char c = (unsigned char)line[i];

		if (c < 0x20 || c == 0x7F)
			line[i] = '?';
	}
}

void etwd_log(const char *format, ...)
{
	char line[LINE_BYTES];
	va_list arguments;
	int head, body;
	size_t bytes;

	head = snprintf(line, sizeof(line), "etwd[%d]: ", (int)getpid());
	va_start(arguments, format);
	body = vsnprintf(line + head, sizeof(line) - (size_t)head - 1, format, arguments);
	va_end(arguments);
	if (body < 0)
		return;
	bytes = (size_t)head + (size_t)body;
	if (bytes > sizeof(line) - 2)
		bytes = sizeof(line) - 2;
	clean(line, bytes);
	line[bytes++] = '\n';
	if (write(log_fd, line, bytes) < 0)
		return; /* nobody is left to be told */
}
