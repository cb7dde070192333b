/* SPDX-License-Identifier: MIT */
#include "api/tdh/scratch.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static bool has_key; /* written by make_key(), and at the end by free_own_scratch() */

static void free_scratch(void *texts)
{
	struct etw_tdh_scratch *scratch = texts;

	etw_text_done(&scratch->text);
	etw_text_done(&scratch->names);
	free(scratch);
}

static void make_key(void)
{
	has_key = pthread_key_create(&key, free_scratch) == 0;
}

struct etw_tdh_scratch *etw_tdh_scratch(void)
{
	struct etw_tdh_scratch *scratch;

	(void)pthread_once(&once, make_key);
	if (!has_key)
		return NULL;
	scratch = pthread_getspecific(key);
	if (UNLIKELY(!scratch)) {
		scratch = calloc(1, sizeof(*scratch));
		if (!scratch || pthread_setspecific(key, scratch)) {
			free(scratch);
			return NULL;
		}
	}
	etw_text_clear(&scratch->text);
	etw_text_clear(&scratch->names);
	return scratch;
}

/* The library goes: no thread may run free_scratch() any more. What other threads have, stays. */
__attribute__((destructor)) static void free_own_scratch(void)
{
	if (!has_key)
		return;
	struct etw_tdh_scratch *scratch = pthread_getspecific(key);

	(void)pthread_key_delete(key);
	has_key = false;
	if (scratch)
		free_scratch(scratch);
}
