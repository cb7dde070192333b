/* SPDX-License-Identifier: MIT */
/* The socket: the hello of a peer, and who listens. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/atomic.h"
#include "base/time.h"
#include "ipc/connection.h"
#include "unit/ipc/runtime_test.h"

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
			       ? wire_message_encode_welcome(&head, &welcome, message->bytes)
			       : wire_message_encode_plain(&head, message->bytes);

	(void)etw_ipc_send(fd, message->bytes, bytes, &clock, host->has_clock);
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

static void test_runtime_socket__connect_says_hello(void **state)
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

static void test_runtime_socket__connect_works_in_a_deep_directory(void **state)
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

static void test_runtime_socket__connect_with_another_protocol(void **state)
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

static void test_runtime_socket__connect_gives_the_hosts_status(void **state)
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
static void test_runtime_socket__connect_learns_why_it_is_refused(void **state)
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

static void test_runtime_socket__connect_to_a_host_that_goes(void **state)
{
	struct host host = good_host();

	(void)state;
	host.is_closing = true;
	assert_int_equal(connect_to_host(&host), -ECONNREFUSED);
}

static void test_runtime_socket__connect_to_a_host_that_stands_still(void **state)
{
	struct host host = good_host();

	(void)state;
	host.is_silent = true;
	assert_int_equal(connect_to_host(&host), -ETIMEDOUT);
}

static void test_runtime_socket__connect_without_a_host(void **state)
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

static void test_runtime_socket__connect_believes_no_foreign_directory(void **state)
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

/* Waiting in the queue is the socket's only wait. */
static void test_runtime_socket__a_caller_waits_in_a_full_queue(void **state)
{
	struct timeval limit = {.tv_sec = 77};
	socklen_t bytes = sizeof(limit);
	uint64_t begin_ns;
	int listener, first, fd;

	(void)state;
	etw_runtime_page_unmap(prepare());
	assert_int_equal(etw_runtime_listen(directory, &listener), 0);
	assert_int_equal(listen(listener, 0), 0); /* there is room for one */
	assert_int_equal(etw_runtime_call(directory, WIRE_ROLE_PROVIDER, &first), 0);
	begin_ns = etw_monotonic_ns();
	assert_int_equal(etw_runtime_call(directory, WIRE_ROLE_PROVIDER, &fd), -EAGAIN);
	assert_true(etw_monotonic_ns() - begin_ns >= 10 * ETW_NS_PER_MS);
	assert_int_equal(etw_ipc_accept(listener, &fd), 0);
	(void)close(fd);
	assert_int_equal(etw_runtime_call(directory, WIRE_ROLE_PROVIDER, &fd), 0);
	assert_int_equal(fcntl(fd, F_GETFL) & O_NONBLOCK, O_NONBLOCK);
	assert_int_equal(getsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, &bytes), 0);
	assert_true(limit.tv_sec == 0 && limit.tv_usec == 0);
	(void)close(fd);
	(void)close(first);
	(void)close(listener);
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
static void test_runtime_socket__connect_believes_no_foreign_process(void **state)
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

static void test_runtime_socket__only_one_host_listens(void **state)
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

static void test_runtime_socket__listen_needs_its_own_directory(void **state)
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

static void test_runtime_socket__of_many_starters_one_listens(void **state)
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_runtime_socket__connect_says_hello),
		CASE(test_runtime_socket__connect_works_in_a_deep_directory),
		CASE(test_runtime_socket__connect_with_another_protocol),
		CASE(test_runtime_socket__connect_gives_the_hosts_status),
		CASE(test_runtime_socket__connect_learns_why_it_is_refused),
		CASE(test_runtime_socket__connect_to_a_host_that_goes),
		CASE(test_runtime_socket__connect_to_a_host_that_stands_still),
		CASE(test_runtime_socket__connect_without_a_host),
		CASE(test_runtime_socket__connect_believes_no_foreign_directory),
		CASE(test_runtime_socket__connect_believes_no_foreign_process),
		CASE(test_runtime_socket__a_caller_waits_in_a_full_queue),
		CASE(test_runtime_socket__only_one_host_listens),
		CASE(test_runtime_socket__listen_needs_its_own_directory),
		CASE(test_runtime_socket__of_many_starters_one_listens),
	};

	(void)unsetenv("ETW_RUNTIME_DIR");
	(void)unsetenv("XDG_RUNTIME_DIR");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
