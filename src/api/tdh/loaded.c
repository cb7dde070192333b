/* SPDX-License-Identifier: MIT */
#include "api/tdh/loaded.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/tdh/blob.h"
#include "api/tdh/shared.h"
#include "base/macros.h"
#include "schema/store/store_loans.h"

void etw_tdh_loaded_free(struct etw_tdh_loaded *loaded)
{
	if (!loaded)
		return;
	free(loaded->path);
	free(loaded->name);
	etw_arena_done(&loaded->arena);
	free(loaded);
}

void etw_tdh_loaded_done(struct etw_tdh_loaded *first)
{
	while (first) {
		struct etw_tdh_loaded *next = first->next;

		etw_tdh_loaded_free(first);
		first = next;
	}
}

static bool is_of(const struct etw_tdh_loaded *loaded, const char *path, const uint8_t *sha1)
{
	if (path)
		return loaded->path && (!strcmp(loaded->path, path) ||
					(loaded->name && !strcmp(loaded->name, path)));
	return !loaded->path && !memcmp(loaded->sha1, sha1, sizeof(loaded->sha1));
}

static struct etw_tdh_loaded **find(struct etw_tdh_shared *shared, const char *path,
				    const uint8_t *sha1)
{
	struct etw_tdh_loaded **link = &shared->loaded;

	while (*link && !is_of(*link, path, sha1))
		link = &(*link)->next;
	return link;
}

/*
 * Takes one out. Programs and blobs are found by the address of their schema, which may come again, so they go
 * as well. @fresh: the decoder that takes over; made before, since nothing may fail here
 */
static void take_out(struct etw_tdh_shared *shared, struct etw_tdh_loaded **link,
		     struct etw_decoder *fresh)
{
	struct etw_tdh_loaded *gone = *link;

	*link = gone->next;
	etw_schema_store_take_back(shared->store, &gone->loan);
	etw_decoder_free(shared->decoder);
	shared->decoder = fresh;
	etw_tdh_blobs_done(&shared->blobs);
	etw_tdh_loaded_free(gone);
}

int etw_tdh_loaded_remove(struct etw_tdh_shared *shared, const char *path, const uint8_t *sha1)
{
	struct etw_tdh_loaded **link = find(shared, path, sha1);
	struct etw_decoder *fresh;

	if (!*link)
		return -ESRCH;
	TRY(etw_decoder_create(shared->store, &fresh));
	take_out(shared, link, fresh);
	return 0;
}

/* The old one goes when the new one is in: without memory for the new one, the old one still counts. */
static int replace(struct etw_tdh_shared *shared, struct etw_tdh_loaded *loaded)
{
	struct etw_tdh_loaded **link = find(shared, loaded->path, loaded->sha1);
	struct etw_decoder *fresh = NULL;
	int r;

	if (*link)
		TRY(etw_decoder_create(shared->store, &fresh));
	r = etw_schema_store_lend(shared->store, &loaded->loan);
	if (r < 0) {
		etw_decoder_free(fresh);
		return r;
	}
	if (*link)
		take_out(shared, link, fresh);
	loaded->next = shared->loaded;
	shared->loaded = loaded;
	return 0;
}

int etw_tdh_loaded_add(struct etw_tdh_shared *shared, struct etw_tdh_loaded *loaded)
{
	int r;

	loaded->loan.definition = loaded->definition;
	r = replace(shared, loaded);
	if (r < 0)
		etw_tdh_loaded_free(loaded);
	return r;
}
