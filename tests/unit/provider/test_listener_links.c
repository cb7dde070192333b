/* SPDX-License-Identifier: MIT */
/*
 * Two hosts' places, of which one has no page yet: that of a user who was never traced, beside the system's.
 * The linker leads the two questions where they are to this file. Each try is a process of its own, forked
 * while this one has a single thread, since a process looks for its hosts' places once.
 */
#include "provider_test.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/futex.h"
#include "base/time.h"
#include "provider/announce.h"

#define SETTLE_US   100000 /* for the listener to go to sleep */
#define MEET_MS     450    /* less than the half second after which it gives up */
#define IDLE_US     300000
#define IDLE_CPU_MS 150
#define TRIES_MS    120000 /* a machine under load may be late many times */
#define SKIPPED     77

#define EXPECT(condition)                                                        \
	do {                                                                     \
		if (!(condition)) {                                              \
			(void)fprintf(stderr, "%d: %s\n", __LINE__, #condition); \
			return 1;                                                \
		}                                                                \
	} while (0)

static struct fake_host
	system_host; /* a place with a page, and nobody there; `host` is the user's */

int __wrap_etw_runtime_find_places(enum etw_instance instance, struct etw_runtime_places *ret);
bool __wrap_etw_runtime_is_one(void);

int __wrap_etw_runtime_find_places(enum etw_instance instance, struct etw_runtime_places *ret)
{
	const struct fake_host *at = instance == ETW_INSTANCE_SYSTEM ? &system_host : &host;

	memcpy(ret->first, at->directory, strlen(at->directory) + 1);
	ret->second[0] = '\0';
	return 0;
}

bool __wrap_etw_runtime_is_one(void)
{
	return false;
}

static void name_away(char *ret, size_t room)
{
	(void)snprintf(ret, room, "%s.away", host.directory);
}

/* Both places, that of the user moved away. */
static int open_places(void)
{
	char away[PATH_MAX + 8];

	EXPECT(fake_host_init(&system_host) == 0 && fake_host_init(&host) == 0);
	name_away(away, sizeof(away));
	EXPECT(rename(host.directory, away) == 0);
	return 0;
}

/* The user's host starts, with a place that was not there. */
static int start_user_host(void)
{
	char away[PATH_MAX + 8];

	name_away(away, sizeof(away));
	EXPECT(rename(away, host.directory) == 0);
	EXPECT(fake_host_start(&host) == 0);
	return 0;
}

static void close_places(void)
{
	fake_host_leave(&host);
	fake_host_done(&host);
	fake_host_done(&system_host);
}

static uint32_t told_registered(void)
{
	uint32_t registered;

	(void)pthread_mutex_lock(&host.lock);
	registered = host.registered;
	(void)pthread_mutex_unlock(&host.lock);
	return registered;
}

static int register_and_settle(void)
{
	REGHANDLE handle;

	EXPECT(etw_provider_register(&test_provider, NULL, NULL, &handle) == 0);
	(void)usleep(SETTLE_US);
	return 0;
}

static int meet_new_host(void)
{
	uint64_t before;

	EXPECT(start_user_host() == 0);
	before = etw_monotonic_ms();
	etw_announce_meet();
	EXPECT(etw_monotonic_ms() - before < MEET_MS);
	EXPECT(told_registered() == 1);
	return 0;
}

static int try_to_meet(void)
{
	EXPECT(open_places() == 0);
	EXPECT(register_and_settle() == 0);
	EXPECT(meet_new_host() == 0);
	close_places();
	return 0;
}

static int try_to_register(void)
{
	static struct fake_session session;
	REGHANDLE handle;

	EXPECT(open_places() == 0);
	EXPECT(register_and_settle() == 0);
	EXPECT(fake_session_open(&session, 1, 4, TEST_BUFFER_BYTES, WIRE_RING_ONE_STREAM) == 0);
	EXPECT(fake_host_enable(&host, &test_provider, &session, (struct fake_wish){.level = 5}) ==
	       0);
	EXPECT(start_user_host() == 0);
	EXPECT(etw_provider_register(&test_provider, NULL, NULL, &handle) == 0);
	EXPECT(etw_provider_gate(handle) == 1);
	close_places();
	return 0;
}

static uint64_t instance; /* what the callback was told last; atomic */

static void NTAPI note_instance(LPCGUID source, ULONG code, UCHAR level, ULONGLONG any,
				ULONGLONG all, PEVENT_FILTER_DESCRIPTOR filter, PVOID context)
{
	EVENT_FILTER_HEADER header;

	(void)source;
	(void)code;
	(void)level;
	(void)any;
	(void)all;
	(void)context;
	if (!filter || filter->Size < sizeof(header))
		return;
	memcpy(&header, (const void *)(uintptr_t)filter->Ptr, sizeof(header));
	store_release(&instance, header.InstanceId);
}

static int expect_events(struct fake_session *session, unsigned wanted)
{
	struct taken taken = {0};

	EXPECT(fake_session_take(session, keep_event, &taken) >= 0);
	EXPECT(taken.count == wanted);
	return 0;
}

/* Each host numbers its sessions from 0; a writer tells them apart all the same. */
static int try_to_exclude(void)
{
	static struct fake_session sessions[2];
	struct fake_host *const hosts[2] = {&system_host, &host};
	const EVENT_DESCRIPTOR descriptor = {.Id = 1, .Level = 1};
	struct etw_event_request request = {.descriptor = &descriptor, .activity = &test_activity};
	uint64_t instances[2];
	REGHANDLE handle;

	EXPECT(fake_host_init(&system_host) == 0 && fake_host_init(&host) == 0);
	EXPECT(fake_host_start(&system_host) == 0 && fake_host_start(&host) == 0);
	EXPECT(etw_provider_register(&test_provider, note_instance, NULL, &handle) == 0);
	for (unsigned i = 0; i < 2; i++) {
		EXPECT(fake_host_wait_registered(hosts[i], 1) == 0);
		EXPECT(fake_session_open(&sessions[i], 1, 4, TEST_BUFFER_BYTES,
					 WIRE_RING_ONE_STREAM) == 0);
		EXPECT(fake_host_enable(hosts[i], &test_provider, &sessions[i],
					(struct fake_wish){.level = 5, .has_block = true}) == 0);
		instances[i] = load_acquire(&instance);
		EXPECT(instances[i] == UINT64_C(1) << (i * WIRE_ENABLE_SLOTS));
	}
	for (unsigned i = 0; i < 2; i++) {
		request.excluded = (uint32_t)instances[i];
		EXPECT(etw_provider_write(handle, &request) == 0);
		EXPECT(expect_events(&sessions[i], 0) == 0);
		EXPECT(expect_events(&sessions[!i], 1) == 0);
	}
	request.excluded = (uint32_t)(instances[0] | instances[1]);
	EXPECT(etw_provider_write(handle, &request) == 0);
	EXPECT(expect_events(&sessions[0], 0) == 0 && expect_events(&sessions[1], 0) == 0);
	fake_host_leave(&host);
	fake_host_leave(&system_host);
	fake_host_done(&host);
	fake_host_done(&system_host);
	return 0;
}

/* A host that died leaves its epoch as it was: nobody is there to be met. */
static int try_to_meet_the_dead(void)
{
	uint64_t before;

	EXPECT(open_places() == 0);
	EXPECT(start_user_host() == 0);
	fake_host_die(&host);
	fake_host_lose_keeper(&host);
	EXPECT(register_and_settle() == 0);
	before = etw_monotonic_ms();
	etw_announce_meet();
	EXPECT(etw_monotonic_ms() - before < MEET_MS);
	fake_host_done(&host);
	fake_host_done(&system_host);
	return 0;
}

/* As the filters of containers do with calls that they do not know. */
static bool forbid_futex_waitv(void)
{
	struct sock_filter steps[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_futex_waitv, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {sizeof(steps) / sizeof(steps[0]), steps};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static uint64_t cpu_ms(void)
{
	struct rusage usage = {0};

	(void)getrusage(RUSAGE_SELF, &usage);
	return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000 +
	       (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1000;
}

static int try_without_futex_waitv(void)
{
	uint64_t before;

	if (!forbid_futex_waitv())
		return SKIPPED;
	EXPECT(open_places() == 0);
	EXPECT(register_and_settle() == 0);
	before = cpu_ms();
	(void)usleep(IDLE_US);
	EXPECT(cpu_ms() - before < IDLE_CPU_MS);
	EXPECT(meet_new_host() == 0);
	fake_host_leave(&host);
	(void)usleep(SETTLE_US);
	before = cpu_ms(); /* both have a page now */
	(void)usleep(IDLE_US);
	EXPECT(cpu_ms() - before < IDLE_CPU_MS);
	fake_host_done(&host);
	fake_host_done(&system_host);
	return 0;
}

static int run_once(int (*scenario)(void))
{
	int status = 0;
	pid_t child = fork();

	assert_true(child >= 0);
	if (child == 0)
		_exit(scenario());
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void run(int (*scenario)(void))
{
	const uint64_t end_ms = etw_monotonic_ms() + TRIES_MS;
	int result;

	do
		result = run_once(scenario);
	while (result && result != SKIPPED && etw_monotonic_ms() < end_ms);
	if (result == SKIPPED) {
		print_message("no filters of system calls here\n");
		skip();
	}
	assert_int_equal(result, 0);
}

static void test_listener_links__a_controller_meets_a_host_whose_page_is_new(void **state)
{
	(void)state;
	run(try_to_meet);
}

static void test_listener_links__a_registration_meets_a_host_whose_page_is_new(void **state)
{
	(void)state;
	run(try_to_register);
}

static void test_listener_links__nobody_waits_for_a_host_that_died(void **state)
{
	(void)state;
	run(try_to_meet_the_dead);
}

static void test_listener_links__a_refused_futex_waitv_costs_no_processor(void **state)
{
	(void)state;
	run(try_without_futex_waitv);
}

static void test_listener_links__sessions_of_two_hosts_have_numbers_of_their_own(void **state)
{
	(void)state;
	run(try_to_exclude);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_listener_links__a_controller_meets_a_host_whose_page_is_new),
		cmocka_unit_test(
			test_listener_links__a_registration_meets_a_host_whose_page_is_new),
		cmocka_unit_test(test_listener_links__nobody_waits_for_a_host_that_died),
		cmocka_unit_test(test_listener_links__a_refused_futex_waitv_costs_no_processor),
		cmocka_unit_test(
			test_listener_links__sessions_of_two_hosts_have_numbers_of_their_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
