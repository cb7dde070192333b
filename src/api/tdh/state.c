/* SPDX-License-Identifier: MIT */
#include "api/tdh/state.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "api/tdh/blob.h"
#include "api/tdh/loaded.h"
#include "api/tdh/trace_files.h"
#include "base/macros.h"
#include "base/time.h"

#define LOOK_AGAIN_NS ETW_NS_PER_S /* between looks at the registry for events that nobody knows */

static struct {
	pthread_mutex_t lock;
	struct etw_tdh_state *state; /* owned; under the lock; NULL before the first use */
} process = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void free_state(struct etw_tdh_state *state)
{
	if (!state)
		return;
	etw_tdh_blobs_done(&state->blobs);
	etw_decoder_free(state->decoder);
	etw_schema_store_free(state->store);
	etw_tdh_loaded_done(state->loaded);
	free(state);
}

static void free_statep(struct etw_tdh_state **state)
{
	free_state(*state);
}

static int create_state(struct etw_tdh_state **ret)
{
	CLEANUP(free_statep) struct etw_tdh_state *state = calloc(1, sizeof(*state));

	if (!state)
		return -ENOMEM;
	TRY(etw_schema_store_create(&state->store));
	TRY(etw_registry_open(&state->registry));
	etw_registry_attach(state->registry, state->store);
	TRY(etw_decoder_create(state->store, &state->decoder));
	*ret = TAKE(state);
	return 0;
}

int etw_tdh_lock(struct etw_tdh_state **ret)
{
	int result = 0;

	(void)pthread_mutex_lock(&process.lock);
	if (UNLIKELY(!process.state))
		result = create_state(&process.state);
	if (UNLIKELY(result < 0))
		(void)pthread_mutex_unlock(&process.lock);
	else
		*ret = process.state;
	return result;
}

void etw_tdh_unlock(void)
{
	(void)pthread_mutex_unlock(&process.lock);
}

/* A thread that outlives this begins anew with an empty state. */
__attribute__((destructor)) static void free_process_state(void)
{
	(void)pthread_mutex_lock(&process.lock);
	free_state(TAKE(process.state));
	(void)pthread_mutex_unlock(&process.lock);
}

/* A state that is yet to be made opens the registry as it is then. */
void etw_tdh_look_again(void)
{
	(void)pthread_mutex_lock(&process.lock);
	if (process.state)
		(void)etw_schema_store_look_again(process.state->store);
	(void)pthread_mutex_unlock(&process.lock);
}

int etw_tdh_learn(const EVENT_RECORD *record)
{
	struct etw_tdh_state *state;
	int result;

	TRY(etw_tdh_lock(&state));
	result = etw_schema_store_learn(state->store, record);
	etw_tdh_unlock();
	return result;
}

/* Whether a schema that the trace carries could help. */
static bool may_be_in_trace(enum etw_schema_miss why)
{
	return why == ETW_SCHEMA_NO_PROVIDER || why == ETW_SCHEMA_NO_EVENT ||
	       why == ETW_SCHEMA_NO_CLASS;
}

/* What a registry that was changed meanwhile could help. */
static bool may_be_registered(enum etw_schema_miss why)
{
	return may_be_in_trace(why) || why == ETW_SCHEMA_WPP;
}

/* Not for each of the events that nobody knows: there may be millions. */
static bool look_now_and_then(struct etw_tdh_state *state)
{
	uint64_t now_ns = etw_monotonic_ns();

	if (state->looked_ns && now_ns - state->looked_ns < LOOK_AGAIN_NS)
		return false;
	state->looked_ns = now_ns;
	return etw_schema_store_look_again(state->store);
}

/* A definition that is damaged is as good as gone: so it is documented. */
static int explain_missing(const struct etw_tdh_state *state, const EVENT_RECORD *record)
{
	int error = etw_schema_store_registry_error(state->store, &record->EventHeader.ProviderId);

	if (!error)
		return -ESRCH;
	return error == -EBADMSG ? -ENOENT : error;
}

int etw_tdh_lock_for_event(const EVENT_RECORD *record, struct etw_tdh_state **ret,
			   const struct etw_schema **ret_schema)
{
	unsigned searches = etw_tdh_files_searches();
	const struct etw_schema *schema;
	struct etw_tdh_state *state;
	enum etw_schema_miss why;
	int result, error;

	do {
		TRY(etw_tdh_lock(&state));
		schema = etw_schema_store_find(state->store, record, &why);
		if (UNLIKELY(!schema && may_be_registered(why) && look_now_and_then(state)))
			schema = etw_schema_store_find(state->store, record, &why);
		if (LIKELY(schema && why == ETW_SCHEMA_FOUND)) {
			*ret = state;
			*ret_schema = schema;
			return 0;
		}
		error = explain_missing(state, record);
		etw_tdh_unlock();
		if (!may_be_in_trace(why))
			return why == ETW_SCHEMA_NO_MEMORY ? -ENOMEM : error;
		result = etw_tdh_files_learn(&searches);
	} while (result > 0);
	return result < 0 ? result : error;
}
