/* SPDX-License-Identifier: MIT */
/* Build ids of files. See build_id.h. */
#include "source/kernel/procfs/build_id.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/macros.h"

#define SEGMENTS_MAX 128
#define NOTES_MAX    8192 /* bytes of one segment of notes */
#define FIRST_ROOM   256

/* Where the program headers are, in either class. */
struct segments {
	uint64_t offset;
	uint32_t count, entry_bytes;
	bool is_64;
};

static int read_at(int fd, void *to, size_t bytes, uint64_t offset)
{
	ssize_t got;

	if (offset > INT64_MAX)
		return -EBADMSG;
	got = pread(fd, to, bytes, (off_t)offset);
	if (got < 0)
		return -errno;
	return (size_t)got == bytes ? 0 : -EBADMSG;
}

static int read_head(int fd, struct segments *ret)
{
	uint8_t head[sizeof(Elf64_Ehdr)];

	TRY(read_at(fd, head, sizeof(Elf32_Ehdr), 0));
	if (memcmp(head, ELFMAG, SELFMAG) != 0 || head[EI_DATA] != ELFDATA2LSB)
		return -EBADMSG;
	if (head[EI_CLASS] == ELFCLASS64) {
		TRY(read_at(fd, head, sizeof(head), 0));
		*ret = (struct segments){
			.offset = etw_load64(head + offsetof(Elf64_Ehdr, e_phoff)),
			.count = etw_load16(head + offsetof(Elf64_Ehdr, e_phnum)),
			.entry_bytes = sizeof(Elf64_Phdr),
			.is_64 = true,
		};
		return 0;
	}
	if (head[EI_CLASS] != ELFCLASS32)
		return -EBADMSG;
	*ret = (struct segments){
		.offset = etw_load32(head + offsetof(Elf32_Ehdr, e_phoff)),
		.count = etw_load16(head + offsetof(Elf32_Ehdr, e_phnum)),
		.entry_bytes = sizeof(Elf32_Phdr),
	};
	return 0;
}

/* Notes: three dwords, then name and contents, each padded to 4 bytes. */
int etw_kernel_build_id_of_notes(const uint8_t *at, size_t left, uint8_t *ret)
{
	struct etw_bytes notes = {at, left};
	uint32_t name_bytes, content_bytes, type;

	while (etw_bytes_u32(&notes, &name_bytes) && etw_bytes_u32(&notes, &content_bytes) &&
	       etw_bytes_u32(&notes, &type)) {
		const uint8_t *name, *content;

		if (name_bytes > notes.left || content_bytes > notes.left)
			return -EBADMSG;
		name = etw_bytes_take(&notes, ALIGN_UP((size_t)name_bytes, 4));
		content = etw_bytes_take(&notes, content_bytes);
		if (!name || !content)
			return -EBADMSG;
		if (type == NT_GNU_BUILD_ID && name_bytes == sizeof("GNU") &&
		    memcmp(name, "GNU", sizeof("GNU")) == 0) {
			if (content_bytes > ETW_KERNEL_BUILD_ID_BYTES)
				content_bytes = ETW_KERNEL_BUILD_ID_BYTES;
			memcpy(ret, content, content_bytes);
			return (int)content_bytes;
		}
		/* The last one may lack its padding. */
		content_bytes = -content_bytes & 3;
		(void)etw_bytes_take(&notes,
				     content_bytes < notes.left ? content_bytes : notes.left);
	}
	return 0;
}

static int search_segment(int fd, const struct segments *segments, uint32_t number, uint8_t *ret)
{
	uint8_t head[sizeof(Elf64_Phdr)], notes[NOTES_MAX];
	uint64_t offset, bytes;

	TRY(read_at(fd, head, segments->entry_bytes,
		    segments->offset + (uint64_t)number * segments->entry_bytes));
	if (etw_load32(head) != PT_NOTE)
		return 0;
	offset = segments->is_64 ? etw_load64(head + offsetof(Elf64_Phdr, p_offset))
				 : etw_load32(head + offsetof(Elf32_Phdr, p_offset));
	bytes = segments->is_64 ? etw_load64(head + offsetof(Elf64_Phdr, p_filesz))
				: etw_load32(head + offsetof(Elf32_Phdr, p_filesz));
	if (bytes > sizeof(notes))
		return 0;
	TRY(read_at(fd, notes, bytes, offset));
	return etw_kernel_build_id_of_notes(notes, bytes, ret);
}

int etw_kernel_build_id_read(int fd, uint8_t *ret)
{
	struct segments segments;

	TRY(read_head(fd, &segments));
	if (segments.count > SEGMENTS_MAX || segments.offset > INT64_MAX / 2)
		return -EBADMSG;
	for (uint32_t i = 0; i < segments.count; i++) {
		int r = search_segment(fd, &segments, i, ret);

		if (r)
			return r;
	}
	return 0;
}

static bool is_local(const char *type)
{
	static const char *const types[] = {
		"ext2",    "ext3",  "ext4",     "xfs",      "btrfs", "tmpfs", "ramfs",   "rootfs",
		"overlay", "erofs", "squashfs", "devtmpfs", "f2fs",  "zfs",   "bcachefs"};

	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (strcmp(type, types[i]) == 0)
			return true;
	return false;
}

/* "36 35 98:0 /root /mount options - type ...": the device, and the type behind the lone dash. */
static void take_mount(struct etw_kernel_build_ids *ids, const char *line)
{
	const char *rest = strstr(line, " - ");
	unsigned major_number, minor_number;
	char type[32];
	uint64_t *more;

	if (!rest || sscanf(line, "%*u %*u %u:%u", &major_number, &minor_number) != 2 ||
	    sscanf(rest, " - %31s", type) != 1 || !is_local(type))
		return;
	more = reallocarray(ids->devices, ids->device_count + 1, sizeof(*more));
	if (!more)
		return;
	ids->devices = more;
	ids->devices[ids->device_count++] = makedev(major_number, minor_number);
}

static void read_mounts(struct etw_kernel_build_ids *ids)
{
	FILE *file = fopen(ids->mountinfo, "re");
	CLEANUP(freep) char *line = NULL;
	size_t room = 0;

	ids->device_count = 0;
	if (!file)
		return;
	while (getline(&line, &room, file) > 0)
		take_mount(ids, line);
	fclose(file);
}

void etw_kernel_build_ids_init(struct etw_kernel_build_ids *ids, const char *mountinfo)
{
	/* Open before it is read: what changes meanwhile is seen to have changed. */
	*ids = (struct etw_kernel_build_ids){
		.mountinfo = mountinfo,
		.mounts_fd = open(mountinfo, O_RDONLY | O_CLOEXEC),
	};
	read_mounts(ids);
}

void etw_kernel_build_ids_done(struct etw_kernel_build_ids *ids)
{
	/* One that was zeroed has none. */
	if (ids->mountinfo && ids->mounts_fd >= 0)
		close(ids->mounts_fd);
	free(ids->devices);
	free(ids->at);
	*ids = (struct etw_kernel_build_ids){.mounts_fd = -1};
}

static bool have_mounts_changed(const struct etw_kernel_build_ids *ids)
{
	struct pollfd poll_fd = {.fd = ids->mounts_fd, .events = POLLPRI};

	/* The kernel tells each change once; of a plain file there is none. */
	return ids->mounts_fd >= 0 && poll(&poll_fd, 1, 0) > 0 &&
	       poll_fd.revents & (POLLERR | POLLPRI);
}

bool etw_kernel_build_ids_is_local(struct etw_kernel_build_ids *ids, uint64_t device)
{
	if (have_mounts_changed(ids)) {
		read_mounts(ids);
		/* A number may be that of another file system's file now. */
		if (ids->at)
			memset(ids->at, 0, ids->room * sizeof(*ids->at));
		ids->count = 0;
	}
	for (size_t i = 0; i < ids->device_count; i++)
		if (ids->devices[i] == device)
			return true;
	return false;
}

/* By the mapping's own link: the path may name another file by now. */
static void read_mapped(int process_fd, const struct etw_kernel_proc_mapping *mapping,
			struct etw_kernel_build_id *id)
{
	struct stat status;
	char path[64];
	int fd, r;

	snprintf(path, sizeof(path), "map_files/%" PRIx64 "-%" PRIx64, mapping->start,
		 mapping->end);
	/* Opening a device is an act of its own; a mapping's file stays what it is. */
	if (fstatat(process_fd, path, &status, 0) < 0 || !S_ISREG(status.st_mode))
		return;
	fd = openat(process_fd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return;
	r = etw_kernel_build_id_read(fd, id->bytes);
	id->byte_count = r > 0 ? (uint8_t)r : 0;
	close(fd);
}

/* Its place, or an empty one where it may go; there must be room. */
static struct etw_kernel_build_id *place_of(struct etw_kernel_build_id *at, size_t room,
					    uint64_t device, uint64_t inode)
{
	uint64_t place = (inode ^ device << 40) * UINT64_C(0x9E3779B97F4A7C15) >> 32;

	for (;; place++) {
		struct etw_kernel_build_id *id = &at[place & (room - 1)];

		if (!id->is_used || (id->inode == inode && id->device == device))
			return id;
	}
}

/* Room for one more. */
static int make_room(struct etw_kernel_build_ids *ids)
{
	size_t room = ids->room ? ids->room * 2 : FIRST_ROOM;
	struct etw_kernel_build_id *more;

	if (ids->count < MIN(ids->room / 2, (size_t)ETW_KERNEL_BUILD_IDS_MAX))
		return 0;
	if (room > ETW_KERNEL_BUILD_IDS_MAX * 2) {
		memset(ids->at, 0, ids->room * sizeof(*ids->at));
		ids->count = 0;
		return 0;
	}
	more = calloc(room, sizeof(*more));
	if (!more)
		return -ENOMEM;
	for (size_t i = 0; i < ids->room; i++)
		if (ids->at[i].is_used)
			*place_of(more, room, ids->at[i].device, ids->at[i].inode) = ids->at[i];
	free(ids->at);
	ids->at = more;
	ids->room = room;
	return 0;
}

const struct etw_kernel_build_id *etw_kernel_build_ids_find(
	struct etw_kernel_build_ids *ids, int process_fd,
	const struct etw_kernel_proc_mapping *mapping)
{
	struct etw_kernel_build_id *id;

	if (ids->room) {
		id = place_of(ids->at, ids->room, mapping->device, mapping->inode);
		if (id->is_used)
			return id;
	}
	if (!etw_kernel_build_ids_is_local(ids, mapping->device) || make_room(ids))
		return NULL;
	id = place_of(ids->at, ids->room, mapping->device, mapping->inode);
	*id = (struct etw_kernel_build_id){
		.device = mapping->device, .inode = mapping->inode, .is_used = true};
	ids->count++;
	read_mapped(process_fd, mapping, id);
	return id;
}
