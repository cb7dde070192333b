/* SPDX-License-Identifier: MIT */
#include "daemon/snapshot.h"

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

static void store_text(struct etwd_snapshot *snapshot, const char *text)
{
	assert_int_equal(etwd_snapshot_store(snapshot, (const uint8_t *)text, strlen(text)), 0);
}

static void check_text(const struct etwd_snapshot *snapshot, const char *text)
{
	const uint8_t *at;
	size_t bytes;

	assert_int_equal(etwd_snapshot_load(snapshot, &at, &bytes), 0);
	assert_int_equal(bytes, strlen(text));
	assert_memory_equal(at, text, bytes);
}

static void test_snapshot__outlives_its_host(void **state)
{
	struct etwd_snapshot snapshot, next;
	const uint8_t *at;
	size_t bytes;
	int fd;

	(void)state;
	assert_int_equal(etwd_snapshot_create(&snapshot), 0);
	assert_int_equal(etwd_snapshot_load(&snapshot, &at, &bytes), -ENOENT);
	store_text(&snapshot, "first");
	store_text(&snapshot, "second, which is longer");
	fd = dup(snapshot.fd);
	etwd_snapshot_done(&snapshot);
	etwd_snapshot_done(&snapshot);
	assert_int_equal(etwd_snapshot_adopt(fd, &next), 0);
	check_text(&next, "second, which is longer");
	store_text(&next, "");
	check_text(&next, "");
	etwd_snapshot_done(&next);
}

static void test_snapshot__half_a_record_does_not_hold(void **state)
{
	struct etwd_snapshot snapshot;

	(void)state;
	assert_int_equal(etwd_snapshot_create(&snapshot), 0);
	store_text(&snapshot, "one");
	store_text(&snapshot, "two");
	/* What a dying host may leave in the record that does not hold: the one behind the first page. */
	memset(snapshot.at + 4096, 0xA5, ETWD_SNAPSHOT_RECORD_MAX);
	check_text(&snapshot, "two");
	etwd_snapshot_done(&snapshot);
}

static void test_snapshot__damage_is_seen(void **state)
{
	struct etwd_snapshot snapshot;
	const uint8_t *at;
	size_t bytes;

	(void)state;
	assert_int_equal(etwd_snapshot_create(&snapshot), 0);
	store_text(&snapshot, "some text");
	assert_int_equal(etwd_snapshot_load(&snapshot, &at, &bytes), 0);
	((uint8_t *)(uintptr_t)at)[2] ^= 1;
	assert_int_equal(etwd_snapshot_load(&snapshot, &at, &bytes), -EPROTO);
	etwd_snapshot_done(&snapshot);
}

static void test_snapshot__limits_and_strangers(void **state)
{
	struct etwd_snapshot snapshot;
	uint8_t *large = calloc(1, ETWD_SNAPSHOT_RECORD_MAX + 1);
	int fd = memfd_create("stranger", MFD_CLOEXEC);

	(void)state;
	assert_int_equal(etwd_snapshot_create(&snapshot), 0);
	store_text(&snapshot, "kept");
	assert_int_equal(etwd_snapshot_store(&snapshot, large, ETWD_SNAPSHOT_RECORD_MAX + 1),
			 -ENOSPC);
	check_text(&snapshot, "kept");
	assert_int_equal(etwd_snapshot_store(&snapshot, large, ETWD_SNAPSHOT_RECORD_MAX), 0);
	assert_true(ftruncate(snapshot.fd, 4096) < 0); /* sealed */
	etwd_snapshot_done(&snapshot);
	free(large);
	assert_int_equal(etwd_snapshot_adopt(fd, &snapshot), -EPROTO);
	assert_true(fcntl(fd, F_GETFD) < 0);
}

static void check_entries(const struct etwd_snapshot *snapshot, const char *firsts)
{
	const uint8_t *at;

	assert_int_equal(etwd_snapshot_entries(snapshot, &at), strlen(firsts));
	for (size_t i = 0; firsts[i]; i++)
		assert_int_equal(at[i * ETWD_SNAPSHOT_ENTRY_BYTES], firsts[i]);
}

static void test_snapshot__entries_are_added_and_replaced(void **state)
{
	uint8_t entry[3 * ETWD_SNAPSHOT_ENTRY_BYTES] = "a";
	struct etwd_snapshot snapshot, next;
	int fd;

	(void)state;
	assert_int_equal(etwd_snapshot_create(&snapshot), 0);
	check_entries(&snapshot, "");
	assert_int_equal(etwd_snapshot_append(&snapshot, entry), 0);
	store_text(&snapshot, "a record");
	entry[0] = 'b';
	assert_int_equal(etwd_snapshot_append(&snapshot, entry), 0);
	check_entries(&snapshot, "ab");
	check_text(&snapshot, "a record");
	fd = dup(snapshot.fd);
	etwd_snapshot_done(&snapshot);
	assert_int_equal(etwd_snapshot_adopt(fd, &next), 0);
	check_entries(&next, "ab");
	entry[ETWD_SNAPSHOT_ENTRY_BYTES] = 'x';
	entry[2 * ETWD_SNAPSHOT_ENTRY_BYTES] = 'y';
	assert_int_equal(etwd_snapshot_replace(&next, entry, 3), 0);
	check_entries(&next, "bxy");
	assert_int_equal(etwd_snapshot_append(&next, entry), 0);
	check_entries(&next, "bxyb");
	assert_int_equal(etwd_snapshot_replace(&next, NULL, 0), 0);
	check_entries(&next, "");
	etwd_snapshot_done(&next);
}

static void test_snapshot__entries_are_limited(void **state)
{
	uint8_t entry[ETWD_SNAPSHOT_ENTRY_BYTES] = {0};
	struct etwd_snapshot snapshot;
	const uint8_t *at;

	(void)state;
	assert_int_equal(etwd_snapshot_create(&snapshot), 0);
	assert_int_equal(etwd_snapshot_replace(&snapshot, entry, ETWD_SNAPSHOT_ENTRIES_MAX + 1),
			 -ENOSPC);
	for (size_t i = 0; i < ETWD_SNAPSHOT_ENTRIES_MAX; i++)
		assert_int_equal(etwd_snapshot_append(&snapshot, entry), 0);
	assert_int_equal(etwd_snapshot_append(&snapshot, entry), -ENOSPC);
	assert_int_equal(etwd_snapshot_entries(&snapshot, &at), ETWD_SNAPSHOT_ENTRIES_MAX);
	etwd_snapshot_done(&snapshot);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_snapshot__outlives_its_host),
		cmocka_unit_test(test_snapshot__half_a_record_does_not_hold),
		cmocka_unit_test(test_snapshot__damage_is_seen),
		cmocka_unit_test(test_snapshot__limits_and_strangers),
		cmocka_unit_test(test_snapshot__entries_are_added_and_replaced),
		cmocka_unit_test(test_snapshot__entries_are_limited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
