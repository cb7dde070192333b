/* SPDX-License-Identifier: MIT */
/*
 * touch_pages COUNT - touches so many pages that were not there before, 4096 at a time, so that each is a page fault, and prints
 * its process id.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGES_AT_ONCE 4096

int main(int argc, char **argv)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = PAGES_AT_ONCE * page;
	unsigned long left = argc == 2 ? strtoul(argv[1], NULL, 10) : 0;
	volatile char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				 -1, 0);

	if (!left || at == MAP_FAILED || madvise((void *)at, bytes, MADV_NOHUGEPAGE))
		return 1;
	while (left) {
		for (size_t i = 0; i < PAGES_AT_ONCE && left; i++, left--)
			at[i * page] = 1;
		if (madvise((void *)at, bytes, MADV_DONTNEED))
			return 1;
	}
	printf("touched %d\n", (int)getpid());
	return 0;
}
