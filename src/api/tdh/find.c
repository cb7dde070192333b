/* SPDX-License-Identifier: MIT */
#include "api/tdh/find.h"

#include <errno.h>

#include "api/tdh/lock.h"
#include "api/tdh/trace_files.h"
#include "base/macros.h"
#include "base/time.h"
#include "schema/store/store_installed.h"

#define LOOK_AGAIN_NS ETW_NS_PER_S /* between looks at the registry for events that nobody knows */

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
static bool look_now_and_then(struct etw_tdh_shared *shared)
{
	uint64_t now_ns = etw_monotonic_ns();

	if (shared->looked_ns && now_ns - shared->looked_ns < LOOK_AGAIN_NS)
		return false;
	shared->looked_ns = now_ns;
	return etw_schema_store_look_again(shared->store);
}

/* A definition that is damaged is as good as gone: so it is documented. */
static int explain_missing(const struct etw_tdh_shared *shared, const EVENT_RECORD *record)
{
	int error = etw_schema_store_registry_error(shared->store, &record->EventHeader.ProviderId);

	if (!error)
		return -ESRCH;
	return error == -EBADMSG ? -ENOENT : error;
}

static int choose(struct etw_tdh_shared *shared, const EVENT_RECORD *record,
		  const struct etw_schema **ret, enum etw_schema_miss *ret_why)
{
	TRY(etw_decoder_choose(shared->decoder, record, ret, ret_why));
	if (LIKELY(*ret || !may_be_registered(*ret_why) || !look_now_and_then(shared)))
		return 0;
	return etw_decoder_choose(shared->decoder, record, ret, ret_why);
}

/* What a trace says goes before what is installed and what is known: a file that was not searched may say it. */
static bool may_be_better(const struct etw_schema *schema)
{
	return schema->origin <= ETW_SCHEMA_ORIGIN_INSTALLED && etw_tdh_files_are_pending();
}

int etw_tdh_lock_for_event(const EVENT_RECORD *record, struct etw_tdh_shared **ret,
			   const struct etw_schema **ret_schema)
{
	unsigned searches = etw_tdh_files_searches();
	const struct etw_schema *schema;
	struct etw_tdh_shared *shared;
	enum etw_schema_miss why;
	bool has_searched = false;
	int result, error;

	do {
		TRY(etw_tdh_lock(&shared));
		etw_schema_store_set_build(shared->store, etw_tdh_build());
		result = choose(shared, record, &schema, &why);
		if (UNLIKELY(result < 0)) {
			etw_tdh_unlock();
			return result;
		}
		if (LIKELY(schema && why == ETW_SCHEMA_FOUND &&
			   (has_searched || !may_be_better(schema)))) {
			*ret = shared;
			*ret_schema = schema;
			return 0;
		}
		error = explain_missing(shared, record);
		etw_tdh_unlock();
		if (why != ETW_SCHEMA_FOUND && !may_be_in_trace(why))
			return why == ETW_SCHEMA_NO_MEMORY ? -ENOMEM : error;
		result = etw_tdh_files_learn(&searches);
		has_searched = true;
		/* What was found before is the answer where no file says better. */
	} while (result > 0 || (!result && why == ETW_SCHEMA_FOUND));
	return result < 0 ? result : error;
}
