/* SPDX-License-Identifier: MIT */
/*
 * inlined_calls MILLISECONDS - spends processor time in functions that are inlined into others, in several lines, in a loop that
 * reads from the kernel, and in the C library, for check_names.py. Built with debug information.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define INLINED static inline __attribute__((always_inline))

#if defined(__clang__)
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif

static volatile unsigned long sum;
static unsigned char room[1 << 16];

static double cpu_seconds(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

INLINED unsigned long mix(unsigned long value)
{
	value ^= value >> 7;
	value *= 0x9E3779B97F4A7C15UL;
	return value ^ value >> 11;
}

INLINED void mix_twice(unsigned long value)
{
	sum += mix(value);
	sum ^= mix(value + 1);
}

static NOINLINE void hash(void)
{
	for (unsigned long i = 0; i < 20000; i++)
		mix_twice(i);
	sum++;
}

static NOINLINE void hottest(void)
{
	for (int i = 0; i < 6; i++)
		hash();
	for (unsigned long i = 0; i < 400000; i++)
		sum += i;
}

static NOINLINE int compare(const void *left, const void *right)
{
	sum++;
	return *(const unsigned char *)left - *(const unsigned char *)right;
}

static NOINLINE void order(void)
{
	unsigned char few[200];

	for (size_t i = 0; i < sizeof(few); i++)
		few[i] = (unsigned char)(sum + i * 37);
	for (int i = 0; i < 8; i++)
		qsort(few, sizeof(few), 1, compare);
	sum += few[3];
}

static NOINLINE void read_zeros(int fd)
{
	for (int i = 0; i < 100; i++)
		sum += (unsigned long)read(fd, room, sizeof(room));
	sum++;
}

static NOINLINE void work(int fd)
{
	hottest();
	order();
	read_zeros(fd);
	sum++;
}

int main(int argc, char **argv)
{
	const double until = cpu_seconds() + (argc > 1 ? atof(argv[1]) : 300) / 1000;
	const int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	while (cpu_seconds() < until)
		work(fd);
	return fd < 0;
}
