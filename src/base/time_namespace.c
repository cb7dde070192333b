/* SPDX-License-Identifier: MIT */
/* See time_namespace.h. Without stdio, because it runs in forked children of processes with many threads. */
#include "base/time_namespace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/macros.h"
#include "base/time.h"

#define INITIAL    UINT64_C(0xEFFFFFFA) /* the inode is part of Linux' interface */
#define TEXT_BYTES 256

static bool take_number(const char **at, int64_t *ret)
{
	bool is_negative;
	int64_t value = 0;

	*at += strspn(*at, " ");
	is_negative = **at == '-';
	*at += is_negative;
	if (**at < '0' || **at > '9')
		return false;
	for (; **at >= '0' && **at <= '9'; ++*at) {
		if (__builtin_mul_overflow(value, INT64_C(10), &value) ||
		    __builtin_add_overflow(value, **at - '0', &value))
			return false;
	}
	*ret = is_negative ? -value : value;
	return true;
}

/* Of a line "monotonic  86400  0": seconds, and nanoseconds that are added. */
static bool take_offset(const char *text, const char *name, int64_t *ret)
{
	const char *at = strstr(text, name);
	int64_t seconds, ns;

	if (!at)
		return false;
	at += strlen(name);
	return take_number(&at, &seconds) && take_number(&at, &ns) &&
	       !__builtin_mul_overflow(seconds, (int64_t)ETW_NS_PER_S, &seconds) &&
	       !__builtin_add_overflow(seconds, ns, ret);
}

static int read_offsets(struct etw_time_namespace *ret)
{
	struct etw_time_namespace found;
	char text[TEXT_BYTES];
	int fd = open("/proc/self/timens_offsets", O_RDONLY | O_CLOEXEC);
	ssize_t bytes;

	if (fd < 0)
		return -ENOENT;
	bytes = read(fd, text, sizeof(text) - 1);
	(void)close(fd);
	if (bytes < 0)
		return -EPROTO;
	text[bytes] = '\0';
	if (!take_offset(text, "monotonic", &found.monotonic_ns) ||
	    !take_offset(text, "boottime", &found.boottime_ns))
		return -EPROTO;
	*ret = found;
	return 0;
}

int etw_time_namespace_read(struct etw_time_namespace *ret)
{
	struct stat own, children;

	if (stat("/proc/self/ns/time", &own) < 0 ||
	    stat("/proc/self/ns/time_for_children", &children) < 0)
		return -ENOENT;
	if (own.st_ino == INITIAL) {
		*ret = (struct etw_time_namespace){0};
		return 0;
	}
	/* The file tells of the children's; see proc_timens_show_offsets() of Linux. */
	if (own.st_ino != children.st_ino)
		return -EAGAIN;
	return read_offsets(ret);
}
