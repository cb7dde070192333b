/* SPDX-License-Identifier: MIT */
/* The keeper's side of its standby, with one that says back what it is told. */
#include "daemon/standby.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/log.h"

/* Writes the name of each message that came with a descriptor into it. */
static _Noreturn void echo(int socket)
{
	struct etwd_keeper_message message;
	int fd;

	while (etwd_keeper_receive(socket, 0, &message, &fd) == 0) {
		if (fd >= 0 && write(fd, message.name, strlen(message.name) + 1) < 0)
			_exit(1);
		if (fd >= 0)
			close(fd);
	}
	_exit(0);
}

static void start(struct etwd_standby *standby)
{
	int socket = -1;

	etwd_standby_init(standby);
	if (etwd_standby_start(standby, 5, &socket) == 1)
		echo(socket);
	assert_true(standby->pid > 0);
	assert_int_equal(standby->due_ms, 5 + ETWD_STANDBY_PAUSE_MS);
	assert_false(etwd_standby_check(standby));
}

static void test_standby__hears_what_it_is_told(void **state)
{
	const struct etwd_keeper_message message = {.op = ETWD_KEEPER_KEEP, .name = "a name"};
	struct etwd_standby standby;
	char said[16] = "";
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	start(&standby);
	etwd_standby_tell(&standby, &message, -1);
	etwd_standby_tell(&standby, &message, ends[1]);
	assert_int_equal(read(ends[0], said, sizeof(said)), 7);
	assert_string_equal(said, "a name");
	etwd_standby_end(&standby);
	assert_int_equal(standby.pid, 0);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	etwd_standby_tell(&standby, &message, ends[1]); /* there is none: nothing happens */
	etwd_standby_end(&standby);
	close(ends[0]);
	close(ends[1]);
}

static void test_standby__death_is_noticed(void **state)
{
	const struct etwd_keeper_message message = {.op = ETWD_KEEPER_FORGET, .name = "x"};
	struct etwd_standby standby;

	(void)state;
	start(&standby);
	assert_int_equal(kill(standby.pid, SIGKILL), 0);
	while (!etwd_standby_check(&standby))
		(void)usleep(1000);
	assert_int_equal(standby.socket, -1);
	/* Met by the next message before the check. */
	start(&standby);
	assert_int_equal(kill(standby.pid, SIGKILL), 0);
	while (standby.pid)
		etwd_standby_tell(&standby, &message, -1);
	assert_true(etwd_standby_check(&standby));
}

static void test_standby__one_that_takes_nothing_is_ended(void **state)
{
	const struct etwd_keeper_message message = {.op = ETWD_KEEPER_FORGET, .name = "x"};
	struct etwd_standby standby;

	(void)state;
	start(&standby);
	assert_int_equal(kill(standby.pid, SIGSTOP), 0);
	while (standby.pid)
		etwd_standby_tell(&standby, &message, -1);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_standby__hears_what_it_is_told),
		cmocka_unit_test(test_standby__death_is_noticed),
		cmocka_unit_test(test_standby__one_that_takes_nothing_is_ended),
	};

	(void)etwd_log_open("/dev/null");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
