/* SPDX-License-Identifier: MIT */
/* What schemas do for events. Private to src/api/friendly. */
#ifndef ETW_API_FRIENDLY_SCHEMAS_H
#define ETW_API_FRIENDLY_SCHEMAS_H

#include "api/friendly/friendly.h"

/* etw_schemas_ref() - one more reference; returns @schemas. */
struct libetw_schemas *etw_schemas_ref(struct libetw_schemas *schemas);

/* etw_schemas_learn() - takes in an event that carries schemas; 0 or -ENOMEM. */
int etw_schemas_learn(struct libetw_schemas *schemas, const EVENT_RECORD *record);

/*
 * etw_schemas_decode() - etw_decoder_run() with their decoder; what it gave before is no good any more.
 *
 * @trace: that the event is of; NULL: of none, or none any more
 */
int etw_schemas_decode(struct libetw_schemas *schemas, const struct etw_trace *trace,
		       const EVENT_RECORD *record, struct etw_decoding *ret);

#endif
