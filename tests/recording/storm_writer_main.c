/* SPDX-License-Identifier: MIT */
/* storm_writer FD PLACE - a writing process of storm.c whose library has scheduling points. */
#include <stdlib.h>
#include <sys/mman.h>

#include "recording/storm_shared.h"

int main(int argc, char **argv)
{
	void *memory;

	if (argc != 3)
		return 2;
	memory = mmap(NULL, sizeof(struct storm_shared), PROT_READ | PROT_WRITE, MAP_SHARED,
		      (int)strtol(argv[1], NULL, 10), 0);
	if (memory == MAP_FAILED)
		return 1;
	return storm_write(memory, (uint32_t)strtoul(argv[2], NULL, 10), STORM_THREADS);
}
