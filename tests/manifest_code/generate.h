/* SPDX-License-Identifier: MIT */
/* What a driver of a manifest consists of: the generated header, its source, and the values of its events. */
#ifndef ETW_TESTS_MANIFEST_CODE_GENERATE_H
#define ETW_TESTS_MANIFEST_CODE_GENERATE_H

#include <stdbool.h>
#include <stdint.h>

#include "compile/header.h"

#define ROUNDS 5 /* least, most, null pointers, random twice */

/* An event with values, in the order in which it is written. */
struct writing {
	const struct mc_provider *provider;
	const struct mc_event *event;
	uint64_t seed;
	unsigned round;
	unsigned writer; /* of the driver's functions */
	unsigned form;   /* enum of driver.h */
};

/* list_writings() - all of a manifest's, owned; ends the program when memory runs out. */
struct writing *list_writings(const struct mc_manifest *manifest, uint64_t seed, size_t *ret_count);

/* generate_files() - header.h, driver.c and values.bin in a folder; ends the program on errors. */
void generate_files(const struct mc_manifest *manifest, const char *folder, uint64_t seed,
		    const struct etw_compile_header_options *options);

#endif
