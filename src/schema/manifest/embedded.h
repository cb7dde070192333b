/* SPDX-License-Identifier: MIT */
/*
 * Manifests that .NET's EventSource writes into the trace: events of id 0xFFFE that carry the XML in
 * chunks. One assembly is kept per provider, process and thread.
 */
#ifndef ETW_SCHEMA_EMBEDDED_H
#define ETW_SCHEMA_EMBEDDED_H

#include <evntcons.h>

#include "base/fault.h"
#include "base/text.h"
#include "schema/model.h"

#define ETW_EMBEDDED_EVENT_ID       0xfffe
#define ETW_EMBEDDED_EVENT_OPCODE   0xfe
#define ETW_EMBEDDED_OPEN_MAX       64                 /* assemblies at the same time */
#define ETW_EMBEDDED_MANIFEST_BYTES ((size_t)16 << 20) /* of one manifest */
#define ETW_EMBEDDED_OPEN_BYTES     ((size_t)64 << 20) /* of all assemblies */

#define ETW_EMBEDDED_COMPLETE 1 /* status of etw_embedded_add() */

struct etw_embedded_assembly;

struct etw_embedded {
	struct etw_embedded_assembly *newest; /* owned list */
	size_t count;
	size_t bytes; /* of all chunks */
};

/* etw_embedded_is_chunk() - whether the event's ids say that it carries a chunk. */
static inline int etw_embedded_is_chunk(const EVENT_DESCRIPTOR *descriptor)
{
	return descriptor->Id == ETW_EMBEDDED_EVENT_ID &&
	       descriptor->Task == ETW_EMBEDDED_EVENT_ID &&
	       descriptor->Opcode == ETW_EMBEDDED_EVENT_OPCODE;
}

/*
 * etw_embedded_schema() - what such an event consists of: the envelope of its chunk, and the chunk.
 *
 * The event is called "ManifestData", as EventSource calls it. No store knows this schema, since TDH has none.
 * Static.
 */
const struct etw_schema *etw_embedded_schema(void);

/* etw_embedded_done() - frees what is still incomplete. The set is empty again, as a zeroed one is. */
void etw_embedded_done(struct etw_embedded *embedded);

/*
 * etw_embedded_add() - takes in one chunk.
 *
 * @record: borrowed for the call
 * @text:   the whole manifest, appended when it is complete
 *
 * Chunks may come in any order. A chunk that does not continue its assembly begins a new one; the
 * oldest assembly gives way when there are too many, or too much in them.
 * Returns 0; ETW_EMBEDDED_COMPLETE; -EBADMSG with @reterr, the chunk is dropped; -ENOMEM.
 */
int etw_embedded_add(struct etw_embedded *embedded, const EVENT_RECORD *record,
		     struct etw_text *text, struct etw_fault *reterr);

#endif
