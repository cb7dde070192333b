/* SPDX-License-Identifier: MIT */
/*
 * The runtime directory: where it is, who may own what, the discovery page and the hello. Each test has a
 * directory of its own. What needs another user's files is tried by root alone.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/atomic.h"
#include "ipc/connection.h"
#include "ipc/runtime.h"

static char base[64], directory[PATH_MAX], path[PATH_MAX + 64];

static const char *in_directory(const char *name)
{
	(void)snprintf(path, sizeof(path), "%s/%s", directory, name);
	return path;
}

static int setup(void **state)
{
	(void)state;
	strcpy(base, "/tmp/etw-test-runtime-XXXXXX");
	if (!mkdtemp(base))
		return -1;
	(void)snprintf(directory, sizeof(directory), "%s/etw", base);
	return 0;
}

static int teardown(void **state)
{
	char command[128];

	(void)state;
	(void)snprintf(command, sizeof(command), "rm -rf '%s'", base);
	return system(command);
}

static struct wire_discovery_page *prepare(void)
{
	struct wire_discovery_page *page = NULL;

	assert_int_equal(etw_runtime_prepare(directory, &page), 0);
	assert_non_null(page);
	return page;
}

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
static void need_root(void)
{
	if (geteuid() == 0)
		return;
	print_message("skipped: only root can be another user, or give a file away\n");
	skip();
}

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

static void test_runtime__prepare_makes_directory_and_page(void **state)
{
	struct wire_discovery_page *page, *second;
	struct stat info;
	mode_t mask = umask(0777);

	(void)state;
	page = prepare();
	(void)umask(mask);
	assert_int_equal(page->magic, WIRE_DISCOVERY_PAGE_MAGIC);
	assert_int_equal(page->epoch, 0);
	assert_int_equal(stat(directory, &info), 0);
	assert_int_equal(info.st_mode & 07777, geteuid() == 0 ? 0755 : 0700);
	assert_int_equal(stat(in_directory(ETW_RUNTIME_PAGE), &info), 0);
	assert_int_equal(info.st_mode & 07777, 0644);
	assert_int_equal(info.st_size, WIRE_DISCOVERY_PAGE_BYTES);
	etw_runtime_announce(page, true);
	second = prepare(); /* the next host finds it as it is */
	assert_int_equal(second->epoch, 1);
	etw_runtime_page_unmap(page);
	etw_runtime_page_unmap(second);
	etw_runtime_page_unmap(NULL);
}

static void test_runtime__prepare_makes_no_foreign_parents(void **state)
{
	struct wire_discovery_page *page;

	(void)state;
	strcat(directory, "/deeper");
	assert_int_equal(etw_runtime_prepare(directory, &page), -ENOENT);
}

static void test_runtime__prepare_refuses_what_others_can_write(void **state)
{
	struct wire_discovery_page *page = prepare();

	(void)state;
	etw_runtime_page_unmap(page);
	assert_int_equal(chmod(in_directory(ETW_RUNTIME_PAGE), 0666), 0);
	assert_int_equal(etw_runtime_prepare(directory, &page), -EPERM);
	assert_int_equal(chmod(in_directory(ETW_RUNTIME_PAGE), 0644), 0);
	assert_int_equal(chmod(directory, 0777), 0);
	assert_int_equal(etw_runtime_prepare(directory, &page), -EPERM);
	assert_int_equal(chmod(directory, 0720), 0);
	assert_int_equal(etw_runtime_prepare(directory, &page), -EPERM);
}

static void test_runtime__prepare_follows_no_links(void **state)
{
	struct wire_discovery_page *page = prepare();

	(void)state;
	etw_runtime_page_unmap(page);
	assert_int_equal(unlink(in_directory(ETW_RUNTIME_PAGE)), 0);
	assert_int_equal(symlink("elsewhere", in_directory(ETW_RUNTIME_PAGE)), 0);
	assert_int_equal(etw_runtime_prepare(directory, &page), -EPERM);
	assert_int_equal(unlink(in_directory(ETW_RUNTIME_PAGE)), 0);
	assert_int_equal(mkdir(in_directory(ETW_RUNTIME_PAGE), 0755), 0);
	assert_int_equal(etw_runtime_prepare(directory, &page), -EPERM);
	(void)snprintf(path, sizeof(path), "%s/link", base);
	assert_int_equal(symlink(directory, path), 0);
	assert_int_equal(etw_runtime_prepare(path, &page), -EPERM);
	(void)snprintf(path, sizeof(path), "%s/file", base);
	(void)close(open(path, O_CREAT | O_WRONLY, 0600));
	assert_int_equal(etw_runtime_prepare(path, &page), -EPERM);
}

static void test_runtime__prepare_refuses_another_users(void **state)
{
	struct wire_discovery_page *page;

	(void)state;
	need_root();
	page = prepare();
	etw_runtime_page_unmap(page);
	assert_int_equal(chown(in_directory(ETW_RUNTIME_PAGE), 65534, 65534), 0);
	assert_int_equal(etw_runtime_prepare(directory, &page), -EPERM);
	assert_int_equal(chown(in_directory(ETW_RUNTIME_PAGE), 0, 0), 0);
	assert_int_equal(chown(directory, 65534, 65534), 0);
	assert_int_equal(etw_runtime_prepare(directory, &page), -EPERM);
}

static void test_runtime__a_page_of_another_version(void **state)
{
	struct wire_discovery_page *page = prepare();
	const struct wire_discovery_page *seen;

	(void)state;
	page->version++;
	assert_int_equal(etw_runtime_page(directory, &seen), -EPROTO);
	assert_int_equal(etw_runtime_prepare(directory, &page), -EPROTO);
	page->version--;
	page->magic++;
	assert_int_equal(etw_runtime_page(directory, &seen), -EPROTO);
	assert_int_equal(etw_runtime_prepare(directory, &page), -EPROTO);
	etw_runtime_page_unmap(page);
	assert_int_equal(truncate(in_directory(ETW_RUNTIME_PAGE), 16), 0);
	assert_int_equal(etw_runtime_page(directory, &seen), -EPROTO);
}

static void test_runtime__announce_counts_up(void **state)
{
	struct wire_discovery_page *page = prepare();
	static const struct {
		bool is_hosted;
		uint32_t epoch;
	} rows[] = {{true, 1}, {false, 2}, {false, 2}, {true, 3}, {true, 5}, {false, 6}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		etw_runtime_announce(page, rows[i].is_hosted);
		assert_int_equal(page->epoch, rows[i].epoch);
	}
	etw_runtime_page_unmap(page);
}

static void test_runtime__no_page_is_enoent(void **state)
{
	const struct wire_discovery_page *page;

	(void)state;
	assert_int_equal(etw_runtime_page(directory, &page), -ENOENT);
	assert_int_equal(mkdir(directory, 0700), 0);
	assert_int_equal(etw_runtime_page(directory, &page), -ENOENT);
}

static void test_runtime__a_page_of_doubtful_owners(void **state)
{
	struct wire_discovery_page *page = prepare();
	const struct wire_discovery_page *seen;

	(void)state;
	etw_runtime_page_unmap(page);
	assert_int_equal(chmod(in_directory(ETW_RUNTIME_PAGE), 0646), 0);
	assert_int_equal(etw_runtime_page(directory, &seen), -EPERM);
	assert_int_equal(unlink(in_directory(ETW_RUNTIME_PAGE)), 0);
	assert_int_equal(symlink("/dev/zero", in_directory(ETW_RUNTIME_PAGE)), 0);
	assert_int_equal(etw_runtime_page(directory, &seen), -EPERM);
	assert_int_equal(unlink(in_directory(ETW_RUNTIME_PAGE)), 0);
	assert_int_equal(mkfifo(in_directory(ETW_RUNTIME_PAGE), 0600), 0);
	assert_int_equal(etw_runtime_page(directory, &seen), -EPERM);
	if (geteuid() == 0) {
		assert_int_equal(unlink(in_directory(ETW_RUNTIME_PAGE)), 0);
		etw_runtime_page_unmap(prepare());
		assert_int_equal(chown(in_directory(ETW_RUNTIME_PAGE), 65534, 65534), 0);
		assert_int_equal(etw_runtime_page(directory, &seen), -EPERM);
	}
}

static void test_runtime__wait_ends_with_the_time(void **state)
{
	const struct wire_discovery_page *seen;

	(void)state;
	etw_runtime_page_unmap(prepare());
	assert_int_equal(etw_runtime_page(directory, &seen), 0);
	assert_int_equal(etw_runtime_wait(seen, 0, 1), -ETIMEDOUT);
	assert_int_equal(etw_runtime_wait(seen, 0, 0), -ETIMEDOUT);
	assert_int_equal(etw_runtime_wait(seen, 4, UINT32_MAX), 0);
	etw_runtime_page_unmap(seen);
}

static void *announce(void *page)
{
	(void)usleep(20000);
	etw_runtime_announce(page, true);
	return NULL;
}

static void test_runtime__wait_ends_with_a_host(void **state)
{
	struct wire_discovery_page *page = prepare();
	const struct wire_discovery_page *seen;
	pthread_t thread;

	(void)state;
	assert_int_equal(etw_runtime_page(directory, &seen), 0);
	assert_int_equal(pthread_create(&thread, NULL, announce, page), 0);
	assert_int_equal(etw_runtime_wait(seen, 0, 60000), 0);
	assert_int_equal(load_relaxed(&seen->epoch), 1);
	assert_int_equal(pthread_join(thread, NULL), 0);
	etw_runtime_page_unmap(seen);
	etw_runtime_page_unmap(page);
}

static void on_alarm(int number)
{
	(void)number;
}

static void test_runtime__wait_ends_with_a_signal(void **state)
{
	struct sigaction action = {.sa_handler = on_alarm}, before;
	struct itimerspec soon = {.it_value.tv_nsec = 20000000, .it_interval.tv_nsec = 20000000};
	const struct wire_discovery_page *seen;
	timer_t timer;

	(void)state;
	etw_runtime_page_unmap(prepare());
	assert_int_equal(etw_runtime_page(directory, &seen), 0);
	assert_int_equal(sigaction(SIGALRM, &action, &before), 0);
	assert_int_equal(timer_create(CLOCK_MONOTONIC, NULL, &timer), 0);
	assert_int_equal(timer_settime(timer, 0, &soon, NULL), 0);
	assert_int_equal(etw_runtime_wait(seen, 0, 60000), -EINTR);
	(void)timer_delete(timer);
	(void)sigaction(SIGALRM, &before, NULL);
	etw_runtime_page_unmap(seen);
}

/* A host that takes one connection and answers the hello as it is told to. */
struct host {
	int listener;
	uint32_t type, protocol;
	int32_t status;
	bool has_clock, is_silent, is_closing;
	bool is_refusing; /* answers before it is asked, and ends the connection */
	uint32_t role;    /* what the hello said */
};

static void answer(const struct host *host, int fd, struct etw_ipc_message *message)
{
	struct wire_message head = {host->type, message->head.request, host->status};
	struct wire_welcome welcome = {host->protocol, 1, 2, 3, 4};
	int clock = open("/dev/null", O_RDONLY | O_CLOEXEC);
	size_t bytes = head.type == WIRE_WELCOME
			       ? wire_message_encode_welcome(&head, &welcome, message->room)
			       : wire_message_encode_plain(&head, message->room);

	(void)etw_ipc_send(fd, message->room, bytes, &clock, host->has_clock);
	(void)close(clock);
}

static void *serve(void *context)
{
	struct host *host = context;
	struct etw_ipc_message *message = malloc(sizeof(*message));
	struct wire_hello hello;
	int fd = accept4(host->listener, NULL, NULL, SOCK_CLOEXEC);

	etw_ipc_message_init(message);
	message->head.request = 1;
	if (host->is_refusing)
		answer(host, fd, message);
	else if (!host->is_closing && !etw_ipc_receive(fd, message) &&
		 message->head.type == WIRE_HELLO &&
		 !wire_message_decode_hello(message->datagram, &hello)) {
		host->role = hello.role;
		if (!host->is_silent)
			answer(host, fd, message);
		/* Until the other end is gone: an early end would look like a host that died. */
		if (host->is_silent)
			(void)etw_ipc_receive(fd, message);
	}
	(void)close(fd);
	etw_ipc_message_done(message);
	free(message);
	return NULL;
}

static struct wire_welcome welcome;
static int clock_fd;

static int connect_to_host(struct host *host)
{
	pthread_t thread;
	int fd = -1, r, flags;

	etw_runtime_page_unmap(prepare());
	assert_int_equal(etw_runtime_listen(directory, &host->listener), 0);
	flags = fcntl(host->listener, F_GETFL);
	assert_true(flags & O_NONBLOCK);
	assert_int_equal(fcntl(host->listener, F_SETFL, flags & ~O_NONBLOCK), 0);
	assert_int_equal(pthread_create(&thread, NULL, serve, host), 0);
	clock_fd = -1;
	r = etw_runtime_connect(directory, WIRE_ROLE_CONSUMER, &fd, &welcome, &clock_fd);
	if (!r) {
		assert_int_equal(fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
		assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
		(void)close(fd);
	} else {
		assert_int_equal(fd, -1);
		assert_int_equal(clock_fd, -1);
	}
	assert_int_equal(pthread_join(thread, NULL), 0);
	(void)close(host->listener);
	return r;
}

static struct host good_host(void)
{
	return (struct host){
		.type = WIRE_WELCOME, .protocol = WIRE_PROTOCOL_VERSION, .has_clock = true};
}

static void test_runtime__connect_says_hello(void **state)
{
	struct host host = good_host();
	int before = dup(0), after;

	(void)state;
	(void)close(before);
	assert_int_equal(connect_to_host(&host), 0);
	assert_int_equal(host.role, WIRE_ROLE_CONSUMER);
	assert_int_equal(welcome.pid, 2);
	assert_int_equal(welcome.uid, 3);
	assert_int_equal(welcome.incarnation, 4);
	assert_int_equal(fcntl(clock_fd, F_GETFD), FD_CLOEXEC);
	(void)close(clock_fd);
	after = dup(0);
	assert_int_equal(before, after); /* nothing was left open */
	(void)close(after);
}

static void test_runtime__connect_works_in_a_deep_directory(void **state)
{
	struct host host = good_host();

	(void)state;
	for (int i = 0; i < 3; i++) {
		size_t length = strlen(directory);

		assert_int_equal(mkdir(directory, 0700), 0);
		directory[length] = '/';
		memset(directory + length + 1, 'd', 60);
		directory[length + 61] = '\0';
	}
	assert_int_equal(connect_to_host(&host), 0);
	(void)close(clock_fd);
}

static void test_runtime__connect_with_another_protocol(void **state)
{
	struct host host = good_host();

	(void)state;
	host.protocol++;
	assert_int_equal(connect_to_host(&host), -EPROTO);
	host = good_host();
	host.type = WIRE_REPLY;
	assert_int_equal(connect_to_host(&host), -EPROTO);
	host = good_host();
	host.has_clock = false;
	assert_int_equal(connect_to_host(&host), -EPROTO);
}

static void test_runtime__connect_gives_the_hosts_status(void **state)
{
	struct host host = good_host();

	(void)state;
	host.status = -EACCES;
	assert_int_equal(connect_to_host(&host), -EACCES);
	host = good_host();
	host.type = WIRE_REPLY;
	host.status = -EUSERS;
	assert_int_equal(connect_to_host(&host), -EUSERS);
}

/* Whichever comes first, the hello or the end of the connection: the client learns why. */
static void test_runtime__connect_learns_why_it_is_refused(void **state)
{
	(void)state;
	for (int i = 0; i < 200; i++) {
		struct host host = good_host();

		host.is_refusing = true;
		host.has_clock = false;
		host.status = i % 2 ? -EUSERS : -ETOOMANYREFS;
		assert_int_equal(connect_to_host(&host), host.status);
	}
	assert_non_null(strstr(etw_runtime_sentence(-ETOOMANYREFS), "this user"));
	assert_non_null(strstr(etw_runtime_sentence(-EUSERS), "all users"));
	assert_string_equal(etw_runtime_sentence(-EACCES), strerror(EACCES));
}

static void test_runtime__connect_to_a_host_that_goes(void **state)
{
	struct host host = good_host();

	(void)state;
	host.is_closing = true;
	assert_int_equal(connect_to_host(&host), -ECONNREFUSED);
}

static void test_runtime__connect_to_a_host_that_stands_still(void **state)
{
	struct host host = good_host();

	(void)state;
	host.is_silent = true;
	assert_int_equal(connect_to_host(&host), -ETIMEDOUT);
}

static void test_runtime__connect_without_a_host(void **state)
{
	struct wire_welcome got;
	int listener, fd;

	(void)state;
	assert_int_equal(etw_runtime_connect(directory, WIRE_ROLE_PROVIDER, &fd, &got, NULL),
			 -ENOENT);
	etw_runtime_page_unmap(prepare());
	assert_int_equal(etw_runtime_connect(directory, WIRE_ROLE_PROVIDER, &fd, &got, NULL),
			 -ENOENT);
	assert_int_equal(etw_runtime_listen(directory, &listener), 0);
	(void)close(listener);
	assert_int_equal(etw_runtime_connect(directory, WIRE_ROLE_PROVIDER, &fd, &got, NULL),
			 -ECONNREFUSED);
}

static void test_runtime__connect_believes_no_foreign_directory(void **state)
{
	struct wire_welcome got;
	int fd;

	(void)state;
	(void)snprintf(path, sizeof(path), "%s/link", base);
	assert_int_equal(symlink(base, path), 0);
	assert_int_equal(etw_runtime_connect(path, WIRE_ROLE_PROVIDER, &fd, &got, NULL), -EACCES);
	if (geteuid() != 0)
		return;
	assert_int_equal(chown(base, 65534, 65534), 0);
	assert_int_equal(etw_runtime_connect(base, WIRE_ROLE_PROVIDER, &fd, &got, NULL), -EACCES);
}

static int listen_and_sleep(int ready)
{
	int fd;

	if (etw_runtime_listen(directory, &fd) || write(ready, "", 1) != 1)
		return 1;
	(void)alarm(600);
	(void)pause();
	return 0;
}

/* Root's directory with the socket of another user's process, which root left there. */
static void test_runtime__connect_believes_no_foreign_process(void **state)
{
	struct wire_welcome got;
	int status, fd, r, ready[2];
	pid_t pid;
	char byte;

	(void)state;
	need_root();
	assert_int_equal(pipe(ready), 0);
	assert_int_equal(chmod(base, 0755), 0);
	assert_int_equal(mkdir(directory, 0755), 0);
	assert_int_equal(chown(directory, 65534, 65534), 0);
	pid = fork();
	if (pid == 0)
		_exit(setresuid(65534, 65534, 65534) < 0 ? 255 : listen_and_sleep(ready[1]));
	/* Once it listens, the directory becomes root's. */
	(void)close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	(void)close(ready[0]);
	assert_int_equal(chown(directory, 0, 0), 0);
	r = etw_runtime_connect(directory, WIRE_ROLE_PROVIDER, &fd, &got, NULL);
	(void)kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(r, -EACCES);
}

static void test_runtime__only_one_host_listens(void **state)
{
	struct stat info;
	int first, second = -1;
	mode_t mask = umask(0777);

	(void)state;
	etw_runtime_page_unmap(prepare());
	assert_int_equal(etw_runtime_listen(directory, &first), 0);
	(void)umask(mask);
	assert_int_equal(stat(in_directory(ETW_RUNTIME_SOCKET), &info), 0);
	assert_int_equal(info.st_mode & 07777, 0666);
	assert_int_equal(fcntl(first, F_GETFD), FD_CLOEXEC);
	assert_int_equal(etw_runtime_listen(directory, &second), -EADDRINUSE);
	assert_int_equal(second, -1);
	(void)close(first);
	assert_int_equal(etw_runtime_listen(directory, &second), 0); /* over the dead socket */
	(void)close(second);
}

static void test_runtime__listen_needs_its_own_directory(void **state)
{
	int fd;

	(void)state;
	assert_int_equal(etw_runtime_listen(directory, &fd), -ENOENT);
	assert_int_equal(mkdir(directory, 0700), 0);
	assert_int_equal(chmod(directory, 0777), 0);
	assert_int_equal(etw_runtime_listen(directory, &fd), -EPERM);
	assert_int_equal(chmod(directory, 0700), 0);
	assert_int_equal(symlink("elsewhere", in_directory("lock")), 0);
	assert_int_equal(etw_runtime_listen(directory, &fd), -EPERM);
}

static void *listen_at_once(void *ret)
{
	*(int *)ret = -1;
	(void)etw_runtime_listen(directory, ret);
	return NULL;
}

static void test_runtime__of_many_starters_one_listens(void **state)
{
	pthread_t threads[8];
	int fds[8], winners = 0;

	(void)state;
	etw_runtime_page_unmap(prepare());
	assert_int_equal(etw_runtime_listen(directory, &fds[0]), 0);
	(void)close(fds[0]); /* a dead socket lies there */
	for (int i = 0; i < 8; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, listen_at_once, &fds[i]), 0);
	for (int i = 0; i < 8; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	for (int i = 0; i < 8; i++) {
		winners += fds[i] >= 0;
		if (fds[i] >= 0)
			(void)close(fds[i]);
	}
	assert_int_equal(winners, 1);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_runtime__one_variable_names_both_instances),
		CASE(test_runtime__a_name_too_long),
		CASE(test_runtime__where_a_user_has_it),
		CASE(test_runtime__a_squatter_in_tmp_denies_nothing),
		CASE(test_runtime__root_has_the_system_instance_alone),
		CASE(test_runtime__prepare_makes_directory_and_page),
		CASE(test_runtime__prepare_makes_no_foreign_parents),
		CASE(test_runtime__prepare_refuses_what_others_can_write),
		CASE(test_runtime__prepare_follows_no_links),
		CASE(test_runtime__prepare_refuses_another_users),
		CASE(test_runtime__a_page_of_another_version),
		CASE(test_runtime__announce_counts_up),
		CASE(test_runtime__no_page_is_enoent),
		CASE(test_runtime__a_page_of_doubtful_owners),
		CASE(test_runtime__wait_ends_with_the_time),
		CASE(test_runtime__wait_ends_with_a_host),
		CASE(test_runtime__wait_ends_with_a_signal),
		CASE(test_runtime__connect_says_hello),
		CASE(test_runtime__connect_works_in_a_deep_directory),
		CASE(test_runtime__connect_with_another_protocol),
		CASE(test_runtime__connect_gives_the_hosts_status),
		CASE(test_runtime__connect_learns_why_it_is_refused),
		CASE(test_runtime__connect_to_a_host_that_goes),
		CASE(test_runtime__connect_to_a_host_that_stands_still),
		CASE(test_runtime__connect_without_a_host),
		CASE(test_runtime__connect_believes_no_foreign_directory),
		CASE(test_runtime__connect_believes_no_foreign_process),
		CASE(test_runtime__only_one_host_listens),
		CASE(test_runtime__listen_needs_its_own_directory),
		CASE(test_runtime__of_many_starters_one_listens),
	};

	(void)unsetenv("ETW_RUNTIME_DIR");
	(void)unsetenv("XDG_RUNTIME_DIR");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
