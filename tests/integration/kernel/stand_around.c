/* SPDX-License-Identifier: MIT */
/*
 * Thousands of processes that do nothing, each with a thread beside its main one.
 *
 *     stand_around COUNT
 *
 * Prints the id of each, and an empty line. For each line of standard input one of them ends, the last one first; when it
 * closes, all do. Exit status: 77 when the machine does not allow so many.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define SKIPPED     77
#define COUNT_MAX   100000
#define STACK_BYTES 65536

static void *stand(void *unused)
{
	while (pause())
		continue;
	return unused;
}

/* Says by the pipe whether it stands. */
static void run_child(int pipe_fd)
{
	pthread_attr_t attributes;
	pthread_t thread;
	char is_there;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	is_there = !pthread_create(&thread, &attributes, stand, NULL);
	if (write(pipe_fd, &is_there, 1) != 1)
		_exit(1);
	close(pipe_fd);
	close(STDIN_FILENO);
	close(STDOUT_FILENO);
	stand(NULL);
}

static void end_one(pid_t pid)
{
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		continue;
}

int main(int argc, char **argv)
{
	unsigned long wanted = argc > 1 ? strtoul(argv[1], NULL, 10) : 0, count = 0;
	pid_t *pids;
	int fds[2], byte;
	char is_there = 1;

	if (!wanted || wanted > COUNT_MAX || pipe(fds))
		return 1;
	pids = calloc(wanted, sizeof(*pids));
	if (!pids)
		return 1;
	for (; count < wanted && is_there; count++) {
		pids[count] = fork();
		if (pids[count] == 0)
			run_child(fds[1]);
		if (pids[count] < 0 || read(fds[0], &is_there, 1) != 1)
			break;
	}
	if (count < wanted || !is_there) {
		fprintf(stderr, "stand_around: no more than %lu processes\n", count);
		while (count)
			end_one(pids[--count]);
		return SKIPPED;
	}
	for (unsigned long i = 0; i < count; i++)
		printf("%d\n", (int)pids[i]);
	puts("");
	(void)fflush(stdout);
	while ((byte = getchar()) != EOF)
		if (byte == '\n' && count)
			end_one(pids[--count]);
	while (count)
		end_one(pids[--count]);
	free(pids);
	return 0;
}
