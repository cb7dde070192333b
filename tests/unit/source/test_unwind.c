/* SPDX-License-Identifier: MIT */
/* Stacks from copies, by the tables of files: of this very program, against what the C library's own unwinder finds. */
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "source/kernel/procfs/build_id.h"
#include "source/kernel/procfs/procfs.h"
#include "source/kernel/procfs/vdso.h"
#include "source/kernel/unwind/unwind_stacks.h"
#include "source/kernel/unwind/unwind_walk.h"
#include "source/kernel/unwind/unwinder.h"

#define FRAMES_MAX 64

struct taken {
	struct etw_kernel_stack_copy copy;
	uint8_t bytes[ETW_KERNEL_COPY_BYTES] __attribute__((aligned(8)));
	void *expected[FRAMES_MAX];
	int expected_count;
};

static struct taken taken;

#if defined(__x86_64__)
/* A whole stack, between whose variables sanitizers have places that nobody may read. */
static __attribute__((noinline, no_sanitize("address"))) void copy_words(
	void *to, const volatile uint64_t *from, size_t count)
{
	for (size_t i = 0; i < count; i++)
		((volatile uint64_t *)to)[i] = from[i];
}

static __attribute__((noinline)) int take(int number)
{
	struct etw_kernel_stack_copy *copy = &taken.copy;
	char *argument_top = (char *)environ;

	*copy = (struct etw_kernel_stack_copy){.key_ns = 1, .tid = 2, .pid = (uint32_t)getpid()};
	__asm__ volatile("leaq 0(%%rip), %0\n\tmovq %%rsp, %1\n\tmovq %%rbp, %2"
			 : "=&r"(copy->pc), "=&r"(copy->stack), "=&r"(copy->frame));
	copy->byte_count = (uint32_t)(argument_top - (char *)copy->stack); /* NOLINT */
	if (copy->byte_count > sizeof(taken.bytes))
		copy->byte_count = sizeof(taken.bytes);
	copy_words(taken.bytes, (const uint64_t *)copy->stack, copy->byte_count / 8); /* NOLINT */
	taken.expected_count = backtrace(taken.expected, FRAMES_MAX);
	return number + (int)copy->pid;
}
#else
static int take(int number)
{
	return number;
}
#endif

static __attribute__((noinline)) int middle(int number)
{
	volatile char room[600];

	room[number] = (char)number;
	return take(number + 1) + room[number];
}

static int compare(const void *one, const void *other)
{
	(void)one;
	(void)other;
	if (!taken.expected_count)
		(void)middle(3);
	return 0;
}

struct gathered {
	struct etw_kernel_images *images;
	int process_fd;
	struct etw_kernel_build_ids ids;
};

static int gather(void *context, const struct etw_kernel_proc_mapping *mapping)
{
	struct gathered *gathered = context;
	const struct etw_kernel_build_id *id =
		etw_kernel_build_ids_find(&gathered->ids, gathered->process_fd, mapping);
	struct etw_kernel_mapping piece = {
		.start = mapping->start,
		.byte_count = mapping->end - mapping->start,
		.file_offset = mapping->file_offset,
		.path = mapping->path,
		.is_executable = mapping->is_executable,
	};

	if (id) {
		piece.build_id_bytes = id->byte_count;
		memcpy(piece.build_id, id->bytes, id->byte_count);
	}
	return etw_kernel_images_map(&gathered->images, &piece, NULL, NULL);
}

#define GONE_PID 0x7FFFFFF0 /* higher than any */

/* @pid: where files are looked for */
static void check_own_stack(uint32_t pid)
{
	struct gathered gathered = {.process_fd = open("/proc/self", O_RDONLY | O_DIRECTORY)};
	struct etw_kernel_unwinder *unwinder = etw_kernel_unwinder_new("/proc");
	const struct etw_kernel_stack_owner owner = {.pid = pid, .uid = getuid()};
	uint64_t frames[ETW_KERNEL_USER_FRAMES];
	int numbers[8] = {5, 4, 3, 2, 1, 0, 7, 6};
	uint32_t count;
	int skipped = 0;

	/* Through the C library, which has no frame pointers. */
	qsort(numbers, 8, sizeof(numbers[0]), compare);
	assert_true(taken.expected_count > 4);
	etw_kernel_build_ids_init(&gathered.ids, "/proc/self/mountinfo");
	assert_int_equal(etw_kernel_proc_read_maps(gathered.process_fd, gather, &gathered), 0);
	if (!gathered.ids.count) {
		print_message("SKIP: the program lies on no local file system\n");
		skip();
	}
	taken.copy.pid = pid;
	etw_kernel_unwinder_add(unwinder, &owner, gathered.images, &taken.copy);
	count = etw_kernel_stacks_take(&unwinder->stacks, 2, 1, frames, ETW_KERNEL_USER_FRAMES);
	assert_true(count >= 4);
	/* The innermost addresses are two of the same function, or of what sanitizers put there; from its caller on all are equal. */
	while (skipped < taken.expected_count && (uintptr_t)taken.expected[skipped] != frames[1])
		skipped++;
	assert_true(skipped < taken.expected_count);
	for (uint32_t i = 1; i < count && skipped < taken.expected_count; i++)
		assert_int_equal(frames[i], (uintptr_t)taken.expected[skipped++]);
	/* Each is there for one event. */
	assert_int_equal(etw_kernel_stacks_take(&unwinder->stacks, 2, 1, frames, 1), 0);
	etw_kernel_unwinder_free(unwinder);
	etw_kernel_build_ids_done(&gathered.ids);
	etw_kernel_images_unref(gathered.images);
	close(gathered.process_fd);
}

static void test_unwind__finds_what_the_c_library_finds(void **state)
{
	(void)state;
#if !defined(__x86_64__)
	skip();
#endif
	check_own_stack((uint32_t)getpid());
}

static bool is_on_root(const char *path)
{
	struct stat root, file;

	return stat("/", &root) == 0 && stat(path, &file) == 0 && root.st_dev == file.st_dev;
}

static void test_unwind__finds_files_of_processes_that_are_gone(void **state)
{
	(void)state;
#if !defined(__x86_64__)
	skip();
#endif
	if (!is_on_root("/proc/self/exe") || !is_on_root("/usr/lib")) {
		print_message(
			"SKIP: the program or its libraries lie on a file system of their own\n");
		skip();
	}
	check_own_stack(GONE_PID);
}

/* A file that says something else than it holds, or nothing of use, has no table. */
static void test_unwind__hostile_files(void **state)
{
	char path[] = "/tmp/etw-unwind-XXXXXX";
	int fd = mkstemp(path), own = open("/proc/self/exe", O_RDONLY);
	uint8_t head[4096], *memory = NULL;
	struct etw_unwind_object object;
	uint64_t slide;

	(void)state;
	unlink(path);
	assert_int_equal(etw_kernel_table_read(fd, &memory, &object, &slide), -EBADMSG);
	assert_int_equal(pread(own, head, sizeof(head), 0), sizeof(head));
	assert_int_equal(etw_kernel_table_read(own, &memory, &object, &slide), 0);
	free(memory);
	/* The segments are told and not there. */
	assert_int_equal(pwrite(fd, head, sizeof(head), 0), sizeof(head));
	assert_int_equal(etw_kernel_table_read(fd, &memory, &object, &slide), -EBADMSG);
	/* More segments than the file has. */
	etw_store16(head + 56, 200);
	assert_int_equal(pwrite(fd, head, sizeof(head), 0), sizeof(head));
	assert_true(etw_kernel_table_read(fd, &memory, &object, &slide) < 0);
	etw_store16(head + 56, 0xFFFF);
	assert_int_equal(pwrite(fd, head, sizeof(head), 0), sizeof(head));
	assert_int_equal(etw_kernel_table_read(fd, &memory, &object, &slide), -EBADMSG);
	close(fd);
	close(own);
}

/* The vDSO lies in no file; its table is that of this process' own. */
static void test_unwind__knows_the_vdso(void **state)
{
	struct etw_kernel_mapping mapping = {
		.start = UINT64_C(0x7FFE00000000),
		.byte_count = 0x2000,
		.path = "[vdso]",
		.is_executable = true,
	};
	struct etw_kernel_images *images = NULL;
	struct etw_kernel_tables tables;
	struct etw_unwind_rule rule;
	const struct etw_kernel_stack_owner owner = {.pid = 1, .uid = 7};
	unsigned found = 0;

	(void)state;
	etw_kernel_vdso_complete(&mapping);
	if (!mapping.build_id_bytes) {
		print_message("SKIP: there is no vDSO with a build id here\n");
		skip();
	}
	assert_int_equal(etw_kernel_tables_init(&tables, "/proc"), 0);
	assert_int_equal(etw_kernel_images_map(&images, &mapping, NULL, NULL), 0);
	for (uint64_t pc = mapping.start; pc < mapping.start + mapping.byte_count; pc++) {
		etw_kernel_tables_begin(&tables);
		found += etw_kernel_tables_find_rule(&tables, &owner, &images->at[0], pc, &rule);
	}
	assert_true(found > 100);
	/* One of another build is not this. */
	images->at[0].build_id[0] ^= 1;
	assert_false(etw_kernel_tables_find_rule(&tables, &owner, &images->at[0],
						 mapping.start + 0xB00, &rule));
	etw_kernel_images_unref(images);
	etw_kernel_tables_done(&tables);
}

static void test_unwind__stacks_make_room(void **state)
{
	struct etw_kernel_stacks stacks;
	uint64_t frames[3] = {1, 2, 3}, found[3];

	(void)state;
	assert_int_equal(etw_kernel_stacks_init(&stacks), 0);
	for (uint32_t i = 0; i < ETW_KERNEL_STACKS_MAX + 10; i++)
		assert_int_equal(etw_kernel_stacks_add(&stacks, i, 7, frames, 3), 0);
	assert_int_equal(stacks.count, ETW_KERNEL_STACKS_MAX);
	assert_int_equal(etw_kernel_stacks_take(&stacks, 9, 7, found, 3), 0);
	assert_int_equal(etw_kernel_stacks_take(&stacks, 10, 8, found, 3), 0);
	assert_int_equal(etw_kernel_stacks_take(&stacks, 10, 7, found, 2), 2);
	assert_int_equal(found[1], 2);
	etw_kernel_stacks_done(&stacks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unwind__finds_what_the_c_library_finds),
		cmocka_unit_test(test_unwind__finds_files_of_processes_that_are_gone),
		cmocka_unit_test(test_unwind__hostile_files),
		cmocka_unit_test(test_unwind__knows_the_vdso),
		cmocka_unit_test(test_unwind__stacks_make_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
