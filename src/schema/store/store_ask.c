/* SPDX-License-Identifier: MIT */
/* Asking the registry for a GUID, once. store_installed.c takes in what it says. */
#include <errno.h>

#include "base/file.h"
#include "base/guid.h"
#include "base/macros.h"
#include "schema/store/store_internal.h"

static bool is_asked(const void *item, const void *key)
{
	return etw_guid_equal(&((const struct asked *)item)->guid, key);
}

static uint64_t hash_of(const struct etw_schema_store *store, const GUID *guid)
{
	return etw_hash_bytes(store->seed, guid, sizeof(*guid));
}

struct asked *etw_store_find_asked(const struct etw_schema_store *store, const GUID *guid)
{
	return etw_table_find(&store->asked, hash_of(store, guid), is_asked, guid);
}

/* *ret is NULL when there is no room for notes because of events: then nothing is registered for it. */
static int note_question(struct etw_schema_store *store, const GUID *guid, struct asked **ret)
{
	struct asked *asked = etw_store_find_asked(store, guid);

	if (!asked && etw_store_has_room(store)) {
		TRY(etw_table_reserve(&store->asked, 1));
		asked = etw_arena_alloc(&store->arena, sizeof(*asked));
		if (!asked)
			return -ENOMEM;
		asked->guid = *guid;
		store->kept_bytes += STORE_NOTE_BYTES;
		(void)etw_table_insert(&store->asked, hash_of(store, guid), asked);
	}
	*ret = asked;
	return 0;
}

/* Want of memory or descriptors is no answer: the question stays open. */
int etw_store_ask_again(struct etw_schema_store *store, struct asked *asked)
{
	struct etw_fault fault = {0};
	int r = store->registry->load(store->registry->context, store, &asked->guid, &fault);

	if (etw_is_shortage(r))
		return r;
	if (fault.sentence)
		etw_store_report(store, &fault);
	asked->round = store->round;
	asked->error = r;
	return 0;
}

int etw_store_ask_registry(struct etw_schema_store *store, const GUID *guid)
{
	struct asked *asked;

	if (!store->registry)
		return 0;
	TRY(note_question(store, guid, &asked));
	if (!asked || asked->round == store->round)
		return 0;
	TRY(etw_store_ask_again(store, asked));
	return 1;
}
