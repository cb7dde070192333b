/* SPDX-License-Identifier: MIT */
/* The index of known providers of this build: opening it, and what is damaged. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/guid.h"
#include "base/macros.h"
#include "schema/known/known.h"

static void test_known__finds_the_index_of_the_build(void **state)
{
	struct etw_known *known;
	struct etw_fault fault;

	(void)state;
	(void)unsetenv("ETW_KNOWN_PROVIDERS");
	assert_int_equal(etw_known_open(NULL, &known, &fault), 0);
	assert_non_null(strstr(etw_known_path(known), "known-providers.index"));
	assert_true(etw_known_provider_count(known) > 1000);
	assert_false(etw_known_damage(known, &fault));
	etw_known_close(known);
}

static void test_known__variable_goes_first(void **state)
{
	struct etw_known *known;

	(void)state;
	(void)setenv("ETW_KNOWN_PROVIDERS", "", 1);
	assert_int_equal(etw_known_open(NULL, &known, NULL), -ENOENT);
	(void)setenv("ETW_KNOWN_PROVIDERS", "/nowhere/at/all", 1);
	assert_int_equal(etw_known_open(NULL, &known, NULL), -ENOENT);
	(void)unsetenv("ETW_KNOWN_PROVIDERS");
	etw_known_close(NULL);
}

static void write_file(const char *path, const void *at, size_t bytes)
{
	FILE *file = fopen(path, "wb");

	assert_non_null(file);
	assert_int_equal(fwrite(at, 1, bytes, file), bytes);
	assert_int_equal(fclose(file), 0);
}

/* The bytes of this build's index: owned. */
static struct wire_known_head *read_index(size_t *ret_bytes)
{
	struct etw_known *known;
	char *bytes;

	assert_int_equal(etw_known_open(NULL, &known, NULL), 0);
	assert_int_equal(
		etw_file_read(etw_known_path(known), ETW_KNOWN_BYTES_MAX, &bytes, ret_bytes), 0);
	etw_known_close(known);
	return (struct wire_known_head *)bytes;
}

static int open_bytes(const void *at, size_t bytes, struct etw_fault *fault)
{
	struct etw_known *known;
	int r = etw_known_open_bytes((struct etw_bytes){at, bytes}, &known, fault);

	if (!r)
		etw_known_close(known);
	return r;
}

static void test_known__head_is_checked(void **state)
{
	size_t bytes;
	CLEANUP(freep) struct wire_known_head *head = read_index(&bytes);
	uint8_t *at = (uint8_t *)head;
	struct etw_fault fault;

	(void)state;
	assert_int_equal(open_bytes(at, bytes, &fault), 0);
	assert_int_equal(open_bytes(at, 10, &fault), -EBADMSG);
	assert_string_equal(fault.sentence, "it is shorter than its head");
	assert_int_equal(open_bytes(at, bytes - 1, &fault), -EBADMSG);
	assert_string_equal(fault.sentence, "the index was cut or has grown");
	for (size_t i = 0; i < sizeof(*head); i++) {
		at[i] ^= 0x40;
		assert_true(open_bytes(at, bytes, &fault) < 0);
		at[i] ^= 0x40;
	}
	head->version = le32_of(WIRE_KNOWN_VERSION + 1);
	assert_int_equal(open_bytes(at, bytes, &fault), -EPROTONOSUPPORT);
	assert_string_equal(fault.field, "version");
}

static void test_known__parts_lie_within_the_index(void **state)
{
	size_t bytes;
	CLEANUP(freep) struct wire_known_head *head = read_index(&bytes);
	struct etw_fault fault;

	(void)state;
	for (size_t i = 0; i < WIRE_KNOWN_PARTS; i++) {
		const struct wire_known_part part = head->parts[i];

		head->parts[i].count = le32_of(UINT32_MAX);
		head->check = le32_of(0);
		head->check = le32_of(wire_known_check(head));
		assert_int_equal(open_bytes(head, bytes, &fault), -EBADMSG);
		assert_string_equal(fault.sentence, "a part lies outside the index");
		head->parts[i] = part;
	}
}

static void test_known__unreadable_files_are_told_apart(void **state)
{
	char path[] = "/tmp/etw-known-XXXXXX";
	struct etw_fault fault = {0};
	struct etw_known *known;
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	(void)close(fd);
	assert_int_equal(etw_known_open(path, &known, &fault), -EBADMSG);
	write_file(path, "no index of anything, but long enough", 37);
	assert_int_equal(etw_known_open(path, &known, &fault), -EBADMSG);
	assert_string_equal(fault.sentence, "this is no index of known providers");
	(void)unlink(path);
	assert_int_equal(etw_known_open(path, &known, &fault), -ENOENT);
	assert_int_equal(etw_known_open("/tmp", &known, &fault), -EISDIR);
}

/* A number that leads nowhere is met only by who follows it, and remembered. */
static void test_known__damage_is_met_late_and_remembered_once(void **state)
{
	size_t bytes;
	CLEANUP(freep) struct wire_known_head *head = read_index(&bytes);
	struct etw_known_provider provider;
	struct wire_known_provider *first;
	struct etw_fault fault;
	struct etw_known *known;

	(void)state;
	first = (struct wire_known_provider *)((uint8_t *)head + le32_get(head->parts[0].offset));
	first[1].name = le32_of(UINT32_MAX);
	first[2].builds = le32_of(UINT32_MAX - 1);
	assert_int_equal(
		etw_known_open_bytes((struct etw_bytes){(uint8_t *)head, bytes}, &known, &fault),
		0);
	assert_int_equal(etw_known_provider_at(known, 0, &provider), 0);
	assert_false(etw_known_damage(known, &fault));
	assert_int_equal(etw_known_provider_at(known, 1, &provider), -EBADMSG);
	assert_true(etw_known_damage(known, &fault));
	assert_int_equal(fault.offset, (uint8_t *)&first[1] - (uint8_t *)head);
	assert_int_equal(etw_known_provider_at(known, 2, &provider), -EBADMSG);
	assert_true(etw_known_damage(known, &fault));
	assert_int_equal(fault.offset, (uint8_t *)&first[1] - (uint8_t *)head);
	assert_int_equal(etw_known_provider_at(known, 3, &provider), 0);
	etw_known_close(known);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known__finds_the_index_of_the_build),
		cmocka_unit_test(test_known__variable_goes_first),
		cmocka_unit_test(test_known__head_is_checked),
		cmocka_unit_test(test_known__parts_lie_within_the_index),
		cmocka_unit_test(test_known__unreadable_files_are_told_apart),
		cmocka_unit_test(test_known__damage_is_met_late_and_remembered_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
