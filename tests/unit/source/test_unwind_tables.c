/* SPDX-License-Identifier: MIT */
/* Whom the table of a file serves, and what is kept of tables: with files made for the purpose, below a made-up /proc. */
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "fake_procfs.h"
#include "source/kernel/unwind/unwind_tables.h"

#define BASE UINT64_C(0x10000)

enum {
	NOTES_AT = 256,
	TABLE_AT = 320,
	COMMON_AT = TABLE_AT + 32,
	ENTRY_AT = TABLE_AT + 64,
	CODE_AT = TABLE_AT + 128,
	FILE_BYTES = 4096,
	USER = 54321,
	FIRST_PID = 100,
};

static char root[64];
static struct etw_kernel_tables tables;
static struct etw_kernel_images *images; /* of the process that was made last */

static void put_segment(uint8_t *at, uint32_t type, uint64_t offset, uint64_t bytes)
{
	etw_store32(at, type);
	etw_store64(at + offsetof(Elf64_Phdr, p_offset), offset);
	etw_store64(at + offsetof(Elf64_Phdr, p_vaddr), offset);
	etw_store64(at + offsetof(Elf64_Phdr, p_filesz), bytes);
}

static void put_table(uint8_t *file, uint8_t frame_bytes)
{
	const uint8_t common[] = {1, 'z',  'R',  0, 1,           0x78, 16,
				  1, 0x1B, 0x0C, 7, frame_bytes, 0x90, 1};

	memcpy(file + TABLE_AT, (uint8_t[]){1, 0x1B, 0x03, 0x3B}, 4);
	etw_store32(file + TABLE_AT + 8, 1);
	etw_store32(file + TABLE_AT + 12, CODE_AT - TABLE_AT);
	etw_store32(file + TABLE_AT + 16, ENTRY_AT - TABLE_AT);
	etw_store32(file + COMMON_AT, ENTRY_AT - COMMON_AT - 4);
	memcpy(file + COMMON_AT + 8, common, sizeof(common));
	etw_store32(file + ENTRY_AT, CODE_AT - ENTRY_AT - 4);
	etw_store32(file + ENTRY_AT + 4, ENTRY_AT + 4 - COMMON_AT);
	etw_store32(file + ENTRY_AT + 8, CODE_AT - ENTRY_AT - 8);
	etw_store32(file + ENTRY_AT + 12, 64);
}

/* Its code lies at CODE_AT, and its frames are so large there. */
static void make_file(const char *name, uint32_t build, uint8_t frame_bytes, uint32_t uid)
{
	uint8_t file[FILE_BYTES] = {0};
	char path[FAKE_PATH_BYTES];

	memcpy(file, ELFMAG, SELFMAG);
	file[EI_CLASS] = ELFCLASS64;
	file[EI_DATA] = ELFDATA2LSB;
	etw_store64(file + offsetof(Elf64_Ehdr, e_phoff), 64);
	etw_store16(file + offsetof(Elf64_Ehdr, e_phentsize), sizeof(Elf64_Phdr));
	etw_store16(file + offsetof(Elf64_Ehdr, e_phnum), 3);
	put_segment(file + 64, PT_LOAD, 0, FILE_BYTES);
	put_segment(file + 64 + sizeof(Elf64_Phdr), PT_NOTE, NOTES_AT, 36);
	put_segment(file + 64 + 2 * sizeof(Elf64_Phdr), PT_GNU_EH_FRAME, TABLE_AT, 20);
	etw_store32(file + NOTES_AT, 4);
	etw_store32(file + NOTES_AT + 4, 20);
	etw_store32(file + NOTES_AT + 8, NT_GNU_BUILD_ID);
	memcpy(file + NOTES_AT + 12, "GNU", 4);
	etw_store32(file + NOTES_AT + 16, build);
	put_table(file, frame_bytes);
	fake_file(root, name, file, sizeof(file));
	fake_path(path, root, name);
	assert_int_equal(chown(path, uid, uid), 0);
}

/* As an image of the process that is asked for next. */
static void map_image(const char *name, uint32_t build)
{
	struct etw_kernel_mapping mapping = {.start = BASE,
					     .byte_count = FILE_BYTES,
					     .is_executable = true,
					     .build_id_bytes = 20};
	char path[FAKE_PATH_BYTES];

	fake_path(path, root, name);
	mapping.path = path;
	etw_store32(mapping.build_id, build);
	etw_kernel_images_unref(images);
	images = NULL;
	assert_int_equal(etw_kernel_images_map(&images, &mapping, NULL, NULL), 0);
}

/* A process that maps a file of this build; its list of mappings and, as procfs has it, its link to the file. */
static void map_file(uint32_t pid, const char *name, uint32_t build)
{
	char path[FAKE_PATH_BYTES], line[2 * FAKE_PATH_BYTES], place[64];
	struct stat status;

	fake_path(path, root, name);
	assert_int_equal(stat(path, &status), 0);
	(void)snprintf(line, sizeof(line), "%" PRIx64 "-%" PRIx64 " r-xp 0 %x:%x %ju %s\n", BASE,
		       BASE + FILE_BYTES, major(status.st_dev), minor(status.st_dev),
		       (uintmax_t)status.st_ino, path);
	(void)snprintf(place, sizeof(place), "%u/maps", pid);
	fake_text(root, place, line);
	(void)snprintf(place, sizeof(place), "%u/map_files/x", pid);
	fake_text(root, place, "");
	(void)snprintf(place, sizeof(place), "%u/map_files/%" PRIx64 "-%" PRIx64, pid, BASE,
		       BASE + FILE_BYTES);
	fake_path(line, root, place);
	(void)unlink(line);
	fake_link(root, place, path);
	map_image(name, build);
}

/* Returns how large the frame is, by the process's own image; 0: nobody knows. */
static int ask(uint32_t pid, uint32_t uid)
{
	const struct etw_kernel_stack_owner owner = {.pid = pid, .uid = uid};
	struct etw_unwind_rule rule;

	etw_kernel_tables_begin(&tables);
	if (!etw_kernel_tables_find_rule(&tables, &owner, &images->at[0], BASE + CODE_AT, &rule))
		return 0;
	return rule.cfa.offset;
}

static int set_up(void **state)
{
	char line[128];
	struct stat status;

	(void)state;
	strcpy(root, "/var/tmp/etw-tables-XXXXXX");
	fake_begin(root);
	if (chmod(root, 0755) || stat(root, &status))
		return -1;
	(void)snprintf(line, sizeof(line), "22 1 %u:%u / /x rw - tmpfs x rw\n",
		       major(status.st_dev), minor(status.st_dev));
	fake_text(root, "self/mountinfo", line);
	return etw_kernel_tables_init(&tables, root);
}

static int tear_down(void **state)
{
	(void)state;
	etw_kernel_tables_done(&tables);
	etw_kernel_images_unref(images);
	images = NULL;
	fake_end(root);
	return 0;
}

static void need_owners(void)
{
	struct statvfs system;

#if !defined(__x86_64__)
	print_message("SKIP: the table is one of x86-64\n");
	skip();
#endif
	if (geteuid()) {
		print_message("SKIP: root alone may give files away\n");
		skip();
	}
	if (statvfs("/var/tmp", &system) || system.f_flag & ST_NOSUID) {
		print_message("SKIP: owners of files mean nothing in /var/tmp here (nosuid)\n");
		skip();
	}
}

/* A process that gave its rights up is root's as far as the session knows. What it maps says nothing of root's files. */
static void test_unwind_tables__build_ids_of_users_files_count_for_nobody(void **state)
{
	(void)state;
	need_owners();
	make_file("lib/spoilt", 1, 80, USER);
	make_file("lib/right", 1, 16, 0);
	map_file(FIRST_PID, "lib/spoilt", 1);
	assert_int_equal(ask(FIRST_PID, 0), 80);
	map_file(FIRST_PID + 1, "lib/right", 1);
	assert_int_equal(ask(FIRST_PID + 1, 0), 16);
	assert_int_equal(ask(FIRST_PID + 1, 0), 16);
	assert_int_equal(tables.count, 2);
	/* And the other way round: what is known of the build from root's file is enough for everybody. */
	make_file("lib/right2", 2, 16, 0);
	make_file("lib/spoilt2", 2, 80, USER);
	map_file(FIRST_PID, "lib/right2", 2);
	assert_int_equal(ask(FIRST_PID, USER), 16);
	map_file(FIRST_PID + 1, "lib/spoilt2", 2);
	assert_int_equal(ask(FIRST_PID + 1, USER), 16);
	assert_int_equal(tables.count, 3);
}

static void test_unwind_tables__a_users_file_serves_who_maps_it(void **state)
{
	char path[FAKE_PATH_BYTES];

	(void)state;
	need_owners();
	make_file("lib/own", 1, 24, USER);
	map_file(FIRST_PID, "lib/own", 1);
	assert_int_equal(ask(FIRST_PID, USER), 24);
	map_file(FIRST_PID + 1, "lib/own", 1);
	assert_int_equal(ask(FIRST_PID + 1, USER + 1), 24);
	assert_int_equal(tables.count, 1);
	/* Changed, it is another one. */
	make_file("lib/own", 1, 32, USER);
	map_file(FIRST_PID + 2, "lib/own", 1);
	assert_int_equal(ask(FIRST_PID + 2, USER), 32);
	/* Root's, but anybody may write it. */
	make_file("lib/open", 1, 40, 0);
	fake_path(path, root, "lib/open");
	assert_int_equal(chmod(path, 0666), 0);
	map_file(FIRST_PID + 3, "lib/open", 1);
	assert_int_equal(ask(FIRST_PID + 3, 0), 40);
	assert_int_equal(tables.at[2].file.uid, ETW_KERNEL_NO_UID);
	make_file("lib/right", 1, 16, 0);
	map_file(FIRST_PID + 4, "lib/right", 1);
	assert_int_equal(ask(FIRST_PID + 4, 0), 16);
}

/* What lies at a path when the process is gone need not be what it mapped. */
static void test_unwind_tables__paths_lead_to_roots_and_own_files(void **state)
{
	struct stat top, here;

	(void)state;
	need_owners();
	if (stat("/", &top) || stat(root, &here) || top.st_dev != here.st_dev) {
		print_message("SKIP: /var/tmp is a file system of its own\n");
		skip();
	}
	if (syscall(SYS_openat2, -1, "", NULL, 0) < 0 && errno == ENOSYS) {
		print_message("SKIP: there is no openat2 here\n");
		skip();
	}
	make_file("lib/own", 1, 24, USER);
	map_file(FIRST_PID, "lib/own", 1);
	assert_int_equal(ask(FIRST_PID + 1, 0), 0);
	assert_int_equal(ask(FIRST_PID + 1, ETW_KERNEL_NO_UID), 0);
	assert_int_equal(ask(FIRST_PID + 2, USER + 1), 0);
	assert_int_equal(ask(FIRST_PID + 3, USER), 24);
	make_file("lib/right", 2, 16, 0);
	map_file(FIRST_PID, "lib/right", 2);
	assert_int_equal(ask(FIRST_PID + 1, USER), 16);
}

/* Another process may have the number by now. */
static void test_unwind_tables__a_process_is_known_by_its_start(void **state)
{
	struct etw_kernel_stack_owner owner = {.pid = FIRST_PID, .uid = 0, .start_ticks = 7};
	struct etw_unwind_rule rule;
	char path[32];

	(void)state;
	need_owners();
	make_file("lib/spoilt", 1, 80, USER);
	map_file(FIRST_PID, "lib/spoilt", 1);
	(void)snprintf(path, sizeof(path), "%u", FIRST_PID);
	fake_stat(root, path, FIRST_PID, "S", 8);
	assert_false(etw_kernel_tables_find_rule(&tables, &owner, &images->at[0], BASE + CODE_AT,
						 &rule));
	owner.start_ticks = 8;
	assert_true(etw_kernel_tables_find_rule(&tables, &owner, &images->at[0], BASE + CODE_AT,
						&rule));
}

/* Addresses of two files' code may be one number, where a file says that its code lies far from its table. */
static void test_unwind_tables__each_file_has_its_own_rules(void **state)
{
	const struct etw_kernel_stack_owner owner = {.pid = FIRST_PID + 1, .uid = USER};
	struct etw_unwind_rule rule;

	(void)state;
	need_owners();
	make_file("lib/one", 1, 16, USER);
	make_file("lib/other", 2, 24, USER);
	map_file(FIRST_PID, "lib/one", 1);
	assert_int_equal(ask(FIRST_PID, USER), 16);
	map_file(FIRST_PID + 1, "lib/other", 2);
	assert_int_equal(ask(FIRST_PID + 1, USER), 24);
	/* A base so much further on gives its address the first one's number. */
	images->at[0].base += tables.at[1].slide - tables.at[0].slide;
	assert_false(etw_kernel_tables_find_rule(&tables, &owner, &images->at[0], BASE + CODE_AT,
						 &rule));
}

/* A process with more mappings than a look reads is not looked through, and who has many such looks has none for a while. */
static void test_unwind_tables__looks_in_vain_are_paid_for(void **state)
{
	char place[64], *lines = calloc(ETW_KERNEL_LOOK_LINES + 10, 16);

	(void)state;
	need_owners();
	assert_non_null(lines);
	make_file("lib/own", 1, 24, USER);
	map_file(FIRST_PID, "lib/own", 1);
	for (uint32_t i = 0; i < ETW_KERNEL_LOOK_LINES + 5; i++)
		memcpy(lines + i * 16, "1-2 r--p 0 0:0 \n", 16);
	(void)snprintf(place, sizeof(place), "%u/maps", FIRST_PID);
	fake_text(root, place, lines);
	(void)snprintf(place, sizeof(place), "%u/status", FIRST_PID);
	fake_text(root, place, "Name:\tx\nUid:\t0\t54321\t0\t0\n");
	free(lines);
	/* Its work is that of its uid now, which is not root. */
	assert_int_equal(ask(FIRST_PID, 0), 0);
	assert_int_equal(tables.work.of_all.used,
			 ETW_KERNEL_WORK_OF_LOOK + ETW_KERNEL_LOOK_LINES * ETW_KERNEL_WORK_OF_LINE);
	map_file(FIRST_PID + 1, "lib/own", 1);
	etw_kernel_work_done(&tables.work, USER, 2 * ETW_KERNEL_WORK_OF_UID);
	assert_int_equal(ask(FIRST_PID + 1, USER), 0);
	assert_int_equal(ask(FIRST_PID + 1, USER + 1), 24);
}

/* So many builds of one owner's file. */
static void use_up(uint32_t uid, uint32_t count)
{
	char path[FAKE_PATH_BYTES];
	int fd;

	make_file("lib/many", 0, 16, uid);
	map_file(FIRST_PID, "lib/many", 0);
	fake_path(path, root, "lib/many");
	fd = open(path, O_WRONLY | O_CLOEXEC);
	for (uint32_t i = 0; i < count; i++) {
		assert_int_equal(pwrite(fd, &i, sizeof(i), NOTES_AT + 16), sizeof(i));
		map_image("lib/many", i);
		(void)ask(FIRST_PID, uid);
	}
	close(fd);
}

/* One owner's files take nothing from another's, nor do those of many owners from root's or from who has few. */
static void test_unwind_tables__each_owner_has_its_share(void **state)
{
	(void)state;
	need_owners();
	make_file("lib/own", 1, 24, USER);
	make_file("lib/right", 2, 16, 0);
	map_file(1, "lib/own", 1);
	assert_int_equal(ask(1, USER), 24);
	map_file(2, "lib/right", 2);
	assert_int_equal(ask(2, USER), 16);
	use_up(7, ETW_KERNEL_TABLES_OF_UID + 10);
	assert_int_equal(tables.count, 2 + ETW_KERNEL_TABLES_OF_UID);
	for (uint32_t uid = 8; uid < 17; uid++)
		use_up(uid, ETW_KERNEL_TABLES_OF_UID);
	assert_int_equal(tables.count, 1 + ETW_KERNEL_TABLES_MAX - ETW_KERNEL_TABLES_OF_ROOT);
	/* Both are there although nobody asked for longest, and nobody looks for them again. */
	assert_int_equal(tables.at[0].file.uid, USER);
	assert_true(tables.at[1].file.is_shared);
	/* Whoever comes next has room, too. */
	make_file("lib/late", 3, 32, USER + 1);
	map_file(3, "lib/late", 3);
	assert_int_equal(ask(3, USER + 1), 32);
	assert_int_equal(tables.count, 1 + ETW_KERNEL_TABLES_MAX - ETW_KERNEL_TABLES_OF_ROOT);
}

/* The one that was not used for longest goes, and comes again when it is asked for. */
static void test_unwind_tables__old_ones_make_room(void **state)
{
	struct etw_kernel_images *kept;

	(void)state;
	need_owners();
	make_file("lib/old", UINT32_MAX, 24, USER);
	make_file("lib/used", UINT32_MAX - 1, 32, USER);
	map_file(1, "lib/used", UINT32_MAX - 1);
	assert_int_equal(ask(1, USER), 32);
	kept = etw_kernel_images_ref(images);
	map_file(2, "lib/old", UINT32_MAX);
	assert_int_equal(ask(2, USER), 24);
	etw_kernel_images_unref(images);
	images = kept;
	assert_int_equal(ask(1, USER), 32);
	images = NULL;
	use_up(USER, ETW_KERNEL_TABLES_OF_UID - 1);
	assert_int_equal(tables.count, ETW_KERNEL_TABLES_OF_UID);
	assert_int_equal(tables.at[0].file.byte_count, FILE_BYTES);
	assert_int_equal(etw_load32(tables.at[0].build_id), UINT32_MAX - 1);
	assert_int_not_equal(etw_load32(tables.at[1].build_id), UINT32_MAX);
	etw_kernel_images_unref(images);
	images = kept;
	assert_int_equal(ask(1, USER), 32);
	map_file(2, "lib/old", UINT32_MAX);
	assert_int_equal(ask(2, USER), 24);
	assert_int_equal(tables.count, ETW_KERNEL_TABLES_OF_UID);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_unwind_tables__build_ids_of_users_files_count_for_nobody),
		CASE(test_unwind_tables__a_users_file_serves_who_maps_it),
		CASE(test_unwind_tables__paths_lead_to_roots_and_own_files),
		CASE(test_unwind_tables__a_process_is_known_by_its_start),
		CASE(test_unwind_tables__each_file_has_its_own_rules),
		CASE(test_unwind_tables__looks_in_vain_are_paid_for),
		CASE(test_unwind_tables__each_owner_has_its_share),
		CASE(test_unwind_tables__old_ones_make_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
