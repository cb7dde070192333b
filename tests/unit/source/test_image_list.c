/* SPDX-License-Identifier: MIT */
/* Images by address: what a random list finds, against a look at all of it. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "source/kernel/processes/image_list.h"

#define PLACES 200 /* where images may begin */
#define BYTES  UINT64_C(0x1000)
#define STEPS  4000

static struct etw_kernel_image make_image(uint64_t base, bool is_loaded, const char *path)
{
	return (struct etw_kernel_image){
		.base = base,
		.end = base + BYTES,
		.code_start = is_loaded ? base + 0x100 : 0,
		.code_end = is_loaded ? base + 0x800 : 0,
		.path = etw_kernel_text_new(path, strlen(path)),
		.wide = etw_kernel_text_new_wide(path),
	};
}

/* Every image stands once, where it belongs. */
static void check_order(const struct etw_kernel_images *list)
{
	uint32_t bytes = 0;

	assert_int_equal(list->count, list->loaded_count + list->candidate_count);
	for (uint32_t i = 0; i < list->loaded_count; i++) {
		assert_true(list->loaded[i] < list->count);
		assert_true(etw_kernel_image_is_loaded(&list->at[list->loaded[i]]));
		if (i)
			assert_true(list->at[list->loaded[i - 1]].code_start <=
				    list->at[list->loaded[i]].code_start);
	}
	for (uint32_t i = 0; i < list->candidate_count; i++)
		assert_false(etw_kernel_image_is_loaded(&list->at[list->candidates[i]]));
	for (uint32_t i = 0; i < list->count; i++)
		bytes += list->at[i].path->byte_count + list->at[i].wide->byte_count;
	assert_int_equal(list->text_bytes, bytes);
}

static const struct etw_kernel_image *find_slowly(const struct etw_kernel_images *list,
						  uint64_t address)
{
	for (uint32_t i = 0; i < list->count; i++)
		if (etw_kernel_image_is_loaded(&list->at[i]) && address >= list->at[i].base &&
		    address < list->at[i].end)
			return &list->at[i];
	return NULL;
}

static void change(struct etw_kernel_images **list, bool is_there[PLACES])
{
	const uint32_t place = (uint32_t)rand() % PLACES;
	const uint64_t base = (place + 1) * 2 * BYTES;
	struct etw_kernel_image image, *added;

	assert_int_equal(etw_kernel_images_own(list, 1), 0);
	if (!is_there[place]) {
		image = make_image(base, rand() % 4, "/lib/a.so");
		assert_int_equal(etw_kernel_images_add(*list, &image, &added), 0);
		is_there[place] = etw_kernel_image_is_loaded(added);
		if (!is_there[place] && rand() % 2) {
			etw_kernel_images_set_code(*list, added, base + 0x200, base + 0x300);
			is_there[place] = true;
		}
		return;
	}
	added = (struct etw_kernel_image *)etw_kernel_images_find(*list, base + 0x280);
	assert_non_null(added);
	if (rand() % 3 == 0) {
		etw_kernel_images_set_code(*list, added, base, added->code_end);
		return;
	}
	etw_kernel_images_remove(*list, added);
	is_there[place] = false;
}

static void test_image_list__random_changes(void **state)
{
	struct etw_kernel_images *list = NULL, *other = NULL;
	bool is_there[PLACES] = {false};

	(void)state;
	srand(1);
	for (uint32_t step = 0; step < STEPS; step++) {
		const uint64_t address = ((uint64_t)rand() % (2 * PLACES + 4)) * BYTES + 0x280;

		/* A child has it for a while. */
		if (step % 100 == 0) {
			etw_kernel_images_unref(other);
			other = etw_kernel_images_ref(list);
		}
		change(&list, is_there);
		assert_ptr_equal(etw_kernel_images_find(list, address), find_slowly(list, address));
		if (step % 50 == 0)
			check_order(list);
	}
	check_order(list);
	check_order(other);
	etw_kernel_images_unref(list);
	etw_kernel_images_unref(other);
}

static void test_image_list__names_have_a_limit(void **state)
{
	struct etw_kernel_images *list = NULL;
	struct etw_kernel_image image, *added;
	char path[4000];
	uint32_t count = 0;
	int r = 0;

	(void)state;
	memset(path, 'a', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	while (!r) {
		assert_int_equal(etw_kernel_images_own(&list, 1), 0);
		image = make_image((count + 1) * 2 * BYTES, true, path);
		r = etw_kernel_images_add(list, &image, &added);
		count += !r;
	}
	assert_int_equal(r, -E2BIG);
	etw_kernel_image_done(&image);
	assert_true(count > 300 && count < 400); /* 12 KB each */
	etw_kernel_images_remove(list, &list->at[0]);
	check_order(list);
	etw_kernel_images_unref(list);
}

static void test_image_list__none(void **state)
{
	(void)state;
	assert_null(etw_kernel_images_find(NULL, 5));
	assert_null(etw_kernel_images_ref(NULL));
	etw_kernel_images_unref(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_image_list__random_changes),
		cmocka_unit_test(test_image_list__names_have_a_limit),
		cmocka_unit_test(test_image_list__none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
