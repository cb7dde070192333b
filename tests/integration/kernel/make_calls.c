/* SPDX-License-Identifier: MIT */
/*
 * System calls whose number and order is known, by several threads, a child process and, on x86-64, in the manner of a
 * 32-bit program. Waits for a byte on standard input first.
 *
 *     make_calls ROUNDS
 *
 * What is meant to be compared of the main thread lies between two calls of getpgid, of which there are no others.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 3

static int rounds;

/* As a 32-bit program does, with its numbers. */
static void call_32(long number, long first)
{
#if defined(__x86_64__)
	long result;

	__asm__ volatile("int $0x80"
			 : "=a"(result)
			 : "a"(number), "b"(first)
			 : "memory", "cc", "r8", "r9", "r10", "r11");
	(void)result;
#else
	(void)number;
	(void)first;
#endif
}

static void play(void)
{
	int ends[2];
	char byte = 0;

	for (int i = 0; i < rounds; i++) {
		void *memory;

		syscall(SYS_getppid);
		syscall(SYS_getuid);
		syscall(SYS_close, -1);
		syscall(SYS_lseek, 9999, 0, 0);
		syscall(SYS_openat, AT_FDCWD, "/nowhere", O_RDONLY, 0);
		call_32(20, 0); /* getpid */
		call_32(6, -1); /* close */
		memory = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (memory != MAP_FAILED)
			munmap(memory, 4096);
		if (pipe(ends) == 0) {
			if (write(ends[1], &byte, 1) == 1 && read(ends[0], &byte, 1) == 1)
				syscall(SYS_sched_yield);
			close(ends[0]);
			close(ends[1]);
		}
		syscall(100000); /* there is none */
		if (i % 16 == 0)
			usleep(100);
	}
}

static void *play_thread(void *context)
{
	(void)context;
	play();
	return NULL;
}

int main(int argument_count, char **arguments)
{
	pthread_t threads[THREADS];
	char byte;
	pid_t child;

	rounds = argument_count == 2 ? atoi(arguments[1]) : 0;
	if (rounds <= 0 || read(STDIN_FILENO, &byte, 1) != 1)
		return 2;
	syscall(SYS_getpgid, 0);
	child = fork();
	if (!child) {
		play();
		_exit(3);
	}
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, play_thread, NULL))
			return 1;
	play();
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	waitpid(child, NULL, 0);
	syscall(SYS_getpgid, 0);
	return 0;
}
