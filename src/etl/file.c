/* SPDX-License-Identifier: MIT */
#include "etl/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int etw_etl_file_open(const char *path, struct etw_etl_file *ret)
{
	struct stat stat;
	/* A pipe without a writer is refused as one with a writer is, and not waited for. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	int result = 0;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &stat))
		result = -errno;
	else if (S_ISDIR(stat.st_mode))
		result = -EISDIR;
	else if (lseek(fd, 0, SEEK_SET) < 0)
		result = -errno;
	if (result) {
		(void)close(fd);
		return result;
	}
	*ret = (struct etw_etl_file){.fd = fd, .bytes = (uint64_t)stat.st_size};
	return 0;
}

void etw_etl_file_memory(const uint8_t *memory, uint64_t bytes, struct etw_etl_file *ret)
{
	*ret = (struct etw_etl_file){.fd = -1, .memory = memory, .bytes = bytes};
}

void etw_etl_file_close(struct etw_etl_file *file)
{
	if (!file->memory && file->fd >= 0)
		(void)close(file->fd);
	*file = (struct etw_etl_file){.fd = -1};
}

int etw_etl_file_read(const struct etw_etl_file *file, uint64_t offset, uint8_t *to, size_t bytes,
		      size_t *ret_count)
{
	size_t done = 0;

	if (file->memory) {
		if (offset < file->bytes) {
			uint64_t left = file->bytes - offset;

			done = left < bytes ? (size_t)left : bytes;
			if (done) /* @to may be NULL when nothing is asked for */
				memcpy(to, file->memory + offset, done);
		}
		*ret_count = done;
		return 0;
	}
	while (done < bytes) {
		ssize_t count = pread(file->fd, to + done, bytes - done, (off_t)(offset + done));

		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0)
			return -errno;
		if (!count)
			break;
		done += (size_t)count;
	}
	*ret_count = done;
	return 0;
}
