/* SPDX-License-Identifier: MIT */
/* The host dies and another one takes over: sessions, what they have enabled, leases. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <evntrace.h>

#include "integration/daemon/support.h"
#include "integration/daemon/talk.h"

#define KILLS         20
#define BUSY_SESSIONS 3000

static const struct wire_enable_slot *slot_of(const struct wire_enable *enable, uint64_t session)
{
	for (unsigned i = 0; i < WIRE_ENABLE_SLOTS; i++) {
		if (enable->slots[i].is_used && enable->slots[i].session_id == session)
			return &enable->slots[i];
	}
	return NULL;
}

static void test_restart__sessions_and_enables_go_on(void **state)
{
	static struct wire_session_info before, after;
	struct etw_controller *opened = controller();
	uint64_t handle = start_session(opened, "goes on");
	uint64_t other = start_session(opened, "other");
	struct talk *talk = talk_open(WIRE_ROLE_PROVIDER);
	uint64_t incarnation = talk->welcome.incarnation;
	GUID kept = guid_of(1), taken_back = guid_of(2), never_registered = guid_of(3);
	uint8_t filter[] = "a filter";
	struct wire_enable_provider wanted = enable_of(handle, &kept);
	struct wire_enable enable;

	(void)state;
	wanted.match_all = 0x8000;
	add_filter(&wanted, EVENT_FILTER_TYPE_SCHEMATIZED, filter, sizeof(filter));
	assert_int_equal(talk_register(talk, 0, &kept), 0);
	assert_int_equal(etw_control_enable(opened, &wanted), 0);
	wanted.provider = never_registered;
	assert_int_equal(etw_control_enable(opened, &wanted), 0);
	wanted.provider = taken_back;
	assert_int_equal(etw_control_enable(opened, &wanted), 0);
	wanted.code = EVENT_CONTROL_CODE_DISABLE_PROVIDER;
	assert_int_equal(etw_control_enable(opened, &wanted), 0);
	assert_int_equal(control_session(opened, other, WIRE_CONTROL_STOP, NULL), 0);
	assert_int_equal(control_session(opened, handle, WIRE_CONTROL_QUERY, &before), 0);
	host_kill();
	assert_true(talk_is_closed(talk));
	talk_close(talk);
	talk = talk_open(WIRE_ROLE_PROVIDER);
	assert_true(talk->welcome.incarnation > incarnation);
	assert_int_equal(talk_register(talk, 9, &kept), 0);
	talk_take_enable(talk, &enable, NULL);
	assert_int_equal(enable.registration, 9);
	assert_non_null(slot_of(&enable, handle));
	assert_true(slot_of(&enable, handle)->match_all == 0x8000);
	assert_memory_equal(enable.filter.at, filter, sizeof(filter));
	assert_int_equal(talk_register(talk, 10, &taken_back), 0);
	assert_int_equal(talk_register(talk, 11, &never_registered), 0);
	talk_take_enable(talk, &enable, NULL);
	assert_int_equal(enable.registration, 11);
	/* The controller's library connects again by itself. */
	assert_int_equal(control_session(opened, handle, WIRE_CONTROL_QUERY, &after), 0);
	assert_string_equal(after.config.name, "goes on");
	assert_memory_equal(&after.config.guid, &before.config.guid, sizeof(GUID));
	assert_true(after.start_ft == before.start_ft);
	assert_int_equal(control_session(opened, other, WIRE_CONTROL_QUERY, NULL), -ENOENT);
	talk_close(talk);
	assert_int_equal(control_session(opened, handle, WIRE_CONTROL_STOP, NULL), 0);
	etw_controller_close(opened);
}

static void test_restart__again_and_again(void **state)
{
	static struct wire_session_info info;
	struct etw_controller *opened = controller();
	struct wire_session_config *config = config_of("to a file");
	char path[400];
	struct stat file;

	(void)state;
	snprintf(path, sizeof(path), "%s/trace.etl", home_path());
	config->log_file_mode = EVENT_TRACE_FILE_MODE_SEQUENTIAL;
	memcpy(config->log_file, path, strlen(path) + 1);
	assert_int_equal(etw_control_start(opened, config, &info), 0);
	for (int i = 0; i < KILLS; i++) {
		host_kill();
		assert_int_equal(control_session(opened, info.handle, WIRE_CONTROL_FLUSH, NULL), 0);
	}
	assert_int_equal(control_session(opened, info.handle, WIRE_CONTROL_STOP, &info), 0);
	assert_int_equal(stat(path, &file), 0);
	assert_true(file.st_size >= 4096 && file.st_size % 4096 == 0);
	etw_controller_close(opened);
}

static void test_restart__lease_is_taken_up_again(void **state)
{
	struct etw_controller *opened = controller();
	struct wire_session_config *config = config_of("leased");
	static struct wire_session_info info;

	(void)state;
	config->is_leased = 1;
	assert_int_equal(etw_control_start(opened, config, &info), 0);
	host_kill();
	/* The library takes the lease again when it connects again. */
	assert_int_equal(control_session(opened, info.handle, WIRE_CONTROL_QUERY, NULL), 0);
	usleep(5500 * 1000);
	assert_int_equal(control_session(opened, info.handle, WIRE_CONTROL_QUERY, NULL), 0);
	etw_controller_close(opened);
	assert_true(log_has("ends with its controller"));
}

static void test_restart__lease_of_who_does_not_come_back_ends(void **state)
{
	struct etw_controller *opened = controller();
	struct talk *talk = talk_open(WIRE_ROLE_CONTROLLER);
	uint64_t handle = start_session(opened, "leased");

	(void)state;
	assert_int_equal(talk_lease(talk, handle), 0);
	host_kill();
	assert_true(log_has("did not come back"));
	assert_true(log_has("has ended: \"leased\""));
	assert_int_equal(control_session(opened, handle, WIRE_CONTROL_QUERY, NULL), -ENOENT);
	talk_close(talk);
	etw_controller_close(opened);
}

/* Its answer was lost with the host: neither side ever asked for the lease but by the start. */
static void test_restart__lease_of_a_start_without_answer_ends(void **state)
{
	static struct wire_control query = {.name = "leased"};
	static struct wire_session_info info;
	const struct wire_message head = {.type = WIRE_START, .request = 1};
	struct wire_session_config *config = config_of("leased");
	struct etw_controller *opened = controller();
	struct talk *talk = talk_open(WIRE_ROLE_CONTROLLER);

	(void)state;
	config->is_leased = 1;
	assert_int_equal(
		talk_send(talk, wire_message_encode_session_config(&head, config, talk->room)), 0);
	talk_expect(talk, WIRE_SESSION);
	host_kill();
	assert_int_equal(etw_control(opened, &query, &info), 0);
	assert_true(info.is_leased);
	assert_true(log_has("did not come back"));
	assert_true(log_has("has ended: \"leased\""));
	talk_close(talk);
	etw_controller_close(opened);
}

static void test_restart__host_without_keeper_goes_on(void **state)
{
	static struct wire_session_info info;
	struct etw_controller *opened = controller();
	uint64_t handle = start_session(opened, "before");
	pid_t host = host_pid();

	(void)state;
	keepers_kill();
	assert_true(wait_until(is_unhosted, NULL));
	assert_int_equal(control_session(opened, handle, WIRE_CONTROL_QUERY, NULL), 0);
	(void)start_session(opened, "after");
	assert_true(log_has("the keeper is gone"));
	assert_int_equal(control_session(opened, handle, WIRE_CONTROL_STOP, &info), 0);
	/* Nobody would end it for us. */
	assert_int_equal(kill(host, SIGTERM), 0);
	assert_true(log_has("told to leave"));
	assert_true(log_has("has ended: \"after\""));
	etw_controller_close(opened);
}

/* Sessions begin and end, and nobody waits; what the keeper missed it gets when it runs again. */
static void test_restart__stopped_keeper_stops_nobody(void **state)
{
	struct etw_controller *opened = controller();
	pid_t keeper = keeper_pid();
	uint64_t handle = 0;

	(void)state;
	assert_int_equal(kill(keeper, SIGSTOP), 0);
	for (int i = 0; i < BUSY_SESSIONS && !log_holds("the keeper takes nothing"); i++) {
		handle = start_session(opened, "in between");
		assert_int_equal(control_session(opened, handle, WIRE_CONTROL_STOP, NULL), 0);
	}
	assert_true(log_has("the keeper takes nothing"));
	handle = start_session(opened, "goes on");
	assert_int_equal(kill(keeper, SIGCONT), 0);
	assert_true(log_has("the keeper has everything again"));
	host_kill();
	assert_int_equal(control_session(opened, handle, WIRE_CONTROL_STOP, NULL), 0);
	etw_controller_close(opened);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_restart__##name, home_make, home_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(sessions_and_enables_go_on),
		TEST(again_and_again),
		TEST(lease_is_taken_up_again),
		TEST(lease_of_who_does_not_come_back_ends),
		TEST(lease_of_a_start_without_answer_ends),
		TEST(host_without_keeper_goes_on),
		TEST(stopped_keeper_stops_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
