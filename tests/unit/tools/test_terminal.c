/* SPDX-License-Identifier: MIT */
/* Progress on terminals that know escape sequences, and on those that do not. */
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cmocka.h>

#include "tools/common/terminal.h"

#define LONG_MS 120000
#define MARK    '|'

/* Standard error is a terminal, until leave(). */
struct screen {
	int controller;
	int before; /* what standard error was */
};

static void enter(struct screen *screen)
{
	int terminal;

	screen->controller = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
	assert_true(screen->controller >= 0);
	assert_int_equal(grantpt(screen->controller), 0);
	assert_int_equal(unlockpt(screen->controller), 0);
	terminal = open(ptsname(screen->controller), O_RDWR | O_NOCTTY);
	assert_true(terminal >= 0);
	screen->before = dup(STDERR_FILENO);
	assert_int_equal(dup2(terminal, STDERR_FILENO), STDERR_FILENO);
	(void)close(terminal);
}

static void leave(const struct screen *screen)
{
	(void)dup2(screen->before, STDERR_FILENO);
	(void)close(screen->before);
	(void)close(screen->controller);
}

/*
 * What the terminal shows until now; bytes of it. The kernel hands a terminal's output on when it
 * likes, in pieces, so a mark is written behind it and awaited.
 */
static size_t read_to_mark(const struct screen *screen, char *ret, size_t room)
{
	struct pollfd poller = {.fd = screen->controller, .events = POLLIN};
	size_t length = 0;

	assert_int_equal(write(STDERR_FILENO, &(char){MARK}, 1), 1);
	do {
		ssize_t bytes;

		assert_int_equal(poll(&poller, 1, LONG_MS), 1);
		assert_true(length < room);
		bytes = read(screen->controller, ret + length, room - length);
		assert_true(bytes > 0);
		length += (size_t)bytes;
	} while (ret[length - 1] != MARK);
	return length - 1;
}

/* All that progress says of work that takes long, with this TERM; NULL: none. */
static void show_progress(const char *term, char *ret, size_t room)
{
	struct etw_progress progress;
	struct screen screen;
	size_t length;

	if (term)
		(void)setenv("TERM", term, 1);
	else
		(void)unsetenv("TERM");
	enter(&screen);
	etw_progress_start(&progress, "Reading", 4);
	progress.start_ms -= progress.is_wanted ? LONG_MS : 0;
	etw_progress_add(&progress, 1);
	etw_progress_end(&progress);
	(void)fflush(stderr);
	length = read_to_mark(&screen, ret, room);
	leave(&screen);
	ret[length] = '\0';
}

static void test_terminal__progress_is_taken_away(void **state)
{
	char said[256];

	(void)state;
	show_progress("xterm", said, sizeof(said));
	assert_string_equal(said, "\rReading:  25%\r\033[K");
}

static void test_terminal__a_dumb_one_shows_no_progress(void **state)
{
	char said[256];

	(void)state;
	show_progress("dumb", said, sizeof(said));
	assert_string_equal(said, "");
	show_progress("", said, sizeof(said));
	assert_string_equal(said, "");
	show_progress(NULL, said, sizeof(said));
	assert_string_equal(said, "");
}

static void test_terminal__colours_follow_the_terminal(void **state)
{
	static const char *const terms[] = {"xterm", "dumb", ""};
	struct screen screen;

	(void)state;
	(void)unsetenv("NO_COLOR");
	for (int i = 0; i < 3; i++) {
		bool is_wanted, is_forced;

		(void)setenv("TERM", terms[i], 1);
		enter(&screen);
		is_wanted = etw_colour_wanted(STDERR_FILENO, ETW_COLOUR_AUTO);
		is_forced = etw_colour_wanted(STDERR_FILENO, ETW_COLOUR_ALWAYS);
		leave(&screen);
		assert_int_equal(is_wanted, i == 0);
		assert_true(is_forced);
	}
	assert_false(etw_terminal_moves(-1));
}

static void test_terminal__height_is_given_or_the_terminals(void **state)
{
	struct winsize size = {.ws_row = 50, .ws_col = 100};
	struct screen screen;
	size_t of_terminal, given, silly;

	(void)state;
	(void)unsetenv("LINES");
	enter(&screen);
	(void)ioctl(STDERR_FILENO, TIOCSWINSZ, &size);
	of_terminal = etw_terminal_height(STDERR_FILENO);
	(void)setenv("LINES", "33", 1);
	given = etw_terminal_height(STDERR_FILENO);
	(void)setenv("LINES", "-1", 1);
	silly = etw_terminal_height(STDERR_FILENO);
	leave(&screen);
	(void)unsetenv("LINES");
	assert_int_equal(of_terminal, 50);
	assert_int_equal(given, 33);
	assert_int_equal(silly, 50);
	assert_int_equal(etw_terminal_height(-1), 24);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_terminal__progress_is_taken_away),
		cmocka_unit_test(test_terminal__a_dumb_one_shows_no_progress),
		cmocka_unit_test(test_terminal__colours_follow_the_terminal),
		cmocka_unit_test(test_terminal__height_is_given_or_the_terminals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
