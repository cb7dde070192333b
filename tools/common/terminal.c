/* SPDX-License-Identifier: MIT */
#include "tools/common/terminal.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/time.h"

#define DEFAULT_WIDTH  80
#define WIDEST         500
#define DEFAULT_HEIGHT 24
#define TALLEST        500
#define QUIET_MS       1000 /* progress is not shown before */
#define REFRESH_MS     100
#define DEFAULT_PAGER  "less"
#define BARE_PAGER \
	"more" /* where there is no less, as in a system that has only what it must have */
#define LESS_OPTIONS  "FRX" /* leave at once when it fits, pass colours, keep the text on screen */
#define EXIT_NO_PAGER 127

static pid_t pager_pid; /* 0: none */

bool etw_colour_mode_parse(const char *word, enum etw_colour_mode *ret)
{
	static const char *const words[] = {"auto", "always", "never"};

	for (int i = 0; i < 3; i++) {
		if (!strcmp(word, words[i])) {
			*ret = (enum etw_colour_mode)i;
			return true;
		}
	}
	return false;
}

bool etw_terminal_moves(int fd)
{
	const char *terminal = getenv("TERM");

	return isatty(fd) && terminal && *terminal && strcmp(terminal, "dumb") != 0;
}

bool etw_colour_wanted(int fd, enum etw_colour_mode mode)
{
	const char *no_colour = getenv("NO_COLOR");

	if (mode != ETW_COLOUR_AUTO)
		return mode == ETW_COLOUR_ALWAYS;
	return etw_terminal_moves(fd) && (!no_colour || !*no_colour);
}

size_t etw_terminal_width(int fd)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	long given = columns ? strtol(columns, NULL, 10) : 0;

	if (given >= 20 && given <= WIDEST)
		return (size_t)given;
	if (!ioctl(fd, TIOCGWINSZ, &size) && size.ws_col >= 20)
		return size.ws_col < WIDEST ? size.ws_col : WIDEST;
	return DEFAULT_WIDTH;
}

size_t etw_terminal_height(int fd)
{
	const char *lines = getenv("LINES");
	struct winsize size;
	long given = lines ? strtol(lines, NULL, 10) : 0;

	if (given >= 10 && given < TALLEST)
		return (size_t)given;
	if (!ioctl(fd, TIOCGWINSZ, &size) && size.ws_row >= 10)
		return size.ws_row < TALLEST ? size.ws_row : TALLEST;
	return DEFAULT_HEIGHT;
}

/* Whether the shell would find the pager's program. */
static bool is_available(const char *pager)
{
	char command[256];
	size_t bytes = strcspn(pager, " \t");

	if (bytes > sizeof(command) - 64 || strcspn(pager, "'\"$`;|&<>()\\") < bytes)
		return true; /* not a plain word: let the shell say */
	(void)snprintf(command, sizeof(command), "command -v '%.*s' >/dev/null 2>&1", (int)bytes,
		       pager);
	return !system(command);
}

static const char *choose_pager(void)
{
	const char *pager = getenv("ETW_PAGER");

	if (!pager)
		pager = getenv("PAGER");
	if (!pager)
		pager = is_available(DEFAULT_PAGER) ? DEFAULT_PAGER : BARE_PAGER;
	return *pager && strcmp(pager, "cat") != 0 ? pager : NULL;
}

/* In the child: the pager, or what it would have shown. Never returns. */
static void run_pager(const char *pager)
{
	(void)signal(SIGPIPE, SIG_DFL);
	(void)setenv("LESS", LESS_OPTIONS, /* overwrite= */ 0);
	(void)setenv("LESSCHARSET", "utf-8", /* overwrite= */ 0);
	(void)execl("/bin/sh", "sh", "-c", pager, (char *)NULL);
	_exit(EXIT_NO_PAGER);
}

bool etw_pager_start(void)
{
	const char *pager;
	int ends[2];

	if (!isatty(STDOUT_FILENO))
		return false;
	pager = choose_pager();
	if (!pager || !is_available(pager) || pipe(ends))
		return false;
	pager_pid = fork();
	if (pager_pid < 0) {
		pager_pid = 0;
		(void)close(ends[0]);
		(void)close(ends[1]);
		return false;
	}
	if (!pager_pid) {
		(void)dup2(ends[0], STDIN_FILENO);
		(void)close(ends[0]);
		(void)close(ends[1]);
		run_pager(pager);
	}
	(void)dup2(ends[1], STDOUT_FILENO);
	(void)close(ends[0]);
	(void)close(ends[1]);
	/* Interrupting is the pager's business now. */
	(void)signal(SIGINT, SIG_IGN);
	return true;
}

void etw_pager_wait(void)
{
	if (!pager_pid)
		return;
	(void)fflush(stdout);
	(void)close(STDOUT_FILENO);
	(void)waitpid(pager_pid, NULL, 0);
	pager_pid = 0;
}

void etw_progress_start(struct etw_progress *progress, const char *what, uint64_t total)
{
	*progress = (struct etw_progress){.what = what, .total = total};
	progress->is_wanted = !pager_pid && etw_terminal_moves(STDERR_FILENO);
	progress->start_ms = progress->is_wanted ? etw_monotonic_ms() : 0;
}

void etw_progress_add(struct etw_progress *progress, uint64_t count)
{
	uint64_t now;

	progress->done += count;
	if (!progress->is_wanted)
		return;
	now = etw_monotonic_ms();
	if (now - progress->start_ms < QUIET_MS || now - progress->shown_ms < REFRESH_MS)
		return;
	progress->shown_ms = now;
	if (progress->total)
		(void)fprintf(stderr, "\r%s: %3u%%", progress->what,
			      (unsigned)(progress->done * 100 / progress->total));
}

void etw_progress_end(struct etw_progress *progress)
{
	if (progress->shown_ms)
		(void)fputs("\r\033[K", stderr);
	progress->shown_ms = 0;
}
