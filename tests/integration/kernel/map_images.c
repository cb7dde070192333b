/* SPDX-License-Identifier: MIT */
/*
 * A process whose images come and go.
 *
 *     map_images ROUNDS LIBRARY...
 *
 * In each round every library is loaded, and unloaded. In between the process, a fork of it, and what it
 * execs print their mappings: a line "snapshot PID TIME" (CLOCK_MONOTONIC, nanoseconds), lines of
 * /proc/self/maps, and a line "done".
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void print_snapshot(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	struct timespec now;
	char line[4096];

	if (!maps)
		exit(1);
	clock_gettime(CLOCK_MONOTONIC, &now);
	printf("snapshot %d %lld%09ld\n", (int)getpid(), (long long)now.tv_sec, now.tv_nsec);
	while (fgets(line, sizeof(line), maps))
		fputs(line, stdout);
	puts("done");
	fclose(maps);
	fflush(stdout);
}

static void run_child(const char *program)
{
	pid_t pid = fork();

	if (pid < 0)
		exit(1);
	if (!pid) {
		print_snapshot();
		if (program)
			execl(program, program, "0", NULL);
		_exit(program ? 1 : 0);
	}
	if (waitpid(pid, NULL, 0) != pid)
		exit(1);
}

int main(int argument_count, char **arguments)
{
	unsigned rounds = argument_count > 1 ? (unsigned)strtoul(arguments[1], NULL, 10) : 0;

	print_snapshot();
	for (unsigned i = 0; i < rounds; i++) {
		void *libraries[16];
		int count = 0;

		for (int k = 2; k < argument_count && count < 16; k++) {
			libraries[count] = dlopen(arguments[k], RTLD_NOW | RTLD_LOCAL);
			if (!libraries[count++]) {
				fprintf(stderr, "map_images: %s\n", dlerror());
				return 1;
			}
			print_snapshot();
		}
		run_child(i % 2 ? "/proc/self/exe" : NULL);
		/* Others may come into a gap that is left. */
		for (int k = 0; k < count; k += 2)
			dlclose(libraries[k]);
		print_snapshot();
		for (int k = 1; k < count; k += 2)
			dlclose(libraries[k]);
		print_snapshot();
	}
	return 0;
}
