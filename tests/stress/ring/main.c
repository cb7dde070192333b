/* SPDX-License-Identifier: MIT */
/*
 * ring_stress traffic|writer_death|host_death [ROUNDS [SEED]]
 *
 * ETW_STRESS_ROUNDS and ETW_STRESS_SEED stand for missing arguments. The seed is printed; with it chance
 * decides alike, while the scheduler does not.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stress/ring/shared.h"

static uint64_t setting(int argc, char **argv, int place, const char *name)
{
	const char *text = argc > place ? argv[place] : getenv(name);

	return text ? strtoull(text, NULL, 0) : 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(void);
	} parts[] = {
		{"traffic", stress_traffic},
		{"writer_death", stress_writer_death},
		{"host_death", stress_host_death},
	};

	stress.rounds = (uint32_t)setting(argc, argv, 2, "ETW_STRESS_ROUNDS");
	stress.seed = setting(argc, argv, 3, "ETW_STRESS_SEED");
	if (!stress.seed)
		stress.seed = stress_now_ns() ^ (uint64_t)getpid() << 32;
	for (size_t i = 0; argc > 1 && i < ARRAY_SIZE(parts); i++) {
		if (strcmp(argv[1], parts[i].name) != 0)
			continue;
		printf("%s: seed %" PRIu64 "\n", parts[i].name, stress.seed);
		return parts[i].run();
	}
	fprintf(stderr, "usage: ring_stress traffic|writer_death|host_death [ROUNDS [SEED]]\n");
	return 2;
}
