/* SPDX-License-Identifier: MIT */
/*
 * Starting the host. etwd is this very program, which ETW_ETWD names: asked to be the host it serves until
 * its controllers have left.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "control/control.h"
#include "control/host_start.h"
#include "ipc/start_report.h"
#include "unit/control/fake_host.h"

static struct wire_sessions sessions;

static bool is_used(void)
{
	for (int i = 0; i < CONNECTIONS; i++) {
		if (host.fds[i] >= 0)
			return true;
	}
	return false;
}

/*
 * Says the numbers in $TEST_HOST_REPORT of its start; without them nothing, like an etwd that does not know of
 * it. Returns whether to serve: no, when the last one is not 0.
 */
static bool report_as_told(void)
{
	const char *words = getenv("TEST_HOST_REPORT");
	int word = 0;

	while (words && *words) {
		char *end;

		word = (int)strtol(words, &end, 10);
		(void)!write(ETW_START_REPORT_FD, &word, sizeof(word));
		words = end + (*end == ',');
	}
	(void)close(ETW_START_REPORT_FD);
	return word == 0;
}

/* This program as etwd: serves until its controller leaves. */
static int be_host(void)
{
	struct wire_discovery_page *page;
	const char *slow = getenv("TEST_HOST_SLOW");

	(void)alarm(600);
	if (getenv("TEST_HOST_LOG"))
		fprintf(stderr, "a word of the host\n");
	(void)snprintf(directory, sizeof(directory), "%s", getenv("ETW_RUNTIME_DIR"));
	for (int fd = 3; fd < 1024; fd++) {
		if (fd != ETW_START_REPORT_FD && fcntl(fd, F_GETFD) >= 0)
			return 3; /* something leaked */
	}
	if (!report_as_told())
		return 1;
	if (slow)
		(void)usleep(200000);
	host_reset();
	host.kick[0] = -1;
	if (etw_runtime_prepare(directory, &page) < 0 ||
	    etw_runtime_listen(directory, &host.listener) < 0)
		return 1;
	etw_runtime_announce(page, true);
	do
		(void)serve_round();
	while (!host.hellos || is_used());
	return 0;
}

static void name_host(void)
{
	char path[PATH_MAX];
	ssize_t chars = readlink("/proc/self/exe", path, sizeof(path) - 1);

	assert_true(chars > 0);
	path[chars] = '\0';
	(void)setenv("ETW_ETWD", path, 1);
	(void)setenv("TEST_BE_HOST", "1", 1);
}

static void unname_host(void)
{
	(void)unsetenv("ETW_ETWD");
	(void)unsetenv("TEST_BE_HOST");
	(void)unsetenv("TEST_HOST_SLOW");
	(void)unsetenv("TEST_HOST_LOG");
	(void)unsetenv("TEST_HOST_REPORT");
}

static void test_host_start__the_host_is_started(void **state)
{
	struct etw_controller *controller = NULL;
	int r, before = dup(0), after;

	(void)state;
	(void)close(before);
	name_host();
	assert_true(dup2(0, 77) == 77); /* must not be there in the host */
	r = etw_controller_open(ETW_INSTANCE_USER, true, NULL, &controller);
	(void)close(77);
	unname_host();
	assert_int_equal(r, 0);
	assert_int_equal(etw_control_list(controller, &sessions), 0);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child is left behind */
	assert_int_equal(errno, ECHILD);
	etw_controller_close(controller);
	after = dup(0);
	assert_int_equal(before, after);
	(void)close(after);
}

static void test_host_start__a_host_that_takes_its_time(void **state)
{
	struct etw_controller *controller = NULL;
	int r;

	(void)state;
	name_host();
	(void)setenv("TEST_HOST_SLOW", "1", 1);
	r = etw_controller_open(ETW_INSTANCE_SYSTEM, true, NULL, &controller);
	unname_host();
	assert_int_equal(r, 0);
	etw_controller_close(controller);
}

static void *open_one(void *ret)
{
	struct etw_controller *controller = NULL;

	*(int *)ret = etw_controller_open(ETW_INSTANCE_USER, true, NULL, &controller);
	(void)usleep(100000); /* so that the host stays until all are there */
	etw_controller_close(controller);
	return NULL;
}

static void test_host_start__two_starters_share_one_host(void **state)
{
	pthread_t threads[4];
	int results[4];

	(void)state;
	name_host();
	(void)setenv("TEST_HOST_SLOW", "1", 1);
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, open_one, &results[i]), 0);
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	unname_host();
	for (int i = 0; i < 4; i++)
		assert_int_equal(results[i], 0);
}

static void test_host_start__what_the_host_says_goes_into_the_log(void **state)
{
	struct etw_controller *controller = NULL;
	char path[128], line[64] = "";
	FILE *file;
	int r;

	(void)state;
	name_host();
	(void)snprintf(path, sizeof(path), "%s/log", directory);
	(void)setenv("ETWD_LOG", path, 1);
	(void)setenv("TEST_HOST_LOG", "1", 1);
	r = etw_controller_open(ETW_INSTANCE_USER, true, NULL, &controller);
	unname_host();
	assert_int_equal(r, 0);
	etw_controller_close(controller);
	file = fopen(path, "r");
	assert_non_null(file);
	assert_non_null(fgets(line, sizeof(line), file));
	assert_string_equal(line, "a word of the host\n");
	(void)fclose(file);
}

static void test_host_start__no_etwd_is_enoexec(void **state)
{
	struct etw_controller *controller = NULL;
	char path[128];
	int fd;

	(void)state;
	(void)setenv("ETW_ETWD", "/nonexistent/etwd", 1);
	assert_int_equal(etw_controller_open(ETW_INSTANCE_USER, true, NULL, &controller), -ENOEXEC);
	(void)setenv("ETW_ETWD", directory, 1);
	assert_int_equal(etw_controller_open(ETW_INSTANCE_USER, true, NULL, &controller), -ENOEXEC);
	/* There, executable, and no program: the exec fails. */
	(void)snprintf(path, sizeof(path), "%s/etwd", directory);
	fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0755);
	assert_int_equal(write(fd, "\177ELF", 4), 4);
	(void)close(fd);
	(void)setenv("ETW_ETWD", path, 1);
	assert_int_equal(etw_controller_open(ETW_INSTANCE_USER, true, NULL, &controller), -ENOEXEC);
	assert_null(controller);
}

static void test_host_start__a_host_that_never_comes_is_etimedout(void **state)
{
	struct etw_controller *controller = NULL;

	(void)state;
	(void)setenv("ETW_ETWD", "/bin/true", 1);
	assert_int_equal(etw_controller_open(ETW_INSTANCE_USER, true, NULL, &controller),
			 -ETIMEDOUT);
	assert_null(controller);
}

/* A host that cannot start says why, at once. The patience would be half a minute. */
static void test_host_start__a_host_says_why_it_cannot_start(void **state)
{
	static const struct {
		const char *words;
		int result;
	} rows[] = {
		{"1,-24", -EMFILE}, {"1,-12", -ENOMEM}, {"1,-27", -EFBIG}, {"1,-28", -ENOSPC},
		{"-13", -EACCES},   {"1,-2", -ENOTDIR}, /* -ENOENT: there is none */
		{"1", -ECHILD},                         /* something killed it */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct etw_controller *controller = NULL;
		int r;

		name_host();
		(void)setenv("TEST_HOST_REPORT", rows[i].words, 1);
		r = etw_controller_open(ETW_INSTANCE_USER, true, NULL, &controller);
		unname_host();
		assert_int_equal(r, rows[i].result);
		assert_null(controller);
	}
}

static void test_host_start__a_host_says_that_it_is_ready(void **state)
{
	struct etw_controller *controller = NULL;
	int r;

	(void)state;
	name_host();
	(void)setenv("TEST_HOST_REPORT", "1,0", 1);
	r = etw_controller_open(ETW_INSTANCE_USER, true, NULL, &controller);
	unname_host();
	assert_int_equal(r, 0);
	etw_controller_close(controller);
}

static void test_host_start__etwd_is_found_by_path(void **state)
{
	char path[128], search[PATH_MAX], found[PATH_MAX];
	const char *before = getenv("PATH");

	(void)state;
	(void)snprintf(path, sizeof(path), "%s/etwd", directory);
	(void)close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0755));
	(void)snprintf(search, sizeof(search), "/nonexistent::%s", directory);
	(void)setenv("PATH", search, 1);
	/* A build of everything has one beside this program, which goes before. */
	assert_int_equal(etw_host_find(found), 0);
	assert_non_null(strstr(found, "/etwd"));
	(void)setenv("ETW_ETWD", path, 1);
	assert_int_equal(etw_host_find(found), 0);
	assert_string_equal(found, path);
	(void)setenv("PATH", before, 1);
}

/* The places that were looked at in vain, each with what is wrong there. */
static char told[1024];

static void take_place(void *context, const char *path, const char *problem)
{
	size_t used = strlen(told);

	assert_ptr_equal(context, told);
	(void)snprintf(told + used, sizeof(told) - used, "%s%s%s\n", path, problem ? " " : "",
		       problem ? problem : "");
}

static void test_host_start__what_etw_etwd_names_is_told(void **state)
{
	char found[PATH_MAX] = "untouched";

	(void)state;
	told[0] = '\0';
	(void)setenv("ETW_ETWD", "/nonexistent/etwd", 1);
	assert_int_equal(etw_host_look(take_place, told, found), -ENOEXEC);
	assert_string_equal(told, "/nonexistent/etwd is what ETW_ETWD says, and no program\n");
	assert_string_equal(found, "untouched");
}

/*
 * This program, copied to another folder: says by its status where it finds etwd, and whether the place
 * $TEST_TOLD was told as one in vain.
 */
static int find_beside(const char *wanted)
{
	const char *place = getenv("TEST_TOLD");
	char found[PATH_MAX];
	int result = etw_host_look(take_place, told, found);

	if (place && !strstr(told, place))
		return 3;
	return result == 0 && strcmp(found, wanted) == 0 ? 1 : 2;
}

static int copy_and_find(const char *wanted)
{
	char command[512];
	int status;

	(void)snprintf(command, sizeof(command),
		       "mkdir -p '%s/bin' && cp /proc/%d/exe '%s/bin/program' && "
		       "PATH=/usr/bin:/bin TEST_FIND='%s' '%s/bin/program'",
		       directory, (int)getpid(), directory, wanted, directory);
	status = system(command);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void make_program(const char *path)
{
	int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0755);

	assert_true(fd >= 0);
	(void)close(fd);
}

/* As an installation lays it out, wherever that was moved to. */
static void test_host_start__etwd_is_found_in_a_moved_tree(void **state)
{
	char path[128], places[256];

	(void)state;
	(void)snprintf(path, sizeof(path), "%s/libexec", directory);
	assert_int_equal(mkdir(path, 0755), 0);
	(void)snprintf(path, sizeof(path), "%s/libexec/etw", directory);
	assert_int_equal(mkdir(path, 0755), 0);
	(void)snprintf(path, sizeof(path), "%s/libexec/etw/etwd", directory);
	make_program(path);
	(void)snprintf(path, sizeof(path), "%s/bin/../libexec/etw/etwd", directory);
	(void)snprintf(places, sizeof(places), "%s/bin/etwd\n%s/bin/../bin/etwd\n", directory,
		       directory);
	(void)setenv("TEST_TOLD", places, 1);
	assert_int_equal(copy_and_find(path), 1);
	(void)unsetenv("TEST_TOLD");
}

/* A folder like /tmp: whoever was there first must not be run with the rights of who comes after. */
static void test_host_start__anothers_etwd_beside_is_not_run(void **state)
{
	char path[128];

	(void)state;
	if (geteuid() != 0) {
		print_message("skipped: only root can make another user's file\n");
		skip();
	}
	(void)snprintf(path, sizeof(path), "%s/bin", directory);
	assert_int_equal(mkdir(path, 0755), 0);
	(void)snprintf(path, sizeof(path), "%s/bin/etwd", directory);
	make_program(path);
	assert_int_equal(copy_and_find(path), 1);
	assert_int_equal(chown(path, 65534, 65534), 0);
	(void)setenv("TEST_TOLD", "/bin/etwd belongs to another user\n", 1);
	assert_int_equal(copy_and_find(path), 2);
	(void)unsetenv("TEST_TOLD");
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_host_start__the_host_is_started),
		CASE(test_host_start__a_host_that_takes_its_time),
		CASE(test_host_start__two_starters_share_one_host),
		CASE(test_host_start__what_the_host_says_goes_into_the_log),
		CASE(test_host_start__no_etwd_is_enoexec),
		CASE(test_host_start__a_host_that_never_comes_is_etimedout),
		CASE(test_host_start__a_host_says_why_it_cannot_start),
		CASE(test_host_start__a_host_says_that_it_is_ready),
		CASE(test_host_start__etwd_is_found_by_path),
		CASE(test_host_start__what_etw_etwd_names_is_told),
		CASE(test_host_start__etwd_is_found_in_a_moved_tree),
		CASE(test_host_start__anothers_etwd_beside_is_not_run),
	};

	if (getenv("TEST_FIND"))
		return find_beside(getenv("TEST_FIND"));
	if (getenv("TEST_BE_HOST"))
		return be_host();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
