/* SPDX-License-Identifier: MIT */
/* The status files of AutoLoggers; see autologger/status.h. */
#include "autologger/status.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/macros.h"
#include "base/number.h"

#define FILE_BYTES_MAX 4096
#define BOOT_ID        "/proc/sys/kernel/random/boot_id"

static int read_u32(const char *value, uint32_t *ret)
{
	uint64_t number;

	if (!etw_number_parse(value, UINT32_MAX, &number))
		return -EPROTO;
	*ret = (uint32_t)number;
	return 0;
}

static int read_text(const char *value, char *room, size_t bytes)
{
	return snprintf(room, bytes, "%s", value) < (int)bytes ? 0 : -EPROTO;
}

/* "Name=value"; a name of a later version is passed over. */
static int read_line(char *line, struct etw_autologger_status *ret)
{
	char *value = strchr(line, '=');

	if (!value)
		return -EPROTO;
	*value++ = '\0';
	if (!strcmp(line, "Status"))
		return read_u32(value, &ret->status);
	if (!strcmp(line, "FileCounter"))
		return read_u32(value, &ret->file_counter);
	if (!strcmp(line, "StoppedInBoot"))
		return read_text(value, ret->stopped_in, sizeof(ret->stopped_in));
	if (!strcmp(line, "Reason"))
		return read_text(value, ret->reason, sizeof(ret->reason));
	return 0;
}

int etw_autologger_status_read(const char *folder, const char *name,
			       struct etw_autologger_status *ret)
{
	CLEANUP(freep) char *path = NULL;
	CLEANUP(freep) char *text = NULL;
	char *rest = NULL;
	size_t bytes;
	int result;

	memset(ret, 0, sizeof(*ret));
	if (asprintf(&path, "%s/%s", folder, name) < 0) {
		path = NULL;
		return -ENOMEM;
	}
	result = etw_file_read(path, FILE_BYTES_MAX, &text, &bytes);
	if (result == -ENOENT)
		return 0;
	TRY(result);
	if (memchr(text, '\0', bytes))
		return -EPROTO;
	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		TRY(read_line(line, ret));
	return 0;
}

int etw_autologger_status_write(const char *folder, const char *name,
				const struct etw_autologger_status *status)
{
	char text[FILE_BYTES_MAX];
	int chars = snprintf(text, sizeof(text),
			     "Status=%u\nFileCounter=%u\nStoppedInBoot=%s\nReason=%s\n",
			     (unsigned)status->status, (unsigned)status->file_counter,
			     status->stopped_in, status->reason);

	if (chars < 0 || chars >= (int)sizeof(text))
		return -EFBIG;
	return etw_file_replace(folder, 0755, name, 0644, text, (size_t)chars);
}

void etw_autologger_boot_id(char room[ETW_AUTOLOGGER_BOOT_BYTES])
{
	CLEANUP(etw_file_closep) int fd = open(BOOT_ID, O_RDONLY | O_CLOEXEC);
	size_t bytes = 0;

	if (fd < 0 || etw_file_read_all(fd, room, ETW_AUTOLOGGER_BOOT_BYTES - 1, &bytes) < 0)
		bytes = 0;
	room[bytes] = '\0';
}
