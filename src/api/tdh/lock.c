/* SPDX-License-Identifier: MIT */
#include "api/tdh/lock.h"

#include <errno.h>
#include <etw/schemas.h>
#include <pthread.h>
#include <stdlib.h>

#include "api/tdh/blob.h"
#include "api/tdh/loaded.h"
#include "base/atomic.h"
#include "base/macros.h"
#include "schema/store/store.h"

static struct {
	pthread_mutex_t lock;
	struct etw_tdh_shared *shared; /* owned; under the lock; NULL before the first use */
	uint32_t known_use;            /* LIBETW_TDH_KNOWN_...; under the lock */
	uint32_t build; /* that was noted last; relaxed: a hint for threads without their own */
} process = {.lock = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local uint32_t thread_build; /* 0: this thread was given no events */

static void free_shared(struct etw_tdh_shared *shared)
{
	if (!shared)
		return;
	etw_tdh_blobs_done(&shared->blobs);
	etw_decoder_free(shared->decoder);
	/* The store closes it. */
	if (shared->store && shared->known)
		etw_schema_store_set_known(shared->store, shared->known);
	etw_schema_store_free(shared->store);
	etw_tdh_loaded_done(shared->loaded);
	etw_tracepoint_machine_free(shared->tracepoints);
	free(shared);
}

static void free_sharedp(struct etw_tdh_shared **shared)
{
	free_shared(*shared);
}

/* Without the table, or with one that is damaged, its providers are not known. */
static int open_known(struct etw_tdh_shared *shared)
{
	int r = etw_known_open(NULL, &shared->known, NULL);

	return r == -ENOMEM ? r : 0;
}

static void apply_known_use(struct etw_tdh_shared *shared)
{
	bool is_off = process.known_use == LIBETW_TDH_KNOWN_OFF;

	shared->lists_known = process.known_use == LIBETW_TDH_KNOWN_LISTED;
	if (shared->known)
		etw_schema_store_set_known(shared->store, is_off ? NULL : shared->known);
}

static int create_shared(struct etw_tdh_shared **ret)
{
	CLEANUP(free_sharedp) struct etw_tdh_shared *shared = calloc(1, sizeof(*shared));

	if (!shared)
		return -ENOMEM;
	TRY(etw_schema_store_create(&shared->store));
	TRY(etw_registry_open(&shared->registry));
	etw_registry_attach(shared->registry, shared->store);
	TRY(open_known(shared));
	TRY(etw_tracepoint_machine_create(NULL, &shared->tracepoints));
	apply_known_use(shared);
	TRY(etw_decoder_create(shared->store, &shared->decoder));
	*ret = TAKE(shared);
	return 0;
}

int etw_tdh_lock(struct etw_tdh_shared **ret)
{
	int result = 0;

	(void)pthread_mutex_lock(&process.lock);
	if (UNLIKELY(!process.shared))
		result = create_shared(&process.shared);
	if (UNLIKELY(result < 0))
		(void)pthread_mutex_unlock(&process.lock);
	else
		*ret = process.shared;
	return result;
}

void etw_tdh_unlock(void)
{
	(void)pthread_mutex_unlock(&process.lock);
}

/* A thread that outlives this begins anew with nothing in it. */
__attribute__((destructor)) static void free_process_shared(void)
{
	(void)pthread_mutex_lock(&process.lock);
	free_shared(TAKE(process.shared));
	(void)pthread_mutex_unlock(&process.lock);
}

/* What is shared is yet to be made, and opens the registry as it is then. */
void etw_tdh_look_again(void)
{
	(void)pthread_mutex_lock(&process.lock);
	if (process.shared)
		(void)etw_schema_store_look_again(process.shared->store);
	(void)pthread_mutex_unlock(&process.lock);
}

void etw_tdh_note_build(uint32_t build)
{
	if (LIKELY(build == thread_build))
		return;
	thread_build = build;
	store_relaxed(&process.build, build);
}

uint32_t etw_tdh_build(void)
{
	return thread_build ? thread_build : load_relaxed(&process.build);
}

int etw_tdh_use_known(uint32_t use)
{
	(void)pthread_mutex_lock(&process.lock);
	process.known_use = use;
	if (process.shared)
		apply_known_use(process.shared);
	(void)pthread_mutex_unlock(&process.lock);
	return 0;
}

int etw_tdh_learn(const EVENT_RECORD *record)
{
	struct etw_tdh_shared *shared;
	int result;

	TRY(etw_tdh_lock(&shared));
	result = etw_schema_store_learn(shared->store, record);
	etw_tdh_unlock();
	return result;
}
