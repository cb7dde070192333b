/* SPDX-License-Identifier: MIT */
#include "api/tdh/loaded.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/tdh/blob.h"
#include "api/tdh/state.h"
#include "base/macros.h"

void etw_tdh_loaded_free(struct etw_tdh_loaded *loaded)
{
	if (!loaded)
		return;
	free(loaded->path);
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
		return loaded->path && !strcmp(loaded->path, path);
	return !loaded->path && !memcmp(loaded->sha1, sha1, sizeof(loaded->sha1));
}

/* Programs and blobs are found by the address of their schema, which may come again. */
static int forget_what_was_made(struct etw_tdh_state *state)
{
	struct etw_decoder *fresh;

	TRY(etw_decoder_create(state->store, &fresh));
	etw_decoder_free(state->decoder);
	state->decoder = fresh;
	etw_tdh_blobs_done(&state->blobs);
	return 0;
}

int etw_tdh_loaded_remove(struct etw_tdh_state *state, const char *path, const uint8_t *sha1)
{
	struct etw_tdh_loaded **link = &state->loaded;
	struct etw_tdh_loaded *gone;

	while (*link && !is_of(*link, path, sha1))
		link = &(*link)->next;
	gone = *link;
	if (!gone)
		return -ESRCH;
	TRY(forget_what_was_made(state));
	*link = gone->next;
	etw_schema_store_take_back(state->store, &gone->loan);
	etw_tdh_loaded_free(gone);
	return 0;
}

int etw_tdh_loaded_add(struct etw_tdh_state *state, struct etw_tdh_loaded *loaded)
{
	int r = etw_tdh_loaded_remove(state, loaded->path, loaded->sha1);

	loaded->loan.definition = loaded->definition;
	if (r == 0 || r == -ESRCH)
		r = etw_schema_store_lend(state->store, &loaded->loan);
	if (r < 0) {
		etw_tdh_loaded_free(loaded);
		return r;
	}
	loaded->next = state->loaded;
	state->loaded = loaded;
	return 0;
}
