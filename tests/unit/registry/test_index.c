/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sys/stat.h>

#include "fixture.h"
#include "registry/change_internal.h"

#define HEAD sizeof(struct wire_registry_head)

/* An index of two providers as bytes that a test may damage. */
static uint8_t *make_index(size_t *ret_bytes)
{
	struct etw_registry_change *change;
	struct etw_text text = {0};
	uint8_t *copy;

	assert_int_equal(etw_registry_change_begin(fixture_folder, &change, NULL), 0);
	assert_int_equal(fixture_add(change, 1, "A"), 0);
	assert_int_equal(fixture_add(change, 2, "B"), 0);
	assert_int_equal(etw_registry_change_index(change, &text), 0);
	etw_registry_change_end(change);
	copy = malloc(text.bytes);
	assert_non_null(copy);
	memcpy(copy, text.at, text.bytes);
	*ret_bytes = text.bytes;
	etw_text_done(&text);
	return copy;
}

static void seal(uint8_t *at, size_t bytes)
{
	etw_store64(at + 0x18, etw_registry_check(at + HEAD, bytes - HEAD));
}

static void test_index__finds_every_provider(void **state)
{
	struct etw_registry_index index;
	const GUID known = fixture_guid(2), unknown = fixture_guid(3);
	struct etw_registry_row row;
	uint32_t first;
	size_t bytes;
	uint8_t *at = make_index(&bytes);

	(void)state;
	assert_int_equal(etw_registry_index_read((struct etw_bytes){at, bytes}, &index, NULL), 0);
	assert_int_equal(etw_registry_index_find(&index, &known, &first), 1);
	row = etw_registry_index_row(&index, first);
	assert_string_equal(row.name, "P2");
	assert_int_equal(row.role, WIRE_REGISTRY_PROVIDER);
	assert_int_equal(row.counts[WIRE_REGISTRY_COUNT_EVENTS], 1);
	assert_string_equal(etw_registry_index_file(&index, row.file).from, "/from/here.man");
	assert_int_equal(etw_registry_index_find(&index, &unknown, &first), 0);
	free(at);
}

/* Where a hostile index lies, and the sentence that says so. */
static const struct {
	size_t offset;
	unsigned width;
	uint64_t value;
	int result;
	const char *sentence;
} damages[] = {
	{0, 1, 'X', -EBADMSG, "this is no index of providers"},
	{8, 4, 2, -EPROTONOSUPPORT, "a newer release has written it"},
	{8, 4, 0, -EBADMSG, "there is no such version"},
	{12, 4, 63, -EBADMSG, "there is no such version"},
	{16, 8, 1, -EBADMSG, "the index was cut or has grown"},
	{0x20, 4, 3, -EBADMSG, "rows, files and strings do not fill the index"},
	{0x20, 4, UINT32_MAX, -EBADMSG, "rows, files and strings do not fill the index"},
	{HEAD + 0x10, 4, UINT32_MAX, -EBADMSG, "a name lies outside the strings"},
	{HEAD + 0x14, 4, 2, -EBADMSG, "a row names a file that is not there"},
	{HEAD + 0x18, 4, 3, -EBADMSG, "there is no such decoding source"},
	{HEAD + 0x1c, 4, 3, -EBADMSG, "there is no such role"},
	{HEAD, 4, UINT32_MAX, -EBADMSG, "the rows are not in order"},
	{HEAD + 2 * 64 + 0x14, 4, 9, -EBADMSG, "there is no such kind of definition"},
	{HEAD + 2 * 64 + 0x28, 4, 1 << 30, -EBADMSG, "a path lies outside the strings"},
	{HEAD + 4 * 64, 1, 'x', -EBADMSG, "the strings do not begin and end with a NUL"},
};

static void test_index__refuses_what_is_damaged(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(damages); i++) {
		struct etw_registry_index index;
		struct etw_fault fault = {0};
		uint8_t value[8];
		size_t bytes;
		uint8_t *at = make_index(&bytes);

		etw_store64(value, damages[i].value);
		memcpy(at + damages[i].offset, value, damages[i].width);
		seal(at, bytes);
		assert_int_equal(
			etw_registry_index_read((struct etw_bytes){at, bytes}, &index, &fault),
			damages[i].result);
		assert_string_equal(fault.sentence, damages[i].sentence);
		free(at);
	}
}

static void test_index__refuses_every_cut(void **state)
{
	struct etw_registry_index index;
	struct etw_fault fault;
	size_t bytes;
	uint8_t *at = make_index(&bytes);

	(void)state;
	for (size_t cut = 0; cut < bytes; cut++) {
		assert_int_equal(
			etw_registry_index_read((struct etw_bytes){at, cut}, &index, &fault),
			-EBADMSG);
		assert_non_null(fault.sentence);
	}
	free(at);
}

static void test_index__sees_every_changed_byte(void **state)
{
	struct etw_registry_index index;
	size_t bytes;
	uint8_t *at = make_index(&bytes);

	(void)state;
	for (size_t i = HEAD; i < bytes; i++) {
		at[i] ^= 0x10;
		assert_int_equal(
			etw_registry_index_read((struct etw_bytes){at, bytes}, &index, NULL),
			-EBADMSG);
		at[i] ^= 0x10;
	}
	free(at);
}

static void test_index__is_believed_only_when_nobody_else_can_write_it(void **state)
{
	struct etw_registry_index index;
	char path[128];

	(void)state;
	assert_int_equal(etw_registry_index_open(fixture_folder, &index, NULL), -ENOENT);
	assert_int_equal(fixture_import(1, "A"), 0);
	(void)snprintf(path, sizeof(path), "%s/index", fixture_folder);
	assert_int_equal(etw_registry_index_open(fixture_folder, &index, NULL), 0);
	etw_registry_index_close(&index);
	assert_int_equal(chmod(path, 0666), 0);
	assert_int_equal(etw_registry_index_open(fixture_folder, &index, NULL), -EPERM);
	assert_int_equal(chmod(path, 0644), 0);
	assert_int_equal(truncate(path, (off_t)ETW_REGISTRY_INDEX_BYTES_MAX + 1), 0);
	assert_int_equal(etw_registry_index_open(fixture_folder, &index, NULL), -EFBIG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_index__finds_every_provider, fixture_begin,
						fixture_end),
		cmocka_unit_test_setup_teardown(test_index__refuses_what_is_damaged, fixture_begin,
						fixture_end),
		cmocka_unit_test_setup_teardown(test_index__refuses_every_cut, fixture_begin,
						fixture_end),
		cmocka_unit_test_setup_teardown(test_index__sees_every_changed_byte, fixture_begin,
						fixture_end),
		cmocka_unit_test_setup_teardown(
			test_index__is_believed_only_when_nobody_else_can_write_it, fixture_begin,
			fixture_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
