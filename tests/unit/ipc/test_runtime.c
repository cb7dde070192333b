/* SPDX-License-Identifier: MIT */
/* Where the runtime directory is. What is in it: test_runtime_page.c and test_runtime_socket.c. */
#include <errno.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "unit/ipc/runtime_test.h"

static void assert_directory(enum etw_instance instance, const char *wanted)
{
	char got[PATH_MAX];

	assert_int_equal(etw_runtime_directory(instance, got), 0);
	assert_string_equal(got, wanted);
}

static void test_runtime__one_variable_names_both_instances(void **state)
{
	(void)state;
	(void)setenv("ETW_RUNTIME_DIR", "/x/y", 1);
	assert_directory(ETW_INSTANCE_SYSTEM, "/x/y");
	assert_directory(ETW_INSTANCE_USER, "/x/y");
	assert_true(etw_runtime_is_one());
	(void)setenv("ETW_RUNTIME_DIR", "", 1);
	assert_directory(ETW_INSTANCE_SYSTEM, "/run/etw");
	assert_int_equal(etw_runtime_is_one(), geteuid() == 0);
	(void)unsetenv("ETW_RUNTIME_DIR");
}

static void test_runtime__a_name_too_long(void **state)
{
	char *name = malloc(PATH_MAX + 1);
	char got[PATH_MAX];

	(void)state;
	assert_non_null(name);
	memset(name, 'x', PATH_MAX);
	name[PATH_MAX] = '\0';
	(void)setenv("ETW_RUNTIME_DIR", name, 1);
	assert_int_equal(etw_runtime_directory(ETW_INSTANCE_USER, got), -ENAMETOOLONG);
	name[PATH_MAX - 1] = '\0';
	(void)setenv("ETW_RUNTIME_DIR", name, 1);
	assert_int_equal(etw_runtime_directory(ETW_INSTANCE_USER, got), 0);
	(void)unsetenv("ETW_RUNTIME_DIR");
	free(name);
}

/* Runs a check as another user, in a process of its own; returns its result, or skips without root. */
static int as_user(uid_t uid, int (*check)(void))
{
	int status;
	pid_t pid;

	need_root();
	pid = fork();
	if (pid == 0) {
		if (setresuid(uid, uid, uid) < 0)
			_exit(255);
		_exit(check() & 0xFF);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int check_user_directories(void)
{
	char got[PATH_MAX];

	/* `base` was given to this user: see below. */
	(void)setenv("XDG_RUNTIME_DIR", base, 1);
	if (etw_runtime_directory(ETW_INSTANCE_USER, got) || strcmp(got, directory) != 0)
		return 1;
	/* Another user's, or nobody's, as sudo and su may leave it. */
	(void)setenv("XDG_RUNTIME_DIR", "/", 1);
	if (etw_runtime_directory(ETW_INSTANCE_USER, got) || strcmp(got, "/tmp/etw-65534") != 0)
		return 6;
	(void)setenv("XDG_RUNTIME_DIR", "/nonexistent", 1);
	if (etw_runtime_directory(ETW_INSTANCE_USER, got) || strcmp(got, "/tmp/etw-65534") != 0)
		return 7;
	(void)setenv("XDG_RUNTIME_DIR", "relative", 1);
	if (etw_runtime_directory(ETW_INSTANCE_USER, got) || strcmp(got, "/tmp/etw-65534") != 0)
		return 2;
	(void)unsetenv("XDG_RUNTIME_DIR");
	if (etw_runtime_directory(ETW_INSTANCE_USER, got) || strcmp(got, "/tmp/etw-65534") != 0)
		return 3;
	if (etw_runtime_directory(ETW_INSTANCE_SYSTEM, got) || strcmp(got, "/run/etw") != 0)
		return 4;
	return etw_runtime_is_one() ? 5 : 0;
}

static void test_runtime__where_a_user_has_it(void **state)
{
	(void)state;
	if (geteuid() == 0)
		assert_int_equal(chown(base, 65534, 65534), 0);
	assert_int_equal(as_user(65534, check_user_directories), 0);
}

/* Of nobody else: other tests may be at work as the usual ones. */
static uid_t lonely_uid(void)
{
	return 1000000 + (uid_t)getpid();
}

static char squatted[64];

static bool is_at_home(const char *got)
{
	return strncmp(got, base, strlen(base)) == 0 && strstr(got, "/.cache/etw/run-");
}

static int check_squatted(void)
{
	struct wire_discovery_page *page;
	const struct wire_discovery_page *read_page;
	struct etw_runtime_places *places = calloc(1, sizeof(*places));
	char got[PATH_MAX];
	int listener;

	(void)setenv("HOME", base, 1);
	(void)unsetenv("XDG_RUNTIME_DIR");
	/* A provider that looked before anybody was there looks again. */
	if (!places || etw_runtime_find_places(ETW_INSTANCE_USER, places) || !places->second[0])
		return 1;
	if (etw_runtime_directory(ETW_INSTANCE_USER, got) || !is_at_home(got))
		return 2;
	if (strcmp(etw_runtime_place(places), got) != 0)
		return 3;
	if (etw_runtime_prepare(got, &page) || etw_runtime_listen(got, &listener))
		return 4;
	etw_runtime_announce(page, true);
	if (etw_runtime_page(etw_runtime_place(places), &read_page) || !(read_page->epoch & 1))
		return 5;
	return 0;
}

static int check_left(void)
{
	char got[PATH_MAX];

	(void)setenv("HOME", base, 1);
	(void)unsetenv("XDG_RUNTIME_DIR");
	/* Where the sessions are they stay, when the name becomes free. */
	if (etw_runtime_directory(ETW_INSTANCE_USER, got) || !is_at_home(got))
		return 1;
	(void)setenv("HOME", "/", 1); /* another user's */
	return etw_runtime_directory(ETW_INSTANCE_USER, got) || strcmp(got, squatted) != 0 ? 2 : 0;
}

static int check_free(void)
{
	char got[PATH_MAX];

	(void)setenv("HOME", base, 1);
	(void)unsetenv("XDG_RUNTIME_DIR");
	return etw_runtime_directory(ETW_INSTANCE_USER, got) || strcmp(got, squatted) != 0;
}

/* Who is first in /tmp keeps nobody else from having a host. */
static void test_runtime__a_squatter_in_tmp_denies_nothing(void **state)
{
	uid_t uid = lonely_uid();

	(void)state;
	need_root();
	(void)snprintf(squatted, sizeof(squatted), "/tmp/etw-%u", (unsigned)uid);
	assert_int_equal(chown(base, uid, uid), 0);
	assert_int_equal(as_user(uid, check_free), 0);
	assert_int_equal(mkdir(squatted, 0777), 0);
	assert_int_equal(as_user(uid, check_squatted), 0);
	assert_int_equal(rmdir(squatted), 0);
	assert_int_equal(as_user(uid, check_left), 0);
	/* A link to a folder of the user's is nothing that the user has made. */
	assert_int_equal(symlink(base, squatted), 0);
	assert_int_equal(as_user(uid, check_squatted), 0);
	assert_int_equal(unlink(squatted), 0);
	/* One's own comes first. */
	assert_int_equal(mkdir(squatted, 0700), 0);
	assert_int_equal(chown(squatted, uid, uid), 0);
	assert_int_equal(as_user(uid, check_free), 0);
	assert_int_equal(rmdir(squatted), 0);
}

static void test_runtime__root_has_the_system_instance_alone(void **state)
{
	(void)state;
	need_root();
	assert_directory(ETW_INSTANCE_USER, "/run/etw");
	assert_directory(ETW_INSTANCE_SYSTEM, "/run/etw");
	assert_true(etw_runtime_is_one());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_runtime__one_variable_names_both_instances),
		CASE(test_runtime__a_name_too_long),
		CASE(test_runtime__where_a_user_has_it),
		CASE(test_runtime__a_squatter_in_tmp_denies_nothing),
		CASE(test_runtime__root_has_the_system_instance_alone),
	};

	(void)unsetenv("ETW_RUNTIME_DIR");
	(void)unsetenv("XDG_RUNTIME_DIR");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
