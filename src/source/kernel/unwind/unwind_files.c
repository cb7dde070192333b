/* SPDX-License-Identifier: MIT */
#include "source/kernel/unwind/unwind_files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"
#include "base/macros.h"
#include "base/time.h"
#include "source/kernel/procfs/procfs.h"
#include "source/kernel/procfs/vdso.h"

/* The mapping of an image's code, as procfs has it now. */
struct wanted {
	struct etw_kernel_build_ids *local;
	const struct etw_kernel_image *image;
	int process_fd;
	int fd; /* owned by who asked; -1: none yet */
	uint32_t lines_left;
};

static int look_at_mapping(void *context, const struct etw_kernel_proc_mapping *mapping)
{
	struct wanted *wanted = context;
	struct stat status;
	char path[64];

	if (!mapping->is_executable || mapping->start < wanted->image->base ||
	    mapping->start >= wanted->image->end ||
	    !etw_kernel_build_ids_is_local(wanted->local, mapping->device))
		return 0;
	(void)snprintf(path, sizeof(path), "map_files/%" PRIx64 "-%" PRIx64, mapping->start,
		       mapping->end);
	/* Opening a device is an act of its own; a mapping's file stays what it is. */
	if (fstatat(wanted->process_fd, path, &status, 0) < 0 || !S_ISREG(status.st_mode))
		return -ENOENT;
	wanted->fd = openat(wanted->process_fd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	return wanted->fd < 0 ? -errno : 1;
}

/* Whether the directory is that of the owner, and not of another process that has its number now. */
static bool is_of(int process_fd, const struct etw_kernel_stack_owner *owner)
{
	struct etw_kernel_proc_task task;

	return !owner->start_ticks || (etw_kernel_proc_read_task(process_fd, &task) == 0 &&
				       task.start_ticks == owner->start_ticks);
}

/* Returns an owned descriptor of /proc/<pid>, or negative errno. */
static int open_process(const char *root, uint32_t pid)
{
	int fd, root_fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (root_fd < 0)
		return -errno;
	fd = etw_kernel_proc_open(root_fd, pid);
	close(root_fd);
	return fd;
}

uint32_t etw_kernel_unwind_uid(const char *root, const struct etw_kernel_stack_owner *owner)
{
	int fd = open_process(root, owner->pid);
	uint32_t uid = owner->uid;

	if (fd < 0)
		return uid;
	(void)etw_kernel_proc_read_uid(fd, &uid);
	close(fd);
	return uid;
}

/* Returns an owned descriptor of the file that lies where the image does, or negative errno. */
static int open_mapped(const char *root, struct etw_kernel_build_ids *local,
		       const struct etw_kernel_stack_owner *owner,
		       const struct etw_kernel_image *image, uint32_t *ret_lines)
{
	struct wanted wanted = {.local = local,
				.image = image,
				.process_fd = open_process(root, owner->pid),
				.fd = -1,
				.lines_left = ETW_KERNEL_LOOK_LINES};

	if (wanted.process_fd < 0)
		return wanted.process_fd;
	if (is_of(wanted.process_fd, owner))
		(void)etw_kernel_proc_read_some_maps(wanted.process_fd, &wanted.lines_left,
						     look_at_mapping, &wanted);
	close(wanted.process_fd);
	*ret_lines = ETW_KERNEL_LOOK_LINES - wanted.lines_left;
	return wanted.fd < 0 ? -ENOENT : wanted.fd;
}

/*
 * By its path, when the process is gone. The path is what the process says: no step of it may lead to another mount, where
 * looking might wait for somebody, and what is there is opened when it was seen to be a plain file.
 */
static int open_path(struct etw_kernel_build_ids *local, const struct etw_kernel_image *image)
{
	const struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_NO_XDEV | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};
	const char *path = etw_kernel_text_string(image->path);
	struct stat status;
	int place_fd, fd = -ENOENT;

	if (path[0] != '/')
		return -ENOENT;
	place_fd = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));
	if (place_fd < 0)
		return -errno;
	if (fstat(place_fd, &status) == 0 && etw_kernel_build_ids_is_local(local, status.st_dev))
		fd = etw_file_open_place(place_fd);
	close(place_fd);
	return fd;
}

/*
 * Whether nobody but root can have written what is in it: a file of root's that others may not write, wherever it lies, is
 * what root made of it. Not where the kernel itself gives a file's owner no weight: a disk that a user brought along has files
 * of root's that root has never seen.
 */
static bool is_roots_alone(int fd, const struct stat *status)
{
	struct statvfs system;

	return status->st_uid == 0 && !(status->st_mode & (S_IWGRP | S_IWOTH)) &&
	       fstatvfs(fd, &system) == 0 && !(system.f_flag & ST_NOSUID);
}

static int describe(struct etw_kernel_unwind_file *file)
{
	struct stat status;

	if (fstat(file->fd, &status) < 0)
		return -errno;
	file->is_shared = is_roots_alone(file->fd, &status);
	file->uid = file->is_shared || status.st_uid ? status.st_uid : ETW_KERNEL_NO_UID;
	file->device = status.st_dev;
	file->inode = status.st_ino;
	file->changed_ns = (uint64_t)status.st_ctim.tv_sec * ETW_NS_PER_S +
			   (uint64_t)status.st_ctim.tv_nsec;
	file->byte_count = (uint64_t)status.st_size;
	return 0;
}

static bool is_build(int fd, const struct etw_kernel_image *image)
{
	uint8_t build_id[ETW_KERNEL_BUILD_ID_BYTES];

	return etw_kernel_build_id_read(fd, build_id) == image->build_id_bytes &&
	       memcmp(build_id, image->build_id, image->build_id_bytes) == 0;
}

/* Of any process' path one may say what lies there, but not that it is what the process mapped. */
static int open_for(const char *root, struct etw_kernel_build_ids *local,
		    const struct etw_kernel_stack_owner *owner,
		    const struct etw_kernel_image *image, struct etw_kernel_unwind_file *ret)
{
	/* It lies in no file, and is the same in all processes. */
	if (etw_kernel_is_vdso(etw_kernel_text_string(image->path))) {
		ret->is_shared = true;
		ret->fd = etw_kernel_vdso_open();
		return ret->fd < 0 ? ret->fd : 0;
	}
	ret->fd = open_mapped(root, local, owner, image, &ret->line_count);
	if (ret->fd >= 0)
		return describe(ret);
	ret->fd = open_path(local, image);
	if (ret->fd < 0)
		return ret->fd;
	TRY(describe(ret));
	return ret->is_shared || (ret->uid == owner->uid && ret->uid != ETW_KERNEL_NO_UID)
		       ? 0
		       : -EACCES;
}

int etw_kernel_unwind_file_open(const char *root, struct etw_kernel_build_ids *local,
				const struct etw_kernel_stack_owner *owner,
				const struct etw_kernel_image *image,
				struct etw_kernel_unwind_file *ret)
{
	struct etw_kernel_unwind_file file = {.fd = -1};
	int r = open_for(root, local, owner, image, &file);

	if (!r && !is_build(file.fd, image))
		r = -ENOENT;
	if (r && file.fd >= 0)
		close(file.fd);
	if (r)
		file.fd = -1;
	*ret = file;
	return r;
}
