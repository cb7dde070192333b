/* SPDX-License-Identifier: MIT */
#include "tools/etw/record_run.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/macros.h"
#include "base/text.h"
#include "base/time.h"
#include "tools/common/number.h"
#include "tools/common/program.h"
#include "tools/common/terminal.h"

#define COUNTERS_MS   500
#define LOOK_MS       1000 /* without a terminal; a host that was replaced hears of the lease then */
#define LAST_WORDS_MS 1000 /* a command that was told to end is recorded so long */
#define EXIT_SIGNAL   128  /* shells add a signal's number to it */
#define EXIT_NO_FILE  127
#define EXIT_NO_EXEC  126
#define FT_PER_MS     10000

int record_run_init(struct record_run *run)
{
	sigset_t mask;

	*run = (struct record_run){.signals = -1, .gate = -1, .failure = -1};
	(void)sigemptyset(&mask);
	(void)sigaddset(&mask, SIGINT);
	(void)sigaddset(&mask, SIGTERM);
	(void)sigaddset(&mask, SIGHUP);
	(void)sigaddset(&mask, SIGCHLD);
	if (sigprocmask(SIG_BLOCK, &mask, &run->old_mask))
		return -errno;
	run->signals = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	return run->signals < 0 ? -errno : 0;
}

static int check_program(const char *path)
{
	struct stat info;

	if (stat(path, &info))
		return -errno;
	if (S_ISDIR(info.st_mode))
		return -EACCES;
	return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) ? -errno : 0;
}

int record_command_check(const char *name)
{
	const char *at = getenv("PATH");
	int result = -ENOENT;

	/* Without PATH there is a default, which execvp() knows. */
	if (strchr(name, '/') || !at)
		return strchr(name, '/') ? check_program(name) : 0;
	for (;; at++) {
		size_t bytes = strcspn(at, ":");
		char path[PATH_MAX];
		int length = snprintf(path, sizeof(path), "%.*s%s%s", (int)bytes, at,
				      bytes ? "/" : "", name);
		int error = length < (int)sizeof(path) ? check_program(path) : -ENAMETOOLONG;

		if (!error)
			return 0;
		/* As execvp() has it: the next may be better, and the name is known to be there. */
		if (error == -EACCES)
			result = error;
		at += bytes;
		if (!*at)
			return *name ? result : -ENOENT;
	}
}

static void close_end(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
}

/* In the child, which does nothing before it may. The pipe closes by itself when the command runs. */
static void become(const struct record_run *run, int gate, int failure, char *const *command)
{
	char may_run;
	int error;

	if (read(gate, &may_run, sizeof(may_run)) != (ssize_t)sizeof(may_run))
		_exit(EXIT_NO_FILE);
	(void)sigprocmask(SIG_SETMASK, &run->old_mask, NULL);
	(void)execvp(command[0], command);
	error = errno;
	(void)!write(failure, &error, sizeof(error));
	_exit(EXIT_NO_FILE);
}

/* The child's ends are the first of @gate, and the second of @failure. */
static int fork_command(struct record_run *run, int gate[2], int failure[2], char *const *command)
{
	(void)fflush(NULL);
	run->child = fork();
	if (run->child < 0) {
		run->child = 0;
		return -errno;
	}
	if (!run->child) {
		close_end(&gate[1]);
		become(run, gate[0], failure[1], command);
	}
	run->gate = gate[1];
	run->failure = failure[0];
	gate[1] = failure[0] = -1;
	return 0;
}

int record_run_prepare(struct record_run *run, char *const *command)
{
	int gate[2] = {-1, -1}, failure[2] = {-1, -1};
	int result = 0;

	if (pipe2(gate, O_CLOEXEC) || pipe2(failure, O_CLOEXEC))
		result = -errno;
	if (!result)
		result = fork_command(run, gate, failure, command);
	for (int i = 0; i < 2; i++) {
		close_end(&gate[i]);
		close_end(&failure[i]);
	}
	return result;
}

void record_run_cancel(struct record_run *run)
{
	close_end(&run->gate);
	close_end(&run->failure);
	if (run->child)
		(void)waitpid(run->child, NULL, 0);
	run->child = 0;
}

static int start_command(struct record_run *run, char *const *command)
{
	if (!run->child)
		TRY(record_run_prepare(run, command));
	/* One that was killed while it waited ends like a command that was. */
	(void)!write(run->gate, "", 1);
	close_end(&run->gate);
	/* Ends with what went wrong, or, when the command runs, with nothing. */
	if (read(run->failure, &run->exec_error, sizeof(run->exec_error)) !=
	    (ssize_t)sizeof(run->exec_error))
		run->exec_error = 0;
	close_end(&run->failure);
	return 0;
}

static bool reap(struct record_run *run, int flags)
{
	if (!run->child || run->has_ended)
		return run->has_ended;
	if (waitpid(run->child, &run->status, flags) == run->child)
		run->has_ended = true;
	return run->has_ended;
}

/* Takes what signals there are. Returns whether the recording is to end. */
static bool take_signals(struct record_run *run)
{
	struct signalfd_siginfo info;

	while (read(run->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			continue;
		run->signal_count++;
		run->signal = (int)info.ssi_signo;
		run->is_sent = info.ssi_code <= 0;
	}
	return reap(run, WNOHANG) || run->signal;
}

static void clear_counters(struct record_run *run)
{
	if (run->has_counters)
		(void)fputs("\r\033[K", stderr);
	run->has_counters = false;
}

static void show_counters(struct record_run *run, const struct wire_session_info *info)
{
	uint64_t now = etw_monotonic_ms(), since = now - run->last_ms;
	uint64_t fresh = info->events - run->last_events;
	struct etw_text text = {0};

	etw_number_duration(&text, (int64_t)(now - run->start_ms) * FT_PER_MS);
	etw_text_puts(&text, "  ");
	etw_number_count(&text, info->events, "event");
	etw_text_puts(&text, "  ");
	etw_number_grouped(&text, since ? fresh * 1000 / since : 0);
	etw_text_puts(&text, "/s  ");
	etw_number_bytes(&text, info->bytes);
	etw_text_puts(&text, "  lost ");
	etw_number_grouped(&text, info->events_lost);
	(void)fprintf(stderr, "\r\033[K%s", etw_text_string(&text));
	etw_text_done(&text);
	run->last_events = info->events;
	run->last_ms = now;
	run->has_counters = true;
}

static int wait_ms(const struct record_run *run, const struct record_options *options,
		   uint64_t look_at_ms)
{
	uint64_t now = etw_monotonic_ms(), until = look_at_ms;

	if (options->duration_ms && run->start_ms + options->duration_ms < until)
		until = run->start_ms + options->duration_ms;
	return until > now ? (int)(until - now) : 0;
}

static bool is_time_over(const struct record_run *run, const struct record_options *options)
{
	return options->duration_ms && etw_monotonic_ms() - run->start_ms >= options->duration_ms;
}

bool record_run_is_over(void *context)
{
	struct record_run *run = context;
	bool is_ending = take_signals(run);

	if (run->is_stopping)
		return run->signal_count != run->stop_count;
	return is_ending || (run->options && is_time_over(run, run->options));
}

void record_run_stop(struct record_run *run)
{
	run->is_stopping = true;
	run->stop_count = run->signal_count;
}

/* Signals, however many, do not keep it from looking. */
static int wait_for_end(struct record_run *run, struct recorder *recorder,
			const struct record_options *options)
{
	bool is_watched = etw_terminal_moves(STDERR_FILENO);
	uint64_t step_ms = is_watched ? COUNTERS_MS : LOOK_MS;
	uint64_t look_at_ms = etw_monotonic_ms() + step_ms;
	struct pollfd wait = {.fd = run->signals, .events = POLLIN};

	for (;;) {
		int ready = poll(&wait, 1, wait_ms(run, options, look_at_ms));
		int result;

		if (ready < 0 && errno != EINTR)
			return -errno;
		if (take_signals(run) || is_time_over(run, options))
			return 0;
		if (etw_monotonic_ms() < look_at_ms)
			continue;
		look_at_ms = etw_monotonic_ms() + step_ms;
		result = recorder_look(recorder);
		if (result == -ENOENT)
			return -ENOENT;
		run->is_host_silent &= result != 0;
		if (!result && recorder->info.file_status)
			return 0;
		if (is_watched && !result)
			show_counters(run, &recorder->info);
	}
}

/* A command whose recording was ended from the terminal got the signal too; otherwise it gets it from here. */
static void tell_child(struct record_run *run)
{
	struct pollfd wait = {.fd = run->signals, .events = POLLIN};
	uint64_t deadline = etw_monotonic_ms() + LAST_WORDS_MS;
	uint64_t now;

	if (!run->child || run->has_ended || !run->signal)
		return;
	if (run->is_sent)
		(void)kill(run->child, run->signal);
	while (!reap(run, WNOHANG) && (now = etw_monotonic_ms()) < deadline) {
		(void)poll(&wait, 1, (int)(deadline - now));
		(void)take_signals(run);
	}
}

int record_run(struct record_run *run, struct recorder *recorder,
	       const struct record_options *options)
{
	int result = 0;

	run->start_ms = run->last_ms = etw_monotonic_ms();
	run->options = options;
	if (options->command)
		result = start_command(run, options->command);
	if (!result && run->exec_error)
		(void)reap(run, 0);
	else if (!result)
		result = wait_for_end(run, recorder, options);
	clear_counters(run);
	tell_child(run);
	return result;
}

void record_run_release(struct record_run *run)
{
	/* What came while the session was being stopped wanted just that. */
	(void)take_signals(run);
	(void)sigprocmask(SIG_SETMASK, &run->old_mask, NULL);
	(void)close(run->signals);
	run->signals = -1;
}

void record_run_finish(struct record_run *run)
{
	while (run->child && !reap(run, 0) && errno == EINTR)
		;
}

int record_run_exit_status(const struct record_run *run)
{
	if (run->exec_error)
		return run->exec_error == ENOENT ? EXIT_NO_FILE : EXIT_NO_EXEC;
	if (!run->child || !run->has_ended)
		return ETW_EXIT_OK;
	return WIFSIGNALED(run->status) ? EXIT_SIGNAL + WTERMSIG(run->status)
					: WEXITSTATUS(run->status);
}
