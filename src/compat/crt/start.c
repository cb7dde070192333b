/* SPDX-License-Identifier: MIT */
#include "compat/crt/start.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/utf.h"

const int etw_compat_start = 1;

static int count;
static char **narrow;
static wchar_t **wide;
static wchar_t **wide_environment;

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

static void unblock_interrupts(void)
{
	sigset_t set;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGINT);
	(void)pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

/* The one thread in which SIGINT is not blocked: what the signal does by default, or a handler, happens here. */
static void *take_interrupts(void *unused)
{
	unblock_interrupts();
	for (;;)
		(void)pause();
	return unused;
}

/* So no system call of the program's own threads ends early, as none does on Windows. */
static void block_interrupts(void)
{
	struct sigaction action;
	pthread_t thread;
	sigset_t set, before;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGINT);
	(void)pthread_sigmask(SIG_BLOCK, &set, &before);
	if (sigaction(SIGINT, NULL, &action) || action.sa_handler == SIG_IGN ||
	    pthread_create(&thread, NULL, take_interrupts, NULL))
		(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	else if (!pthread_detach(thread))
		(void)pthread_atfork(NULL, NULL,
				     unblock_interrupts); /* a child has not got that thread */
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
