/* SPDX-License-Identifier: MIT */
#include "compat/crt/start.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/utf.h"

const int etw_compat_start = 1;

static int count;
static char **narrow;
static wchar_t **wide;
static wchar_t **wide_environment;
static sigset_t first_mask;
static bool is_watched;
static sem_t interrupts;
static _Atomic(void (*)(void)) on_interrupt;

/* UTF-16 copies of @texts up to NULL; they are kept until the program ends. */
static wchar_t **widened(char **texts)
{
	size_t total = 0;
	wchar_t **copies;

	while (texts && texts[total])
		total++;
	copies = calloc(total + 1, sizeof(wchar_t *));
	for (size_t i = 0; copies && i < total; i++) {
		copies[i] = (wchar_t *)(void *)etw_utf8_to_utf16(texts[i], NULL);
		if (!copies[i])
			return NULL;
	}
	return copies;
}

int *etw_compat_argument_count(void)
{
	return &count;
}

char ***etw_compat_arguments(void)
{
	return &narrow;
}

wchar_t ***etw_compat_wide_arguments(void)
{
	if (!wide)
		wide = widened(narrow);
	return &wide;
}

wchar_t ***etw_compat_wide_environment(void)
{
	if (!wide_environment)
		wide_environment = widened(environ);
	return &wide_environment;
}

static void note_interrupt(int number)
{
	int error = errno;

	(void)number;
	(void)sem_post(&interrupts);
	errno = error;
}

/* The one thread in which SIGINT is not blocked: what the signal does by default, or a handler, happens here. */
static void *watch(void *unused)
{
	sigset_t set;

	(void)unused;
	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGINT);
	(void)pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	for (;;) {
		void (*interrupted)(void);

		if (sem_wait(&interrupts))
			continue;
		interrupted = atomic_load(&on_interrupt);
		if (interrupted)
			interrupted();
	}
	return NULL;
}

bool etw_compat_on_interrupt(void (*interrupted)(void))
{
	struct sigaction action = {.sa_flags = SA_RESTART};

	if (!is_watched)
		return false;
	atomic_store(&on_interrupt, interrupted);
	action.sa_handler = interrupted ? note_interrupt : SIG_DFL;
	return !sigaction(SIGINT, &action, NULL);
}

void etw_compat_child_signals(sigset_t *ret)
{
	*ret = first_mask;
}

static void block_interrupts(void)
{
	struct sigaction action;
	pthread_t thread;
	sigset_t set;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGINT);
	(void)pthread_sigmask(SIG_BLOCK, &set, &first_mask);
	if (sigaction(SIGINT, NULL, &action) || action.sa_handler == SIG_IGN ||
	    sem_init(&interrupts, 0, 0) || pthread_create(&thread, NULL, watch, NULL)) {
		(void)pthread_sigmask(SIG_SETMASK, &first_mask, NULL);
		return;
	}
	(void)pthread_detach(thread);
	is_watched = true;
}

/* glibc hands the arguments of main() to constructors as well. Ours comes before the program's. */
static __attribute__((constructor(101))) void start(int argc, char **argv)
{
	count = argc;
	narrow = argv;
	block_interrupts();
	if (isatty(STDOUT_FILENO)) /* a console's output is not buffered */
		(void)setvbuf(stdout, NULL, _IONBF, 0);
}
