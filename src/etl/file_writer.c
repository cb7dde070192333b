/* SPDX-License-Identifier: MIT */
#include "etl/file_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/file.h>
#include <sys/fsuid.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/macros.h"
#include "base/root_path.h"
#include "wire/etl_logfile.h"

static const uint64_t kib = 1024;

uint64_t etw_etl_file_limit(uint32_t maximum_file_size, uint32_t log_file_mode)
{
	bool is_kib = log_file_mode & WIRE_LOGFILE_MODE_KBYTES;

	return maximum_file_size * (is_kib ? kib : kib * kib);
}

void etw_etl_file_writer_adopt(int fd, uint32_t buffer_bytes, uint64_t limit_bytes,
			       uint64_t next_offset, struct etw_etl_file_writer *ret)
{
	*ret = (struct etw_etl_file_writer){
		.fd = fd,
		.buffer_bytes = buffer_bytes,
		.next_offset = next_offset,
		.limit_offset = limit_bytes ? limit_bytes : UINT64_MAX,
	};
}

/*
 * A trace is an ordinary file, and one session's. The lock is the open file's, wherever its descriptor goes,
 * so a host that dies leaves it to the next one. Some file systems have none: there nobody looks.
 */
static int take_file(int fd)
{
	struct stat info;

	if (fstat(fd, &info))
		return -errno;
	/* Memory is a file without a name, and what is written to such a one nobody finds. */
	if (!S_ISREG(info.st_mode) || info.st_nlink == 0)
		return -EINVAL;
	return flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK ? -ETXTBSY : 0;
}

/*
 * The path is somebody else's. Through /proc/self/fd it would lead to the descriptors of this process: to memory
 * that anybody may open, and past the folders around a file.
 */
static int open_path(const char *path, mode_t mode)
{
	/* O_NONBLOCK: a pipe under that name is refused later, and holds nobody up. */
	const int flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
	struct open_how how = {
		.flags = (unsigned)flags, .mode = mode & 07777, .resolve = RESOLVE_NO_MAGICLINKS};
	int fd;

	/* With root's rights: what other users have a part in leads nowhere else. */
	if ((uid_t)setfsuid((uid_t)-1) == 0)
		return etw_root_path_open(path, flags, mode & 07777);
	fd = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));

	/* Before Linux 5.6, and where a filter does not know it: memory is refused anyway. */
	if (fd < 0 && (errno == ENOSYS || errno == EPERM))
		fd = open(path, flags, mode);
	return fd < 0 ? -errno : fd;
}

int etw_etl_file_writer_open_as_is(const char *path, mode_t mode, uint32_t buffer_bytes,
				   uint64_t limit_bytes, struct etw_etl_file_writer *ret)
{
	int fd, result;

	if (!buffer_bytes)
		return -EINVAL;
	if (limit_bytes && limit_bytes < 2 * (uint64_t)buffer_bytes)
		return -EFBIG;
	fd = open_path(path, mode);
	if (fd < 0)
		return fd;
	result = take_file(fd);
	if (result) {
		(void)close(fd);
		return result;
	}
	etw_etl_file_writer_adopt(fd, buffer_bytes, limit_bytes, buffer_bytes, ret);
	return 0;
}

int etw_etl_file_writer_open(const char *path, mode_t mode, uint32_t buffer_bytes,
			     uint64_t limit_bytes, struct etw_etl_file_writer *ret)
{
	struct etw_etl_file_writer writer;
	int result;

	TRY(etw_etl_file_writer_open_as_is(path, mode, buffer_bytes, limit_bytes, &writer));
	result = ftruncate(writer.fd, 0) ? -errno : 0;
	if (result)
		etw_etl_file_writer_close(&writer);
	else
		*ret = writer;
	return result;
}

/* Behind the last whole buffer that the limit allows. */
static uint64_t whole_limit(const struct etw_etl_file_writer *writer)
{
	return writer->limit_offset - writer->limit_offset % writer->buffer_bytes;
}

uint64_t etw_etl_file_writer_place(const struct etw_etl_file_writer *writer, uint64_t offset)
{
	uint64_t first = writer->buffer_bytes;

	if (!writer->is_circular || offset < first)
		return offset;
	return first + (offset - first) % (whole_limit(writer) - first);
}

bool etw_etl_file_writer_has_room(const struct etw_etl_file_writer *writer)
{
	if (writer->is_circular)
		return true;
	return writer->next_offset <= writer->limit_offset &&
	       writer->buffer_bytes <= writer->limit_offset - writer->next_offset;
}

int etw_etl_file_writer_claim(struct etw_etl_file_writer *writer, uint64_t *ret_offset)
{
	if (!etw_etl_file_writer_has_room(writer))
		return -EFBIG;
	*ret_offset = writer->next_offset;
	writer->next_offset += writer->buffer_bytes;
	return 0;
}

void etw_etl_file_writer_unclaim(struct etw_etl_file_writer *writer)
{
	if (writer->next_offset > writer->buffer_bytes)
		writer->next_offset -= writer->buffer_bytes;
}

/* pwrite() beyond RLIMIT_FSIZE would not only fail but kill the process by SIGXFSZ. */
static bool is_within_rlimit(uint64_t end)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur == RLIM_INFINITY ||
	       end <= limit.rlim_cur;
}

static int write_all(int fd, uint64_t offset, const uint8_t *bytes, uint32_t byte_count)
{
	uint32_t done = 0;

	while (done < byte_count) {
		ssize_t count = pwrite(fd, bytes + done, byte_count - done, (off_t)(offset + done));

		if (count < 0 && errno != EINTR)
			return -errno;
		if (count == 0)
			return -EIO; /* no file system does this; it must not become a loop */
		if (count > 0)
			done += (uint32_t)count;
	}
	return 0;
}

int etw_etl_file_writer_preallocate(const struct etw_etl_file_writer *writer)
{
	if (!is_within_rlimit(whole_limit(writer)))
		return -EFBIG;
	return -posix_fallocate(writer->fd, 0, (off_t)whole_limit(writer));
}

int etw_etl_file_writer_put(struct etw_etl_file_writer *writer, uint64_t offset,
			    const uint8_t *buffer)
{
	bool is_packed = writer->packer && offset != 0;
	uint32_t bytes = offset || !writer->header_bytes ? writer->buffer_bytes
							 : writer->header_bytes;
	uint64_t place = etw_etl_file_writer_place(writer, offset);

	if (is_packed)
		bytes = etw_etl_packer_pack(writer->packer, buffer, &buffer);
	if (!is_within_rlimit(place + bytes))
		return -EFBIG;
	TRY(write_all(writer->fd, place, buffer, bytes));
	if (is_packed)
		writer->next_offset = offset + bytes;
	return 0;
}

/* A buffer that was claimed and failed, or one of a host that died, leaves bytes that no header counts. */
static int cut_behind(const struct etw_etl_file_writer *writer)
{
	off_t end = lseek(writer->fd, 0, SEEK_END);
	uint64_t needed = writer->next_offset;

	if (writer->is_circular && needed > whole_limit(writer))
		needed = whole_limit(writer);
	if (end < 0)
		return -errno;
	if ((uint64_t)end <= needed)
		return 0;
	return ftruncate(writer->fd, (off_t)needed) ? -errno : 0;
}

int etw_etl_file_writer_finish(struct etw_etl_file_writer *writer, const uint8_t *header_buffer,
			       bool is_synced)
{
	int result = etw_etl_file_writer_put(writer, 0, header_buffer);
	int cut = cut_behind(writer);

	if (!result)
		result = cut;
	if (is_synced && fsync(writer->fd) && !result)
		result = -errno;
	return result;
}

void etw_etl_file_writer_close(struct etw_etl_file_writer *writer)
{
	if (writer->fd >= 0) {
		/* Somebody who keeps the descriptor for a later host may close it a little later. */
		(void)flock(writer->fd, LOCK_UN);
		(void)close(writer->fd);
	}
	writer->fd = -1;
}
