/* SPDX-License-Identifier: MIT */
/*
 * A process with known counters: touches memory, opens files, and has a thread with a name, a nice value and one processor.
 *
 *     use_resources MIB FILES
 *
 * Lines: "ready", once all of that is there; when standard input closes, what the process says of itself: page faults,
 * open files, the peak of its size and its anonymous memory in KiB. Then it ends.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define NICE         5
#define BYTES_OF_MIB 1048576ul

static pthread_barrier_t is_named;

static void *be_named(void *unused)
{
	(void)unused;
	pthread_setname_np(pthread_self(), "with a name");
	pthread_barrier_wait(&is_named);
	while (pause())
		continue;
	return NULL;
}

static unsigned long read_status(const char *name)
{
	char line[256];
	unsigned long value = 0;
	FILE *file = fopen("/proc/self/status", "re");

	while (file && fgets(line, sizeof(line), file))
		if (strncmp(line, name, strlen(name)) == 0)
			value = strtoul(line + strlen(name), NULL, 10);
	if (file)
		(void)fclose(file);
	return value;
}

static unsigned count_files(void)
{
	unsigned count = 0;

	for (int fd = 0; fd < 4096; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

static int start_thread(void)
{
	cpu_set_t processors;
	pthread_t thread;

	/* A new thread has its maker's nice value and processors. */
	CPU_ZERO(&processors);
	CPU_SET(0, &processors);
	if (sched_setaffinity(0, sizeof(processors), &processors) ||
	    setpriority(PRIO_PROCESS, 0, NICE))
		return errno;
	pthread_barrier_init(&is_named, NULL, 2);
	if (pthread_create(&thread, NULL, be_named, NULL))
		return EAGAIN;
	pthread_barrier_wait(&is_named);
	return 0;
}

int main(int argc, char **argv)
{
	size_t bytes = argc > 1 ? strtoul(argv[1], NULL, 10) * BYTES_OF_MIB : 0;
	unsigned long files = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	struct rusage used;
	char *at, end;

	at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!bytes || at == MAP_FAILED)
		return 1;
	memset(at, 1, bytes);
	for (unsigned long i = 0; i < files; i++)
		if (open("/dev/null", O_RDONLY) < 0) /* NOLINT: the end of the process closes it */
			return 1;
	if (start_thread())
		return 1;
	puts("ready");
	(void)fflush(stdout);
	while (read(STDIN_FILENO, &end, 1) > 0)
		continue;
	getrusage(RUSAGE_SELF, &used);
	printf("%ld %u %lu %lu\n", used.ru_minflt + used.ru_majflt, count_files(),
	       read_status("VmPeak:"), read_status("RssAnon:"));
	(void)fflush(stdout);
	_exit(0);
}
