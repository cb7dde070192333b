/* SPDX-License-Identifier: MIT */
#include "tools/common/overwrite.h"

#include <ctype.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/common/program.h"

#define HEAD_BYTES 1024

/* "2011-01-23T22:06:37.", with any digits */
static bool begins_with_date(const char *at)
{
	static const char form[] = "0000-00-00T00:00:00.";

	for (size_t i = 0; form[i]; i++) {
		if (form[i] == '0' ? !isdigit((unsigned char)at[i]) : at[i] != form[i])
			return false;
	}
	return true;
}

/* "    +1.5000000 " or "    -0.0000001 " */
static bool begins_with_distance(const char *at)
{
	size_t digits;

	at += strspn(at, " ");
	if (*at != '+' && *at != '-')
		return false;
	digits = strspn(at + 1, "0123456789");
	return digits && at[1 + digits] == '.' && strspn(at + digits + 2, "0123456789") == 7 &&
	       (at[digits + 9] == ' ' || at[digits + 9] == '\033');
}

/* "129402939974768585   3      7      8 ": raw time and three columns */
static bool begins_with_raw_time(const char *at)
{
	at += *at == '-';
	for (int column = 0; column < 4; column++) {
		size_t digits = strspn(at, "0123456789");

		digits += !digits && column && *at == '-';
		if (!digits || at[digits] != ' ')
			return false;
		at += digits;
		at += strspn(at, " ");
	}
	return true;
}

bool etw_overwrite_is_events(const char *head, size_t bytes)
{
	static const char json[] = "{\"time\":\"", dim[] = "\033[2m";

	(void)bytes;
	if (!strncmp(head, dim, sizeof(dim) - 1))
		head += sizeof(dim) - 1;
	return !strncmp(head, json, sizeof(json) - 1) || begins_with_date(head) ||
	       begins_with_distance(head) || begins_with_raw_time(head);
}

bool etw_overwrite_is_manifest(const char *head, size_t bytes)
{
	(void)bytes;
	return strstr(head, "instrumentationManifest") != NULL;
}

bool etw_overwrite_allowed(const char *path, etw_overwrite_kind *is_own, const char *what)
{
	char head[HEAD_BYTES + 1];
	struct stat info;
	ssize_t got;
	int fd;

	if (stat(path, &info) || !S_ISREG(info.st_mode) || !info.st_size)
		return true;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return true;
	got = read(fd, head, HEAD_BYTES);
	(void)close(fd);
	if (got < 0)
		return true;
	head[got] = '\0';
	if (is_own(head, (size_t)got))
		return true;
	etw_program_message("%s is there already and is not %s; --force overwrites it", path, what);
	return false;
}

bool etw_overwrite_spares(const char *path, const char *input, const char *what)
{
	struct stat output, read;

	if (stat(path, &output) || stat(input, &read) || output.st_dev != read.st_dev ||
	    output.st_ino != read.st_ino)
		return true;
	etw_program_message("%s is %s, which is read; give another file", path, what);
	return false;
}
