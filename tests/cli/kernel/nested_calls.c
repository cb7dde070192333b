/* SPDX-License-Identifier: MIT */
/*
 * Uses processor time in main > outer > middle > spin, and waits in main > rest, so that a recording of it has stacks that
 * are known. Built with frame pointers.
 */
#include <time.h>

#define CPU_NS (300 * 1000 * 1000L)
#define WAITS  50
#define TURNS  200
#define STEPS  1000 /* between two turns */

static volatile unsigned long sum;

static long used_ns(void)
{
	struct timespec used = {0};

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return used.tv_sec * 1000000000L + used.tv_nsec;
}

/* A function that calls none may have no frame of its own, so that its caller is not in the stack: little time is in it. */
__attribute__((noinline)) static void turn(unsigned long i)
{
	sum += i * i;
}

__attribute__((noinline)) static void spin(void)
{
	for (unsigned long i = 0; i < TURNS; i++) {
		turn(i);
		for (unsigned long step = 0; step < STEPS; step++)
			sum += i * step;
	}
}

__attribute__((noinline)) static void middle(void)
{
	spin();
	sum++;
}

__attribute__((noinline)) static void outer(void)
{
	while (used_ns() < CPU_NS)
		middle();
	sum++;
}

/* Whoever calls a function without a frame of its own, as the C library's are, is not in the stack. */
__attribute__((noinline)) static void doze(void)
{
	const struct timespec wait = {.tv_nsec = 1000000};

	(void)nanosleep(&wait, NULL);
	sum++;
}

__attribute__((noinline)) static void rest(void)
{
	doze();
	sum++;
}

int main(void)
{
	outer();
	for (int i = 0; i < WAITS; i++)
		rest();
	return 0;
}
