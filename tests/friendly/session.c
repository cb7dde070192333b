/* SPDX-License-Identifier: MIT */
/* Every error that etw/session.h and the sessions of etw/reader.h list and that can be provoked. Needs ETW_ETWD. */
#include <grp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <errno.h>
#include <etw/etw.h>
#include <evntrace.h>

#define SESSIONS_OF_A_HOST     64
#define SESSIONS_OF_A_PROVIDER 8
#define NOBODY                 65534

static char folder[] = "/tmp/etw-friendly-XXXXXX";

#define OK(expression)                                                   \
	do {                                                             \
		if (expression)                                          \
			fail_msg("%s: %s", #expression, libetw_error()); \
	} while (0)

/* The call fails with this, and the sentence has this word. */
#define FAILS(expression, error, word)                                                          \
	do {                                                                                    \
		assert_int_equal(expression, error);                                            \
		if (!strstr(libetw_error(), word))                                              \
			fail_msg("%s: \"%s\" lacks \"%s\"", #expression, libetw_error(), word); \
	} while (0)

static int set_up(void **state)
{
	(void)state;
	/* Others may come in, and the host leaves soon after the last test. */
	if (!mkdtemp(folder) || chmod(folder, 0755) || setenv("ETWD_IDLE_MS", "1000", 1))
		return -1;
	return setenv("ETW_RUNTIME_DIR", folder, 1);
}

static int tear_down(void **state)
{
	char command[sizeof(folder) + 16];

	(void)state;
	(void)snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	return system(command);
}

static int try_start(const char *name, struct libetw_session **ret)
{
	const struct libetw_session_options options = {.name = name, .is_real_time = 1};

	return libetw_session_start(&options, ret);
}

static struct libetw_session *start(const char *name)
{
	struct libetw_session *session;

	OK(try_start(name, &session));
	return session;
}

static void stop(struct libetw_session *session)
{
	OK(libetw_session_stop(session, NULL));
	libetw_session_close(session);
}

/* Comes first: once a host runs, nobody looks for its program. */
static void test_session__a_host_must_be_found(void **state)
{
	char *etwd = strdup(getenv("ETW_ETWD"));
	struct libetw_session *session = NULL;

	(void)state;
	assert_int_equal(setenv("ETW_ETWD", "/nowhere/etwd", 1), 0);
	FAILS(try_start("any", &session), -ENOEXEC, "etwd is not to be found");
	/* Nobody starts a host to learn that it has no sessions. */
	FAILS(libetw_session_open("any", &session), -ENOENT, "no such session");
	assert_null(session);
	assert_int_equal(setenv("ETW_ETWD", etwd, 1), 0);
	free(etwd);
}

static void test_session__options_that_cannot_be(void **state)
{
	char long_name[2000], long_file[5000];
	struct libetw_session_options options = {0};
	struct libetw_session *session = NULL;

	(void)state;
	memset(long_name, 'n', sizeof(long_name));
	long_name[sizeof(long_name) - 1] = '\0';
	memset(long_file, 'f', sizeof(long_file));
	long_file[0] = '/';
	long_file[sizeof(long_file) - 1] = '\0';
	FAILS(libetw_session_start(NULL, &session), -EINVAL, "needs a name");
	FAILS(libetw_session_start(&options, &session), -EINVAL, "needs a name");
	options.is_real_time = 1;
	FAILS(libetw_session_start(&options, &session), -EINVAL, "needs a name");
	options.name = "";
	FAILS(libetw_session_start(&options, &session), -EINVAL, "needs a name");
	options.name = long_name;
	FAILS(libetw_session_start(&options, &session), -EINVAL, "1024");
	options.name = "some";
	options.reserved[6] = 1;
	FAILS(libetw_session_start(&options, &session), -EINVAL, "zero");
	options.reserved[6] = 0;
	options.is_real_time = 0;
	FAILS(libetw_session_start(&options, &session), -EINVAL, "neither a file");
	options.file = "/nowhere/at/all.etl";
	FAILS(libetw_session_start(&options, &session), -ENOENT, "folder");
	options.file = long_file;
	FAILS(libetw_session_start(&options, &session), -ENAMETOOLONG, "cannot write");
	FAILS(libetw_session_open(long_name, &session), -EINVAL, "1024");
	FAILS(libetw_session_open("", &session), -EINVAL, "name");
	FAILS(libetw_session_open(NULL, &session), -EINVAL, "name");
	assert_null(session);
}

static void test_session__a_name_is_taken_once(void **state)
{
	struct libetw_session *first = start("Taken"), *second = NULL;
	struct libetw_session_info info = {0};

	(void)state;
	FAILS(try_start("tAKEN", &second), -EEXIST, "runs already");
	OK(libetw_session_open("taken", &second));
	OK(libetw_session_query(second, &info));
	assert_true(info.buffer_kib > 0 && info.start_ns > 0);
	assert_null(info.complaint);
	OK(libetw_session_flush(second));
	stop(first);
	/* The other handle is of a session that is gone. */
	FAILS(libetw_session_query(second, &info), -ENOENT, "no such session");
	FAILS(libetw_session_flush(second), -ENOENT, "no such session");
	FAILS(libetw_session_stop(second, &info), -ENOENT, "no such session");
	FAILS(libetw_session_enable(second, &(GUID){.Data1 = 1}, NULL), -ENOENT, "no such session");
	FAILS(libetw_session_disable(second, &(GUID){.Data1 = 1}), -ENOENT, "no such session");
	libetw_session_close(second);
	libetw_session_close(NULL);
	FAILS(libetw_session_open("taken", &second), -ENOENT, "no such session");
}

/* 64 sessions of a user, 63 of the system. */
static void test_session__a_host_has_a_limit(void **state)
{
	struct libetw_session *sessions[SESSIONS_OF_A_HOST + 1];
	int count = 0, result = 0;
	char name[32];

	(void)state;
	while (!result && count <= SESSIONS_OF_A_HOST) {
		(void)snprintf(name, sizeof(name), "Session %d", count);
		result = try_start(name, &sessions[count]);
		count += !result;
	}
	assert_int_equal(result, -EUSERS);
	assert_non_null(strstr(libetw_error(), "too many"));
	assert_true(count >= SESSIONS_OF_A_HOST - 1);
	while (count > 0)
		stop(sessions[--count]);
}

static void test_session__a_provider_has_a_limit(void **state)
{
	struct libetw_session *sessions[SESSIONS_OF_A_PROVIDER + 1];
	const GUID provider = {.Data1 = 77};
	char name[32];

	(void)state;
	for (int i = 0; i <= SESSIONS_OF_A_PROVIDER; i++) {
		(void)snprintf(name, sizeof(name), "Limit %d", i);
		sessions[i] = start(name);
		if (i < SESSIONS_OF_A_PROVIDER)
			OK(libetw_session_enable(sessions[i], &provider, NULL));
	}
	FAILS(libetw_session_enable(sessions[SESSIONS_OF_A_PROVIDER], &provider, NULL), -ENOSPC,
	      "8 sessions");
	OK(libetw_session_disable(sessions[0], &provider));
	OK(libetw_session_enable(sessions[SESSIONS_OF_A_PROVIDER], &provider, NULL));
	for (int i = 0; i <= SESSIONS_OF_A_PROVIDER; i++)
		stop(sessions[i]);
}

static void test_session__filters_that_cannot_be(void **state)
{
	static const uint32_t pids[] = {1};
	static const uint16_t ids[] = {1};
	static const char data[2000];
	struct libetw_session *session = start("Filters");
	const GUID provider = {.Data1 = 78};
	struct libetw_enable_options options = {.pids = pids, .pid_count = 1};

	(void)state;
	OK(libetw_session_enable(session, &provider, &options));
	options.pid_count = MAX_EVENT_FILTER_PID_COUNT + 1;
	FAILS(libetw_session_enable(session, &provider, &options), -EINVAL, "8 processes");
	options = (struct libetw_enable_options){.event_ids = ids, .event_id_count = 1};
	OK(libetw_session_enable(session, &provider, &options));
	options.event_id_count = MAX_EVENT_FILTER_EVENT_ID_COUNT + 1;
	FAILS(libetw_session_enable(session, &provider, &options), -EINVAL, "64 event ids");
	options = (struct libetw_enable_options){
		.filter_type = EVENT_FILTER_TYPE_CONTAINER, .filter = data, .filter_bytes = 4};
	FAILS(libetw_session_enable(session, &provider, &options), -EOPNOTSUPP, "0x80008000");
	options = (struct libetw_enable_options){
		.filter_type = 1, .filter = data, .filter_bytes = sizeof(data)};
	FAILS(libetw_session_enable(session, &provider, &options), -EINVAL, "larger");
	options.filter = NULL;
	options.filter_bytes = 1;
	FAILS(libetw_session_enable(session, &provider, &options), -EINVAL, "filter");
	options = (struct libetw_enable_options){.reserved = {1}};
	FAILS(libetw_session_enable(session, &provider, &options), -EINVAL, "zero");
	FAILS(libetw_session_enable_named(session, NULL, "{no guid}", NULL), -EINVAL, "no name");
	stop(session);
}

/* What a callback does, and is to do; atomic. */
struct patience {
	uint32_t calls;
	uint32_t is_held; /* it returns when that is over */
};

static void NTAPI be_patient(LPCGUID source, ULONG code, UCHAR level, ULONGLONG any, ULONGLONG all,
			     PEVENT_FILTER_DESCRIPTOR filter, PVOID context)
{
	struct patience *patience = context;

	(void)source;
	(void)code;
	(void)level;
	(void)any;
	(void)all;
	(void)filter;
	__atomic_add_fetch(&patience->calls, 1, __ATOMIC_RELEASE);
	while (__atomic_load_n(&patience->is_held, __ATOMIC_ACQUIRE))
		(void)usleep(1000);
}

static void test_session__a_callback_may_be_too_slow(void **state)
{
	const struct libetw_enable_options options = {.timeout_ms = 50};
	struct libetw_session *session = start("Slow");
	const GUID provider = {.Data1 = 79};
	struct patience patience = {0};
	REGHANDLE handle;

	(void)state;
	assert_int_equal(EventRegister(&provider, be_patient, &patience, &handle), 0);
	/* Whom the host does not know yet it does not wait for. */
	OK(libetw_session_enable(session, &provider, NULL));
	for (int i = 0; i < 60000 && !__atomic_load_n(&patience.calls, __ATOMIC_ACQUIRE); i++)
		(void)usleep(1000);
	__atomic_store_n(&patience.is_held, 1, __ATOMIC_RELEASE);
	FAILS(libetw_session_enable(session, &provider, &options), -ETIMEDOUT, "callback");
	__atomic_store_n(&patience.is_held, 0, __ATOMIC_RELEASE);
	stop(session);
	assert_int_equal(EventUnregister(handle), 0);
}

/*
 * What only the system's host may, which root runs: another user may talk to it, but not start this. Forks, so
 * it comes before what makes threads.
 */
static void test_session__the_kernel_is_not_everybodys(void **state)
{
	struct libetw_session *own;
	pid_t child;
	int status;

	(void)state;
	if (geteuid() != 0) {
		print_message("skipped: only root can be the system's host and somebody else\n");
		skip();
	}
	own = start("Root's");
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		struct libetw_session *session;

		if (setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY))
			_exit(2);
		/* Whether others' sessions exist is told to nobody. */
		if (libetw_session_open("Root's", &session) != -ENOENT)
			_exit(3);
		_exit(try_start(KERNEL_LOGGER_NAMEA, &session) != -EACCES);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	stop(own);
}

/* What is not built, or what this machine has not, is no error; but it is told. */
static void test_session__what_the_kernel_refuses_is_a_complaint(void **state)
{
	const struct libetw_session_options options = {.name = KERNEL_LOGGER_NAMEA,
						       .is_real_time = 1,
						       .kernel_flags = EVENT_TRACE_FLAG_PROCESS |
								       EVENT_TRACE_FLAG_REGISTRY};
	struct libetw_session_info info = {0};
	struct libetw_session *session;

	(void)state;
	OK(libetw_session_start(&options, &session));
	OK(libetw_session_query(session, &info));
	assert_true(info.is_kernel);
	assert_non_null(info.complaint);
	assert_non_null(strstr(info.complaint, "REGISTRY"));
	stop(session);
}

static void test_session__readers_of_it(void **state)
{
	struct libetw_session_options options = {.name = "File alone"};
	struct libetw_reader *readers[256] = {NULL};
	struct libetw_session *session;
	char path[sizeof(folder) + 16];
	size_t count = 0;
	int result = 0;

	(void)state;
	OK(libetw_reader_create(NULL, &readers[0]));
	FAILS(libetw_reader_add_session(readers[0], "Nobody's"), -ENOENT, "no session");
	(void)snprintf(path, sizeof(path), "%s/a.etl", folder);
	options.file = path;
	OK(libetw_session_start(&options, &session));
	FAILS(libetw_reader_add_session(readers[0], options.name), -EINVAL, "no real-time");
	stop(session);
	session = start("Popular");
	while (!result && count < 255) {
		result = libetw_reader_add_session(readers[count], "Popular");
		if (!result)
			OK(libetw_reader_create(NULL, &readers[++count]));
	}
	assert_int_equal(result, -EBUSY);
	for (size_t i = 0; i <= count; i++)
		libetw_reader_free(readers[i]);
	stop(session);
}

static struct libetw_reader *stopped; /* by the handler below */

static void stop_at_signal(int number)
{
	(void)number;
	libetw_reader_stop(stopped);
}

/* What Ctrl-C does. */
static void test_session__a_signal_stops_a_run(void **state)
{
	struct itimerval soon = {.it_value = {.tv_usec = 50000}};
	struct sigaction action = {.sa_handler = stop_at_signal};
	struct libetw_session *session = start("Interrupted");

	(void)state;
	OK(libetw_reader_create(NULL, &stopped));
	OK(libetw_reader_add_session(stopped, "Interrupted"));
	assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
	assert_int_equal(setitimer(ITIMER_REAL, &soon, NULL), 0);
	assert_int_equal(libetw_reader_run(stopped), LIBETW_STOPPED);
	action.sa_handler = SIG_DFL;
	assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
	libetw_reader_free(stopped);
	stop(session);
}

struct hurry {
	struct libetw_reader *reader;
	pthread_barrier_t ready;
};

static void *stop_often(void *context)
{
	struct hurry *hurry = context;

	(void)pthread_barrier_wait(&hurry->ready);
	for (int i = 0; i < 20000; i++)
		libetw_reader_stop(hurry->reader);
	return NULL;
}

static void test_session__a_reader_may_be_stopped_while_it_is_made(void **state)
{
	struct libetw_session *session = start("Hurried");
	struct hurry hurry;
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_barrier_init(&hurry.ready, NULL, 2), 0);
	for (int round = 0; round < 5; round++) {
		OK(libetw_reader_create(NULL, &hurry.reader));
		assert_int_equal(pthread_create(&thread, NULL, stop_often, &hurry), 0);
		(void)pthread_barrier_wait(&hurry.ready);
		for (int i = 0; i < 8; i++)
			OK(libetw_reader_add_session(hurry.reader, "Hurried"));
		assert_int_equal(pthread_join(thread, NULL), 0);
		assert_int_equal(libetw_reader_run(hurry.reader), LIBETW_STOPPED);
		libetw_reader_free(hurry.reader);
	}
	(void)pthread_barrier_destroy(&hurry.ready);
	stop(session);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_session__a_host_must_be_found),
		cmocka_unit_test(test_session__the_kernel_is_not_everybodys),
		cmocka_unit_test(test_session__options_that_cannot_be),
		cmocka_unit_test(test_session__a_name_is_taken_once),
		cmocka_unit_test(test_session__a_host_has_a_limit),
		cmocka_unit_test(test_session__a_provider_has_a_limit),
		cmocka_unit_test(test_session__filters_that_cannot_be),
		cmocka_unit_test(test_session__a_callback_may_be_too_slow),
		cmocka_unit_test(test_session__what_the_kernel_refuses_is_a_complaint),
		cmocka_unit_test(test_session__readers_of_it),
		cmocka_unit_test(test_session__a_signal_stops_a_run),
		cmocka_unit_test(test_session__a_reader_may_be_stopped_while_it_is_made),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
