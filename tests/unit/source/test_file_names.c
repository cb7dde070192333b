/* SPDX-License-Identifier: MIT */
/* The names of files: texts of what the BPF programs tell, events of them, and which are remembered. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <linux/magic.h>

#include "base/bytes.h"
#include "fake_source_host.h"
#include "source/kernel/events/cpu_events.h"
#include "source/kernel/events/file_events.h"
#include "source/kernel/events/file_names.h"

#define TIME_RAW INT64_C(0x1122334455667788)
#define KEY      UINT64_C(0xffff888012345678)

struct fixture {
	struct fake_source_host fake;
	struct etw_kernel_routines routines;
	struct etw_kernel_file_names names;
	struct etw_kernel_cpu_maker maker;
	struct {
		struct etw_kernel_cpu_record head;
		struct etw_kernel_file_name name;
		char path[ETW_KERNEL_PATH_BYTES];
	} record;
	uint8_t bytes[ETW_KERNEL_CPU_EVENT_MAX] __attribute__((aligned(8)));
	char text[ETW_KERNEL_NAME_TEXT_MAX + 1];
};

static int set_up(void **state)
{
	static struct fixture fixture;

	memset(&fixture, 0, sizeof(fixture));
	fake_source_host_init(&fixture.fake);
	fixture.maker = (struct etw_kernel_cpu_maker){
		.host = &fixture.fake.host,
		.routines = &fixture.routines,
		.file_names = &fixture.names,
	};
	*state = &fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	etw_kernel_file_names_done(&fixture->names);
	return 0;
}

/* @path: innermost first, each with a NUL */
static const char *text_of(struct fixture *fixture, const struct etw_kernel_file_name *name,
			   const char *path, size_t bytes)
{
	struct etw_kernel_file_name record = *name;
	size_t length;

	record.path_bytes = (uint16_t)bytes;
	length = etw_kernel_file_name_text(&fixture->names, &record, path, bytes, fixture->text);
	assert_true(length <= ETW_KERNEL_NAME_TEXT_MAX);
	fixture->text[length] = '\0';
	return fixture->text;
}

#define TEXT_OF(fixture, path, ...)                                                            \
	text_of(fixture, &(struct etw_kernel_file_name){.key = KEY, .inode = 77, __VA_ARGS__}, \
		path, sizeof(path) - 1)

static void paths_are_put_the_other_way_round(void **state)
{
	struct fixture *fixture = *state;

	assert_string_equal(TEXT_OF(fixture, "c\0b\0a\0", 0), "/a/b/c");
	assert_string_equal(TEXT_OF(fixture, "a\0", 0), "/a");
	assert_string_equal(TEXT_OF(fixture, "", 0), "/");
	assert_string_equal(TEXT_OF(fixture, "c\0b\0a", 0), "/a/b/c");
	assert_string_equal(TEXT_OF(fixture, "c\0\0a\0", 0), "/a/c");
}

static void flags_are_told(void **state)
{
	struct fixture *fixture = *state;

	assert_string_equal(TEXT_OF(fixture, "b\0a\0", .flags = ETW_KERNEL_NAME_UNLINKED),
			    "/a/b (deleted)");
	assert_string_equal(TEXT_OF(fixture, "b\0a\0", .flags = ETW_KERNEL_NAME_CUT), ".../a/b");
	assert_string_equal(
		TEXT_OF(fixture, "b\0a\0", .flags = ETW_KERNEL_NAME_CUT | ETW_KERNEL_NAME_WITHIN),
		".../a/b");
}

static void what_is_in_no_folder_is_told_as_procfs_does(void **state)
{
	struct fixture *fixture = *state;

	assert_string_equal(
		TEXT_OF(fixture, "", .flags = ETW_KERNEL_NAME_PSEUDO, .magic = PIPEFS_MAGIC),
		"pipe:[77]");
	assert_string_equal(
		TEXT_OF(fixture, "", .flags = ETW_KERNEL_NAME_PSEUDO, .magic = SOCKFS_MAGIC),
		"socket:[77]");
	assert_string_equal(TEXT_OF(fixture, "[eventfd]\0", .flags = ETW_KERNEL_NAME_PSEUDO,
				    .magic = ANON_INODE_FS_MAGIC),
			    "anon_inode:[eventfd]");
	assert_string_equal(TEXT_OF(fixture, "memfd:x\0", .flags = ETW_KERNEL_NAME_PSEUDO,
				    .magic = TMPFS_MAGIC),
			    "/memfd:x (deleted)");
}

static void a_long_path_is_cut_at_the_bound(void **state)
{
	struct fixture *fixture = *state;
	static char path[ETW_KERNEL_PATH_BYTES];

	for (size_t i = 0; i < sizeof(path); i += 2) {
		path[i] = 'x';
		path[i + 1] = '\0';
	}
	text_of(fixture, &(struct etw_kernel_file_name){.flags = ETW_KERNEL_NAME_UNLINKED}, path,
		sizeof(path));
	assert_int_equal(strlen(fixture->text), sizeof(path) + strlen(" (deleted)"));
	assert_memory_equal(fixture->text, "/x/x", 4);
}

static void mounts_are_put_in_front_of_a_path_within(void **state)
{
	struct fixture *fixture = *state;
	char root[] = "/tmp/etw-mounts-XXXXXX", path[128];
	FILE *file;

	assert_non_null(mkdtemp(root));
	(void)snprintf(path, sizeof(path), "mkdir -p %s/proc/self", root);
	assert_int_equal(system(path), 0);
	(void)snprintf(path, sizeof(path), "%s/proc/self/mountinfo", root);
	file = fopen(path, "we");
	assert_non_null(file);
	fputs("1 0 8:1 / / rw - ext4 /dev/sda1 rw\n"
	      "2 1 8:2 /deep /mnt/a\\040b rw - ext4 /dev/sda2 rw\n"
	      "3 1 0:40 / /tmp rw - tmpfs tmpfs rw\n"
	      "4 1 8:1 /home /srv rw - ext4 /dev/sda1 rw\n"
	      "no mount at all\n",
	      file);
	fclose(file);
	fixture->names.points.root = root;
	assert_string_equal(TEXT_OF(fixture, "x\0home\0", .flags = ETW_KERNEL_NAME_WITHIN,
				    .device = 8 << 20 | 1),
			    "/home/x");
	assert_string_equal(TEXT_OF(fixture, "x\0deep\0", .flags = ETW_KERNEL_NAME_WITHIN,
				    .device = 8 << 20 | 2),
			    "/mnt/a b/x");
	/* Of what no mount shows, the path within is left. */
	assert_string_equal(TEXT_OF(fixture, "x\0deeper\0", .flags = ETW_KERNEL_NAME_WITHIN,
				    .device = 8 << 20 | 2),
			    "/deeper/x");
	assert_string_equal(TEXT_OF(fixture, "x\0", .flags = ETW_KERNEL_NAME_WITHIN, .device = 40),
			    "/tmp/x");
	assert_string_equal(TEXT_OF(fixture, "",
				    .flags = ETW_KERNEL_NAME_WITHIN | ETW_KERNEL_NAME_MISSING,
				    .device = 40),
			    "/tmp/[inode 77]");
	assert_string_equal(TEXT_OF(fixture, "",
				    .flags = ETW_KERNEL_NAME_WITHIN | ETW_KERNEL_NAME_MISSING,
				    .magic = BDEVFS_MAGIC, .special = 8 << 20 | 3),
			    "[block 8:3]");
	(void)snprintf(path, sizeof(path), "rm -r %s", root);
	assert_int_equal(system(path), 0);
}

static uint32_t make(struct fixture *fixture, const char *path, uint16_t path_bytes,
		     uint16_t payload_bytes, uint32_t type)
{
	fixture->record.head = (struct etw_kernel_cpu_record){
		.kind = ETW_KERNEL_FILE_NAME,
		.payload_bytes = payload_bytes,
	};
	fixture->record.name =
		(struct etw_kernel_file_name){.key = KEY, .type = type, .path_bytes = path_bytes};
	memcpy(fixture->record.path, path, path_bytes);
	etw_kernel_cpu_learn_name(&fixture->maker, &fixture->record.head);
	return etw_kernel_cpu_event(&fixture->maker, &fixture->record.head, TIME_RAW,
				    fixture->bytes);
}

static void a_name_is_an_event(void **state)
{
	static const char path[] = "\xff\xc3\xa4\0a"; /* malformed, then an umlaut */
	const uint8_t *at = ((struct fixture *)*state)->bytes;
	struct fixture *fixture = *state;

	assert_int_equal(make(fixture, path, sizeof(path), sizeof(fixture->record.name) + 8,
			      ETW_KERNEL_NAME_CREATED),
			 16 + 8 + 2 * 6);
	assert_int_equal(etw_load16(at + 6), 0x0420);
	assert_int_equal(at[2], 0x11);
	assert_int_equal(etw_load64(at + 8), TIME_RAW);
	assert_int_equal(etw_load64(at + 16), KEY);
	assert_int_equal(etw_load16(at + 24), '/');
	assert_int_equal(etw_load16(at + 26), 'a');
	assert_int_equal(etw_load16(at + 28), '/');
	assert_int_equal(etw_load16(at + 30), 0xFFFD);
	assert_int_equal(etw_load16(at + 32), 0xE4);
	assert_int_equal(etw_load16(at + 34), 0);
	assert_int_equal(fixture->names.count, 1);
	(void)make(fixture, path, sizeof(path), sizeof(fixture->record.name) + 8,
		   ETW_KERNEL_NAME_DELETED);
	assert_int_equal(etw_load16(at + 6), 0x0423);
	etw_kernel_file_names_retire(&fixture->names, 0);
	assert_int_equal(fixture->names.count, 0);
}

static void a_record_that_ends_too_early_is_none(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(make(fixture, "abcdefgh", 9, sizeof(fixture->record.name) + 8, 0), 0);
	assert_int_equal(make(fixture, "", 0, sizeof(fixture->record.name) - 8, 0), 0);
}

static void names_that_were_told_are_run_down(void **state)
{
	struct fixture *fixture = *state;
	struct etw_source_event event;
	struct etw_source_mark mark;
	struct etw_kernel_out out;

	etw_kernel_file_names_put(&fixture->names, KEY, 1, "/old", 4);
	etw_kernel_file_names_put(&fixture->names, KEY + 1, 2, "/b", 2);
	etw_kernel_file_names_put(&fixture->names, KEY, 3, "/a", 2);
	assert_int_equal(etw_kernel_out_init(&out, &fixture->fake.host, NULL), 0);
	etw_kernel_out_begin(&out, 5, 0, NULL);
	etw_kernel_out_slot(&out, ETW_KERNEL_SLOT_RUNDOWN);
	etw_kernel_write_file_names(&out, &fixture->names);
	assert_true(etw_kernel_out_peek(&out, 0, &event));
	assert_int_equal(event.byte_count, 16 + 8 + 6);
	assert_int_equal(etw_load16((const uint8_t *)event.bytes + 6), 0x0424);
	assert_int_equal(etw_load64((const uint8_t *)event.bytes + 16), KEY + 1);
	etw_kernel_out_pop(&out, 0, &mark);
	assert_true(etw_kernel_out_peek(&out, 0, &event));
	assert_int_equal(etw_load64((const uint8_t *)event.bytes + 16), KEY);
	assert_int_equal(etw_load16((const uint8_t *)event.bytes + 26), 'a');
	etw_kernel_out_pop(&out, 0, &mark);
	assert_false(etw_kernel_out_peek(&out, 0, &event));
	etw_kernel_out_done(&out);
}

static void a_file_that_is_gone_has_the_name_that_was_told(void **state)
{
	const struct etw_kernel_file_name record = {
		.key = KEY,
		.inode = 8,
		.flags = ETW_KERNEL_NAME_WITHIN | ETW_KERNEL_NAME_MISSING,
		.type = ETW_KERNEL_NAME_DELETED,
	};
	struct fixture *fixture = *state;
	char text[ETW_KERNEL_NAME_TEXT_MAX];
	size_t bytes;

	bytes = etw_kernel_deleted_name_text(&fixture->names, &record, 6, text);
	assert_int_equal(bytes, strlen("/[inode 8]"));
	assert_memory_equal(text, "/[inode 8]", bytes);
	etw_kernel_file_names_put(&fixture->names, KEY, 3, "/a", 2);
	bytes = etw_kernel_deleted_name_text(&fixture->names, &record, 6, text);
	assert_int_equal(bytes, strlen("/a (deleted)"));
	assert_memory_equal(text, "/a (deleted)", bytes);
	/* It was told when it had no name any more. */
	etw_kernel_file_names_put(&fixture->names, KEY, 5, "/b (deleted)", 12);
	bytes = etw_kernel_deleted_name_text(&fixture->names, &record, 6, text);
	assert_int_equal(bytes, 12);
	assert_memory_equal(text, "/b (deleted)", bytes);
}

static void the_oldest_names_leave_room(void **state)
{
	struct fixture *fixture = *state;

	for (uint64_t i = 1; i <= ETW_KERNEL_NAMES_MAX + 2; i++)
		etw_kernel_file_names_put(&fixture->names, i, i, "/x", 2);
	assert_int_equal(fixture->names.count, ETW_KERNEL_NAMES_MAX);
	assert_int_equal(fixture->names.oldest->key, 3);
	assert_int_equal(fixture->names.forgotten, 2);
	assert_int_equal(fixture->names.byte_count, ETW_KERNEL_NAMES_MAX * 2);
	etw_kernel_file_names_remove(&fixture->names, 5, UINT64_C(1) << 20);
	etw_kernel_file_names_remove(&fixture->names, 5, UINT64_C(1) << 20);
	etw_kernel_file_names_retire(&fixture->names, UINT64_MAX);
	/* Two of them had to leave for what tells of the end. */
	assert_int_equal(fixture->names.count, ETW_KERNEL_NAMES_MAX - 3);
	assert_int_equal(fixture->names.forgotten, 4);
}

static void check_name(const struct etw_kernel_file_names *names, uint64_t at_ns, const char *text)
{
	const struct etw_kernel_told_name *name = etw_kernel_file_names_find(names, KEY, at_ns);

	assert_int_equal(name != NULL, text != NULL);
	if (text) {
		assert_int_equal(name->text_bytes, strlen(text));
		assert_memory_equal(name->text, text, strlen(text));
	}
}

static void check_history(const struct etw_kernel_file_names *names)
{
	check_name(names, 9, NULL);
	check_name(names, 10, "/a");
	check_name(names, 19, "/a");
	check_name(names, 20, "/b");
	check_name(names, 29, "/b");
	check_name(names, 30, NULL);
	check_name(names, 39, NULL);
	check_name(names, 40, "/new");
	check_name(names, UINT64_MAX, "/new");
}

/* A file that is renamed, and goes, and another one in its place: rings are read one after the other. */
static void names_are_of_their_time_in_whatever_order_they_come(void **state)
{
	struct etw_kernel_file_names *names = &((struct fixture *)*state)->names;

	for (unsigned first = 0; first < 4; first++) {
		for (unsigned i = 0; i < 4; i++) {
			switch ((first + 3 * i) % 4) {
			case 0:
				etw_kernel_file_names_put(names, KEY, 10, "/a", 2);
				break;
			case 1:
				etw_kernel_file_names_put(names, KEY, 20, "/b", 2);
				break;
			case 2:
				etw_kernel_file_names_remove(names, KEY, 30);
				break;
			default:
				etw_kernel_file_names_put(names, KEY, 40, "/new", 4);
			}
		}
		check_history(names);
		etw_kernel_file_names_retire(names, 9);
		check_history(names);
		etw_kernel_file_names_retire(names, UINT64_MAX);
		assert_int_equal(names->count, 1);
		assert_int_equal(names->byte_count, 4);
		assert_null(names->first_change);
		check_name(names, UINT64_MAX, "/new");
		etw_kernel_file_names_remove(names, KEY, 50);
		etw_kernel_file_names_retire(names, 50);
		assert_int_equal(names->count, 0);
		assert_null(names->oldest);
	}
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(paths_are_put_the_other_way_round),
		TEST(flags_are_told),
		TEST(what_is_in_no_folder_is_told_as_procfs_does),
		TEST(a_long_path_is_cut_at_the_bound),
		TEST(mounts_are_put_in_front_of_a_path_within),
		TEST(a_name_is_an_event),
		TEST(a_record_that_ends_too_early_is_none),
		TEST(names_that_were_told_are_run_down),
		TEST(a_file_that_is_gone_has_the_name_that_was_told),
		TEST(the_oldest_names_leave_room),
		TEST(names_are_of_their_time_in_whatever_order_they_come),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
