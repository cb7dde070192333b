/* SPDX-License-Identifier: MIT */
/*
 * Short-lived processes and threads of every kind that Linux has.
 *
 *     make_tasks COUNT
 *
 * Starts about COUNT processes: forks without exec, chains of execs, threads, threads that exec, processes
 * that end by a signal, processes in pid namespaces of their own (nested), and a storm of forks from
 * several processes at once. Prints how many processes it started.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static unsigned *started; /* shared by all */

static pid_t start(void)
{
	pid_t pid;

	__atomic_fetch_add(started, 1, __ATOMIC_RELAXED);
	pid = fork();
	if (pid < 0) {
		perror("make_tasks: fork");
		exit(1);
	}
	return pid;
}

static void wait_for(pid_t pid)
{
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

static void exec_chain(const char *left)
{
	execl("/proc/self/exe", "make_tasks", "--chain", left, "an argument with \"quotes\"", NULL);
	_exit(127);
}

static void *do_nothing(void *unused)
{
	return unused;
}

static void *exec_from_thread(void *left)
{
	exec_chain(left);
	return NULL;
}

static void run_threads(void)
{
	pthread_t threads[3];

	for (size_t i = 0; i < 3; i++)
		if (pthread_create(&threads[i], NULL, do_nothing, NULL))
			exit(1);
	for (size_t i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
}

/* The main thread ends first; the group ends with the last thread. */
static void *outlive_main(void *unused)
{
	usleep(200);
	return unused;
}

static void run_namespace(int depth)
{
	pid_t pid;

	if (unshare(CLONE_NEWPID))
		_exit(0);
	pid = start();
	if (!pid) {
		if (depth)
			run_namespace(depth - 1);
		_exit(depth);
	}
	wait_for(pid);
}

static void run_storm(unsigned count)
{
	pid_t parents[4];

	for (size_t i = 0; i < 4; i++) {
		parents[i] = start();
		if (parents[i])
			continue;
		for (unsigned k = 0; k < count; k++) {
			pid_t pid = start();

			if (!pid)
				_exit((int)(k & 0x7F));
			wait_for(pid);
		}
		_exit(0);
	}
	for (size_t i = 0; i < 4; i++)
		wait_for(parents[i]);
}

static void be_child(unsigned kind)
{
	pthread_t thread;

	switch (kind) {
	case 0:
		_exit(7);
	case 1:
		exec_chain("3");
		break;
	case 2:
		run_threads();
		break;
	case 3:
		pthread_create(&thread, NULL, exec_from_thread, (void *)(intptr_t) "1");
		pause();
		break;
	case 4:
		raise(SIGKILL);
		break;
	case 5:
		run_namespace(2);
		break;
	case 6:
		pthread_create(&thread, NULL, outlive_main, NULL);
		pthread_exit(NULL);
	default:
		pthread_create(&thread, NULL, do_nothing, NULL);
		_exit(1); /* with a thread that may be ending too */
	}
	_exit(0);
}

static void run_children(unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		pid_t pid = start();

		if (!pid)
			be_child(i % 8);
		wait_for(pid);
	}
}

int main(int argument_count, char **arguments)
{
	unsigned count;

	if (argument_count == 4 && strcmp(arguments[1], "--chain") == 0) {
		char left[2] = {(char)(arguments[2][0] - 1), '\0'};

		if (left[0] > '0')
			exec_chain(left);
		return 0;
	}
	if (argument_count != 2)
		return 2;
	count = (unsigned)strtoul(arguments[1], NULL, 10);
	started = mmap(NULL, sizeof(*started), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	if (started == MAP_FAILED)
		return 1;
	/* Namespaces start three more each. */
	run_children(count / 2);
	run_storm(count / 8 + 1);
	printf("%u\n", *started);
	return 0;
}
