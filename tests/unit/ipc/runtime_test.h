/* SPDX-License-Identifier: MIT */
/*
 * For the tests of runtime directories: each has one of its own. What needs another user's files is tried by
 * root alone.
 */
#ifndef ETW_TESTS_UNIT_IPC_RUNTIME_TEST_H
#define ETW_TESTS_UNIT_IPC_RUNTIME_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "ipc/runtime.h"

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

static char base[64], directory[PATH_MAX], path[PATH_MAX + 64];

static inline const char *in_directory(const char *name)
{
	(void)snprintf(path, sizeof(path), "%s/%s", directory, name);
	return path;
}

static inline int setup(void **state)
{
	(void)state;
	/* Not /tmp/etw-..., whose parents a host makes. */
	strcpy(base, "/tmp/test-etw-runtime-XXXXXX");
	if (!mkdtemp(base))
		return -1;
	(void)snprintf(directory, sizeof(directory), "%s/etw", base);
	return 0;
}

static inline int teardown(void **state)
{
	char command[128];

	(void)state;
	(void)snprintf(command, sizeof(command), "rm -rf '%s'", base);
	return system(command);
}

static inline struct wire_discovery_page *prepare(void)
{
	struct wire_discovery_page *page = NULL;

	assert_int_equal(etw_runtime_prepare(directory, &page), 0);
	assert_non_null(page);
	return page;
}

static inline void need_root(void)
{
	if (geteuid() == 0)
		return;
	print_message("skipped: only root can be another user, or give a file away\n");
	skip();
}

#endif
