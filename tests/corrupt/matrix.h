/* SPDX-License-Identifier: MIT */
/* Damage that leaves every byte readable, or adds some, with exactly the findings that it must give. */
#ifndef ETW_TESTS_CORRUPT_MATRIX_H
#define ETW_TESTS_CORRUPT_MATRIX_H

#include "corrupt/original.h"

/*
 * matrix_damage() - buffers twice, in place of another, gone and exchanged; bytes of many kinds and sizes behind the
 * last buffer; events that swallow others, each from any to any later one of its buffer.
 *
 * Returns the number of complaints.
 */
unsigned matrix_damage(const struct original *original);

#endif
