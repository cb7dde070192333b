/* SPDX-License-Identifier: MIT */
/* The memory that outlives a host: what holds, what is refused. */
#include "session/common/state.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fixture.h"

static void make_state(struct etw_state *ret, uint32_t mode)
{
	static struct wire_session_config config;
	struct etw_session_plan plan;
	struct etw_fault fault;

	config = (struct wire_session_config){.log_file = "/x", .log_file_mode = mode};
	assert_int_equal(etw_session_config_settle(&config, 3, &plan, &fault), 0);
	assert_int_equal(etw_state_create(9, 1000, &config, &plan, 77, ret), 0);
}

static void test_state__a_record_holds_as_a_whole(void **state)
{
	struct etw_state own, next;
	struct etw_state_record *record;
	const struct etw_state_record *held;

	(void)state;
	make_state(&own, 0);
	assert_int_equal(own.head->output_count, 3);
	held = etw_state_holding(&own, 1);
	assert_int_equal(held->fill, 0x48);
	assert_int_equal(held->last_time_raw, 77);
	record = malloc(own.head->record_bytes);
	memcpy(record, held, own.head->record_bytes);
	record->fill = 0x100;
	record->counts.events = 5;
	record->positions[3].slots = 8;
	assert_int_equal(etw_state_holding(&own, 1)->fill, 0x48);
	etw_state_commit(&own, 1, record);
	assert_memory_equal(etw_state_holding(&own, 1), record, own.head->record_bytes);
	assert_int_equal(etw_state_holding(&own, 0)->fill, 0x48);
	record->fill = 0x108;
	etw_state_commit(&own, 1, record);
	memset(etw_state_buffer(&own, 1), 0xAB, own.head->buffer_bytes);
	assert_int_equal(etw_state_adopt(dup(own.fd), &next), 0);
	assert_int_equal(etw_state_holding(&next, 1)->fill, 0x108);
	assert_int_equal(etw_state_holding(&next, 1)->positions[3].slots, 8);
	assert_int_equal(etw_state_buffer(&next, 1)[100], 0xAB);
	assert_int_equal(etw_state_holding(&next, 2)->fill, 0x48);
	free(record);
	etw_state_done(&next);
	etw_state_done(&own);
	etw_state_done(&own);
}

/* A host that dies of a state that shrank would be followed by one that does the same. */
static void test_state__nobody_changes_its_size(void **state)
{
	struct etw_state own;
	struct stat info;

	(void)state;
	make_state(&own, 0);
	assert_int_equal(fstat(own.fd, &info), 0);
	assert_int_equal(ftruncate(own.fd, info.st_size - 4096), -1);
	assert_int_equal(errno, EPERM);
	assert_int_equal(ftruncate(own.fd, info.st_size + 4096), -1);
	assert_int_equal(fcntl(own.fd, F_ADD_SEALS, F_SEAL_WRITE), -1);
	etw_state_done(&own);
}

static void test_state__durables_are_apart(void **state)
{
	struct etw_state own;

	(void)state;
	make_state(&own, 0);
	for (uint32_t i = 0; i < ETW_STATE_SETS; i++) {
		assert_int_equal(etw_state_reserve_set(&own, i), 0);
		for (uint32_t j = 0; j < 3; j++)
			etw_state_durable(&own, i, j)->queued = 100 * i + j;
	}
	for (uint32_t i = 0; i < ETW_STATE_SETS; i++) {
		for (uint32_t j = 0; j < 3; j++)
			assert_int_equal(etw_state_durable(&own, i, j)->queued, 100 * i + j);
	}
	assert_int_equal(etw_state_reserve_set(&own, 5), 0);
	assert_int_equal(etw_state_durable(&own, 5, 2)->queued, 0);
	assert_int_equal(etw_state_holding(&own, 2)->fill, 0x48);
	etw_state_done(&own);
}

/* Changes one word of a sound state's copy, and says what adopting it gives. */
static int adopt_with(size_t at, uint64_t value, size_t bytes)
{
	struct etw_state own, next;
	int result;

	make_state(&own, 0x10000000);
	memcpy(own.memory + at, &value, bytes);
	result = etw_state_adopt(dup(own.fd), &next);
	if (result == 0)
		etw_state_done(&next);
	make_state(&next, 0x10000000); /* the layout for unmapping */
	memcpy(own.memory, next.memory, sizeof(*own.head));
	etw_state_done(&next);
	etw_state_done(&own);
	return result;
}

static void test_state__damage_is_refused(void **state)
{
	(void)state;
	assert_int_equal(adopt_with(0, ETW_STATE_MAGIC, 4), 0);
	assert_int_equal(adopt_with(0, 1, 4), -EPROTO);
	assert_int_equal(adopt_with(offsetof(struct etw_state_head, version), 1, 4), -EPROTO);
	assert_int_equal(adopt_with(offsetof(struct etw_state_head, cpu_count), 0, 4), -EPROTO);
	assert_int_equal(adopt_with(offsetof(struct etw_state_head, cpu_count), 1 << 20, 4),
			 -EPROTO);
	assert_int_equal(adopt_with(offsetof(struct etw_state_head, output_count), 9, 4), -EPROTO);
	assert_int_equal(adopt_with(offsetof(struct etw_state_head, buffer_bytes), 17, 4), -EPROTO);
	assert_int_equal(adopt_with(offsetof(struct etw_state_head, outputs_at), 64, 8), -EPROTO);
	assert_int_equal(adopt_with(offsetof(struct etw_state_head, total_bytes), 64, 8), -EPROTO);
	assert_int_equal(etw_state_adopt(-1, &(struct etw_state){0}), -EBADF);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_state__a_record_holds_as_a_whole),
		cmocka_unit_test(test_state__nobody_changes_its_size),
		cmocka_unit_test(test_state__durables_are_apart),
		cmocka_unit_test(test_state__damage_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
