/* SPDX-License-Identifier: MIT */
/* Passes over sessions whose host refuses, dies, is replaced, or is not there. */
#include <sys/socket.h>

#include "unit/consumer/live_test.h"

/*
 * The first host dies with a batch told, one not told, and a buffer more in the memory; the next one goes on
 * behind what was given back.
 */
static void deliver_with_two_hosts(struct fake_host *host)
{
	uint64_t consumer, written, released;

	host->keeps_memory = true;
	fake_accept(host);
	consumer = host->asked.consumer;
	fake_batch(host, 1, 5, time_of(19));
	fake_await_taken(host);
	fake_batch(host, 5, 7, time_of(29));
	for (size_t i = 7; i < 10; i++)
		(void)fake_put(host, i);
	fake_hang_up(host);
	fake_accept(host);
	FAKE_ASSERT(consumer && host->asked.consumer == consumer);
	FAKE_ASSERT(host->asked.last_batch == 2);
	(void)fake_put(host, 10);
	written = host->memory->written;
	released = load_acquire(&host->memory->released);
	FAKE_ASSERT(released == 6);
	fake_announce(host, WIRE_BATCH, (uint32_t)(written - released), time_of(49));
	fake_batch(host, 11, 17, time_of(EVENTS - 1));
	fake_end(host);
	fake_await_close(host);
}

static void test_live_hosts__a_new_host_goes_on(void **state)
{
	struct seen seen = {0};

	(void)state;
	assert_int_equal(run_script(deliver_with_two_hosts, 0, &seen, NULL), 0);
	assert_once_each(&seen, 0, EVENTS);
}

/* The next host has no room at first: for anybody, then for another one of this user. */
static void refuse_at_first(struct fake_host *host)
{
	static const int refusals[] = {-EUSERS, -ETOOMANYREFS};

	host->keeps_memory = true;
	fake_accept(host);
	fake_batch(host, 1, 5, time_of(19));
	fake_await_taken(host);
	for (size_t i = 0; i < ARRAY_SIZE(refusals); i++) {
		fake_hang_up(host);
		host->subscribe_status = refusals[i];
		fake_accept(host);
	}
	fake_hang_up(host);
	host->subscribe_status = 0;
	fake_accept(host);
	fake_batch(host, 5, 17, time_of(EVENTS - 1));
	fake_end(host);
	fake_await_close(host);
}

static void test_live_hosts__a_host_without_room_is_asked_again(void **state)
{
	struct seen seen = {0};

	(void)state;
	assert_int_equal(run_script(refuse_at_first, 0, &seen, NULL), 0);
	assert_once_each(&seen, 0, EVENTS);
}

/* A host that dies while it is asked, and another one in its place. */
static void die_while_asked(struct fake_host *host)
{
	etw_runtime_announce(host->page, true);
	FAKE_ASSERT(fake_await(host->listener) == 1);
	FAKE_ASSERT(!etw_ipc_accept(host->listener, &host->socket));
	(void)close(host->socket);
	fake_accept(host);
	fake_batch(host, 1, 3, time_of(9));
	fake_end(host);
	fake_await_close(host);
}

static void test_live_hosts__a_host_that_dies_while_asked_is_waited_for(void **state)
{
	struct seen seen = {0};

	(void)state;
	assert_int_equal(run_script(die_while_asked, 0, &seen, NULL), 0);
	assert_once_each(&seen, 0, PER_FLUSH);
}

static void end_with_the_host(struct fake_host *host)
{
	fake_accept(host);
	fake_batch(host, 1, 3, time_of(9));
	fake_await_taken(host);
	fake_hang_up(host);
	host->subscribe_status = -ENOENT;
	fake_accept(host);
	fake_await_close(host);
}

static void test_live_hosts__a_session_that_is_gone_is_over(void **state)
{
	struct etw_findings findings;
	struct seen seen = {0};

	(void)state;
	assert_int_equal(run_script(end_with_the_host, 0, &seen, &findings), -ENOENT);
	assert_once_each(&seen, 0, PER_FLUSH);
	assert_int_equal(findings.counts[ETW_FINDING_CUT], 1); /* not silently */
}

/* Three buffers lie in the memory that no batch has announced; then there is neither host nor keeper. */
static void end_with_the_keeper(struct fake_host *host)
{
	etw_runtime_announce(host->page, true);
	fake_accept(host);
	fake_batch(host, 1, 3, time_of(9));
	fake_await_taken(host);
	for (size_t i = 3; i < 6; i++)
		(void)fake_put(host, i);
	(void)shutdown(host->listener, SHUT_RDWR);
	fake_hang_up(host);
}

static void test_live_hosts__what_the_last_host_left_is_told_as_lost(void **state)
{
	struct seen seen = {0};

	(void)state;
	assert_int_equal(run_script(end_with_the_keeper, 0, &seen, NULL), -ENOENT);
	assert_once_each(&seen, 0, PER_FLUSH);
	assert_int_equal(seen.losses, 1);
	assert_int_equal(seen.buffers_lost, 3);
}

/* One was empty, but for the last batch, which nobody gets. */
static void end_with_the_keeper_and_nothing_else(struct fake_host *host)
{
	fake_accept(host);
	(void)shutdown(host->listener, SHUT_RDWR);
	fake_hang_up(host);
}

static void test_live_hosts__an_end_that_nobody_tells_is_a_loss(void **state)
{
	struct seen seen = {0};

	(void)state;
	assert_int_equal(run_script(end_with_the_keeper_and_nothing_else, 0, &seen, NULL), -ENOENT);
	assert_int_equal(seen.losses, 1);
	assert_int_equal(seen.buffers_lost, 1);
}

/* Its call lies in the queue of the socket meanwhile, and breaks with it. */
static void lose_the_keeper_while_called(struct fake_host *host)
{
	struct pollfd wait;

	fake_accept(host);
	fake_hang_up(host);
	wait = (struct pollfd){.fd = host->listener, .events = POLLIN};
	FAKE_ASSERT(poll(&wait, 1, FAKE_WAIT_MS) == 1);
	(void)close(host->listener);
	host->listener = -1;
}

static void test_live_hosts__a_call_ends_with_the_keeper(void **state)
{
	struct seen seen = {0};

	(void)state;
	assert_int_equal(run_script(lose_the_keeper_while_called, 0, &seen, NULL), -ENOENT);
	assert_int_equal(seen.losses, 1);
}

static int attach_result(int status, struct wire_delivery *spoil, const uint8_t *header)
{
	struct fake_trace bytes = fake_trace_make(EVENTS, PER_FLUSH, 0);
	struct fake_host host = {
		.trace = &bytes, .script = answer_once, .subscribe_status = status, .spoil = spoil};
	struct etw_trace *trace;
	int result;

	if (header)
		memcpy(bytes.bytes, header, FAKE_BUFFER_BYTES);
	fake_start(&host);
	assert_int_equal(etw_trace_open_live("live", &trace), 0);
	result = etw_trace_attach(trace);
	if (!result) {
		assert_int_equal(etw_trace_attach(trace), 0);
		assert_string_equal(etw_trace_header(trace)->logger_name, "synthetic");
	}
	etw_trace_close(trace);
	fake_stop(&host);
	free(bytes.bytes);
	return result;
}

static void test_live_hosts__attaching_says_what_the_host_says(void **state)
{
	static const uint8_t no_header[FAKE_BUFFER_BYTES];
	const struct wire_delivery right = {.magic = WIRE_DELIVERY_MAGIC,
					    .version = WIRE_DELIVERY_VERSION,
					    .buffer_slots = 1,
					    .slot_count = FAKE_SLOTS,
					    .slot_bytes = FAKE_BUFFER_BYTES,
					    .slots_at = 4096};
	struct wire_delivery wrong;

	(void)state;
	assert_int_equal(attach_result(0, NULL, NULL), 0);
	assert_int_equal(attach_result(-ENOENT, NULL, NULL), -ENOENT);
	assert_int_equal(attach_result(-EINVAL, NULL, NULL), -EINVAL);
	assert_int_equal(attach_result(-EACCES, NULL, NULL), -EACCES);
	assert_int_equal(attach_result(-EBUSY, NULL, NULL), -EBUSY);
	assert_int_equal(attach_result(0, NULL, no_header), -EPROTO);
	wrong = right, wrong.magic = 1;
	assert_int_equal(attach_result(0, &wrong, NULL), -EPROTO);
	wrong = right, wrong.version = 1;
	assert_int_equal(attach_result(0, &wrong, NULL), -EPROTO);
	wrong = right, wrong.slot_count = 0;
	assert_int_equal(attach_result(0, &wrong, NULL), -EPROTO);
	wrong = right, wrong.buffer_slots = 0;
	assert_int_equal(attach_result(0, &wrong, NULL), -EPROTO);
	wrong = right, wrong.buffer_slots = FAKE_SLOTS + 1;
	assert_int_equal(attach_result(0, &wrong, NULL), -EPROTO);
	wrong = right, wrong.slot_count = 2 * FAKE_SLOTS;
	assert_int_equal(attach_result(0, &wrong, NULL), -EPROTO);
	wrong = right, wrong.slot_bytes = 100;
	assert_int_equal(attach_result(0, &wrong, NULL), -EPROTO);
	wrong = right, wrong.slots_at = 8;
	assert_int_equal(attach_result(0, &wrong, NULL), -EPROTO);
}

static void test_live_hosts__without_a_host_there_is_no_session(void **state)
{
	char folder[] = "/tmp/etw-nobody-XXXXXX";
	struct etw_trace *trace;

	(void)state;
	assert_non_null(mkdtemp(folder));
	assert_int_equal(setenv("ETW_RUNTIME_DIR", folder, 1), 0);
	assert_int_equal(etw_trace_open_live("live", &trace), 0);
	assert_int_equal(etw_trace_attach(trace), -ENOENT);
	etw_trace_close(trace);
	(void)rmdir(folder);
}

/* The first bytes of it are the session's name; all of it is nobody's. */
static void test_live_hosts__a_name_that_is_too_long_is_nobodys(void **state)
{
	static char name[WIRE_MESSAGE_NAME_MAX + 2];
	struct fake_trace bytes = fake_trace_make(EVENTS, PER_FLUSH, 0);
	struct fake_host host = {.trace = &bytes, .script = answer_once};
	struct etw_trace *trace;

	(void)state;
	memset(name, 'n', WIRE_MESSAGE_NAME_MAX + 1);
	fake_start(&host);
	assert_int_equal(etw_trace_open_live(name, &trace), 0);
	assert_int_equal(etw_trace_attach(trace), -ENOENT);
	etw_trace_close(trace);
	name[WIRE_MESSAGE_NAME_MAX] = '\0';
	assert_int_equal(etw_trace_open_live(name, &trace), 0);
	assert_int_equal(etw_trace_attach(trace), 0);
	etw_trace_close(trace);
	fake_stop(&host);
	free(bytes.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_live_hosts__a_new_host_goes_on),
		cmocka_unit_test(test_live_hosts__a_host_without_room_is_asked_again),
		cmocka_unit_test(test_live_hosts__a_host_that_dies_while_asked_is_waited_for),
		cmocka_unit_test(test_live_hosts__a_session_that_is_gone_is_over),
		cmocka_unit_test(test_live_hosts__what_the_last_host_left_is_told_as_lost),
		cmocka_unit_test(test_live_hosts__an_end_that_nobody_tells_is_a_loss),
		cmocka_unit_test(test_live_hosts__a_call_ends_with_the_keeper),
		cmocka_unit_test(test_live_hosts__attaching_says_what_the_host_says),
		cmocka_unit_test(test_live_hosts__without_a_host_there_is_no_session),
		cmocka_unit_test(test_live_hosts__a_name_that_is_too_long_is_nobodys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
