/* SPDX-License-Identifier: MIT */
/* Build ids in ELF files made for the purpose, and which files may be opened. */
#include <elf.h>
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/sysmacros.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "fake_procfs.h"
#include "source/kernel/procfs/build_id.h"

#define FILE_BYTES 1024
#define NOTES_AT   512

static uint8_t file[FILE_BYTES];

/* Two notes: another one with an odd size, then the build id. Returns their bytes. */
static uint32_t put_notes(uint32_t id_bytes)
{
	uint8_t *at = file + NOTES_AT;

	etw_store32(at, 2);
	etw_store32(at + 4, 3);
	etw_store32(at + 8, NT_GNU_BUILD_ID);
	memcpy(at + 12, "X", 2);
	at += 12 + 4 + 4;
	etw_store32(at, 4);
	etw_store32(at + 4, id_bytes);
	etw_store32(at + 8, NT_GNU_BUILD_ID);
	memcpy(at + 12, "GNU", 4);
	for (uint32_t i = 0; i < id_bytes; i++)
		at[16 + i] = (uint8_t)(0x80 + i);
	return 20 + 16 + id_bytes;
}

static void put_elf64(uint32_t note_bytes)
{
	memcpy(file, ELFMAG, SELFMAG);
	file[EI_CLASS] = ELFCLASS64;
	file[EI_DATA] = ELFDATA2LSB;
	etw_store64(file + offsetof(Elf64_Ehdr, e_phoff), 64);
	etw_store16(file + offsetof(Elf64_Ehdr, e_phnum), 2);
	etw_store32(file + 64, PT_LOAD);
	etw_store32(file + 64 + sizeof(Elf64_Phdr), PT_NOTE);
	etw_store64(file + 64 + sizeof(Elf64_Phdr) + offsetof(Elf64_Phdr, p_offset), NOTES_AT);
	etw_store64(file + 64 + sizeof(Elf64_Phdr) + offsetof(Elf64_Phdr, p_filesz), note_bytes);
}

static int read_it(uint8_t *id)
{
	int fd = memfd_create("elf", MFD_CLOEXEC), r;

	assert_int_equal(write(fd, file, sizeof(file)), sizeof(file));
	r = etw_kernel_build_id_read(fd, id);
	close(fd);
	return r;
}

static int set_up(void **state)
{
	(void)state;
	memset(file, 0, sizeof(file));
	return 0;
}

static void test_build_id__of_both_classes(void **state)
{
	uint8_t id[ETW_KERNEL_BUILD_ID_BYTES];

	(void)state;
	put_elf64(put_notes(20));
	assert_int_equal(read_it(id), 20);
	assert_int_equal(id[0], 0x80);
	assert_int_equal(id[19], 0x93);
	file[EI_CLASS] = ELFCLASS32;
	memset(file + EI_NIDENT, 0, NOTES_AT - EI_NIDENT);
	etw_store32(file + offsetof(Elf32_Ehdr, e_phoff), 64);
	etw_store16(file + offsetof(Elf32_Ehdr, e_phnum), 1);
	etw_store32(file + 64, PT_NOTE);
	etw_store32(file + 64 + offsetof(Elf32_Phdr, p_offset), NOTES_AT);
	etw_store32(file + 64 + offsetof(Elf32_Phdr, p_filesz), 56);
	assert_int_equal(read_it(id), 20);
}

static void test_build_id__short_and_long_ones(void **state)
{
	uint8_t id[ETW_KERNEL_BUILD_ID_BYTES];

	(void)state;
	put_elf64(put_notes(8));
	assert_int_equal(read_it(id), 8);
	put_elf64(put_notes(32));
	assert_int_equal(read_it(id), 20);
}

static void test_build_id__none(void **state)
{
	uint8_t id[ETW_KERNEL_BUILD_ID_BYTES];

	(void)state;
	put_elf64(0);
	assert_int_equal(read_it(id), 0);
	put_elf64(20); /* the other note alone */
	put_notes(20);
	assert_int_equal(read_it(id), 0);
}

static void test_build_id__damage(void **state)
{
	uint8_t id[ETW_KERNEL_BUILD_ID_BYTES];
	int pipe_ends[2];

	(void)state;
	assert_int_equal(read_it(id), -EBADMSG);
	put_elf64(put_notes(20));
	file[EI_DATA] = ELFDATA2MSB;
	assert_int_equal(read_it(id), -EBADMSG);
	put_elf64(put_notes(20));
	etw_store64(file + offsetof(Elf64_Ehdr, e_phoff), UINT64_MAX - 8);
	assert_int_equal(read_it(id), -EBADMSG);
	put_elf64(put_notes(20));
	etw_store16(file + offsetof(Elf64_Ehdr, e_phnum), 65535);
	assert_int_equal(read_it(id), -EBADMSG);
	put_elf64(put_notes(20));
	etw_store32(file + NOTES_AT + 4, UINT32_MAX); /* a note of 4 GiB */
	assert_int_equal(read_it(id), -EBADMSG);
	/* Every byte turned, one after the other: any answer, no harm. */
	for (size_t i = 0; i < sizeof(file); i++) {
		put_elf64(put_notes(20));
		file[i] ^= 0xFF;
		(void)read_it(id);
		file[i] ^= 0xFF;
	}
	assert_int_equal(pipe(pipe_ends), 0);
	assert_int_equal(etw_kernel_build_id_read(pipe_ends[0], id), -ESPIPE);
	close(pipe_ends[0]);
	close(pipe_ends[1]);
}

static void test_build_id__local_files_alone_are_opened(void **state)
{
	struct etw_kernel_proc_mapping mapping = {
		.start = 0x1000, .end = 0x2000, .device = makedev(8, 1), .inode = 5};
	char root[] = "/tmp/etw-build-id-XXXXXX", path[FAKE_PATH_BYTES];
	const struct etw_kernel_build_id *id;
	struct etw_kernel_build_ids ids;
	int fd;

	(void)state;
	fake_begin(root);
	fake_text(root, "mountinfo",
		  "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
		  "23 1 0:50 / /home/x/mnt rw - fuse.sshfs x rw\n"
		  "24 1 0:51 / /net rw - nfs4 x rw\nnonsense\n");
	put_elf64(put_notes(20));
	fake_file(root, "12/map_files/1000-2000", file, sizeof(file));
	fake_path(path, root, "12");
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	fake_path(path, root, "mountinfo");
	etw_kernel_build_ids_init(&ids, path);
	id = etw_kernel_build_ids_find(&ids, fd, &mapping);
	assert_non_null(id);
	assert_int_equal(id->byte_count, 20);
	mapping.start = 0x5000; /* known by its file; this mapping has no link */
	assert_int_equal(etw_kernel_build_ids_find(&ids, fd, &mapping)->byte_count, 20);
	mapping.inode = 6;
	assert_int_equal(etw_kernel_build_ids_find(&ids, fd, &mapping)->byte_count, 0);
	mapping.device = makedev(0, 50);
	assert_null(etw_kernel_build_ids_find(&ids, fd, &mapping));
	mapping.device = makedev(0, 51);
	assert_null(etw_kernel_build_ids_find(&ids, fd, &mapping));
	etw_kernel_build_ids_done(&ids);
	etw_kernel_build_ids_init(&ids, "/nowhere");
	assert_int_equal(ids.device_count, 0);
	etw_kernel_build_ids_done(&ids);
	close(fd);
	fake_end(root);
}

/* As many as anybody maps: each is looked for once, and memory has an end. */
static void test_build_id__many_files(void **state)
{
	struct etw_kernel_proc_mapping mapping = {
		.start = 0x1000, .end = 0x2000, .device = makedev(8, 1)};
	char root[] = "/tmp/etw-build-id-XXXXXX", path[FAKE_PATH_BYTES];
	struct etw_kernel_build_ids ids;
	int fd;

	(void)state;
	fake_begin(root);
	fake_text(root, "mountinfo", "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n");
	put_elf64(put_notes(20));
	fake_file(root, "12/map_files/1000-2000", file, sizeof(file));
	fake_path(path, root, "12");
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	fake_path(path, root, "mountinfo");
	etw_kernel_build_ids_init(&ids, path);
	for (mapping.inode = 1; mapping.inode <= 1000; mapping.inode++)
		assert_int_equal(etw_kernel_build_ids_find(&ids, fd, &mapping)->byte_count, 20);
	assert_int_equal(ids.count, 1000);
	mapping.start = 0x5000; /* has no link */
	for (mapping.inode = 1; mapping.inode <= 1000; mapping.inode++)
		assert_int_equal(etw_kernel_build_ids_find(&ids, fd, &mapping)->byte_count, 20);
	for (; mapping.inode <= ETW_KERNEL_BUILD_IDS_MAX; mapping.inode++)
		assert_int_equal(etw_kernel_build_ids_find(&ids, fd, &mapping)->byte_count, 0);
	assert_int_equal(ids.count, ETW_KERNEL_BUILD_IDS_MAX);
	assert_int_equal(etw_kernel_build_ids_find(&ids, fd, &mapping)->byte_count, 0);
	assert_int_equal(ids.count, 1);
	assert_int_equal(ids.room, ETW_KERNEL_BUILD_IDS_MAX * 2);
	etw_kernel_build_ids_done(&ids);
	close(fd);
	fake_end(root);
}

/* A device's number means another file system after a change of the mounts. */
static void test_build_id__mounts_are_looked_at_when_they_change(void **state)
{
	char place[] = "/tmp/etw-mount-XXXXXX";
	struct etw_kernel_build_ids ids;
	struct stat status;

	(void)state;
	assert_non_null(mkdtemp(place));
	if (unshare(CLONE_NEWNS) || mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", place, "tmpfs", 0, NULL)) {
		(void)rmdir(place);
		print_message("SKIP: who runs this may not mount\n");
		skip();
	}
	assert_int_equal(stat(place, &status), 0);
	etw_kernel_build_ids_init(&ids, "/proc/thread-self/mountinfo");
	assert_true(etw_kernel_build_ids_is_local(&ids, status.st_dev));
	assert_int_equal(umount(place), 0);
	assert_false(etw_kernel_build_ids_is_local(&ids, status.st_dev));
	assert_int_equal(mount("none", place, "tmpfs", 0, NULL), 0);
	assert_int_equal(stat(place, &status), 0);
	assert_true(etw_kernel_build_ids_is_local(&ids, status.st_dev));
	etw_kernel_build_ids_done(&ids);
	assert_int_equal(umount(place), 0);
	assert_int_equal(rmdir(place), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_build_id__of_both_classes, set_up),
		cmocka_unit_test_setup(test_build_id__short_and_long_ones, set_up),
		cmocka_unit_test_setup(test_build_id__none, set_up),
		cmocka_unit_test_setup(test_build_id__damage, set_up),
		cmocka_unit_test_setup(test_build_id__many_files, set_up),
		cmocka_unit_test_setup(test_build_id__local_files_alone_are_opened, set_up),
		cmocka_unit_test(test_build_id__mounts_are_looked_at_when_they_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
