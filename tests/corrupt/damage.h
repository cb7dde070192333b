/* SPDX-License-Identifier: MIT */
/* The kinds of damage: cuts, flipped bits, and fields set to what hurts most. */
#ifndef ETW_TESTS_CORRUPT_DAMAGE_H
#define ETW_TESTS_CORRUPT_DAMAGE_H

#include "corrupt/original.h"

/* Each returns the number of complaints. */

/* damage_truncate() - the file cut to every length below its own, @step bytes apart. */
unsigned damage_truncate(const struct original *original, size_t step);

/* damage_flip() - @count single bits, drawn with @seed; every bit of the file when @count is 0. */
unsigned damage_flip(const struct original *original, uint64_t seed, size_t count);

/* damage_semantic() - hand-made damage to each buffer header and to the order of buffers. */
unsigned damage_semantic(const struct original *original);

#endif
