/* SPDX-License-Identifier: MIT */
/* Pieces of files that become images. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "source/kernel/processes/images.h"
#include "source/kernel/procfs/vdso.h"

/* What was told, as text: "+base-end path " and "-base-end path ". */
static char told[4096];

static void note(void *context, const struct etw_kernel_image *image, bool is_loaded)
{
	size_t at = strlen(told);

	(void)context;
	snprintf(told + at, sizeof(told) - at, "%c%llx-%llx %s ", is_loaded ? '+' : '-',
		 (unsigned long long)image->base, (unsigned long long)image->end,
		 etw_kernel_text_string(image->path));
}

static int map(struct etw_kernel_images **list, uint64_t start, uint64_t end, uint64_t offset,
	       bool is_executable, const char *path)
{
	struct etw_kernel_mapping mapping = {
		.start = start,
		.byte_count = end - start,
		.file_offset = offset,
		.path = path,
		.is_executable = is_executable,
	};

	return etw_kernel_images_map(list, &mapping, note, NULL);
}

static void expect_told(const char *text)
{
	assert_string_equal(told, text);
	told[0] = '\0';
}

static int set_up(void **state)
{
	(void)state;
	told[0] = '\0';
	return 0;
}

/* As the loader does it: the span at once, then the pieces over it. */
static void map_library(struct etw_kernel_images **list, uint64_t base, const char *path)
{
	assert_int_equal(map(list, base, base + 0x9000, 0, false, path), 0);
	assert_int_equal(map(list, base + 0x1000, base + 0x5000, 0x1000, true, path), 0);
	assert_int_equal(map(list, base + 0x5000, base + 0x7000, 0x5000, false, path), 0);
	assert_int_equal(map(list, base + 0x7000, base + 0x8000, 0x6000, false, path), 0);
}

static void test_images__an_object_is_one_image(void **state)
{
	struct etw_kernel_images *list = NULL;

	(void)state;
	map_library(&list, 0x10000, "/lib/a.so");
	expect_told("+10000-19000 /lib/a.so ");
	map_library(&list, 0x40000, "/lib/a.so"); /* once more, elsewhere */
	expect_told("+40000-49000 /lib/a.so ");
	map_library(&list, 0x19000, "/lib/b.so"); /* side by side */
	expect_told("+19000-22000 /lib/b.so ");
	etw_kernel_images_unref(list);
}

static void test_images__data_files_are_none(void **state)
{
	struct etw_kernel_images *list = NULL;

	(void)state;
	assert_int_equal(map(&list, 0x10000, 0x20000, 0, false, "/var/data"), 0);
	assert_int_equal(map(&list, 0x20000, 0x30000, 0x10000, false, "/var/data"), 0);
	for (uint64_t i = 0; i < 1000; i++)
		assert_int_equal(map(&list, 0x100000 + i * 0x1000, 0x101000 + i * 0x1000, 0, false,
				     "/var/more"),
				 0);
	expect_told("");
	assert_true(list->count <= ETW_KERNEL_CANDIDATES_MAX);
	etw_kernel_images_unref(list);
}

static void test_images__made_up_files_are_none(void **state)
{
	static const char *const paths[] = {"[heap]",    "//anon",        "/memfd:jit (deleted)",
					    "/dev/zero", "/SYSV00000000", ""};
	struct etw_kernel_images *list = NULL;

	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		assert_int_equal(map(&list, 0x1000, 0x2000, 0, true, paths[i]), 0);
	assert_int_equal(map(&list, 0x2000, 0x2000, 0, true, "/empty"), 0);
	expect_told("");
	assert_null(list);
}

static void test_images__vdso_is_one(void **state)
{
	struct etw_kernel_images *list = NULL;

	(void)state;
	assert_int_equal(map(&list, 0x1000, 0x2000, 0, false, "[vvar]"), 0);
	assert_int_equal(map(&list, 0x2000, 0x4000, 0, true, "[vdso]"), 0);
	expect_told("+2000-4000 [vdso] ");
	etw_kernel_images_unref(list);
}

static void test_images__vdso_has_the_build_id_of_every_process(void **state)
{
	struct etw_kernel_mapping mapping = {
		.start = UINT64_C(0x7f0000000000),
		.path = "[vdso]",
		.is_executable = true,
	};
	uint8_t own[ETW_KERNEL_BUILD_ID_BYTES];
	uint8_t bytes = etw_kernel_vdso_build_id(own);

	(void)state;
	assert_true(bytes == 0 || bytes >= 8);
	etw_kernel_vdso_complete(&mapping);
	assert_int_equal(mapping.build_id_bytes, bytes);
	assert_memory_equal(mapping.build_id, own, bytes);
	/* A 32-bit process has another one. */
	mapping.build_id_bytes = 0;
	mapping.start = 0xf7f00000;
	etw_kernel_vdso_complete(&mapping);
	assert_int_equal(mapping.build_id_bytes, 0);
	mapping.start = UINT64_C(0x7f0000000000);
	mapping.path = "/lib/libc.so.6";
	etw_kernel_vdso_complete(&mapping);
	assert_int_equal(mapping.build_id_bytes, 0);
}

static void test_images__code_alone_tells_the_base(void **state)
{
	struct etw_kernel_images *list = NULL;

	(void)state;
	assert_int_equal(map(&list, 0x13000, 0x15000, 0x3000, true, "/lib/late.so"), 0);
	expect_told("+10000-15000 /lib/late.so ");
	etw_kernel_images_unref(list);
}

static void test_images__pieces_with_gaps_belong_together(void **state)
{
	struct etw_kernel_images *list = NULL;

	(void)state;
	assert_int_equal(map(&list, 0x400000, 0x401000, 0, false, "/bin/old"), 0);
	assert_int_equal(map(&list, 0x600000, 0x602000, 0x1000, true, "/bin/old"), 0);
	expect_told("+400000-602000 /bin/old ");
	etw_kernel_images_unref(list);
}

static void test_images__unmapping_the_code_unloads(void **state)
{
	struct etw_kernel_images *list = NULL;

	(void)state;
	map_library(&list, 0x10000, "/lib/a.so");
	map_library(&list, 0x40000, "/lib/b.so");
	told[0] = '\0';
	assert_int_equal(etw_kernel_images_unmap(&list, 0x18000, 0x1000, note, NULL), 0);
	assert_int_equal(etw_kernel_images_unmap(&list, 0x20000, 0x10000, note, NULL), 0);
	expect_told(""); /* its tail, and nothing */
	assert_int_equal(etw_kernel_images_unmap(&list, 0x10000, 0x9000, note, NULL), 0);
	expect_told("-10000-19000 /lib/a.so ");
	assert_int_equal(etw_kernel_images_unmap(&list, 0, UINT64_MAX, note, NULL), 0);
	expect_told("-40000-49000 /lib/b.so ");
	assert_int_equal(list->count, 0);
	etw_kernel_images_unref(list);
}

static void test_images__another_file_over_it_unloads(void **state)
{
	struct etw_kernel_images *list = NULL;

	(void)state;
	map_library(&list, 0x10000, "/lib/a.so");
	told[0] = '\0';
	map_library(&list, 0x10000, "/lib/b.so");
	expect_told("-10000-19000 /lib/a.so +10000-19000 /lib/b.so ");
	etw_kernel_images_unref(list);
}

static void test_images__a_rebuilt_file_is_another(void **state)
{
	struct etw_kernel_mapping mapping = {.start = 0x10000,
					     .byte_count = 0x1000,
					     .path = "/bin/a",
					     .is_executable = true,
					     .build_id_bytes = 2,
					     .build_id = {1, 2}};
	struct etw_kernel_images *list = NULL;

	(void)state;
	assert_int_equal(etw_kernel_images_map(&list, &mapping, note, NULL), 0);
	expect_told("+10000-11000 /bin/a ");
	mapping.build_id[0] = 9;
	assert_int_equal(etw_kernel_images_map(&list, &mapping, note, NULL), 0);
	expect_told("-10000-11000 /bin/a +10000-11000 /bin/a ");
	assert_int_equal(list->count, 1);
	assert_int_equal(list->at[0].build_id[0], 9);
	etw_kernel_images_unref(list);
}

static void test_images__a_shared_list_is_copied_on_change(void **state)
{
	struct etw_kernel_images *parent = NULL, *child;

	(void)state;
	map_library(&parent, 0x10000, "/lib/a.so");
	child = etw_kernel_images_ref(parent);
	told[0] = '\0';
	assert_int_equal(etw_kernel_images_unmap(&child, 0x10000, 0x9000, note, NULL), 0);
	expect_told("-10000-19000 /lib/a.so ");
	assert_int_equal(child->count, 0);
	assert_int_equal(parent->count, 1);
	etw_kernel_images_tell(parent, true, note, NULL);
	expect_told("+10000-19000 /lib/a.so ");
	etw_kernel_images_tell(NULL, true, note, NULL);
	assert_null(etw_kernel_images_ref(NULL));
	etw_kernel_images_unref(parent);
	etw_kernel_images_unref(child);
}

static void test_images__too_many_are_refused(void **state)
{
	struct etw_kernel_images *list = NULL;
	uint64_t base = 0x10000;

	(void)state;
	for (uint32_t i = 0; i < ETW_KERNEL_IMAGES_MAX; i++, base += 0x2000)
		assert_int_equal(map(&list, base, base + 0x1000, 0, true, "/lib/a.so"), 0);
	assert_int_equal(map(&list, base, base + 0x1000, 0, true, "/lib/a.so"), -E2BIG);
	etw_kernel_images_unref(list);
}

static struct etw_announced_image *make_announced(uint64_t base, uint64_t bytes, const char *path)
{
	const struct etw_announced_image head = {
		.pid = 1, .base = base, .byte_count = bytes, .path_bytes = (uint32_t)strlen(path)};

	return etw_announced_image_new(&head, path, NULL);
}

static void test_images__announced_ones(void **state)
{
	struct etw_announced_image *one = make_announced(0x10000, 0x1000, "one");
	struct etw_announced_image *other = make_announced(0x10800, 0x1000, "other");
	struct etw_kernel_images *list = NULL, *child;

	(void)state;
	assert_int_equal(etw_kernel_images_announce(&list, one, ETW_ANNOUNCED_LOADED, note, NULL),
			 0);
	expect_told("+10000-11000 one ");
	/* Once more: no news when it was there, a new one when it was loaded. */
	assert_int_equal(etw_kernel_images_announce(&list, one, ETW_ANNOUNCED_IS_THERE, note, NULL),
			 0);
	expect_told("");
	assert_int_equal(etw_kernel_images_announce(&list, one, ETW_ANNOUNCED_LOADED, note, NULL),
			 0);
	expect_told("-10000-11000 one +10000-11000 one ");
	child = etw_kernel_images_ref(list);
	assert_int_equal(etw_kernel_images_announce(&list, other, ETW_ANNOUNCED_LOADED, note, NULL),
			 0);
	expect_told("-10000-11000 one +10800-11800 other ");
	assert_int_equal(etw_kernel_images_add_names(list, one), -ENOENT);
	assert_int_equal(etw_kernel_images_add_names(list, other), 0);
	assert_int_equal(etw_kernel_images_withdraw(&list, one, note, NULL), 0);
	expect_told("");
	assert_int_equal(etw_kernel_images_withdraw(&list, other, note, NULL), 0);
	expect_told("-10800-11800 other ");
	etw_kernel_images_unref(list);
	/* The child's is its own, and goes when its memory goes. */
	assert_int_equal(etw_kernel_images_unmap(&child, 0x10000, 0x1000, note, NULL), 0);
	expect_told("-10000-11000 one ");
	etw_kernel_images_unref(child);
	assert_int_equal(one->refs, 1);
	assert_int_equal(other->refs, 1);
	etw_announced_image_unref(one);
	etw_announced_image_unref(other);
}

/* A file that is mapped over announced code is what lies there; one that was mapped before makes room. */
static void test_images__announced_ones_among_files(void **state)
{
	struct etw_announced_image *one = make_announced(0x10000, 0x1000, "/lib/a.so");
	struct etw_kernel_images *list = NULL;

	(void)state;
	assert_int_equal(map(&list, 0x10000, 0x11000, 0, true, "/lib/a.so"), 0);
	expect_told("+10000-11000 /lib/a.so ");
	assert_int_equal(etw_kernel_images_announce(&list, one, ETW_ANNOUNCED_LOADED, note, NULL),
			 0);
	expect_told("-10000-11000 /lib/a.so +10000-11000 /lib/a.so ");
	assert_int_equal(map(&list, 0x10000, 0x12000, 0, true, "/lib/a.so"), 0);
	expect_told("-10000-11000 /lib/a.so +10000-12000 /lib/a.so ");
	etw_kernel_images_unref(list);
	etw_announced_image_unref(one);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_images__an_object_is_one_image, set_up),
		cmocka_unit_test_setup(test_images__data_files_are_none, set_up),
		cmocka_unit_test_setup(test_images__made_up_files_are_none, set_up),
		cmocka_unit_test_setup(test_images__vdso_is_one, set_up),
		cmocka_unit_test_setup(test_images__vdso_has_the_build_id_of_every_process, set_up),
		cmocka_unit_test_setup(test_images__code_alone_tells_the_base, set_up),
		cmocka_unit_test_setup(test_images__pieces_with_gaps_belong_together, set_up),
		cmocka_unit_test_setup(test_images__unmapping_the_code_unloads, set_up),
		cmocka_unit_test_setup(test_images__another_file_over_it_unloads, set_up),
		cmocka_unit_test_setup(test_images__a_rebuilt_file_is_another, set_up),
		cmocka_unit_test_setup(test_images__a_shared_list_is_copied_on_change, set_up),
		cmocka_unit_test_setup(test_images__too_many_are_refused, set_up),
		cmocka_unit_test_setup(test_images__announced_ones, set_up),
		cmocka_unit_test_setup(test_images__announced_ones_among_files, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
