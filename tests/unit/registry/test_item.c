/* SPDX-License-Identifier: MIT */
/* What a file becomes before it is stored, where somebody has made it larger than it should be. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/macros.h"
#include "base/text.h"
#include "fixture.h"
#include "registry/folder.h"
#include "registry/item_internal.h"

static void read_named(size_t name_bytes, struct etw_registry_item *ret)
{
	CLEANUP(etw_text_done) struct etw_text text = {0};

	etw_text_puts(&text, "<instrumentationManifest><instrumentation><events><provider "
			     "guid='{11112223-3333-4444-5555-000000000000}' name='");
	for (size_t i = 0; i < name_bytes; i++)
		etw_text_putc(&text, 'n');
	etw_text_puts(&text, "'/></events></instrumentation></instrumentationManifest>");
	assert_int_equal(
		etw_registry_item_parse(WIRE_REGISTRY_MANIFEST,
					(struct etw_bytes){(const uint8_t *)text.at, text.bytes},
					"/from", ret, NULL),
		0);
	assert_int_equal(ret->row_count, 1);
}

/* The index of all providers does without names that nobody would give. */
static void test_item__long_names_stay_out_of_the_index(void **state)
{
	struct etw_registry_item item;

	(void)state;
	read_named(1024, &item);
	assert_int_equal(strlen(item.rows[0].name), 1024);
	etw_registry_item_done(&item);
	read_named(1025, &item);
	assert_null(item.rows[0].name);
	etw_registry_item_done(&item);
}

/* What could not be read again is not stored. Nothing of it is looked at. */
static void test_item__a_binary_beyond_the_limit(void **state)
{
	static const uint8_t head[4] = {'C', 'R', 'I', 'M'};
	struct etw_arena arena = {0};
	struct etw_bytes stored = {0};

	(void)state;
	assert_int_equal(etw_registry_pack_binary(
				 &arena,
				 (struct etw_bytes){head, ETW_REGISTRY_DEFINITION_BYTES_MAX},
				 (struct etw_bytes){0}, &stored, NULL),
			 -EFBIG);
	assert_null(stored.at);
	assert_int_equal(etw_arena_bytes(&arena), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_item__long_names_stay_out_of_the_index),
		cmocka_unit_test(test_item__a_binary_beyond_the_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
