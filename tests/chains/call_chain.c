/* SPDX-License-Identifier: MIT */
/*
 * call_chain spin|sleep|clock|jit|fork|clone|thread|open [count] - does work at the inner end of a chain of calls that tests/chains knows:
 * main, outer_call, middle_call, inner_call. `jit` has a function made at run time between the last two, which a perf map
 * names.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Each call must stay one, of the function with this name. */
#if defined(__clang__)
#define NOINLINE __attribute__((noinline, optnone))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif

static volatile unsigned long sum;

static double cpu_seconds(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* What a call leaves to be done keeps it from being a jump. */
static NOINLINE int inner_call(int (*work)(int), int count)
{
	int result = work(count);

	sum += (unsigned long)result;
	return result + 1;
}

static NOINLINE int middle_call(int (*work)(int), int count, int (*between)(int (*)(int), int))
{
	int result = between ? between(work, count) : inner_call(work, count);

	sum += (unsigned long)result;
	return result + 1;
}

static NOINLINE int outer_call(int (*work)(int), int count, int (*between)(int (*)(int), int))
{
	int result = middle_call(work, count, between);

	sum += (unsigned long)result;
	return result + 1;
}

static NOINLINE int spin(int count)
{
	double until = cpu_seconds() + (double)count / 1000;

	while (cpu_seconds() < until)
		for (int i = 0; i < 200000; i++)
			sum += (unsigned long)i;
	return count + 1;
}

static NOINLINE int sleep_often(int count)
{
	const struct timespec pause = {.tv_nsec = 1000000};

	for (int i = 0; i < count; i++)
		sum += (unsigned long)nanosleep(&pause, NULL);
	return count + 1;
}

static NOINLINE int ask_clock(int count)
{
	double until = cpu_seconds() + (double)count / 1000;
	struct timespec now;

	while (cpu_seconds() < until)
		for (int i = 0; i < 20000; i++)
			sum += (unsigned long)clock_gettime(CLOCK_MONOTONIC, &now);
	return count + 1;
}

static NOINLINE int fork_often(int count)
{
	for (int i = 0; i < count; i++) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(0);
		sum += (unsigned long)waitpid(pid, NULL, 0);
	}
	return count + 1;
}

/* As fork() does, but what the C library does before it uses the frame pointer for other things. */
static NOINLINE int clone_often(int count)
{
	for (int i = 0; i < count; i++) {
		long pid = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

		if (pid == 0)
			_exit(0);
		sum += (unsigned long)waitpid((pid_t)pid, NULL, 0);
	}
	return count + 1;
}

static void *do_nothing(void *nothing)
{
	return nothing;
}

static NOINLINE int thread_often(int count)
{
	pthread_t thread;

	for (int i = 0; i < count; i++)
		if (pthread_create(&thread, NULL, do_nothing, NULL) == 0)
			sum += (unsigned long)pthread_join(thread, NULL);
	return count + 1;
}

static NOINLINE int open_often(int count)
{
	for (int i = 0; i < count; i++) {
		void *library = dlopen("libm.so.6", RTLD_NOW);

		if (library)
			sum += (unsigned long)dlclose(library);
	}
	return count + 1;
}

#if defined(__x86_64__)
/* push %rbp; mov %rsp,%rbp; mov $inner_call,%rax; call *%rax; add $1,%eax; pop %rbp; ret */
static void *make_code(void)
{
	static const unsigned char head[] = {0x55, 0x48, 0x89, 0xE5, 0x48, 0xB8};
	static const unsigned char tail[] = {0xFF, 0xD0, 0x83, 0xC0, 0x01, 0x5D, 0xC3};
	void *target = (void *)inner_call;
	unsigned char *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char path[64];
	FILE *map;

	if (code == MAP_FAILED)
		return NULL;
	memcpy(code, head, sizeof(head));
	memcpy(code + sizeof(head), &target, sizeof(target));
	memcpy(code + sizeof(head) + sizeof(target), tail, sizeof(tail));
	(void)snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	map = fopen(path, "w");
	if (!map)
		return NULL;
	(void)fprintf(map, "%lx %zx made_call\n", (unsigned long)code,
		      sizeof(head) + sizeof(target) + sizeof(tail));
	(void)fclose(map);
	return code;
}
#else
static void *make_code(void)
{
	return NULL;
}
#endif

int main(int argc, char **argv)
{
	int count = argc > 2 ? atoi(argv[2]) : 300;
	int (*between)(int (*)(int), int) = NULL;
	int (*work)(int) = spin;
	void *code;

	if (argc < 2)
		return 2;
	if (strcmp(argv[1], "sleep") == 0)
		work = sleep_often;
	else if (strcmp(argv[1], "clock") == 0)
		work = ask_clock;
	else if (strcmp(argv[1], "fork") == 0)
		work = fork_often;
	else if (strcmp(argv[1], "clone") == 0)
		work = clone_often;
	else if (strcmp(argv[1], "thread") == 0)
		work = thread_often;
	else if (strcmp(argv[1], "open") == 0)
		work = open_often;
	if (strcmp(argv[1], "jit") == 0) {
		code = make_code();
		if (!code)
			return 77;
		memcpy(&between, &code, sizeof(between));
	}
	return outer_call(work, count, between) == 0;
}
