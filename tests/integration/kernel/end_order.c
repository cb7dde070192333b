/* SPDX-License-Identifier: MIT */
/*
 * Processes that a thread ends, and not their main thread.
 *
 *     end_order thread    the main thread ends first, then another one ends the process
 *     end_order exec      another thread takes the program `end_order plain`
 *     end_order plain     the main thread ends the process
 *
 * All end with status 4. The thread begins some ticks of the kernel's start times after its process.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STATUS  4
#define WAIT_US 50000 /* several ticks, of 10 ms where they are long */

static bool has_main_thread_ended(void)
{
	char path[64], line[256];
	const char *end;
	FILE *file;
	bool has = false;

	snprintf(path, sizeof(path), "/proc/self/task/%ld/stat", (long)getpid());
	file = fopen(path, "re");
	if (!file)
		exit(1);
	if (fgets(line, sizeof(line), file)) {
		end = strrchr(line, ')');
		has = end && strncmp(end, ") Z", 3) == 0;
	}
	fclose(file);
	return has;
}

static void *end_process(void *unused)
{
	(void)unused;
	while (!has_main_thread_ended())
		usleep(1000);
	exit(STATUS);
}

static void *take_program(void *unused)
{
	(void)unused;
	execl("/proc/self/exe", "end_order", "plain", NULL);
	_exit(1);
}

int main(int argument_count, char **arguments)
{
	pthread_t thread;

	if (argument_count != 2)
		return 2;
	if (strcmp(arguments[1], "plain") == 0)
		return STATUS;
	usleep(WAIT_US);
	if (strcmp(arguments[1], "thread") == 0) {
		if (pthread_create(&thread, NULL, end_process, NULL))
			return 1;
		pthread_exit(NULL);
	}
	if (pthread_create(&thread, NULL, take_program, NULL))
		return 1;
	for (;;)
		pause();
}
