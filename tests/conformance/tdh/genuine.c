/* SPDX-License-Identifier: MIT */
#include "genuine.h"

#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int by_name(const FTSENT **left, const FTSENT **right)
{
	return strcmp((*left)->fts_name, (*right)->fts_name);
}

size_t genuine_each(void (*visit)(const char *path, void *context), void *context)
{
	char *folder = getenv("ETW_TEST_DATA");
	char *roots[] = {folder, NULL};
	size_t count = 0;
	FTSENT *entry;
	FTS *walk;

	if (!folder)
		return 0;
	walk = fts_open(roots, FTS_LOGICAL | FTS_NOCHDIR, by_name);
	while (walk && (entry = fts_read(walk)) != NULL) {
		size_t length = entry->fts_namelen;

		if (entry->fts_info != FTS_F || length < 4 ||
		    strcmp(entry->fts_name + length - 4, ".etl") != 0)
			continue;
		visit(entry->fts_path, context);
		count++;
	}
	if (walk)
		(void)fts_close(walk);
	return count;
}
