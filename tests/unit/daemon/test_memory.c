/* SPDX-License-Identifier: MIT */
#include "daemon/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

static void store_text(struct etwd_memory *memory, const char *text)
{
	assert_int_equal(etwd_memory_store(memory, (const uint8_t *)text, strlen(text)), 0);
}

static void check_text(const struct etwd_memory *memory, const char *text)
{
	const uint8_t *at;
	size_t bytes;

	assert_int_equal(etwd_memory_load(memory, &at, &bytes), 0);
	assert_int_equal(bytes, strlen(text));
	assert_memory_equal(at, text, bytes);
}

static void test_memory__outlives_its_host(void **state)
{
	struct etwd_memory memory, next;
	const uint8_t *at;
	size_t bytes;
	int fd;

	(void)state;
	assert_int_equal(etwd_memory_create(&memory), 0);
	assert_int_equal(etwd_memory_load(&memory, &at, &bytes), -ENOENT);
	store_text(&memory, "first");
	store_text(&memory, "second, which is longer");
	fd = dup(memory.fd);
	etwd_memory_done(&memory);
	etwd_memory_done(&memory);
	assert_int_equal(etwd_memory_adopt(fd, &next), 0);
	check_text(&next, "second, which is longer");
	store_text(&next, "");
	check_text(&next, "");
	etwd_memory_done(&next);
}

static void test_memory__half_a_record_does_not_hold(void **state)
{
	struct etwd_memory memory;

	(void)state;
	assert_int_equal(etwd_memory_create(&memory), 0);
	store_text(&memory, "one");
	store_text(&memory, "two");
	/* What a dying host may leave in the record that does not hold: the one behind the first page. */
	memset(memory.at + 4096, 0xA5, ETWD_MEMORY_RECORD_MAX);
	check_text(&memory, "two");
	etwd_memory_done(&memory);
}

static void test_memory__damage_is_seen(void **state)
{
	struct etwd_memory memory;
	const uint8_t *at;
	size_t bytes;

	(void)state;
	assert_int_equal(etwd_memory_create(&memory), 0);
	store_text(&memory, "some text");
	assert_int_equal(etwd_memory_load(&memory, &at, &bytes), 0);
	((uint8_t *)(uintptr_t)at)[2] ^= 1;
	assert_int_equal(etwd_memory_load(&memory, &at, &bytes), -EPROTO);
	etwd_memory_done(&memory);
}

static void test_memory__limits_and_strangers(void **state)
{
	struct etwd_memory memory;
	uint8_t *large = calloc(1, ETWD_MEMORY_RECORD_MAX + 1);
	int fd = memfd_create("stranger", MFD_CLOEXEC);

	(void)state;
	assert_int_equal(etwd_memory_create(&memory), 0);
	store_text(&memory, "kept");
	assert_int_equal(etwd_memory_store(&memory, large, ETWD_MEMORY_RECORD_MAX + 1), -ENOSPC);
	check_text(&memory, "kept");
	assert_int_equal(etwd_memory_store(&memory, large, ETWD_MEMORY_RECORD_MAX), 0);
	assert_true(ftruncate(memory.fd, 4096) < 0); /* sealed */
	etwd_memory_done(&memory);
	free(large);
	assert_int_equal(etwd_memory_adopt(fd, &memory), -EPROTO);
	assert_true(fcntl(fd, F_GETFD) < 0);
}

static void check_entries(const struct etwd_memory *memory, const char *firsts)
{
	const uint8_t *at;

	assert_int_equal(etwd_memory_entries(memory, &at), strlen(firsts));
	for (size_t i = 0; firsts[i]; i++)
		assert_int_equal(at[i * ETWD_MEMORY_ENTRY_BYTES], firsts[i]);
}

static void test_memory__entries_are_added_and_replaced(void **state)
{
	uint8_t entry[3 * ETWD_MEMORY_ENTRY_BYTES] = "a";
	struct etwd_memory memory, next;
	int fd;

	(void)state;
	assert_int_equal(etwd_memory_create(&memory), 0);
	check_entries(&memory, "");
	assert_int_equal(etwd_memory_append(&memory, entry), 0);
	store_text(&memory, "a record");
	entry[0] = 'b';
	assert_int_equal(etwd_memory_append(&memory, entry), 0);
	check_entries(&memory, "ab");
	check_text(&memory, "a record");
	fd = dup(memory.fd);
	etwd_memory_done(&memory);
	assert_int_equal(etwd_memory_adopt(fd, &next), 0);
	check_entries(&next, "ab");
	entry[ETWD_MEMORY_ENTRY_BYTES] = 'x';
	entry[2 * ETWD_MEMORY_ENTRY_BYTES] = 'y';
	assert_int_equal(etwd_memory_replace(&next, entry, 3), 0);
	check_entries(&next, "bxy");
	assert_int_equal(etwd_memory_append(&next, entry), 0);
	check_entries(&next, "bxyb");
	assert_int_equal(etwd_memory_replace(&next, NULL, 0), 0);
	check_entries(&next, "");
	etwd_memory_done(&next);
}

static void test_memory__entries_are_limited(void **state)
{
	uint8_t entry[ETWD_MEMORY_ENTRY_BYTES] = {0};
	struct etwd_memory memory;
	const uint8_t *at;

	(void)state;
	assert_int_equal(etwd_memory_create(&memory), 0);
	assert_int_equal(etwd_memory_replace(&memory, entry, ETWD_MEMORY_ENTRIES_MAX + 1), -ENOSPC);
	for (size_t i = 0; i < ETWD_MEMORY_ENTRIES_MAX; i++)
		assert_int_equal(etwd_memory_append(&memory, entry), 0);
	assert_int_equal(etwd_memory_append(&memory, entry), -ENOSPC);
	assert_int_equal(etwd_memory_entries(&memory, &at), ETWD_MEMORY_ENTRIES_MAX);
	etwd_memory_done(&memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_memory__outlives_its_host),
		cmocka_unit_test(test_memory__half_a_record_does_not_hold),
		cmocka_unit_test(test_memory__damage_is_seen),
		cmocka_unit_test(test_memory__limits_and_strangers),
		cmocka_unit_test(test_memory__entries_are_added_and_replaced),
		cmocka_unit_test(test_memory__entries_are_limited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
