/* SPDX-License-Identifier: MIT */
/*
 * Known events as schemas: each is made when it is asked for, in the caller's arena. Names and texts stay in the index,
 * which has to be open as long as the schemas are used.
 *
 * Of an incomplete layout the schema has the fields before the first one whose size is not known.
 */
#ifndef ETW_SCHEMA_KNOWN_KNOWN_SCHEMA_H
#define ETW_SCHEMA_KNOWN_KNOWN_SCHEMA_H

#include "base/arena.h"
#include "schema/known/known.h"
#include "schema/provider_schema.h"

/* One layout that an event may have. */
struct etw_known_candidate {
	struct etw_schema *schema;
	const char *builds; /* Windows builds that have it; "": not of a build */
	const char *source; /* where it is from; "": of those that know builds */
	uint32_t marks;     /* enum wire_known_mark */
};

/*
 * etw_known_candidates() - the layouts of a manifest event, the newest first.
 *
 * @ret:       in @arena; schemas have no owner
 * @ret_count: 1 and more
 *
 * Returns 0; -ENOENT: the provider or the event is not known; -EBADMSG; -ENOMEM.
 */
int etw_known_candidates(struct etw_known *known, const GUID *provider, uint16_t id,
			 uint8_t version, struct etw_arena *arena, struct etw_known_candidate **ret,
			 size_t *ret_count);

/* etw_known_event_candidates() - the same of an event at hand, whose provider may have no GUID. */
int etw_known_event_candidates(struct etw_known *known, const struct etw_known_provider *provider,
			       const struct etw_known_event *event, struct etw_arena *arena,
			       struct etw_known_candidate **ret, size_t *ret_count);

/*
 * etw_known_class_candidates() - the same of a classic event: of this version, and of none; complete ones first.
 *
 * Returns as above.
 */
int etw_known_class_candidates(struct etw_known *known, const GUID *class_guid, uint16_t type,
			       uint16_t version, struct etw_arena *arena,
			       struct etw_known_candidate **ret, size_t *ret_count);

/* etw_known_provider_schema() flags. */
#define ETW_KNOWN_COMPLETE_NAMES 1u /* as a manifest needs them, see below */

/*
 * etw_known_provider_schema() - all that is known of a provider's manifest events, and all its names and maps.
 *
 * @build: of a Windows, whose layouts are preferred; 0: the newest ones
 * @flags: ETW_KNOWN_COMPLETE_NAMES: numbers without a name get one ("task_5"), and equal names of one kind are told
 *         apart ("Read_2"), so that a manifest that is written of it (schema/manifest/manifest_write.h) can be read again
 * @ret:   lives in @arena; of each event one layout, whose owner it is
 *
 * Returns 0; -EBADMSG; -ENOMEM.
 */
int etw_known_provider_schema(struct etw_known *known, const struct etw_known_provider *provider,
			      uint32_t build, unsigned flags, struct etw_arena *arena,
			      struct etw_provider_schema **ret);

#endif
