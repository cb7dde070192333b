/* SPDX-License-Identifier: MIT */
#include "source/kernel/machine/facts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/file.h"
#include "base/macros.h"

#define NUMBER_BYTES 32
#define BLANKS       " \t\r\n"

/* Returns whether the path has room. */
static bool make_path(char path[ETW_KERNEL_FACT_PATH_BYTES], const char *root, const char *format,
		      va_list list)
{
	size_t bytes = strlen(root);
	int more;

	if (bytes + 1 >= ETW_KERNEL_FACT_PATH_BYTES)
		return false;
	memcpy(path, root, bytes);
	path[bytes++] = '/';
	more = vsnprintf(path + bytes, ETW_KERNEL_FACT_PATH_BYTES - bytes, format, list);
	return more >= 0 && (size_t)more < ETW_KERNEL_FACT_PATH_BYTES - bytes;
}

static void trim(char *text)
{
	size_t blank = strspn(text, BLANKS), bytes;

	if (blank)
		memmove(text, text + blank, strlen(text + blank) + 1);
	bytes = strlen(text);
	while (bytes && strchr(BLANKS, text[bytes - 1]))
		text[--bytes] = '\0';
}

/* What might block, such as a FIFO, is opened without waiting and gives nothing. */
static bool read_text(const char *path, char *to, size_t room)
{
	CLEANUP(etw_file_closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	size_t bytes;

	to[0] = '\0';
	if (fd < 0 || etw_file_read_all(fd, to, room - 1, &bytes)) {
		to[0] = '\0';
		return false;
	}
	to[bytes] = '\0';
	trim(to);
	return true;
}

bool etw_kernel_fact_text(const char *root, char *to, size_t room, const char *format, ...)
{
	char path[ETW_KERNEL_FACT_PATH_BYTES];
	va_list list;
	bool has_room;

	to[0] = '\0';
	va_start(list, format);
	has_room = make_path(path, root, format, list);
	va_end(list);
	return has_room && read_text(path, to, room);
}

uint64_t etw_kernel_fact_number(const char *root, uint64_t otherwise, const char *format, ...)
{
	char path[ETW_KERNEL_FACT_PATH_BYTES], text[NUMBER_BYTES], *end;
	unsigned long long value;
	va_list list;
	bool has_room;

	va_start(list, format);
	has_room = make_path(path, root, format, list);
	va_end(list);
	if (!has_room || !read_text(path, text, sizeof(text)) || text[0] < '0' || text[0] > '9')
		return otherwise;
	errno = 0;
	value = strtoull(text, &end, 0);
	return errno || *end ? otherwise : value;
}

bool etw_kernel_fact_link(const char *root, char *to, size_t room, const char *format, ...)
{
	char path[ETW_KERNEL_FACT_PATH_BYTES];
	ssize_t bytes = -1;
	va_list list;

	va_start(list, format);
	if (make_path(path, root, format, list))
		bytes = readlink(path, to, room - 1);
	va_end(list);
	to[bytes > 0 ? bytes : 0] = '\0';
	return bytes > 0;
}

bool etw_kernel_fact_exists(const char *root, const char *format, ...)
{
	char path[ETW_KERNEL_FACT_PATH_BYTES];
	va_list list;
	bool exists;

	va_start(list, format);
	exists = make_path(path, root, format, list) && access(path, F_OK) == 0;
	va_end(list);
	return exists;
}

uint64_t etw_kernel_fact_device(const char *root, const char *format, ...)
{
	char path[ETW_KERNEL_FACT_PATH_BYTES], text[NUMBER_BYTES];
	unsigned major_number, minor_number;
	va_list list;
	bool has_room;

	va_start(list, format);
	has_room = make_path(path, root, format, list);
	va_end(list);
	if (!has_room || !read_text(path, text, sizeof(text)))
		return 0;
	if (sscanf(text, "%u:%u", &major_number, &minor_number) != 2)
		return 0;
	return makedev(major_number, minor_number);
}

static int is_shown(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

void etw_kernel_fact_list(const char *root, const char *path, etw_kernel_fact_told *told,
			  void *context)
{
	char full[ETW_KERNEL_FACT_PATH_BYTES];
	struct dirent **entries;
	bool goes_on = true;
	int count, bytes;

	bytes = snprintf(full, sizeof(full), "%s/%s", root, path);
	if (bytes < 0 || (size_t)bytes >= sizeof(full))
		return;
	count = scandir(full, &entries, is_shown, versionsort);
	for (int i = 0; i < count; i++) {
		goes_on = goes_on && told(context, entries[i]->d_name);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
}

const char *etw_kernel_fact_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

void etw_kernel_fact_mask(const char *text, uint64_t *ret, size_t count)
{
	const char *end = text + strlen(text);
	size_t word = 0;

	memset(ret, 0, count * sizeof(*ret));
	while (end > text) {
		const char *comma = memrchr(text, ',', (size_t)(end - text));
		const char *start = comma ? comma + 1 : text;
		uint64_t value = (uint32_t)strtoul(start, NULL, 16);

		if (word / 2 < count)
			ret[word / 2] |= value << (word % 2 * 32);
		word++;
		if (!comma)
			return;
		end = comma;
	}
}

void etw_kernel_fact_processors(const char *text, uint64_t *ret, size_t count)
{
	memset(ret, 0, count * sizeof(*ret));
	while (*text >= '0' && *text <= '9') {
		char *end;
		unsigned long first = strtoul(text, &end, 10), last = first;

		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		for (unsigned long i = first; i <= last && i < count * 64; i++)
			ret[i / 64] |= UINT64_C(1) << (i % 64);
		if (*end != ',')
			return;
		text = end + 1;
	}
}
