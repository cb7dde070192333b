/* SPDX-License-Identifier: MIT */
/* The genuine traces, for tests that look at every one of them. */
#ifndef ETW_TESTS_CONFORMANCE_TDH_GENUINE_H
#define ETW_TESTS_CONFORMANCE_TDH_GENUINE_H

#include <stddef.h>

#define GENUINE_SKIP 77

/*
 * genuine_each() - calls back with the path of every .etl file below the folder that ETW_TEST_DATA names.
 *
 * Returns how many there were; 0 where the variable is not set or the folder is not there.
 */
size_t genuine_each(void (*visit)(const char *path, void *context), void *context);

#endif
