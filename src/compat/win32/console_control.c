/* SPDX-License-Identifier: MIT */
/*
 * Console handlers. A signal becomes an event of the console: SIGINT is Ctrl-C, SIGQUIT Ctrl-Break, SIGHUP the closed
 * console, SIGTERM the end of the system. For each a thread runs the handlers, newest first, until one returns TRUE.
 *
 * What Windows ends the process by, the signal itself does here, so that a shell sees what it was.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "compat/win32/object.h"

#define HANDLERS_MAX 64

static const struct {
	int signal;
	DWORD event;
	bool ends; /* the process ends whatever the handlers say, as on Windows */
} events[] = {
	{SIGINT, CTRL_C_EVENT, false},
	{SIGQUIT, CTRL_BREAK_EVENT, false},
	{SIGHUP, CTRL_CLOSE_EVENT, true},
	{SIGTERM, CTRL_SHUTDOWN_EVENT, true},
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static PHANDLER_ROUTINE handlers[HANDLERS_MAX];
static size_t handler_count;
static bool ignores_ctrl_c;
static int signals[2] = {-1, -1}; /* a pipe of one byte for each event */

static void on_signal(int signal)
{
	const int error = errno;

	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		const unsigned char place = (unsigned char)i;

		if (events[i].signal == signal)
			(void)!write(signals[1], &place, 1);
	}
	errno = error;
}

static void end_by(int signal)
{
	struct sigaction action = {.sa_handler = SIG_DFL};
	sigset_t set;

	(void)sigaction(signal, &action, NULL);
	(void)sigemptyset(&set);
	(void)sigaddset(&set, signal);
	(void)pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	(void)kill(getpid(), signal);
}

static DWORD run_handlers(void *argument)
{
	const size_t which = (size_t)(uintptr_t)argument;
	PHANDLER_ROUTINE copy[HANDLERS_MAX];
	size_t count;
	bool is_ignored, is_handled = false;

	(void)pthread_mutex_lock(&lock);
	count = handler_count;
	for (size_t i = 0; i < count; i++)
		copy[i] = handlers[i];
	is_ignored = events[which].event == CTRL_C_EVENT && ignores_ctrl_c;
	(void)pthread_mutex_unlock(&lock);
	if (is_ignored)
		return 0;
	while (count && !is_handled)
		is_handled = copy[--count](events[which].event);
	if (!is_handled || events[which].ends)
		end_by(events[which].signal);
	return 0;
}

static void *forward(void *unused)
{
	sigset_t set;
	unsigned char which;
	HANDLE thread;

	/* The program may keep these signals from its other threads: they come here. */
	(void)sigemptyset(&set);
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		(void)sigaddset(&set, events[i].signal);
	(void)pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	for (;;) {
		if (read(signals[0], &which, 1) != 1)
			continue;
		thread = CreateThread(NULL, 0, run_handlers, (void *)(uintptr_t)which, 0, NULL);
		if (thread)
			(void)CloseHandle(thread);
		else /* no memory for one: here, rather than not at all */
			(void)run_handlers((void *)(uintptr_t)which);
	}
	return unused;
}

/* Holding the lock. */
static bool start(void)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	pthread_t thread;

	if (signals[0] >= 0)
		return true;
	if (pipe2(signals, O_CLOEXEC))
		return false;
	if (pthread_create(&thread, NULL, forward, NULL)) {
		(void)close(signals[0]);
		(void)close(signals[1]);
		signals[0] = -1;
		return false;
	}
	(void)pthread_detach(thread);
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		struct sigaction before;

		/* What it was started to ignore, as by nohup, stays ignored. */
		if (!sigaction(events[i].signal, NULL, &before) && before.sa_handler == SIG_IGN)
			continue;
		(void)sigaction(events[i].signal, &action, NULL);
	}
	return true;
}

static DWORD change(PHANDLER_ROUTINE handler, bool is_added)
{
	if (!start())
		return ERROR_NOT_ENOUGH_MEMORY;
	if (!handler) {
		ignores_ctrl_c = is_added;
		return ERROR_SUCCESS;
	}
	if (is_added) {
		if (handler_count == HANDLERS_MAX)
			return ERROR_NOT_ENOUGH_MEMORY;
		handlers[handler_count++] = handler;
		return ERROR_SUCCESS;
	}
	for (size_t i = handler_count; i-- > 0;) {
		if (handlers[i] != handler)
			continue;
		handler_count--;
		for (; i < handler_count; i++)
			handlers[i] = handlers[i + 1];
		return ERROR_SUCCESS;
	}
	return ERROR_INVALID_PARAMETER;
}

BOOL SetConsoleCtrlHandler(PHANDLER_ROUTINE HandlerRoutine, BOOL Add)
{
	DWORD error;

	(void)pthread_mutex_lock(&lock);
	error = change(HandlerRoutine, Add);
	(void)pthread_mutex_unlock(&lock);
	return error ? etw_fail(error) : TRUE;
}

BOOL GenerateConsoleCtrlEvent(DWORD dwCtrlEvent, DWORD dwProcessGroupId)
{
	if (dwCtrlEvent > CTRL_BREAK_EVENT)
		return etw_fail(ERROR_INVALID_PARAMETER);
	/* Group 0: all that share the console, which is the process group. */
	if (kill(-(pid_t)(dwProcessGroupId ? (pid_t)dwProcessGroupId : getpgrp()),
		 dwCtrlEvent == CTRL_C_EVENT ? SIGINT : SIGQUIT))
		return etw_fail(etw_error_of_errno(errno));
	return TRUE;
}
