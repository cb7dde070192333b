/* SPDX-License-Identifier: MIT */
/*
 * All schemas that are known, and the answer to "which schema has this event". A store starts with
 * the built-in kernel classes and the names of Windows' providers; it learns from the trace itself
 * (event metadata of merged traces, manifests that EventSource embeds) and from manifests that the
 * user names. TraceLogging schemas come from the event at hand and are kept by content.
 *
 * Context: one owner thread per store.
 */
#ifndef ETW_SCHEMA_STORE_H
#define ETW_SCHEMA_STORE_H

#include <stdbool.h>
#include <stddef.h>

#include <evntcons.h>

#include "base/fault.h"
#include "schema/provider_schema.h"

struct etw_schema_store;
struct etw_known;

/* Why an event has no schema. */
enum etw_schema_miss {
	ETW_SCHEMA_FOUND,
	ETW_SCHEMA_NO_PROVIDER, /* nothing at all is known of this provider's events */
	ETW_SCHEMA_NO_EVENT, /* the provider's schema is known, this id or version is not in it */
	ETW_SCHEMA_NO_CLASS, /* classic event: no class for this GUID, opcode and version */
	ETW_SCHEMA_WPP,      /* a WPP message; needs its TMF or PDB */
	ETW_SCHEMA_BAD_METADATA, /* the schema is in the event or trace, but damaged */
	ETW_SCHEMA_TOO_MANY,  /* the events brought more schemas of their own than a store keeps */
	ETW_SCHEMA_NO_MEMORY, /* there may be one, but memory ran out; the next call looks again */
	ETW_SCHEMA_STRING_ONLY, /* EVENT_HEADER_FLAG_STRING_ONLY: the payload is one string, by definition;
				   a schema that says so is returned all the same */
};

/* etw_schema_store_create() - a store with the built-in schemas. Returns 0 or -ENOMEM. */
int etw_schema_store_create(struct etw_schema_store **ret);

/*
 * etw_schema_store_free() - frees the store and what it handed out, but for loans and built-in schemas; takes NULL.
 */
void etw_schema_store_free(struct etw_schema_store *store);
void etw_schema_store_freep(struct etw_schema_store **store);

/*
 * etw_schema_store_is_metadata() - whether an event can teach the store anything.
 *
 * Cheap enough to ask of every event of a trace.
 */
bool etw_schema_store_is_metadata(const EVENT_RECORD *record);

/*
 * etw_schema_store_learn() - takes in an event that carries schemas.
 *
 * @record: borrowed for the call
 *
 * Events of other kinds are ignored. Chunks of an embedded manifest are kept until they are
 * complete; damaged ones are counted (etw_schema_store_damage()) and dropped, as is what is new once the
 * store holds all that it takes from events (docs/design/schema-store.md "Trust").
 * Returns 0 or -ENOMEM.
 */
int etw_schema_store_learn(struct etw_schema_store *store, const EVENT_RECORD *record);

/*
 * etw_schema_store_damage() - schemas in events that were refused or only partly readable.
 *
 * @ret_first: the reason of the first; untouched when there was none; may be NULL
 */
size_t etw_schema_store_damage(const struct etw_schema_store *store, struct etw_fault *ret_first);

/*
 * etw_schema_store_add_manifest() - reads an instrumentation manifest (XML) from memory.
 *
 * @text: @bytes of UTF-8 or UTF-16 with byte order mark; borrowed for the call
 *
 * What the manifest says replaces what earlier manifests said of the same event, but not what the trace
 * itself says. Schemas that were handed out stay as they are.
 * Returns 0; -EBADMSG with @reterr (offset = line) when it is not a manifest that can be read;
 * -ENOMEM. On failure the store is unchanged.
 */
int etw_schema_store_add_manifest(struct etw_schema_store *store, const char *text, size_t bytes,
				  struct etw_fault *reterr);

/*
 * etw_schema_store_add_mof() - reads the classes of a MOF file from memory.
 *
 * @text: @bytes as etw_mof_parse() takes them; borrowed for the call
 * @ret:  what was read, with complaints about what was left out; lives as long as the store; may be NULL
 *
 * A class goes before a built-in one only where that does not know the event's version, and never before
 * the trace. Events of versions that are not known at all take the highest one, as with TDH.
 * Returns 0; -EBADMSG with @reterr (offset = line) when nothing of the file can be used; -ENODATA when
 * it has no classes of events; -ENOMEM. On failure no answer of the store changes.
 */
int etw_schema_store_add_mof(struct etw_schema_store *store, const char *text, size_t bytes,
			     const struct etw_definition **ret, struct etw_fault *reterr);

/*
 * etw_schema_store_add_tmf() - reads the WPP messages of a TMF file from memory.
 *
 * @text: @bytes as etw_tmf_parse() takes them; borrowed for the call
 *
 * The latest file counts where two define the same message.
 * Returns 0; -EBADMSG with @reterr (offset = line); -ENOMEM. On failure the store is unchanged.
 */
int etw_schema_store_add_tmf(struct etw_schema_store *store, const char *text, size_t bytes,
			     struct etw_fault *reterr);

/*
 * etw_schema_store_add_pdb() - takes in the WPP messages and control GUIDs of a PDB.
 *
 * @file: @bytes, the whole file; borrowed for the call
 *
 * Damage within is counted (etw_schema_store_damage()). A PDB without WPP records teaches nothing.
 * Returns 0; -EBADMSG with @reterr (offset in the structure that it names); -ENOMEM. On failure the store is
 * unchanged.
 */
int etw_schema_store_add_pdb(struct etw_schema_store *store, const void *file, size_t bytes,
			     struct etw_fault *reterr);

/*
 * etw_schema_store_find() - the schema of an event.
 *
 * @ret_why: set in every case; may be NULL
 *
 * Returns the schema, which lives as long as the store, one of a loan until that is taken back; or NULL. The
 * `map` of a field whose map_name is set may still be filled in by a later etw_schema_store_learn().
 */
const struct etw_schema *etw_schema_store_find(struct etw_schema_store *store,
					       const EVENT_RECORD *record,
					       enum etw_schema_miss *ret_why);

/*
 * etw_schema_store_find_choice() - the same, and whether there is a choice.
 *
 * @ret_is_alone: whether no other layout of the event is known, so that etw_schema_store_next() returns NULL. To know
 *                it, all sources are asked for the event, once until something new is learnt
 */
const struct etw_schema *etw_schema_store_find_choice(struct etw_schema_store *store,
						      const EVENT_RECORD *record,
						      enum etw_schema_miss *ret_why,
						      bool *ret_is_alone);

/*
 * etw_schema_store_set_known() - lets the store ask the table.
 *
 * @known: the store's from now on, set once; NULL: the store leaves it out from now on, also for events that it has
 *         asked it for, until it is set again. What was handed out stays valid
 *
 * An index that turns out to be damaged is remembered in it (etw_known_damage()); its events have no schema then.
 */
void etw_schema_store_set_known(struct etw_schema_store *store, struct etw_known *known);

/* etw_schema_store_known() - the table that the store asks, or NULL. */
struct etw_known *etw_schema_store_known(const struct etw_schema_store *store);

/*
 * etw_schema_store_set_build() - the Windows build of the machine that wrote the events that come now.
 *
 * @build: as the header of the trace has it; 0: not known
 *
 * Of the layouts of a known event (ETW_SCHEMA_ORIGIN_KNOWN), those of this build come first, then those of the builds
 * next to it. Costs nothing when it is the build that the store has.
 */
void etw_schema_store_set_build(struct etw_schema_store *store, uint32_t build);

/*
 * etw_schema_store_next() - another layout of an event, where one does not use up its payload.
 *
 * @after: what etw_schema_store_find() or this function returned for the event
 *
 * Layouts come in the order in which they count: those of a higher origin (enum etw_schema_origin) first, of one
 * origin the richer ones (schema/layout.h), and of known ones first those of the trace's build. The first that uses up the payload is the event's; where none does, it is
 * what etw_schema_store_find() returned. WPP messages and events that carry their schema have one layout.
 * Returns NULL when there are no more, or none can be looked for now for want of memory. Lives as that one.
 */
const struct etw_schema *etw_schema_store_next(struct etw_schema_store *store,
					       const EVENT_RECORD *record,
					       const struct etw_schema *after);

/*
 * etw_schema_store_provider_name() - the best known name of a provider.
 *
 * Learnt names win over the built-in list of Windows' providers and classes. Returns NULL when unknown;
 * lives as long as the store.
 */
const char *etw_schema_store_provider_name(const struct etw_schema_store *store,
					   const GUID *provider);

/*
 * etw_schema_store_provider() - what a definition says of a provider as a whole.
 *
 * Of several definitions, the one that is believed (embedded ones before the user's), then the latest.
 * Events that only the trace describes have no such definition.
 * Returns NULL when there is none; lives as long as the store or the loan.
 */
const struct etw_provider_schema *etw_schema_store_provider(const struct etw_schema_store *store,
							    const GUID *provider);

/*
 * etw_schema_store_next_provider() - the provider that became known after @after.
 *
 * @after: NULL for the first; else what the last call returned
 *
 * Returns NULL when there are no more. Lives as long as the store or the loan; no loan may be taken back on the
 * way.
 */
const struct etw_provider_schema *etw_schema_store_next_provider(
	const struct etw_schema_store *store, const struct etw_provider_schema *after);

#endif
